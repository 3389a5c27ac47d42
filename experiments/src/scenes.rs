//! Which boards are found in the rules, how long does a drawing take, and can every move be touched?

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_base::{Seed, Source};
use ludex_board::{BoardKind, Scene, Table as Board, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_pipeline::{EngineChoice, LoadOptions, LoadedGame, load, with_game};
use ludex_testkit::{corpus, library};
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "scenes",
    question: "Which boards are found in the rules, and how long does a drawing take?",
    command: "cargo experiment scenes",
    table: "scenes.tsv and scenes.md; the contact sheets of --sheets are not kept",
    options: Options::augment_args,
    run: |run, given| draw_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Also write contact sheets of states in the middle of random games to this folder
    #[arg(long, value_name = "FOLDER")]
    sheets: Option<std::path::PathBuf>,
}

const COLUMNS: &str =
    "game\tfrom\tboard\tboards\tcells\tmoves\ttouched\tmilliseconds\tstates\tjudgement";

/// Judgements by hand of how well a game is drawn, made from contact sheets.
const JUDGED: &str = include_str!("../../tests/data/boards.tsv");

/// Time for loading a game.
const LOAD_TIME: Duration = Duration::from_secs(10);
/// Drawings on one contact sheet.
const N_PER_SHEET: usize = 45;
/// States of a random game that are drawn.
const N_STATES: usize = 20;

/// Draws states of random games of all rulesheets.
fn draw_all(run: &Run, options: &Options) -> Result<()> {
    let table = Table::open(run, "scenes", COLUMNS)?;
    let mut games: Vec<_> = library().into_iter().map(|game| (game, "games")).collect();
    match shared_folder() {
        Ok(folder) => games.extend(corpus(&folder).into_iter().map(|game| (game, "public"))),
        Err(_) => eprintln!("skipped the public rulesheets: there are none beside the project"),
    }
    let mut drawings = Vec::new();
    for (game, from) in games {
        let is_wanted = options.games.is_empty() || options.games.contains(&game.name);
        if !is_wanted || table.has(&[&game.name, from]) {
            continue;
        }
        let load_options = LoadOptions {
            engine: EngineChoice::Reasoner,
            time: LOAD_TIME,
            ..LoadOptions::default()
        };
        let loaded = load(Source::new(&game.name, game.text()), &load_options);
        let row = match &loaded {
            Ok(loaded) => {
                let drawn = draw_one(loaded);
                let row = drawn.cells();
                drawings.push((format!("{} {}", game.name, drawn.kind()), drawn.middle));
                row
            }
            Err(error) => {
                let reason = error.to_string().lines().next().unwrap_or("").to_string();
                [&format!("not loaded: {reason}"), "", "", "", "", "", ""]
                    .map(String::from)
                    .to_vec()
            }
        };
        let judged = judgement(&game.name, from);
        table.append(&[&[game.name, from.into()], &row[..], &[judged.into()]].concat())?;
    }
    if let Some(folder) = &options.sheets {
        std::fs::create_dir_all(folder)?;
        for (number, some) in drawings.chunks(N_PER_SHEET).enumerate() {
            std::fs::write(folder.join(format!("sheet-{number}.svg")), svg::contact_sheet(some))?;
        }
    }
    describe(run, &table)
}

/// What was judged by hand: `right`, `poor`, `wrong`, `none` where there is no board to find; empty
/// if nobody has looked.
fn judgement(game: &str, from: &str) -> &'static str {
    let rows = JUDGED.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let row = { rows }.find(|row| row[0] == game && row[1] == from);
    row.map_or("", |row| row[2])
}

/// The drawings of a game.
struct Drawn {
    first: Scene,
    /// The drawing of the middle state.
    middle: String,
    n_states: usize,
    n_moves: usize,
    n_touched: usize,
    /// The longest time of a drawing.
    slowest: Duration,
}

impl Drawn {
    fn kind(&self) -> &'static str {
        self.first.kind().map_or("none", BoardKind::name)
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.kind().into(),
            self.first.boards.len().to_string(),
            self.first.cells().count().to_string(),
            self.n_moves.to_string(),
            self.n_touched.to_string(),
            format!("{:.1}", 1e3 * self.slowest.as_secs_f64()),
            self.n_states.to_string(),
        ]
    }
}

/// Draws the states of a random game, with the cells that its legal moves name.
fn draw_one(loaded: &LoadedGame) -> Drawn {
    let names: Vec<String> =
        with_game!(&loaded.engine, |game| game.roles().iter().map(|it| it.name.clone()).collect());
    let mut drawn = Drawn {
        first: Scene::default(),
        middle: String::new(),
        n_states: 0,
        n_moves: 0,
        n_touched: 0,
        slowest: Duration::ZERO,
    };
    let begin = Instant::now();
    let table = Board::of(&loaded.program, &names);
    let preparing = begin.elapsed();
    with_game!(&loaded.engine, |game| {
        let mut rng = Seed(1).rng();
        let mut cursor = game.cursor();
        let mut pictures = Vec::new();
        while drawn.n_states < N_STATES {
            let begin = Instant::now();
            let fluents = game.state_texts(cursor.state());
            let scene = table.scene(&fluents);
            pictures.push(svg::render(&scene));
            let is_over = cursor.is_terminal();
            let mut joint = Vec::new();
            for role in game.role_ids() {
                let texts: Vec<String> =
                    cursor.legal_moves(role).iter().map(|&id| game.move_text(id)).collect();
                let touches = table.touches(&fluents, &texts);
                drawn.n_moves += texts.len();
                drawn.n_touched += touches.iter().filter(|it| !it.is_empty()).count();
                joint.extend(cursor.draw_move(role, &mut rng));
            }
            let time =
                begin.elapsed() + if drawn.n_states == 0 { preparing } else { Duration::ZERO };
            drawn.slowest = drawn.slowest.max(time);
            if drawn.n_states == 0 {
                drawn.first = scene;
            }
            drawn.n_states += 1;
            if is_over || joint.len() < game.roles().len() || cursor.has_fault() {
                break;
            }
            cursor.play(&joint);
        }
        drawn.middle = pictures.swap_remove(pictures.len() / 2);
    });
    drawn
}

/// Writes the counts.
fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut judged: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut n_slow, mut slowest) = (0, 0.0_f64);
    for row in &rows {
        let kind = if row[2].starts_with("not loaded") { "not loaded" } else { &row[2] };
        *kinds.entry(kind).or_default() += 1;
        if !row[9].is_empty() {
            *judged.entry(&row[9]).or_default() += 1;
        }
        let milliseconds: f64 = row[7].parse().unwrap_or(0.0);
        n_slow += usize::from(milliseconds >= 100.0);
        slowest = slowest.max(milliseconds);
    }
    let list = |counts: &BTreeMap<&str, usize>| {
        let words: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        words.join(", ")
    };
    let n_judged: usize = judged.values().sum();
    let with_board = n_judged - judged.get("none").copied().unwrap_or(0);
    let right = judged.get("right").copied().unwrap_or(0);
    table.describe(&format!(
        "# Boards from rules\n\n{}: {} rulesheets, up to {N_STATES} states of a random game each. {}\n\n\
         Boards: {}.\n\nSlowest drawing {slowest:.0} ms, the time for finding the board and the cells of all \
         legal moves included; {n_slow} rulesheets have one of 100 ms or more. A move without a cell is \
         made by its button.\n\nJudged by hand: {n_judged}, of which {with_board} have a board in their \
         rules; {}. Right: {right} of {with_board}.\n",
        run.made_by("scenes"),
        rows.len(),
        table.commits_in_words()?,
        list(&kinds),
        list(&judged),
    ))
}

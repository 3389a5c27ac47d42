//! Which board does each rulesheet get, how fast is it drawn, and which moves can be touched?

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_base::{RoleId, Seed, Source};
use ludex_board::{Table as Drawing, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_pipeline::{EngineChoice, LoadOptions, LoadedGame, load, with_game};
use ludex_testkit::{RulesFile, corpus, library};
use xtask::tools::shared_folder;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "scenes",
    question: "Which board does each rulesheet get, and how fast is it drawn?",
    command: "cargo experiment scenes",
    table: "scenes.tsv, scenes.md",
    options: Options::augment_args,
    run: |run, given| draw_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Write all drawings of this run as one image to this file
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,
}

/// Steps of the random game whose state is drawn too.
const N_STEPS: usize = 8;

/// Draws the initial state of each rulesheet, and one later in a random game.
fn draw_all(run: &Run, options: &Options) -> Result<()> {
    let columns = "game\tkind\tboards\tcells\tpieces\tcounters\tmilliseconds\tmoves\ttouchable";
    let table = Table::open(run, "scenes", columns)?;
    let mut drawings = Vec::new();
    // Some games are in both, by the same name.
    let named = |it: RulesFile| RulesFile { name: format!("games/{}", it.name), ..it };
    let files = library().into_iter().map(named).chain(corpus(&shared_folder()?));
    for rules in files.filter(|it| options.games.is_empty() || options.games.contains(&it.name)) {
        if options.sheet.is_none() && table.has(&[&rules.name]) {
            continue;
        }
        let (cells, drawing) = draw(&rules);
        if !table.has(&[&rules.name]) {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            table.append(&cells)?;
        }
        drawings.extend(drawing.map(|drawing| (rules.name.clone(), drawing)));
    }
    if let Some(path) = &options.sheet {
        fs::write(path, contact_sheet(&drawings)).with_context(|| path.display().to_string())?;
    }
    describe(run, &table)
}

/// Draws the initial state; returns the cells of its row, and the drawing.
fn draw(rules: &RulesFile) -> (Vec<String>, Option<String>) {
    let options = LoadOptions { engine: EngineChoice::Reasoner, ..LoadOptions::default() };
    let Ok(loaded) = load(Source::new(&rules.name, rules.text()), &options) else {
        let mut cells = vec![rules.name.clone(), "not playable".into()];
        cells.resize(9, "-".into());
        return (cells, None);
    };
    let (fluents, later, moves) = with_game!(&loaded.engine, |game| states(game));
    let start = Instant::now();
    let table = Drawing::of(&loaded.program, &roles(&loaded));
    let scene = table.scene(&fluents);
    let drawing = svg::render(&scene);
    let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
    svg::render(&table.scene_after(&fluents, &later));
    let touches = table.touches(&fluents, &moves);
    let n_touchable = touches.iter().filter(|it| !it.is_empty()).count();
    let main = scene.boards.iter().max_by_key(|board| board.cells.len());
    let n_pieces: usize = scene.cells().map(|cell| cell.pieces.len()).sum();
    let cells = vec![
        rules.name.clone(),
        main.map_or("none", |board| board.kind.name()).into(),
        scene.boards.len().to_string(),
        scene.cells().count().to_string(),
        n_pieces.to_string(),
        scene.counters.len().to_string(),
        format!("{milliseconds:.1}"),
        moves.len().to_string(),
        n_touchable.to_string(),
    ];
    (cells, Some(drawing))
}

fn roles(loaded: &LoadedGame) -> Vec<String> {
    with_game!(&loaded.engine, |game| game.roles().iter().map(|it| it.name.clone()).collect())
}

/// Returns the fluents of the initial state and of a later one, and the initial moves of all roles.
fn states<G: Describe>(game: &G) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut rng = Seed(1).rng();
    let mut cursor = game.cursor();
    let first = game.state_texts(cursor.state());
    let of_role = |role: RoleId, cursor: &mut G::Cursor| cursor.legal_moves(role).to_vec();
    let moves = game.role_ids().flat_map(|role| of_role(role, &mut cursor)).collect::<Vec<_>>();
    let moves = moves.into_iter().map(|id| game.move_text(id)).collect();
    for _ in 0..N_STEPS {
        let joint: Option<Vec<_>> =
            game.role_ids().map(|role| cursor.draw_move(role, &mut rng)).collect();
        match joint.filter(|_| !cursor.is_terminal() && !cursor.has_fault()) {
            Some(joint) => cursor.play(&joint),
            None => break,
        }
    }
    (first, game.state_texts(cursor.state()), moves)
}

/// Puts drawings side by side, each with its name.
fn contact_sheet(drawings: &[(String, String)]) -> String {
    const COLUMNS: usize = 10;
    const SIDE: usize = 160;
    let mut text = String::new();
    for (idx, (name, drawing)) in drawings.iter().enumerate() {
        let (x, y) = (idx % COLUMNS * SIDE, idx / COLUMNS * (SIDE + 20));
        let start = drawing.find("viewBox=").unwrap_or(0);
        let inner = &drawing[start..];
        // The place and size of a thumbnail replace those of the drawing.
        let inner = inner.replacen(" width=\"", " data-width=\"", 1);
        let inner = inner.replacen(" height=\"", " data-height=\"", 1);
        let size = SIDE - 10;
        write!(text, "<svg x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" {inner}")
            .expect("writing to a string");
        let below = y + SIDE + 8;
        write!(text, "<text x=\"{x}\" y=\"{below}\" font-size=\"12\">{name}</text>")
            .expect("writing to a string");
    }
    let (width, height) = (COLUMNS * SIDE, drawings.len().div_ceil(COLUMNS) * (SIDE + 20) + 10);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">{text}</svg>\n"
    )
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *kinds.entry(&row[1]).or_default() += 1;
    }
    let number = |cell: &String| cell.parse::<f64>().unwrap_or(0.0);
    let slowest = rows.iter().map(|row| number(&row[6])).fold(0.0, f64::max);
    let n_slow = rows.iter().filter(|row| number(&row[6]) >= 100.0).count();
    let mut text = format!(
        "# Scenes of all rulesheets\n\n{}.\n\
         *Kind* is that of the board with the most cells. *Milliseconds* is the time to read the rules \
         for drawing and to draw the initial state, after loading. *Touchable* counts the initial moves \
         that name a cell; the others have a button.\n{}\n\n",
        run.made_by("scenes"),
        table.commits_in_words()?
    );
    for (kind, n) in &kinds {
        writeln!(text, "- {kind}: {n}")?;
    }
    writeln!(
        text,
        "\nThe slowest drawing took {slowest:.0} ms; {n_slow} of {} took 100 ms or more.\n\n\
         | game | kind | boards | cells | pieces | counters | ms | moves | touchable |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows.len()
    )?;
    for row in &rows {
        writeln!(text, "| {} |", row[..9].join(" | "))?;
    }
    table.describe(&text)
}

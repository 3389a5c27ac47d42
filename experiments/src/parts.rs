//! Are games that come apart solved and played better by their parts? Solves each with and without, checks the
//! certificates, and plays each with and without.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::ask;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "parts",
    question: "Are games solved with fewer states, and played better, if they are taken apart?",
    command: "cargo experiment parts",
    table: "parts.tsv, parts.md; parts-play.tsv, parts-play.md",
    options: Options::augment_args,
    run: |run, given| compare(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds for solving each game, with and without
    #[arg(long, default_value_t = 20)]
    budget: u64,
    /// Matches of each game, with and without; 0 plays none
    #[arg(long, default_value_t = 3)]
    matches: usize,
}

/// Games that come apart: where they are, and how they are solved without their parts.
const COMPOUND: &[(&str, &str)] = &[
    ("four-lights", "breadth"),
    ("lights-parallel", "breadth"),
    ("maze-then-lights", "breadth"),
    ("nim", "graph"),
    ("../seed_fourLamps", "breadth"),
    ("../lightsOnParallel", "breadth"),
    ("../lightsOnSimul4", "breadth"),
    ("../lightsOnSimultaneous", "breadth"),
    ("../simultaneousWin2", "breadth"),
    ("../multiple_buttons_and_lights", "breadth"),
    ("../jointbuttonsandlights25", "breadth"),
    ("../bandl3", "breadth"),
    ("../bandl7", "breadth"),
    ("../factoringEasyTurtleBrain", "breadth"),
    ("../factoringMediumTurtleBrain", "breadth"),
    ("../blocksWorldParallel", "breadth"),
    ("../asteroidsParallel", "breadth"),
    ("../asteroidsSerial", "breadth"),
    ("../snakeParallel", "breadth"),
    ("../troublemaker01", "breadth"),
    ("../nonogram_5x5_1", "breadth"),
    ("../nim1", "graph"),
    ("../nim3", "graph"),
];

/// Puzzles of one part, in which parts must cost nothing.
const WHOLE: &[&str] = &[
    "eight-puzzle",
    "hanoi",
    "knights-tour",
    "lights-out",
    "maze",
    "n-queens",
    "peg",
    "sudoku-4x4",
    "wolf-goat-cabbage",
    "buttons",
];

fn path_of(shared: &Path, game: &str) -> String {
    match game.strip_prefix("../") {
        Some(name) => shared.join("games").join(format!("{name}.kif")).display().to_string(),
        None => game.to_owned(),
    }
}

fn compare(run: &Run, options: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let is_wanted =
        |game: &str| options.games.is_empty() || options.games.iter().any(|it| it == game);
    let solved = Table::open(run, "parts", SOLVE_COLUMNS)?;
    for (game, method) in COMPOUND {
        let name = game.trim_start_matches("../");
        if is_wanted(name) && !solved.has(&[name]) {
            let row = solve(&ludex, name, &path_of(&shared, game), method, options.budget)?;
            solved.append(&row)?;
        }
    }
    describe_solved(run, &solved, options.budget)?;
    if options.matches == 0 {
        return Ok(());
    }
    let played = Table::open(run, "parts-play", PLAY_COLUMNS)?;
    let puzzles = COMPOUND.iter().filter(|it| it.1 == "breadth").map(|it| (it.0, true));
    for (game, is_compound) in puzzles.chain(WHOLE.iter().map(|it| (*it, false))) {
        let name = game.trim_start_matches("../");
        if is_wanted(name) && !played.has(&[name]) {
            let path = path_of(&shared, game);
            played.append(&play(&ludex, name, &path, is_compound, options.matches)?)?;
        }
    }
    describe_played(run, &played)
}

const SOLVE_COLUMNS: &str = "game\tvalue with\tstates with\tseconds with\tcertificate\twithout\tvalue without\tstates \
                             without\tseconds without\tfactor";

/// Solves a game with and without its parts.
fn solve(ludex: &Path, game: &str, path: &str, without: &str, budget: u64) -> Result<Vec<String>> {
    let file = std::env::temp_dir().join(format!("ludex-parts-{}.txt", std::process::id()));
    let certificate = file.display().to_string();
    let budget = format!("{budget}s");
    let base = ["solve", path, "--budget", &budget, "--no-symmetries", "--threads", "1", "--json"];
    let with = ["--method", "parts", "--certificate", &certificate];
    let with = ask(ludex, &[&base[..], &with].concat())?.unwrap_or(Value::Null);
    let mut accepted = "-";
    if file.exists() {
        let args = ["verify", &certificate, path, "--json", "--time", "60"];
        let checked = ask(ludex, &args)?.unwrap_or(Value::Null);
        std::fs::remove_file(&file)?;
        accepted = if checked["accepted"] == true { "accepted" } else { "refused" };
    }
    let plain = ask(ludex, &[&base[..], &["--method", without]].concat())?.unwrap_or(Value::Null);
    let value = |it: &Value| match it["value"].as_array() {
        Some(list) => list.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
        None => format!("{} to {}", it["lower"], it["upper"]),
    };
    let states = |it: &Value| it["states"].as_f64().unwrap_or(0.0);
    let is_solved = |it: &Value| it["solved"] == true;
    let factor = match (is_solved(&with), is_solved(&plain)) {
        (true, true) => format!("{:.1}", states(&plain) / states(&with).max(1.0)),
        (true, false) => format!("over {:.1}", states(&plain) / states(&with).max(1.0)),
        _ => "-".into(),
    };
    Ok(vec![
        game.into(),
        value(&with),
        states(&with).to_string(),
        with["seconds"].to_string(),
        accepted.into(),
        without.into(),
        value(&plain),
        states(&plain).to_string(),
        plain["seconds"].to_string(),
        factor,
    ])
}

fn describe_solved(run: &Run, table: &Table, budget: u64) -> Result<()> {
    let rows = table.rows()?;
    let mut text = format!(
        "# Games solved by their parts\n\n{}: `ludex solve --method parts` beside the method that visits all states, \
         without symmetries, one thread, {budget} s each.\n\
         *States* are those stored; *factor* is their quotient.\n\
         *Certificate* says what `ludex verify` says about the plan or the strategies.\n{}\n\n\
         | game | value with | states | s | certificate | without | value | states | s | factor |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("parts"),
        table.commits_in_words()?
    );
    let (mut n_both, mut n_same, mut n_tenfold, mut n_with) = (0, 0, 0, 0);
    for row in &rows {
        writeln!(text, "| {} |", row[..10].join(" | "))?;
        let is_value = |cell: &str| !cell.contains("to");
        let is_both = is_value(&row[1]) && is_value(&row[6]);
        n_with += usize::from(is_value(&row[1]));
        n_both += usize::from(is_both);
        n_same += usize::from(is_both && row[1] == row[6]);
        let factor = row[9].trim_start_matches("over ").parse::<f64>().unwrap_or(0.0);
        n_tenfold += usize::from(factor >= 10.0);
    }
    writeln!(
        text,
        "\nSolved by their parts: {n_with} of {}; with and without: {n_both}, with the same value: {n_same}; at least \
         10 times fewer states: {n_tenfold}.",
        rows.len()
    )?;
    table.describe(&text)
}

const PLAY_COLUMNS: &str = "game\tcompound\tmatches\tgoal with\tgoal without";
/// Clocks of the matches, in seconds.
const START_CLOCK: &str = "2";
const PLAY_CLOCK: &str = "0.1";

/// Plays a puzzle with and without its parts, from the same seeds.
fn play(
    ludex: &Path,
    game: &str,
    path: &str,
    is_compound: bool,
    matches: usize,
) -> Result<Vec<String>> {
    let count = matches.to_string();
    let mut goals = Vec::new();
    for player in ["ludex", "ludex:parts=no"] {
        let args = ["match", path, "--players", player, "--count", &count, "--json", "--seed", "1"];
        let clocks = ["--start-clock", START_CLOCK, "--play-clock", PLAY_CLOCK, "--threads", "1"];
        let report = ask(ludex, &[&args[..], &clocks].concat())?;
        let goal = |it: Value| it["players"][0]["mean_goal"].to_string();
        goals.push(report.map_or_else(|| "-".into(), goal));
    }
    let is_compound = if is_compound { "yes" } else { "no" };
    Ok([&[game.into(), is_compound.into(), count], &goals[..]].concat())
}

fn describe_played(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    let mut text = format!(
        "# Puzzles played by their parts\n\n{}: the player `ludex` with and without `parts`, start clock {START_CLOCK} s, \
         play clock {PLAY_CLOCK} s, the same seeds.\n{}\n\n\
         | game | compound | matches | goal with | goal without |\n| --- | --- | --- | --- | --- |\n",
        run.made_by("parts"),
        table.commits_in_words()?
    );
    let mut differences: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for row in &rows {
        writeln!(text, "| {} |", row[..5].join(" | "))?;
        if let (Ok(with), Ok(without)) = (row[3].parse::<f64>(), row[4].parse::<f64>()) {
            differences[usize::from(row[1] == "yes")].push(with - without);
        }
    }
    for (of_kind, name) in differences.iter().zip(["puzzles of one part", "compound puzzles"]) {
        let n = of_kind.len().max(1) as f64;
        let mean = of_kind.iter().sum::<f64>() / n;
        let variance =
            of_kind.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let half = 1.96 * (variance / n).sqrt();
        let better = of_kind.iter().filter(|it| **it > 0.0).count();
        let worse = of_kind.iter().filter(|it| **it < 0.0).count();
        writeln!(
            text,
            "\n{} {name}: {mean:+.1} points with parts ({:+.1} to {:+.1}), better in {better}, worse in {worse}.",
            of_kind.len(),
            mean - half,
            mean + half
        )?;
    }
    table.describe(&text)
}

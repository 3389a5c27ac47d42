//! What does Ludex prove about puzzles, and does its player play it? Solves every rulesheet of one role, and plays
//! those that have published goals.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use xtask::tools::{build_ludex, shared_folder};

use crate::command::ask;
use crate::published::{Published, index};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "exact-puzzles",
    question: "What does `ludex solve` prove about puzzles, and does the player reach it?",
    command: "cargo experiment exact-puzzles",
    table: "exact-puzzles.tsv, exact-puzzles.md; with --quick, exact-puzzles-quick.tsv and .md",
    options: Options::augment_args,
    run: |run, given| solve_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds for solving each game
    #[arg(long, default_value_t = 20)]
    budget: u64,
    /// Only games with published goals; 2 seconds for solving each, start clock 4 s, play clock 1 s
    #[arg(long)]
    quick: bool,
}

/// Times in seconds.
struct Times {
    budget: u64,
    start_clock: u64,
    play_clock: u64,
}

const COLUMNS: &str = "game\tgoal\tupper\tmethod\tevidence\tlength\tstates\tnodes\tseconds\tmachine\tplayed\tpublished";

/// Solves the puzzles of the corpus that were not solved before, and plays those of the published table.
fn solve_all(run: &Run, options: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let times = if options.quick {
        Times { budget: 2, start_clock: 4, play_clock: 1 }
    } else {
        Times { budget: options.budget, start_clock: 20, play_clock: 2 }
    };
    let name = if options.quick { "exact-puzzles-quick" } else { "exact-puzzles" };
    let table = Table::open(run, name, COLUMNS)?;
    let sheets = Published::read("games/INDEX.tsv")?;
    let n_roles = sheets.numbers("players")?;
    let published = Published::thesis("thesis-5.5-single-player-scores-sym.tsv")?;
    let published = published.by_name();
    for sheet in index()? {
        let game = sheet.game.as_str();
        let is_wanted = options.games.is_empty() || options.games.contains(&sheet.game);
        let scores = sheet.name_in("T3.4:").and_then(|name| published.get(name));
        let is_left_out = options.quick && scores.is_none();
        if !is_wanted || is_left_out || n_roles.get(game) != Some(&1.0) || table.has(&[game]) {
            continue;
        }
        let path = shared.join("games").join(format!("{game}.kif")).display().to_string();
        let Some(mut row) = solve(&ludex, game, &path, &times)? else { continue };
        row.extend(match scores {
            None => ["-".into(), "-".into()],
            Some(scores) => {
                let numbers = scores.iter().filter_map(|cell| cell.parse::<f64>().ok());
                let best = numbers.fold(0.0, f64::max).to_string();
                [play(&ludex, &path, &times)?.unwrap_or_else(|| "-".into()), best]
            }
        });
        table.append(&row)?;
    }
    describe(run, &table, name, &times)
}

/// Returns the cells of a game that `ludex solve` fills.
fn solve(ludex: &Path, game: &str, path: &str, times: &Times) -> Result<Option<Vec<String>>> {
    let budget = format!("{}s", times.budget);
    let Some(report) = ask(ludex, &["solve", path, "--budget", &budget, "--json"])? else {
        return Ok(None);
    };
    let text = |key: &str| report[key].as_str().unwrap_or("-").to_string();
    let number = |key: &str| report[key].to_string();
    Ok(Some(vec![
        game.into(),
        report["lower"][0].to_string(),
        report["upper"][0].to_string(),
        text("method"),
        text("evidence"),
        report["line"].as_array().map_or(0, Vec::len).to_string(),
        number("states"),
        number("nodes"),
        number("seconds"),
        text("machine"),
    ]))
}

/// Returns the goal that the player reaches in one match.
fn play(ludex: &Path, path: &str, times: &Times) -> Result<Option<String>> {
    let (start_clock, play_clock) = (times.start_clock.to_string(), times.play_clock.to_string());
    let args = ["match", path, "--players", "ludex", "--count", "1", "--json"];
    let clocks = ["--start-clock", &start_clock, "--play-clock", &play_clock];
    let report = ask(ludex, &[&args[..], &clocks].concat())?;
    Ok(report.map(|report| report["players"][0]["mean_goal"].to_string()))
}

fn describe(run: &Run, table: &Table, name: &str, times: &Times) -> Result<()> {
    let Times { budget, start_clock, play_clock } = times;
    let mut text = format!(
        "# Puzzles solved from their rules\n\n{}: {budget} seconds each.\n\
         *Goal* is what the line reaches, *upper* is what no play exceeds.\n\
         *Played* is what the player `ludex` reaches in one match with a start clock of {start_clock} s and a play \
         clock of {play_clock} s, *published* the best published goal of other players.\n{}\n\n\
         | game | goal | upper | method | evidence | length | states | nodes | seconds | engine | played | published |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by(if name.ends_with("quick") { "exact-puzzles --quick" } else { name }),
        table.commits_in_words()?
    );
    let rows = table.rows()?;
    for row in &rows {
        writeln!(text, "| {} |", row.join(" | "))?;
    }
    let n_solved = rows.iter().filter(|row| row[1] == row[2]).count();
    writeln!(text, "\nSolved: {n_solved} of {}.", rows.len())?;
    let number = |cell: &String| cell.parse::<f64>().ok();
    let played = rows
        .iter()
        .filter_map(|row| Some((number(row.get(10)?)?, number(&row[1])?, number(row.get(11)?)?)));
    let played: Vec<(f64, f64, f64)> = played.collect();
    let n_best = played.iter().filter(|(goal, solved, best)| goal >= best && goal >= solved);
    writeln!(
        text,
        "Played at least as well as solved and as published: {} of {}.",
        n_best.count(),
        played.len()
    )?;
    table.describe(&text)
}

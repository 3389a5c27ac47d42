//! What does `ludex solve` prove about puzzles? Solves every rulesheet of one role.

use std::fmt::Write as _;

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
    question: "What does `ludex solve` prove about puzzles?",
    command: "cargo experiment exact-puzzles",
    table: "exact-puzzles.tsv, exact-puzzles.md",
    options: Options::augment_args,
    run: |run, given| solve_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// Seconds for each game
    #[arg(long, default_value_t = 20)]
    budget: u64,
}

/// Solves the puzzles of the corpus that were not solved before.
fn solve_all(run: &Run, Options { games, budget }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let columns = "game\tgoal\tupper\tmethod\tevidence\tlength\tstates\tnodes\tseconds\tmachine";
    let table = Table::open(run, "exact-puzzles", columns)?;
    let sheets = Published::read("games/INDEX.tsv")?;
    let n_roles = sheets.numbers("players")?;
    for sheet in index()? {
        let game = sheet.game.as_str();
        let is_wanted = games.is_empty() || games.contains(&sheet.game);
        if !is_wanted || n_roles.get(game) != Some(&1.0) || table.has(&[game]) {
            continue;
        }
        let path = shared.join("games").join(format!("{game}.kif")).display().to_string();
        let budget = format!("{budget}s");
        let args = ["solve", &path, "--budget", &budget, "--json"];
        let Some(report) = ask(&ludex, &args)? else { continue };
        let text = |key: &str| report[key].as_str().unwrap_or("-").to_string();
        let length = report["line"].as_array().map_or(0, Vec::len).to_string();
        let numbers = ["states", "nodes", "seconds"].map(|key| report[key].to_string());
        let [states, nodes, seconds] = numbers;
        let (lower, upper) = (report["lower"][0].to_string(), report["upper"][0].to_string());
        let (method, evidence, machine) = (text("method"), text("evidence"), text("machine"));
        table.append(&[
            game, &lower, &upper, &method, &evidence, &length, &states, &nodes, &seconds, &machine,
        ])?;
    }
    let mut text = format!(
        "# Puzzles solved from their rules\n\n{}: {budget} seconds each.\n\
         *Goal* is what the line reaches, *upper* is what no play exceeds.\n{}\n\n\
         | game | goal | upper | method | evidence | length | states | nodes | seconds | engine |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("exact-puzzles"),
        table.commits_in_words()?
    );
    let rows = table.rows()?;
    for row in &rows {
        writeln!(text, "| {} |", row[..10].join(" | "))?;
    }
    let n_solved = rows.iter().filter(|row| row[1] == row[2]).count();
    writeln!(text, "\nSolved: {n_solved} of {}.", rows.len())?;
    table.describe(&text)
}

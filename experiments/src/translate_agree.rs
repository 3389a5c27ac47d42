//! Do the networks of games have the solutions that their machines play, on random states?
//!
//! Each game runs in a process of its own, so that its memory can be measured and a game that hangs does not
//! stop the others. Each result is appended at once, and games with a row are skipped, so a stopped run can
//! continue.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::{Args, FromArgMatches as _};
use ludex_base::Deadline;
use ludex_cli::resources::peak_mb;
use ludex_encode::{EncodeConfig, Sizes, encode};
use ludex_pipeline::{Engine, EngineChoice, LoadError};
use ludex_testkit::{RulesFile, in_parallel, library};
use ludex_tests::exactness::{Compared, MAX_JOINT_MOVES, compare};
use ludex_tests::load_for;
use xtask::tools::select_corpus;

use crate::command::run_for;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "translate-agree",
    question: "Do networks of games have the solutions that their machines play?",
    command: "cargo experiment translate-agree",
    table: "translate-agree.tsv, translate-agree.md",
    options: Options::augment_args,
    run: |run, given| agree(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only these games
    games: Vec<String>,
    /// States of each game
    #[arg(long, default_value_t = 100)]
    states: usize,
    /// Seconds for each game: for encoding, and again for posting and comparing
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// Only compare this rulesheet, and print its row without its name
    #[arg(long, hide = true)]
    one: Option<PathBuf>,
}

const HEADER: &str = "game\tresult\tstates\tsampled\tjoint_moves\tby_propagation\tby_consistency\tby_search\tseconds\tpeak_mb\tnote";

/// The column of the note.
const NOTE: usize = 10;

/// Compares network and machine on random states of each game.
fn agree(run: &Run, options: &Options) -> Result<()> {
    let &Options { ref games, states: n_states, seconds, ref one } = options;
    if let Some(path) = one {
        compare_one_here(path, n_states, seconds);
        return Ok(());
    }
    let mut all = select_corpus(games)?;
    if games.is_empty() {
        all.extend(library());
    }
    let table = Table::open(run, "translate-agree", HEADER)?;
    // Games that differ are compared again, because they may have been fixed.
    let done: Vec<String> = latest(&table)?
        .into_values()
        .filter(|row| row[1] != "differs")
        .map(|row| row[0].clone())
        .collect();
    all.retain(|rules| !done.contains(&key(rules)));
    let own = std::env::current_exe().context("the path of this program")?;
    in_parallel(&all, |rules| {
        let row = compare_apart(&own, rules, n_states, seconds);
        table.append(&row)
    })
    .into_iter()
    .collect::<Result<Vec<()>>>()?;
    describe(run, &table, n_states, seconds)
}

/// The name of a game in the table. Games of the library get a prefix, because the corpus may have the same
/// names.
fn key(rules: &RulesFile) -> String {
    let is_own = rules.path.file_name().is_some_and(|name| name == "rules.kif");
    if is_own { format!("games/{}", rules.name) } else { rules.name.clone() }
}

/// The last row of each game.
fn latest(table: &Table) -> Result<BTreeMap<String, Vec<String>>> {
    Ok(table.rows()?.into_iter().map(|row| (row[0].clone(), row)).collect())
}

fn compare_apart(own: &Path, rules: &RulesFile, n_states: usize, seconds: u64) -> Vec<String> {
    let path = rules.path.display().to_string();
    let (states, time) = (n_states.to_string(), seconds.to_string());
    let args = ["translate-agree", "--one", &path, "--states", &states, "--seconds", &time];
    // Grounding has a bound of its own; encoding, posting and comparing get `seconds` each.
    let most = ludex_tests::GROUND_TIME + Duration::from_secs(3 * seconds + 60);
    let cells = match run_for(own, &args, most) {
        Ok(text) => text.trim_end().split('\t').map(String::from).collect(),
        Err(note) => row_without_states("skipped", &note),
    };
    let is_row = cells.len() + 1 == HEADER.split('\t').count();
    let failed = || row_without_states("differs", "the comparison ended with a panic");
    [vec![key(rules)], if is_row { cells } else { failed() }].concat()
}

fn row_without_states(result: &str, note: &str) -> Vec<String> {
    Vec::from([result, "0", "0", "0", "0", "0", "0", "-", "-", note].map(String::from))
}

/// Compares one game and prints its row without its name.
fn compare_one_here(path: &Path, n_states: usize, seconds: u64) {
    let name = path.display().to_string();
    let rules = RulesFile { name, path: path.to_path_buf() };
    let start = Instant::now();
    let (result, compared, note) = compare_one(&rules, n_states, Duration::from_secs(seconds));
    println!(
        "{result}\t{}\t{}\t{}\t{}\t{:.2}\t{}\t{}",
        compared.n_states,
        compared.n_sampled,
        compared.n_joint_moves,
        compared.n_found_by.map(|n| n.to_string()).join("\t"),
        start.elapsed().as_secs_f64(),
        peak_mb().map_or_else(|| "-".into(), |mb| format!("{mb:.0}")),
        note.replace(['\t', '\n'], " "),
    );
}

fn compare_one(
    rules: &RulesFile,
    n_states: usize,
    time: Duration,
) -> (&'static str, Compared, String) {
    let skipped = |reason: String| ("skipped", Compared::default(), reason);
    let loaded = match load_for(rules, EngineChoice::Circuit) {
        Ok(loaded) => loaded,
        Err(error @ LoadError::Limit { .. }) => return skipped(format!("not grounded: {error}")),
        Err(error) => return skipped(error.to_string()),
    };
    let Engine::Machine(machine) = loaded.engine else { unreachable!("a circuit was requested") };
    let config = EncodeConfig { deadline: Deadline::after(time), ..EncodeConfig::default() };
    let template = match encode(machine.circuit(), &config) {
        Ok(template) => template,
        Err(error) => return skipped(format!("not translated: {error}")),
    };
    let sizes = Sizes::of(&template.network);
    let deadline = Deadline::after(time);
    match compare(&machine, &template, n_states, MAX_JOINT_MOVES, &deadline) {
        Err(difference) => ("differs", Compared::default(), difference),
        Ok(compared) if compared.n_states == 0 => {
            let n_variables = sizes.n_variables;
            skipped(format!("posting {n_variables} variables takes too much memory"))
        }
        Ok(compared) => {
            let is_short = deadline.reached() && compared.n_states < n_states;
            let note = if is_short { "stopped by time, " } else { "" };
            let note = format!("{note}{} variables", sizes.n_variables);
            ("agrees", compared, note)
        }
    }
}

fn describe(run: &Run, table: &Table, n_states: usize, seconds: u64) -> Result<()> {
    let rows: Vec<Vec<String>> = latest(table)?.into_values().collect();
    let of = |result: &str| rows.iter().filter(|row| row[1] == result).collect::<Vec<_>>();
    let (agree, differ, skipped) = (of("agrees"), of("differs"), of("skipped"));
    let number = |row: &[String], at: usize| row[at].parse::<u64>().unwrap_or(0);
    let sum = |at: usize| agree.iter().map(|row| number(row, at)).sum::<u64>();
    let n_fewer = agree.iter().filter(|row| row[NOTE].starts_with("stopped")).count();
    let n_by_propagation = agree.iter().filter(|row| row[5] == row[2]).count();
    let mut text = format!(
        "# Networks of games against their machines\n\n\
         {}.\n\
         {}\n\
         For random reachable states of each rulesheet of the public corpus and of `games/`, the \
         solutions of the injected network, projected on moves, next state, end, goals and \
         percepts, must equal the steps of the machine, as sets; and the network must find the legal moves, by \
         propagation alone or with stronger methods. Of states with more than {MAX_JOINT_MOVES} joint moves, that \
         many are drawn at random. A game with fewer reachable states contributes fewer.\n\n\
         | | |\n| --- | --- |\n| games | {} |\n| agree | {} |\n| of these, stopped by time before all \
         states | {n_fewer} |\n| differ | {} |\n| skipped | {} |\n| states | {} |\n| of these, \
         sampled | {} |\n| joint moves | {} |\n| games whose legal moves propagation alone found, in \
         all states | {n_by_propagation} |\n| states in which it did so | {} |\n| states that needed \
         singleton consistency | {} |\n| states that needed a search | {} |\n",
        run.made_by(&format!("translate-agree --states {n_states} --seconds {seconds}")),
        table.commits_in_words()?,
        rows.len(),
        agree.len(),
        differ.len(),
        skipped.len(),
        sum(2),
        sum(3),
        sum(4),
        sum(5),
        sum(6),
        sum(7),
    );
    if !skipped.is_empty() || !differ.is_empty() || n_fewer > 0 {
        text += "\n| game | | states | seconds | MB | |\n| --- | --- | --- | --- | --- | --- |\n";
    }
    let short = agree.iter().filter(|row| row[NOTE].starts_with("stopped"));
    for row in differ.iter().chain(&skipped).chain(short) {
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row[0], row[1], row[2], row[8], row[9], row[NOTE]
        )?;
    }
    table.describe(&text)?;
    match differ.len() {
        0 => Ok(()),
        n_wrong => bail!("{n_wrong} games differ"),
    }
}

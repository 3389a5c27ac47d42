//! How many games can be solved from their rules? Runs `ludex solve` on every public rulesheet, each in a process
//! of its own, and `ludex verify` on the certificates.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::{RulesFile, corpus};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::registry::Experiment;
use crate::run::Run;

pub static EXPERIMENT: Experiment = Experiment {
    name: "solved",
    question: "How many public rulesheets get a proved value for every role in 60 s, with an accepted certificate?",
    command: "cargo experiment solved",
    table: "solved.tsv, solved.md",
    options: Options::augment_args,
    run: |run, given| solve_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for solving one game
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Seconds for checking one certificate
    #[arg(long, default_value_t = 300)]
    check_seconds: u64,
    /// Take only the games whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Take every Nth game
    #[arg(long, default_value_t = 1)]
    every: usize,
}

const COLUMNS: &[&str] = &[
    "name",
    "solved",
    "method",
    "lower",
    "upper",
    "nodes",
    "seconds",
    "certificate",
    "lines",
    "note",
];

/// Solves the games one after the other, because a solver uses all cores, and writes each row at once.
fn solve_all(run: &Run, options: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let games = games.iter().filter(|game| game.name.contains(&options.only));
    let games: Vec<&RulesFile> = games.step_by(options.every.max(1)).collect();
    let path = run.folder()?.join("solved.tsv");
    fs::write(&path, format!("{}\tcommit\n", COLUMNS.join("\t")))?;
    let mut table = OpenOptions::new().append(true).open(&path)?;
    let (mut n_solved, mut n_accepted) = (0, 0);
    for game in &games {
        let row = solve_one(&ludex, game, options)?;
        n_solved += usize::from(row[1] == "true");
        n_accepted += usize::from(row[7] == "accepted");
        let line = format!("{}\t{}", row.join("\t"), run.commit());
        eprintln!("{line}");
        writeln!(table, "{line}").with_context(|| path.display().to_string())?;
    }
    let mut markdown = String::new();
    write!(
        markdown,
        "# Games solved from their rules\n\n\
         {}: each rulesheet in a process of its own, `ludex solve --budget {} --certificate`, one at a time.\n\
         All rows are in `solved.tsv`.\n\n\
         | | sheets |\n| --- | --- |\n| all | {} |\n| proved value for every role | {n_solved} |\n\
         | of these with an accepted certificate | {n_accepted} |\n",
        run.made_by(&format!("solved --seconds {}", options.seconds)),
        options.seconds,
        games.len(),
    )?;
    run.write_file("solved.md", &markdown)?;
    println!("{n_solved} of {} solved, {n_accepted} with an accepted certificate", games.len());
    Ok(())
}

/// Returns the cells of a row.
fn solve_one(ludex: &Path, game: &RulesFile, options: &Options) -> Result<Vec<String>> {
    let rules = game.path.display().to_string();
    let file = std::env::temp_dir().join(format!("ludex-solved-{}.txt", std::process::id()));
    let certificate = file.display().to_string();
    let budget = options.seconds.to_string();
    let args = ["solve", &rules, "--json", "--budget", &budget, "--certificate", &certificate];
    // Loading the game comes on top of the budget.
    let output = run_for(ludex, &args, Duration::from_secs(options.seconds + 90));
    let mut note = String::new();
    let report = match output {
        Ok(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
        Err(reason) => {
            note = reason;
            Value::Null
        }
    };
    if let Some(reason) = report["stopped"].as_str().or(report["error"].as_str()) {
        note = reason.into();
    }
    let is_solved = report["solved"] == true;
    let (mut verdict, mut n_lines) = (String::new(), 0);
    if is_solved && let Ok(text) = fs::read_to_string(&file) {
        n_lines = text.lines().count();
        let time = options.check_seconds.to_string();
        let args = ["verify", &certificate, &rules, "--json", "--time", &time];
        let checked = run_for(ludex, &args, Duration::from_secs(options.check_seconds + 30));
        let checked: Value =
            checked.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
        verdict = if checked["accepted"] == true { "accepted" } else { "not accepted" }.into();
        if let Some(reason) = checked["reason"].as_str() {
            note = reason.chars().take(200).collect();
        }
    }
    if file.exists() {
        fs::remove_file(&file)?;
    }
    let cell = |key: &str| match &report[key] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let of = |key: &str| if is_solved { cell("value") } else { cell(key) };
    Ok(vec![
        game.name.clone(),
        is_solved.to_string(),
        cell("method"),
        of("lower"),
        of("upper"),
        cell("nodes"),
        cell("seconds"),
        verdict,
        n_lines.to_string(),
        note.replace(['\t', '\n'], " "),
    ])
}

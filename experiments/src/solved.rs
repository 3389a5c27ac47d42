//! How many games can be solved from their rules? Runs `ludex solve` on every public rulesheet, each in a process
//! of its own, and `ludex verify` on the certificates.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_testkit::{RulesFile, corpus};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "solved",
    question: "How many public rulesheets get a proved value for every role in 60 s, with an accepted certificate?",
    command: "cargo experiment solved",
    table: "solved.tsv, solved.md; with --quick, solved-quick.tsv and .md",
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
    /// Take every tenth game, with 3 seconds for solving and 10 for checking; written to other files
    #[arg(long)]
    quick: bool,
}

const COLUMNS: &str =
    "name\tsolved\tmethod\tlower\tupper\tnodes\tseconds\tcertificate\tlines\tnote\tbudget";

/// Solves the games that were not tried before, one after the other, because a solver uses all cores.
fn solve_all(run: &Run, options: &Options) -> Result<()> {
    let quick = Options {
        seconds: 3,
        check_seconds: 10,
        only: options.only.clone(),
        every: 10,
        quick: true,
    };
    let (options, name) =
        if options.quick { (&quick, "solved-quick") } else { (options, "solved") };
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let games = games.iter().filter(|game| game.name.contains(&options.only));
    let table = Table::open(run, name, COLUMNS)?;
    for game in games.step_by(options.every.max(1)) {
        if !table.has(&[&game.name]) {
            table.append(&solve_one(&ludex, game, options)?)?;
        }
    }
    let rows = table.rows()?;
    let n_solved = rows.iter().filter(|row| row[1] == "true").count();
    let n_accepted = rows.iter().filter(|row| row[7] == "accepted").count();
    let made_by = if options.quick {
        run.made_by("solved --quick")
    } else {
        run.made_by(&format!("solved --seconds {}", options.seconds))
    };
    table.describe(&format!(
        "# Games solved from their rules\n\n\
         {made_by}: each rulesheet in a process of its own, `ludex solve --budget N --certificate`, one at a time.\n\
         All rows are in `{name}.tsv`, each with the seconds that the solver had, its *budget*.\n{}\n\n\
         | | sheets |\n| --- | --- |\n| all | {} |\n| proved value for every role | {n_solved} |\n\
         | of these with an accepted certificate | {n_accepted} |\n",
        table.commits_in_words()?,
        rows.len(),
    ))
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
        budget,
    ])
}

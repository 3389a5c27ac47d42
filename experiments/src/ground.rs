//! How long does grounding take? Runs `ludex ground` on every public rulesheet, each in a process of its own.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_testkit::{RulesFile, corpus, in_parallel};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "ground",
    question: "How many public rulesheets are grounded in under 5 s and 2,000 MB?",
    command: "cargo experiment ground",
    table: "ground.tsv, ground.md",
    options: Options::augment_args,
    run: |run, given| ground(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds after which a rulesheet is given up
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// The result of one run of `ludex ground`.
#[derive(Serialize, Deserialize)]
struct Grounded {
    name: String,
    report: Option<Value>,
    /// Why there is no report, or why the reasoner plays.
    note: String,
    seconds: f64,
}

/// The bound on time in the claim that the table backs.
const SECONDS: f64 = 5.0;
/// The bound on memory in the same claim.
const MEGABYTES: f64 = 2_000.0;

/// Grounds every public rulesheet in a process of its own.
fn ground(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let finished = run.finished("ground", &format!("--seconds {seconds}"))?;
    let rows = in_parallel(&games, |rules| {
        let row = finished.part(&rules.name, || Ok(ground_one(&ludex, rules, seconds)))?;
        eprintln!("{}\t{:.2}\t{}", row.name, row.seconds, row.note);
        Ok(row)
    });
    let rows = rows.into_iter().collect::<Result<Vec<Grounded>>>()?;
    let number =
        |row: &Grounded, key: &str| row.report.as_ref().and_then(|report| report[key].as_f64());
    let is_within = |row: &&Grounded| {
        row.note.is_empty()
            && number(row, "seconds").is_some_and(|seconds| seconds < SECONDS)
            && number(row, "peak_mb").is_some_and(|mb| mb < MEGABYTES)
    };
    let n_within = rows.iter().filter(is_within).count();
    let n_stopped = rows.iter().filter(|row| row.report.is_some() && !row.note.is_empty()).count();
    let n_crashed = rows.iter().filter(|row| row.report.is_none()).count();
    let columns = ["seconds", "peak_mb", "fluents", "moves", "rules", "gates", "machine"];
    let mut tsv = run.rows(Form::Tsv, &[&["name"], &columns[..], &["note"]].concat());
    for row in &rows {
        let mut cells = vec![row.name.clone()];
        cells.extend(columns.map(|key| cell(row.report.as_ref().map(|report| &report[key]))));
        cells.push(row.note.clone());
        tsv.push(&cells);
    }
    let mut slow: Vec<&Grounded> = rows.iter().filter(|row| !is_within(row)).collect();
    slow.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut markdown = format!(
        "# Grounding the public rulesheets\n\n\
         {}: each rulesheet in a process of its own, `ludex ground --json`, two at a time.\n\
         All rows are in `ground.tsv`.\n\n\
         | | sheets |\n| --- | --- |\n\
         | all | {} |\n| grounded in under {SECONDS} s and {MEGABYTES} MB | {n_within} ({:.1} %) |\n\
         | stopped by a bound with a message | {n_stopped} |\n| no report at all | {n_crashed} |\n\n\
         The sheets beyond the bounds of the second row:\n\n",
        run.made_by(&format!("ground --seconds {seconds}")),
        rows.len(),
        100.0 * n_within as f64 / rows.len() as f64,
    );
    let mut beyond = run.rows(Form::Markdown, &["sheet", "seconds", "MB", "machine", "note"]);
    for row in slow {
        let of = |key: &str| cell(row.report.as_ref().map(|report| &report[key]));
        let seconds = format!("{:.2}", row.seconds);
        beyond.push(&[&row.name, &seconds, &of("peak_mb"), &of("machine"), &row.note]);
    }
    write!(markdown, "{}", beyond.text())?;
    run.write("ground", &tsv, &markdown)?;
    finished.remove()?;
    println!(
        "{n_within} of {} within bounds, {n_stopped} stopped, {n_crashed} without report",
        rows.len()
    );
    Ok(())
}

fn ground_one(ludex: &Path, rules: &RulesFile, seconds: u64) -> Grounded {
    let time = seconds.to_string();
    let path = rules.path.display().to_string();
    let args = ["ground", &path, "--json", "--time", &time, "--memory", "4GB"];
    let start = Instant::now();
    // `--time` bounds grounding alone, so a process that hangs elsewhere is killed.
    let output = run_for(ludex, &args, Duration::from_secs(3 * seconds + 30));
    let seconds = start.elapsed().as_secs_f64();
    let name = rules.name.clone();
    match output {
        Err(note) => Grounded { name, report: None, note, seconds },
        Ok(text) => match serde_json::from_str::<Value>(&text) {
            Err(_) => Grounded { name, report: None, note: "no JSON".into(), seconds },
            Ok(report) => {
                let reason = report["reason"].as_str().or(report["error"].as_str()).unwrap_or("");
                let (note, is_report) = (reason.to_string(), report["seconds"].is_number());
                Grounded { name, report: is_report.then_some(report), note, seconds }
            }
        },
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".into(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

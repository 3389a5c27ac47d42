//! Tables about the public rulesheets, kept under `benches/runs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ludex_testkit::{RulesFile, corpus, in_parallel};
use serde_json::Value;

use crate::tools::{build_ludex, processor, runs_folder, shared_folder};

/// What one run of `ludex ground` came to.
struct Grounded {
    name: String,
    report: Option<Value>,
    /// What happened instead of a report, or why the reasoner plays.
    note: String,
    seconds: f64,
}

/// Bounds of the claim that the table backs.
const SECONDS: f64 = 5.0;
const MEGABYTES: f64 = 2_000.0;

/// Grounds every public rulesheet in a process of its own.
pub fn ground(seconds: u64) -> Result<()> {
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let rows = in_parallel(&games, |rules| {
        let row = ground_one(&ludex, rules, seconds);
        eprintln!("{}\t{:.2}\t{}", row.name, row.seconds, row.note);
        row
    });
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
    let mut tsv = format!("name\t{}\tnote\n", columns.join("\t"));
    for row in &rows {
        let cells: Vec<String> = columns
            .iter()
            .map(|&key| cell(row.report.as_ref().map(|report| &report[key])))
            .collect();
        writeln!(tsv, "{}\t{}\t{}", row.name, cells.join("\t"), row.note)?;
    }
    let mut slow: Vec<&Grounded> = rows.iter().filter(|row| !is_within(row)).collect();
    slow.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut markdown = format!(
        "# Grounding the public rulesheets\n\n\
         Made by `cargo xtask ground-table --seconds {seconds}`: each rulesheet in a process of its own, \
         `ludex ground --json`, two at a time on {}.\n\
         All rows are in `ground.tsv`.\n\n\
         | | sheets |\n| --- | --- |\n\
         | all | {} |\n| grounded in under {SECONDS} s and {MEGABYTES} MB | {n_within} ({:.1} %) |\n\
         | stopped by a bound with a message | {n_stopped} |\n| no report at all | {n_crashed} |\n\n\
         Those beyond the bounds of the second line:\n\n\
         | sheet | seconds | MB | machine | note |\n| --- | --- | --- | --- | --- |\n",
        processor(),
        rows.len(),
        100.0 * n_within as f64 / rows.len() as f64,
    );
    for row in slow {
        let of = |key: &str| cell(row.report.as_ref().map(|report| &report[key]));
        writeln!(
            markdown,
            "| {} | {:.2} | {} | {} | {} |",
            row.name,
            row.seconds,
            of("peak_mb"),
            of("machine"),
            row.note
        )?;
    }
    write_run("ground", &tsv, &markdown)?;
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
    // The bound of time is for grounding alone; a process that hangs elsewhere is ended.
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

/// The standard output of a process, which is ended when the time is over.
pub fn run_for(program: &Path, args: &[&str], time: Duration) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    while start.elapsed() < time {
        match child.try_wait() {
            Ok(Some(status)) if status.code().is_none() => return Err(format!("killed: {status}")),
            Ok(Some(_)) => {
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
    // It may have ended by itself in this moment.
    let _ = child.kill();
    let _ = child.wait();
    Err("did not end".into())
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".into(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// Measures the reasoner on the games of the table of published speeds.
pub fn reasoner(seconds: f64) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let published =
        fs::read_to_string(shared.join("peers/playouts.tsv")).context("peers/playouts.tsv")?;
    let mut lines = published.lines();
    let header: Vec<&str> = lines.next().unwrap_or("").split('\t').collect();
    let column = header
        .iter()
        .position(|&name| name == "ggpbase_prover")
        .context("there is no column `ggpbase_prover`")?;
    let provers: BTreeMap<&str, f64> = lines
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            Some((cells[0], cells.get(column)?.parse().ok()?))
        })
        .collect();
    let mut tsv = String::from("game\tprover\treasoner\tratio\tmean_length\tplayouts\n");
    let mut markdown = format!(
        "# The reasoner beside the reference prover\n\n\
         Made by `cargo xtask reasoner-table --seconds {seconds}`: playouts a processor second, one thread, on {}.\n\
         The column `prover` is `ggpbase_prover` of the published speeds, measured on a machine of the same kind.\n\n\
         | game | prover | reasoner | ratio |\n| --- | --- | --- | --- |\n",
        processor(),
    );
    let (mut n_twice, mut n_games) = (0, 0);
    for (game, prover) in provers {
        let path = shared.join("games").join(format!("{game}.kif")).display().to_string();
        let time = seconds.to_string();
        let args = [
            "bench",
            &path,
            "--machine",
            "reasoner",
            "--threads",
            "1",
            "--seconds",
            &time,
            "--json",
        ];
        let text = run_for(&ludex, &args, Duration::from_secs_f64(20.0 * seconds + 60.0));
        let report: Value =
            text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let speed = report["playouts_per_cpu_second"].as_f64().unwrap_or(0.0);
        let ratio = speed / prover;
        n_games += 1;
        n_twice += usize::from(ratio >= 2.0);
        eprintln!("{game}: {speed} against {prover}, {ratio:.1} times");
        writeln!(
            tsv,
            "{game}\t{prover}\t{speed}\t{ratio:.2}\t{}\t{}",
            report["mean_length"], report["playouts"]
        )?;
        writeln!(markdown, "| {game} | {prover} | {speed} | {ratio:.1} |")?;
    }
    writeln!(markdown, "\n{n_twice} of {n_games} games at twice the speed of the prover or more.")?;
    write_run("reasoner", &tsv, &markdown)?;
    println!("{n_twice} of {n_games} at least twice as fast");
    Ok(())
}

pub fn write_run(name: &str, tsv: &str, markdown: &str) -> Result<()> {
    let folder = runs_folder()?;
    fs::write(folder.join(format!("{name}.tsv")), tsv)?;
    fs::write(folder.join(format!("{name}.md")), markdown)?;
    eprintln!("written to {}", folder.display());
    Ok(())
}

//! Kills series of matches at random moments, and resumes them until they are complete.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ludex_base::{Rng, Seed};
use ludex_testkit::command::binary;
use serde_json::Value;

/// How often to kill which series.
#[derive(Clone, Debug)]
pub struct KillConfig {
    /// The verb: `match` or `referee`.
    pub verb: &'static str,
    /// The number of kills in total.
    pub n_kills: usize,
    /// The matches of a series.
    pub n_matches: usize,
    /// The seed of the moments.
    pub seed: Seed,
}

/// What kills did to series of matches.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct KillReport {
    /// Kills of a process that was still running.
    pub n_kills: usize,
    /// Series that were resumed until they were complete.
    pub n_series: usize,
    /// Files whose last line was cut by a kill.
    pub n_cut: usize,
    /// Finished matches found in files after kills.
    pub n_kept: usize,
    /// Matches that a later kill or run had lost.
    pub n_lost: usize,
    /// Matches that were in a file twice.
    pub n_doubled: usize,
    /// Complete series with another result than a run without a kill.
    pub n_different: usize,
}

/// Kills and resumes series until there were enough kills.
///
/// # Panics
/// Panics if the command is not built or cannot write to the folder for temporary files.
pub fn run(config: &KillConfig, on_series: &mut dyn FnMut(&KillReport)) -> KillReport {
    let file = SeriesPath::new(config.verb, "jsonl");
    let printed = SeriesPath::new(config.verb, "out");
    let start = Instant::now();
    let expected = result(config, spawn(config, None, &printed.0), &printed.0);
    let time = start.elapsed();
    let mut rng = config.seed.rng();
    let mut report = KillReport::default();
    while report.n_kills < config.n_kills {
        play_series(config, [&file.0, &printed.0], &expected, time, &mut rng, &mut report);
        on_series(&report);
    }
    report
}

/// A file for temporary use, removed on drop.
struct SeriesPath(PathBuf);

impl SeriesPath {
    fn new(verb: &str, ending: &str) -> Self {
        let name = format!("ludex-resume-{verb}-{}.{ending}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for SeriesPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Plays one series to its end, with kills on the way.
fn play_series(
    config: &KillConfig,
    [file, printed]: [&Path; 2],
    expected: &Value,
    time: Duration,
    rng: &mut Rng,
    report: &mut KillReport,
) {
    let _ = std::fs::remove_file(file);
    let mut kept = BTreeSet::new();
    loop {
        let mut child = spawn(config, Some(file), printed);
        std::thread::sleep(time.mul_f64(rng.below(1_000_000) as f64 / 1e6));
        if report.n_kills >= config.n_kills || is_over(&mut child) {
            report.n_series += 1;
            report.n_different += usize::from(result(config, child, printed) != *expected);
            check_file(file, &mut kept, report);
            return;
        }
        child.kill().and_then(|()| child.wait()).expect("the process can be killed");
        report.n_kills += 1;
        check_file(file, &mut kept, report);
    }
}

fn is_over(child: &mut Child) -> bool {
    child.try_wait().expect("the process can be asked").is_some()
}

/// Compares the matches in the file with those that it held before.
fn check_file(file: &Path, kept: &mut BTreeSet<u64>, report: &mut KillReport) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    report.n_cut += usize::from(!text.is_empty() && !text.ends_with('\n'));
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut found = BTreeSet::new();
    for line in whole.lines().skip(1) {
        let row: Value = serde_json::from_str(line).expect("a whole line is JSON");
        let row = &row["row"];
        let number = row["number"].as_u64().or_else(|| row["report"]["number"].as_u64());
        let is_new = found.insert(number.expect("a row has a number"));
        report.n_doubled += usize::from(!is_new);
    }
    report.n_lost += kept.difference(&found).count();
    report.n_kept += found.len().saturating_sub(kept.len());
    *kept = found;
}

/// Starts a series that prints to a file: a report that fills a pipe would keep the process waiting.
fn spawn(config: &KillConfig, file: Option<&Path>, printed: &Path) -> Child {
    let output = File::create(printed).expect("the folder for temporary files can be written");
    let count = config.n_matches.to_string();
    let mut command = Command::new(binary());
    command
        .args([config.verb, "tictactoe", "--players", "uct,random", "--iterations", "40"])
        .args(["--start-clock", "600", "--play-clock", "600", "--seed", "7", "--json"])
        .args(["--count", &count])
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null());
    if let Some(file) = file {
        command.arg("--resume").arg("--output").arg(file);
    }
    command.spawn().expect("the command starts")
}

/// Waits for the end of a process and returns what it reports, without times.
fn result(config: &KillConfig, mut child: Child, printed: &Path) -> Value {
    let status = child.wait().expect("the process ends");
    assert_eq!(status.code(), Some(0));
    let text = std::fs::read_to_string(printed).expect("the report");
    let reports = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let mut reports: Vec<Value> = reports.collect();
    for report in &mut reports {
        forget_times(report);
    }
    let n_matches = match config.verb {
        "match" => reports[0]["matches"].as_array().map_or(0, Vec::len),
        _ => reports.len(),
    };
    assert_eq!(n_matches, config.n_matches);
    reports.into()
}

/// Removes what differs from run to run.
fn forget_times(value: &mut Value) {
    const TIMES: [&str; 8] =
        ["seconds", "times", "startTime", "stateTimes", "moveTimes", "matchId", "engine", "cpu"];
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !TIMES.contains(&name.as_str()));
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_times),
        _ => {}
    }
}

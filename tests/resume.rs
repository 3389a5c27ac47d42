//! Kills long work at random moments, and resumes it until it is complete.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ludex_base::{Rng, Seed};
use ludex_testkit::command::binary;
use serde_json::Value;

/// How often to kill which series.
#[derive(Clone, Debug)]
pub struct KillConfig {
    /// What is killed.
    pub work: Work,
    /// The number of kills in total.
    pub n_kills: usize,
    /// The matches of a series.
    pub n_matches: usize,
    /// The seed of the moments.
    pub seed: Seed,
}

/// Long work that goes on after a kill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// A series of matches by this verb: `match` or `referee`.
    Verb(&'static str),
    /// The experiment `endings` on some games, by this program, which needs the public rulesheets.
    Experiment(PathBuf),
    /// The exact value of a game with its certificate, which is there as a whole or not at all.
    Solve,
}

impl Work {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Verb(verb) => verb,
            Work::Experiment(_) => "experiment",
            Work::Solve => "solve",
        }
    }
}

/// The games of the experiment.
const GAMES: [&str; 10] = [
    "ticTacToe",
    "connectFour",
    "breakthroughSmall",
    "knightThrough",
    "sheepAndWolf",
    "blocker",
    "nineBoardTicTacToe",
    "eightPuzzle",
    "tictactoe_3player",
    "biddingTicTacToe",
];

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
    let folder = Folder::new(config.work.name());
    let start = Instant::now();
    let expected = result(config, spawn(config, &folder, false), &folder);
    let time = start.elapsed();
    let mut rng = config.seed.rng();
    let mut report = KillReport::default();
    while report.n_kills < config.n_kills {
        play_series(config, &folder, &expected, time, &mut rng, &mut report);
        on_series(&report);
    }
    report
}

/// A folder for temporary use, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("ludex-resume-{name}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        folder.clear();
        folder
    }

    fn clear(&self) {
        let _ = std::fs::remove_dir_all(&self.0);
        std::fs::create_dir_all(&self.0).expect("the folder for temporary files can be written");
    }

    /// The file that keeps what is finished.
    fn kept(&self, work: &Work) -> PathBuf {
        self.0.join(match work {
            Work::Verb(_) => "series.jsonl",
            Work::Experiment(_) => "endings.unfinished",
            Work::Solve => "certificate",
        })
    }

    /// The file with the report of a complete series, the table of the experiment, or the certificate.
    fn result(&self, work: &Work) -> PathBuf {
        self.0.join(match work {
            Work::Verb(_) => "printed",
            Work::Experiment(_) => "endings.tsv",
            Work::Solve => "certificate",
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Plays one series to its end, with kills on the way.
fn play_series(
    config: &KillConfig,
    folder: &Folder,
    expected: &Value,
    time: Duration,
    rng: &mut Rng,
    report: &mut KillReport,
) {
    folder.clear();
    let mut kept = BTreeSet::new();
    loop {
        let mut child = spawn(config, folder, true);
        std::thread::sleep(time.mul_f64(rng.below(1_000_000) as f64 / 1e6));
        if report.n_kills >= config.n_kills || is_over(&mut child) {
            report.n_series += 1;
            report.n_different += usize::from(result(config, child, folder) != *expected);
            check_file(config, folder, expected, &mut kept, report);
            return;
        }
        child.kill().and_then(|()| child.wait()).expect("the process can be killed");
        report.n_kills += 1;
        check_file(config, folder, expected, &mut kept, report);
    }
}

fn is_over(child: &mut Child) -> bool {
    child.try_wait().expect("the process can be asked").is_some()
}

/// Compares the matches in the file with those that it held before. A certificate must be whole.
fn check_file(
    config: &KillConfig,
    folder: &Folder,
    expected: &Value,
    kept: &mut BTreeSet<String>,
    report: &mut KillReport,
) {
    let file = folder.kept(&config.work);
    // A complete experiment has a table, and removes the file.
    let is_experiment = matches!(config.work, Work::Experiment(_));
    if is_experiment && !file.exists() && folder.result(&config.work).exists() {
        kept.clear();
        return;
    }
    let text = std::fs::read_to_string(file).unwrap_or_default();
    if config.work == Work::Solve {
        let found = if text.is_empty() { BTreeSet::new() } else { BTreeSet::from([text]) };
        report.n_different += found.iter().filter(|text| expected != text.as_str()).count();
        keep(found, kept, report);
        return;
    }
    report.n_cut += usize::from(!text.is_empty() && !text.ends_with('\n'));
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut found = BTreeSet::new();
    for line in whole.lines().skip(1) {
        let row: Value = serde_json::from_str(line).expect("a whole line is JSON");
        // A match has a number, and a part of an experiment a name.
        let row = &row["row"];
        let names = [&row["number"], &row["report"]["number"], &row[0]];
        let name = names.into_iter().find(|name| !name.is_null()).expect("a row has a name");
        let is_new = found.insert(name.to_string());
        report.n_doubled += usize::from(!is_new);
    }
    keep(found, kept, report);
}

/// Counts what is new in a file, and what is gone.
fn keep(found: BTreeSet<String>, kept: &mut BTreeSet<String>, report: &mut KillReport) {
    report.n_lost += kept.difference(&found).count();
    report.n_kept += found.len().saturating_sub(kept.len());
    *kept = found;
}

/// Starts a series that prints to a file: a report that fills a pipe would keep the process waiting.
fn spawn(config: &KillConfig, folder: &Folder, resumes: bool) -> Child {
    let mut command = match &config.work {
        Work::Verb(verb) => {
            let count = config.n_matches.to_string();
            let mut command = Command::new(binary());
            command
                .args([verb, "tictactoe", "--players", "uct,random", "--iterations", "40"])
                .args(["--start-clock", "600", "--play-clock", "600", "--seed", "7", "--json"])
                .args(["--count", &count]);
            if resumes {
                command.arg("--resume").arg("--output").arg(folder.kept(&config.work));
            }
            let printed = File::create(folder.result(&config.work));
            command.stdout(printed.expect("the folder for temporary files can be written"));
            command
        }
        Work::Experiment(program) => {
            let mut command = Command::new(program);
            command.arg("--folder").arg(&folder.0).args(resumes.then_some("--resume"));
            command.arg("endings").args(GAMES);
            command.args(["--playouts", "30", "--reasoner-seconds", "600"]);
            command.stdout(Stdio::null());
            command
        }
        Work::Solve => {
            let mut command = Command::new(binary());
            command.args(["solve", "tictactoe", "--threads", "1", "--certificate"]);
            command.arg(folder.kept(&config.work)).stdout(Stdio::null());
            command
        }
    };
    command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts")
}

/// Waits for the end of a process and returns what it reports, without times.
fn result(config: &KillConfig, mut child: Child, folder: &Folder) -> Value {
    let status = child.wait().expect("the process ends");
    assert_eq!(status.code(), Some(0));
    let text = std::fs::read_to_string(folder.result(&config.work)).expect("the report");
    let Work::Verb(verb) = config.work else { return text.into() };
    let reports = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let mut reports: Vec<Value> = reports.collect();
    for report in &mut reports {
        forget_times(report);
    }
    let n_matches = match verb {
        "match" => reports[0]["matches"].as_array().map_or(0, Vec::len),
        _ => reports.len(),
    };
    assert_eq!(n_matches, config.n_matches);
    reports.into()
}

/// Removes what differs from run to run.
pub fn forget_times(value: &mut Value) {
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

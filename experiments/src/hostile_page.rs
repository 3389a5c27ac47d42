//! Does the page stay alive whatever rulesheet a visitor pastes? Sends hostile sheets to a server within an
//! address space.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::hostile::{HostileSheet, sheets};
use ludex_tests::page::Server;
use serde_json::{Value, json};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "hostile-page",
    question: "Does the page answer in time and stay alive whatever rulesheet a visitor pastes?",
    command: "cargo experiment hostile-page",
    table: "hostile-page.md from the rows of hostile-page.tsv",
    options: Options::augment_args,
    run: |run, given| try_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only sheets whose names contain one of these words
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    sheets: Vec<String>,
    /// Memory of the server, in MB
    #[arg(long, default_value_t = 2_048)]
    memory: u64,
    /// Times the seconds that an answer may take, for a machine that is busy with other work
    #[arg(long, default_value_t = 1.0)]
    patience: f64,
}

const COLUMNS: &str =
    "sheet\tbytes\tcheck\tseconds\tstudy\tseconds\tmatch\tseconds\tMB of the server\tverdict";

/// Seconds that the page may take to read a sheet: its limit of five seconds and a fifth of that.
const CHECK_SECONDS: f64 = 6.0;
/// Seconds for a study: half a minute for the engine, two for random games, and a fifth more.
const STUDY_SECONDS: f64 = 38.0;
/// Seconds from the request of a match to its first board, or to the message that there is none.
const MATCH_SECONDS: f64 = CHECK_SECONDS + 36.0;
/// Seconds for another visitor's list of games meanwhile.
const OTHER_SECONDS: f64 = 1.0;

/// Sends every sheet to one server, and fails if an answer is late, a request fails or the server dies.
fn try_all(run: &Run, options: &Options) -> Result<()> {
    build_ludex()?;
    let table = Table::open(run, "hostile-page", COLUMNS)?;
    let database =
        std::env::temp_dir().join(format!("ludex-hostile-page-{}.db", std::process::id()));
    let mut server = Server::start_within(&database, options.memory);
    for sheet in sheets() {
        let is_wanted = options.sheets.is_empty()
            || options.sheets.iter().any(|word| sheet.name().contains(word.as_str()));
        if !is_wanted || table.has(&[&sheet.name()]) {
            continue;
        }
        let row = try_sheet(&mut server, &sheet, options);
        eprintln!("{}", row.join("\t"));
        let is_dead = row.last().is_some_and(|verdict| verdict == "dead");
        table.append(&row)?;
        if is_dead {
            server.kill();
            server = Server::start_within(&database, options.memory);
        }
    }
    server.kill();
    for end in ["", "-wal", "-shm"] {
        // SQLite removes its own files when it can.
        let _ = std::fs::remove_file(format!("{}{end}", database.display()));
    }
    describe(run, &table, options)
}

/// The status of an answer, and the seconds that it took; status 0 if there was none.
struct Timed {
    status: u16,
    answer: Value,
    seconds: f64,
}

fn timed(server: &Server, path: &str, body: &Value) -> Timed {
    let begin = Instant::now();
    let (status, answer) =
        server.try_request("POST", path, &body.to_string()).unwrap_or((0, Value::Null));
    Timed { status, answer, seconds: begin.elapsed().as_secs_f64() }
}

fn try_sheet(server: &mut Server, sheet: &HostileSheet, options: &Options) -> Vec<String> {
    let bytes = sheet.bytes();
    let rules = String::from_utf8_lossy(&bytes).into_owned();
    let check = timed(server, "/api/rules", &json!({ "rules": rules }));
    let study = timed(server, "/api/study", &json!({ "rules": rules }));
    let n_roles = check.answer["roles"].as_array().map_or(1, Vec::len);
    let seats = vec![json!({ "kind": "player", "player": "random" }); n_roles];
    let begin = Instant::now();
    let wanted = json!({ "rules": rules, "seats": seats, "move_time": 10 });
    let begun = timed(server, "/api/matches", &wanted);
    let shown = first_board(server, &begun.answer, options);
    let match_seconds = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let is_alive = server.is_running()
        && server.try_request("GET", "/api/games", "").is_ok_and(|(status, _)| status == 200);
    let other_seconds = begin.elapsed().as_secs_f64();
    let megabytes = if is_alive { server.peak_megabytes() } else { 0.0 };
    let late = |seconds: f64, most: f64| seconds > most * options.patience;
    let statuses = [check.status, study.status, begun.status];
    let verdict = if !is_alive {
        "dead"
    } else if statuses.contains(&0) {
        "no answer"
    } else if statuses.contains(&500) {
        "failed"
    } else if late(check.seconds, CHECK_SECONDS) {
        "late check"
    } else if late(study.seconds, STUDY_SECONDS) {
        "late study"
    } else if late(match_seconds, MATCH_SECONDS) {
        "late match"
    } else if late(other_seconds, OTHER_SECONDS) {
        "late for others"
    } else if megabytes > 1.1 * options.memory as f64 {
        "memory"
    } else {
        "ok"
    };
    vec![
        sheet.name(),
        bytes.len().to_string(),
        check.status.to_string(),
        format!("{:.2}", check.seconds),
        study.status.to_string(),
        format!("{:.2}", study.seconds),
        format!("{} {shown}", begun.status),
        format!("{match_seconds:.2}"),
        format!("{megabytes:.0}"),
        verdict.into(),
    ]
}

/// Waits for the first board of a match; returns what the match does then.
fn first_board(server: &Server, begun: &Value, options: &Options) -> String {
    let Some(id) = begun["id"].as_str() else { return "-".into() };
    let until = Instant::now() + Duration::from_secs_f64(2.0 * MATCH_SECONDS * options.patience);
    while Instant::now() < until {
        let shown = server.try_request("GET", &format!("/api/matches/{id}"), "");
        let Ok((_, view)) = shown else { return "no answer".into() };
        if view["status"] != "loading" {
            return view["status"].as_str().unwrap_or("no status").into();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    "loading".into()
}

/// Writes the counts and the findings, and fails if there are any.
fn describe(run: &Run, table: &Table, options: &Options) -> Result<()> {
    let rows = table.rows()?;
    let verdict = |row: &Vec<String>| row.last().cloned().unwrap_or_default();
    let findings: Vec<String> =
        rows.iter().filter(|row| verdict(row) != "ok").map(|row| row.join(", ")).collect();
    let most =
        |column: usize| rows.iter().filter_map(|row| row[column].parse().ok()).fold(0.0, f64::max);
    let n_refused = rows.iter().filter(|row| row[2] != "200").count();
    table.describe(&format!(
        "# Hostile rulesheets on the page\n\n{}: {} sheets, one after the other, to one server with {} MB under \
         `ulimit -v` at twice that: each is checked, studied, and played by random players. {}\n\n\
         {n_refused} sheets were refused for their size. Slowest check {:.2} s, slowest study {:.2} s, slowest \
         first board {:.2} s; the server had at most {:.0} MB.\n\n{} findings.\n\n{}\n",
        run.made_by("hostile-page"),
        rows.len(),
        options.memory,
        table.commits_in_words()?,
        most(3),
        most(5),
        most(7),
        most(8),
        findings.len(),
        findings.join("\n"),
    ))?;
    ensure!(findings.is_empty(), "{} sheets were not answered as they should be", findings.len());
    Ok(())
}

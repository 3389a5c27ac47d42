//! Do the limits hold on any rulesheet? Runs every verb on sheets that are hard on one part of Ludex, each
//! in a process of its own, and looks for panics, aborts and overruns.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::contained::{self, Ending, How};
use ludex_testkit::hostile::{HostileSheet, sheets};
use ludex_testkit::on_threads;
use ludex_verify::rules_hash;
use xtask::tools::{build_ludex, shared_folder};

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::{Form, Table};

pub static EXPERIMENT: Experiment = Experiment {
    name: "hostile",
    question: "Do the limits of time and memory hold on any rulesheet?",
    command: "cargo experiment hostile",
    table: "hostile.md from the rows of hostile.tsv, which are too many to keep; with --known hostile-known.md",
    options: Options::augment_args,
    run: |run, given| try_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Only sheets whose names contain one of these words
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    sheets: Vec<String>,
    /// Only these verbs
    #[arg(long, value_name = "VERBS", value_delimiter = ',')]
    verbs: Vec<String>,
    /// Only the first N budgets
    #[arg(long, value_name = "N", default_value_t = BUDGETS.len())]
    budgets: usize,
    /// Judge times by the processor, for a machine that is busy with other work
    #[arg(long)]
    busy: bool,
    /// Only the calls that once broke their limits, in 10 s and 1 GB each
    #[arg(long, conflicts_with_all = ["sheets", "verbs", "budgets", "jobs"])]
    known: bool,
    /// Sheets at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
}

/// What a process may use.
#[derive(Clone, Copy)]
struct Budget {
    seconds: u64,
    megabytes: u64,
}

/// The budget in which the known calls broke their limits.
const KNOWN_BUDGET: Budget = Budget { seconds: 10, megabytes: 1024 };

/// What was wrong, the sheet, and the calls.
const KNOWN: &[(&str, &str, &[&str])] = &[
    (
        "terms that double",
        "doubling-facts-40",
        &["check", "check-deep", "ground", "bench", "play", "match-random", "trace-reasoner"],
    ),
    ("terms that double, at the start", "doubling-init-40", &["check", "ground", "play"]),
    ("100 roles", "roles-100", &["play", "check-deep"]),
    ("a million legal moves", "moves-of-two-1000", &["check-deep"]),
    ("100,000 roles by a rule", "roles-by-a-rule-317", &["trace-reasoner", "match-random"]),
    ("100,000 rules", "rules-100000", &["check", "ground", "bench", "match-random", "check-deep"]),
    ("`random` with 100,000 moves and `sees`", "random-moves-100000", &["check-deep"]),
    ("a goal of 26 digits", "digits-26", &["play"]),
    ("a constant of thousands of digits", "digits-5000", &["play"]),
    ("a game that never ends", "never-ends-1", &["play", "play-watched"]),
    ("a 60-bit counter", "counter-60", &["play", "play-watched"]),
    ("200 variables in one rule", "variables-200", &["check", "ground", "check-deep"]),
    ("the public `sudoku`", SUDOKU, &["ground", "check"]),
    ("mutually infinite terms", "endless-terms-together-2", &["ground", "check-deep"]),
    ("`play` with `--memory`", "many-states-100", &["play", "play-watched"]),
    ("a file above 4 MiB", "facts-1000000", &["check", "ground"]),
    ("unsafe variables on demand", "unbound-on-demand-6", &["check", "trace-reasoner"]),
];

/// The sheet that comes from the public rulesheets.
const SUDOKU: &str = "sudoku";

const BUDGETS: [Budget; 3] = [
    Budget { seconds: 1, megabytes: 128 },
    Budget { seconds: 2, megabytes: 256 },
    Budget { seconds: 3, megabytes: 1024 },
];

/// A call of `ludex`. `FILE` stands for the path of the sheet, `CERTIFICATE` for that of a claim about it, and
/// `WRITTEN` for a file that the call may write.
struct Call {
    name: &'static str,
    args: &'static str,
    /// What is typed. Verbs that read nothing ignore it.
    input: &'static str,
    /// Seconds that the call may take beyond its `--time`, which bounds only the loading of matches.
    more_seconds: u64,
}

const CALLS: &[Call] = &[
    call("check", "check FILE"),
    call("check-deep", "check FILE --deep"),
    call("check-json", "check FILE --json"),
    call("print", "print FILE"),
    call("print-infix", "print FILE --form infix"),
    call("scramble", "scramble FILE"),
    call("ground", "ground FILE"),
    call("bench", "bench FILE --seconds 1"),
    call("trace", "trace FILE"),
    call("trace-reasoner", "trace FILE --engine reasoner"),
    call("perft", "perft FILE --depth 3"),
    call("transcript", "transcript FILE --steps 10"),
    call("transcript-json", "transcript FILE --steps 10 --json"),
    call("solve", "solve FILE"),
    call("verify", "verify CERTIFICATE FILE"),
    call("solve-certificate", "solve FILE --shortest --certificate WRITTEN"),
    call("symmetries", "symmetries FILE --cycles"),
    call("draw", "draw FILE"),
    call("decompose", "decompose FILE"),
    call("translate", "translate FILE"),
    call("translate-legal", "translate FILE --legal"),
    call("translate-steps", "translate FILE --steps 3 --to text"),
    call("play-watched", "play FILE --role none --player random --move-time 0.1"),
    Call { input: TYPED, ..call("play", "play FILE --move-time 0.1") },
    Call {
        more_seconds: MATCH_SECONDS,
        ..call("match-random", "match FILE --players random,random --count 1")
    },
    Call {
        more_seconds: MATCH_SECONDS,
        ..call("referee-random", "referee FILE --players random,random --count 1")
    },
    Call {
        more_seconds: MATCH_SECONDS,
        ..call(
            "match-ludex",
            "match FILE --players ludex,random --count 1 --start-clock 1 --play-clock 0.2",
        )
    },
];

const fn call(name: &'static str, args: &'static str) -> Call {
    Call { name, args, input: "", more_seconds: 0 }
}

/// Seconds for the play of a match. One that is still going on then is no finding.
const MATCH_SECONDS: u64 = 6;

/// What a person might type.
const TYPED: &str = "1\n2\nlist\nhint\nundo\nnonsense\n(m a\n999999999999999999999\n-1\n\u{0}\n1\n1\n1\n1\n1\n1\n1\n1\nquit\n";

const COLUMNS: &str = "sheet\tcall\tend\tseconds\tcpu seconds\tMB\tverdict\tmessage";

/// Runs all calls on all sheets, and fails if a limit did not hold.
fn try_all(run: &Run, options: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    fs::create_dir_all(folder())?;
    let result = if options.known {
        try_known(run, &ludex, options.busy)
    } else {
        try_sheets(run, &ludex, options)
    };
    fs::remove_dir_all(folder())?;
    result
}

/// Runs the calls on all sheets.
fn try_sheets(run: &Run, ludex: &Path, options: &Options) -> Result<()> {
    let table = Table::open(run, "hostile", COLUMNS)?;
    let wanted = |sheet: &HostileSheet| {
        options.sheets.is_empty()
            || options.sheets.iter().any(|word| sheet.name().contains(word.as_str()))
    };
    let sheets: Vec<HostileSheet> = sheets().into_iter().filter(wanted).collect();
    ensure!(!sheets.is_empty(), "no sheet has such a name");
    let ended = on_threads(options.jobs, &sheets, |sheet| try_sheet(ludex, sheet, options, &table));
    ended.into_iter().collect::<Result<()>>()?;
    describe(run, &table)
}

/// Runs the calls on a sheet that the table does not have yet.
fn try_sheet(ludex: &Path, sheet: &HostileSheet, options: &Options, table: &Table) -> Result<()> {
    let mut open: Vec<(&Call, Budget, String)> = Vec::new();
    for &budget in &BUDGETS[..options.budgets.min(BUDGETS.len())] {
        for call in CALLS {
            let is_wanted =
                options.verbs.is_empty() || options.verbs.iter().any(|verb| verb == call.name);
            let name = format!("{} {}s {}MB", call.name, budget.seconds, budget.megabytes);
            if is_wanted && !table.has(&[&sheet.name(), &name]) {
                open.push((call, budget, name));
            }
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let files = Files::write(&sheet.name(), &sheet.bytes())?;
    for (call, budget, name) in open {
        let row = try_call(ludex, call, budget, &files.rules, options.busy)?;
        table.append(&[&[sheet.name(), name], &row[..]].concat())?;
    }
    Ok(())
}

/// Runs the calls that once broke their limits, and fails if one does again.
fn try_known(run: &Run, ludex: &Path, is_busy: bool) -> Result<()> {
    let columns =
        ["input", "sheet", "call", "exit", "seconds", "cpu seconds", "MB", "verdict", "message"];
    let mut rows = run.rows(Form::Markdown, &columns);
    let finished = run.finished("hostile-known", &format!("busy {is_busy}"))?;
    let mut n_findings = 0;
    for (input, name, calls) in KNOWN {
        let Some(bytes) = bytes_of(name)? else {
            eprintln!("skipped `{name}`: there are no public rulesheets beside the project");
            continue;
        };
        let files = Files::write(name, &bytes)?;
        for call in calls.iter().map(|name| find_call(name)) {
            let row = finished.part(&format!("{name} {}", call.name), || {
                try_call(ludex, call, KNOWN_BUDGET, &files.rules, is_busy)
            })?;
            n_findings += usize::from(row[4] != "ok");
            let mut cells = [input, name, call.name].map(String::from).to_vec();
            cells.extend(row.iter().map(|cell| cell.replace('|', "/")));
            eprintln!("{}", cells.join("\t"));
            rows.push(&cells);
        }
    }
    let Budget { seconds, megabytes } = KNOWN_BUDGET;
    let report = format!(
        "# Calls that once broke their limits\n\n{}: each in {seconds} s and {megabytes} MB, under `ulimit -v` at \
         twice the memory. A match may go on for {MATCH_SECONDS} s after its time.\n\n{}\n{n_findings} findings.\n",
        run.made_by("hostile --known"),
        rows.text(),
    );
    print!("{report}");
    run.write_file("hostile-known.md", &report)?;
    finished.remove()?;
    ensure!(n_findings == 0, "{n_findings} calls did not keep their limits");
    Ok(())
}

/// The bytes of a sheet; `None` if it comes from public rulesheets that are not there.
fn bytes_of(name: &str) -> Result<Option<Vec<u8>>> {
    if name == SUDOKU {
        let Ok(folder) = shared_folder() else { return Ok(None) };
        let file = folder.join("games/sudoku.kif");
        return fs::read(&file).map(Some).with_context(|| file.display().to_string());
    }
    let sheet = sheets().into_iter().find(|sheet| sheet.name() == name);
    Ok(Some(sheet.with_context(|| format!("no sheet `{name}`"))?.bytes()))
}

fn find_call(name: &str) -> &'static Call {
    CALLS.iter().find(|call| call.name == name).expect("a test looks for every name")
}

/// The folder of the sheets of this process.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("ludex-hostile-{}", std::process::id()))
}

/// A sheet and a claim about it as files, removed on drop.
struct Files {
    rules: PathBuf,
}

impl Files {
    fn write(name: &str, bytes: &[u8]) -> Result<Self> {
        let files = Self { rules: folder().join(format!("{name}.kif")) };
        let place = || files.rules.display().to_string();
        fs::write(&files.rules, bytes).with_context(place)?;
        let hash = rules_hash(&String::from_utf8_lossy(bytes));
        let claim = format!("ludex-certificate 1\nrules {hash}\nvalues 100\nend\n");
        fs::write(certificate_of(&files.rules), claim).with_context(place)?;
        Ok(files)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Not every call writes something.
        for file in [&self.rules, &certificate_of(&self.rules), &written_of(&self.rules)] {
            let _ = fs::remove_file(file);
        }
    }
}

/// The path of a claim about a sheet. The checker visits every state for it.
fn certificate_of(file: &Path) -> PathBuf {
    file.with_extension("certificate")
}

/// The path of a file that a call may write.
fn written_of(file: &Path) -> PathBuf {
    file.with_extension("written")
}

/// Runs a call, and returns the cells of its row.
fn try_call(
    ludex: &Path,
    call: &Call,
    budget: Budget,
    file: &Path,
    is_busy: bool,
) -> Result<Vec<String>> {
    let mut end = run_call(ludex, call.args, call, budget, file, is_busy)?;
    // A puzzle has a seat for one player only.
    if end.how == How::Exit(2) && end.stderr.contains("for one role") {
        let args = call.args.replace(",random", "");
        end = run_call(ludex, &args, call, budget, file, is_busy)?;
    }
    let how = match end.how {
        How::Exit(code) => code.to_string(),
        How::Signal(signal) => format!("signal {signal}"),
        How::Killed => "killed".into(),
    };
    Ok(vec![
        how,
        format!("{:.2}", end.wall.as_secs_f64()),
        format!("{:.2}", end.cpu.as_secs_f64()),
        (end.peak_bytes >> 20).to_string(),
        verdict(call, budget, &end, is_busy).into(),
        message(&end.stderr, file.parent()),
    ])
}

fn run_call(
    ludex: &Path,
    args: &str,
    call: &Call,
    budget: Budget,
    file: &Path,
    is_busy: bool,
) -> Result<Ending> {
    let Budget { seconds, megabytes } = budget;
    let mut command = contained::within_address_space(ludex, (2 * megabytes) << 20);
    let (certificate, written) = (certificate_of(file), written_of(file));
    command.args(args.split(' ').map(|word| match word {
        "FILE" => file.as_os_str(),
        "CERTIFICATE" => certificate.as_os_str(),
        "WRITTEN" => written.as_os_str(),
        word => word.as_ref(),
    }));
    command.args(["--time", &seconds.to_string(), "--memory", &format!("{megabytes}MB")]);
    command.args(["--threads", "2"]);
    // On a busy machine a process waits most of the time.
    let patience = if is_busy { 20 } else { 2 };
    let killed_after = Duration::from_secs(patience * seconds + 5 + call.more_seconds);
    Ok(contained::run(&mut command, call.input.as_bytes(), killed_after)?)
}

/// What is wrong with the end of a call; `ok` if nothing is.
fn verdict(call: &Call, budget: Budget, end: &Ending, is_busy: bool) -> &'static str {
    let time = budget.seconds as f64 + (budget.seconds as f64 / 5.0).max(1.0);
    let taken = if is_busy { end.wall.min(end.cpu) } else { end.wall };
    let is_late = end.how == How::Killed || taken.as_secs_f64() > time + call.more_seconds as f64;
    let is_large = end.peak_bytes > (budget.megabytes << 20) / 10 * 11;
    let is_json = call.args.ends_with("--json");
    let said = if is_json { &end.stdout } else { &end.stderr };
    match end.how {
        _ if contained::is_panic(&end.stderr) => "panic",
        How::Signal(_) => "abort",
        How::Exit(code) if !(0..=3).contains(&code) => "exit code",
        How::Exit(code) if code != 0 && said.trim().is_empty() => "no message",
        How::Exit(_) if is_json && !is_one_object(&end.stdout) => "not one object",
        _ if is_large => "memory",
        // A match goes on for as long as its clocks allow.
        How::Killed if call.more_seconds > 0 => "ok",
        _ if is_late => "time",
        How::Killed | How::Exit(_) => "ok",
    }
}

/// Whether a text is a single JSON object. Only the beginning of a long text is known.
fn is_one_object(text: &str) -> bool {
    let is_cut = text.len() >= contained::MAX_KEPT;
    is_cut || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

/// The first line of the last message, without the folder of the sheet, cut.
fn message(stderr: &str, folder: Option<&Path>) -> String {
    let folder = folder.map(|folder| format!("{}/", folder.display()));
    let stderr = folder.map_or_else(|| stderr.into(), |folder| stderr.replace(&folder, ""));
    let lines = || stderr.lines().filter(|line| !line.trim().is_empty());
    let panic = lines().find(|line| contained::is_panic(line));
    let own = lines().rev().find(|line| line.starts_with("ludex: "));
    let line = panic.or(own).or_else(|| lines().next()).unwrap_or("");
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Writes the counts and the findings, and fails if there are any.
fn describe(run: &Run, table: &Table) -> Result<()> {
    let rows = table.rows()?;
    // For each call with its budget and each verdict: the calls, and the most time and memory.
    let mut sums: BTreeMap<(String, String), (usize, f64, f64)> = BTreeMap::new();
    let mut findings =
        run.rows(Form::Markdown, &["sheet", "call", "end", "seconds", "MB", "finding", "message"]);
    let mut n_findings = 0;
    for row in &rows {
        let [sheet, call, how, seconds, cpu_seconds, megabytes, verdict, message] = &row[..] else {
            bail!("a row of {} cells", row.len());
        };
        let sum = sums.entry((call.clone(), verdict.clone())).or_default();
        sum.0 += 1;
        sum.1 = sum.1.max(cpu_seconds.parse().context("seconds of the processor")?);
        sum.2 = sum.2.max(megabytes.parse().context("megabytes")?);
        if verdict != "ok" {
            n_findings += 1;
            findings.push(&[
                sheet,
                call,
                how,
                seconds,
                megabytes,
                verdict,
                &message.replace('|', "/"),
            ]);
        }
    }
    let columns = ["call and budget", "verdict", "calls", "most cpu seconds", "most MB"];
    let mut shown = run.rows(Form::Markdown, &columns);
    for ((call, verdict), (n_calls, cpu_seconds, megabytes)) in &sums {
        shown.push(&[
            call,
            verdict,
            &n_calls.to_string(),
            &format!("{cpu_seconds:.2}"),
            &megabytes.to_string(),
        ]);
    }
    let n_sheets = sheets().len();
    table.describe(&format!(
        "# Hostile rulesheets\n\n{}: {n_sheets} sheets, {} calls a sheet and budget, each under `ulimit -v` at \
         twice the budget. {}\n\nA call is late after its time and a fifth of it, at least a second; its \
         memory is too much beyond a tenth more than its budget. Time is wall-clock time, or with `--busy` \
         that of the processor if it is less.\n\n{}\n{n_findings} findings:\n\n{}",
        run.made_by("hostile"),
        CALLS.len(),
        table.commits_in_words()?,
        shown.text(),
        findings.text()
    ))?;
    ensure!(n_findings == 0, "{n_findings} calls did not keep their limits");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(how: How, seconds: f64, megabytes: u64, stderr: &str) -> Ending {
        Ending {
            how,
            wall: Duration::from_secs_f64(seconds),
            cpu: Duration::ZERO,
            peak_bytes: megabytes << 20,
            stdout: String::new(),
            stderr: stderr.into(),
        }
    }

    #[test]
    fn every_verb_that_reads_rules_is_called() {
        use clap::CommandFactory as _;
        let command = ludex_cli::args::Cli::command();
        let reads_rules = |verb: &&clap::Command| {
            verb.get_positionals().any(|argument| argument.get_id() == "rules")
        };
        let verbs: Vec<&str> =
            command.get_subcommands().filter(reads_rules).map(clap::Command::get_name).collect();
        assert!(verbs.len() > 10, "{verbs:?}");
        for verb in verbs {
            let is_called = CALLS.iter().any(|call| call.args.split(' ').next() == Some(verb));
            assert!(is_called, "no call of `{verb}`");
        }
    }

    #[test]
    fn known_calls_have_sheets_and_names() {
        for (_, name, calls) in KNOWN {
            assert!(*name == SUDOKU || bytes_of(name).is_ok(), "{name}");
            calls.iter().for_each(|name| _ = find_call(name));
        }
    }

    #[test]
    fn every_kind_of_failure_is_found() {
        let budget = Budget { seconds: 10, megabytes: 100 };
        let judge = |end| verdict(&call("check", ""), budget, &end, false);
        assert_eq!(judge(ending(How::Exit(0), 11.9, 109, "")), "ok");
        assert_eq!(judge(ending(How::Exit(3), 1.0, 1, "ludex: stopped")), "ok");
        assert_eq!(judge(ending(How::Exit(3), 1.0, 1, " \n")), "no message");
        assert_eq!(judge(ending(How::Exit(101), 1.0, 1, "ludex: no")), "exit code");
        assert_eq!(judge(ending(How::Exit(0), 1.0, 1, "thread panicked at x.rs")), "panic");
        let reported = "ludex: internal error in `check` at x.rs: no";
        assert_eq!(judge(ending(How::Exit(1), 1.0, 1, reported)), "panic");
        assert_eq!(judge(ending(How::Signal(6), 1.0, 1, "")), "abort");
        assert_eq!(judge(ending(How::Exit(0), 12.1, 1, "")), "time");
        assert_eq!(judge(ending(How::Killed, 50.0, 1, "")), "time");
        assert_eq!(judge(ending(How::Exit(0), 1.0, 111, "")), "memory");
        let json = |stdout: &str| {
            let end = Ending { stdout: stdout.into(), ..ending(How::Exit(3), 1.0, 1, "ludex: no") };
            verdict(&call("transcript", "transcript FILE --json"), budget, &end, false)
        };
        assert_eq!(json("{}\n"), "ok");
        assert_eq!(json(""), "no message");
        assert_eq!(json("{}\n{}\n"), "not one object");
        let long = Call { more_seconds: 5, ..call("match", "") };
        assert_eq!(verdict(&long, budget, &ending(How::Killed, 50.0, 1, ""), false), "ok");
        let busy = |end| verdict(&call("check", ""), budget, &end, true);
        assert_eq!(busy(ending(How::Exit(0), 50.0, 1, "")), "ok");
        assert_eq!(busy(ending(How::Killed, 200.0, 1, "")), "time");
    }

    #[test]
    fn the_message_is_the_panic_or_the_last_of_ours() {
        assert_eq!(message("warning: x\nludex: a\nludex: b\n", None), "ludex: b");
        assert_eq!(
            message("thread 'main' panicked at a.rs\nludex: b", None),
            "thread 'main' panicked at a.rs"
        );
        assert_eq!(message("x\u{1b}y\n", None), "x y");
        assert_eq!(message("ludex: /a/b/c.kif:1: no", Some("/a/b".as_ref())), "ludex: c.kif:1: no");
    }
}

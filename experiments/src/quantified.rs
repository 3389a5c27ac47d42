//! How fast are quantified models solved, beside other solvers, and by depth, threads and options?
//!
//! Every figure comes from a run of the command on a file of `models/`. A wrong answer is an error.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::workspace;
use serde_json::Value;
use xtask::tools::build_ludex;

use crate::finished::Finished;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "quantified",
    question: "How fast are quantified models solved, beside QeCode and Quacode?",
    command: "cargo experiment quantified",
    table: "quantified.md",
    options: Options::augment_args,
    run: |run, given| measure(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Solve connect four on the usual board up to this depth
    #[arg(long, default_value_t = 25)]
    deepest: usize,
}

/// A problem with known times of other solvers.
struct Problem {
    name: &'static str,
    model: &'static str,
    parameters: &'static [&'static str],
    answer: Answer,
    /// Processor seconds of the other solver; a dash if it was not run.
    qecode: &'static str,
    quacode: &'static str,
    /// Our target in seconds.
    target: Option<f64>,
}

#[derive(Clone, Copy)]
enum Answer {
    Is(bool),
    Optimum(i64),
}

const fn problem(
    name: &'static str,
    model: &'static str,
    parameters: &'static [&'static str],
    answer: Answer,
    others: (&'static str, &'static str),
    target: Option<f64>,
) -> Problem {
    Problem { name, model, parameters, answer, qecode: others.0, quacode: others.1, target }
}

use Answer::{Is, Optimum};

#[rustfmt::skip]
const PROBLEMS: &[Problem] = &[
    problem("Nim 1..3, N = 27", "nim", &["n=27"], Is(true), ("17", "–"), Some(0.01)),
    problem("Nim-Fibonacci, N = 26", "nim-fibonacci", &["n=26"], Is(true), ("3.5", "0.77"), Some(0.01)),
    problem("Nim-Fibonacci, N = 60", "nim-fibonacci", &["n=60"], Is(true), ("–", "–"), Some(0.1)),
    problem("tic-tac-toe, win", "tictactoe", &[], Is(false), ("0.78 (0.06 with a hand-made order)", "–"), Some(0.02)),
    problem("connect four 4x4, win", "connect-four", &["columns=4", "rows=4"], Is(false), ("2.1", "0.19"), Some(0.05)),
    problem("connect four 4 columns x 5 rows, win", "connect-four", &["columns=4", "rows=5"], Is(false), ("15.8", "1.6"), Some(0.2)),
    problem("connect four 5 columns x 4 rows, win", "connect-four", &["columns=5", "rows=4"], Is(false), ("122", "12.5"), Some(0.5)),
    problem("connect four 5x5, win", "connect-four", &["columns=5", "rows=5"], Is(false), ("not in 576", "not in 397"), Some(20.0)),
    problem("connect four 5x5, not lose", "connect-four", &["columns=5", "rows=5", "question=notlose"], Is(true), ("–", "–"), None),
    problem("Baker, w0 > 3", "baker", &["above=3"], Is(true), ("19.4", "5.0"), Some(1.0)),
    problem("matrix game d = 9, seed 1, 60 % ones", "matrix-game", &["depth=9"], Is(false), ("0.30", "23.9"), Some(0.1)),
    problem("matrix game d = 10, seed 1, 60 % ones", "matrix-game", &["depth=10"], Is(false), ("2.1", "–"), Some(0.5)),
    problem("link pricing, 8 links, 9 customers", "link-pricing", &["links=8", "customers=9"], Optimum(861), ("110", "–"), Some(0.5)),
    problem("link pricing, 9 links, 9 customers", "link-pricing", &["links=9", "customers=9"], Optimum(1312), ("about 600", "–"), Some(3.0)),
    problem("scheduling, plan first, n = 12, k = 3", "scheduling", &["n=12"], Is(false), ("not in 40", "–"), Some(10.0)),
    problem("scheduling, plan first, n = 15, k = 3", "scheduling", &["n=15"], Is(false), ("not in 40", "–"), Some(60.0)),
];

/// The models on which options are compared, with parameters that keep every run short.
const COMPARED: &[(&str, &[&str])] = &[
    ("nim-fibonacci", &["n=26"]),
    ("tictactoe", &[]),
    ("tictactoe-nonblocking", &["question=notlose"]),
    ("tictactoe-ghost", &[]),
    ("connect-four", &["columns=4", "rows=4"]),
    ("baker", &["n=3", "most=13"]),
    ("matrix-game", &["depth=6"]),
    ("scheduling", &["n=8", "order=attack"]),
    ("nim-black-jack", &[]),
];

/// The options to compare with the default.
const SOLVER_OPTIONS: &[&[&str]] = &[
    &[],
    &["--order", "ascending"],
    &["--order", "goal"],
    &["--order", "history"],
    &["--order", "preserve"],
    &["--propagation", "none"],
    &["--propagation", "restrictor"],
    &["--propagation", "fusion"],
    &["--propagation", "cascade"],
    &["--propagation", "full"],
    &["--no-memory"],
    &["--no-symmetry"],
    &["--backjumping"],
    &["--learning"],
    &["--deepening"],
    &["--consistency", "qac"],
    &["--consistency", "wqgac"],
    &["--consistency", "bmqgac"],
    &["--consistency", "sqgac"],
    &["--pure-values"],
];

/// Seconds after which an option is given up.
const OPTION_SECONDS: &str = "5";

/// Measures the problems with known times, connect four by depth and threads, and the options.
fn measure(run: &Run, &Options { deepest }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let command = format!("quantified --deepest {deepest}");
    let finished = run.finished("quantified", &command)?;
    let mut text = format!(
        "# Quantified networks beside QeCode and Quacode\n\n\
         {}, by runs of `ludex qcsp solve \
         models/NAME.qcp -D … --json --threads 1`.\n\
         *Process* is the wall time of the whole process, *seconds* the time it reports; if a run takes less \
         than a second, the shortest of three counts.\n\
         The figures of the other solvers are processor seconds on a machine of the same kind; they \
         solved the matrix game with other matrices.\n\n",
        run.made_by(&command)
    );
    problems(run, &finished, &ludex, &mut text)?;
    depths(run, &finished, &ludex, deepest, &mut text)?;
    options(run, &finished, &ludex, &mut text)?;
    println!("{text}");
    run.write_file("quantified.md", &text)?;
    finished.remove()
}

/// The result of a run.
struct Solved {
    /// `None` when the command refused the options.
    report: Option<Value>,
    wall: f64,
}

impl Solved {
    fn number(&self, key: &str) -> f64 {
        self.report.as_ref().and_then(|report| report[key].as_f64()).unwrap_or(f64::NAN)
    }

    fn status(&self) -> &str {
        self.report.as_ref().and_then(|report| report["status"].as_str()).unwrap_or("refused")
    }
}

fn solve(ludex: &Path, model: &str, parameters: &[&str], options: &[&str]) -> Result<Solved> {
    let mut command = Command::new(ludex);
    command.current_dir(workspace()).args(["qcsp", "solve"]);
    command.arg(format!("models/{model}.qcp"));
    for parameter in parameters {
        command.args(["-D", parameter]);
    }
    command.arg("--json").args(options);
    let start = Instant::now();
    let output = command.output().context("`ludex` does not start")?;
    let wall = start.elapsed().as_secs_f64();
    Ok(Solved { report: serde_json::from_slice(&output.stdout).ok(), wall })
}

/// The shortest of three runs, or a single run if it takes a second or more.
fn shortest(ludex: &Path, problem: &Problem) -> Result<Solved> {
    let once = || -> Result<Solved> {
        let solved = solve(ludex, problem.model, problem.parameters, &["--threads", "1"])?;
        let is_right = match problem.answer {
            Is(verdict) => solved.status() == verdict.to_string(),
            Optimum(value) => solved.number("value") == value as f64,
        };
        ensure!(is_right, "{}: the answer is {:?}", problem.name, solved.report);
        Ok(solved)
    };
    let mut best = once()?;
    for _ in 0..if best.wall < 1.0 { 2 } else { 0 } {
        let other = once()?;
        if other.wall < best.wall {
            best = other;
        }
    }
    Ok(best)
}

fn problems(run: &Run, finished: &Finished, ludex: &Path, text: &mut String) -> Result<()> {
    let mut rows = run.rows(
        Form::Markdown,
        &["problem", "answer", "QeCode", "Quacode", "target", "process", "seconds", "nodes", ""],
    );
    for problem in PROBLEMS {
        let cells = finished.part(problem.name, || problem_row(ludex, problem))?;
        eprintln!("{}", cells.join("\t"));
        rows.push(&cells);
    }
    *text += rows.text();
    Ok(())
}

fn problem_row(ludex: &Path, problem: &Problem) -> Result<Vec<String>> {
    let solved = shortest(ludex, problem)?;
    let answer = match problem.answer {
        Is(verdict) => verdict.to_string(),
        Optimum(value) => value.to_string(),
    };
    let (target, met) = match problem.target {
        Some(target) if solved.wall < target => (format!("under {target}"), "met"),
        Some(target) => (format!("under {target}"), "not met"),
        None => ("–".into(), ""),
    };
    Ok(vec![
        problem.name.into(),
        answer,
        problem.qecode.into(),
        problem.quacode.into(),
        target,
        format!("{:.3}", solved.wall),
        format!("{:.3}", solved.number("seconds")),
        solved.number("nodes").to_string(),
        met.into(),
    ])
}

/// Solves connect four on the usual board by depth, and compares two threads with one where one takes more than
/// ten seconds.
fn depths(
    run: &Run,
    finished: &Finished,
    ludex: &Path,
    deepest: usize,
    text: &mut String,
) -> Result<()> {
    writeln!(
        text,
        "\nConnect four 6 rows x 7 columns, \"can the first player win within this many moves\" \
         (QeCode: depth 15 in 1,000 s):\n"
    )?;
    let mut rows = run.rows(
        Form::Markdown,
        &["depth", "answer", "nodes", "process, one thread", "two threads", "ratio"],
    );
    for depth in (9..=deepest).step_by(2) {
        let cells = finished.part(&format!("depth {depth}"), || depth_row(ludex, depth))?;
        eprintln!("{}", cells.join("\t"));
        rows.push(&cells);
    }
    *text += rows.text();
    Ok(())
}

fn depth_row(ludex: &Path, depth: usize) -> Result<Vec<String>> {
    let parameter = format!("depth={depth}");
    let one = solve(ludex, "connect-four", &[&parameter], &["--threads", "1"])?;
    ensure!(one.status() == "false", "depth {depth}: {:?}", one.report);
    let [two, ratio] = if one.wall > 10.0 {
        let two = solve(ludex, "connect-four", &[&parameter], &["--threads", "2"])?;
        ensure!(two.status() == "false", "depth {depth}: {:?}", two.report);
        [format!("{:.1}", two.wall), format!("{:.2}", one.wall / two.wall)]
    } else {
        [String::new(), String::new()]
    };
    let (nodes, wall) = (one.number("nodes").to_string(), format!("{:.2}", one.wall));
    Ok(vec![depth.to_string(), one.status().into(), nodes, wall, two, ratio])
}

/// Compares nodes and seconds of every option on every model; a dash means that the option does not apply.
fn options(run: &Run, finished: &Finished, ludex: &Path, text: &mut String) -> Result<()> {
    writeln!(
        text,
        "\nOptions compared, one thread: nodes and seconds. A dash means that the option does not apply \
         (consistencies and pure values are for models without restrictors), \
         \"over\" that the run took more than {OPTION_SECONDS} s.\n"
    )?;
    let names: Vec<String> = COMPARED
        .iter()
        .map(|(model, parameters)| [&[*model][..], *parameters].concat().join(" "))
        .collect();
    let names = names.iter().map(String::as_str);
    let columns: Vec<&str> = std::iter::once("option").chain(names).collect();
    let mut rows = run.rows(Form::Markdown, &columns);
    let mut answers: Vec<Option<String>> = vec![None; COMPARED.len()];
    for option in SOLVER_OPTIONS {
        let name = if option.is_empty() { "default".into() } else { option.join(" ") };
        let runs = finished.part(&format!("option {name}"), || option_runs(ludex, option))?;
        let mut row = vec![name];
        for ((&(model, _), answer), (status, cell)) in COMPARED.iter().zip(&mut answers).zip(runs) {
            if let Some(status) = status {
                let known = answer.get_or_insert_with(|| status.clone());
                ensure!(*known == status, "{model} {option:?}: {status}");
            }
            row.push(cell);
        }
        eprintln!("{}", row.join("\t"));
        rows.push(&row);
    }
    *text += rows.text();
    Ok(())
}

/// The answer of every model with an option, if there is one, and the cell of the table.
fn option_runs(ludex: &Path, option: &[&str]) -> Result<Vec<(Option<String>, String)>> {
    let run = |&(model, parameters): &(&str, &[&str])| {
        let limits = ["--threads", "1", "--time", OPTION_SECONDS];
        let solved = solve(ludex, model, parameters, &[option, &limits[..]].concat())?;
        Ok(match solved.status() {
            "refused" => (None, "–".into()),
            "unknown" => (None, "over".into()),
            status => {
                let cell = format!("{}, {:.3}", solved.number("nodes"), solved.number("seconds"));
                (Some(status.into()), cell)
            }
        })
    };
    COMPARED.iter().map(run).collect()
}

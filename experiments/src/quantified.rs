//! The quantified models beside other solvers: `quantified`.
//!
//! Every figure comes from a run of the command on a file of `models/`, as a person would make
//! it. A run whose answer is wrong is an error.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use ludex_testkit::workspace;
use serde_json::Value;

use crate::tools::{build_ludex, processor, runs_folder};

/// A problem that others have been timed on.
struct Problem {
    name: &'static str,
    model: &'static str,
    parameters: &'static [&'static str],
    answer: Answer,
    /// Processor seconds of the others; a dash where they were not run.
    qecode: &'static str,
    quacode: &'static str,
    /// What we want to stay under, in seconds.
    wanted: Option<f64>,
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
    wanted: Option<f64>,
) -> Problem {
    Problem { name, model, parameters, answer, qecode: others.0, quacode: others.1, wanted }
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

/// A model on which options are compared, with parameters that keep every option short.
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

/// The options, each against the default.
const OPTIONS: &[&[&str]] = &[
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

/// Times the problems of the others, connect four by depth, threads and options.
pub fn run(deepest: usize) -> Result<()> {
    let ludex = build_ludex()?;
    let mut text = format!(
        "# Quantified networks beside QeCode and Quacode\n\n\
         Made by `cargo xtask quantified --deepest {deepest}` on {}, by runs of `ludex qcsp solve \
         models/NAME.qcp -D … --json --threads 1`.\n\
         *Process* is the wall time of the whole process, *seconds* what it reports; the shortest of \
         three runs where a run takes less than a second.\n\
         The figures of the others are processor seconds on a machine of the same kind; their \
         matrices of the matrix game are their own.\n\n",
        processor()
    );
    problems(&ludex, &mut text)?;
    depths(&ludex, deepest, &mut text)?;
    options(&ludex, &mut text)?;
    let path = runs_folder()?.join("quantified.md");
    fs::write(&path, &text).with_context(|| format!("{}", path.display()))?;
    println!("{text}");
    Ok(())
}

/// What a run came to.
struct Run {
    /// None when the command refused the options.
    report: Option<Value>,
    wall: f64,
}

impl Run {
    fn number(&self, key: &str) -> f64 {
        self.report.as_ref().and_then(|report| report[key].as_f64()).unwrap_or(f64::NAN)
    }

    fn status(&self) -> &str {
        self.report.as_ref().and_then(|report| report["status"].as_str()).unwrap_or("refused")
    }
}

fn solve(ludex: &Path, model: &str, parameters: &[&str], options: &[&str]) -> Result<Run> {
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
    Ok(Run { report: serde_json::from_slice(&output.stdout).ok(), wall })
}

/// The shortest of three runs, or the only one of a long problem.
fn shortest(ludex: &Path, problem: &Problem) -> Result<Run> {
    let once = || -> Result<Run> {
        let run = solve(ludex, problem.model, problem.parameters, &["--threads", "1"])?;
        let is_right = match problem.answer {
            Is(verdict) => run.status() == verdict.to_string(),
            Optimum(value) => run.number("value") == value as f64,
        };
        ensure!(is_right, "{}: the answer is {:?}", problem.name, run.report);
        Ok(run)
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

fn problems(ludex: &Path, text: &mut String) -> Result<()> {
    writeln!(
        text,
        "| problem | answer | QeCode | Quacode | wanted | process | seconds | nodes | |"
    )?;
    writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for problem in PROBLEMS {
        let run = shortest(ludex, problem)?;
        let answer = match problem.answer {
            Is(verdict) => verdict.to_string(),
            Optimum(value) => value.to_string(),
        };
        let (wanted, met) = match problem.wanted {
            Some(wanted) if run.wall < wanted => (format!("under {wanted}"), "met"),
            Some(wanted) => (format!("under {wanted}"), "not met"),
            None => ("–".into(), ""),
        };
        let row = format!(
            "| {} | {answer} | {} | {} | {wanted} | {:.3} | {:.3} | {} | {met} |",
            problem.name,
            problem.qecode,
            problem.quacode,
            run.wall,
            run.number("seconds"),
            run.number("nodes"),
        );
        eprintln!("{row}");
        writeln!(text, "{row}")?;
    }
    Ok(())
}

/// Connect four on the usual board by depth, and two threads against one where that takes
/// more than ten seconds.
fn depths(ludex: &Path, deepest: usize, text: &mut String) -> Result<()> {
    writeln!(
        text,
        "\nConnect four 6 rows x 7 columns, \"can the first player win within so many moves\" \
         (QeCode: depth 15 in 1,000 s):\n\n\
         | depth | answer | nodes | process, one thread | two threads | ratio |\n\
         | --- | --- | --- | --- | --- | --- |"
    )?;
    for depth in (9..=deepest).step_by(2) {
        let parameter = format!("depth={depth}");
        let one = solve(ludex, "connect-four", &[&parameter], &["--threads", "1"])?;
        ensure!(one.status() == "false", "depth {depth}: {:?}", one.report);
        let two = if one.wall > 10.0 {
            let two = solve(ludex, "connect-four", &[&parameter], &["--threads", "2"])?;
            ensure!(two.status() == "false", "depth {depth}: {:?}", two.report);
            format!("{:.1} | {:.2}", two.wall, one.wall / two.wall)
        } else {
            " | ".into()
        };
        let row = format!(
            "| {depth} | {} | {} | {:.2} | {two} |",
            one.status(),
            one.number("nodes"),
            one.wall
        );
        eprintln!("{row}");
        writeln!(text, "{row}")?;
    }
    Ok(())
}

/// Nodes and seconds of every option on every model; what does not apply is a dash.
fn options(ludex: &Path, text: &mut String) -> Result<()> {
    writeln!(
        text,
        "\nOptions compared, one thread: nodes and seconds; a dash where the option does not apply \
         (consistencies and pure values are for models without restrictors), \
         \"over\" after {OPTION_SECONDS} s.\n"
    )?;
    let names: Vec<String> = COMPARED
        .iter()
        .map(|(model, parameters)| [&[*model][..], *parameters].concat().join(" "))
        .collect();
    writeln!(text, "| option | {} |", names.join(" | "))?;
    writeln!(text, "| --- |{}", " --- |".repeat(names.len()))?;
    let mut answers: Vec<Option<String>> = vec![None; COMPARED.len()];
    for option in OPTIONS {
        let name = if option.is_empty() { "default".into() } else { option.join(" ") };
        let mut row = format!("| {name} |");
        for (&(model, parameters), answer) in COMPARED.iter().zip(&mut answers) {
            let limits = ["--threads", "1", "--time", OPTION_SECONDS];
            let run = solve(ludex, model, parameters, &[option, &limits[..]].concat())?;
            match run.status() {
                "refused" => row += " – |",
                "unknown" => row += " over |",
                status => {
                    let known = answer.get_or_insert_with(|| status.to_string());
                    ensure!(known == status, "{model} {option:?}: {status}");
                    row += &format!(" {}, {:.3} |", run.number("nodes"), run.number("seconds"));
                }
            }
        }
        eprintln!("{row}");
        writeln!(text, "{row}")?;
    }
    Ok(())
}

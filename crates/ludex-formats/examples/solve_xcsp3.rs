//! Solves an XCSP3 file and prints the answer in the format of the XCSP3 competition.
//!
//! Every solution is checked against the meaning of the constraints before it is printed.
//!
//! `solve_xcsp3 FILE [--all|--count] [--limit N] [--propagator P] [--search S] …`, with the
//! options of `SolveOptions::set`.

use std::process::ExitCode;

use ludex_csp::{Goal, SolveOptions};
use ludex_formats::xcsp3::solve_text;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Vec<String>) -> Result<(), String> {
    let mut options = SolveOptions::default();
    let mut file = None;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix("--") {
            Some("all") => options.goal = Goal::All,
            Some("count") => options.goal = Goal::Count,
            Some(name) => {
                let value = args.next().ok_or_else(|| format!("`--{name}` has no value"))?;
                options.set(name, &value)?;
            }
            None => file = Some(arg),
        }
    }
    let file = file.ok_or("which file?")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let answer =
        solve_text(&text, &options, &mut |_| {}).map_err(|error| format!("{file}: {error}"))?;
    let network = &answer.instance.network;
    if answer.solutions.iter().any(|solution| !network.is_solution(solution)) {
        return Err(format!("{file}: the search returned an assignment that is not a solution"));
    }
    print!("{answer}");
    Ok(())
}

//! Do players survive broken messages? Plays matches over HTTP through a proxy that breaks some messages.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::faults::{self, FaultConfig, FaultReport};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "faults",
    question: "Do matches over HTTP end well when a proxy breaks a fifth of the messages?",
    command: "cargo experiment faults",
    table: "faults.md",
    options: Options::augment_args,
    run: |run, given| play_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Matches
    #[arg(long, default_value_t = 500)]
    count: usize,
    /// Matches at a time
    #[arg(long, default_value_t = 8)]
    parallel: usize,
    /// Percent of the messages to break
    #[arg(long, default_value_t = 20)]
    percent: usize,
    /// Seed of the faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Megabytes by which a process may grow after the first matches, in addition to a tenth of its size.
const MAX_GROWTH_MB: f64 = 16.0;

/// Plays the matches, writes the counts, and fails if a move was late or illegal.
fn play_all(run: &Run, options: &Options) -> Result<()> {
    let &Options { count, parallel: n_parallel, percent, seed } = options;
    build_ludex()?;
    let command =
        format!("faults --count {count} --parallel {n_parallel} --percent {percent} --seed {seed}");
    let finished = run.finished("faults", &command)?;
    let name = |tenth: usize| format!("tenth {}", tenth + 1);
    let mut report = FaultReport::default();
    let mut n_tenths = 0;
    while let Some(tenth) = finished.stored(&name(n_tenths))? {
        report.add(tenth);
        n_tenths += 1;
    }
    if report.n_matches < count {
        let n_played = report.n_matches;
        // Later matches get other faults.
        let seed = Seed(seed + n_tenths as u64);
        let began = Instant::now();
        let mut stored = Ok(());
        faults::run(&FaultConfig { count, n_played, n_parallel, percent, seed }, |tenth| {
            match finished.part(&name(n_tenths), || Ok(tenth)) {
                Ok(tenth) => report.add(tenth),
                Err(error) => stored = Err(error),
            }
            n_tenths += 1;
            eprintln!("{} matches, {:.0} s", report.n_matches, began.elapsed().as_secs_f64());
        });
        stored?;
    }
    let ms = 1000.0 * report.longest.as_secs_f64();
    let mut counts = run.rows(Form::Markdown, &["what", "number"]);
    for (what, number) in [
        ("matches", count),
        ("finished", report.n_finished),
        ("messages of the referee", report.n_requests),
        ("of these, broken on the way there or back", report.n_broken),
        ("answers to messages that arrived intact", report.n_judged),
        ("of these, late", report.late.len()),
        ("the slowest of them, ms", ms.round() as usize),
        ("answers by players that had received all earlier messages", report.n_informed),
        ("of these, illegal", report.illegal.len()),
    ] {
        counts.push(&[what, &number.to_string()]);
    }
    let mut memory = run.rows(Form::Markdown, &["first player", "second player", "referee"]);
    for megabytes in &report.megabytes {
        memory.push(&megabytes.map(|mb| format!("{mb:.0}")));
    }
    let text = format!(
        "# Matches over HTTP with broken messages\n\n\
         {}: \
         tic-tac-toe and Kuhn poker between two processes of `ludex player`, one that answers at once \
         (`uct`, 30 iterations) and one that uses its clock of 1 s (`flat`).\n\n{}\n\
         Memory after each tenth of the matches, in MB:\n\n{}",
        run.made_by(&command),
        counts.text(),
        memory.text(),
    );
    print!("{text}");
    run.write_file("faults.md", &text)?;
    finished.remove()?;
    ensure!(
        report.n_finished == count,
        "{} of {count} matches did not finish",
        count - report.n_finished
    );
    ensure!(report.illegal.is_empty(), "illegal moves: {:?}", report.illegal);
    ensure!(report.late.is_empty(), "late moves: {:?}", report.late);
    if let [_, early, .., last] = &report.megabytes[..] {
        for (early, last) in early.iter().zip(last) {
            let most = 1.1 * early + MAX_GROWTH_MB;
            ensure!(last <= &most, "memory grew from {early:.0} to {last:.0} MB");
        }
    }
    Ok(())
}

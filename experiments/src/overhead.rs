//! How much time does the protocol take? Times matches over HTTP between players that do not search.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_tests::overhead::{self, middle_and_longest};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "overhead",
    question: "How long does a match over HTTP take when no player searches?",
    command: "cargo experiment overhead",
    table: "overhead.md",
    options: Options::augment_args,
    run: |run, given| measure(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Matches
    #[arg(long, default_value_t = 200)]
    count: usize,
}

/// Longest median time of a match; that of `ludex player` is without `start`.
const MAX_MATCH: Duration = Duration::from_millis(20);
/// Longest time of a reply.
const MAX_REPLY: Duration = Duration::from_millis(10);

/// Plays the matches and writes the times.
fn measure(run: &Run, &Options { count }: &Options) -> Result<()> {
    build_ludex()?;
    let command = format!("overhead --count {count}");
    let finished = run.finished("overhead", &command)?;
    let instant = finished.part("instant players", || Ok(overhead::run_instant(count)))?;
    let overhead = finished.part("ludex player", || Ok(overhead::run(count)))?;
    let after: Vec<Duration> =
        overhead.matches.iter().zip(&overhead.starts).map(|(all, start)| *all - *start).collect();
    let ms = |time: Duration| format!("{:.2}", 1000.0 * time.as_secs_f64());
    let mut rows = run.rows(Form::Markdown, &["what", "number", "median, ms", "longest, ms"]);
    for (what, times) in [
        ("instant players: a match, from the first message to the last reply", &instant),
        (
            "`ludex player`: `start`, which loads the rules and measures the machine",
            &overhead.starts,
        ),
        ("`ludex player`: the moves of a match and `stop`", &after),
        ("`ludex player`: from the choice of a move until its reply was sent", &overhead.replies),
    ] {
        let [middle, longest] = middle_and_longest(times).map(ms);
        rows.push(&[what, &times.len().to_string(), &middle, &longest]);
    }
    let text = format!(
        "# Matches over HTTP between players that do not search\n\n\
         {}: tic-tac-toe on the loopback address, first between scripted players that answer at once, then \
         between two processes of `ludex player --player random`.\n\n{}",
        run.made_by(&command),
        rows.text()
    );
    print!("{text}");
    run.write_file("overhead.md", &text)?;
    finished.remove()?;
    for (what, times) in [("with instant players", &instant), ("without `start`", &after)] {
        let [middle, _] = middle_and_longest(times);
        ensure!(middle < MAX_MATCH, "a match {what} takes {} ms", ms(middle));
    }
    let [_, longest] = middle_and_longest(&overhead.replies);
    ensure!(longest < MAX_REPLY, "a reply takes {} ms", ms(longest));
    Ok(())
}

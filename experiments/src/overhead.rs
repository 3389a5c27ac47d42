//! `cargo xtask overhead`: what a match over HTTP takes when nobody thinks.

use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use ludex_tests::overhead::{self, middle_and_longest};

use crate::tools::{build_ludex, processor, runs_folder};

/// What a match between instant players may take, and a reply.
const MAX_MATCH: Duration = Duration::from_millis(20);
const MAX_REPLY: Duration = Duration::from_millis(10);

/// Plays the matches and writes the times to `benches/runs`.
pub fn run(count: usize) -> Result<()> {
    build_ludex()?;
    let overhead = overhead::run(count);
    let after: Vec<Duration> =
        overhead.matches.iter().zip(&overhead.starts).map(|(all, start)| *all - *start).collect();
    let ms = |time: Duration| format!("{:.2}", 1000.0 * time.as_secs_f64());
    let row = |what: &str, times: &[Duration]| {
        let [middle, longest] = middle_and_longest(times).map(ms);
        format!("| {what} | {} | {middle} | {longest} |\n", times.len())
    };
    let text = [
        format!(
            "# Matches over HTTP when nobody thinks\n\n\
             `cargo xtask overhead --count {count}`: tic-tac-toe on the loopback address, first between \
             scripted players that answer at once, then between two processes of `ludex player --player \
             random`; {}.\n\n\
             | what | number | middle, ms | longest, ms |\n| --- | ---: | ---: | ---: |\n",
            processor()
        ),
        row("instant players: a match, from the first message to the last reply", &overhead.instant),
        row("`ludex player`: `start`, loading the rules and a look at the machine", &overhead.starts),
        row("`ludex player`: the moves of a match and `stop`", &after),
        row("`ludex player`: from the choice of a move until its reply was sent", &overhead.replies),
    ]
    .concat();
    print!("{text}");
    fs::write(runs_folder()?.join("overhead.md"), text)?;
    for (what, times) in [("with instant players", &overhead.instant), ("without `start`", &after)]
    {
        let [middle, _] = middle_and_longest(times);
        ensure!(middle < MAX_MATCH, "a match {what} takes {} ms", ms(middle));
    }
    let [_, longest] = middle_and_longest(&overhead.replies);
    ensure!(longest < MAX_REPLY, "a reply takes {} ms", ms(longest));
    Ok(())
}

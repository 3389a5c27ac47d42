//! Matches over HTTP with messages broken on the way, in full.

use std::fs;
use std::time::Instant;

use anyhow::{Result, ensure};
use ludex_base::Seed;
use ludex_tests::faults::{self, FaultConfig};

use crate::tools::{build_ludex, processor, runs_folder};

/// Megabytes that a process may grow by after the first matches, beyond a tenth of what it had.
const MAX_GROWTH_MB: f64 = 16.0;

/// Plays the matches and writes what came of them to `benches/runs`.
pub fn run(count: usize, n_parallel: usize, percent: usize, seed: u64) -> Result<()> {
    build_ludex()?;
    let began = Instant::now();
    let config = FaultConfig { count, n_parallel, percent, seed: Seed(seed) };
    let report = faults::run(&config, &mut |n_played| {
        eprintln!("{n_played} matches, {:.0} s", began.elapsed().as_secs_f64());
    });
    let ms = 1000.0 * report.longest.as_secs_f64();
    let mut text = format!(
        "# Matches over HTTP with broken messages\n\n\
         `cargo xtask faults --count {count} --parallel {n_parallel} --percent {percent} --seed {seed}`: \
         tic-tac-toe and Kuhn poker between two processes of `ludex player`, one that answers at once \
         (`uct`, 30 iterations) and one that uses its clock of 1 s (`flat`); {}; {:.0} s.\n\n\
         | what | number |\n| --- | ---: |\n\
         | matches | {count} |\n| finished | {} |\n\
         | messages of the referee | {} |\n| broken on the way there or back | {} |\n\
         | answers to messages that came whole | {} |\n| of these late | {} |\n\
         | the longest of them, ms | {ms:.0} |\n\
         | answers by players that had received everything before | {} |\n| of these not legal | {} |\n\n\
         What was in memory after each tenth of the matches, in MB:\n\n\
         | first player | second player | referee |\n| ---: | ---: | ---: |\n",
        processor(),
        began.elapsed().as_secs_f64(),
        report.n_finished,
        report.n_requests,
        report.n_broken,
        report.n_judged,
        report.late.len(),
        report.n_informed,
        report.illegal.len(),
    );
    for [first, second, referee] in &report.megabytes {
        text += &format!("| {first:.0} | {second:.0} | {referee:.0} |\n");
    }
    print!("{text}");
    fs::write(runs_folder()?.join("faults.md"), text)?;
    ensure!(report.n_finished == count, "matches did not finish");
    ensure!(report.illegal.is_empty(), "not legal: {:?}", report.illegal);
    ensure!(report.late.is_empty(), "late: {:?}", report.late);
    if let [_, early, .., last] = &report.megabytes[..] {
        for (early, last) in early.iter().zip(last) {
            let most = 1.1 * early + MAX_GROWTH_MB;
            ensure!(last <= &most, "memory grew from {early:.0} to {last:.0} MB");
        }
    }
    Ok(())
}

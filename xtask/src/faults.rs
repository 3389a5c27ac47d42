//! Matches over HTTP with messages broken on the way, in full.

use std::time::Instant;

use anyhow::{Result, ensure};
use ludex_base::Seed;
use ludex_tests::faults::{self, FaultConfig};

use crate::tools::build_ludex;

/// Megabytes that a process may grow by after the first matches, beyond a tenth of what it had.
const MAX_GROWTH_MB: f64 = 16.0;

/// Plays the matches and says what came of them.
pub fn run(count: usize, n_parallel: usize, percent: usize, seed: u64) -> Result<()> {
    build_ludex()?;
    let began = Instant::now();
    let config = FaultConfig { count, n_parallel, percent, seed: Seed(seed) };
    let report = faults::run(&config, &mut |n_played| {
        eprintln!("{n_played} matches, {:.0} s", began.elapsed().as_secs_f64());
    });
    println!(
        "{} of {count} matches finished, {} of {} messages broken, {:.0} s",
        report.n_finished,
        report.n_broken,
        report.n_requests,
        began.elapsed().as_secs_f64()
    );
    println!(
        "{} answers to messages that came whole: {} late, the longest {:.0} ms",
        report.n_judged,
        report.late.len(),
        1000.0 * report.longest.as_secs_f64()
    );
    println!(
        "{} of them by players that had received everything before: {} not legal",
        report.n_informed,
        report.illegal.len()
    );
    println!("resident MB of player, player, referee, after each tenth:");
    for [first, second, referee] in &report.megabytes {
        println!("  {first:.0} {second:.0} {referee:.0}");
    }
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

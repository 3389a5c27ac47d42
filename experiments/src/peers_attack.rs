//! Can peers disturb a match? Attacks a player with garbage, half messages and slow readers.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::peers::{self, AttackConfig, PLAY_CLOCK};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "peers-attack",
    question: "Do hostile connections make a move late, or take memory?",
    command: "cargo experiment peers-attack",
    table: "peers-attack.md",
    options: Options::augment_args,
    run: |run, given| attack(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds of the attack
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Connections at a time
    #[arg(long, default_value_t = 200)]
    connections: usize,
    /// Seed of the attack
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Megabytes by which the player may grow after the first tenth of the attack, in addition to a tenth of its
/// size.
const MAX_GROWTH_MB: f64 = 32.0;

/// Plays matches under attack, writes the counts, and fails if a move was late or memory grew.
fn attack(run: &Run, options: &Options) -> Result<()> {
    build_ludex()?;
    let &Options { seconds, connections: n_connections, seed } = options;
    let time = Duration::from_secs(seconds);
    let report = peers::run(&AttackConfig { n_connections, time, seed: Seed(seed) });
    let megabytes = &report.megabytes;
    let early = &megabytes[..megabytes.len().div_ceil(10).max(2).min(megabytes.len())];
    let most = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    let (before, most_early, most_ever) = (megabytes[0], most(early), most(megabytes));
    let last = megabytes[megabytes.len() - 1];
    let mut counts = run.rows(Form::Markdown, &["what", "number"]);
    for (what, number) in [
        ("connections", report.n_connections.to_string()),
        ("megabytes sent", (report.n_bytes >> 20).to_string()),
        ("matches", report.n_matches.to_string()),
        ("moves of the player", report.n_moves.to_string()),
        ("late, illegal or missing moves", report.errors.len().to_string()),
        ("slowest move, ms", report.longest.as_millis().to_string()),
        ("memory before, MB", format!("{before:.0}")),
        ("most memory in the first tenth, MB", format!("{most_early:.0}")),
        ("most memory, MB", format!("{most_ever:.0}")),
        ("memory at the end, MB", format!("{last:.0}")),
    ] {
        counts.push(&[what, &number]);
    }
    let command =
        format!("peers-attack --seconds {seconds} --connections {n_connections} --seed {seed}");
    let text = format!(
        "# A player under attack\n\n{}: matches of tic-tac-toe between `ludex player` (`uct`, 300 \
         iterations, play clock {PLAY_CLOCK} s) and `random`, while {n_connections} connections send random \
         bytes, half messages, single bytes, the longest messages, broken `start` and `play` messages, or \
         nothing, and do not read replies.\n\n{}",
        run.made_by(&command),
        counts.text(),
    );
    print!("{text}");
    run.write_file("peers-attack.md", &text)?;
    ensure!(report.errors.is_empty(), "moves failed: {:?}", report.errors);
    let limit = 1.1 * most_early + MAX_GROWTH_MB;
    ensure!(most_ever <= limit, "memory grew from {most_early:.0} to {most_ever:.0} MB");
    Ok(())
}

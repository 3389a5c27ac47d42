//! Can peers disturb a match? Attacks a player with garbage, half messages and slow readers.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::peers::{self, AttackConfig, AttackReport, PLAY_CLOCK};
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

/// Megabytes by which the player may grow after the first minute, in addition to a tenth of its size.
const MAX_GROWTH_MB: f64 = 32.0;

/// Plays matches under attack, writes the counts of each minute, and fails if a move was late or memory grew.
fn attack(run: &Run, options: &Options) -> Result<()> {
    build_ludex()?;
    let &Options { seconds, connections: n_connections, seed } = options;
    let command =
        format!("peers-attack --seconds {seconds} --connections {n_connections} --seed {seed}");
    let finished = run.finished("peers-attack", &command)?;
    let name = |minute: usize| format!("minute {}", minute + 1);
    let mut minutes: Vec<AttackReport> = Vec::new();
    while let Some(report) = finished.stored(&name(minutes.len()))? {
        minutes.push(report);
    }
    let time = Duration::from_secs(seconds.saturating_sub(60 * minutes.len() as u64));
    if minutes.is_empty() || !time.is_zero() {
        // Other minutes get other messages.
        let config = AttackConfig { n_connections, time, seed: Seed(seed + minutes.len() as u64) };
        let mut stored = Ok(());
        peers::run(&config, |report| {
            let row = finished.part(&name(minutes.len()), || Ok(report));
            match row {
                Ok(report) => {
                    eprintln!("{}", cells(&name(minutes.len()), &report).join("\t"));
                    minutes.push(report);
                }
                Err(error) => stored = Err(error),
            }
        });
        stored?;
    }
    let columns = [
        "time",
        "connections",
        "MB sent",
        "matches",
        "moves",
        "late, illegal or missing",
        "slowest move, ms",
        "memory at the beginning, MB",
        "most",
        "at the end",
    ];
    let mut rows = run.rows(Form::Markdown, &columns);
    let mut all = AttackReport::default();
    for (minute, report) in minutes.iter().enumerate() {
        rows.push(&cells(&name(minute), report));
        all.add(report.clone());
    }
    rows.push(&cells("all", &all));
    let text = format!(
        "# A player under attack\n\n{}: matches of tic-tac-toe between `ludex player` (`uct`, 300 \
         iterations, play clock {PLAY_CLOCK} s) and `random`, while {n_connections} connections send random \
         bytes, half messages, single bytes, the longest messages, broken `start` and `play` messages, or \
         nothing, and do not read replies. Memory is that of the player. A minute ends with a match.\n\n{}",
        run.made_by(&command),
        rows.text(),
    );
    print!("{text}");
    run.write_file("peers-attack.md", &text)?;
    finished.remove()?;
    ensure!(all.errors.is_empty(), "moves failed: {:?}", all.errors);
    let (early, ever) = (most(&minutes[0].megabytes), most(&all.megabytes));
    ensure!(ever <= 1.1 * early + MAX_GROWTH_MB, "memory grew from {early:.0} to {ever:.0} MB");
    Ok(())
}

/// The row of some time.
fn cells(time: &str, report: &AttackReport) -> Vec<String> {
    let megabytes = &report.megabytes;
    let mb = |value: f64| format!("{value:.0}");
    vec![
        time.into(),
        report.n_connections.to_string(),
        (report.n_bytes >> 20).to_string(),
        report.n_matches.to_string(),
        report.n_moves.to_string(),
        report.errors.len().to_string(),
        report.longest.as_millis().to_string(),
        mb(megabytes.first().copied().unwrap_or(0.0)),
        mb(most(megabytes)),
        mb(megabytes.last().copied().unwrap_or(0.0)),
    ]
}

fn most(megabytes: &[f64]) -> f64 {
    megabytes.iter().copied().fold(0.0, f64::max)
}

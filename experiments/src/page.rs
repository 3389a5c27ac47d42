//! Does the page stay quick when many play and watch? Loads a server, and kills others.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, FromArgMatches as _};
use ludex_base::Seed;
use ludex_tests::page::{self, LoadConfig, LoadReport, Server};
use xtask::tools::build_ludex;

use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "page",
    question: "How soon is a move shown while many play and watch, and is a shown step ever lost?",
    command: "cargo experiment page",
    table: "page.md",
    options: Options::augment_args,
    run: |run, given| load(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Pages that watch one match
    #[arg(long, default_value_t = 300)]
    watchers: usize,
    /// Matches at a time
    #[arg(long, default_value_t = 50)]
    matches: usize,
    /// Seconds between two moves of a match
    #[arg(long, default_value_t = 1.0)]
    pace: f64,
    /// Minutes of load
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Servers to kill
    #[arg(long, default_value_t = 100)]
    kills: usize,
    /// Seed of moves and of the moments of kills
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Loads a server, kills others, and writes what was seen; fails if a shown step was lost.
fn load(run: &Run, options: &Options) -> Result<()> {
    build_ludex()?;
    let &Options { watchers, matches, pace, minutes, kills, seed } = options;
    let command = format!(
        "page --watchers {watchers} --matches {matches} --pace {pace} --minutes {minutes} --kills {kills}"
    );
    let folder = std::env::temp_dir().join(format!("ludex-page-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let config = |n_watchers| LoadConfig {
        n_watchers,
        n_matches: matches,
        pace: Duration::from_secs_f64(pace),
        time: Duration::from_secs_f64(60.0 * minutes),
        seed: Seed(seed),
    };
    let columns = [
        "watchers",
        "matches",
        "moves",
        "p50, ms",
        "p90",
        "p99",
        "slowest",
        "views sent to watchers",
        "MB sent",
        "memory at the beginning, MB",
        "most",
        "at the end",
    ];
    let mut rows = run.rows(Form::Markdown, &columns);
    for n_watchers in [0, watchers] {
        let server = Server::start(&folder.join(format!("load-{n_watchers}.db")));
        let mut config = config(n_watchers);
        if n_watchers == 0 {
            // For comparison.
            config.time = config.time.min(Duration::from_secs(60));
        }
        let report = page::load(&server, &config);
        server.kill();
        let cells = cells(&config, &report);
        eprintln!("{}", cells.join("\t"));
        rows.push(&cells);
    }
    let killed = page::kill_at_random(&folder, kills, Seed(seed));
    std::fs::remove_dir_all(&folder)?;
    let text = format!(
        "# The page under load\n\n{}: matches of connect four between people, each with a move every {pace} s, \
         while pages watch one of them. A time is from sending a move to its step on a page that listens. \
         Clients and server share the machine.\n\n{}\n{} servers were killed while a match was played as fast \
         as it could be: {} steps had been shown, {} were lost.\n",
        run.made_by(&command),
        rows.text(),
        killed.n_kills,
        killed.n_shown,
        killed.n_lost,
    );
    print!("{text}");
    run.write_file("page.md", &text)?;
    ensure!(killed.n_lost == 0, "{} steps were lost", killed.n_lost);
    Ok(())
}

fn cells(config: &LoadConfig, report: &LoadReport) -> Vec<String> {
    let mb = |value: f64| format!("{value:.0}");
    let time = |share: f64| format!("{:.1}", report.percentile(share));
    let most = report.megabytes.iter().copied().fold(0.0, f64::max);
    vec![
        config.n_watchers.to_string(),
        config.n_matches.to_string(),
        report.milliseconds.len().to_string(),
        time(0.5),
        time(0.9),
        time(0.99),
        time(1.0),
        report.n_views.to_string(),
        (report.n_bytes >> 20).to_string(),
        mb(report.megabytes.first().copied().unwrap_or(0.0)),
        mb(most),
        mb(report.megabytes.last().copied().unwrap_or(0.0)),
    ]
}

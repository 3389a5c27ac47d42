//! How fast are playouts, one at a time and in lanes, beside the fastest other GDL engine?

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::published::Published;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "playouts",
    question: "How many playouts a processor second, beside the published speeds of ggplib?",
    command: "cargo experiment playouts",
    table: "playouts.tsv, playouts.md",
    options: Options::augment_args,
    run: |run, given| suite(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each game
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
}

/// The games of the table, with our target of playouts a processor second in lanes.
const SUITE: &[(&str, f64)] = &[
    ("ticTacToe", 6e6),
    ("connectFour", 4.5e6),
    ("breakthrough", 250e3),
    ("knightThrough", 300e3),
    ("reversi", 100e3),
    ("hex", 60e3),
    ("skirmish", 20e3),
    ("chess_200", 5e3),
    ("speedChess", 50e3),
    ("englishDraughts", 100e3),
    ("amazons_8x8", 60e3),
    ("pentago", 120e3),
    ("connectFourLarger", 150e3),
    ("quarto", 20e3),
    ("sheepAndWolf", 60e3),
];

/// Measures the suite on the cursor and in lanes, beside ggplib and our targets.
fn suite(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let shared = shared_folder()?;
    let ludex = build_ludex()?;
    let published = Published::read("peers/playouts.tsv")?;
    let ggplib = published.numbers("ggplib")?;
    let mut tsv = run.rows(
        Form::Tsv,
        &[
            "game",
            "gates",
            "cursor",
            "ggplib",
            "cursor_ratio",
            "wide",
            "target",
            "wide_ratio",
            "wide_to_ggplib",
            "cpu_2_threads_ratio",
        ],
    );
    let mut rows = run.rows(
        Form::Markdown,
        &[
            "game",
            "cursor",
            "ggplib",
            "ratio",
            "wide",
            "target",
            "ratio",
            "wide to ggplib",
            "2 threads",
        ],
    );
    let mut markdown = format!(
        "# Playouts a processor second on public rulesheets\n\n\
         {}: `ludex bench RULES --threads 1 --seconds {seconds} --json` \
         with `--machine circuit` (one playout at a time on the cursor) and with `--machine wide` (lanes), field `playouts_per_cpu_second`.\n\
         `ggplib` is the published speed of the fastest other GDL engine, one playout at a time, on a machine of the same kind.\n\
         `target` is the rate that we set ourselves for lanes before they were built.\n\
         `2 threads` is `playouts_per_second` of `--machine wide --threads 2` divided by that of one thread.\n\n",
        run.made_by(&format!("playouts --seconds {seconds}")),
    );
    let finished = run.finished("playouts", &format!("--seconds {seconds}"))?;
    let (mut product, mut n_rows) = (0.0, 0);
    for &(game, target) in SUITE {
        let rules = shared.join("games").join(format!("{game}.kif"));
        let [one, wide, two] = finished.part(game, || {
            Ok([
                bench(&ludex, &rules, "circuit", seconds, 1)?,
                bench(&ludex, &rules, "wide", seconds, 1)?,
                bench(&ludex, &rules, "wide", seconds, 2)?,
            ])
        })?;
        let rate = |report: &Value| report["playouts_per_cpu_second"].as_f64().unwrap_or(0.0);
        let wall = |report: &Value| report["playouts_per_second"].as_f64().unwrap_or(0.0);
        let scaling = wall(&two) / wall(&wide);
        let peer = ggplib.get(game).copied();
        let beside = |rate: f64| peer.map_or("-".into(), |peer| format!("{:.2}", rate / peer));
        if let Some(peer) = peer {
            product += (rate(&wide) / peer).ln();
            n_rows += 1;
        }
        let cells = [
            game.to_string(),
            format!("{:.0}", rate(&one)),
            peer.map_or("-".into(), |peer| peer.to_string()),
            beside(rate(&one)),
            format!("{:.0}", rate(&wide)),
            target.to_string(),
            format!("{:.2}", rate(&wide) / target),
            beside(rate(&wide)),
            format!("{scaling:.2}"),
        ];
        println!("{}", cells.join("\t"));
        rows.push(&cells);
        tsv.push(&[&cells[..1], &[one["gates"].to_string()], &cells[1..]].concat());
    }
    markdown += rows.text();
    let mean = f64::exp(product / f64::from(n_rows));
    writeln!(markdown, "\nGeometric mean of `wide to ggplib` over its {n_rows} rows: {mean:.1}.")?;
    println!("geometric mean of wide to ggplib: {mean:.1}");
    run.write("playouts", &tsv, &markdown)?;
    finished.remove()
}

/// Measures one rulesheet on one engine, and returns the report of `ludex bench`.
pub(crate) fn bench(
    ludex: &Path,
    rules: &Path,
    machine: &str,
    seconds: f64,
    n_threads: usize,
) -> Result<Value> {
    let (path, time, threads) =
        (rules.display().to_string(), seconds.to_string(), n_threads.to_string());
    let args =
        ["bench", &path, "--machine", machine, "--threads", &threads, "--seconds", &time, "--json"];
    let text = run_for(ludex, &args, Duration::from_secs_f64(20.0 * seconds + 120.0));
    let text = text.map_err(|note| anyhow::anyhow!("{path}: {note}"))?;
    serde_json::from_str(&text).with_context(|| format!("the report on {path}"))
}

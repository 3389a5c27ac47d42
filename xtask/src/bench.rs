//! `cargo xtask bench`: measures a fixed list of games with a fixed seed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use ludex_testkit::shared;
use serde_json::Value;

use crate::tools::{self, build_ludex, cargo};

/// Games of every kind, from small to large.
const GAMES: &[&str] = &[
    "tictactoe",
    "connectfour",
    "breakthrough",
    "reversi",
    "hex",
    "checkers",
    "chess",
    "eight-puzzle",
    "sudoku",
    "tron",
    "kuhn-poker",
];

/// Measures each game on the machine and prints a table with a signature. Then runs the experiment `playouts`,
/// which compares public rulesheets with published speeds.
pub fn run(seconds: f64) -> Result<()> {
    let ludex = build_ludex()?;
    println!(
        "{:<16}{:>10}{:>9}{:>14}{:>14}{:>9}",
        "game", "ground s", "gates", "playouts/s", "moves/s", "MB"
    );
    let mut signature = 0_u64;
    for game in GAMES {
        let ground = ask(&ludex, &["ground", game])?;
        let time = seconds.to_string();
        let bench = ask(&ludex, &["bench", game, "--threads", "1", "--seconds", &time])?;
        ensure!(bench["playouts"].as_u64() > Some(0), "no playout of {game} ended");
        let perft = ask(&ludex, &["perft", game, "--depth", "3"])?;
        signature +=
            perft["nodes"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum::<u64>();
        println!(
            "{game:<16}{:>10.3}{:>9}{:>14.1}{:>14.1}{:>9.1}",
            ground["seconds"].as_f64().unwrap_or(0.0),
            ground["gates"].to_string(),
            bench["playouts_per_cpu_second"].as_f64().unwrap_or(0.0),
            bench["moves_per_cpu_second"].as_f64().unwrap_or(0.0),
            bench["peak_mb"].as_f64().unwrap_or(0.0),
        );
    }
    // The signature is the number of paths that perft counts, so it changes only with the rules or the engine.
    println!("\nSignature: {signature}");
    if shared().is_none() {
        println!(
            "there is no folder `shared` with the public rulesheets: no table of published speeds"
        );
        return Ok(());
    }
    let experiment = ["run", "--release", "--quiet", "--package", "experiments", "--", "playouts"];
    tools::run(cargo().args(experiment).args(["--seconds", &seconds.to_string()]))
}

fn ask(ludex: &Path, args: &[&str]) -> Result<Value> {
    let output = Command::new(ludex).args(args).arg("--json").output()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("ludex {}", args.join(" ")))
}

//! How fast is the reasoner, in playouts a processor second, beside the reference prover?

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::command::run_for;
use crate::published::Published;
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "reasoner",
    question: "Is the reasoner at least twice as fast as the reference prover?",
    command: "cargo experiment reasoner",
    table: "reasoner.tsv, reasoner.md",
    options: Options::augment_args,
    run: |run, given| reasoner(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each game
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

/// Measures the reasoner on the games of the table of published speeds.
fn reasoner(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let shared = shared_folder()?;
    let published = Published::read("peers/playouts.tsv")?;
    let provers = published.numbers("ggpbase_prover")?;
    let columns = ["game", "prover", "reasoner", "ratio", "mean_length", "playouts"];
    let mut tsv = run.rows(Form::Tsv, &columns);
    let mut rows = run.rows(Form::Markdown, &columns[..4]);
    let mut markdown = format!(
        "# The reasoner beside the reference prover\n\n\
         {}: playouts a processor second, one thread.\n\
         The column `prover` is `ggpbase_prover` of the published speeds, measured on a machine of the same kind.\n\n",
        run.made_by(&format!("reasoner --seconds {seconds}")),
    );
    let finished = run.finished("reasoner", &format!("--seconds {seconds}"))?;
    let (mut n_twice, mut n_games) = (0, 0);
    for (game, prover) in provers {
        let path = shared.join("games").join(format!("{game}.kif")).display().to_string();
        let time = seconds.to_string();
        let args = [
            "bench",
            &path,
            "--machine",
            "reasoner",
            "--threads",
            "1",
            "--seconds",
            &time,
            "--json",
        ];
        let report: Value = finished.part(game, || {
            let text = run_for(&ludex, &args, Duration::from_secs_f64(20.0 * seconds + 60.0));
            Ok(text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
        })?;
        let speed = report["playouts_per_cpu_second"].as_f64().unwrap_or(0.0);
        let ratio = speed / prover;
        n_games += 1;
        n_twice += usize::from(ratio >= 2.0);
        eprintln!("{game}: {speed} against {prover}, {ratio:.1} times");
        let [mean_length, playouts] =
            ["mean_length", "playouts"].map(|key| report[key].to_string());
        let of = |ratio: String| [game.to_string(), prover.to_string(), speed.to_string(), ratio];
        tsv.push(&[&of(format!("{ratio:.2}"))[..], &[mean_length, playouts]].concat());
        rows.push(&of(format!("{ratio:.1}")));
    }
    markdown += rows.text();
    writeln!(
        markdown,
        "\nThe reasoner is at least twice as fast in {n_twice} of {n_games} games."
    )?;
    run.write("reasoner", &tsv, &markdown)?;
    finished.remove()?;
    println!("{n_twice} of {n_games} at least twice as fast");
    Ok(())
}

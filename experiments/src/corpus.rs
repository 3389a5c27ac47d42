//! How long does a game take to load, and a step to play? Measures every public rulesheet, and plots the cost of
//! a step against the number of gates.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, FromArgMatches as _};
use ludex_testkit::{RulesFile, corpus, in_parallel, workspace};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xtask::tools::{build_ludex, shared_folder};

use crate::playouts::bench;
use crate::plot::{Plot, Scale, Series};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Form;

pub static EXPERIMENT: Experiment = Experiment {
    name: "corpus",
    question: "How long does it take from reading a game to the end of its first playout, and what does a step cost?",
    command: "cargo experiment corpus",
    table: "corpus.tsv, corpus.md, docs/step-cost.svg",
    options: Options::augment_args,
    run: |run, given| measure_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Seconds for each game and engine
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
}

/// The measurements of one rulesheet.
#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    gates: f64,
    /// Seconds from the text to the end of the first playout, on the engine that the command chooses.
    first_playout: Option<f64>,
    machine: String,
    /// Nanoseconds of processor time a joint move, on the cursor.
    cursor: Option<f64>,
    /// The same in lanes.
    wide: Option<f64>,
}

/// The bound in the claim about load time.
const LOAD_SECONDS: f64 = 0.5;

/// Measures the time to the end of the first playout and the cost of a step on every public rulesheet, and
/// plots the latter against the number of gates.
fn measure_all(run: &Run, &Options { seconds }: &Options) -> Result<()> {
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let finished = run.finished("corpus", &format!("--seconds {seconds}"))?;
    let rows = in_parallel(&games, |rules| {
        let row = finished.part(&rules.name, || Ok(measure(&ludex, rules, seconds)))?;
        eprintln!(
            "{}\t{}\t{:?}\t{:?}\t{:?}",
            row.name, row.gates, row.first_playout, row.cursor, row.wide
        );
        Ok(row)
    });
    let rows = rows.into_iter().collect::<Result<Vec<Row>>>()?;
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
    let mut tsv = run.rows(
        Form::Tsv,
        &[
            "name",
            "gates",
            "machine",
            "first_playout_seconds",
            "cursor_ns_a_step",
            "wide_ns_a_step",
        ],
    );
    for row in &rows {
        let of = [row.name.clone(), row.gates.to_string(), row.machine.clone()];
        let numbers = [row.first_playout, row.cursor, row.wide].map(number);
        tsv.push(&[of, numbers].concat());
    }
    let is_quick = |row: &&Row| row.first_playout.is_some_and(|seconds| seconds < LOAD_SECONDS);
    let n_quick = rows.iter().filter(is_quick).count();
    let share = 100.0 * n_quick as f64 / rows.len() as f64;
    let mut slow: Vec<&Row> = rows.iter().filter(|row| !is_quick(row)).collect();
    slow.sort_by(|a, b| b.first_playout.unwrap_or(1e9).total_cmp(&a.first_playout.unwrap_or(1e9)));
    let mut markdown = format!(
        "# Load time and the cost of a step on every public rulesheet\n\n\
         {}, two sheets at a time.\n\
         `first_playout_seconds`: from the text to the end of the first playout, wall time, `ludex bench RULES --json`.\n\
         `cursor_ns_a_step`, `wide_ns_a_step`: processor time a joint move, `--machine circuit` and `--machine wide`.\n\
         All rows are in `corpus.tsv`; [`docs/machine.md`](../../../docs/machine.md) shows the steps against the gates.\n\n\
         {n_quick} of {} sheets ({share:.1} %) end their first playout within {LOAD_SECONDS} s after being read.\n\n\
         The others:\n\n",
        run.made_by(&format!("corpus --seconds {seconds}")),
        rows.len(),
    );
    let mut others = run.rows(Form::Markdown, &["sheet", "seconds", "gates", "machine"]);
    for row in slow {
        let seconds = number(row.first_playout);
        others.push(&[&row.name, &seconds, &row.gates.to_string(), &row.machine]);
    }
    write!(markdown, "{}", others.text())?;
    run.write("corpus", &tsv, &markdown)?;
    finished.remove()?;
    println!("{n_quick} of {} sheets ({share:.1} %) within {LOAD_SECONDS} s", rows.len());
    draw(&rows)
}

fn measure(ludex: &Path, rules: &RulesFile, seconds: f64) -> Row {
    // A sheet that can't be measured is reported, and the run continues.
    let ask = |machine, seconds| {
        bench(ludex, &rules.path, machine, seconds, 1).unwrap_or_else(|error| {
            eprintln!("{error:#}");
            Value::Null
        })
    };
    let step = |report: &Value| {
        let speed = report["moves_per_cpu_second"].as_f64().filter(|&speed| speed > 0.0);
        speed.map(|speed| 1e9 / speed)
    };
    // This run measures loading; its playouts after the first do not matter.
    let load = ask("auto", 0.001);
    let is_grounded = load["gates"].is_number();
    let of = |machine| if is_grounded { step(&ask(machine, seconds)) } else { None };
    Row {
        name: rules.name.clone(),
        gates: load["gates"].as_f64().unwrap_or(0.0),
        first_playout: load["first_playout_seconds"]
            .as_f64()
            .filter(|_| load["playouts"].as_u64() > Some(0)),
        machine: load["machine"].as_str().unwrap_or("-").to_string(),
        cursor: of("circuit"),
        wide: of("wide"),
    }
}

/// Draws the plot of docs/machine.md.
fn draw(rows: &[Row]) -> Result<()> {
    let points = |of: fn(&Row) -> Option<f64>| {
        rows.iter()
            .filter(|row| row.gates > 0.0)
            .filter_map(|row| Some((row.gates, of(row)?)))
            .collect()
    };
    let plot = Plot {
        title: "Processor time a step against gates, every public rulesheet",
        x_label: "gates of the circuit",
        y_label: "nanoseconds a joint move",
        scale: Scale::Logarithmic,
        series: vec![
            Series {
                name: "one at a time (cursor)",
                color: "#c0392b",
                points: points(|row| row.cursor),
            },
            Series {
                name: "in lanes (wide), a lane",
                color: "#2471a3",
                points: points(|row| row.wide),
            },
        ],
    };
    let path: PathBuf = workspace().join("docs/step-cost.svg");
    fs::write(&path, plot.to_svg()).with_context(|| path.display().to_string())?;
    eprintln!("drawn to {}", path.display());
    Ok(())
}

//! Tables about the speed of playouts on the public rulesheets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use ludex_testkit::{RulesFile, corpus, in_parallel, workspace};
use serde_json::Value;

use crate::plot::{Plot, Scale, Series};
use crate::tables::{run_for, write_run};
use crate::tools::{build_ludex, processor, shared_folder};

/// The games of the table, with the playouts a processor second that are wanted in lanes.
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

/// Measures the suite in both ways, beside ggplib and beside what is wanted.
pub fn suite(seconds: f64) -> Result<()> {
    let Ok(shared) = shared_folder() else {
        println!("the public rulesheets are not there: no table of published speeds");
        return Ok(());
    };
    let ludex = build_ludex()?;
    let ggplib = published(&shared.join("peers/playouts.tsv"), "ggplib")?;
    let mut tsv = String::from(
        "game\tgates\tcursor\tggplib\tcursor_ratio\twide\twanted\twide_ratio\twide_to_ggplib\tcpu_2_threads_ratio\n",
    );
    let mut markdown = format!(
        "# Playouts a processor second on public rulesheets\n\n\
         Made by `cargo xtask bench --seconds {seconds}` on {}: `ludex bench RULES --threads 1 --seconds {seconds} --json` \
         with `--machine circuit` (one playout at a time on the cursor) and with `--machine wide` (lanes), field `playouts_per_cpu_second`.\n\
         `ggplib` is the published speed of the fastest GDL engine, one playout at a time, on a machine of the same kind.\n\
         `2 threads` is `playouts_per_second` of `--machine wide --threads 2` beside that of one thread.\n\n\
         | game | cursor | ggplib | ratio | wide | wanted | ratio | wide to ggplib | 2 threads |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        processor(),
    );
    let (mut product, mut n_rows) = (0.0, 0);
    for &(game, wanted) in SUITE {
        let rules = shared.join("games").join(format!("{game}.kif"));
        let one = bench(&ludex, &rules, "circuit", seconds, 1)?;
        let wide = bench(&ludex, &rules, "wide", seconds, 1)?;
        let two = bench(&ludex, &rules, "wide", seconds, 2)?;
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
            wanted.to_string(),
            format!("{:.2}", rate(&wide) / wanted),
            beside(rate(&wide)),
            format!("{scaling:.2}"),
        ];
        println!("{}", cells.join("\t"));
        writeln!(markdown, "| {} |", cells.join(" | "))?;
        writeln!(tsv, "{game}\t{}\t{}", one["gates"], cells[1..].join("\t"))?;
    }
    let mean = f64::exp(product / f64::from(n_rows));
    writeln!(markdown, "\nGeometric mean of `wide to ggplib` over its {n_rows} rows: {mean:.1}.")?;
    println!("geometric mean of wide to ggplib: {mean:.1}");
    write_run("playouts", &tsv, &markdown)
}

/// A column of a table of published speeds, by game.
fn published(path: &Path, column: &str) -> Result<BTreeMap<String, f64>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let place = header.iter().position(|&name| name == column);
    let place = place.with_context(|| format!("there is no column `{column}`"))?;
    let row = |cells: Vec<&str>| Some((cells[0].to_string(), cells.get(place)?.parse().ok()?));
    Ok(lines.filter_map(row).collect())
}

fn bench(
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

/// What was measured of one rulesheet.
struct Row {
    name: String,
    gates: f64,
    /// From the text to the end of the first playout, the engine chosen by the command.
    first_playout: Option<f64>,
    machine: String,
    /// Nanoseconds of processor time a joint move, on the cursor and in lanes.
    cursor: Option<f64>,
    wide: Option<f64>,
}

/// The bound of the claim about load time.
const LOAD_SECONDS: f64 = 0.5;

/// Measures every public rulesheet: how long until the first playout has ended, and what a step costs.
/// Draws the latter against the number of gates.
pub fn corpus_table(seconds: f64) -> Result<()> {
    let ludex = build_ludex()?;
    let games = corpus(&shared_folder()?);
    let rows = in_parallel(&games, |rules| {
        let row = measure(&ludex, rules, seconds);
        eprintln!(
            "{}\t{}\t{:?}\t{:?}\t{:?}",
            row.name, row.gates, row.first_playout, row.cursor, row.wide
        );
        row
    });
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
    let mut tsv = String::from(
        "name\tgates\tmachine\tfirst_playout_seconds\tcursor_ns_a_step\twide_ns_a_step\n",
    );
    for row in &rows {
        let cells = [number(row.first_playout), number(row.cursor), number(row.wide)].join("\t");
        writeln!(tsv, "{}\t{}\t{}\t{cells}", row.name, row.gates, row.machine)?;
    }
    let is_quick = |row: &&Row| row.first_playout.is_some_and(|seconds| seconds < LOAD_SECONDS);
    let n_quick = rows.iter().filter(is_quick).count();
    let share = 100.0 * n_quick as f64 / rows.len() as f64;
    let mut slow: Vec<&Row> = rows.iter().filter(|row| !is_quick(row)).collect();
    slow.sort_by(|a, b| b.first_playout.unwrap_or(1e9).total_cmp(&a.first_playout.unwrap_or(1e9)));
    let mut markdown = format!(
        "# Load time and the cost of a step on every public rulesheet\n\n\
         Made by `cargo xtask corpus-table --seconds {seconds}`, two sheets at a time on {}.\n\
         `first_playout_seconds`: from the text to the end of the first playout, wall time, `ludex bench RULES --json`.\n\
         `cursor_ns_a_step`, `wide_ns_a_step`: processor time a joint move, `--machine circuit` and `--machine wide`.\n\
         All rows are in `corpus.tsv`; [`docs/machine.md`](../../../docs/machine.md) shows the steps against the gates.\n\n\
         {n_quick} of {} sheets ({share:.1} %) have played their first game within {LOAD_SECONDS} s of being read.\n\n\
         The others:\n\n| sheet | seconds | gates | machine |\n| --- | --- | --- | --- |\n",
        processor(),
        rows.len(),
    );
    for row in slow {
        writeln!(
            markdown,
            "| {} | {} | {} | {} |",
            row.name,
            number(row.first_playout),
            row.gates,
            row.machine
        )?;
    }
    write_run("corpus", &tsv, &markdown)?;
    println!("{n_quick} of {} sheets ({share:.1} %) within {LOAD_SECONDS} s", rows.len());
    draw(&rows)
}

fn measure(ludex: &Path, rules: &RulesFile, seconds: f64) -> Row {
    // One sheet that can't be measured is told of, and the others go on.
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
    // Loading is what counts here; the playouts after the first are only let happen.
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

/// The plot of docs/machine.md.
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

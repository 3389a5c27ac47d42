//! Does `ludex-automorphism` find the groups that nauty finds, and how fast?

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, FromArgMatches as _};
use ludex_analysis::symmetry::{CircuitGraph, RoleExchange};
use ludex_automorphism::{ColoredGraph, automorphisms};
use ludex_base::{Deadline, Source};
use ludex_pipeline::{Engine, EngineChoice, LoadOptions, load};
use ludex_testkit::corpus;
use xtask::tools::shared_folder;

use crate::families::Sketch;
use crate::oracle::{Mode, Oracle, mixed};
use crate::registry::Experiment;
use crate::run::Run;
use crate::tables::Table;

pub static EXPERIMENT: Experiment = Experiment {
    name: "nauty",
    question: "Does our search for automorphisms find the groups that nauty finds, and how fast?",
    command: "cargo experiment nauty",
    table: "nauty.tsv, nauty.md",
    options: Options::augment_args,
    run: |run, given| compare_all(run, &Options::from_arg_matches(given)?),
};

#[derive(Args)]
struct Options {
    /// Random and structured graphs
    #[arg(long, default_value_t = 1_000)]
    graphs: u64,
    /// Only circuits with at most this many arcs
    #[arg(long, default_value_t = 200_000)]
    arcs: usize,
}

fn compare_all(run: &Run, options: &Options) -> Result<()> {
    let Some(oracle) = Oracle::find() else {
        println!("skipped: dreadnaut is not installed");
        return Ok(());
    };
    let columns = "kind\tgraph\tvertices\tedges\torder\tsame\tseconds\tnauty\ttraces";
    let table = Table::open(run, "nauty", columns)?;
    for seed in 0..options.graphs {
        let name = seed.to_string();
        if !table.has(&["graph", &name]) {
            compare(&table, &oracle, "graph", &name, &mixed(seed))?;
        }
    }
    for rules in corpus(&shared_folder()?) {
        if table.has(&["circuit", &rules.name]) {
            continue;
        }
        let load_options = LoadOptions { engine: EngineChoice::Circuit, ..LoadOptions::default() };
        let Ok(loaded) = load(Source::new(&rules.name, rules.text()), &load_options) else {
            continue;
        };
        let Engine::Machine(machine) = &loaded.engine else { continue };
        let graph = CircuitGraph::new(machine.circuit(), RoleExchange::Forbidden, None);
        if graph.graph().n_edges() > options.arcs {
            table.append(&["circuit", &rules.name, "-", "-", "-", "too large", "-", "-", "-"])?;
            continue;
        }
        compare(&table, &oracle, "circuit", &rules.name, &undirected(graph.graph()))?;
    }
    describe(run, &table)
}

/// The same graph without directions: every vertex becomes two, for the arcs from it and to it.
fn undirected(graph: &ColoredGraph) -> Sketch {
    let n = graph.n_vertices() as u32;
    let mut sketch = Sketch::new(2 * n as usize, (0..n).map(|v| (v, n + v)));
    for v in 0..n {
        let color = graph.colors()[v as usize];
        // Colors of nauty are cells, so any numbers will do.
        sketch.colors[v as usize] = 2 * (color % (1 << 30));
        sketch.colors[(n + v) as usize] = 2 * (color % (1 << 30)) + 1;
        sketch.edges.extend(graph.neighbors(v).iter().map(|&w| (v, n + w)));
    }
    sketch
}

fn compare(table: &Table, oracle: &Oracle, kind: &str, name: &str, sketch: &Sketch) -> Result<()> {
    let graph = sketch.graph();
    let ours = || {
        let start = Instant::now();
        let found = automorphisms(&graph, &Deadline::after(Duration::from_secs(10)));
        (found, start.elapsed().as_secs_f64())
    };
    let (found, first) = ours();
    // Short times are measured several times, like those of nauty.
    let n_runs = if first < 0.01 { 20 } else { 1 };
    let mean = (0..n_runs).map(|_| ours().1).sum::<f64>() / f64::from(n_runs);
    let answers = [Mode::Nauty, Mode::Traces].map(|mode| oracle.ask(sketch, mode, n_runs));
    let is_same = match (&answers, found.is_complete) {
        (_, false) => "not in time",
        ([None, None], _) => "nauty not in time",
        (answers, _) if answers.iter().flatten().all(|it| it.has_order(&found.order)) => "yes",
        _ => "no",
    };
    let order = found.order.to_string();
    let order = if order.len() > 30 { format!("{} digits", order.len()) } else { order };
    let seconds = |answer: &Option<crate::oracle::Answer>| match answer {
        Some(answer) => format!("{:.5}", answer.time.as_secs_f64()),
        None => "-".into(),
    };
    table.append(&[
        kind,
        name,
        &graph.n_vertices().to_string(),
        &graph.n_edges().to_string(),
        &order,
        is_same,
        &format!("{mean:.5}"),
        &seconds(&answers[0]),
        &seconds(&answers[1]),
    ])
}

fn describe(run: &Run, table: &Table) -> Result<()> {
    let mut text = format!(
        "# Automorphisms beside nauty\n\n{}.\n\
         Circuits of the corpus are drawn without directions, for both programs; a vertex becomes two. \
         Times are seconds of the processor for nauty and Traces, by the clock for ours, without reading.\n{}\n\n\
         | kind | graphs | same order | not compared | ours, sum | nauty, sum | Traces, sum | median of ours / nauty | of ours / Traces | ours within 3 times the better |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        run.made_by("nauty"),
        table.commits_in_words()?,
    );
    let rows = table.rows()?;
    for kind in ["graph", "circuit"] {
        let of_kind: Vec<&Vec<String>> = rows.iter().filter(|row| row[0] == kind).collect();
        let n_same = of_kind.iter().filter(|row| row[5] == "yes").count();
        let n_wrong = of_kind.iter().filter(|row| row[5] == "no").count();
        let number = |row: &Vec<String>, at: usize| row[at].parse::<f64>().ok();
        let timed: Vec<[f64; 3]> = (of_kind.iter())
            .filter(|row| row[5] == "yes")
            .filter_map(|row| Some([number(row, 6)?, number(row, 7)?, number(row, 8)?]))
            .collect();
        let sum = |at: usize| timed.iter().map(|row| row[at]).sum::<f64>();
        let median = |at: usize| {
            let mut ratios: Vec<f64> = timed.iter().map(|row| row[0] / row[at].max(1e-5)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
        };
        // Nothing is measured below a millisecond.
        let is_near = |row: &&[f64; 3]| row[0] <= 3.0 * row[1].min(row[2]).max(1e-3);
        let n_near = timed.iter().filter(is_near).count();
        writeln!(
            text,
            "| {kind} | {} | {n_same} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {n_near} of {} |",
            of_kind.len(),
            of_kind.len() - n_same - n_wrong,
            sum(0),
            sum(1),
            sum(2),
            median(1),
            median(2),
            timed.len(),
        )?;
    }
    let wrong: Vec<&str> =
        rows.iter().filter(|row| row[5] == "no").map(|row| row[1].as_str()).collect();
    writeln!(
        text,
        "\nOther orders than those of nauty: {}.",
        match wrong.len() {
            0 => "none".to_string(),
            _ => wrong.join(", "),
        }
    )?;
    table.describe(&text)
}

//! Compares group orders and times with nauty and Traces, by their program `dreadnaut`.
//!
//! `cargo run --release -p ludex-automorphism --example dreadnaut [SECTION [NAME]]`, where a section
//! is `small` (1,000 random and structured graphs) or `large` (structured graphs of 1,000 to
//! 100,000 vertices, or those with this name in theirs). Times are those of the processor, without
//! reading the graph. Needs `dreadnaut` on the path; Debian has it in the package `nauty`.

#[path = "../tests/families/mod.rs"]
mod families;
#[path = "../tests/oracle/mod.rs"]
mod oracle;

use std::time::Duration;

use families::*;
use ludex_automorphism::{Automorphisms, automorphisms};
use ludex_base::Deadline;
use oracle::{Answer, Mode, Oracle};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let Some(oracle) = Oracle::find() else {
        eprintln!("dreadnaut is not installed: nothing to compare with");
        std::process::exit(1);
    };
    match std::env::args().nth(1).as_deref() {
        Some("small") => small(&oracle),
        Some("large") => large(&oracle, &std::env::args().nth(2).unwrap_or_default()),
        None => {
            small(&oracle);
            large(&oracle, "");
        }
        Some(other) => {
            eprintln!("unknown section `{other}`; use `small` or `large`");
            std::process::exit(2);
        }
    }
}

/// Compares orders on 1,000 graphs, and sums of times.
fn small(oracle: &Oracle) {
    let mut times = [Duration::ZERO; 3];
    let (mut n_graphs, mut n_same) = (0, 0);
    for seed in 0..1000 {
        let sketch = oracle::mixed(seed);
        let (ours, time) = timed(&sketch);
        times[0] += time;
        assert!(ours.is_complete, "graph {seed} takes too long");
        for (mode, total) in [Mode::Nauty, Mode::Traces].into_iter().zip(&mut times[1..]) {
            let theirs = oracle.ask(&sketch, mode, n_runs(&sketch)).expect("dreadnaut answers");
            *total += theirs.time;
            if mode == Mode::Traces {
                n_graphs += 1;
                n_same += usize::from(theirs.has_order(&ours.order));
            }
        }
    }
    println!("{n_same} of {n_graphs} orders are the same");
    println!("time: ludex {:.3?}, nauty {:.3?}, Traces {:.3?}", times[0], times[1], times[2]);
}

/// Prints a table of times on larger graphs.
fn large(oracle: &Oracle, name_part: &str) {
    println!("| graph | vertices | edges | order | generators | ludex s | nauty s | Traces s | |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for (name, sketch) in large_graphs().into_iter().filter(|(name, _)| name.contains(name_part)) {
        let sketch = sketch.relabeled(&mut rng(7));
        let (ours, time) = timed(&sketch);
        let [nauty, traces] =
            [Mode::Nauty, Mode::Traces].map(|mode| oracle.ask(&sketch, mode, n_runs(&sketch)));
        let seconds = |answer: &Option<Answer>| {
            answer
                .as_ref()
                .map_or("–".into(), |answer| format!("{:.4}", answer.time.as_secs_f64()))
        };
        let order = ours.order.to_string();
        let order = if order.len() > 9 {
            format!("{}.{}e{}", &order[..1], &order[1..3], order.len() - 1)
        } else {
            order
        };
        let is_same = traces.as_ref().or(nauty.as_ref()).map(|a| a.has_order(&ours.order));
        println!(
            "| {name} | {} | {} | {order} | {} | {:.4} | {} | {} | {} |",
            sketch.n_vertices(),
            sketch.edges.len(),
            ours.generators.len(),
            time.as_secs_f64(),
            seconds(&nauty),
            seconds(&traces),
            match (ours.is_complete, is_same) {
                (false, _) => "not complete",
                (true, None) => "no answer",
                (true, Some(true)) => "same",
                (true, Some(false)) => "DIFFERENT",
            }
        );
    }
}

/// How often a graph is given to each program for its time.
fn n_runs(sketch: &Sketch) -> u32 {
    if sketch.n_vertices() < 5000 { 10 } else { 1 }
}

/// The group, and the mean time of the processor for finding it.
fn timed(sketch: &Sketch) -> (Automorphisms, Duration) {
    let graph = sketch.graph();
    let run = || automorphisms(&graph, &Deadline::after(Duration::from_secs(20)));
    let start = processor_time();
    let mut group = run();
    for _ in 1..n_runs(sketch) {
        group = run();
    }
    (group, (processor_time() - start) / n_runs(sketch))
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn large_graphs() -> Vec<(String, Sketch)> {
    let rng = &mut rng(1);
    let mut graphs = Vec::new();
    for n in [1_000_u32, 10_000, 100_000] {
        let side = n.isqrt();
        graphs.push((format!("grid {side} x {side}"), grid(side, side)));
        graphs.push((format!("torus {side} x {side}"), torus(side, side)));
        graphs.push((format!("circuit, {n} gates"), circuit(n * 2 / 3, rng)));
        let n_copies = n / 100;
        graphs.push((format!("{n_copies} equal circuits"), repeated_circuit(n_copies, 50, rng)));
        graphs.push((format!("5 equal circuits of {}", n / 10), repeated_circuit(5, n / 10, rng)));
        graphs.push((format!("random tree {n}"), random_tree(n, rng)));
        graphs.push((format!("random sparse {n}"), random_graph(n, n as usize * 3 / 2, rng)));
        graphs.push((format!("random cubic {n}"), random_regular(n, 3, rng)));
        graphs.push((format!("rigid cubic {n}"), cubic(n, rng)));
        graphs.push((format!("{} copies of K4", n / 4), complete(4).copies(n as usize / 4)));
        graphs.push((format!("star {n}"), star(n)));
        graphs.push((format!("cycle {n}"), cycle(n)));
    }
    for dimension in [10, 14] {
        graphs.push((format!("hypercube {dimension}"), hypercube(dimension)));
    }
    for side in [5, 8, 12] {
        graphs.push((format!("CFI of torus {side} x {side}"), cfi(&torus(side, side), false)));
    }
    graphs.push(("projective plane 13".into(), projective_plane(Field(13))));
    graphs.push(("Paley 401".into(), paley(401)));
    graphs.push(("Kneser 40".into(), kneser(40)));
    graphs
}

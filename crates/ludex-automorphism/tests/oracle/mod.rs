//! nauty and Traces, by their program `dreadnaut`, if it is installed.

#![allow(dead_code, reason = "every test uses some of these")]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use num_bigint::BigUint;

use crate::families::*;

/// A program that knows group orders.
pub struct Oracle {
    program: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Nauty,
    Traces,
}

/// What the program said about a graph.
#[derive(Debug)]
pub struct Answer {
    /// All digits, or the first ones and an exponent: `1.29e24`.
    pub order: String,
    pub time: Duration,
}

impl Oracle {
    /// The program, if it is installed.
    pub fn find() -> Option<Self> {
        ["dreadnaut", "nauty-dreadnaut"].into_iter().map(|program| Self { program }).find(
            |oracle| {
                let mut command = Command::new(oracle.program);
                command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok()
            },
        )
    }

    /// Asks for the order of a graph's group, and for the mean time of some runs, as times are
    /// given in hundredths of seconds. `None` if all take longer than 10 seconds.
    pub fn ask(&self, sketch: &Sketch, mode: Mode, n_runs: u32) -> Option<Answer> {
        let mut child = Command::new("timeout")
            .args(["10", self.program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut input = child.stdin.take().expect("the input is piped");
        let text = script(sketch, mode, n_runs);
        let writer = std::thread::spawn(move || {
            // A program that was stopped does not read to the end.
            drop(input.write_all(text.as_bytes()));
        });
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("the writer ends");
        parse(&String::from_utf8_lossy(&output.stdout))
    }
}

impl Answer {
    /// Whether an order is the one of the answer, in all digits that the answer has.
    pub fn has_order(&self, order: &BigUint) -> bool {
        let Some((digits, exponent)) = self.order.split_once('e') else {
            return self.order == order.to_string();
        };
        let exponent: usize = exponent.parse().expect("an exponent is a number");
        let theirs: f64 = digits.parse().expect("the first digits are a number");
        let order = order.to_string();
        let ours = &order[..order.len().min(15)];
        let ours = ours.parse::<f64>().expect("digits") / 10_f64.powi(ours.len() as i32 - 1);
        order.len() == exponent + 1 && (ours / theirs - 1.0).abs() < 1e-6
    }
}

/// What `dreadnaut` reads: vertices from 0, `;` after each, the cells of the colors.
fn script(sketch: &Sketch, mode: Mode, n_runs: u32) -> String {
    let graph = sketch.graph();
    let algorithm = match mode {
        Mode::Nauty => "As",
        Mode::Traces => "At",
    };
    let mut lines = vec![format!("{algorithm} -a -m M={n_runs}")];
    lines.push(format!("n={} g", graph.n_vertices()));
    for v in 0..sketch.n_vertices() {
        let later = graph.neighbors(v).iter().filter(|&&w| w > v);
        let later: Vec<String> = later.map(u32::to_string).collect();
        let end = if v + 1 == sketch.n_vertices() { "." } else { ";" };
        lines.push(format!("{} {end}", later.join(" ")));
    }
    let mut by_color: Vec<(u32, u32)> = sketch.colors.iter().copied().zip(0..).collect();
    by_color.sort_unstable();
    let cells: Vec<String> = by_color
        .chunk_by(|a, b| a.0 == b.0)
        .map(|cell| cell.iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>().join(",\n"))
        .collect();
    lines.push(format!("f=[{}]", cells.join("|\n")));
    lines.push("x q".into());
    lines.join("\n") + "\n"
}

/// Finds `grpsize=…` and `cpu time = … seconds` in the output.
fn parse(output: &str) -> Option<Answer> {
    let order = output.split_once("grpsize=")?.1.split([';', '\n']).next()?.trim().to_string();
    let time = output.split_once("cpu time = ")?.1.split_whitespace().next()?;
    Some(Answer { order, time: Duration::from_secs_f64(time.parse().ok()?) })
}

/// One of many kinds of graphs, relabeled, by number.
pub fn mixed(seed: u64) -> Sketch {
    let rng = &mut rng(seed);
    let size = 4 + (seed / 16 % 20) as u32;
    let sketch = match seed % 16 {
        0 => random_graph(4 * size, 5 * size as usize, rng),
        1 => random_graph(2 * size, (size * size) as usize / 2, rng),
        2 => random_regular(4 * size, 3, rng),
        3 => random_regular(2 * size, 3, rng).copies(3),
        4 => random_tree(10 * size, rng),
        5 => circuit(20 * size, rng),
        6 => repeated_circuit(size / 3 + 1, 30, rng),
        7 => grid(size, size / 2 + 3),
        8 => torus(size, size),
        9 => cfi(&random_regular(size / 2 * 2, 3, rng), seed % 32 == 9),
        10 => projective_plane(Field([2, 3, 4, 5, 7][size as usize % 5])),
        11 => hypercube(2 + size % 6),
        12 => rook(size / 2 + 2).beside(&cycle(size)),
        13 => kneser(size / 2 + 4),
        14 => paley([5, 13, 17, 29, 37, 41, 53, 61][size as usize % 8]).copies(2),
        _ => shrikhande().beside(&rook(4)).copies(1 + size as usize % 4),
    };
    let mut sketch = sketch.relabeled(rng);
    // Every fifth graph has some vertices of another color.
    if seed.is_multiple_of(5) {
        for _ in 0..2 {
            let vertex = rng.below(sketch.colors.len());
            sketch.colors[vertex] += 100;
        }
    }
    sketch
}

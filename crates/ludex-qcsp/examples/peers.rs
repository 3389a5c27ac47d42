//! Times the benchmark models of other solvers: `cargo run --release -p ludex-qcsp --example peers
//! [name]`.

#[path = "../tests/models/mod.rs"]
mod models;

use std::time::{Duration, Instant};

use ludex_base::Deadline;
use ludex_qcsp::{Model, Quantifier, SolveConfig, Ties, solve};
use models::*;

type Make = Box<dyn Fn() -> Model>;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let n_threads = std::env::var("THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let seconds = std::env::var("SECONDS_MOST").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut list: Vec<(String, Make)> = vec![
        ("nim 27".into(), Box::new(|| nim(27))),
        ("nim-fibonacci 26".into(), Box::new(|| nim_fibonacci(26))),
        ("nim-fibonacci 60".into(), Box::new(|| nim_fibonacci(60))),
        ("tictactoe win".into(), Box::new(|| tictactoe(Question::Win, Quantifier::Exists))),
        ("tictactoe notlose".into(), Box::new(|| tictactoe(Question::NotLose, Quantifier::Exists))),
        ("baker 3".into(), Box::new(|| baker(40, 3))),
    ];
    for (columns, rows) in [(4, 4), (4, 5), (5, 4), (5, 5)] {
        let make = move || connect_four(columns, rows, columns * rows, Question::Win);
        list.push((format!("connect-four {columns}x{rows}"), Box::new(make)));
    }
    let notlose = || connect_four(5, 5, 25, Question::NotLose);
    list.push(("connect-four 5x5 notlose".into(), Box::new(notlose)));
    for depth in [9, 10] {
        list.push((format!("matrix {depth}"), Box::new(move || matrix_game(depth, 60, 1))));
    }
    for (links, customers) in [(7, 9), (8, 9), (9, 9)] {
        let make = move || link_pricing(links, customers, 1, Ties::Optimistic);
        list.push((format!("link-pricing {links} {customers}"), Box::new(make)));
    }
    for n in [10, 12, 15] {
        let make = move || {
            let scheduling = Scheduling::random(n, 40, 1);
            scheduling.plan_first(scheduling.shortest() * 12 / 10, 3)
        };
        list.push((format!("scheduling {n}"), Box::new(make)));
    }
    for depth in (9..=27).step_by(2) {
        let make = move || connect_four(7, 6, depth, Question::Win);
        list.push((format!("deep {depth}"), Box::new(make)));
    }
    for (name, make) in list {
        if !wanted.iter().any(|wanted| name.starts_with(wanted.as_str())) {
            continue;
        }
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let model = make();
        let build = start.elapsed();
        let deadline = Deadline::after(Duration::from_secs(seconds));
        let config = SolveConfig { deadline, n_threads, ..SolveConfig::default() };
        let report = solve(&model, &config).expect("the model is valid");
        let statistics = &report.statistics;
        println!(
            "{name:26} {:8} value {:?} nodes {:9} hits {:9} build {:.4} setup {:.4} time {:.4} cpu {:.2}",
            report.verdict.name(),
            report.value,
            statistics.n_nodes,
            statistics.n_memory_hits,
            build.as_secs_f64(),
            statistics.setup_time.as_secs_f64(),
            statistics.time.as_secs_f64(),
            cpu_seconds() - cpu,
        );
    }
}

/// Returns the processor time of this process so far, in steps of a hundredth of a second.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|field| field.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

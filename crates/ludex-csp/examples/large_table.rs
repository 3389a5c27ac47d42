//! Measures time and memory of a table of ten million tuples of four values below 100.

use std::time::Instant;

use ludex_base::Seed;
use ludex_csp::propagators::table::Table;
use ludex_csp::{Network, PostConfig, Value};

fn main() {
    let start = Instant::now();
    let mut rng = Seed(1).rng();
    let n_tuples = 10_000_000;
    let mut values: Vec<Value> = Vec::with_capacity(4 * n_tuples);
    for _ in 0..n_tuples {
        let mut code = rng.below(100_000_000) as Value;
        for _ in 0..4 {
            values.push(code % 100);
            code /= 100;
        }
    }
    let mut network = Network::new();
    let vars = network.ints("x", 4, 0..100);
    network.table(&vars, Table::new(4, values));
    println!("table made after {:.1} s", start.elapsed().as_secs_f64());
    let mut engine = network.post(&PostConfig::default()).expect("a well-formed network");
    for id in engine.propagator_ids() {
        println!("propagator: {}", engine.propagator(id).name());
    }
    engine.propagate().expect("the table is not empty");
    println!("posted and consistent after {:.1} s", start.elapsed().as_secs_f64());
    let n = 50;
    let dive = Instant::now();
    for round in 0..n {
        engine.push_level();
        let mut is_consistent = true;
        for &x in &vars {
            let value =
                engine.domains().values(x).nth(round % 7).unwrap_or(engine.domains().min(x));
            is_consistent &= engine.assign(x, value).is_ok();
        }
        assert!(is_consistent, "domain consistency left a value without support");
        engine.pop_level();
    }
    println!("{:.1} ms a dive to a tuple", dive.elapsed().as_secs_f64() * 1000.0 / n as f64);
    println!("peak memory {} MB", peak_megabytes().map_or("unknown".into(), |mb| mb.to_string()));
}

/// Returns the peak memory of the process, if the system reports it.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1024)
}

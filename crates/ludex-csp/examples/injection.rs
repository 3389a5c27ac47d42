//! Measures how many states per second can be injected into a template, propagated and undone.
//!
//! The template has 300 variables with ten values and 40 tables of six variables and 10,000
//! tuples; a state fixes 150 variables to values of one solution, so that it is consistent. By
//! default the program injects states for three seconds with Compact-Table. `injection [N]
//! [ALGORITHM…]` injects N states and measures other algorithms.

use std::time::Instant;

use ludex_base::Seed;
use ludex_csp::propagators::table::{Table, TableAlgorithm};
use ludex_csp::{Network, PostConfig, Value, VarId};

fn main() {
    let mut rng = Seed(1).rng();
    let mut network = Network::new();
    let vars = network.ints("x", 300, 0..10);
    let solutions: Vec<Vec<Value>> =
        (0..20).map(|_| (0..300).map(|_| rng.below(10) as Value).collect()).collect();
    for _ in 0..40 {
        let mut scope: Vec<usize> = Vec::new();
        while scope.len() < 6 {
            let x = rng.below(300);
            if !scope.contains(&x) {
                scope.push(x);
            }
        }
        let mut tuples: Vec<Vec<Value>> =
            solutions.iter().map(|s| scope.iter().map(|&x| s[x]).collect()).collect();
        while tuples.len() < 10_000 {
            tuples.push((0..6).map(|_| rng.below(10) as Value).collect());
        }
        let scope: Vec<VarId> = scope.into_iter().map(|x| vars[x]).collect();
        network.table(&scope, Table::from_tuples(6, tuples));
    }
    let states: Vec<Vec<(VarId, Value)>> = solutions
        .iter()
        .map(|solution| {
            let mut order: Vec<usize> = (0..300).collect();
            for i in 0..150 {
                let j = i + rng.below(300 - i);
                order.swap(i, j);
            }
            order[..150].iter().map(|&x| (vars[x], solution[x])).collect()
        })
        .collect();
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let n_wanted: Option<u32> = names.first().and_then(|name| name.parse().ok());
    names.drain(..usize::from(n_wanted.is_some()));
    for (name, table) in TableAlgorithm::ALL {
        if !(names.is_empty() && name == "ct" || names.iter().any(|own| own == name)) {
            continue;
        }
        let config = PostConfig { table, ..PostConfig::default() };
        let mut engine = network.post(&config).expect("a well-formed network");
        engine.propagate().expect("the template has solutions");
        let before: u64 = vars.iter().map(|&x| engine.domains().size(x)).sum();
        let (mut n, mut n_values) = (0, 0);
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        while n_wanted.map_or(start.elapsed().as_secs_f64() < 3.0, |wanted| n < wanted) {
            for state in &states {
                engine.inject(state.iter().copied()).expect("every state is part of a solution");
                n_values += vars.iter().map(|&x| engine.domains().size(x)).sum::<u64>();
                engine.pop_level();
                n += 1;
            }
        }
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu_start);
        let after: u64 = vars.iter().map(|&x| engine.domains().size(x)).sum();
        assert_eq!(before, after, "undoing restores the template");
        println!(
            "{name}: {:.0} injections a second, {:.0} a second of processor \
             ({before} values before, {} after, {} propagator calls each)",
            f64::from(n) / seconds,
            f64::from(n) / cpu,
            n_values / n as u64,
            engine.n_propagations() / n as u64
        );
    }
}

/// Returns the processor seconds of this process; 0 where unknown.
fn cpu_seconds() -> f64 {
    let schedule = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = schedule.split_whitespace().next().and_then(|text| text.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}

//! Solves rulesheets and prints one line for each: `solve_files SECONDS METHODS FILE…`.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Limits, RoleId, Source};
use ludex_game::Game;
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_solve::{Method, Problem, Progress, SolveOptions, solve};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seconds: f64 = args[1].parse().expect("seconds");
    let methods: Vec<Method> = args[2].split(',').filter_map(Method::by_name).collect();
    for path in &args[3..] {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let start = Instant::now();
        let Ok(loaded) = load(Source::new(path, text), &LoadOptions::default()) else {
            println!("{path}: not loaded");
            continue;
        };
        let load_time = start.elapsed();
        let Engine::Machine(game) = &loaded.engine else {
            println!("{path}: reasoner");
            continue;
        };
        if game.roles().len() != 1 {
            continue;
        }
        let problem = Problem::initial(game).with_circuit(game.circuit());
        let limits = Limits::usual().until(Deadline::after(Duration::from_secs_f64(seconds)));
        let options = SolveOptions { limits, methods: methods.clone(), ..SolveOptions::default() };
        let solution = solve(&problem, &options, &Progress::new());
        let bounds = solution.bounds[RoleId::new(0).index()];
        println!(
            "{path:40} {:3}..{:3} {:9} {:11} len {:4} states {:8} nodes {:8} {:6.2}s load {:.2}s {:?}",
            bounds.lower.value(),
            bounds.upper.value(),
            solution.method.map_or("-", Method::name),
            solution.evidence.name(),
            solution.line.len(),
            solution.n_states,
            solution.n_nodes,
            solution.time.as_secs_f64(),
            load_time.as_secs_f64(),
            solution.stopped
        );
    }
}

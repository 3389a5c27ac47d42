//! Exact answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ludex_base::{Deadline, Limits};
use ludex_game::Describe;
use ludex_solve::{Problem, Progress, Solution, SolveOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::interruptible;
use crate::game::{Place, Pools, State, seconds};

/// Solves a game from a state: bounds of the value of each role, and a line that reaches it.
#[pyfunction]
#[pyo3(signature = (state, *, time = 60.0, threads = 1, shortest = false))]
pub fn solve<'py>(
    py: Python<'py>,
    state: &State,
    time: f64,
    threads: usize,
    shortest: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Arc::new(AtomicBool::new(false));
    let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
    let options = SolveOptions {
        limits: Limits { deadline, ..Limits::usual() },
        wants_shortest: shortest,
        n_threads: threads.max(1),
        ..SolveOptions::default()
    };
    let (solution, line) = interruptible(py, &stop, || match (&state.game.pools, &state.place) {
        (Pools::Machine(pool), Place::Machine(place)) => {
            let problem = Problem::initial(&pool.game).with_circuit(pool.game.circuit());
            answer(problem.at(place.clone()), &options)
        }
        (Pools::Reasoner(pool), Place::Reasoner(place)) => {
            answer(Problem::initial(&pool.game).at(place.clone()), &options)
        }
        _ => unreachable!("a state belongs to the engine of its game"),
    })?;
    let report = PyDict::new(py);
    let bounds = PyDict::new(py);
    let values = PyDict::new(py);
    for (name, it) in state.game.role_names.iter().zip(&solution.bounds) {
        bounds.set_item(name, (it.lower.value(), it.upper.value()))?;
        values.set_item(name, it.value().map(|goal| goal.value()))?;
    }
    report.set_item("solved", solution.is_solved())?;
    report.set_item("values", values)?;
    report.set_item("bounds", bounds)?;
    report.set_item("line", line)?;
    Ok(report)
}

/// Solves a problem, and names the moves of the line.
fn answer<G: Describe>(
    problem: Problem<'_, G>,
    options: &SolveOptions,
) -> (Solution, Vec<Vec<String>>) {
    let solution = ludex_solve::solve(&problem, options, &Progress::new());
    let text = |joint: &Vec<ludex_base::MoveId>| {
        joint.iter().map(|&it| problem.game.move_text(it)).collect()
    };
    let line = solution.line.iter().map(text).collect();
    (solution, line)
}

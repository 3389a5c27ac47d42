//! The Python package `ludex`: games, environments, players and exact answers.
//!
//! Everything that takes long runs without the interpreter's lock; loading, searching, matches and
//! solving end on Ctrl-C, and a panic of theirs becomes an exception. What needs no Rust, such as the adapters to Gymnasium and
//! PettingZoo, is written in Python, in `python/ludex`.
//!
//! Read the modules in this order:
//!
//! 1. `errors`: exceptions, and calls that can be interrupted.
//! 2. `game`: a game and its states.
//! 3. `analysis`: symmetries, and places on boards.
//! 4. `lanes`: many games side by side.
//! 5. `matches`: players, single moves and matches.
//! 6. `exact`: solving.
//! 7. `models`: constraint models.

use pyo3::prelude::*;

mod errors;
mod game;
mod analysis;
mod lanes;
mod matches;
mod exact;
mod models;

/// The compiled part of the package `ludex`.
#[pymodule]
fn _ludex(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let py = module.py();
    module.add("LudexError", py.get_type::<errors::LudexError>())?;
    module.add("RulesError", py.get_type::<errors::RulesError>())?;
    module.add("LimitError", py.get_type::<errors::LimitError>())?;
    module.add("IllegalMoveError", py.get_type::<errors::IllegalMoveError>())?;
    module.add_class::<game::Game>()?;
    module.add_class::<game::State>()?;
    module.add_class::<game::Diagnostic>()?;
    module.add_class::<lanes::Lanes>()?;
    module.add_class::<matches::Stop>()?;
    module.add_class::<analysis::Symmetry>()?;
    module.add_class::<analysis::Symmetries>()?;
    module.add_function(wrap_pyfunction!(analysis::symmetries, module)?)?;
    module.add_function(wrap_pyfunction!(analysis::spots, module)?)?;
    module.add_function(wrap_pyfunction!(errors::_panic, module)?)?;
    module.add_function(wrap_pyfunction!(matches::player_options, module)?)?;
    module.add_function(wrap_pyfunction!(matches::parse_player, module)?)?;
    module.add_function(wrap_pyfunction!(matches::match_id, module)?)?;
    module.add_function(wrap_pyfunction!(game::games, module)?)?;
    module.add_function(wrap_pyfunction!(game::check, module)?)?;
    module.add_function(wrap_pyfunction!(matches::players, module)?)?;
    module.add_function(wrap_pyfunction!(matches::choose, module)?)?;
    module.add_function(wrap_pyfunction!(matches::play_match, module)?)?;
    module.add_function(wrap_pyfunction!(matches::tally, module)?)?;
    module.add_function(wrap_pyfunction!(exact::solve, module)?)?;
    module.add_function(wrap_pyfunction!(models::solve_model, module)?)?;
    Ok(())
}

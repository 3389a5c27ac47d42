//! A finite-domain constraint solver, independent of games and of any other use.
//!
//! Build a [`Network`], [`solve`] it and read the [`Report`]. Or post a network once into an
//! [`Engine`] and use it as a template: inject a state, read the pruned domains, undo.
//!
//! ```
//! use ludex_csp::{Goal, Network, SearchConfig, Verdict, solve};
//! // Color a triangle and a corner that hangs on it.
//! let mut network = Network::new();
//! let colors = network.ints("color", 4, 0..=2);
//! network.all_different(colors[..3].to_vec());
//! network.require(colors[3].differs(colors[0]));
//! let report = solve(&network, &SearchConfig { goal: Goal::All, ..SearchConfig::default() })?;
//! assert_eq!((report.verdict(), report.n_solutions), (Verdict::True, 12));
//! # Ok::<(), ludex_csp::CspError>(())
//! ```
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `verdict`: the answer of every solver; `values`: sets of integers
//! 2. `trail`: 64-bit words with undo
//! 3. `domains`: variables, pruned and restored
//! 4. `propagator`: the interface of a constraint; `engine`: events and the queue
//! 5. `expr`: expressions; [`propagators`]: one file per constraint
//! 6. `constraint`, `meaning`, `network`: the input of a modeler; `check`; `preprocess`;
//!    `post`: from a network to propagators
//! 7. `sac`: singleton consistency; [`search`]; [`symmetry`]
//!
//! To add a constraint, write a [`Propagator`] in `propagators/`, add a line for it to the
//! top-level `tests/propagators.rs`, and post it by [`Constraint::Custom`] or by a variant of
//! its own.

mod check;
mod constraint;
mod domains;
mod engine;
mod error;
mod expr;
mod meaning;
mod network;
mod post;
mod preprocess;
mod propagator;
pub mod propagators;
mod sac;
pub mod search;
pub mod symmetry;
mod trail;
mod values;
mod verdict;

pub use constraint::{Condition, Constraint, conjuncts};
pub use domains::{Cell, Cells, Conflict, Domains, Events, VarId};
pub use engine::{Engine, PropagatorId};
pub use error::{CspError, Named};
pub use expr::{
    Comparison, Expr, Operation, all_of, any_of, distance, element, if_then_else, maximum, minimum,
    sum,
};
pub use network::{Network, Objective, Variable};
pub use post::{AllDifferentStrength, PostConfig, Posted};
pub use preprocess::{Preprocessed, preprocess, simplify};
pub use propagator::{Cost, Propagator, Pruning, Setup};
pub use sac::singleton_consistency;
pub use search::{
    Branching, Goal, Report, Restarts, SearchConfig, SearchMethod, SolveOptions, Statistics,
    ValueOrder, VariableOrder, solve, solve_by, solve_with,
};
pub use values::{VALUE_LIMIT, Value, ValueSet};
pub use verdict::Verdict;

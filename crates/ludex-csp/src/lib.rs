//! A finite-domain constraint solver that knows nothing of what it is used for.
//!
//! State a [`Network`], [`solve`] it, read the [`Report`]. Or post a network once into an
//! [`Engine`] and use it as a template: inject a state, read the pruned domains, undo.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `verdict`: the answer of every solver; `values`: sets of integers
//! 2. `trail`: words that remember what they were
//! 3. `domains`: variables, pruned and restored
//! 4. `propagator`: what a constraint has to offer; `engine`: who wakes whom
//! 5. `expr`: expressions; [`propagators`]: one file a constraint
//! 6. `constraint`, `meaning`, `network`: what a modeler states; `check`; `preprocess`;
//!    `post`: from there to propagators
//! 7. `sac`: singleton consistency; [`search`]
//!
//! To add a constraint, write a [`Propagator`] in `propagators/`, a line for it in
//! the top-level `tests/propagators.rs`, and post it by [`Constraint::Custom`] or by a variant of its own.

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

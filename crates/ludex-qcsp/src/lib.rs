//! Quantified constraint networks: QCSP, QCSP+ and QCOP+.
//!
//! State a [`Model`], [`solve`] it, read the [`Report`].
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `scope`: the parts of a model; `model`: the model and its builder; `check`: whether it
//!    means something
//! 2. `measure`: who is interested in which number; `definition`: the meaning, computed as it
//!    is defined
//! 3. `strategy`: winning strategies of either side
//! 4. `plan`: which variable is decided when; `search`: the search over it
//! 5. `config`: options, verdicts, reports; `solve`: the entry
//! 6. [`lang`]: the text language; [`xcsp3`]: files of other solvers

mod check;
mod config;
pub mod consistency;
mod definition;
mod error;
pub mod lang;
mod measure;
mod model;
mod plan;
pub mod qdimacs;
mod scope;
mod search;
mod solve;
mod strategy;
pub mod xcsp3;

pub use config::{
    Consistency, Propagation, Report, SolveConfig, Statistics, StrategyRefused, StrategyRequest,
    ValueOrder, Verdict,
};
pub use definition::by_definition;
pub use error::ModelError;
pub use model::Model;
pub use scope::{
    Aggregate, AggregateFunction, AggregateId, Criterion, Measure, QuantifiedVariable, Quantifier,
    Scope, ScopeId, Symmetry, Ties,
};
pub use solve::solve;
pub use strategy::{NodeId, Refutation, Strategy, StrategyNode, check_strategy, strategy_dot};

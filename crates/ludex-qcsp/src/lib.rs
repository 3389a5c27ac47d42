//! Quantified constraint networks: QCSP, QCSP+ and QCOP+.
//!
//! Build a [`Model`], [`solve`] it, read the [`Report`]. A model is a game of two players: one owns
//! the existential scopes and wants the goal, the other owns the universal ones. Scopes are chosen
//! in order. A restrictor defines the legal choices, and a player without one loses.
//!
//! ```
//! use ludex_qcsp::{AggregateFunction, Model, SolveConfig, StrategyRequest, check_strategy, solve};
//! use ludex_csp::element;
//! // A toll on two roads; each of two drivers takes the cheaper one.
//! let mut model = Model::new();
//! let owner = model.exists("owner");
//! let toll = model.ints("toll", 2, 0..=4);
//! let traffic = model.forall("traffic");
//! let driver = model.int("driver", 0..=1);
//! let choice = model.exists("choice");
//! let road = model.int("road", 0..=1);
//! let length = element([1, 2, 3, 1], driver * 2 + road);
//! let paid = model.define("paid", element(toll, road));
//! let cost = model.define("cost", length + paid);
//! model.minimize(choice, cost);
//! let income = model.aggregate(traffic, "income", AggregateFunction::Sum, paid);
//! model.maximize(owner, income);
//! let config = SolveConfig { strategy: StrategyRequest::One, ..SolveConfig::default() };
//! let report = solve(&model, &config)?;
//! assert_eq!(report.value, Some(8));
//! assert!(check_strategy(&model, &report.strategy.unwrap()).is_ok());
//! # Ok::<(), ludex_qcsp::ModelError>(())
//! ```
//!
//! To make a model fast, use [`Model::define`] for everything that follows from choices, so that it
//! is computed and not searched, and restrictors that end a play as soon as it is decided. The
//! solver derives from the constraints which earlier variables matter to later scopes.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `scope`: the parts of a model; `model`: the model and its builder; `check`: its validation
//! 2. `measure`: the interests of scopes in measures; `definition`: the semantics, computed
//!    directly
//! 3. `strategy`: winning strategies of either side, and their checker
//! 4. `config`: options, verdicts, reports
//! 5. `schedule`: the order of decisions and their consequences; `search`: the search over it
//! 6. [`consistency`]: quantified consistencies; `solve`: the entry point

mod check;
mod config;
pub mod consistency;
mod definition;
mod error;
mod measure;
mod model;
mod schedule;
mod scope;
mod search;
mod solve;
mod strategy;

pub use config::{
    Consistency, Propagation, Report, Sizes, SolveConfig, Statistics, StrategyRefused,
    StrategyRequest, ValueOrder,
};
pub use definition::by_definition;
pub use error::{ModelError, Part};
pub use model::Model;
pub use scope::{
    Aggregate, AggregateFunction, AggregateId, Criterion, Measure, QuantifiedVariable, Quantifier,
    Scope, ScopeId, Symmetry, Ties,
};
pub use solve::solve;
pub use strategy::{
    NodeId, Optimality, Refutation, Strategy, StrategyNode, check_optimality, check_strategy,
    strategy_dot,
};

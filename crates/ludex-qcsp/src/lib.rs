//! Quantified constraint networks: QCSP, QCSP+ and QCOP+.
//!
//! State a [`Model`], [`solve`] it, read the [`Report`]. A model is a game of two players: one
//! owns the existential scopes and wants the goal, the other owns the universal ones. Scopes
//! are chosen in order; a restrictor says which choices there are, and who has none loses.
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
//! What makes a model fast: [`Model::define`] for everything that follows from choices, so that
//! it is computed and not searched, and restrictors that end a play as soon as it is decided.
//! Which earlier variables matter to later scopes is found from the constraints.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `scope`: the parts of a model; `model`: the model and its builder; `check`: whether it
//!    means something
//! 2. `measure`: who is interested in which number; `definition`: the meaning, computed as it
//!    is defined
//! 3. `strategy`: winning strategies of either side, and their checker
//! 4. `config`: options, verdicts, reports
//! 5. `schedule`: which variable is decided when, and what follows; `search`: the search over it
//! 6. [`consistency`]: quantified consistencies; `solve`: the entry

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

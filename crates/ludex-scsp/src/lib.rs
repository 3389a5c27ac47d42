//! Stochastic constraint networks: decisions, chance, and the probability that the constraints
//! hold.
//!
//! Build a [`StochasticNetwork`], [`solve`] it, read the [`Report`]. Variables are decided or drawn
//! in stages. A policy maps the draws so far to the next decision; its satisfaction is the
//! probability that all constraints hold in the end.
//!
//! ```
//! use ludex_scsp::*;
//! // Order stock before the demand is known, twice; what is left over is kept.
//! let mut network = StochasticNetwork::new();
//! let mut stock = Vec::new();
//! for month in 0..2 {
//!     network.stage();
//!     let order = network.decision(format!("order[{month}]"), 0..=3);
//!     let demand = network.chance(format!("demand[{month}]"), 0..=2, Distribution::Uniform);
//!     stock.push((order, demand));
//! }
//! let [(order, demand), (second_order, second_demand)] = stock[..] else { unreachable!() };
//! network.require((order - demand).at_least(0));
//! network.require((order - demand + second_order - second_demand).equals(0));
//! let report = solve(&network, &SolveConfig::best())?;
//! assert_eq!(format!("{:.4}", report.value), "0.3333");
//! let policy = report.policy.unwrap();
//! assert_eq!(evaluate_policy(&network, &policy)?.satisfaction, rational(1, 3));
//! # Ok::<(), ScspError>(())
//! ```
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. `network`: the network and its builder; `distribution`: the distributions of chance
//!    variables; `check`: validation
//! 2. `memory`: the values of subproblems; `policy`: policies as graphs; `evaluate`: their
//!    satisfaction, computed directly
//! 3. `config`: options and reports; `number`: the arithmetic of probabilities; `filter`: the
//!    remaining values; `search`: stochastic backtracking and forward checking
//! 4. `frontier`: several thresholds at once; `consistency`: stochastic arc consistency; `solve`:
//!    the entry point
//! 5. `scenarios`: everything in one ordinary network, for a second opinion; `one_stage`: hard part
//!    and chance part solved separately

mod check;
mod config;
mod consistency;
mod distribution;
mod error;
mod evaluate;
mod filter;
mod frontier;
mod memory;
mod network;
mod number;
mod one_stage;
mod policy;
mod scenarios;
mod search;
mod solve;

pub use config::{Aim, Arithmetic, Method, Report, SolveConfig, Statistics};
pub use consistency::{StochasticDomains, arc_consistency};
pub use distribution::Distribution;
pub use error::{Part, ScspError};
pub use evaluate::{Evaluation, best_by_definition, evaluate_policy, evaluate_policy_by};
pub use network::{
    Rational, StochasticConstraint, StochasticNetwork, StochasticVariable, parse_probability,
    rational,
};
pub use one_stage::{OneStage, solve_one_stage};
pub use policy::{Policy, PolicyId, PolicyNode};
pub use scenarios::{Expansion, ExpansionReport, expand_scenarios, expand_scenarios_by};
pub use solve::solve;

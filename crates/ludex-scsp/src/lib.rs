//! Stochastic constraint networks: decisions, chance, and how likely the constraints hold.
//!
//! State a [`StochasticNetwork`], [`solve`] it, read the [`Report`].
//! Variables are decided or drawn in stages. A policy says what to decide after everything
//! drawn so far; its satisfaction is the probability that all constraints hold in the end.
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
//! 1. `network`: what a modeler states; `distribution`: how a variable is drawn; `check`:
//!    whether it means something
//! 2. `memory`: what is known of equal rests of plays; `policy`: what to decide when;
//!    `evaluate`: its satisfaction, from the definition alone
//! 3. `config`: options and reports; `number`: what probabilities are computed in; `filter`:
//!    which values are left; `search`: stochastic backtracking and forward checking
//! 4. `frontier`: several thresholds at once; `consistency`: stochastic arc consistency;
//!    `solve`: the entry
//! 5. `scenarios`: everything in one ordinary network, for a second opinion; `one_stage`: hard
//!    part and chance part apart

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

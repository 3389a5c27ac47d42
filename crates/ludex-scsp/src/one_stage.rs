//! Solves one stage in two parts: the hard part, without chance, as an ordinary network, and the
//! chance part by stochastic forward checking. A constraint that decisions are feasible joins them.

use std::sync::Arc;

use ludex_base::{Deadline, StopReason};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Goal, Network, SearchConfig, Value, VarId, solve};
use num_traits::Zero;

use crate::config::SolveConfig;
use crate::error::{ScspError, Stop};
use crate::network::StochasticNetwork;
use crate::search::feasible_tuples;

/// All solutions of a network of one stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneStage {
    /// The decisions that the chance part mentions.
    pub scope: Vec<VarId>,
    /// The feasible tuples of these, for which the chance part holds with the required probability.
    pub feasible: Vec<Vec<Value>>,
    /// The solutions: values of all decisions, in order.
    pub solutions: Vec<Vec<Value>>,
    /// The reason why solutions may be missing.
    pub stopped: Option<StopReason>,
}

/// Finds the decisions that satisfy the hard constraints, and the others with the required
/// probability; at most `limit` of them.
///
/// # Errors
/// Returns an error if the network is invalid or has more than one stage.
pub fn solve_one_stage(
    network: &StochasticNetwork,
    limit: u64,
    deadline: &Deadline,
) -> Result<OneStage, ScspError> {
    if let Some(error) = network.check_by(deadline).into_iter().next() {
        return Err(error);
    }
    let reason = match network {
        _ if network.n_stages() > 1 => Some("it has several stages"),
        _ if network.has_own_thresholds() => Some("constraints have thresholds of their own"),
        _ => None,
    };
    if let Some(reason) = reason {
        let reason = reason.to_string();
        return Err(ScspError::Option { option: "the two-part method", reason });
    }
    let is_chance =
        |constraint: &Constraint| constraint.scope().iter().any(|&x| network.is_chance(x));
    let (chance, hard): (Vec<&Constraint>, Vec<&Constraint>) =
        network.constraints().iter().map(|c| &c.constraint).partition(|c| is_chance(c));
    let mut scope: Vec<VarId> = chance.iter().flat_map(|constraint| constraint.scope()).collect();
    // Draws may depend on decisions that no constraint mentions.
    let drawn: Vec<VarId> = network.ids().filter(|&x| network.is_chance(x)).collect();
    for &x in &drawn {
        let distribution = network.variable(x).distribution.as_ref();
        scope.extend(distribution.into_iter().flat_map(|distribution| distribution.parents(x)));
    }
    scope.retain(|&x| !network.is_chance(x));
    scope.sort_unstable();
    scope.dedup();
    let stop = |reason| OneStage {
        scope: scope.clone(),
        feasible: Vec::new(),
        solutions: Vec::new(),
        stopped: Some(reason),
    };
    let variables: Vec<VarId> = {
        let mut variables = [&scope[..], &drawn[..]].concat();
        variables.sort_unstable();
        variables
    };
    // With threshold 0 the chance part may fail.
    let asked = if network.threshold().is_zero() { &[][..] } else { &chance };
    let part = network.part(&variables, asked);
    let config = SolveConfig { deadline: deadline.clone(), ..SolveConfig::default() };
    let feasible = match feasible_tuples(&part, &config) {
        Ok(feasible) => feasible,
        Err(Stop::Error(error)) => return Err(error),
        Err(Stop::Limit(reason)) => return Ok(stop(reason)),
    };

    let mut plain = Network::new();
    let decided: Vec<VarId> = network.ids().filter(|&x| !network.is_chance(x)).collect();
    let numbered = |x: VarId| VarId::new(decided.binary_search(&x).expect("a decision"));
    for &x in &decided {
        plain.int(network.name(x), network.domain(x).clone());
    }
    for constraint in hard {
        plain.add(constraint.renamed(&numbered, &|x| numbered(x).into()));
    }
    match scope.is_empty() {
        // Without decisions the chance part holds with the required probability, or not.
        true if feasible.is_empty() => {
            return Ok(OneStage { scope, feasible, solutions: Vec::new(), stopped: None });
        }
        true => {}
        false => {
            let table = Arc::new(Table::from_tuples(scope.len(), &feasible));
            let scope: Vec<VarId> = scope.iter().map(|&x| numbered(x)).collect();
            plain.add(Constraint::Table { scope, table, is_positive: true });
        }
    }
    let config = SearchConfig {
        goal: Goal::First(limit),
        deadline: deadline.clone(),
        ..SearchConfig::default()
    };
    let report = solve(&plain, &config)?;
    let mut solutions = report.solutions;
    solutions.sort_unstable();
    Ok(OneStage { scope, feasible, solutions, stopped: report.stopped })
}

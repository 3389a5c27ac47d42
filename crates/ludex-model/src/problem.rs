//! What a text or a file states: one of three kinds of problems.

use ludex_csp::{Expr, Network};
use ludex_qcsp::{Measure, Model, Quantifier};
use ludex_scsp::StochasticNetwork;

use crate::draft::Draft;

/// A problem for one of the solvers.
///
/// Who sets the variables decides the kind, and with it the solver: nobody else in a plain
/// problem ([`ludex_csp::solve`]), an opponent in a quantified one ([`ludex_qcsp::solve`]), chance
/// in a stochastic one ([`ludex_scsp::solve`]). A text of the language has scopes in order, so it
/// is quantified (all of its scopes may be existential) or stochastic; plain problems come from
/// files, and from [`Problem::into_network`].
#[derive(Clone)]
pub enum Problem {
    /// Variables, constraints and perhaps an objective.
    Plain(Network),
    /// Scopes of two players.
    Quantified(Model),
    /// Decisions and chance, in stages.
    Stochastic(StochasticNetwork),
}

impl Problem {
    /// What kind it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Plain(_) => "plain",
            Problem::Quantified(_) => "quantified",
            Problem::Stochastic(_) => "stochastic",
        }
    }

    /// The problem as a plain network: a quantified one can be that when its scopes are all
    /// existential and at most one of them has a criterion.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn into_network(self) -> Result<Network, &'static str> {
        match self {
            Problem::Plain(network) => Ok(network),
            Problem::Quantified(model) => to_network(&model)
                .ok_or("it has scopes of an opponent (`forall`), aggregates, or several criteria"),
            Problem::Stochastic(_) => Err("it has chance"),
        }
    }

    /// The problem as a stochastic network: a quantified one can be that when its scopes are all
    /// existential and none has a criterion. Then nothing is drawn.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn into_stochastic(self) -> Result<StochasticNetwork, String> {
        match self {
            Problem::Plain(_) => Err("it has no stages".into()),
            Problem::Quantified(model) => {
                Draft::from(&model).stochastic().map_err(|refused| refused.reason)
            }
            Problem::Stochastic(network) => Ok(network),
        }
    }
}

/// A model without universal scopes and with at most one criterion as a network.
pub(crate) fn to_network(model: &Model) -> Option<Network> {
    let is_existential = model.scopes().iter().all(|scope| scope.quantifier == Quantifier::Exists);
    let criteria: Vec<_> = model.scopes().iter().filter_map(|scope| scope.criterion).collect();
    if !is_existential || criteria.len() > 1 || !model.aggregates().is_empty() {
        return None;
    }
    let mut network = Network::new();
    for variable in model.variables() {
        let x = network.int(variable.variable.name.clone(), variable.variable.domain.clone());
        if let Some(definition) = &variable.definition {
            network.require(Expr::Var(x).equals(definition.clone()));
        }
    }
    let restrictors = model.scopes().iter().flat_map(|scope| &scope.restrictor);
    for constraint in restrictors.chain(model.goal_constraints()) {
        network.add(constraint.clone());
    }
    if let Some(criterion) = criteria.first()
        && let Measure::Variable(x) = criterion.measure
    {
        if criterion.is_minimized { network.minimize(x) } else { network.maximize(x) }
    }
    Some(network)
}

//! The problem that a text or a file states, of one of three kinds.

use ludex_csp::{Expr, Network};
use ludex_qcsp::{Measure, Model, Quantifier};
use ludex_scsp::StochasticNetwork;

use crate::draft::Draft;

/// A problem for one of the solvers.
///
/// The kind decides the solver and depends on who sets the variables: only the solver in a
/// plain problem ([`ludex_csp::solve`]), also an opponent in a quantified one
/// ([`ludex_qcsp::solve`]), also chance in a stochastic one ([`ludex_scsp::solve`]). A text of
/// the language has scopes in order, so it is quantified (all of its scopes may be existential)
/// or stochastic. Plain problems come from files, and from [`Problem::into_network`].
#[derive(Clone)]
pub enum Problem {
    /// Variables, constraints and an optional objective.
    Plain(Network),
    /// Scopes of two players.
    Quantified(Model),
    /// Decisions and chance, in stages.
    Stochastic(StochasticNetwork),
}

impl Problem {
    /// Returns the name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Plain(_) => "plain",
            Problem::Quantified(_) => "quantified",
            Problem::Stochastic(_) => "stochastic",
        }
    }

    /// Converts the problem to a plain network. A quantified problem can be converted when all
    /// its scopes are existential and at most one of them has a criterion.
    ///
    /// # Errors
    /// Returns the reason when the problem can't be converted.
    pub fn into_network(self) -> Result<Network, &'static str> {
        match self {
            Problem::Plain(network) => Ok(network),
            Problem::Quantified(model) => to_network(&model)
                .ok_or("it has scopes of an opponent (`forall`), aggregates, or several criteria"),
            Problem::Stochastic(_) => Err("it has chance"),
        }
    }

    /// Converts the problem to a stochastic network. A quantified problem can be converted when
    /// all its scopes are existential and none has a criterion; the network then has no random
    /// variables.
    ///
    /// # Errors
    /// Returns the reason when the problem can't be converted.
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

/// Turns a model without universal scopes and with at most one criterion into a network.
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

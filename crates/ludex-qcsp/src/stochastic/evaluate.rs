//! What policies are worth, from the definition alone: the slow twin of the searches.

use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};

use super::error::StochasticError;
use super::network::{Rational, StochasticNetwork};
use super::policy::{Policy, PolicyId, PolicyNode};

/// What a policy is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The probability that the constraints without a threshold of their own all hold.
    pub satisfaction: Rational,
    /// The expected utility; equal to the satisfaction when the network has no utility.
    pub utility: Rational,
    /// By constraint, the probability that it holds. What is given up counts as not holding.
    pub by_constraint: Vec<Rational>,
}

impl Evaluation {
    /// Whether every threshold of a network is reached.
    pub fn reaches_thresholds(&self, network: &StochasticNetwork) -> bool {
        let own = network.constraints().iter().zip(&self.by_constraint);
        self.satisfaction >= *network.threshold()
            && own.into_iter().all(|(constraint, probability)| {
                constraint.threshold.as_ref().is_none_or(|threshold| probability >= threshold)
            })
    }

    fn nothing(network: &StochasticNetwork) -> Self {
        Self {
            satisfaction: Rational::zero(),
            utility: Rational::zero(),
            by_constraint: vec![Rational::zero(); network.constraints().len()],
        }
    }

    fn add(&mut self, weight: &Rational, other: &Self) {
        self.satisfaction += weight * &other.satisfaction;
        self.utility += weight * &other.utility;
        for (sum, probability) in self.by_constraint.iter_mut().zip(&other.by_constraint) {
            *sum += weight * probability;
        }
    }
}

/// What a policy is worth: every play is followed and every constraint asked. Exact, and
/// nothing of the search is used.
///
/// # Errors
/// When the policy does not fit the network.
pub fn evaluate_policy(
    network: &StochasticNetwork,
    policy: &Policy,
) -> Result<Evaluation, StochasticError> {
    let mut values = vec![None; network.variables().len()];
    follow(network, policy, policy.root, &mut values)
}

fn follow(
    network: &StochasticNetwork,
    policy: &Policy,
    id: PolicyId,
    values: &mut [Option<Value>],
) -> Result<Evaluation, StochasticError> {
    let misfit = |problem: String| Err(StochasticError::Policy { problem });
    let open = values.iter().position(Option::is_none).map(VarId::new);
    let node = policy.nodes.get(id.index());
    match (node, open) {
        (None, _) => misfit(format!("node {} does not exist", id.index())),
        (Some(PolicyNode::GivenUp), _) => Ok(Evaluation::nothing(network)),
        (Some(PolicyNode::End), None) => {
            let values: Vec<Value> = values.iter().flatten().copied().collect();
            Ok(at_the_end(network, &values))
        }
        (Some(PolicyNode::End), Some(x)) => {
            misfit(format!("it ends before `{}` has a value", network.name(x)))
        }
        (Some(_), None) => misfit("it goes on when every variable has a value".to_string()),
        (Some(PolicyNode::Decide { variable, value, next }), Some(x)) => {
            let x_stage = network.variable(x).stage;
            let is_now = values.get(variable.index()).is_some_and(Option::is_none)
                && !network.is_chance(x)
                && !network.is_chance(*variable)
                && network.variable(*variable).stage == x_stage;
            if !is_now {
                return misfit(format!(
                    "it decides another variable where `{}` is due",
                    network.name(x)
                ));
            }
            if !network.domain(*variable).contains(*value) {
                return misfit(format!("`{}` can't be {value}", network.name(*variable)));
            }
            values[variable.index()] = Some(*value);
            let below = follow(network, policy, *next, values);
            values[variable.index()] = None;
            below
        }
        (Some(PolicyNode::Draw { variable, branches }), Some(x)) => {
            if *variable != x || !network.is_chance(x) {
                return misfit(format!(
                    "it draws another variable where `{}` is due",
                    network.name(x)
                ));
            }
            let known = |y: VarId| values[y.index()].expect("earlier variables have values");
            let mut total = Evaluation::nothing(network);
            for (value, p) in network.outcomes(x, &known) {
                let Some((_, next)) = branches.iter().find(|(of, _)| *of == value) else {
                    continue;
                };
                values[x.index()] = Some(value);
                let below = follow(network, policy, *next, values);
                values[x.index()] = None;
                total.add(&p, &below?);
            }
            Ok(total)
        }
    }
}

fn at_the_end(network: &StochasticNetwork, values: &[Value]) -> Evaluation {
    let value_of = |x: VarId| i64::from(values[x.index()]);
    let mut is_satisfied = true;
    let mut by_constraint = Vec::new();
    for constraint in network.constraints() {
        let holds = constraint.constraint.holds(&value_of);
        is_satisfied &= holds || constraint.threshold.is_some();
        by_constraint.push(if holds { Rational::one() } else { Rational::zero() });
    }
    let utility = network.utility().map_or(Some(1), |utility| utility.eval(&value_of));
    let satisfaction = if is_satisfied { Rational::one() } else { Rational::zero() };
    let utility = Rational::from_integer(utility.unwrap_or(0).max(0).into());
    Evaluation { utility: &satisfaction * utility, satisfaction, by_constraint }
}

/// The most that any policy is worth: its greatest expected utility, which is the greatest
/// satisfaction when the network has no utility. Every value of every variable is tried. For
/// small networks and tests; thresholds of constraints are not looked at.
pub fn best_by_definition(network: &StochasticNetwork) -> Rational {
    fn best(network: &StochasticNetwork, values: &mut Vec<Value>) -> Rational {
        let x = VarId::new(values.len());
        if x.index() == network.variables().len() {
            return at_the_end(network, values).utility;
        }
        let mut result = Rational::zero();
        if network.is_chance(x) {
            for (value, p) in network.outcomes(x, &|y| values[y.index()]) {
                values.push(value);
                result += p * best(network, values);
                values.pop();
            }
        } else {
            for value in network.domain(x).iter() {
                values.push(value);
                result = result.max(best(network, values));
                values.pop();
            }
        }
        result
    }
    best(network, &mut Vec::new())
}

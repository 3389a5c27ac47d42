//! The value of policies, computed directly from the definition: the slow reference for the
//! searches.

use ludex_base::{Deadline, StopReason};
use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use crate::error::{ScspError, Stop};
use crate::memory::{Asked, Memory};
use crate::network::{Rational, StochasticNetwork};
use crate::policy::{Policy, PolicyId, PolicyNode};

/// The value of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The probability that all constraints without a threshold of their own hold.
    pub satisfaction: Rational,
    /// The expected utility, which equals the satisfaction if the network has no utility.
    pub utility: Rational,
    /// The probability that each constraint holds. In parts that the policy gives up, none holds.
    pub by_constraint: Vec<Rational>,
}

impl Evaluation {
    /// Whether the policy reaches every threshold of a network.
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

/// Computes the exact value of a policy by following every play and checking every constraint.
///
/// It shares no code with the searches, except the memory for parts of the graph that are reached
/// with the same numbers.
///
/// # Errors
/// Returns an error if the policy does not fit the network.
pub fn evaluate_policy(
    network: &StochasticNetwork,
    policy: &Policy,
) -> Result<Evaluation, ScspError> {
    let evaluation = evaluate_policy_by(network, policy, &Deadline::never())?;
    Ok(evaluation.expect("there is no deadline"))
}

/// As [`evaluate_policy`], or `None` if the deadline was reached.
///
/// # Errors
/// Returns an error if the policy does not fit the network.
pub fn evaluate_policy_by(
    network: &StochasticNetwork,
    policy: &Policy,
    deadline: &Deadline,
) -> Result<Option<Evaluation>, ScspError> {
    for (i, node) in policy.nodes.iter().enumerate() {
        let is_later = |next: &PolicyId| next.index() >= i;
        let is_wrong = match node {
            PolicyNode::End | PolicyNode::GivenUp => false,
            PolicyNode::Decide { next, .. } => is_later(next),
            PolicyNode::Draw { branches, .. } => branches.iter().any(|(_, next)| is_later(next)),
        };
        if is_wrong {
            return misfit(format!("node {i} leads to a node that does not come before it"));
        }
    }
    let mut evaluator = Evaluator {
        network,
        policy,
        deadline,
        n_steps: 0,
        values: vec![None; network.variables().len()],
        memory: Memory::new(network, network.utility().is_some(), Asked::AtTheEnd, MAX_BYTES),
    };
    match network.on_deep_stack(|| evaluator.follow(policy.root)) {
        Ok(evaluation) => Ok(Some(evaluation)),
        Err(Stop::Limit(_)) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The maximal size of the memory for parts of a policy.
const MAX_BYTES: usize = 256 << 20;

fn misfit<T, E: From<ScspError>>(problem: String) -> Result<T, E> {
    Err(ScspError::Policy { problem }.into())
}

struct Evaluator<'a> {
    network: &'a StochasticNetwork,
    policy: &'a Policy,
    deadline: &'a Deadline,
    n_steps: u64,
    values: Vec<Option<Value>>,
    /// The values of parts by the numbers that decide them, one of which is the node.
    memory: Memory<Evaluation>,
}

impl Evaluator<'_> {
    fn follow(&mut self, id: PolicyId) -> Result<Evaluation, Stop> {
        self.n_steps += 1;
        if self.n_steps.is_multiple_of(1024) && self.deadline.reached() {
            return Err(Stop::Limit(StopReason::of_deadline()));
        }
        let network = self.network;
        let open = self.values.iter().position(Option::is_none).map(VarId::new);
        let Some(node) = self.policy.nodes.get(id.index()) else {
            return misfit(format!("node {} does not exist", id.index()));
        };
        match (node, open) {
            (PolicyNode::GivenUp, _) => Ok(Evaluation::nothing(network)),
            (PolicyNode::End, None) => {
                let values: Vec<Value> = self.values.iter().flatten().copied().collect();
                Ok(at_the_end(network, &values))
            }
            (PolicyNode::End, Some(x)) => {
                misfit(format!("it ends before `{}` has a value", network.name(x)))
            }
            (_, None) => misfit("it continues after every variable has a value".to_string()),
            (PolicyNode::Decide { variable, value, next }, Some(x)) => {
                let (variable, value, next) = (*variable, *value, *next);
                let is_now = self.values.get(variable.index()).is_some_and(Option::is_none)
                    && !network.is_chance(x)
                    && !network.is_chance(variable)
                    && network.variable(variable).stage == network.variable(x).stage;
                if !is_now {
                    let name = network.name(x);
                    return misfit(format!("it decides another variable instead of `{name}`"));
                }
                if !network.domain(variable).contains(value) {
                    return misfit(format!("`{}` can't be {value}", network.name(variable)));
                }
                self.values[variable.index()] = Some(value);
                let below = self.follow(next);
                self.values[variable.index()] = None;
                below
            }
            (PolicyNode::Draw { variable, branches }, Some(x)) => {
                if *variable != x || !network.is_chance(x) {
                    let name = network.name(x);
                    return misfit(format!("it draws another variable instead of `{name}`"));
                }
                let known: Vec<Value> =
                    self.values.iter().map(|value| value.unwrap_or(0)).collect();
                let mut rest = self.memory.rest(x.index(), &known);
                if let Some((_, numbers)) = &mut rest {
                    *numbers = [&numbers[..], &[id.index() as i64]].concat().into();
                }
                if let Some(known) = rest.as_ref().and_then(|rest| self.memory.get(rest)) {
                    return Ok(known.clone());
                }
                let outcomes = network.outcomes(x, &|y| known[y.index()]);
                if outcomes.is_empty() {
                    return Err(network.undrawable(x, &|y| known[y.index()], None).into());
                }
                let by_value: FxHashMap<Value, PolicyId> = branches.iter().copied().collect();
                let mut total = Evaluation::nothing(network);
                for (value, p) in outcomes {
                    let Some(&next) = by_value.get(&value) else { continue };
                    self.values[x.index()] = Some(value);
                    let below = self.follow(next);
                    self.values[x.index()] = None;
                    total.add(&p, &below?);
                }
                if let Some(rest) = rest {
                    let n_bytes = 160 * (2 + total.by_constraint.len());
                    self.memory.put(rest, total.clone(), n_bytes, 0);
                }
                Ok(total)
            }
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

/// Returns the greatest value of any policy: its expected utility, or its satisfaction if the
/// network has no utility.
///
/// Tries every value of every variable and ignores thresholds, so it suits only small networks and
/// tests.
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

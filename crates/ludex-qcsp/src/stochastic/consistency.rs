//! Stochastic arc consistency, after Balafoutis and Stergiou.
//!
//! A constraint is looked at with the variables it mentions, and those their distributions
//! depend on, in their order. A value of a decision stays if some policy that uses it somewhere
//! satisfies the constraint as likely as is asked; a value that is drawn stays if some tuple
//! with it is allowed, else its mass is lost.

use ludex_base::Deadline;
use ludex_csp::{Constraint, Value, ValueSet, VarId};
use num_traits::{One, Zero};

use super::error::StochasticError;
use super::network::{Rational, StochasticNetwork};

/// A constraint with more tuples than this is not looked at, nor removes a value.
const MAX_TUPLES: u64 = 100_000;

/// Domains after stochastic arc consistency.
#[derive(Clone, Debug)]
pub struct StochasticDomains {
    /// By variable, the values that are left. Those of a chance variable that are gone will
    /// not satisfy; they are drawn as before.
    pub domains: Vec<ValueSet>,
    /// Whether the thresholds can't be reached.
    pub is_inconsistent: bool,
    /// How many values of decisions were removed.
    pub n_removed: u64,
    /// How many constraints had too many tuples to be looked at.
    pub n_skipped: usize,
}

/// Removes values that no policy can use which satisfies every single constraint as likely as
/// is asked. Where it stops early it has removed less.
///
/// # Errors
/// When the network means nothing.
pub fn stochastic_arc_consistency(
    network: &StochasticNetwork,
    deadline: &Deadline,
) -> Result<StochasticDomains, StochasticError> {
    if let Some(error) = network.check().into_iter().next() {
        return Err(error);
    }
    let mut result = StochasticDomains {
        domains: network.ids().map(|x| network.domain(x).clone()).collect(),
        is_inconsistent: false,
        n_removed: 0,
        n_skipped: 0,
    };
    let prefixes: Vec<Vec<VarId>> = network
        .constraints()
        .iter()
        .map(|constraint| with_parents(network, constraint.constraint.scope()))
        .collect();
    loop {
        let mut changes = false;
        result.n_skipped = 0;
        for (constraint, prefix) in network.constraints().iter().zip(&prefixes) {
            let n_tuples = prefix
                .iter()
                .try_fold(1_u64, |n, x| n.checked_mul(result.domains[x.index()].len().max(1)));
            if n_tuples.is_none_or(|n| n > MAX_TUPLES) {
                result.n_skipped += 1;
                continue;
            }
            let threshold = constraint.threshold.as_ref().unwrap_or(network.threshold());
            for &x in prefix {
                if deadline.reached() {
                    return Ok(result);
                }
                changes |=
                    revise(network, &constraint.constraint, prefix, threshold, x, &mut result);
            }
        }
        result.is_inconsistent =
            network.ids().any(|x| !network.is_chance(x) && result.domains[x.index()].is_empty())
                || !keeps_mass(network, &result.domains);
        if !changes || result.is_inconsistent {
            return Ok(result);
        }
    }
}

/// Variables with those that their distributions depend on, in order.
fn with_parents(network: &StochasticNetwork, mut variables: Vec<VarId>) -> Vec<VarId> {
    let mut at = 0;
    while at < variables.len() {
        let x = variables[at];
        if let Some(distribution) = &network.variable(x).distribution {
            for parent in distribution.parents(x) {
                if !variables.contains(&parent) {
                    variables.push(parent);
                }
            }
        }
        at += 1;
    }
    variables.sort_unstable();
    variables
}

/// Removes values of one variable that a constraint can't have; says whether there were any.
fn revise(
    network: &StochasticNetwork,
    constraint: &Constraint,
    prefix: &[VarId],
    threshold: &Rational,
    x: VarId,
    result: &mut StochasticDomains,
) -> bool {
    let is_chance = network.is_chance(x);
    // A value that fails one constraint is lost for all that hold together, but not for those
    // with thresholds of their own.
    if is_chance && network.has_own_thresholds() {
        return false;
    }
    let before = result.domains[x.index()].clone();
    let kept = before.filter(|value| {
        let mut single = Single {
            network,
            constraint,
            prefix,
            domains: &result.domains,
            values: vec![0; network.variables().len()],
            wanted: (x, value),
        };
        let worth = single.best(0);
        let with = worth.1.unwrap_or_else(Rational::zero);
        // A drawn value is kept by one tuple, a decision only by what a policy reaches.
        if is_chance { with > Rational::zero() } else { with >= *threshold }
    });
    if kept == before {
        return false;
    }
    if !is_chance {
        result.n_removed += before.len() - kept.len();
    }
    result.domains[x.index()] = kept;
    true
}

/// Whether the joint constraints can still hold as likely as is asked, by the mass that the
/// chance variables without conditions have left.
fn keeps_mass(network: &StochasticNetwork, domains: &[ValueSet]) -> bool {
    // Own thresholds have their own masses, which the policies of single constraints bound.
    if network.has_own_thresholds() {
        return true;
    }
    let mut mass = Rational::one();
    for x in network.ids() {
        let Some(distribution) = &network.variable(x).distribution else { continue };
        if distribution.parents(x).is_empty() {
            let outcomes = network.outcomes(x, &|_| 0);
            let left =
                outcomes.into_iter().filter(|(value, _)| domains[x.index()].contains(*value));
            mass *= left.fold(Rational::zero(), |sum, (_, p)| sum + p);
        }
    }
    mass >= *network.threshold()
}

/// A network of one constraint.
struct Single<'a> {
    network: &'a StochasticNetwork,
    constraint: &'a Constraint,
    prefix: &'a [VarId],
    domains: &'a [ValueSet],
    values: Vec<Value>,
    /// The value that a policy has to use somewhere.
    wanted: (VarId, Value),
}

impl Single<'_> {
    /// The greatest satisfaction from a place of the prefix on, of any policy and of those that
    /// use the wanted value somewhere.
    fn best(&mut self, at: usize) -> (Rational, Option<Rational>) {
        let Some(&x) = self.prefix.get(at) else {
            let holds = self.constraint.holds(&|y: VarId| i64::from(self.values[y.index()]));
            return (if holds { Rational::one() } else { Rational::zero() }, None);
        };
        let wanted = self.wanted;
        let uses = |value: Value| wanted == (x, value);
        if self.network.is_chance(x) {
            let outcomes = self.network.outcomes(x, &|y| self.values[y.index()]);
            let mut total = Rational::zero();
            // The most that one branch gains, or the least that it loses, by using the value.
            let mut change: Option<Rational> = None;
            for (value, p) in outcomes {
                if !self.domains[x.index()].contains(value) {
                    continue;
                }
                let is_wanted = uses(value);
                self.values[x.index()] = value;
                let (any, with) = self.best(at + 1);
                total += &p * &any;
                // To use a drawn value is to satisfy with it.
                let with =
                    if is_wanted && any > Rational::zero() { Some(any.clone()) } else { with };
                if let Some(with) = with {
                    let here = p * (with - any);
                    change = Some(change.map_or(here.clone(), |change| change.max(here)));
                }
            }
            let with = change.map(|change| &total + change);
            return (total, with);
        }
        let mut best = Rational::zero();
        let mut best_with: Option<Rational> = None;
        for value in self.domains[x.index()].iter() {
            let is_wanted = uses(value);
            self.values[x.index()] = value;
            let (any, with) = self.best(at + 1);
            let with = if is_wanted { Some(any.clone()) } else { with };
            if let Some(with) = with {
                best_with = Some(best_with.map_or(with.clone(), |best| best.max(with)));
            }
            best = best.max(any);
        }
        (best, best_with)
    }
}

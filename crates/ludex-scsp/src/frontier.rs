//! Search for several numbers at once: thresholds of single constraints besides that of the
//! network, or a utility besides a threshold.
//!
//! A policy is a vector: the probability of the joint constraints, those of the constraints with
//! thresholds of their own, and the utility. A node keeps the policies that no other policy there
//! dominates.

use std::cmp::Ordering;
use std::iter;

use ludex_base::StopReason;
use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};

use crate::config::{SolveConfig, Statistics};
use crate::error::{ScspError, Stop};
use crate::memory::{Asked, Memory};
use crate::network::{Rational, StochasticNetwork};
use crate::number::Number;
use crate::policy::{PolicyBuilder, PolicyId};
use crate::search::{Draw, Found, STEPS_PER_CHECK};

/// One of the numbers of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Measure {
    /// The probability that the joint constraints hold.
    Joint,
    /// The probability that a constraint with a threshold of its own holds.
    Own(usize),
    /// The expected utility.
    Utility,
}

/// The aim among the policies kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// A policy that reaches every threshold.
    Thresholds,
    /// The policy of greatest satisfaction among those that reach the thresholds of single
    /// constraints.
    Satisfaction,
    /// The policy of greatest utility among those that reach every threshold.
    Utility,
}

/// Searches for a policy. A threshold may be missed by the error of a probability.
pub(crate) fn search<N: Number>(
    network: &StochasticNetwork,
    config: &SolveConfig,
    wanted: Wanted,
    error: &N,
    statistics: &mut Statistics,
) -> Result<Found<N>, ScspError> {
    let wants_utility = wanted == Wanted::Utility;
    let measures = measures(network, wants_utility);
    // The threshold of each measure, if any.
    let thresholds: Vec<Option<&Rational>> = measures
        .iter()
        .map(|measure| match measure {
            Measure::Joint => Some(network.threshold()).filter(|_| wanted != Wanted::Satisfaction),
            Measure::Own(i) => network.constraints()[*i].threshold.as_ref(),
            Measure::Utility => None,
        })
        .collect();
    network.on_deep_stack(|| {
        let draws = match Draw::all(network, config) {
            Ok(draws) => draws,
            Err(Stop::Limit(reason)) => return Ok(Found::Stopped(reason, None)),
            Err(Stop::Error(error)) => return Err(error),
        };
        let max_bytes = if config.remembers { config.policy_bytes / 2 } else { 0 };
        let mut frontier = Frontier {
            network,
            config,
            is_sure: thresholds.iter().map(|t| t.is_some_and(One::is_one)).collect(),
            measures,
            draws,
            memory: Memory::new(network, wants_utility, Asked::Together, max_bytes),
            values: vec![0; network.variables().len()],
            policy: PolicyBuilder::new(),
            n_steps: STEPS_PER_CHECK,
            statistics,
        };
        let vectors = match frontier.node(0) {
            Ok(vectors) => vectors,
            Err(Stop::Limit(reason)) => return Ok(Found::Stopped(reason, None)),
            Err(Stop::Error(error)) => return Err(error),
        };
        let least: Vec<Option<N>> =
            thresholds.iter().map(|t| t.map(|t| N::of(t) - error.clone())).collect();
        let reaches = |(vector, _): &(Vec<N>, PolicyId)| {
            let mut both = vector.iter().zip(&least);
            both.all(|(worth, least)| least.as_ref().is_none_or(|least| worth >= least))
        };
        // The value is the utility, which is last, or the satisfaction, which is first; without
        // joint constraints the satisfaction is 1.
        let value = |vector: &[N]| match (wants_utility, frontier.measures.first()) {
            (true, _) => vector[vector.len() - 1].clone(),
            (false, Some(Measure::Joint)) => vector[0].clone(),
            (false, _) => N::one(),
        };
        let best = vectors
            .into_iter()
            .filter(reaches)
            .max_by(|(a, _), (b, _)| value(a).partial_cmp(&value(b)).unwrap_or(Ordering::Equal));
        Ok(match best {
            Some((vector, root)) => Found::Policy(value(&vector), frontier.policy.finish(root)),
            None => Found::Nothing,
        })
    })
}

/// Returns the numbers in which policies differ. Thresholds of 0 are always reached, so they are
/// left out unless they are the value.
fn measures(network: &StochasticNetwork, wants_utility: bool) -> Vec<Measure> {
    let constraints = network.constraints();
    let has_joint = constraints.iter().any(|constraint| constraint.threshold.is_none());
    let counts = !wants_utility || !network.threshold().is_zero();
    let joint = (has_joint && counts).then_some(Measure::Joint);
    let is_asked = |i: &usize| constraints[*i].threshold.as_ref().is_some_and(|t| !t.is_zero());
    let own = (0..constraints.len()).filter(is_asked).map(Measure::Own);
    joint.into_iter().chain(own).chain(wants_utility.then_some(Measure::Utility)).collect()
}

struct Frontier<'a, N> {
    network: &'a StochasticNetwork,
    config: &'a SolveConfig,
    measures: Vec<Measure>,
    /// Whether the threshold of each measure is 1: then it is 1 or 0, no arithmetic is needed, and
    /// nothing is rounded.
    is_sure: Vec<bool>,
    draws: Vec<Draw<N>>,
    values: Vec<Value>,
    policy: PolicyBuilder,
    memory: Memory<Vectors<N>>,
    /// Steps since the deadline was last checked.
    n_steps: u64,
    statistics: &'a mut Statistics,
}

/// The policy after a drawn value.
struct Branch {
    value: Value,
    next: PolicyId,
    /// The branch of the previous value.
    before: Option<usize>,
}

type Vectors<N> = Vec<(Vec<N>, PolicyId)>;

impl<N: Number> Frontier<'_, N> {
    fn node(&mut self, at: usize) -> Result<Vectors<N>, Stop> {
        if at == self.network.variables().len() {
            self.count(1)?;
            return Ok(vec![(self.end(), PolicyBuilder::END)]);
        }
        let Some(rest) = self.memory.rest(at, &self.values) else { return self.vectors(at) };
        if let Some(known) = self.memory.get(&rest) {
            return Ok(known.clone());
        }
        let vectors = self.vectors(at)?;
        let n_bytes = vectors.len() * bytes_each::<N, PolicyId>(self.measures.len());
        self.memory.put(rest, vectors.clone(), n_bytes, self.policy.n_bytes());
        Ok(vectors)
    }

    /// Returns the policies from a variable on.
    fn vectors(&mut self, at: usize) -> Result<Vectors<N>, Stop> {
        self.count(1)?;
        let x = VarId::new(at);
        if !self.network.is_chance(x) {
            let mut all = Pruned::new(self.config);
            for value in self.network.domain(x).iter() {
                self.values[at] = value;
                for (vector, next) in self.node(at + 1)? {
                    all.push(vector, (value, next))?;
                }
            }
            let decided = all.finish()?.into_iter();
            let decided =
                decided.map(|(vector, (value, next))| (vector, self.policy.decide(x, value, next)));
            let decided = decided.collect();
            return self.within_memory(decided);
        }
        let outcomes = self.draws[at].outcomes(self.network, x, &self.values);
        if outcomes.is_empty() {
            return Err(self.network.undrawable(x, &|y| self.values[y.index()], None).into());
        }
        self.count(outcomes.len() as u64)?;
        let begin = |&is_sure: &bool| if is_sure { N::one() } else { N::zero() };
        // Each sum has the last of its branches, which links to the previous one.
        let mut branches: Vec<Branch> = Vec::new();
        let mut sums = vec![(self.is_sure.iter().map(begin).collect::<Vec<N>>(), None)];
        for (value, p) in outcomes {
            self.values[at] = value;
            let below = self.node(at + 1)?;
            let mut longer = Pruned::new(self.config);
            for (sum, last) in &sums {
                for (vector, next) in &below {
                    let numbers = sum.iter().zip(vector).zip(&self.is_sure);
                    let add = |((s, v), is_sure): ((&N, &N), &bool)| match is_sure {
                        true => s.clone() * v.clone(),
                        false => s.clone() + p.clone() * v.clone(),
                    };
                    longer.push(numbers.map(add).collect(), (*last, *next))?;
                }
            }
            sums.clear();
            for (sum, (before, next)) in longer.finish()? {
                sums.push((sum, Some(branches.len())));
                branches.push(Branch { value, next, before });
            }
            if branches.len() * size_of::<Branch>() > self.config.policy_bytes {
                return Err(Stop::Limit(StopReason::Memory));
            }
        }
        let mut draws = Vec::new();
        for (sum, last) in sums {
            let chain = iter::successors(last, |&i| branches[i].before).map(|i| &branches[i]);
            let mut taken: Vec<(Value, PolicyId)> =
                chain.map(|branch| (branch.value, branch.next)).collect();
            taken.sort_unstable_by_key(|(value, _)| *value);
            draws.push((sum, self.policy.draw(x, taken)));
        }
        self.within_memory(draws)
    }

    /// Counts a node, or the values drawn there.
    fn count(&mut self, n_steps: u64) -> Result<(), Stop> {
        self.statistics.n_nodes += 1;
        self.n_steps += n_steps;
        if self.statistics.n_nodes > self.config.max_nodes {
            return Err(Stop::Limit(StopReason::Count));
        }
        if self.n_steps >= STEPS_PER_CHECK {
            self.n_steps = 0;
            if self.config.deadline.reached() {
                return Err(Stop::Limit(StopReason::of_deadline()));
            }
        }
        Ok(())
    }

    fn within_memory(&self, vectors: Vectors<N>) -> Result<Vectors<N>, Stop> {
        if self.policy.n_bytes() > self.config.policy_bytes {
            Err(Stop::Limit(StopReason::Memory))
        } else {
            Ok(vectors)
        }
    }

    fn end(&self) -> Vec<N> {
        let value_of = |x: VarId| i64::from(self.values[x.index()]);
        let truth = |holds: bool| if holds { N::one() } else { N::zero() };
        let constraints = self.network.constraints();
        let mut joint = constraints.iter().filter(|constraint| constraint.threshold.is_none());
        let is_satisfied = joint.all(|constraint| constraint.constraint.holds(&value_of));
        let number = |measure: &Measure| match *measure {
            Measure::Joint => truth(is_satisfied),
            Measure::Own(i) => truth(constraints[i].constraint.holds(&value_of)),
            Measure::Utility => {
                let utility = self.network.utility().and_then(|utility| utility.eval(&value_of));
                let utility = Rational::from_integer(utility.unwrap_or(0).max(0).into());
                truth(is_satisfied) * N::of(&utility)
            }
        };
        self.measures.iter().map(number).collect()
    }
}

/// Estimates the size in bytes of a vector of `n_numbers` numbers.
fn bytes_each<N: Number, T>(n_numbers: usize) -> usize {
    size_of::<(Vec<N>, T)>() + n_numbers * N::BYTES
}

/// Vectors without dominated ones. They are compared whenever their number has doubled, so
/// dominated vectors never take much memory.
struct Pruned<'a, N, T> {
    config: &'a SolveConfig,
    all: Vec<(Vec<N>, T)>,
    /// The number of vectors at which they are compared again.
    n_next: usize,
}

impl<'a, N: Number, T> Pruned<'a, N, T> {
    fn new(config: &'a SolveConfig) -> Self {
        Self { config, all: Vec::new(), n_next: 256 }
    }

    fn push(&mut self, vector: Vec<N>, what: T) -> Result<(), Stop> {
        self.all.push((vector, what));
        if self.all.len() >= self.n_next {
            self.prune()?;
            self.n_next = 256.max(2 * self.all.len());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(Vec<N>, T)>, Stop> {
        self.prune()?;
        Ok(self.all)
    }

    fn prune(&mut self) -> Result<(), Stop> {
        let n_numbers = self.all.first().map_or(0, |(vector, _)| vector.len());
        if self.all.len() * bytes_each::<N, T>(n_numbers) > self.config.policy_bytes {
            return Err(Stop::Limit(StopReason::Memory));
        }
        if self.config.deadline.reached() {
            return Err(Stop::Limit(StopReason::of_deadline()));
        }
        self.all.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        let mut kept: Vec<(Vec<N>, T)> = Vec::new();
        let mut n_compared = 0;
        for (vector, what) in self.all.drain(..) {
            // With two numbers, the first one decreases from vector to vector and the second one
            // increases.
            let rivals = if n_numbers <= 2 { kept.len().saturating_sub(1) } else { 0 };
            let is_as_good =
                |(other, _): &(Vec<N>, T)| other.iter().zip(&vector).all(|(o, v)| o >= v);
            n_compared += kept.len() - rivals + 1;
            if n_compared > 1 << 16 {
                n_compared = 0;
                if self.config.deadline.reached() {
                    return Err(Stop::Limit(StopReason::of_deadline()));
                }
            }
            if !kept[rivals..].iter().any(is_as_good) {
                kept.push((vector, what));
            }
        }
        self.all = kept;
        Ok(())
    }
}

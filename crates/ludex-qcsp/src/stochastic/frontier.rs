//! Several numbers at once: thresholds of single constraints beside that of the whole, and a
//! utility beside a threshold.
//!
//! A policy is a vector: the probability that the joint constraints hold, those of the
//! constraints with thresholds of their own, and the utility. A node keeps the policies that no
//! other one there is at least as good as everywhere.

use std::cmp::Ordering;

use ludex_base::StopReason;
use ludex_csp::{Value, VarId};

use super::error::StochasticError;
use super::network::{Rational, StochasticNetwork};
use super::policy::{PolicyBuilder, PolicyId};
use super::search::{Draw, Found, nothing_to_draw, on_deep_stack};
use super::solve::{Number, StochasticConfig, StochasticStatistics, Stop};

/// A node keeps at most this many policies.
const MAX_POLICIES: usize = 10_000;

/// Looks for a policy that reaches every threshold, and among these for one of greatest utility
/// if that is wanted.
pub(super) fn search<N: Number>(
    network: &StochasticNetwork,
    config: &StochasticConfig,
    wants_utility: bool,
    error: &N,
    statistics: &mut StochasticStatistics,
) -> Result<Found<N>, StochasticError> {
    let own: Vec<usize> = (0..network.constraints().len())
        .filter(|&i| network.constraints()[i].threshold.is_some())
        .collect();
    let of = |threshold: &Rational| N::of(threshold) - error.clone();
    let mut thresholds = vec![of(network.threshold())];
    thresholds
        .extend(own.iter().filter_map(|&i| network.constraints()[i].threshold.as_ref()).map(of));
    on_deep_stack(network, || {
        let mut frontier = Frontier {
            network,
            config,
            wants_utility,
            own,
            draws: network.ids().map(|x| Draw::new(network, x)).collect(),
            values: vec![0; network.variables().len()],
            policy: PolicyBuilder::new(),
            statistics,
        };
        let vectors = match frontier.node(0) {
            Ok(vectors) => vectors,
            Err(Stop::Limit(reason)) => return Ok(Found::Stopped(reason)),
            Err(Stop::Error(error)) => return Err(error),
        };
        let reaches = |(vector, _): &(Vec<N>, PolicyId)| {
            vector.iter().zip(&thresholds).all(|(worth, threshold)| worth >= threshold)
        };
        // The value is the utility, which stands last, or the satisfaction, which stands first.
        let value = |vector: &[N]| vector[if wants_utility { vector.len() - 1 } else { 0 }].clone();
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

struct Frontier<'a, N> {
    network: &'a StochasticNetwork,
    config: &'a StochasticConfig,
    wants_utility: bool,
    /// The constraints with thresholds of their own.
    own: Vec<usize>,
    draws: Vec<Draw<N>>,
    values: Vec<Value>,
    policy: PolicyBuilder,
    statistics: &'a mut StochasticStatistics,
}

type Vectors<N> = Vec<(Vec<N>, PolicyId)>;

impl<N: Number> Frontier<'_, N> {
    fn node(&mut self, at: usize) -> Result<Vectors<N>, Stop> {
        self.statistics.n_nodes += 1;
        if self.statistics.n_nodes > self.config.max_nodes {
            return Err(Stop::Limit(StopReason::Count));
        }
        if self.statistics.n_nodes.is_multiple_of(1024) && self.config.deadline.reached() {
            return Err(Stop::Limit(StopReason::Time));
        }
        let x = VarId::new(at);
        if at == self.network.variables().len() {
            return Ok(vec![(self.end(), PolicyBuilder::END)]);
        }
        if !self.network.is_chance(x) {
            let mut all = Vec::new();
            for value in self.network.domain(x).iter() {
                self.values[at] = value;
                for (vector, next) in self.node(at + 1)? {
                    all.push((vector, self.policy.decide(x, value, next)));
                }
                all = self.undominated(all)?;
            }
            return Ok(all);
        }
        let outcomes = self.draws[at].outcomes(self.network, x, &self.values);
        if outcomes.is_empty() {
            return Err(nothing_to_draw(self.network, x).into());
        }
        let n_numbers = 1 + self.own.len() + usize::from(self.wants_utility);
        let mut sums = vec![(vec![N::zero(); n_numbers], Vec::<(Value, PolicyId)>::new())];
        for (value, p) in outcomes {
            self.values[at] = value;
            let below = self.node(at + 1)?;
            let mut longer = Vec::new();
            for (sum, branches) in &sums {
                for (vector, next) in &below {
                    let add = |(s, v): (&N, &N)| s.clone() + p.clone() * v.clone();
                    let sum: Vec<N> = sum.iter().zip(vector).map(add).collect();
                    let mut branches = branches.clone();
                    branches.push((value, *next));
                    longer.push((sum, branches));
                }
            }
            sums = self.undominated(longer)?;
        }
        let draws = sums.into_iter().map(|(sum, mut branches)| {
            branches.sort_unstable_by_key(|(value, _)| *value);
            (sum, self.policy.draw(x, branches))
        });
        Ok(draws.collect())
    }

    fn end(&self) -> Vec<N> {
        let value_of = |x: VarId| i64::from(self.values[x.index()]);
        let truth = |holds: bool| if holds { N::one() } else { N::zero() };
        let constraints = self.network.constraints();
        let mut joint = constraints.iter().filter(|constraint| constraint.threshold.is_none());
        let is_satisfied = joint.all(|constraint| constraint.constraint.holds(&value_of));
        let mut vector = vec![truth(is_satisfied)];
        vector.extend(self.own.iter().map(|&i| truth(constraints[i].constraint.holds(&value_of))));
        if let Some(utility) = self.network.utility().filter(|_| self.wants_utility) {
            let utility = utility.eval(&value_of).unwrap_or(0).max(0);
            let utility = N::of(&Rational::from_integer(utility.into()));
            vector.push(truth(is_satisfied) * utility);
        }
        vector
    }

    /// Leaves out what another is at least as good as everywhere.
    fn undominated<T>(&self, mut all: Vec<(Vec<N>, T)>) -> Result<Vec<(Vec<N>, T)>, Stop> {
        all.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        let mut kept: Vec<(Vec<N>, T)> = Vec::new();
        for (vector, what) in all {
            let is_worse =
                |(other, _): &(Vec<N>, T)| other.iter().zip(&vector).all(|(o, v)| o >= v);
            if !kept.iter().any(is_worse) {
                kept.push((vector, what));
            }
            if kept.len() > MAX_POLICIES {
                return Err(Stop::Error(StochasticError::Option {
                    option: "several thresholds",
                    reason: format!("more than {MAX_POLICIES} policies have to be weighed at once"),
                }));
            }
        }
        Ok(kept)
    }
}

//! Stochastic arc consistency, after Balafoutis and Stergiou.
//!
//! A constraint is checked together with its prefix: the variables it mentions, those their
//! distributions depend on, and every chance variable drawn before a decision among these, in their
//! order. A value of a decision is kept if some policy over the prefix uses it somewhere and
//! satisfies the constraint with the required probability. A value of a chance variable is kept if
//! some tuple with it is allowed; otherwise its probability mass is lost.
//!
//! The prefix includes the draws before its decisions, because a policy may use a value only after
//! a rare draw that the constraint does not mention, and lose almost nothing.

use ludex_base::Deadline;
use ludex_csp::{Constraint, Value, ValueSet, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashSet;

use crate::error::ScspError;
use crate::network::{Rational, StochasticNetwork};

/// Constraints whose prefix has more nodes than this are skipped.
const MAX_NODES: u64 = 200_000;

/// Domains after stochastic arc consistency.
#[derive(Clone, Debug)]
pub struct StochasticDomains {
    /// The remaining values by variable. The removed values of a chance variable cannot satisfy the
    /// constraints; they are still drawn.
    pub domains: Vec<ValueSet>,
    /// Whether the thresholds are unreachable.
    pub is_inconsistent: bool,
    /// Number of removed values of decisions.
    pub n_removed: u64,
    /// Number of constraints skipped because they have too many tuples.
    pub n_skipped: usize,
}

/// Removes the values that no policy can use if it satisfies every single constraint with the
/// required probability. If it stops at the deadline, it has removed fewer values.
///
/// # Errors
/// Returns an error if the network is invalid.
pub fn arc_consistency(
    network: &StochasticNetwork,
    deadline: &Deadline,
) -> Result<StochasticDomains, ScspError> {
    if let Some(error) = network.check_by(deadline).into_iter().next() {
        return Err(error);
    }
    Ok(network.on_deep_stack(|| remove(network, deadline)))
}

fn remove(network: &StochasticNetwork, deadline: &Deadline) -> StochasticDomains {
    let mut result = StochasticDomains {
        domains: network.ids().map(|x| network.domain(x).clone()).collect(),
        is_inconsistent: false,
        n_removed: 0,
        n_skipped: 0,
    };
    let prefixes: Vec<Vec<VarId>> = network
        .constraints()
        .iter()
        .map(|constraint| prefix(network, constraint.constraint.scope()))
        .collect();
    loop {
        let mut changes = false;
        result.n_skipped = 0;
        for (constraint, prefix) in network.constraints().iter().zip(&prefixes) {
            if n_nodes(prefix, &result.domains) > MAX_NODES {
                result.n_skipped += 1;
                continue;
            }
            let threshold = constraint.threshold.as_ref().unwrap_or(network.threshold());
            // Every policy reaches a threshold of 0.
            if threshold.is_zero() {
                continue;
            }
            let single = Single {
                network,
                constraint: &constraint.constraint,
                prefix,
                domains: &result.domains,
                deadline,
                values: vec![0; network.variables().len()],
                worths: Vec::new(),
                kept: prefix.iter().map(|_| FxHashSet::default()).collect(),
            };
            let kept = match single.kept(threshold) {
                Ok(kept) => kept,
                Err(Unkept::Late) => return result,
                Err(Unkept::OutOfReach) => {
                    result.is_inconsistent = true;
                    return result;
                }
            };
            for (&x, kept) in prefix.iter().zip(kept) {
                changes |= keep(network, x, &kept, &mut result);
            }
        }
        result.is_inconsistent =
            network.ids().any(|x| !network.is_chance(x) && result.domains[x.index()].is_empty())
                || !keeps_mass(network, &result.domains);
        if !changes || result.is_inconsistent {
            return result;
        }
    }
}

/// Adds to the variables those that their distributions depend on, and the chance variables drawn
/// before a decision among them, and returns all in order.
fn prefix(network: &StochasticNetwork, mut variables: Vec<VarId>) -> Vec<VarId> {
    let mut is_in: Vec<bool> = vec![false; network.variables().len()];
    let mut n_drawn_in = 0;
    while let Some(x) = variables.pop() {
        if std::mem::replace(&mut is_in[x.index()], true) {
            continue;
        }
        match &network.variable(x).distribution {
            Some(distribution) => variables.extend(distribution.parents(x)),
            None => {
                let drawn = (n_drawn_in..x.index()).map(VarId::new);
                variables.extend(drawn.filter(|&y| network.is_chance(y)));
                n_drawn_in = n_drawn_in.max(x.index());
            }
        }
    }
    network.ids().filter(|x| is_in[x.index()]).collect()
}

/// Returns the number of nodes of the tree of a prefix, saturating.
fn n_nodes(prefix: &[VarId], domains: &[ValueSet]) -> u64 {
    let mut n_paths = 1_u64;
    let mut n_nodes = 0_u64;
    for x in prefix {
        n_paths = n_paths.saturating_mul(domains[x.index()].len().max(1));
        n_nodes = n_nodes.saturating_add(n_paths);
    }
    n_nodes
}

/// Removes the values of a variable that a constraint does not keep, and returns whether there were
/// any.
fn keep(
    network: &StochasticNetwork,
    x: VarId,
    kept: &FxHashSet<Value>,
    result: &mut StochasticDomains,
) -> bool {
    let is_chance = network.is_chance(x);
    // A value that fails one constraint is lost for all joint constraints, but not for those with
    // thresholds of their own.
    if is_chance && network.has_own_thresholds() {
        return false;
    }
    let before = &result.domains[x.index()];
    let left = before.filter(|value| kept.contains(&value));
    let n_removed = before.len() - left.len();
    if !is_chance {
        result.n_removed += n_removed;
    }
    result.domains[x.index()] = left;
    n_removed > 0
}

/// Whether the joint constraints can still hold with the required probability, given the remaining
/// mass of the unconditional chance variables.
fn keeps_mass(network: &StochasticNetwork, domains: &[ValueSet]) -> bool {
    // Constraints with thresholds of their own have separate masses, which the policies of single
    // constraints bound.
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

/// A network of one constraint, as a tree over its prefix.
struct Single<'a> {
    network: &'a StochasticNetwork,
    constraint: &'a Constraint,
    prefix: &'a [VarId],
    domains: &'a [ValueSet],
    deadline: &'a Deadline,
    values: Vec<Value>,
    /// The greatest satisfaction from each node on, in the order of visits.
    worths: Vec<Rational>,
    /// The values kept, by place in the prefix.
    kept: Vec<FxHashSet<Value>>,
}

/// The reason why no kept values were computed.
enum Unkept {
    /// The deadline was reached.
    Late,
    /// No policy satisfies the constraint with the required probability.
    OutOfReach,
}

impl Single<'_> {
    /// Returns the values to keep, by place in the prefix.
    fn kept(mut self, threshold: &Rational) -> Result<Vec<FxHashSet<Value>>, Unkept> {
        let best = self.worth(0).ok_or(Unkept::Late)?;
        if best < *threshold {
            return Err(Unkept::OutOfReach);
        }
        // The satisfaction that a policy may lose against the best one.
        let spare = best - threshold;
        let mut next = 0;
        self.mark(0, &mut next, &Rational::one(), &spare).ok_or(Unkept::Late)?;
        Ok(self.kept)
    }

    /// Returns the greatest satisfaction from a place of the prefix on.
    fn worth(&mut self, at: usize) -> Option<Rational> {
        if self.worths.len().is_multiple_of(1024) && self.deadline.reached() {
            return None;
        }
        let node = self.worths.len();
        self.worths.push(Rational::zero());
        let mut worth = Rational::zero();
        match self.prefix.get(at) {
            None => {
                if self.constraint.holds(&|y: VarId| i64::from(self.values[y.index()])) {
                    worth = Rational::one();
                }
            }
            Some(&x) => {
                for (value, p) in self.branches(x) {
                    self.values[x.index()] = value;
                    let below = self.worth(at + 1)?;
                    match p {
                        Some(p) => worth += p * below,
                        None => worth = worth.max(below),
                    }
                }
            }
        }
        self.worths[node] = worth.clone();
        Some(worth)
    }

    /// Marks the values that can be used from a place of the prefix on. Policies reach the place
    /// with probability `reached` and can still lose `spare`.
    fn mark(
        &mut self,
        at: usize,
        next: &mut usize,
        reached: &Rational,
        spare: &Rational,
    ) -> Option<()> {
        if next.is_multiple_of(1024) && self.deadline.reached() {
            return None;
        }
        let node = *next;
        *next += 1;
        let Some(&x) = self.prefix.get(at) else { return Some(()) };
        for (value, p) in self.branches(x) {
            self.values[x.index()] = value;
            let below = &self.worths[*next];
            match p {
                Some(p) => {
                    if !below.is_zero() {
                        self.kept[at].insert(value);
                    }
                    self.mark(at + 1, next, &(reached * p), spare)?;
                }
                None => {
                    let left = spare - reached * (&self.worths[node] - below);
                    if left >= Rational::zero() {
                        self.kept[at].insert(value);
                    }
                    self.mark(at + 1, next, reached, &left)?;
                }
            }
        }
        Some(())
    }

    /// Returns the remaining values of a variable, with their probabilities if it is a chance
    /// variable.
    fn branches(&self, x: VarId) -> Vec<(Value, Option<Rational>)> {
        let domain = &self.domains[x.index()];
        if !self.network.is_chance(x) {
            return domain.iter().map(|value| (value, None)).collect();
        }
        let outcomes = self.network.outcomes(x, &|y| self.values[y.index()]);
        let left = outcomes.into_iter().filter(|(value, _)| domain.contains(*value));
        left.map(|(value, p)| (value, Some(p))).collect()
    }
}

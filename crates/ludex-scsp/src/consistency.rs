//! Stochastic arc consistency, after Balafoutis and Stergiou.
//!
//! A constraint is looked at with its prefix: the variables it mentions, those their
//! distributions depend on, and everything that is drawn before a decision among these, in their
//! order. A value of a decision stays if some policy of the prefix that uses it somewhere
//! satisfies the constraint as likely as is asked; a value that is drawn stays if some tuple with
//! it is allowed, else its mass is lost.
//!
//! The prefix has what is drawn before its decisions, as a policy may use a value only after a
//! rare draw that the constraint does not mention, and lose next to nothing.

use ludex_base::Deadline;
use ludex_csp::{Constraint, Value, ValueSet, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashSet;

use crate::error::ScspError;
use crate::network::{Rational, StochasticNetwork};

/// A constraint whose prefix has more nodes than this is not looked at, nor removes a value.
const MAX_NODES: u64 = 200_000;

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
            // Every policy is good enough.
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

/// Variables with those that their distributions depend on, and what is drawn before a decision
/// among them, in order.
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

/// How many nodes the tree of a prefix has, saturating.
fn n_nodes(prefix: &[VarId], domains: &[ValueSet]) -> u64 {
    let mut n_paths = 1_u64;
    let mut n_nodes = 0_u64;
    for x in prefix {
        n_paths = n_paths.saturating_mul(domains[x.index()].len().max(1));
        n_nodes = n_nodes.saturating_add(n_paths);
    }
    n_nodes
}

/// Removes the values of a variable that a constraint does not keep; says whether there are any.
fn keep(
    network: &StochasticNetwork,
    x: VarId,
    kept: &FxHashSet<Value>,
    result: &mut StochasticDomains,
) -> bool {
    let is_chance = network.is_chance(x);
    // A value that fails one constraint is lost for all that hold together, but not for those
    // with thresholds of their own.
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

/// A network of one constraint, as a tree over its prefix.
struct Single<'a> {
    network: &'a StochasticNetwork,
    constraint: &'a Constraint,
    prefix: &'a [VarId],
    domains: &'a [ValueSet],
    deadline: &'a Deadline,
    values: Vec<Value>,
    /// The greatest satisfaction from each node on, in the order in which nodes are met.
    worths: Vec<Rational>,
    /// By place in the prefix, the values that stay.
    kept: Vec<FxHashSet<Value>>,
}

/// Why there are no values that stay.
enum Unkept {
    /// The time was up.
    Late,
    /// No policy satisfies the constraint as likely as is asked.
    OutOfReach,
}

impl Single<'_> {
    /// By place in the prefix, the values that stay.
    fn kept(mut self, threshold: &Rational) -> Result<Vec<FxHashSet<Value>>, Unkept> {
        let best = self.worth(0).ok_or(Unkept::Late)?;
        if best < *threshold {
            return Err(Unkept::OutOfReach);
        }
        // What a policy may lose against the best one.
        let spare = best - threshold;
        let mut next = 0;
        self.mark(0, &mut next, &Rational::one(), &spare).ok_or(Unkept::Late)?;
        Ok(self.kept)
    }

    /// The greatest satisfaction from a place of the prefix on.
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

    /// Keeps what can be used from a place of the prefix on, which is reached with probability
    /// `reached` by policies that can still lose `spare`.
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

    /// The values of a variable that are left, with their probabilities where it is drawn.
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

//! Validation of stochastic networks.

use ludex_base::Deadline;
use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashSet;

use crate::distribution::Distribution;
use crate::error::{Part, ScspError};
use crate::network::{Rational, StochasticNetwork};

/// The maximal number of values of a variable, because the search tries every one.
const MAX_VALUES: u64 = 1 << 20;
/// The maximal number of steps spent on finding wrong rows of a distribution.
const MAX_STEPS: u64 = 1 << 20;

/// Returns all errors of a network found before the deadline.
pub(crate) fn check(network: &StochasticNetwork, deadline: &Deadline) -> Vec<ScspError> {
    let mut checker = Checker { network, deadline, errors: Vec::new(), n_steps: 0, is_late: false };
    for x in network.ids() {
        checker.variable(x);
    }
    if checker.errors.is_empty() {
        for x in network.ids() {
            checker.distribution(x);
        }
    }
    checker.constraints();
    checker.errors
}

struct Checker<'a> {
    network: &'a StochasticNetwork,
    deadline: &'a Deadline,
    errors: Vec<ScspError>,
    /// Steps since the deadline was last checked.
    n_steps: u64,
    is_late: bool,
}

impl Checker<'_> {
    fn variable(&mut self, x: VarId) {
        let network = self.network;
        let variable = network.variable(x);
        let n_values = variable.variable.domain.len();
        if n_values == 0 {
            self.errors.push(ScspError::EmptyDomain { variable: network.named(x) });
        }
        if n_values > MAX_VALUES {
            let variable = network.named(x);
            self.errors.push(ScspError::WideDomain { variable, n_values, limit: MAX_VALUES });
        }
        let Some(before) = x.index().checked_sub(1).map(VarId::new) else { return };
        let earlier = network.variable(before);
        let is_late = variable.stage < earlier.stage
            || variable.stage == earlier.stage
                && network.is_chance(before)
                && !network.is_chance(x);
        if is_late {
            self.errors.push(ScspError::StageOrder {
                variable: network.named(x),
                stage: variable.stage + 1,
                before: network.named(before),
            });
        }
    }

    fn distribution(&mut self, x: VarId) {
        let network = self.network;
        let Some(distribution) = &network.variable(x).distribution else { return };
        let n_errors = self.errors.len();
        for parent in distribution.parents(x) {
            if parent.index() >= network.variables().len() {
                let part = Part::Distribution(network.named(x));
                self.errors.push(ScspError::UnknownVariable { part });
            } else if parent >= x {
                self.errors.push(ScspError::LaterParent {
                    variable: network.named(x),
                    parent: network.named(parent),
                });
            }
        }
        if self.errors.len() > n_errors {
            return;
        }
        match distribution {
            Distribution::Uniform => {}
            Distribution::Weights(weights) => self.weights(x, String::new(), weights),
            Distribution::Table { on, rows } => {
                for (row, weights) in rows {
                    if row.len() != on.len() {
                        let problem = format!("{} values for {} variables", row.len(), on.len());
                        self.problem(x, self.given(on, row), problem);
                    } else {
                        self.weights(x, self.given(on, row), weights);
                    }
                }
                self.every_row(x, on, 1, |row| !rows.contains_key(row));
            }
            Distribution::Weighted { .. } => {
                let parents = distribution.parents(x);
                let n_values = network.domain(x).len();
                self.every_row(x, &parents, n_values, |row| {
                    let of = |y| parents.binary_search(&y).map_or(0, |i| row[i]);
                    network.weights(x, &of).is_err()
                });
            }
        }
    }

    /// Checks that a distribution is defined for all values of the variables it depends on.
    /// Checking a row costs `n_steps` steps.
    ///
    /// If there are too many rows to check, the search reports a wrong one when it meets it.
    fn every_row(
        &mut self,
        x: VarId,
        on: &[VarId],
        n_steps: u64,
        is_wrong: impl Fn(&[Value]) -> bool,
    ) {
        let n_rows =
            on.iter().try_fold(n_steps.max(1), |n, &y| n.checked_mul(self.network.domain(y).len()));
        if n_rows.is_none_or(|n| n > MAX_STEPS) {
            return;
        }
        let domains: Vec<Vec<Value>> =
            on.iter().map(|&y| self.network.domain(y).iter().collect()).collect();
        let mut at = vec![0; on.len()];
        loop {
            if self.is_late(n_steps) {
                return;
            }
            let row: Vec<Value> = at.iter().zip(&domains).map(|(&i, domain)| domain[i]).collect();
            if is_wrong(&row) {
                let of = |y| on.iter().position(|&own| own == y).map_or(0, |i| row[i]);
                return self.errors.push(self.network.undrawable(x, &of, None));
            }
            let next = (0..at.len()).rev().find(|&i| at[i] + 1 < domains[i].len());
            let Some(i) = next else { return };
            at[i] += 1;
            at[i + 1..].fill(0);
        }
    }

    /// Counts `n_steps` more steps and returns whether the deadline was reached.
    fn is_late(&mut self, n_steps: u64) -> bool {
        self.n_steps += n_steps.max(1);
        if self.n_steps > 4096 {
            self.n_steps = 0;
            self.is_late |= self.deadline.reached();
        }
        self.is_late
    }

    fn weights(&mut self, x: VarId, given: String, weights: &[(Value, Rational)]) {
        let domain = self.network.domain(x);
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut total = Rational::zero();
        for (value, p) in weights {
            if self.is_late(1) {
                return;
            }
            let problem = match value {
                _ if !domain.contains(*value) => format!("{value} is not in the domain"),
                _ if !seen.insert(*value) => format!("the value {value} is given twice"),
                _ if *p < Rational::zero() => format!("the probability of {value} is {p}"),
                _ => {
                    total += p;
                    continue;
                }
            };
            return self.problem(x, given, problem);
        }
        if !total.is_one() {
            self.problem(x, given, format!("the probabilities sum to {total}, not to 1"));
        }
    }

    fn given(&self, on: &[VarId], row: &[Value]) -> String {
        let parts =
            on.iter().zip(row).map(|(&y, value)| format!("{} = {value}", self.network.name(y)));
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { String::new() } else { format!(" given {}", parts.join(", ")) }
    }

    fn problem(&mut self, x: VarId, given: String, problem: String) {
        let variable = self.network.named(x);
        self.errors.push(ScspError::Distribution { variable, given, problem });
    }

    fn constraints(&mut self) {
        let network = self.network;
        let n_variables = network.variables().len();
        let mut thresholds = vec![(Part::Network, network.threshold())];
        for (i, constraint) in network.constraints().iter().enumerate() {
            let part = Part::Constraint(i);
            if constraint.constraint.scope().iter().any(|x| x.index() >= n_variables) {
                self.errors.push(ScspError::UnknownVariable { part: part.clone() });
            }
            thresholds.extend(constraint.threshold.as_ref().map(|threshold| (part, threshold)));
        }
        for (part, threshold) in thresholds {
            if *threshold < Rational::zero() || *threshold > Rational::one() {
                let threshold = threshold.to_string();
                self.errors.push(ScspError::Threshold { part, threshold });
            }
        }
        let Some(utility) = network.utility() else { return };
        if utility.scope().iter().any(|x| x.index() >= n_variables) {
            return self.errors.push(ScspError::UnknownVariable { part: Part::Utility });
        }
        let (least, greatest) = utility.bounds(&|x| network.bounds(x));
        if least < 0 {
            self.errors.push(ScspError::NegativeUtility { least });
        }
        // Bounds saturate at `i64::MAX`.
        if greatest == i64::MAX {
            self.errors.push(ScspError::LargeUtility { limit: i64::MAX - 1 });
        }
    }
}

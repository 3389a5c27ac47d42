//! Whether a stochastic network means something.

use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};

use super::distribution::Distribution;
use super::error::StochasticError;
use super::network::{Rational, StochasticNetwork};

/// A variable may have at most this many values: every one is tried.
const MAX_VALUES: u64 = 1 << 20;
/// Missing rows of a table are looked for among at most this many.
const MAX_ROWS: u64 = 1 << 20;

/// Everything that is wrong with a network.
pub(super) fn check(network: &StochasticNetwork) -> Vec<StochasticError> {
    let mut checker = Checker { network, errors: Vec::new() };
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
    errors: Vec<StochasticError>,
}

impl Checker<'_> {
    fn variable(&mut self, x: VarId) {
        let network = self.network;
        let variable = network.variable(x);
        let name = || variable.variable.name.clone();
        let n_values = variable.variable.domain.len();
        if n_values == 0 {
            self.errors.push(StochasticError::EmptyDomain { variable: name() });
        }
        if n_values > MAX_VALUES {
            let variable = name();
            self.errors.push(StochasticError::WideDomain { variable, n_values, limit: MAX_VALUES });
        }
        let Some(before) = x.index().checked_sub(1).map(VarId::new) else { return };
        let earlier = network.variable(before);
        let is_late = variable.stage < earlier.stage
            || variable.stage == earlier.stage
                && network.is_chance(before)
                && !network.is_chance(x);
        if is_late {
            self.errors.push(StochasticError::StageOrder {
                variable: name(),
                stage: variable.stage + 1,
                before: network.name(before).to_string(),
            });
        }
    }

    fn distribution(&mut self, x: VarId) {
        let network = self.network;
        let Some(distribution) = &network.variable(x).distribution else { return };
        let n_errors = self.errors.len();
        for parent in distribution.parents(x) {
            if parent.index() >= network.variables().len() {
                let place = format!("the distribution of `{}`", network.name(x));
                self.errors.push(StochasticError::UnknownVariable { place });
            } else if parent >= x {
                self.errors.push(StochasticError::LaterParent {
                    variable: network.name(x).to_string(),
                    parent: network.name(parent).to_string(),
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
                let nothing = || Some("no value can be drawn".to_string());
                self.every_row(x, on, |row| if rows.contains_key(row) { None } else { nothing() });
            }
            Distribution::Weighted { total, .. } => {
                let parents = distribution.parents(x);
                self.every_row(x, &parents, |row| {
                    let of = |y| parents.binary_search(&y).map_or(0, |i| row[i]);
                    let weights = network.weights(x, &of);
                    if let Some((value, weight)) = weights.iter().find(|(_, weight)| *weight < 0) {
                        return Some(format!("the weight of {value} is {weight}"));
                    }
                    let sum: i128 = weights.iter().map(|(_, weight)| i128::from(*weight)).sum();
                    match total {
                        Some(total) if sum != i128::from(*total) => {
                            Some(format!("the weights sum to {sum}, not to {total}"))
                        }
                        _ if sum == 0 => Some("no value can be drawn".to_string()),
                        _ if sum > i128::from(i64::MAX) => Some("the weights are too large".into()),
                        _ => None,
                    }
                });
            }
        }
    }

    /// Whether a distribution says something whatever the variables are that it depends on.
    ///
    /// Where there are too many rows to look, a missing one is an error of the search.
    fn every_row(
        &mut self,
        x: VarId,
        on: &[VarId],
        problem_of: impl Fn(&[Value]) -> Option<String>,
    ) {
        let domains: Vec<Vec<Value>> =
            on.iter().map(|&y| self.network.domain(y).iter().collect()).collect();
        let n_rows = domains.iter().try_fold(1_u64, |n, domain| n.checked_mul(domain.len() as u64));
        if n_rows.is_none_or(|n| n > MAX_ROWS) {
            return;
        }
        let mut at = vec![0; on.len()];
        loop {
            let row: Vec<Value> = at.iter().zip(&domains).map(|(&i, domain)| domain[i]).collect();
            if let Some(problem) = problem_of(&row) {
                return self.problem(x, self.given(on, &row), problem);
            }
            let next = (0..at.len()).rev().find(|&i| at[i] + 1 < domains[i].len());
            let Some(i) = next else { return };
            at[i] += 1;
            at[i + 1..].fill(0);
        }
    }

    fn weights(&mut self, x: VarId, given: String, weights: &[(Value, Rational)]) {
        let domain = self.network.domain(x);
        let outside = weights.iter().find(|(value, _)| !domain.contains(*value));
        if let Some((value, _)) = outside {
            return self.problem(x, given, format!("{value} is not in the domain"));
        }
        let is_twice = |(i, (value, _)): &(usize, &(Value, Rational))| {
            weights[..*i].iter().any(|(other, _)| other == value)
        };
        if let Some((_, (value, _))) = weights.iter().enumerate().find(is_twice) {
            return self.problem(x, given, format!("the value {value} is given twice"));
        }
        if let Some((value, p)) = weights.iter().find(|(_, p)| *p < Rational::zero()) {
            return self.problem(x, given, format!("the probability of {value} is {p}"));
        }
        let total: Rational = weights.iter().map(|(_, p)| p).sum();
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
        let variable = self.network.name(x).to_string();
        self.errors.push(StochasticError::Distribution { variable, given, problem });
    }

    fn constraints(&mut self) {
        let network = self.network;
        let n_variables = network.variables().len();
        let mut thresholds = vec![("the network".to_string(), network.threshold())];
        for (i, constraint) in network.constraints().iter().enumerate() {
            let place = format!("constraint {}", i + 1);
            if constraint.constraint.scope().iter().any(|x| x.index() >= n_variables) {
                self.errors.push(StochasticError::UnknownVariable { place: place.clone() });
            }
            thresholds.extend(constraint.threshold.as_ref().map(|threshold| (place, threshold)));
        }
        for (place, threshold) in thresholds {
            if *threshold < Rational::zero() || *threshold > Rational::one() {
                let threshold = threshold.to_string();
                self.errors.push(StochasticError::Threshold { place, threshold });
            }
        }
        let Some(utility) = network.utility() else { return };
        if utility.scope().iter().any(|x| x.index() >= n_variables) {
            let place = "the utility".to_string();
            return self.errors.push(StochasticError::UnknownVariable { place });
        }
        let least = utility.bounds(&|x| network.bounds(x)).0;
        if least < 0 {
            self.errors.push(StochasticError::NegativeUtility { least });
        }
    }
}

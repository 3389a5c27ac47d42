//! Distributions of chance variables.

use ludex_csp::{Expr, Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use crate::error::ScspError;
use crate::network::{Rational, StochasticNetwork, rational};

/// The distribution of a chance variable.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// Every value of the domain is equally likely.
    Uniform,
    /// Each value with its probability; the others are never drawn.
    Weights(Vec<(Value, Rational)>),
    /// Depends on the values of earlier variables.
    Table {
        /// The earlier variables.
        on: Vec<VarId>,
        /// For each combination of their values, the possible values with their probabilities.
        rows: FxHashMap<Vec<Value>, Vec<(Value, Rational)>>,
    },
    /// Each value is drawn in proportion to its weight, an expression over the value and earlier
    /// variables. With a condition, which is 1 or 0, all values that satisfy it are equally likely.
    Weighted {
        /// The weight, which is never negative and defined for every value of the domain.
        weight: Expr,
        /// The required sum of all weights, if it is to be checked.
        total: Option<i64>,
    },
}

impl Distribution {
    /// Creates a distribution in which all values that satisfy a condition on them and earlier
    /// variables are equally likely.
    pub fn uniform_where(condition: impl Into<Expr>) -> Self {
        Distribution::Weighted { weight: condition.into(), total: None }
    }

    /// Returns the earlier variables it depends on; `x` is the chance variable itself.
    pub fn parents(&self, x: VarId) -> Vec<VarId> {
        let mut parents = match self {
            Distribution::Uniform | Distribution::Weights(_) => Vec::new(),
            Distribution::Table { on, .. } => on.clone(),
            Distribution::Weighted { weight, .. } => weight.scope(),
        };
        parents.retain(|&parent| parent != x);
        parents.sort_unstable();
        parents.dedup();
        parents
    }
}

impl StochasticNetwork {
    /// Returns the possible values of a chance variable with their probabilities, given the values
    /// of earlier variables. Empty if the distribution does not cover these values.
    ///
    /// # Panics
    /// Panics if `x` is a decision.
    pub fn outcomes(&self, x: VarId, value_of: &dyn Fn(VarId) -> Value) -> Vec<(Value, Rational)> {
        let variable = self.variable(x);
        let domain = &variable.variable.domain;
        let is_possible = |(value, p): &&(Value, Rational)| domain.contains(*value) && !p.is_zero();
        let uniform = |values: Vec<Value>| {
            let share = Rational::one() / Rational::from_integer(values.len().max(1).into());
            values.into_iter().map(|value| (value, share.clone())).collect::<Vec<_>>()
        };
        match variable.distribution.as_ref().expect("a chance variable") {
            Distribution::Uniform => uniform(domain.iter().collect()),
            Distribution::Weights(weights) => weights.iter().filter(is_possible).cloned().collect(),
            Distribution::Table { on, rows } => {
                let row: Vec<Value> = on.iter().map(|&y| value_of(y)).collect();
                let weights = rows.get(&row).map_or(&[][..], |weights| weights);
                weights.iter().filter(is_possible).cloned().collect()
            }
            Distribution::Weighted { .. } => self.shares(x, value_of, rational),
        }
    }

    /// Computes [`StochasticNetwork::outcomes`] of a variable drawn by weights, in any number type.
    pub(crate) fn shares<N>(
        &self,
        x: VarId,
        value_of: &dyn Fn(VarId) -> Value,
        ratio: impl Fn(i64, i64) -> N,
    ) -> Vec<(Value, N)> {
        let Ok((weights, total)) = self.weights(x, value_of) else { return Vec::new() };
        let possible = weights.into_iter().filter(|(_, weight)| *weight > 0);
        possible.map(|(value, weight)| (value, ratio(weight, total))).collect()
    }

    /// Returns the weight of each value of a variable drawn by weights, and their sum, or a
    /// description of the problem.
    pub(crate) fn weights(
        &self,
        x: VarId,
        value_of: &dyn Fn(VarId) -> Value,
    ) -> Result<(Vec<(Value, i64)>, i64), String> {
        let variable = self.variable(x);
        let Some(Distribution::Weighted { weight, total }) = &variable.distribution else {
            return Err("it has no weights".to_string());
        };
        let mut weights = Vec::new();
        let mut sum = 0_i64;
        for value in variable.variable.domain.iter() {
            let value_of = |y| i64::from(if y == x { value } else { value_of(y) });
            let weight = weight.eval(&value_of).ok_or_else(|| {
                format!("the weight of {value} has no value; is an index outside of its array?")
            })?;
            if weight < 0 {
                return Err(format!("the weight of {value} is {weight}"));
            }
            sum = sum.checked_add(weight).ok_or("the weights are too large")?;
            weights.push((value, weight));
        }
        match total {
            Some(total) if sum != *total => {
                Err(format!("the weights sum to {sum}, not to {total}"))
            }
            _ if sum == 0 => Err(NO_VALUE.to_string()),
            _ => Ok((weights, sum)),
        }
    }

    /// Returns the error for a distribution from which nothing can be drawn, given the values of
    /// the variables it depends on.
    pub(crate) fn undrawable(
        &self,
        x: VarId,
        value_of: &dyn Fn(VarId) -> Value,
        problem: Option<String>,
    ) -> ScspError {
        let distribution = self.variable(x).distribution.as_ref();
        let parents = distribution.map_or(Vec::new(), |distribution| distribution.parents(x));
        let problem = problem
            .or_else(|| match distribution {
                Some(Distribution::Weighted { .. }) => self.weights(x, value_of).err(),
                _ => None,
            })
            .unwrap_or_else(|| NO_VALUE.to_string());
        let parts: Vec<String> =
            parents.iter().map(|&y| format!("{} = {}", self.name(y), value_of(y))).collect();
        let given =
            if parts.is_empty() { String::new() } else { format!(" given {}", parts.join(", ")) };
        ScspError::Distribution { variable: self.named(x), given, problem }
    }
}

const NO_VALUE: &str = "no value can be drawn";

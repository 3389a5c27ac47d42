//! How chance variables are drawn.

use ludex_csp::{Expr, Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use super::network::{Rational, StochasticNetwork};

/// How a chance variable is drawn.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// Every value of the domain is as likely.
    Uniform,
    /// Each value with its probability; the others are never drawn.
    Weights(Vec<(Value, Rational)>),
    /// By what earlier variables are.
    Table {
        /// The earlier variables.
        on: Vec<VarId>,
        /// For values of these, the values that are drawn, each with its probability.
        rows: FxHashMap<Vec<Value>, Vec<(Value, Rational)>>,
    },
    /// Each value in proportion to its weight, an expression over it and earlier variables. With
    /// a condition, which is 1 or 0, all values for which it is true are as likely.
    Weighted {
        /// The weight, never negative.
        weight: Expr,
        /// What the weights of all values sum to, if that is to be checked.
        total: Option<i64>,
    },
}

impl Distribution {
    /// Every value is as likely for which a condition on it and on earlier variables is true.
    pub fn uniform_where(condition: impl Into<Expr>) -> Self {
        Distribution::Weighted { weight: condition.into(), total: None }
    }

    /// The earlier variables it depends on; `x` is the variable that is drawn.
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
    /// The values that a chance variable can take, each with its probability, given values of
    /// the earlier variables. Empty when the distribution says nothing about these.
    ///
    /// # Panics
    /// When `x` is decided, not drawn.
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
            Distribution::Weighted { .. } => {
                let weights = self.weights(x, value_of);
                let total: i128 = weights.iter().map(|(_, weight)| i128::from(*weight)).sum();
                let share = |(value, weight): (Value, i64)| {
                    (value, Rational::new(weight.into(), total.max(1).into()))
                };
                weights.into_iter().filter(|(_, weight)| *weight > 0).map(share).collect()
            }
        }
    }

    /// The weight of each value of a variable drawn by weights. Where the weight has no value it
    /// is 0.
    pub(super) fn weights(&self, x: VarId, value_of: &dyn Fn(VarId) -> Value) -> Vec<(Value, i64)> {
        let variable = self.variable(x);
        let Some(Distribution::Weighted { weight, .. }) = &variable.distribution else {
            return Vec::new();
        };
        let of = |value: Value| {
            let value_of = |y| i64::from(if y == x { value } else { value_of(y) });
            (value, weight.eval(&value_of).unwrap_or(0))
        };
        variable.variable.domain.iter().map(of).collect()
    }
}

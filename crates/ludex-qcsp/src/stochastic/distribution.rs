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
    /// Every value for which the condition is true of it and of earlier variables is as likely.
    UniformWhere(Expr),
}

impl Distribution {
    /// The earlier variables it depends on; `x` is the variable that is drawn.
    pub fn parents(&self, x: VarId) -> Vec<VarId> {
        let mut parents = match self {
            Distribution::Uniform | Distribution::Weights(_) => Vec::new(),
            Distribution::Table { on, .. } => on.clone(),
            Distribution::UniformWhere(condition) => condition.scope(),
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
            Distribution::UniformWhere(condition) => {
                let holds = |value: Value| {
                    let value_of = |y| i64::from(if y == x { value } else { value_of(y) });
                    condition.holds(&value_of)
                };
                uniform(domain.iter().filter(|&value| holds(value)).collect())
            }
        }
    }
}

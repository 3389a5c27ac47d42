//! Numbers that probabilities are computed in: floating point, or fractions.

use num_traits::{ToPrimitive, Zero};

use crate::network::{Rational, rational};

/// Numbers that probabilities are computed in.
pub(crate) trait Number: num_traits::Num + PartialOrd + Clone + Send + Sync {
    /// About how many bytes a number takes, with what it points to.
    const BYTES: usize;
    /// The number nearest to a fraction.
    fn of(fraction: &Rational) -> Self;
    /// The number nearest to one weight of a sum of weights.
    fn ratio(weight: i64, total: i64) -> Self;
    /// The fraction it is.
    fn exact(&self) -> Option<Rational>;
    /// The nearest floating point number.
    fn float(&self) -> f64;
    /// How far sums of products of numbers of at most `top`, over so many terms, can be from
    /// the truth.
    fn error(top: &Self, n_operations: u64) -> Self;
}

impl Number for f64 {
    const BYTES: usize = 8;
    fn of(fraction: &Rational) -> Self {
        fraction.to_f64().unwrap_or(0.0)
    }
    fn ratio(weight: i64, total: i64) -> Self {
        weight as f64 / total as f64
    }
    fn exact(&self) -> Option<Rational> {
        None
    }
    fn float(&self) -> f64 {
        *self
    }
    fn error(top: &Self, n_operations: u64) -> Self {
        top * f64::EPSILON * n_operations as f64
    }
}

impl Number for Rational {
    const BYTES: usize = size_of::<Rational>() + 64;
    fn of(fraction: &Rational) -> Self {
        fraction.clone()
    }
    fn ratio(weight: i64, total: i64) -> Self {
        rational(weight, total)
    }
    fn exact(&self) -> Option<Rational> {
        Some(self.clone())
    }
    fn float(&self) -> f64 {
        self.to_f64().unwrap_or(0.0)
    }
    fn error(_: &Self, _: u64) -> Self {
        Self::zero()
    }
}

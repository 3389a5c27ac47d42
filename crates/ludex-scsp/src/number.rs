//! The arithmetic of probabilities: floating point or fractions.

use num_traits::{ToPrimitive, Zero};

use crate::network::{Rational, rational};

/// Numbers for computing probabilities.
pub(crate) trait Number: num_traits::Num + PartialOrd + Clone + Send + Sync {
    /// The approximate size of a number in bytes, including the heap.
    const BYTES: usize;
    /// Returns the number nearest to a fraction.
    fn of(fraction: &Rational) -> Self;
    /// Returns the number nearest to `weight / total`.
    fn ratio(weight: i64, total: i64) -> Self;
    /// Returns the exact fraction, if the arithmetic is exact.
    fn exact(&self) -> Option<Rational>;
    /// Returns the nearest floating-point number.
    fn float(&self) -> f64;
    /// Returns the maximal error of sums of products of numbers up to `top`, over `n_operations`
    /// terms.
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

//! Goals and means of goals, in units of a billionth.

use std::fmt;
use std::str::FromStr;

use ludex_base::Goal;

/// A goal or a mean of goals, from 0 to 100, counted in billionths of a point.
///
/// Means are rounded to a unit, in the direction that makes the claim harder to meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Value(i64);

const UNITS: i64 = 1_000_000_000;
const N_DIGITS: usize = 9;

impl Value {
    /// The largest goal.
    pub const MAX: Value = Value(100 * UNITS);
    /// The smallest goal.
    pub const MIN: Value = Value(0);

    /// Returns the weighted mean of at least one value, rounded down, or up if `is_up`.
    ///
    /// # Panics
    /// Without any weight.
    pub fn mean(weighted: impl Iterator<Item = (u64, Value)>, is_up: bool) -> Value {
        let (mut sum, mut total) = (0_i128, 0_i128);
        for (weight, value) in weighted {
            sum += i128::from(weight) * i128::from(value.0);
            total += i128::from(weight);
        }
        let rounding = if is_up { total - 1 } else { 0 };
        Value(((sum + rounding) / total) as i64)
    }
}

impl From<Goal> for Value {
    fn from(goal: Goal) -> Self {
        Value(i64::from(goal.value()) * UNITS)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:09}", self.0 % UNITS);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / UNITS),
            digits => write!(f, "{}.{digits}", self.0 / UNITS),
        }
    }
}

impl FromStr for Value {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (points, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str, max: usize| {
            (1..=max).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(points, 3) || !is_number(fraction, N_DIGITS) {
            return Err(());
        }
        let points: i64 = points.parse().map_err(|_| ())?;
        let fraction: i64 = format!("{fraction:0<N_DIGITS$}").parse().map_err(|_| ())?;
        Some(Value(points * UNITS + fraction)).filter(|&value| value <= Self::MAX).ok_or(())
    }
}

//! Times and rates as reports have them.

use std::time::Duration;

/// A number of seconds, to the microsecond.
pub fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// A rate or mean, with digits enough for a reader.
pub fn round(value: f64) -> f64 {
    let digits = if value.abs() >= 100.0 { 10.0 } else { 1e4 };
    (value * digits).round() / digits
}

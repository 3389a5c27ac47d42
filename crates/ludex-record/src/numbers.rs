//! Times and rates, rounded for reports.

use std::time::Duration;

/// Returns a duration in seconds, rounded to the microsecond.
pub fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

/// Returns the duration of a number of seconds that [`seconds`] has written; zero for others.
pub fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Rounds a rate or mean for readers.
pub fn round(value: f64) -> f64 {
    let digits = if value.abs() >= 100.0 { 10.0 } else { 1e4 };
    (value * digits).round() / digits
}

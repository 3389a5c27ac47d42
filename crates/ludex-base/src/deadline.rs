//! When to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A moment after which work stops, and a way to stop it earlier from outside.
///
/// Loops ask [`Deadline::reached`] at an interval they state; asking costs a look at
/// the clock.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    at: Option<Instant>,
    /// Any of these stops it.
    flags: Vec<Arc<AtomicBool>>,
}

impl Deadline {
    /// No limit.
    pub fn never() -> Self {
        Self::default()
    }

    /// So long from now. A time too long for the clock to tell is no limit.
    pub fn after(time: Duration) -> Self {
        Self { at: Instant::now().checked_add(time), flags: Vec::new() }
    }

    /// At this moment.
    pub fn at(moment: Instant) -> Self {
        Self { at: Some(moment), flags: Vec::new() }
    }

    /// The same deadline, reached as well when the flag is set.
    pub fn or_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.flags.push(flag);
        self
    }

    /// The same deadline, or this moment if that is earlier.
    pub fn no_later_than(&self, moment: Instant) -> Self {
        let at = Some(self.at.map_or(moment, |at| at.min(moment)));
        Self { at, flags: self.flags.clone() }
    }

    /// The same deadline after a part of the time that is left; the same when there is no limit.
    pub fn part(&self, part: f64) -> Self {
        match self.remaining() {
            Some(left) => self.no_later_than(Instant::now() + left.mul_f64(part)),
            None => self.clone(),
        }
    }

    /// Whether to stop now.
    pub fn reached(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Relaxed))
            || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// The time left; `None` without a limit, zero when it is past.
    pub fn remaining(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// Why a piece of work ended before it had an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The deadline was reached.
    Time,
    /// The memory allowed was used up.
    Memory,
    /// The number of steps, nodes or atoms allowed was used up.
    Count,
    /// The rules could not be evaluated in some state: a limit of the engine, or no meaning there.
    Fault,
}

impl StopReason {
    /// The reason in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Time => "time",
            StopReason::Memory => "memory",
            StopReason::Count => "count",
            StopReason::Fault => "fault",
        }
    }
}

//! Deadlines, and reasons for stopping early.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::memory;

/// A moment after which work stops, and flags that stop it earlier.
///
/// Loops check [`Deadline::reached`] at an interval that they document; each check reads the clock.
/// A deadline is also reached while the process is short of memory (see [`memory`]), so that every
/// such loop heeds both.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    at: Option<Instant>,
    /// The deadline is reached as soon as one of these is set.
    flags: Vec<Arc<AtomicBool>>,
}

impl Deadline {
    /// Returns a deadline that is never reached.
    pub fn never() -> Self {
        Self::default()
    }

    /// Returns a deadline this long from now; never, if the clock can't represent the moment.
    pub fn after(time: Duration) -> Self {
        Self { at: Instant::now().checked_add(time), flags: Vec::new() }
    }

    /// Returns a deadline at this moment.
    pub fn at(moment: Instant) -> Self {
        Self { at: Some(moment), flags: Vec::new() }
    }

    /// Returns this deadline, also reached when the flag is set.
    pub fn or_when(mut self, flag: Arc<AtomicBool>) -> Self {
        self.flags.push(flag);
        self
    }

    /// Returns this deadline, or one at `moment` if that is earlier.
    pub fn no_later_than(&self, moment: Instant) -> Self {
        let at = Some(self.at.map_or(moment, |at| at.min(moment)));
        Self { at, flags: self.flags.clone() }
    }

    /// Returns a deadline after this part of the remaining time; the same deadline if there is no
    /// limit.
    pub fn part(&self, part: f64) -> Self {
        match self.remaining() {
            Some(left) => self.no_later_than(Instant::now() + left.mul_f64(part)),
            None => self.clone(),
        }
    }

    /// Returns whether to stop now.
    pub fn reached(&self) -> bool {
        memory::is_short()
            || self.flags.iter().any(|flag| flag.load(Ordering::Relaxed))
            || self.at.is_some_and(|at| Instant::now() >= at)
    }

    /// Returns why to stop now; `None` while work may go on.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.reached().then(StopReason::of_deadline)
    }

    /// Returns the time left: `None` without a limit, zero after the deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// Counts the steps of a loop, and checks a deadline once in every so many of them.
///
/// A check reads the clock, which a step that takes nanoseconds can't afford.
#[derive(Debug)]
pub struct Pace<'a> {
    deadline: Option<&'a Deadline>,
    interval: usize,
    n_until_check: Cell<usize>,
}

impl<'a> Pace<'a> {
    /// Creates a pace that checks the deadline at every `interval`-th step.
    pub fn new(deadline: &'a Deadline, interval: usize) -> Self {
        Self { deadline: Some(deadline), interval, n_until_check: Cell::new(interval) }
    }

    /// Creates a pace that never stops the work.
    pub fn unlimited() -> Self {
        Self { deadline: None, interval: usize::MAX, n_until_check: Cell::new(usize::MAX) }
    }

    /// Counts a step.
    ///
    /// # Errors
    /// When the deadline is due for a check and was reached.
    #[inline]
    pub fn step(&self) -> Result<(), StopReason> {
        self.steps(1)
    }

    /// Counts several steps at once.
    ///
    /// # Errors
    /// As [`Pace::step`].
    #[inline]
    pub fn steps(&self, n_steps: usize) -> Result<(), StopReason> {
        match self.n_until_check.get().checked_sub(n_steps) {
            None | Some(0) => self.check(),
            Some(n_left) => {
                self.n_until_check.set(n_left);
                Ok(())
            }
        }
    }

    /// Checks the deadline now.
    ///
    /// # Errors
    /// When the deadline was reached.
    #[cold]
    pub fn check(&self) -> Result<(), StopReason> {
        self.n_until_check.set(self.interval);
        self.deadline.and_then(Deadline::stop_reason).map_or(Ok(()), Err)
    }
}

/// Why work ended before it had an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The deadline was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The limit of steps, nodes or atoms was reached.
    Count,
    /// The rules could not be evaluated in some state: a limit of the engine was reached, or they
    /// have no meaning there.
    Fault,
}

impl StopReason {
    /// Returns the reason of work that has just stopped at its [`Deadline`].
    pub fn of_deadline() -> Self {
        if memory::is_short() { StopReason::Memory } else { StopReason::Time }
    }

    /// Returns the reason in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Time => "time",
            StopReason::Memory => "memory",
            StopReason::Count => "count",
            StopReason::Fault => "fault",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_checks_the_deadline_at_its_interval() {
        let over = Deadline::after(Duration::ZERO);
        let pace = Pace::new(&over, 3);
        let steps: Vec<_> = (0..6).map(|_| pace.step()).collect();
        let stop = Err(StopReason::Time);
        assert_eq!(steps, [Ok(()), Ok(()), stop, Ok(()), Ok(()), stop]);
        assert_eq!(pace.steps(5), stop);
        assert_eq!(Pace::unlimited().check(), Ok(()));
    }
}

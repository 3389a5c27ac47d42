//! Checks the clock often enough, and no more often.

use std::time::{Duration, Instant};

use ludex_base::Deadline;

/// A deadline that is checked at an interval adapted to the speed of the work.
///
/// The checks are [`MIN_ASKING_TIME`] to [`MAX_ASKING_TIME`] apart, unless a single step takes
/// longer.
pub(crate) struct Clock<'a> {
    deadline: &'a Deadline,
    interval: u32,
    n_left: u32,
    asked_at: Instant,
    is_over: bool,
}

/// More frequent checks cost more than they are worth.
const MIN_ASKING_TIME: Duration = Duration::from_micros(20);
/// Less frequent checks make answers late.
const MAX_ASKING_TIME: Duration = Duration::from_micros(100);
const MAX_INTERVAL: u32 = 1024;

impl<'a> Clock<'a> {
    pub(crate) fn new(deadline: &'a Deadline) -> Self {
        let asked_at = Instant::now();
        Self { deadline, interval: 1, n_left: 1, asked_at, is_over: false }
    }

    /// Returns the remaining time, if there is a limit.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.remaining()
    }

    /// Returns a deadline after a part of the remaining time.
    pub(crate) fn part(&self, part: f64) -> Deadline {
        self.deadline.part(part)
    }

    /// Counts one small step of work. Returns true once a check found the deadline reached.
    #[inline]
    pub(crate) fn tick(&mut self) -> bool {
        self.n_left -= 1;
        if self.n_left == 0 {
            self.ask();
        }
        self.is_over
    }

    #[cold]
    fn ask(&mut self) {
        let now = Instant::now();
        let elapsed = now - self.asked_at;
        if elapsed < MIN_ASKING_TIME {
            self.interval = (self.interval * 2).min(MAX_INTERVAL);
        } else if elapsed > MAX_ASKING_TIME {
            self.interval = (self.interval / 4).max(1);
        }
        self.asked_at = now;
        self.n_left = self.interval;
        self.is_over |= self.deadline.reached();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_work_checks_the_clock_at_every_step() {
        let deadline = Deadline::after(Duration::from_millis(5));
        let mut clock = Clock::new(&deadline);
        let mut n_steps = 0;
        while !clock.tick() {
            std::thread::sleep(Duration::from_millis(1));
            n_steps += 1;
        }
        assert!(n_steps <= 6, "{n_steps}");
    }

    #[test]
    fn a_past_deadline_is_seen_at_once() {
        let deadline = Deadline::after(Duration::ZERO);
        assert!(Clock::new(&deadline).tick());
        assert!(!Clock::new(&Deadline::never()).tick());
    }
}

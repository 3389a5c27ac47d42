//! Asking for the time often enough, and no more often.

use std::time::{Duration, Instant};

use ludex_base::Deadline;

/// A deadline that is asked at an interval which follows the speed of the work: about every
/// [`MIN_ASKING_TIME`] to [`MAX_ASKING_TIME`], whether a step takes a hundred nanoseconds or a second.
pub(crate) struct Clock<'a> {
    deadline: &'a Deadline,
    interval: u32,
    n_left: u32,
    asked_at: Instant,
    is_over: bool,
}

/// Asking more often than this costs more than it is worth.
const MIN_ASKING_TIME: Duration = Duration::from_micros(20);
/// Asking less often than this makes answers late.
const MAX_ASKING_TIME: Duration = Duration::from_micros(100);
const MAX_INTERVAL: u32 = 1024;

impl<'a> Clock<'a> {
    pub(crate) fn new(deadline: &'a Deadline) -> Self {
        let asked_at = Instant::now();
        Self { deadline, interval: 1, n_left: 1, asked_at, is_over: false }
    }

    /// The time that is left, if there is a limit.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.remaining()
    }

    /// A part of the time that is left.
    pub(crate) fn part(&self, part: f64) -> Deadline {
        self.deadline.part(part)
    }

    /// Notes one small step of work; true once the deadline was seen to be reached.
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
    fn slow_work_is_asked_about_at_every_step() {
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

//! How late this machine lets things happen, and what to keep back for that.
//!
//! A search that is told to stop at a moment stops a little later: it looks at the clock from time to
//! time, and on a busy machine it may be off the processor just then. The thread that waits for it wakes
//! up late too. Both delays are measured before the first move, and again with every move.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::attention::Attention;

/// The delays seen so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latency {
    /// How long after its deadline a search answered.
    overrun: Duration,
    /// How long after its time a waiting thread woke up.
    wake: Duration,
}

/// When things have to be done within one turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// When the search is told to stop.
    pub search_until: Instant,
    /// When the answer is given, with or without it.
    pub answer_at: Instant,
}

/// What a search keeps back at least, as a part of the clock, and the most that makes.
const MIN_RESERVE_DIVISOR: u32 = 25;
const MAX_MIN_RESERVE: Duration = Duration::from_millis(100);

impl Latency {
    /// What to expect before anything was measured.
    pub fn unknown() -> Self {
        Self { overrun: Duration::from_millis(1), wake: Duration::from_micros(300) }
    }

    /// Watches the machine for a while: how long a busy thread is kept off the processor, and how late
    /// a sleeping one wakes up.
    pub fn measure(&mut self, time: Duration, attention: &mut Attention) {
        let until = Instant::now() + time;
        let (_sender, never) = mpsc::channel::<()>();
        while Instant::now() < until {
            let nap = Duration::from_micros(500);
            let asleep = Instant::now();
            // Nobody sends; this is how the answer is waited for.
            attention.raise();
            let _ = never.recv_timeout(nap);
            self.wake = self.wake.max(asleep.elapsed().saturating_sub(nap));
            attention.lower();
            let busy_until = Instant::now() + Duration::from_millis(4);
            let mut last = Instant::now();
            while last < busy_until {
                let now = Instant::now();
                self.overrun = self.overrun.max(now - last);
                last = now;
            }
        }
    }

    /// A search answered so long after its deadline. What is long past is forgotten slowly.
    pub fn note_overrun(&mut self, overrun: Duration) {
        self.overrun = overrun.max(self.overrun.mul_f64(0.97));
    }

    /// The waiting thread woke up so long after its time.
    pub fn note_wake(&mut self, late: Duration) {
        self.wake = late.max(self.wake.mul_f64(0.97));
    }

    /// Divides a turn that begins now. `reserve` is what the way back to the referee takes.
    pub fn schedule(&self, deadline: Instant, reserve: Duration) -> Schedule {
        let now = Instant::now();
        let left = deadline.saturating_duration_since(now).saturating_sub(reserve);
        let least = (left / MIN_RESERVE_DIVISOR).min(MAX_MIN_RESERVE);
        // On a hopelessly late machine some of the clock is still for thinking.
        let back = (self.wake * 2).max(least / 2).min(left * 2 / 5);
        // A search that is late all the same has said what it holds best.
        let stop = (self.overrun * 3 / 2).max(least / 2).min(left / 8);
        Schedule { search_until: now + (left - back - stop), answer_at: now + (left - back) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_its_order_whatever_was_measured() {
        for (overrun, wake, clock) in [(0, 0, 50), (5, 3, 50), (500, 500, 50), (1, 1, 1), (1, 1, 0)]
        {
            let ms = Duration::from_millis;
            let latency = Latency { overrun: ms(overrun), wake: ms(wake) };
            let deadline = Instant::now() + ms(clock);
            let schedule = latency.schedule(deadline, Duration::ZERO);
            assert!(schedule.search_until <= schedule.answer_at);
            assert!(schedule.answer_at <= deadline.max(Instant::now()));
            // Some of the clock is for thinking.
            assert!(schedule.search_until + ms(clock) * 7 / 10 + ms(1) >= deadline);
        }
    }

    #[test]
    fn what_is_late_makes_it_careful() {
        let mut latency = Latency { overrun: Duration::ZERO, wake: Duration::ZERO };
        let second = Duration::from_secs(1);
        let before = latency.schedule(Instant::now() + second, Duration::ZERO);
        latency.note_overrun(Duration::from_millis(120));
        let after = latency.schedule(Instant::now() + second, Duration::ZERO);
        assert!(after.search_until + Duration::from_millis(50) < before.search_until);
        let measured = {
            let mut latency = latency;
            latency.measure(Duration::from_millis(10), &mut Attention::default());
            latency
        };
        assert!(measured.wake > Duration::ZERO);
    }
}

//! Delays of the machine, and how much of the clock to keep in reserve for them.
//!
//! A search stops a little after its deadline: it checks the clock only from time to time, and a busy
//! machine may have taken it off the processor just then. The thread that waits for it wakes up late too.
//! Both delays are measured before the first move and updated with every move.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::attention::Attention;

/// The delays measured so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latency {
    /// How long after its deadline a search answered.
    overrun: Duration,
    /// How late a waiting thread woke up.
    wake: Duration,
}

/// The deadlines within one turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// When the search must stop.
    pub search_until: Instant,
    /// When the player answers, even without the search.
    pub answer_at: Instant,
}

/// The clock divided by this is the least reserve.
const MIN_RESERVE_DIVISOR: u32 = 25;
/// On long clocks the least reserve is no more than this.
const MAX_MIN_RESERVE: Duration = Duration::from_millis(100);

impl Latency {
    /// Delays to assume before any was measured.
    pub fn unknown() -> Self {
        Self { overrun: Duration::from_millis(1), wake: Duration::from_micros(300) }
    }

    /// Measures for a while how long a busy thread is kept off the processor, and how late a sleeping one
    /// wakes up.
    pub fn measure(&mut self, time: Duration, attention: &mut Attention) {
        let until = Instant::now() + time;
        let (_sender, never) = mpsc::channel::<()>();
        while Instant::now() < until {
            let nap = Duration::from_micros(500);
            let asleep = Instant::now();
            // Nothing is ever sent. The player waits for its answer with the same call.
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

    /// Records how long after its deadline a search answered. Old delays fade slowly.
    pub fn note_overrun(&mut self, overrun: Duration) {
        self.overrun = overrun.max(self.overrun.mul_f64(0.97));
    }

    /// Records how late the waiting thread woke up.
    pub fn note_wake(&mut self, late: Duration) {
        self.wake = late.max(self.wake.mul_f64(0.97));
    }

    /// Divides a turn that begins now. `reserve` is the time for the answer to reach the referee.
    pub fn schedule(&self, deadline: Instant, reserve: Duration) -> Schedule {
        let now = Instant::now();
        let left = deadline.saturating_duration_since(now).saturating_sub(reserve);
        let least = (left / MIN_RESERVE_DIVISOR).min(MAX_MIN_RESERVE);
        // However late the machine is, some of the clock remains for the search.
        let wake_reserve = (self.wake * 2).max(least / 2).min(left * 2 / 5);
        // A search that is later than this has left a hint to play.
        let stop_reserve = (self.overrun * 3 / 2).max(least / 2).min(left / 8);
        Schedule {
            search_until: now + (left - wake_reserve - stop_reserve),
            answer_at: now + (left - wake_reserve),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_of_a_turn_are_in_order_whatever_was_measured() {
        for (overrun, wake, clock) in [(0, 0, 50), (5, 3, 50), (500, 500, 50), (1, 1, 1), (1, 1, 0)]
        {
            let ms = Duration::from_millis;
            let latency = Latency { overrun: ms(overrun), wake: ms(wake) };
            let deadline = Instant::now() + ms(clock);
            let schedule = latency.schedule(deadline, Duration::ZERO);
            assert!(schedule.search_until <= schedule.answer_at);
            assert!(schedule.answer_at <= deadline.max(Instant::now()));
            // Some of the clock remains for the search.
            assert!(schedule.search_until + ms(clock) * 7 / 10 + ms(1) >= deadline);
        }
    }

    #[test]
    fn delays_increase_the_reserve() {
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

//! The referee: seats players, keeps the clocks, replaces illegal and late moves, and records the
//! results.
//!
//! [`play_match`] plays one match, [`play_series`] plays many, and [`Tally`] adds them up. A
//! [`Seat`] is a trait; players in this process sit on a [`LocalSeat`].
//!
//! Read the modules in this order:
//!
//! 1. [`record`]: the record of a match, and [`replay`].
//! 2. [`seat`]: what the referee asks of a player.
//! 3. [`referee`]: one match.
//! 4. [`seating`]: who sits where.
//! 5. [`interval`] and [`sequential`]: confidence intervals, and a test that stops early.
//! 6. [`tally`]: sums and shares.
//! 7. [`series`]: many matches, one per core.

pub mod record;
pub mod seat;
pub mod referee;
pub mod seating;
pub mod interval;
pub mod sequential;
pub mod tally;
pub mod series;

#[cfg(test)]
mod tests;

pub use interval::{Estimate, estimate};
pub use record::{
    AnswerRecord, Clocks, Ending, Lapse, MatchRecord, ReplayError, SeatRecord, StepRecord, replay,
};
pub use referee::{MAX_CLOCK, MAX_STEPS, MatchConfig, WatchedStep, play_match};
pub use seat::{Answer, LocalSeat, Reply, Seat};
pub use seating::{Seating, SeatingError};
pub use sequential::{Decision, SequentialTest};
pub use series::{MakeSeat, Series, SeriesConfig, SeriesEnd, Shard, play_one, play_series};
pub use tally::{Comparison, Exchange, PlayerTally, Tally, decision};

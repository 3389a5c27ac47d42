//! The referee: seats players, keeps the clocks, replaces what is illegal or late, and says what came
//! of it.
//!
//! [`play_match`] is one match, [`play_series`] many of them, [`Tally`] their sums. A [`Seat`] is a
//! trait; players in this process sit on a [`LocalSeat`].
//!
//! Read the modules in this order:
//!
//! 1. [`record`]: what happened in a match, and [`replay`].
//! 2. [`seat`]: what the referee asks of a player.
//! 3. [`referee`]: one match.
//! 4. [`seating`]: who sits where.
//! 5. [`interval`] and [`sequential`]: how far means can be trusted, and when the answer is known.
//! 6. [`tally`]: sums and shares.
//! 7. [`series`]: many matches, one a core.

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
pub use referee::{MAX_CLOCK, MAX_STEPS, MatchConfig, play_match};
pub use seat::{Answer, LocalSeat, Reply, Seat};
pub use seating::{Seating, SeatingError};
pub use sequential::{Decision, SequentialTest};
pub use series::{MakeSeat, Series, SeriesConfig, SeriesEnd, play_one, play_series};
pub use tally::{Comparison, Exchange, PlayerTally, Tally};

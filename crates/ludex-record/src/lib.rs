//! Matches, series and plays as JSON.
//!
//! The types here mirror those of the referee and the players. They are converted by hand, so that
//! the JSON stays stable when the originals change. All of them can be read back.
//!
//! 1. [`numbers`]: times and rates, rounded for reports.
//! 2. [`thought`]: how a player chose a move.
//! 3. [`series`]: a series of matches and its totals, as `ludex match --json` reports them.
//! 4. [`key`]: what a match depends on, as a short name.
//! 5. [`community`]: one match in the form that the viewers of the community read.
//! 6. [`transcript`]: one random play with every state.
//! 7. [`trace`]: the two fixed lines of play that engines are compared on.
//! 8. [`journal`]: files that keep every finished match, and from which a series goes on.

mod lapses;
pub mod community;
pub mod journal;
pub mod key;
pub mod numbers;
pub mod series;
pub mod thought;
pub mod trace;
pub mod transcript;

pub use community::{Circumstances, CommunityRecord};
pub use journal::{Journal, JournalError};
pub use key::MatchKey;
pub use numbers::{round, seconds};
pub use series::{Heading, MatchReport, SeriesReport, ShareReport};
pub use thought::ThoughtReport;
pub use trace::TraceRecord;
pub use transcript::Transcript;

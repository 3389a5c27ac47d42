//! What was played, in shapes that are written and read as JSON.
//!
//! The types here are counterparts of those that play: made from them by hand, so that the JSON stays
//! as it is when they change. All of them can be read back.
//!
//! 1. [`numbers`]: times and rates as reports have them.
//! 2. [`thought`]: how a player came to a move.
//! 3. [`series`]: a series of matches and its sums, as `ludex match --json` reports them.
//! 4. [`community`]: one match in the form that the viewers of the community read.
//! 5. [`transcript`]: one random play with every state.
//! 6. [`trace`]: the two lines of play by which engines are compared.

mod lapses;
pub mod community;
pub mod numbers;
pub mod series;
pub mod thought;
pub mod trace;
pub mod transcript;

pub use community::{Circumstances, CommunityRecord};
pub use numbers::{round, seconds};
pub use series::{Heading, SeriesReport, ShareReport};
pub use thought::ThoughtReport;
pub use trace::TraceRecord;
pub use transcript::Transcript;

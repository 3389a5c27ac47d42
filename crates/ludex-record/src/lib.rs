//! What was played, in shapes that are written and read as JSON.
//!
//! The types here are counterparts of those that play: made from them by hand, so that the JSON stays
//! as it is when they change. All of them can be read back.
//!
//! 1. [`numbers`]: times and rates as reports have them.
//! 2. [`thought`]: how a player came to a move.
//! 3. [`lapses`]: what went wrong.
//! 4. [`series`]: a series of matches and its sums, as `ludex match --json` reports them.
//! 5. [`community`]: one match in the form that the viewers of the community read.
//! 6. [`transcript`]: one random play with every state.

mod lapses;
pub mod community;
pub mod numbers;
pub mod series;
pub mod thought;
pub mod transcript;

pub use community::{Circumstances, CommunityRecord};
pub use numbers::{round, seconds};
pub use series::{Heading, SeriesReport, ShareReport};
pub use thought::ThoughtReport;
pub use transcript::Transcript;

//! What an endpoint reports while it works.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ludex_player::Thought;

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message was answered.
    Answered {
        /// Who sent it.
        peer: SocketAddr,
        /// The match it speaks of.
        match_id: Option<String>,
        /// The message.
        request: String,
        /// What was said.
        reply: String,
        /// From the first byte of the message to the last of the reply.
        time: Duration,
    },
    /// Something came that is no message, or too much, or too slowly.
    Refused {
        /// Who sent it.
        peer: SocketAddr,
        /// What was wrong.
        reason: String,
    },
    /// A game is loaded and the match can begin.
    Loaded {
        /// The match.
        match_id: String,
        /// The role to play.
        role: String,
        /// The engine.
        engine: &'static str,
        /// Why it is not a faster one.
        fallback: Option<String>,
        /// How long that took.
        time: Duration,
    },
    /// A match that can't be played.
    NotLoaded {
        /// The match.
        match_id: String,
        /// Why not.
        reason: String,
    },
    /// A move was chosen and sent.
    Moved {
        /// The match.
        match_id: String,
        /// Steps before it.
        turn: u64,
        /// The move.
        text: String,
        /// How it came about; boxed, for it is large.
        thought: Box<Thought>,
        /// From the choice to the last byte of the reply.
        sent_after: Duration,
    },
    /// A message did not fit what is known of the match.
    Odd {
        /// The match.
        match_id: String,
        /// What was odd.
        what: String,
    },
    /// A match is over.
    Ended {
        /// The match.
        match_id: String,
        /// How: `stop`, `abort`, or `silence` if nothing was heard of it for too long.
        how: &'static str,
    },
}

impl Event {
    /// The match it is about.
    pub fn match_id(&self) -> Option<&str> {
        match self {
            Event::Answered { match_id, .. } => match_id.as_deref(),
            Event::Refused { .. } => None,
            Event::Loaded { match_id, .. }
            | Event::NotLoaded { match_id, .. }
            | Event::Moved { match_id, .. }
            | Event::Odd { match_id, .. }
            | Event::Ended { match_id, .. } => Some(match_id),
        }
    }
}

/// Receives every event. It should return soon: a match waits for it.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Reports an event. A panic of the observer does not reach the match.
pub(crate) fn notify(observer: &Observer, event: &Event) {
    let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
}

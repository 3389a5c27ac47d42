//! Events that an endpoint reports.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ludex_player::Thought;

/// An event of an endpoint.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message was answered.
    Answered {
        /// The sender.
        peer: SocketAddr,
        /// The match that the message belongs to.
        match_id: Option<String>,
        /// The message.
        request: String,
        /// The reply.
        reply: String,
        /// Time from the first byte of the message to the last of the reply.
        time: Duration,
    },
    /// The endpoint refused input: malformed, too large or too slow.
    Refused {
        /// The sender.
        peer: SocketAddr,
        /// Why it was refused.
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
        /// Why no faster engine plays.
        fallback: Option<String>,
        /// Loading time.
        time: Duration,
    },
    /// A match cannot be played.
    NotLoaded {
        /// The match.
        match_id: String,
        /// The reason.
        reason: String,
    },
    /// A move was chosen and sent.
    Moved {
        /// The match.
        match_id: String,
        /// Steps before the move.
        turn: u64,
        /// The move.
        text: String,
        /// How the player chose it; boxed because it is large.
        thought: Box<Thought>,
        /// Time from the choice to the last byte of the reply.
        sent_after: Duration,
    },
    /// A message contradicts the known course of the match.
    Odd {
        /// The match.
        match_id: String,
        /// The contradiction.
        what: String,
    },
    /// A match is over.
    Ended {
        /// The match.
        match_id: String,
        /// Why: `stop`, `abort`, or `silence` if no message came for too long.
        how: &'static str,
    },
}

impl Event {
    /// Returns the match of the event.
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

/// Receives every event. It should return quickly, because the match waits for it.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Reports an event. A panic of the observer does not reach the match.
pub(crate) fn notify(observer: &Observer, event: &Event) {
    let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
}

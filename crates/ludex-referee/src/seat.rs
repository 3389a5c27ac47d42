//! The trait through which the referee talks to a player.

use std::time::Instant;

use ludex_base::{MoveId, RoleId};
use ludex_player::{Playable, Player, Seen, Thought};

use crate::record::Lapse;

/// One seat of a match: a player in this process, a program elsewhere, a person.
///
/// The referee asks seats of this process one at a time, and seats that think elsewhere all at
/// once. A seat keeps its own clock: it answers by the deadline it is given, whatever its player
/// does, and an answer after the deadline does not count.
pub trait Seat: Send {
    /// The name of the player for the record.
    fn name(&self) -> &str;

    /// Whether the seat is asked at the same time as others, because it takes no time of this
    /// process.
    ///
    /// By default it is not; override this if the player is a program elsewhere or a person.
    fn thinks_elsewhere(&self) -> bool {
        false
    }

    /// Whether the player sees the rules before the match. By default it does not.
    fn has_preview(&self) -> bool {
        false
    }

    /// Shows the rules before the match and returns the lapse, if any. By default it does nothing.
    fn preview(&mut self) -> Option<Lapse> {
        None
    }

    /// Begins the match; the player may prepare until the deadline.
    ///
    /// # Errors
    /// When the player cannot take part. The referee asks it for moves all the same.
    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), Lapse>;

    /// Asks for the next move, given the role's observation of the last step.
    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer;

    /// Ends the match with the role's last observation.
    fn stop(&mut self, seen: Seen<'_>);

    /// Aborts the match. By default it does nothing.
    fn abort(&mut self) {}
}

/// The answer of a seat.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The move, or the lapse.
    pub reply: Reply,
    /// The player's account of its choice.
    pub thought: Option<Thought>,
}

/// A move by its id or text, or a lapse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// A move by its id, from a player in this process.
    Move(MoveId),
    /// A move by its text, from a program elsewhere.
    Text(String),
    /// No move, and why.
    Lapse(Lapse),
}

/// A player in this process.
pub struct LocalSeat<G: Playable> {
    player: Player<G>,
}

impl<G: Playable> LocalSeat<G> {
    /// Seats a player that has not started yet.
    pub fn new(player: Player<G>) -> Self {
        Self { player }
    }
}

impl<G: Playable> Seat for LocalSeat<G> {
    fn name(&self) -> &str {
        self.player.name()
    }

    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), Lapse> {
        self.player.start(role, deadline);
        Ok(())
    }

    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer {
        let choice = self.player.choose(seen, deadline);
        let reply = match choice.chosen {
            Some(chosen) => Reply::Move(chosen),
            None => Reply::Text(choice.text),
        };
        Answer { reply, thought: Some(choice.thought) }
    }

    fn stop(&mut self, _seen: Seen<'_>) {
        self.player.stop();
    }

    fn abort(&mut self) {
        self.player.stop();
    }
}

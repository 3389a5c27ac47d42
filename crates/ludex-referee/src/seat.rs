//! What the referee asks of whoever sits at the table.

use std::time::Instant;

use ludex_base::{MoveId, RoleId};
use ludex_player::{Playable, Player, Seen, Thought};

use crate::record::Lapse;

/// One seat of a match: a player in this process, a program elsewhere, a person.
///
/// Seats of this process are asked one at a time; those that think elsewhere all at once. A seat keeps
/// its own clock: it answers by the deadline it is given, whatever happens behind it, and an answer
/// after the deadline does not count.
pub trait Seat: Send {
    /// The name of the player for the record.
    fn name(&self) -> &str;

    /// Whether it is asked at the same time as others, because it takes no time of this process. By
    /// default it is not; a seat whose player is a program elsewhere or a person says otherwise.
    fn thinks_elsewhere(&self) -> bool {
        false
    }

    /// Whether the rules are shown to it before the match. By default they are not.
    fn has_preview(&self) -> bool {
        false
    }

    /// Shows the rules before the match; what went wrong then. By default there is nothing to show.
    fn preview(&mut self) -> Option<Lapse> {
        None
    }

    /// The match begins; time to prepare until the deadline.
    ///
    /// # Errors
    /// When the player can't take part; it is asked for moves all the same.
    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), Lapse>;

    /// Asks for the next move, given what the role saw of the step before.
    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer;

    /// The match is over; the last thing the role sees.
    fn stop(&mut self, seen: Seen<'_>);

    /// The match is broken off. By default the player is told nothing.
    fn abort(&mut self) {}
}

/// What a seat said.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Its move.
    pub reply: Reply,
    /// What it tells about the choice.
    pub thought: Option<Thought>,
}

/// A move as it was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// By its id, as players in this process say it.
    Move(MoveId),
    /// By its text, as programs elsewhere say it.
    Text(String),
    /// None, and what was wrong.
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

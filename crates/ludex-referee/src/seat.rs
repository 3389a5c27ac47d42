//! What the referee asks of whoever sits at the table.

use std::time::Instant;

use ludex_base::{MoveId, RoleId};
use ludex_player::{Playable, Player, Seen, Thought};

/// One seat of a match: a player in this process, a program elsewhere, a person.
///
/// The referee asks one seat at a time and waits for its answer. A seat keeps its own clock: it answers
/// by the deadline it is given, whatever happens behind it, and an answer after the deadline does not
/// count.
pub trait Seat: Send {
    /// The name of the player for the record.
    fn name(&self) -> &str;

    /// The match begins; time to prepare until the deadline.
    ///
    /// # Errors
    /// In words, when the player can't take part; it is asked for moves all the same.
    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), String>;

    /// Asks for the next move, given what the role saw of the step before.
    fn play(&mut self, seen: Seen<'_>, deadline: Instant) -> Answer;

    /// The match is over; the last thing the role sees.
    fn stop(&mut self, seen: Seen<'_>);
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
    /// Nothing that could be understood, and why.
    Nothing(String),
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

    fn start(&mut self, role: RoleId, deadline: Instant) -> Result<(), String> {
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
}

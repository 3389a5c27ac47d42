//! What a role knows about the state.
//!
//! With complete information that is the state itself. With `sees` rules it is what a
//! [`Follower`] makes of the role's own moves and percepts: the true state never enters here.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::{Cursor, Game, StateOf};
use ludex_search::Information;
use ludex_search::information::{Follower, Model, Observation, Patience};

use crate::Playable;
use crate::certainty::follower;
use crate::seen::Seen;

/// Where a role stands, as far as it knows.
pub(crate) enum Knowledge<G: Game> {
    /// The state is known.
    Open(G::Cursor),
    /// Only what agrees with it is known.
    Hidden(Box<Follower<G>>),
}

/// What a mind is shown of a turn.
#[derive(Clone, Debug)]
pub(crate) enum Situation<S> {
    /// The state.
    Open(S),
    /// What the role knows of it.
    Hidden(Information<S>),
}

impl<G: Playable> Knowledge<G> {
    /// Before a player has its role.
    pub fn unprepared(game: &G) -> Self {
        let role = RoleId::new(0);
        if !game.has_percepts() {
            Knowledge::Open(game.cursor())
        } else {
            Knowledge::Hidden(Box::new(Follower::new(game, role, Model::uniform())))
        }
    }

    /// At the beginning of a match.
    pub fn new(game: &G, role: RoleId, model: Model) -> Self {
        if !game.has_percepts() {
            Knowledge::Open(game.cursor())
        } else {
            Knowledge::Hidden(Box::new(follower(game, role, model)))
        }
    }

    /// Takes in what was seen.
    pub fn follow(&mut self, seen: Seen<'_>, rng: &mut Rng, patience: &Patience) {
        match (self, seen) {
            (_, Seen::Nothing) => {}
            (Knowledge::Open(cursor), Seen::Joint(joint)) => cursor.play(joint),
            (Knowledge::Hidden(follower), Seen::Own { own, percepts }) => {
                follower.follow(Observation::new(own, percepts), rng, patience);
            }
            (Knowledge::Open(_), Seen::Own { .. }) | (Knowledge::Hidden(_), Seen::Joint(_)) => {
                panic!("a role sees joint moves exactly if there are no percepts")
            }
        }
    }

    /// Takes in that there was a step of which nothing was seen. Where all moves are told, who tells them
    /// has to find out what it was.
    pub fn miss(&mut self, rng: &mut Rng, patience: &Patience) {
        if let Knowledge::Hidden(follower) = self {
            follower.miss(rng, patience);
        }
    }

    /// What to think about.
    pub fn situation(&mut self) -> Situation<StateOf<G>> {
        match self {
            Knowledge::Open(cursor) => Situation::Open(cursor.state().clone()),
            Knowledge::Hidden(follower) => Situation::Hidden(follower.information()),
        }
    }

    /// Takes in that something else was played for the role than the move that it chose.
    pub fn refuse(&mut self, id: MoveId) {
        if let Knowledge::Hidden(follower) = self {
            follower.refuse(id);
        }
    }

    /// Whether no state was found that agrees with what the role was told.
    pub fn is_inconsistent(&self) -> bool {
        matches!(self, Knowledge::Hidden(follower) if follower.is_inconsistent())
    }

    /// The legal moves, as far as they are known.
    pub fn legal_moves(&mut self, role: RoleId) -> Vec<MoveId> {
        match self {
            Knowledge::Open(cursor) => cursor.legal_moves(role).to_vec(),
            Knowledge::Hidden(follower) => follower.legal_moves(),
        }
    }
}

//! What a role knows about the state.
//!
//! With complete information that is the state itself. In a game with `sees` rules it is what a
//! [`Follower`] derives from the role's own moves and percepts; the true state never enters here.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::{Cursor, Game, StateOf};
use ludex_search::Information;
use ludex_search::information::{Follower, Model, Observation, Patience};

use crate::Playable;
use crate::certainty::follower;
use crate::seen::Seen;

/// What a role knows about the state, kept up to date.
pub(crate) enum Knowledge<G: Game> {
    /// The state is known.
    Open(G::Cursor),
    /// Only the observations are known, and the states that agree with them.
    Hidden(Box<Follower<G>>),
}

/// What a mind receives in a turn.
#[derive(Clone, Debug)]
pub(crate) enum Situation<S> {
    /// The state.
    Open(S),
    /// What the role knows about the state.
    Hidden(Information<S>),
}

impl<G: Playable> Knowledge<G> {
    /// The knowledge of a player before it has a role.
    pub fn unprepared(game: &G) -> Self {
        let role = RoleId::new(0);
        if !game.has_percepts() {
            Knowledge::Open(game.cursor())
        } else {
            Knowledge::Hidden(Box::new(Follower::new(game, role, Model::uniform())))
        }
    }

    /// The knowledge of a role at the beginning of a match.
    pub fn new(game: &G, role: RoleId, model: Model) -> Self {
        if !game.has_percepts() {
            Knowledge::Open(game.cursor())
        } else {
            Knowledge::Hidden(Box::new(follower(game, role, model)))
        }
    }

    /// Follows a step by its observation.
    pub fn follow(&mut self, seen: Seen<'_>, rng: &mut Rng, patience: &Patience) {
        match (self, seen) {
            (_, Seen::Nothing) => {}
            (Knowledge::Open(cursor), Seen::Joint(joint)) => cursor.play(joint),
            (Knowledge::Hidden(follower), Seen::Own { own, percepts }) => {
                follower.follow(Observation::new(own, percepts), rng, patience);
            }
            (Knowledge::Open(_), Seen::Own { .. }) | (Knowledge::Hidden(_), Seen::Joint(_)) => {
                panic!("a role sees joint moves exactly in games without percepts")
            }
        }
    }

    /// Follows a step whose observation was lost. With complete information the caller must recover the
    /// missed move, and this does nothing.
    pub fn miss(&mut self, rng: &mut Rng, patience: &Patience) {
        if let Knowledge::Hidden(follower) = self {
            follower.miss(rng, patience);
        }
    }

    /// The situation that a mind receives now.
    pub fn situation(&mut self) -> Situation<StateOf<G>> {
        match self {
            Knowledge::Open(cursor) => Situation::Open(cursor.state().clone()),
            Knowledge::Hidden(follower) => Situation::Hidden(follower.information()),
        }
    }

    /// Notes that the referee played another move for the role than the one it chose.
    pub fn refuse(&mut self, id: MoveId) {
        if let Knowledge::Hidden(follower) = self {
            follower.refuse(id);
        }
    }

    /// Whether no known state agrees with the observations of the role.
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

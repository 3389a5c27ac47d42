//! One random game, and a visitor that observes it.
//!
//! [`RandomPlay`] plays from the cursor's state; a [`PlayVisitor`] sees each state and each joint
//! move, and may end the game early. All code that learns from random games, counts them or records
//! them is a visitor, so it always draws moves in the same order.
//!
//! Between [`PlayVisitor::before`] and [`PlayVisitor::after`], the generator draws one move for
//! each role, in role order.

use std::ops::ControlFlow;

use ludex_base::{MoveId, Rng, RoleId};

use crate::game::{Cursor, Game};

/// Steps after which a random game is abandoned, because a game with a broken rulesheet may never
/// end. Random games of good rulesheets end within a few hundred steps.
pub const MAX_RANDOM_STEPS: usize = 2_000;

/// Plays random games from a cursor's state. Reuses its working memory from game to game.
#[derive(Clone, Debug)]
pub struct RandomPlay {
    n_roles: usize,
    max_steps: usize,
    joint: Vec<MoveId>,
}

/// Observes a random game while it is played. The defaults of all methods ignore the game.
pub trait PlayVisitor<C: Cursor> {
    /// Sees a nonterminal state before a joint move is drawn there; `Break` ends the game.
    fn before(&mut self, _cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Draws the move of a role; `None` if it has none. The default draws each legal move equally
    /// likely. Override it to see the list of legal moves, or to draw from another order of it.
    fn draw(&mut self, cursor: &mut C, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        cursor.draw_move(role, rng)
    }

    /// Sees the state after a joint move, terminal or not; `Break` ends the game.
    fn after(&mut self, _cursor: &mut C, _joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Ignores the game.
impl<C: Cursor> PlayVisitor<C> for () {}

/// Why a random game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayEnd {
    /// It reached a terminal state after this many joint moves. If the engine can fail, the caller
    /// checks [`Cursor::has_fault`].
    Terminal(usize),
    /// The visitor ended it.
    Stopped,
    /// It reached the step limit.
    TooLong,
    /// A role has no legal move in a nonterminal state.
    NoLegalMove(RoleId),
}

impl RandomPlay {
    /// Creates a player of games of at most [`MAX_RANDOM_STEPS`].
    pub fn new(n_roles: usize) -> Self {
        Self::within(n_roles, MAX_RANDOM_STEPS)
    }

    /// Creates a player of games of at most `max_steps` joint moves.
    pub fn within(n_roles: usize, max_steps: usize) -> Self {
        Self { n_roles, max_steps, joint: Vec::with_capacity(n_roles) }
    }

    /// Plays one game and leaves the cursor on its last state.
    pub fn run<C: Cursor>(
        &mut self,
        cursor: &mut C,
        rng: &mut Rng,
        visitor: &mut impl PlayVisitor<C>,
    ) -> PlayEnd {
        for n_steps in 0.. {
            if cursor.is_terminal() {
                return PlayEnd::Terminal(n_steps);
            }
            if n_steps >= self.max_steps {
                break;
            }
            if visitor.before(cursor, n_steps, rng).is_break() {
                return PlayEnd::Stopped;
            }
            self.joint.clear();
            for role in (0..self.n_roles).map(RoleId::new) {
                let Some(drawn) = visitor.draw(cursor, role, rng) else {
                    return PlayEnd::NoLegalMove(role);
                };
                self.joint.push(drawn);
            }
            cursor.play(&self.joint);
            if visitor.after(cursor, &self.joint, rng).is_break() {
                return PlayEnd::Stopped;
            }
        }
        PlayEnd::TooLong
    }

    /// Returns the last joint move played.
    pub fn last_joint(&self) -> &[MoveId] {
        &self.joint
    }
}

/// Draws a random joint move of a state; `None` if a role has no legal move.
pub fn draw_joint<G: Game>(game: &G, cursor: &mut G::Cursor, rng: &mut Rng) -> Option<Vec<MoveId>> {
    game.role_ids().map(|role| cursor.draw_move(role, rng)).collect()
}

/// Converts a stop condition into a visitor's answer.
pub fn stop_if(is_over: bool) -> ControlFlow<()> {
    if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;
    use crate::test_games::Nim;

    /// Records the moves, and stops after some.
    struct Record {
        moves: Vec<MoveId>,
        max_moves: usize,
    }

    impl<C: Cursor> PlayVisitor<C> for Record {
        fn after(&mut self, _cursor: &mut C, joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
            self.moves.extend_from_slice(joint);
            stop_if(self.moves.len() >= self.max_moves)
        }
    }

    #[test]
    fn a_game_ends_at_a_terminal_state_the_step_limit_or_the_visitors_stop() {
        let game = Nim::new(&[9, 9]);
        let run = |max_steps: usize, max_moves: usize| {
            let mut record = Record { moves: Vec::new(), max_moves };
            let mut play = RandomPlay::within(2, max_steps);
            let end = play.run(&mut game.cursor(), &mut Seed(1).rng(), &mut record);
            (end, record.moves)
        };
        let (end, whole) = run(MAX_RANDOM_STEPS, usize::MAX);
        assert_eq!(end, PlayEnd::Terminal(whole.len() / 2));
        assert_eq!(run(whole.len() / 2, usize::MAX), (end, whole.clone()));
        assert_eq!(run(1, usize::MAX), (PlayEnd::TooLong, whole[..2].to_vec()));
        assert_eq!(run(MAX_RANDOM_STEPS, 4), (PlayEnd::Stopped, whole[..4].to_vec()));
    }

    #[test]
    fn moves_are_drawn_role_by_role() {
        let game = Nim::new(&[9, 9, 9]);
        let (mut cursor, mut rng) = (game.cursor(), Seed(3).rng());
        let mut moves = Vec::new();
        while !cursor.is_terminal() {
            let joint = draw_joint(&game, &mut cursor, &mut rng).expect("there are moves");
            cursor.play(&joint);
            moves.extend(joint);
        }
        let mut record = Record { moves: Vec::new(), max_moves: usize::MAX };
        RandomPlay::new(2).run(&mut game.cursor(), &mut Seed(3).rng(), &mut record);
        assert_eq!(record.moves, moves);
    }
}

//! What a role is told between two of its moves.

use ludex_base::{MoveId, PerceptId};

/// What a role saw of the step before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// There was no step yet.
    Nothing,
    /// Everything: the joint move. The role's own move is the one in it, whatever it had chosen.
    Joint(&'a [MoveId]),
    /// In a game with `sees` rules: the move that was played for the role, and its percepts.
    Own {
        /// The role's move.
        own: MoveId,
        /// What it saw.
        percepts: &'a [PerceptId],
    },
}

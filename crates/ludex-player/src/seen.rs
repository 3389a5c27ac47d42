//! Observations: what a role learns between two of its moves.

use ludex_base::{MoveId, PerceptId};

/// A role's observation of the last step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// No step has been played yet.
    Nothing,
    /// The joint move. It contains the move that was played for the role, whatever the role had chosen.
    Joint(&'a [MoveId]),
    /// The move that was played for the role, and its percepts, in a game with `sees` rules.
    Own {
        /// The role's move.
        own: MoveId,
        /// Its percepts.
        percepts: &'a [PerceptId],
    },
}

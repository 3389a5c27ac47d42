//! Legal moves derived from the rules alone, without possible states.

use ludex_base::MoveId;

use super::known::Observation;

/// Follows one role through a match without keeping any state.
///
/// It belongs to a [`Follower`](super::Follower). What it derives is true in every state that
/// agrees with the observations.
pub trait Certainty: Send {
    /// Takes in a step; `None` if the role received no observation.
    fn follow(&mut self, observed: Option<&Observation>);

    /// Returns the moves to treat as legal, ascending: those that are certainly legal. If there are
    /// none, those of `likely` that may be legal; if there are none of these either, all that may
    /// be.
    fn legal_moves(&self, likely: &[MoveId]) -> Vec<MoveId>;
}

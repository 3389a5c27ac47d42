//! What needs no states: which moves are legal by the rules alone.

use ludex_base::MoveId;

use super::known::Observation;

/// Follows one role through a match, as the [`Follower`](super::Follower) that it is given to does,
/// without any state: what it calls certain holds in all that agree.
pub trait Certainty: Send {
    /// Takes in a step; `None` is one of which the role was told nothing.
    fn follow(&mut self, observed: Option<&Observation>);

    /// The moves to take for legal, ascending: those that are certain to be. If there is none, those of a
    /// list of likely ones that may be; if there is none of these either, all that may be.
    fn legal_moves(&self, likely: &[MoveId]) -> Vec<MoveId>;
}

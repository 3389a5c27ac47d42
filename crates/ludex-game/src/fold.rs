//! The trait of symmetries that an engine may fold its states by.

use std::fmt;

use ludex_base::{BitSet, MoveId};

/// Chooses one state for all states that symmetries take to each other, for engines whose states
/// are sets of fluents.
///
/// The symmetries keep all roles, so that the chosen state has the same goals and the same value as
/// any of them.
pub trait Fold: fmt::Debug + Send + Sync {
    /// Writes the chosen state into `canonical`, which has the size of the state.
    fn fold_state(&self, state: &BitSet, canonical: &mut BitSet);

    /// Keeps of some legal moves of a role, none of the others having a choice, one of those that
    /// lead to the same chosen states: the first in the list.
    fn fold_moves(&self, state: &BitSet, moves: &mut Vec<MoveId>);
}

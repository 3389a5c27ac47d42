//! Advisers: other sources of the values of states.

use ludex_base::Deadline;

/// Knows the goals of some states, whatever is played from there.
///
/// A tree asks about a node once it has so many visits that an answer would save work.
pub trait Adviser<S>: Send {
    /// Returns the number of visits at which the tree asks about a node; `None` for no questions at
    /// present.
    fn asks_at(&mut self) -> Option<u32>;

    /// Returns the goals of all roles if every play from this state ends with them.
    fn certain_goals(&mut self, state: &S, deadline: &Deadline) -> Option<Vec<u8>>;
}

//! What somebody else knows of states without playing from them.

use ludex_base::Deadline;

/// Knows of some states what they are worth, whatever is played from there.
///
/// A tree asks about a node when it has been visited so often that an answer would save something.
pub trait Adviser<S>: Send {
    /// Visits at which a node is asked about; `None` to be asked nothing for now.
    fn asks_at(&mut self) -> Option<u32>;

    /// The goals of all roles, by role, if every play from this state ends with them.
    fn certain_goals(&mut self, state: &S, deadline: &Deadline) -> Option<Vec<u8>>;
}

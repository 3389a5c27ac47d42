//! What somebody else knows of states without playing from them.

use ludex_base::Deadline;

/// Knows of some states what they are worth, whatever is played from there.
///
/// A tree asks about a node when it has been visited so often that an answer would save something.
pub trait Adviser<S>: Send {
    /// Visits at which a node is asked about; `None` to be asked nothing for now.
    fn asks_at(&mut self) -> Option<u32>;

    /// Whether it is asked about states too in which several roles choose at once. The default is that
    /// it is.
    fn knows_several(&self) -> bool {
        true
    }

    /// Whether statistics of all moves as first hear of walks that end at closed nodes, which are walks
    /// that no playout follows. The default is that they do.
    fn tells_of_closed_lines(&self) -> bool {
        true
    }

    /// The goals of all roles, by role, if every play from this state ends with them.
    fn certain_goals(&mut self, state: &S, deadline: &Deadline) -> Option<Vec<u8>>;
}

//! Games that have a circuit.

use ludex_base::BitSet;

use crate::Circuit;

/// The rules of a game as a circuit, and how its states are read as fluents.
pub trait Rules<S>: Send + Sync {
    /// The circuit.
    fn circuit(&self) -> &Circuit;

    /// The fluents that are true in a state.
    fn fluents<'a>(&self, state: &'a S) -> &'a BitSet;

    /// The state in which these fluents are true.
    fn state(&self, fluents: &BitSet) -> S;
}

impl Rules<BitSet> for Circuit {
    fn circuit(&self) -> &Circuit {
        self
    }

    fn fluents<'a>(&self, state: &'a BitSet) -> &'a BitSet {
        state
    }

    fn state(&self, fluents: &BitSet) -> BitSet {
        fluents.clone()
    }
}

//! The trait of games that have a circuit.

use ludex_base::BitSet;

use crate::Circuit;

/// The rules of a game as a circuit, and the conversion between its states and fluents.
pub trait Rules<S>: Send + Sync {
    /// Returns the circuit.
    fn circuit(&self) -> &Circuit;

    /// Returns the fluents that are true in a state.
    fn fluents<'a>(&self, state: &'a S) -> &'a BitSet;

    /// Returns the state in which exactly these fluents are true.
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

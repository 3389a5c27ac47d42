//! The games that players can play.

use std::sync::Arc;

use ludex_base::BitSet;
use ludex_circuit::Circuit;
use ludex_game::{Describe, Game, Observe, Playouts, StateOf};
use ludex_machine::Machine;
use ludex_macucb::Rules;
use ludex_reasoner::Reasoner;

use crate::mind::Minds;
use crate::roster::PlayerSpec;

/// A game that players can play: copies are cheap, and it can do all that searches and reports need.
pub trait Playable:
    Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
    /// The rules as a circuit, for searches on networks; `None`, which is the default, for an engine
    /// that has none.
    fn rules(&self) -> Option<Arc<dyn Rules<StateOf<Self>>>> {
        None
    }

    /// What a player of it thinks with: [`Minds::new`]. Each engine says so itself, because the searches
    /// of all players are a lot of code, which is made for it here and not in each crate that has players.
    fn minds(&self, spec: &PlayerSpec) -> Minds<Self>;
}

impl Playable for Machine {
    fn rules(&self) -> Option<Arc<dyn Rules<BitSet>>> {
        Some(Arc::new(OfMachine(self.clone())))
    }

    fn minds(&self, spec: &PlayerSpec) -> Minds<Self> {
        Minds::new(spec, self)
    }
}

impl Playable for Reasoner {
    fn minds(&self, spec: &PlayerSpec) -> Minds<Self> {
        Minds::new(spec, self)
    }
}

/// A machine has a circuit, and its states are fluents.
struct OfMachine(Machine);

impl Rules<BitSet> for OfMachine {
    fn circuit(&self) -> &Circuit {
        self.0.circuit()
    }

    fn fluents<'a>(&self, state: &'a BitSet) -> &'a BitSet {
        state
    }

    fn state(&self, fluents: &BitSet) -> BitSet {
        fluents.clone()
    }
}

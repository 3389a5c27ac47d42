//! What the methods that read the circuit know about a puzzle.

use ludex_base::{BitSet, Limits};
use ludex_circuit::Circuit;

use super::clock::Clock;
use super::effects::Effects;
use super::groups::find_groups;
use super::lanes::Groups;

/// What was proved about a puzzle.
pub(super) struct Analysis<'a> {
    pub circuit: &'a Circuit,
    pub groups: Groups,
    pub effects: Effects,
    pub clock: Clock,
    /// The fluents of the state to solve.
    pub state: &'a BitSet,
}

/// Gates that unrolling the loops of a circuit may add.
const MAX_UNROLLED: usize = 1_000_000;

impl<'a> Analysis<'a> {
    /// Returns the circuit to analyse, which has no loops; `None` if it is too large.
    pub fn circuit(circuit: &Circuit) -> Option<Circuit> {
        let max_gates = circuit.n_gates() + MAX_UNROLLED;
        circuit.unrolled(max_gates).map(|circuit| circuit.optimized())
    }

    /// Analyses a circuit without loops; `None` if it is too large or the deadline is reached.
    pub fn of(circuit: &'a Circuit, state: &'a BitSet, limits: &Limits) -> Option<Self> {
        let groups = Groups::new(circuit, find_groups(circuit, state, &limits.deadline)?);
        let effects = Effects::of(circuit, &groups, &limits.deadline)?;
        let clock = Clock::of(circuit, &groups, &effects.autonomous, state)?;
        Some(Self { circuit, groups, effects, clock, state })
    }
}

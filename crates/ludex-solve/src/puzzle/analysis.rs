//! What the methods that read the circuit know about a puzzle.

use ludex_base::{BitSet, Limits, StopReason};
use ludex_circuit::Circuit;
use ludex_game::Game;

use super::clock::Clock;
use super::effects::Effects;
use super::groups::find_groups;
use super::lanes::Groups;
use crate::problem::Problem;

/// What was proved about a puzzle.
pub(super) struct Analysis {
    /// The rules without loops.
    pub circuit: Circuit,
    pub groups: Groups,
    pub effects: Effects,
    pub clock: Clock,
    /// The fluents of the state to solve.
    pub state: BitSet,
}

/// Gates that unrolling the loops of a circuit may add.
const MAX_UNROLLED: usize = 1_000_000;

impl Analysis {
    /// Returns the circuit to analyse, which has no loops; `None` if it is too large.
    pub fn circuit(circuit: &Circuit) -> Option<Circuit> {
        let max_gates = circuit.n_gates() + MAX_UNROLLED;
        circuit.unrolled(max_gates).map(|circuit| circuit.optimized())
    }

    /// Analyses a puzzle.
    ///
    /// # Errors
    /// Why there is no analysis: the deadline, or [`StopReason::Count`] if there are no rules or
    /// they are too large.
    pub fn of<G: Game>(problem: &Problem<'_, G>, limits: &Limits) -> Result<Self, StopReason> {
        let rules = problem.rules.ok_or(StopReason::Count)?;
        let circuit = Self::circuit(rules.circuit()).ok_or(StopReason::Count)?;
        let state = rules.fluents(&problem.state).clone();
        Self::of_circuit(circuit, state, limits)
            .ok_or_else(|| limits.deadline.stop_reason().unwrap_or(StopReason::Count))
    }

    /// Analyses a circuit without loops; `None` if it is too large or the deadline is reached.
    fn of_circuit(circuit: Circuit, state: BitSet, limits: &Limits) -> Option<Self> {
        let groups = Groups::new(&circuit, find_groups(&circuit, &state, &limits.deadline)?);
        let effects = Effects::of(&circuit, &groups, &limits.deadline)?;
        let clock = Clock::of(&circuit, &groups, &effects.autonomous, &state)?;
        Some(Self { circuit, groups, effects, clock, state })
    }
}

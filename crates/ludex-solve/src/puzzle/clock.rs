//! What happens by itself: the values, step by step, of fluents that no move influences.
//!
//! Step counters are such fluents. Their values follow from the number of steps alone, so methods
//! need not search for them, and they often limit the length of a play.

use ludex_base::{BitSet, FluentId};
use ludex_circuit::Circuit;

use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal};

/// The values of the fluents that no move influences, for each number of steps.
pub(crate) struct Clock {
    /// By number of steps, the fluents that are true.
    pub ticks: Vec<BitSet>,
    /// Whether every play has ended when the last tick is reached. If not, plays may be longer.
    pub is_limit: bool,
}

/// Steps after which the clock is no longer followed. What it says must hold for whole plays.
const MAX_TICKS: usize = 2_000;

impl Clock {
    /// Follows the autonomous fluents from a state until the game must be over, or until they
    /// repeat; `None` if that takes more than 2,000 steps.
    pub fn of(
        circuit: &Circuit,
        groups: &Groups,
        autonomous: &BitSet,
        state: &BitSet,
    ) -> Option<Self> {
        let mut cones = Cones::new(circuit);
        let next = autonomous.iter().map(|idx| circuit.next[idx]);
        let cone = cones.of(next.chain([circuit.terminal]));
        let mut lanes = Lanes::new(circuit);
        let mut now = autonomous.clone();
        for (word, of_state) in now.words_mut().iter_mut().zip(state.words()) {
            *word &= of_state;
        }
        let mut clock = Self { ticks: Vec::new(), is_limit: false };
        while !clock.ticks.contains(&now) {
            if clock.ticks.len() == MAX_TICKS {
                return None;
            }
            let mut assumptions = Assumptions::new(circuit, groups);
            for idx in autonomous.iter() {
                let value = now.contains(idx);
                assumptions.assume(Literal { fluent: FluentId::new(idx), value }, 1);
            }
            lanes.evaluate(&cone, &assumptions);
            let terminal = lanes.known(circuit.terminal);
            clock.ticks.push(now.clone());
            if terminal.yes & 1 == 1 {
                clock.is_limit = true;
                break;
            }
            now.clear();
            for idx in autonomous.iter() {
                if lanes.known(circuit.next[idx]).yes & 1 == 1 {
                    now.insert(idx);
                }
            }
        }
        Some(clock)
    }
}

//! Smaller circuits for the phases of a game.
//!
//! In most games the values of some fluents do not depend on the moves played: above all, whose
//! turn it is and the number of the step. Those that are periodic divide the game into *phases*. In
//! each phase their values are known. So most moves of all roles but one are known to be illegal,
//! and about half of the gates fall away. Independent fluents that are not periodic may be known in
//! a phase as well: if red begins and turns alternate, no even step is red's.

use ludex_base::{BitSet, Pace, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::circuit::{Circuit, Gate, GateId};

/// Longest period to look for.
const MAX_PERIOD: usize = 4;

/// Largest number of gates to visit when searching for independent fluents, and again when
/// following them: a few hundredths of a second each.
const MAX_WORK: usize = 4_000_000;

/// Fluents that depend only on each other, and their known values in each phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phases {
    /// For each phase, the fluents that have the same value whenever it recurs. The initial state
    /// is in the first phase, and the first phase follows the last.
    pub known: Vec<BitSet>,
    /// For each phase, the known fluents that are true.
    pub values: Vec<BitSet>,
    /// Fluents whose next values depend only on each other. The known fluents are among them.
    followed: Vec<usize>,
    /// The values of the followed fluents in reachable states, each with its phase.
    steps: FxHashMap<BitSet, usize>,
}

impl Phases {
    /// Returns the one phase of a game of which nothing periodic is to be used: every state is in it.
    pub fn one() -> Self {
        known_in_phases(&[BitSet::new(0)], 1, Vec::new())
    }

    /// Returns the number of phases; 1 if nothing is periodic.
    pub fn n_phases(&self) -> usize {
        self.values.len()
    }

    /// Returns the phase of a state; every reachable state has one.
    pub fn phase_of(&self, state: &BitSet) -> Option<usize> {
        self.steps.get(&picked(state, &self.followed)).copied()
    }
}

impl Circuit {
    /// Finds the phases of the game.
    pub fn phases(&self) -> Phases {
        let all: Vec<GateId> = self.gate_ids().collect();
        let independent = self.closed((0..self.next.len()).collect(), &all);
        let cone = self.cone(independent.iter().map(|&fluent| self.next[fluent]));
        let cone: Vec<GateId> = all.into_iter().filter(|id| cone[id.index()]).collect();
        let mut trajectory = Trajectory::new(self, &independent, &cone);
        (0..MAX_PERIOD).for_each(|_| trajectory.advance());
        let mut best = (1, Vec::new());
        for period in 1..=MAX_PERIOD {
            let states = &trajectory.states;
            let returns = |&&it: &&usize| states[period].contains(it) == states[0].contains(it);
            let candidates = independent.iter().filter(returns).copied().collect();
            let fluents = self.closed(candidates, &cone);
            // A fluent of period one also has period two.
            if fluents.len() > best.1.len() {
                best = (period, fluents);
            }
        }
        let (period, returning) = best;
        let is_complete = trajectory.complete(period);
        let states = &trajectory.states;
        if is_complete {
            let phases = known_in_phases(states, period, independent);
            if phases.known.iter().any(|known| known.count() > returning.len()) {
                return phases;
            }
        }
        known_in_phases(&states[..period], period, returning)
    }

    /// Returns the largest subset of some fluents whose next values depend only on each other;
    /// `cone` holds the gates in between. Empty if finding it takes too many rounds.
    fn closed(&self, mut fluents: Vec<usize>, cone: &[GateId]) -> Vec<usize> {
        let mut depends_on_others = vec![true; self.n_gates()];
        let n_rounds = MAX_WORK / (cone.len() + 1);
        for _ in 0..n_rounds {
            let mut is_listed = vec![false; self.next.len()];
            fluents.iter().for_each(|&fluent| is_listed[fluent] = true);
            for &id in cone {
                depends_on_others[id.index()] = match self.gate(id) {
                    Gate::Fluent(fluent) => !is_listed[fluent.index()],
                    Gate::Move(_) | Gate::Feedback => true,
                    _ => self.inputs(id).iter().any(|input| depends_on_others[input.index()]),
                };
            }
            let n_before = fluents.len();
            fluents.retain(|&fluent| !depends_on_others[self.next[fluent].index()]);
            if fluents.len() == n_before {
                return fluents;
            }
        }
        Vec::new()
    }

    /// Returns the circuit for the states of one phase, with some inputs replaced by constants: its
    /// known fluents, the moves that are illegal throughout, and the move of a role that has only
    /// one.
    ///
    /// It is equivalent to this circuit for transitions from states of the phase in which every
    /// role plays a legal move.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn in_phase(
        &self,
        phases: &Phases,
        phase: usize,
        pace: &Pace<'_>,
    ) -> Result<Circuit, StopReason> {
        let (known, values) = (&phases.known[phase], &phases.values[phase]);
        if known.is_empty() {
            return Ok(self.clone());
        }
        let fluents_known = self.with_known(pace, |gate| match gate {
            Gate::Fluent(fluent) if known.contains(fluent.index()) => {
                Some(values.contains(fluent.index()))
            }
            _ => None,
        })?;
        let is_possible =
            |&idx: &usize| fluents_known.gate(fluents_known.legal[idx]) != Gate::Constant(false);
        let mut n_possible = vec![0; self.n_roles()];
        let role_of = |idx: usize| self.vocabulary.moves[idx].0.index();
        (0..self.legal.len()).filter(is_possible).for_each(|idx| n_possible[role_of(idx)] += 1);
        fluents_known.with_known(pace, |gate| match gate {
            Gate::Move(played) if !is_possible(&played.index()) => Some(false),
            Gate::Move(played) if n_possible[role_of(played.index())] == 1 => Some(true),
            _ => None,
        })
    }

    /// Returns the circuit with some inputs replaced by constants.
    fn with_known(
        &self,
        pace: &Pace<'_>,
        known: impl Fn(Gate<'_>) -> Option<bool>,
    ) -> Result<Circuit, StopReason> {
        self.rebuilt(pace, |builder, _, id| {
            known(self.gate(id)).map(|value| builder.constant(value))
        })
    }
}

/// The sequence of values of fluents that depend only on each other.
struct Trajectory<'a> {
    circuit: &'a Circuit,
    fluents: &'a [usize],
    /// The gates between their values and their next values.
    cone: &'a [GateId],
    /// Their values, step by step from the initial state.
    states: Vec<BitSet>,
    gates: Vec<bool>,
}

impl<'a> Trajectory<'a> {
    fn new(circuit: &'a Circuit, fluents: &'a [usize], cone: &'a [GateId]) -> Self {
        let gates = vec![false; circuit.n_gates()];
        let mut init = BitSet::new(circuit.next.len());
        fluents.iter().filter(|&&it| circuit.init.contains(it)).for_each(|&it| init.insert(it));
        Self { circuit, fluents, cone, states: vec![init], gates }
    }

    /// Appends the next state.
    fn advance(&mut self) {
        let state = &self.states[self.states.len() - 1];
        for &id in self.cone {
            self.gates[id.index()] = self.circuit.value(id, &self.gates, state, &[]);
        }
        let mut next = BitSet::new(self.circuit.next.len());
        let is_true = |&&it: &&usize| self.gates[self.circuit.next[it].index()];
        self.fluents.iter().filter(is_true).for_each(|&it| next.insert(it));
        self.states.push(next);
    }

    /// Continues until a state recurs in the same phase; returns false if that takes too long.
    fn complete(&mut self, period: usize) -> bool {
        let n_words = self.circuit.next.len() / 64;
        let max_steps = MAX_WORK / (self.cone.len() + self.fluents.len() + n_words + 1);
        let mut seen: FxHashSet<(BitSet, usize)> = FxHashSet::default();
        for step in 0..max_steps {
            while self.states.len() <= step {
                self.advance();
            }
            if !seen.insert((self.states[step].clone(), step % period)) {
                self.states.truncate(step);
                return true;
            }
        }
        false
    }
}

/// Computes the known fluents of each phase from the sequence of their states.
fn known_in_phases(states: &[BitSet], period: usize, followed: Vec<usize>) -> Phases {
    let capacity = states[0].words().len() * 64;
    let (mut known, mut values) = (Vec::new(), Vec::new());
    for phase in 0..period {
        let (mut known_here, mut values_here) = (BitSet::new(capacity), BitSet::new(capacity));
        for &fluent in &followed {
            let value = states[phase].contains(fluent);
            let mut of_phase = states[phase..].iter().step_by(period);
            if of_phase.all(|state| state.contains(fluent) == value) {
                known_here.insert(fluent);
                if value {
                    values_here.insert(fluent);
                }
            }
        }
        known.push(known_here);
        values.push(values_here);
    }
    let steps = states.iter().enumerate();
    let steps = steps.map(|(step, state)| (picked(state, &followed), step % period)).collect();
    Phases { known, values, followed, steps }
}

/// Copies the values of some fluents into a new set.
fn picked(state: &BitSet, fluents: &[usize]) -> BitSet {
    let mut set = BitSet::new(fluents.len());
    let is_true = fluents.iter().enumerate().filter(|(_, fluent)| state.contains(**fluent));
    is_true.for_each(|(idx, _)| set.insert(idx));
    set
}

//! Circuits for the phases of a game.
//!
//! In most games some fluents go round and round whatever is played, above all whose turn it is. In
//! each phase of that round these fluents are known, so most moves of all roles but one are known to
//! be illegal, and with them about half of the gates fall away.

use ludex_base::BitSet;

use crate::circuit::{Circuit, Gate, GateId};

/// Longer rounds are not looked for.
const MAX_PERIOD: usize = 4;

/// How many gates may be looked at to find what depends on nothing else: a few hundredths of a second.
const MAX_CLOSING_WORK: usize = 4_000_000;

/// Fluents that depend on nothing but each other and return to their initial values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phases {
    /// The fluents.
    pub fluents: BitSet,
    /// Those of them that are true, phase by phase. The initial state is in the first phase, and after
    /// the last comes the first again.
    pub values: Vec<BitSet>,
}

impl Phases {
    /// The phase that a state is in; reachable states are in one.
    pub fn phase_of(&self, state: &BitSet) -> Option<usize> {
        let is_in = |values: &BitSet| {
            let words = self.fluents.words().iter().zip(values.words()).zip(state.words());
            words.into_iter().all(|((fluents, values), state)| state & fluents == *values)
        };
        self.values.iter().position(is_in)
    }
}

impl Circuit {
    /// The phases of the game; a single one if nothing goes round.
    pub fn phases(&self) -> Phases {
        let all: Vec<GateId> = self.gate_ids().collect();
        let independent = self.closed((0..self.next.len()).collect(), &all);
        let cone = self.cone(independent.iter().map(|&fluent| self.next[fluent]));
        let cone: Vec<GateId> = all.into_iter().filter(|id| cone[id.index()]).collect();
        let mut trajectory = vec![self.init.clone()];
        for _ in 0..if independent.is_empty() { 0 } else { MAX_PERIOD } {
            let values = self.evaluate(&trajectory[trajectory.len() - 1], &[]);
            let mut state = BitSet::new(self.next.len());
            let is_true = |&fluent: &usize| values[self.next[fluent].index()];
            independent.iter().filter(|it| is_true(it)).for_each(|&it| state.insert(it));
            trajectory.push(state);
        }
        let mut best = (1, Vec::new());
        for period in 1..trajectory.len() {
            let returns = |&&fluent: &&usize| {
                trajectory[period].contains(fluent) == trajectory[0].contains(fluent)
            };
            let candidates = independent.iter().filter(returns).copied().collect();
            let fluents = self.closed(candidates, &cone);
            // What returns after one step returns after two as well.
            if fluents.len() > best.1.len() {
                best = (period, fluents);
            }
        }
        let (period, list) = best;
        let mut fluents = BitSet::new(self.next.len());
        list.iter().for_each(|&it| fluents.insert(it));
        let values = trajectory[..period]
            .iter()
            .map(|state| {
                let mut values = BitSet::new(self.next.len());
                let is_true = list.iter().filter(|&&it| state.contains(it));
                is_true.for_each(|&it| values.insert(it));
                values
            })
            .collect();
        Phases { fluents, values }
    }

    /// Those of some fluents whose next values depend on nothing but each other; `cone` has the gates
    /// in between. None if that takes many rounds to find out.
    fn closed(&self, mut fluents: Vec<usize>, cone: &[GateId]) -> Vec<usize> {
        let mut depends_on_others = vec![true; self.n_gates()];
        let n_rounds = MAX_CLOSING_WORK / (cone.len() + 1);
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

    /// The circuit for the states of one phase, in which some inputs are known: its fluents, the moves
    /// that are illegal all along, and the move of a role that has only one.
    ///
    /// It says the same as this one about the transitions from states of the phase in which every
    /// role plays a legal move.
    pub fn in_phase(&self, phases: &Phases, phase: usize) -> Circuit {
        if phases.fluents.is_empty() {
            return self.clone();
        }
        let values = &phases.values[phase];
        let fluents_known = self.with_known(|gate| match gate {
            Gate::Fluent(fluent) if phases.fluents.contains(fluent.index()) => {
                Some(values.contains(fluent.index()))
            }
            _ => None,
        });
        let is_possible =
            |&idx: &usize| fluents_known.gate(fluents_known.legal[idx]) != Gate::Constant(false);
        let mut n_possible = vec![0; self.n_roles()];
        let role_of = |idx: usize| self.vocabulary.moves[idx].0.index();
        (0..self.legal.len()).filter(is_possible).for_each(|idx| n_possible[role_of(idx)] += 1);
        fluents_known.with_known(|gate| match gate {
            Gate::Move(played) if !is_possible(&played.index()) => Some(false),
            Gate::Move(played) if n_possible[role_of(played.index())] == 1 => Some(true),
            _ => None,
        })
    }

    /// The circuit with constants in the place of some inputs.
    fn with_known(&self, known: impl Fn(Gate<'_>) -> Option<bool>) -> Circuit {
        self.rebuilt(|builder, _, id| known(self.gate(id)).map(|value| builder.constant(value)))
    }
}

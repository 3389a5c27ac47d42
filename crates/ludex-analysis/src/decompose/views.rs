//! What the goals and the end of a game see of each part.
//!
//! The gates of the goals and of `terminal` that read one part alone are its *interface*. Two states
//! of a part with the same values there, its *view*, are the same to the goals. So the parts are
//! combined view by view, and not state by state.

use ludex_base::{BitSet, FluentId, MoveId};
use ludex_circuit::{Circuit, GateId};

use super::Split;
use super::known::{Known, Truth};
use super::lanes::N_LANES;
use super::structure::{Label, labels};

/// The values of the interface of a part in one of its states, 64 in a word.
pub type View = Box<[u64]>;

/// What is known about the end and the goals when some parts are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Whether the game must be over.
    pub must_end: bool,
    /// Whether it may be over.
    pub may_end: bool,
    /// By goal of the circuit, whether it must be true and whether it may be.
    pub goals: Vec<(bool, bool)>,
}

/// Evaluates views, and outcomes from views.
pub struct Views<'a> {
    circuit: &'a Circuit,
    split: &'a Split,
    /// By part, the gates of its interface, ascending.
    interfaces: Vec<Vec<GateId>>,
    of_parts: Vec<Known<'a>>,
    of_roots: Known<'a>,
    /// Evaluations of 64 lanes so far.
    pub n_evaluations: u64,
}

impl<'a> Views<'a> {
    /// Finds the interfaces.
    pub fn new(circuit: &'a Circuit, split: &'a Split) -> Self {
        let mut of_fluent = vec![Label::None; circuit.next.len()];
        for (idx, part) in split.parts.iter().enumerate() {
            part.iter().for_each(|it| of_fluent[it.index()] = Label::One(idx));
        }
        // The clock is a part here, so that no interface reads it.
        for fluent in &split.clock {
            of_fluent[fluent.index()] = Label::One(split.parts.len());
        }
        let labels = labels(circuit, |it| of_fluent[it.index()], |_| Label::None);
        let roots: Vec<GateId> =
            circuit.goals.iter().map(|it| it.2).chain([circuit.terminal]).collect();
        let is_wanted = circuit.cone(roots.iter().copied());
        let mut interfaces: Vec<Vec<GateId>> = vec![Vec::new(); split.parts.len()];
        let mut add = |gate: GateId| {
            if let Label::One(part) = labels[gate.index()]
                && part < split.parts.len()
            {
                interfaces[part].push(gate);
            }
        };
        roots.iter().for_each(|&gate| add(gate));
        for id in circuit.gate_ids().filter(|id| is_wanted[id.index()]) {
            if labels[id.index()] == Label::Several {
                circuit.inputs(id).iter().for_each(|&gate| add(gate));
            }
        }
        for &(to, from) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            if labels[to.index()] == Label::Several {
                add(from);
            }
        }
        for interface in &mut interfaces {
            interface.sort_unstable();
            interface.dedup();
        }
        let of_part = |part: usize| {
            let mut known = Known::new(circuit, &circuit.cone(interfaces[part].iter().copied()));
            set_fixed(&mut known, split);
            known
        };
        let of_parts = (0..split.parts.len()).map(of_part).collect();
        let mut of_roots = Known::new(circuit, &is_wanted);
        set_fixed(&mut of_roots, split);
        Self { circuit, split, interfaces, of_parts, of_roots, n_evaluations: 0 }
    }

    /// Returns whether the goals or the end read a part.
    pub fn reads(&self, part: usize) -> bool {
        !self.interfaces[part].is_empty()
    }

    /// Returns the moves that may be legal at some state of the clock, whatever the parts are.
    pub fn possible_moves(&self, clock: &BitSet) -> Vec<MoveId> {
        let legal = &self.circuit.legal;
        let mut known = Known::new(self.circuit, &self.circuit.cone(legal.iter().copied()));
        set_fixed(&mut known, self.split);
        for fluent in &self.split.clock {
            known.fluents[fluent.index()] = Truth::of(clock.contains(fluent.index()));
        }
        known.evaluate(Vec::new());
        let possible = legal.iter().enumerate().filter(|(_, gate)| known.value(**gate).may != 0);
        possible.map(|(idx, _)| MoveId::new(idx)).collect()
    }

    /// Returns the views of states of a part. `fluents` names the fluents of a state; those of other
    /// parts do not count.
    pub fn of(&mut self, part: usize, fluents: &[FluentId], states: &[&BitSet]) -> Vec<View> {
        let own = |it: &(usize, &FluentId)| self.split.parts[part].binary_search(it.1).is_ok();
        let own: Vec<(usize, &FluentId)> = fluents.iter().enumerate().filter(own).collect();
        let known = &mut self.of_parts[part];
        let mut views = Vec::with_capacity(states.len());
        for chunk in states.chunks(N_LANES) {
            for (idx, fluent) in &own {
                let lanes = lanes_where(chunk, |state| state.contains(*idx));
                known.fluents[fluent.index()] = Truth { must: lanes, may: lanes };
            }
            known.evaluate(Vec::new());
            self.n_evaluations += 1;
            for lane in 0..chunk.len() {
                let mut view = vec![0_u64; self.interfaces[part].len().div_ceil(64)];
                for (idx, gate) in self.interfaces[part].iter().enumerate() {
                    view[idx / 64] |= (known.value(*gate).must >> lane & 1) << (idx % 64);
                }
                views.push(view.into());
            }
        }
        views
    }

    /// Returns what follows from the views of some parts, up to 64 cases at once; parts without a
    /// view are unknown, and so is the clock if there is none.
    pub fn outcomes(
        &mut self,
        clock: Option<&BitSet>,
        cases: &[Vec<Option<&View>>],
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(cases.len());
        for chunk in cases.chunks(N_LANES) {
            for fluent in &self.split.clock {
                self.of_roots.fluents[fluent.index()] =
                    clock.map_or(Truth::UNKNOWN, |it| Truth::of(it.contains(fluent.index())));
            }
            let mut forced: Vec<(GateId, u64, bool)> = Vec::new();
            for (part, interface) in self.interfaces.iter().enumerate() {
                for (idx, &gate) in interface.iter().enumerate() {
                    for value in [false, true] {
                        let lanes = lanes_where(chunk, |case| {
                            case[part]
                                .is_some_and(|it| (it[idx / 64] >> (idx % 64) & 1 == 1) == value)
                        });
                        if lanes != 0 {
                            forced.push((gate, lanes, value));
                        }
                    }
                }
            }
            forced.sort_unstable();
            self.of_roots.evaluate(forced);
            self.n_evaluations += 1;
            let both = |gate: GateId, lane: usize| {
                let truth = self.of_roots.value(gate);
                (truth.must >> lane & 1 == 1, truth.may >> lane & 1 == 1)
            };
            for lane in 0..chunk.len() {
                let (must_end, may_end) = both(self.circuit.terminal, lane);
                let goals = self.circuit.goals.iter().map(|it| both(it.2, lane)).collect();
                outcomes.push(Outcome { must_end, may_end, goals });
            }
        }
        outcomes
    }
}

fn set_fixed(known: &mut Known<'_>, split: &Split) {
    for idx in split.fixed.iter() {
        known.fluents[idx] = Truth::of(split.state.contains(idx));
    }
}

fn lanes_where<T>(items: &[T], is_so: impl Fn(&T) -> bool) -> u64 {
    let lanes = items.iter().enumerate().filter(|it| is_so(it.1));
    lanes.fold(0, |all, (lane, _)| all | 1 << lane)
}

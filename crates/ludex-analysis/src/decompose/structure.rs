//! What can be read off the circuit: which fluents and moves a gate reads, and which fluents
//! provably change whatever the roles do.

use ludex_base::{BitSet, FluentId, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};

/// The fluents and moves that a gate reads, directly or through other gates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reads {
    /// The fluents, ascending.
    pub fluents: Vec<FluentId>,
    /// The moves, ascending.
    pub moves: Vec<MoveId>,
}

/// Finds what gates read, one gate after the other.
pub(super) struct Reader<'a> {
    circuit: &'a Circuit,
    /// By gate, the number of the question in which it was last seen.
    seen: Vec<u32>,
    n_questions: u32,
    sources: Vec<Option<GateId>>,
    fixed: &'a BitSet,
}

impl<'a> Reader<'a> {
    /// Fluents of `fixed` do not count: their values are known.
    pub fn new(circuit: &'a Circuit, fixed: &'a BitSet) -> Self {
        let mut sources = vec![None; circuit.n_gates()];
        for &(feedback, source) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            sources[feedback.index()] = Some(source);
        }
        Self { circuit, seen: vec![0; circuit.n_gates()], n_questions: 0, sources, fixed }
    }

    /// Returns what a gate reads.
    pub fn reads(&mut self, gate: GateId) -> Reads {
        self.n_questions += 1;
        let mut reads = Reads::default();
        let mut open = vec![gate];
        while let Some(gate) = open.pop() {
            if std::mem::replace(&mut self.seen[gate.index()], self.n_questions) == self.n_questions
            {
                continue;
            }
            match self.circuit.gate(gate) {
                Gate::Fluent(fluent) if !self.fixed.contains(fluent.index()) => {
                    reads.fluents.push(fluent);
                }
                Gate::Move(played) => reads.moves.push(played),
                _ => {}
            }
            open.extend(self.circuit.inputs(gate));
            open.extend(self.sources[gate.index()]);
        }
        reads.fluents.sort_unstable();
        reads.moves.sort_unstable();
        reads
    }
}

/// Finds the fluents that provably do not depend on moves: no rule for their next value reads a
/// move or a fluent that does.
pub(super) fn proved_independent(circuit: &Circuit, depends_on_moves: &[bool]) -> BitSet {
    let n_fluents = circuit.next.len();
    // Mark the gates that read a move, then those that read a fluent that such a gate sets.
    let mut depends = depends_on_moves.to_vec();
    let mut dependent = BitSet::new(n_fluents);
    loop {
        let mut is_open = false;
        for (idx, gate) in circuit.next.iter().enumerate() {
            if depends[gate.index()] && !dependent.contains(idx) {
                dependent.insert(idx);
                is_open = true;
            }
        }
        if !is_open {
            break;
        }
        for id in circuit.gate_ids() {
            let is_dependent = match circuit.gate(id) {
                Gate::Fluent(fluent) => dependent.contains(fluent.index()),
                _ => circuit.inputs(id).iter().any(|input| depends[input.index()]),
            };
            depends[id.index()] |= is_dependent;
        }
        for &(to, from) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            if depends[from.index()] && !depends[to.index()] {
                depends[to.index()] = true;
            }
        }
    }
    let mut independent = BitSet::new(n_fluents);
    (0..n_fluents).filter(|&idx| !dependent.contains(idx)).for_each(|idx| independent.insert(idx));
    independent
}

/// Which of several sets of fluents a gate reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    None,
    One(usize),
    Several,
}

impl Label {
    fn with(self, other: Label) -> Label {
        match (self, other) {
            (Label::None, it) | (it, Label::None) => it,
            (Label::One(a), Label::One(b)) if a == b => self,
            _ => Label::Several,
        }
    }
}

/// Returns for each gate which sets it reads, given the set of each fluent and of each move.
pub(super) fn labels(
    circuit: &Circuit,
    of_fluent: impl Fn(FluentId) -> Label,
    of_move: impl Fn(MoveId) -> Label,
) -> Vec<Label> {
    let mut labels = vec![Label::None; circuit.n_gates()];
    loop {
        let mut is_open = false;
        for id in circuit.gate_ids() {
            let label = match circuit.gate(id) {
                Gate::Fluent(fluent) => of_fluent(fluent),
                Gate::Move(played) => of_move(played),
                _ => {
                    let inputs = circuit.inputs(id).iter().map(|it| labels[it.index()]);
                    inputs.fold(labels[id.index()], Label::with)
                }
            };
            labels[id.index()] = label;
        }
        // Only loops read gates that come later.
        for &(to, from) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            let label = labels[to.index()].with(labels[from.index()]);
            is_open |= std::mem::replace(&mut labels[to.index()], label) != label;
        }
        if !is_open {
            return labels;
        }
    }
}

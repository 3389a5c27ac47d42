//! The gates that each question needs, in order of evaluation.

use std::ops::Range;

use ludex_circuit::{Circuit, Gate, GateId, Loop};

/// The gates of a circuit, grouped by the first question that needs them.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Gates for `terminal`.
    pub terminal: Section,
    /// Further gates for `legal`.
    pub legal: Section,
    /// Further gates for the goals, beyond those for `terminal` and `legal`.
    pub goals: Section,
    /// Further gates for the next state and the percepts, beyond those for `terminal` and `legal`.
    pub next: Section,
}

/// Gates in order of evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    pub operations: Vec<Operation>,
    /// The inputs of all operations, one after the other.
    pub inputs: Vec<u32>,
    /// Ranges of operations that are evaluated until nothing changes, ascending and disjoint.
    pub loops: Vec<SectionLoop>,
}

/// The evaluation of one gate.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub gate: u32,
    pub kind: Kind,
    /// The end of its inputs.
    pub end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Not,
    And,
    Or,
}

/// A loop of the circuit, or the part of it that a section needs.
#[derive(Clone, Debug)]
pub(crate) struct SectionLoop {
    pub operations: Range<usize>,
    /// The start of the inputs of the first operation.
    pub first_input: u32,
    pub feedback: Vec<(u32, u32)>,
}

impl Schedule {
    pub fn new(circuit: &Circuit) -> Self {
        let mut is_done = vec![false; circuit.n_gates()];
        let terminal = Section::new(circuit, [circuit.terminal], &mut is_done);
        let legal = Section::new(circuit, circuit.legal.iter().copied(), &mut is_done);
        let goals = circuit.goals.iter().map(|&(_, _, gate)| gate);
        let goals = Section::new(circuit, goals, &mut is_done.clone());
        let next = circuit.next.iter().chain(&circuit.sees).copied();
        let next = Section::new(circuit, next, &mut is_done);
        Self { terminal, legal, goals, next }
    }
}

impl Section {
    /// Collects the gates that the outputs need and that are not done yet, and marks them as done.
    fn new(
        circuit: &Circuit,
        outputs: impl IntoIterator<Item = GateId>,
        is_done: &mut [bool],
    ) -> Self {
        let is_needed = circuit.cone(outputs);
        let mut section = Section::default();
        let mut loops = circuit.loops.iter().peekable();
        let mut open_loop: Option<&Loop> = None;
        for gate in circuit.gate_ids() {
            if open_loop.take_if(|it| it.gates.end as usize == gate.index()).is_some() {
                section.end_loop();
            }
            if let Some(it) = loops.next_if(|it| it.gates.start as usize == gate.index()) {
                section.begin_loop(it, &is_needed, is_done);
                open_loop = Some(it);
            }
            if is_needed[gate.index()] && !std::mem::replace(&mut is_done[gate.index()], true) {
                section.push(circuit, gate);
            }
        }
        if open_loop.is_some() {
            section.end_loop();
        }
        section.loops.retain(|it| !it.feedback.is_empty());
        section
    }

    fn end_loop(&mut self) {
        let n_operations = self.operations.len();
        self.loops.last_mut().expect("a loop is open").operations.end = n_operations;
    }

    /// Opens a loop at the next operation.
    fn begin_loop(&mut self, it: &Loop, is_needed: &[bool], is_done: &[bool]) {
        let feedback = it
            .feedback
            .iter()
            .filter(|(gate, _)| is_needed[gate.index()] && !is_done[gate.index()])
            .map(|(gate, source)| (gate.index() as u32, source.index() as u32))
            .collect();
        self.loops.push(SectionLoop {
            operations: self.operations.len()..self.operations.len(),
            first_input: self.inputs.len() as u32,
            feedback,
        });
    }

    fn push(&mut self, circuit: &Circuit, gate: GateId) {
        let kind = match circuit.gate(gate) {
            Gate::Constant(_) | Gate::Fluent(_) | Gate::Move(_) | Gate::Feedback => return,
            Gate::Not(_) => Kind::Not,
            Gate::And(_) => Kind::And,
            Gate::Or(_) => Kind::Or,
        };
        self.inputs.extend(circuit.inputs(gate).iter().map(|input| input.index() as u32));
        let end = self.inputs.len() as u32;
        self.operations.push(Operation { gate: gate.index() as u32, kind, end });
    }
}

//! Three-valued evaluation: which gates are known to be true or false when some inputs are unknown.
//!
//! Each gate has two bits a lane: whether it must be true, and whether it may be true. Loops are
//! positive, so that the least fixpoint is right for both bits.

use ludex_base::BitSet;
use ludex_circuit::{Circuit, GateId};

use super::lanes::{Block, Operation, Tape, blocks_of};

/// What is known of a value: in which lanes it must be true, and in which it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Truth {
    pub must: u64,
    pub may: u64,
}

impl Truth {
    pub const UNKNOWN: Truth = Truth { must: 0, may: u64::MAX };
    pub const FALSE: Truth = Truth { must: 0, may: 0 };
    pub const TRUE: Truth = Truth { must: u64::MAX, may: u64::MAX };

    pub fn of(value: bool) -> Truth {
        if value { Truth::TRUE } else { Truth::FALSE }
    }
}

/// Evaluates some of the gates of a circuit, with unknown inputs.
pub(super) struct Known<'a> {
    circuit: &'a Circuit,
    tape: Tape,
    blocks: Vec<Block>,
    values: Vec<Truth>,
    pub fluents: Vec<Truth>,
    pub moves: Vec<Truth>,
    /// Gates whose value is given, by gate: the lanes and the value in these.
    forced: Vec<(GateId, u64, bool)>,
}

impl<'a> Known<'a> {
    /// Prepares the evaluation of the gates that `is_wanted`, with all inputs unknown.
    pub fn new(circuit: &'a Circuit, is_wanted: &[bool]) -> Self {
        Self {
            circuit,
            tape: Tape::new(circuit),
            blocks: blocks_of(circuit, |gate| is_wanted[gate.index()]),
            values: vec![Truth::UNKNOWN; circuit.n_gates()],
            fluents: vec![Truth::UNKNOWN; circuit.next.len()],
            moves: vec![Truth::UNKNOWN; circuit.legal.len()],
            forced: Vec::new(),
        }
    }

    pub fn value(&self, gate: GateId) -> Truth {
        self.values[gate.index()]
    }

    /// Evaluates with the values of some gates given, sorted by gate.
    pub fn evaluate(&mut self, forced: Vec<(GateId, u64, bool)>) {
        debug_assert!(forced.is_sorted_by_key(|it| it.0));
        self.forced = forced;
        let blocks = std::mem::take(&mut self.blocks);
        for block in &blocks {
            match block {
                Block::Gates(gates) => gates.iter().for_each(|&gate| self.evaluate_gate(gate)),
                Block::Loop(idx) => self.evaluate_loop(*idx),
            }
        }
        self.blocks = blocks;
    }

    fn evaluate_loop(&mut self, idx: usize) {
        let it = &self.circuit.loops[idx];
        it.feedback.iter().for_each(|(to, _)| self.values[to.index()] = Truth::FALSE);
        loop {
            for gate in it.gates.clone() {
                self.evaluate_gate(GateId::new(gate as usize));
            }
            let mut is_open = false;
            for (to, from) in &it.feedback {
                is_open |= self.values[to.index()] != self.values[from.index()];
                self.values[to.index()] = self.values[from.index()];
            }
            if !is_open {
                break;
            }
        }
    }

    fn evaluate_gate(&mut self, id: GateId) {
        let values = &self.values;
        let mut value = match self.tape.gate(id) {
            Operation::Constant(value) => Truth::of(value),
            Operation::Fluent(fluent) => self.fluents[fluent as usize],
            Operation::Move(played) => self.moves[played as usize],
            Operation::Feedback => values[id.index()],
            Operation::Not(input) => {
                let input = values[input as usize];
                Truth { must: !input.may, may: !input.must }
            }
            Operation::And(start, end) => {
                let mut all = Truth::TRUE;
                for &input in self.tape.inputs(start, end) {
                    all.must &= values[input as usize].must;
                    all.may &= values[input as usize].may;
                }
                all
            }
            Operation::Or(start, end) => {
                let mut any = Truth::FALSE;
                for &input in self.tape.inputs(start, end) {
                    any.must |= values[input as usize].must;
                    any.may |= values[input as usize].may;
                }
                any
            }
        };
        if self.forced.is_empty() {
            self.values[id.index()] = value;
            return;
        }
        let first = self.forced.partition_point(|it| it.0 < id);
        for &(_, lanes, given) in self.forced[first..].iter().take_while(|it| it.0 == id) {
            value.must = if given { value.must | lanes } else { value.must & !lanes };
            value.may = if given { value.may | lanes } else { value.may & !lanes };
        }
        self.values[id.index()] = value;
    }
}

/// Finds the fluents that provably never change after a state: latches, and what never was more
/// than a constant.
///
/// At first every fluent is assumed to keep its value. A fluent whose next value can differ under
/// these assumptions becomes unknown, until no more do. Moves that cannot become legal are never
/// played.
pub(super) fn fixed_fluents(circuit: &Circuit, state: &BitSet) -> BitSet {
    let n_fluents = circuit.next.len();
    let mut known = Known::new(circuit, &vec![true; circuit.n_gates()]);
    for idx in 0..n_fluents {
        known.fluents[idx] = Truth::of(state.contains(idx));
    }
    let mut fixed = BitSet::new(n_fluents);
    (0..n_fluents).for_each(|idx| fixed.insert(idx));
    loop {
        // Legal moves do not depend on moves, so one more evaluation settles the next state.
        known.evaluate(Vec::new());
        for (played, gate) in known.moves.iter_mut().zip(&circuit.legal) {
            let may = known.values[gate.index()].may;
            *played = Truth { must: 0, may };
        }
        known.evaluate(Vec::new());
        let mut is_open = false;
        for idx in 0..n_fluents {
            if fixed.contains(idx) && known.value(circuit.next[idx]) != known.fluents[idx] {
                fixed.remove(idx);
                known.fluents[idx] = Truth::UNKNOWN;
                is_open = true;
            }
        }
        if !is_open {
            return fixed;
        }
    }
}

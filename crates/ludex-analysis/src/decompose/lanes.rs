//! Evaluation of a circuit for 64 states at once, one in each bit of a word.

use ludex_base::ids::narrow;
use ludex_base::{BitSet, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};

/// The number of states that are evaluated together.
pub(super) const N_LANES: usize = 64;

/// The gates of a circuit in the order of evaluation; loops are evaluated until nothing changes.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Gates(Vec<GateId>),
    Loop(usize),
}

impl Block {
    /// What one evaluation costs: its gates and their inputs.
    pub fn cost(&self, circuit: &Circuit) -> usize {
        let of_gate = |gate: GateId| 1 + circuit.inputs(gate).len();
        match self {
            Block::Gates(gates) => gates.iter().map(|&gate| of_gate(gate)).sum(),
            Block::Loop(idx) => {
                let gates = circuit.loops[*idx].gates.clone();
                gates.map(|gate| of_gate(GateId::new(gate as usize))).sum()
            }
        }
    }
}

/// Puts gates into blocks, in order; a loop is wanted if one of its gates is.
pub(super) fn blocks_of(circuit: &Circuit, is_wanted: impl Fn(GateId) -> bool) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut loops = circuit.loops.iter().enumerate().peekable();
    let mut at = 0;
    while at < circuit.n_gates() {
        if let Some((idx, it)) = loops.next_if(|(_, it)| it.gates.start as usize == at) {
            if it.gates.clone().any(|gate| is_wanted(GateId::new(gate as usize))) {
                blocks.push(Block::Loop(idx));
            }
            at = it.gates.end as usize;
            continue;
        }
        let gate = GateId::new(at);
        if is_wanted(gate) {
            match blocks.last_mut() {
                Some(Block::Gates(gates)) => gates.push(gate),
                _ => blocks.push(Block::Gates(vec![gate])),
            }
        }
        at += 1;
    }
    blocks
}

/// The gates of a circuit with their inputs in one vector, for fast evaluation.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    gates: Vec<Operation>,
    inputs: Vec<u32>,
}

/// A gate; inputs are given by number, or by their range in [`Tape::inputs`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Constant(bool),
    Fluent(u32),
    Move(u32),
    Feedback,
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
}

impl Tape {
    pub fn new(circuit: &Circuit) -> Self {
        let mut tape = Self { gates: Vec::new(), inputs: Vec::new() };
        for id in circuit.gate_ids() {
            let start = narrow(tape.inputs.len());
            tape.inputs.extend(circuit.inputs(id).iter().map(|it| narrow(it.index())));
            let end = narrow(tape.inputs.len());
            tape.gates.push(match circuit.gate(id) {
                Gate::Constant(value) => Operation::Constant(value),
                Gate::Fluent(fluent) => Operation::Fluent(narrow(fluent.index())),
                Gate::Move(played) => Operation::Move(narrow(played.index())),
                Gate::Feedback => Operation::Feedback,
                Gate::Not(input) => Operation::Not(narrow(input.index())),
                Gate::And(_) => Operation::And(start, end),
                Gate::Or(_) => Operation::Or(start, end),
            });
        }
        tape
    }

    #[inline]
    pub fn gate(&self, id: GateId) -> Operation {
        self.gates[id.index()]
    }

    #[inline]
    pub fn inputs(&self, start: u32, end: u32) -> &[u32] {
        &self.inputs[start as usize..end as usize]
    }
}

/// Returns for each gate whether its value can depend on the moves.
pub(super) fn depends_on_moves(circuit: &Circuit) -> Vec<bool> {
    let mut depends = vec![false; circuit.n_gates()];
    // A loop may feed an earlier gate of itself, so that one pass is not enough for it.
    loop {
        let n_before = depends.iter().filter(|&&it| it).count();
        for &(to, from) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            depends[to.index()] |= depends[from.index()];
        }
        for id in circuit.gate_ids() {
            let is_move = matches!(circuit.gate(id), Gate::Move(_));
            let some_input = circuit.inputs(id).iter().any(|input| depends[input.index()]);
            depends[id.index()] |= is_move || some_input;
        }
        if circuit.loops.is_empty() || depends.iter().filter(|&&it| it).count() == n_before {
            break;
        }
    }
    // All gates of a loop are evaluated together.
    for it in &circuit.loops {
        let range = it.gates.start as usize..it.gates.end as usize;
        if depends[range.clone()].iter().any(|&it| it) {
            depends[range].fill(true);
        }
    }
    depends
}

/// Evaluates a circuit for 64 states and joint moves at once.
pub(super) struct Lanes<'a> {
    circuit: &'a Circuit,
    tape: Tape,
    /// By fluent, the lanes in which it is true.
    pub fluents: Vec<u64>,
    /// By move, the lanes in which it is played.
    pub moves: Vec<u64>,
    values: Vec<u64>,
    /// How many gates and inputs of gates were evaluated so far.
    pub work: usize,
    /// Blocks with their costs.
    of_state: Vec<(Block, usize)>,
    of_moves: Vec<(Block, usize)>,
}

impl<'a> Lanes<'a> {
    pub fn new(circuit: &'a Circuit) -> Self {
        let depends = depends_on_moves(circuit);
        let with_costs = |blocks: Vec<Block>| -> Vec<(Block, usize)> {
            let with_cost = |block: Block| {
                let cost = block.cost(circuit);
                (block, cost)
            };
            blocks.into_iter().map(with_cost).collect()
        };
        Self {
            circuit,
            tape: Tape::new(circuit),
            fluents: vec![0; circuit.next.len()],
            moves: vec![0; circuit.legal.len()],
            values: vec![0; circuit.n_gates()],
            work: 0,
            of_state: with_costs(blocks_of(circuit, |gate| !depends[gate.index()])),
            of_moves: with_costs(blocks_of(circuit, |gate| depends[gate.index()])),
        }
    }

    /// Puts a state into the lanes of a mask; the other lanes stay as they are.
    pub fn set_state(&mut self, state: &BitSet, mask: u64) {
        for (idx, word) in self.fluents.iter_mut().enumerate() {
            *word = (*word & !mask) | if state.contains(idx) { mask } else { 0 };
        }
    }

    /// Returns the state of a lane.
    pub fn state(&self, lane: usize) -> BitSet {
        let mut state = BitSet::new(self.fluents.len());
        let here = self.fluents.iter().enumerate().filter(|(_, word)| *word >> lane & 1 == 1);
        here.for_each(|(idx, _)| state.insert(idx));
        state
    }

    /// Evaluates what depends on the state alone: legal moves, the end of the game and the goals.
    pub fn evaluate_state(&mut self) {
        let blocks = std::mem::take(&mut self.of_state);
        self.evaluate(&blocks);
        self.of_state = blocks;
    }

    /// Evaluates the rest, after [`Self::evaluate_state`] and with the moves that are set.
    pub fn evaluate_moves(&mut self) {
        let blocks = std::mem::take(&mut self.of_moves);
        self.evaluate(&blocks);
        self.of_moves = blocks;
    }

    /// Makes the next states the current ones.
    pub fn advance(&mut self) {
        for (word, gate) in self.fluents.iter_mut().zip(&self.circuit.next) {
            *word = self.values[gate.index()];
        }
    }

    pub fn value(&self, gate: GateId) -> u64 {
        self.values[gate.index()]
    }

    pub fn legal(&self, played: MoveId) -> u64 {
        self.values[self.circuit.legal[played.index()].index()]
    }

    fn evaluate(&mut self, blocks: &[(Block, usize)]) {
        for (block, cost) in blocks {
            match block {
                Block::Gates(gates) => {
                    self.work += cost;
                    gates.iter().for_each(|&gate| self.evaluate_gate(gate));
                }
                Block::Loop(idx) => self.evaluate_loop(*idx, *cost),
            }
        }
    }

    fn evaluate_loop(&mut self, idx: usize, cost: usize) {
        let it = &self.circuit.loops[idx];
        it.feedback.iter().for_each(|(to, _)| self.values[to.index()] = 0);
        loop {
            self.work += cost;
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

    #[inline]
    fn evaluate_gate(&mut self, id: GateId) {
        let values = &self.values;
        self.values[id.index()] = match self.tape.gate(id) {
            Operation::Constant(true) => u64::MAX,
            Operation::Constant(false) => 0,
            Operation::Fluent(fluent) => self.fluents[fluent as usize],
            Operation::Move(played) => self.moves[played as usize],
            Operation::Feedback => return,
            Operation::Not(input) => !values[input as usize],
            Operation::And(start, end) => {
                let mut all = u64::MAX;
                for &input in self.tape.inputs(start, end) {
                    all &= values[input as usize];
                }
                all
            }
            Operation::Or(start, end) => {
                let mut any = 0;
                for &input in self.tape.inputs(start, end) {
                    any |= values[input as usize];
                }
                any
            }
        };
    }
}

/// Iterates over the lanes of a mask.
pub(super) fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

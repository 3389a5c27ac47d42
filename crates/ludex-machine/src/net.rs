//! The circuit as a net of counters, for moving from a state to its neighbours.
//!
//! Every gate becomes a conjunction of literals (a disjunction is the negation of the conjunction of
//! the negations) and counts those of its literals that do not hold. A change of a fluent or move is
//! told to the gates that read it, and goes on from those whose count reaches or leaves zero. What
//! does not change costs nothing.
//!
//! The order in which changes are told does not matter: counts are sums, and a gate that changes
//! twice tells both changes.

use ludex_base::{BitSet, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};

/// A circuit without loops as a net.
#[derive(Clone, Debug)]
pub(crate) struct Net {
    n_fluents: usize,
    n_moves: usize,
    /// Where the readers of a node begin; one more than nodes. Nodes are the fluents, then the moves,
    /// then the gates.
    starts: Vec<u32>,
    readers: Vec<Reader>,
    /// For each percept, where its value is.
    sees: Vec<Literal>,
    /// The net in the initial state, no move played.
    initial: NetState,
}

/// Who is told of a change: a gate or an output by its number, doubled, plus one if it reads the
/// negation. Outputs have the numbers after the gates: next fluents, legal moves, `terminal`.
type Reader = u32;

/// A node, or its negation, or a constant.
#[derive(Clone, Copy, Debug)]
enum Literal {
    Constant(bool),
    Node { node: u32, is_negated: bool },
}

/// The values of a net.
#[derive(Clone, Debug)]
pub(crate) struct NetState {
    /// For each gate, how many of its literals do not hold; for fluents and moves 0 if they hold.
    counts: Vec<i32>,
    /// What is true next, given the moves that are set.
    pub next: BitSet,
    pub legal: BitSet,
    pub is_terminal: bool,
    /// The moves that are set, if any.
    played: Vec<MoveId>,
    /// Changes that have not been told yet.
    open: Vec<u32>,
}

impl Net {
    /// The net of a circuit; `None` if it has loops.
    pub fn new(circuit: &Circuit) -> Option<Self> {
        if !circuit.loops.is_empty() {
            return None;
        }
        let n_fluents = circuit.vocabulary.fluents.len();
        let n_moves = circuit.vocabulary.moves.len();
        let outputs = || {
            let lists = [&circuit.next, &circuit.legal, &circuit.sees];
            lists.into_iter().flatten().copied().chain([circuit.terminal])
        };
        let is_needed = circuit.cone(outputs());

        // Number the gates and note who reads whom.
        let mut literals: Vec<Option<Literal>> = vec![None; circuit.n_gates()];
        let mut edges: Vec<(u32, Reader)> = Vec::new();
        let mut counts = vec![1; n_fluents + n_moves];
        for id in circuit.gate_ids().filter(|id| is_needed[id.index()]) {
            let node = |node: usize| Literal::Node { node: node as u32, is_negated: false };
            let literal = match circuit.gate(id) {
                Gate::Constant(value) => Literal::Constant(value),
                Gate::Fluent(fluent) => node(fluent.index()),
                Gate::Move(played) => node(n_fluents + played.index()),
                Gate::Feedback => unreachable!("the circuit has no loops"),
                Gate::Not(input) => literal_of(&literals, input).negated(),
                Gate::And(inputs) | Gate::Or(inputs) => {
                    let is_or = matches!(circuit.gate(id), Gate::Or(_));
                    let gate = counts.len() as u32;
                    for &input in inputs {
                        edges.push(literal_of(&literals, input).read_by(gate, is_or));
                    }
                    // Nothing holds until it is told.
                    counts.push(inputs.len() as i32);
                    Literal::Node { node: gate, is_negated: is_or }
                }
            };
            literals[id.index()] = Some(literal);
        }
        let n_nodes = counts.len();
        let mut initial = NetState {
            counts,
            next: BitSet::new(n_fluents),
            legal: BitSet::new(n_moves),
            is_terminal: false,
            played: Vec::new(),
            open: Vec::new(),
        };
        // What reads a negation holds while its input does not.
        for &(_, reader) in &edges {
            initial.counts[(reader >> 1) as usize] -= (reader & 1) as i32;
        }
        for (position, id) in [&circuit.next, &circuit.legal].into_iter().flatten().enumerate() {
            let literal = literal_of(&literals, *id);
            if literal.is_true_of_false() {
                initial.toggle(position, n_fluents, n_moves);
            }
            edges.extend(literal.as_output((n_nodes + position) as u32));
        }
        let terminal = literal_of(&literals, circuit.terminal);
        initial.is_terminal = terminal.is_true_of_false();
        edges.extend(terminal.as_output((n_nodes + n_fluents + n_moves) as u32));

        let mut net = Self {
            n_fluents,
            n_moves,
            starts: vec![0; n_nodes + 1],
            readers: vec![0; edges.len()],
            sees: circuit.sees.iter().map(|&id| literal_of(&literals, id)).collect(),
            initial: initial.clone(),
        };
        for (node, _) in &edges {
            net.starts[*node as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            net.starts[node + 1] += net.starts[node];
        }
        let mut fill = net.starts.clone();
        for (node, reader) in edges {
            net.readers[fill[node as usize] as usize] = reader;
            fill[node as usize] += 1;
        }
        // Gates that hold before anything is told, then the initial state.
        for node in (n_fluents + n_moves)..n_nodes {
            if initial.counts[node] == 0 {
                initial.open.push((node as u32) << 1 | 1);
            }
        }
        net.tell(&mut initial);
        let nothing = BitSet::new(n_fluents);
        net.change_state(&mut initial, &nothing, &circuit.init);
        net.initial = initial;
        Some(net)
    }

    /// The net in the initial state.
    pub fn initial(&self) -> NetState {
        self.initial.clone()
    }

    /// Goes from a state to another.
    pub fn change_state(&self, state: &mut NetState, from: &BitSet, to: &BitSet) {
        for (word_idx, (old, new)) in from.words().iter().zip(to.words()).enumerate() {
            let mut changed = old ^ new;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                let holds = new >> bit & 1 != 0;
                self.set(state, word_idx * 64 + bit as usize, holds);
            }
        }
        self.tell(state);
    }

    /// Sets the moves that are played.
    pub fn change_moves(&self, state: &mut NetState, joint: &[MoveId]) {
        for (role, &played) in joint.iter().enumerate() {
            let before = state.played.get(role).copied();
            if before == Some(played) {
                continue;
            }
            if let Some(before) = before {
                self.set(state, self.n_fluents + before.index(), false);
            }
            self.set(state, self.n_fluents + played.index(), true);
        }
        state.played.clear();
        state.played.extend_from_slice(joint);
        self.tell(state);
    }

    /// Whether a percept is seen, given the state and the moves that are set.
    pub fn is_seen(&self, state: &NetState, percept: usize) -> bool {
        match self.sees[percept] {
            Literal::Constant(value) => value,
            Literal::Node { node, is_negated } => (state.counts[node as usize] == 0) != is_negated,
        }
    }

    fn set(&self, state: &mut NetState, node: usize, holds: bool) {
        state.counts[node] = i32::from(!holds);
        state.open.push((node as u32) << 1 | u32::from(holds));
    }

    /// Tells all changes until there are no more.
    fn tell(&self, state: &mut NetState) {
        let n_nodes = self.starts.len() - 1;
        while let Some(change) = state.open.pop() {
            let node = (change >> 1) as usize;
            let readers = self.starts[node] as usize..self.starts[node + 1] as usize;
            for &reader in &self.readers[readers] {
                let gate = (reader >> 1) as usize;
                if gate >= n_nodes {
                    state.toggle(gate - n_nodes, self.n_fluents, self.n_moves);
                    continue;
                }
                let count = &mut state.counts[gate];
                if (change ^ reader) & 1 != 0 {
                    *count -= 1;
                    if *count == 0 {
                        state.open.push((gate as u32) << 1 | 1);
                    }
                } else {
                    if *count == 0 {
                        state.open.push((gate as u32) << 1);
                    }
                    *count += 1;
                }
            }
        }
    }
}

impl NetState {
    /// An output has changed.
    #[inline]
    fn toggle(&mut self, output: usize, n_fluents: usize, n_moves: usize) {
        let flip = |set: &mut BitSet, idx: usize| set.words_mut()[idx / 64] ^= 1 << (idx % 64);
        if output < n_fluents {
            flip(&mut self.next, output);
        } else if output < n_fluents + n_moves {
            flip(&mut self.legal, output - n_fluents);
        } else {
            self.is_terminal = !self.is_terminal;
        }
    }
}

fn literal_of(literals: &[Option<Literal>], id: GateId) -> Literal {
    literals[id.index()].expect("inputs come before the gates that read them")
}

impl Literal {
    fn negated(self) -> Self {
        match self {
            Literal::Constant(value) => Literal::Constant(!value),
            Literal::Node { node, is_negated } => Literal::Node { node, is_negated: !is_negated },
        }
    }

    /// The edge to a gate that reads the literal, or its negation.
    fn read_by(self, gate: u32, reads_negation: bool) -> (u32, Reader) {
        match self {
            Literal::Node { node, is_negated } => {
                (node, gate << 1 | u32::from(is_negated != reads_negation))
            }
            Literal::Constant(_) => unreachable!("gates have no constants as inputs"),
        }
    }

    /// The edge to an output, which is toggled by any change.
    fn as_output(self, output: u32) -> Option<(u32, Reader)> {
        match self {
            Literal::Node { node, .. } => Some((node, output << 1)),
            Literal::Constant(_) => None,
        }
    }

    /// Its value while no node holds.
    fn is_true_of_false(self) -> bool {
        match self {
            Literal::Constant(value) => value,
            Literal::Node { is_negated, .. } => is_negated,
        }
    }
}

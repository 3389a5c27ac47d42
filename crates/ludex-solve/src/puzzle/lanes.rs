//! Circuits evaluated with unknown inputs, in 64 lanes at once.
//!
//! Each lane is a case of its own: in each, a fluent or a move is known to be true, known to be
//! false, or not known. What the gates then are known to be holds for every state of the case, so
//! an evaluation proves 64 statements about the rules.
//!
//! Invariant: what is known of a gate follows from the assumptions of the lane; a gate of which
//! nothing is known may still be determined by them.

use ludex_base::{FluentId, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_encode::Group;

/// In which lanes something is known to be true, and in which it is known to be false.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Known {
    pub yes: u64,
    pub no: u64,
}

impl Known {
    /// Returns the lanes in which it is known to have a value.
    pub fn lanes(self, value: bool) -> u64 {
        if value { self.yes } else { self.no }
    }

    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// A fluent with a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Literal {
    pub fluent: FluentId,
    pub value: bool,
}

/// What the lanes assume about fluents and moves.
pub(crate) struct Assumptions<'a> {
    groups: &'a Groups,
    pub fluents: Vec<Known>,
    pub moves: Vec<Known>,
    /// The changes since [`Assumptions::mark`], to take them back.
    trail: Vec<(FluentId, Known)>,
}

impl<'a> Assumptions<'a> {
    pub fn new(circuit: &Circuit, groups: &'a Groups) -> Self {
        Self {
            groups,
            fluents: vec![Known::default(); circuit.vocabulary.fluents.len()],
            moves: vec![Known::default(); circuit.vocabulary.moves.len()],
            trail: Vec::new(),
        }
    }

    /// Assumes a literal in some lanes, and what follows from it by the groups.
    pub fn assume(&mut self, literal: Literal, lanes: u64) {
        let known = self.fluents[literal.fluent.index()];
        if lanes & !known.lanes(literal.value) == 0 {
            return;
        }
        self.trail.push((literal.fluent, known));
        let slot = &mut self.fluents[literal.fluent.index()];
        *(if literal.value { &mut slot.yes } else { &mut slot.no }) |= lanes;
        for &group in &self.groups.of_fluent[literal.fluent.index()] {
            let group = &self.groups.list[group as usize];
            if literal.value {
                for &other in group.fluents.iter().filter(|&&other| other != literal.fluent) {
                    self.assume(Literal { fluent: other, value: false }, lanes);
                }
            } else if let (true, &[a, b]) = (group.is_exact, &group.fluents[..]) {
                let other = if a == literal.fluent { b } else { a };
                self.assume(Literal { fluent: other, value: true }, lanes);
            }
        }
    }

    /// Assumes in each lane that exactly one move is played: the move of the list at its place.
    pub fn play(&mut self, moves: &[MoveId]) {
        let all = first_lanes(moves.len());
        self.moves.fill(Known { yes: 0, no: all });
        for (lane, chosen) in moves.iter().enumerate() {
            let known = &mut self.moves[chosen.index()];
            known.yes |= 1 << lane;
            known.no &= !(1 << lane);
        }
    }

    /// Returns the lanes whose assumptions contradict each other.
    pub fn contradictory(&self) -> u64 {
        self.fluents.iter().fold(0, |lanes, known| lanes | (known.yes & known.no))
    }

    /// Returns a mark to which [`Assumptions::undo`] returns.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back what was assumed about fluents after the mark. Returns the lanes in which that
    /// contradicted itself or what was assumed before.
    pub fn undo(&mut self, mark: usize) -> u64 {
        let mut lanes = 0;
        while self.trail.len() > mark {
            let (fluent, before) = self.trail.pop().expect("there are entries after the mark");
            let known = &mut self.fluents[fluent.index()];
            lanes |= known.yes & known.no;
            *known = before;
        }
        lanes
    }
}

/// The first lanes, as a mask.
pub(crate) fn first_lanes(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Proved groups, found by their fluents.
pub(crate) struct Groups {
    pub list: Vec<Group>,
    of_fluent: Vec<Vec<u32>>,
}

impl Groups {
    pub fn new(circuit: &Circuit, list: Vec<Group>) -> Self {
        let mut of_fluent = vec![Vec::new(); circuit.vocabulary.fluents.len()];
        for (idx, group) in list.iter().enumerate() {
            group.fluents.iter().for_each(|fluent| of_fluent[fluent.index()].push(idx as u32));
        }
        Self { list, of_fluent }
    }

    /// Returns the places of the groups that a fluent belongs to.
    pub fn of(&self, fluent: FluentId) -> &[u32] {
        &self.of_fluent[fluent.index()]
    }

    /// Returns whether two fluents are in one group, and so never both true.
    pub fn exclude(&self, a: FluentId, b: FluentId) -> bool {
        a != b && self.of(a).iter().any(|group| self.of(b).contains(group))
    }
}

/// Evaluates a circuit without loops.
pub(crate) struct Lanes<'a> {
    circuit: &'a Circuit,
    known: Vec<Known>,
}

impl<'a> Lanes<'a> {
    pub fn new(circuit: &'a Circuit) -> Self {
        Self { circuit, known: vec![Known::default(); circuit.n_gates()] }
    }

    /// Returns what is known of a gate after [`Lanes::evaluate`].
    pub fn known(&self, gate: GateId) -> Known {
        self.known[gate.index()]
    }

    /// Evaluates gates, which are ascending and contain their inputs.
    pub fn evaluate(&mut self, gates: &[GateId], assumptions: &Assumptions<'_>) {
        for &id in gates {
            let all = |inputs: &[GateId], known: &[Known]| {
                let mut result = Known { yes: u64::MAX, no: 0 };
                for input in inputs {
                    let known = known[input.index()];
                    result.yes &= known.yes;
                    result.no |= known.no;
                }
                result
            };
            self.known[id.index()] = match self.circuit.gate(id) {
                Gate::Constant(true) => Known { yes: u64::MAX, no: 0 },
                Gate::Constant(false) => Known { yes: 0, no: u64::MAX },
                Gate::Fluent(fluent) => assumptions.fluents[fluent.index()],
                Gate::Move(played) => assumptions.moves[played.index()],
                Gate::Not(input) => self.known[input.index()].not(),
                Gate::And(inputs) => all(inputs, &self.known),
                Gate::Or(inputs) => {
                    let mut result = Known { yes: 0, no: u64::MAX };
                    for input in inputs {
                        let known = self.known[input.index()];
                        result.yes |= known.yes;
                        result.no &= known.no;
                    }
                    result
                }
                Gate::Feedback => unreachable!("the circuit has no loops"),
            };
        }
    }
}

/// Collects the gates on which others depend.
pub(crate) struct Cones<'a> {
    circuit: &'a Circuit,
    stamps: Vec<u32>,
    stamp: u32,
}

impl<'a> Cones<'a> {
    pub fn new(circuit: &'a Circuit) -> Self {
        Self { circuit, stamps: vec![0; circuit.n_gates()], stamp: 0 }
    }

    /// Returns the gates that some gates depend on, and these themselves, ascending.
    pub fn of(&mut self, gates: impl IntoIterator<Item = GateId>) -> Vec<GateId> {
        self.stamp += 1;
        let mut open: Vec<GateId> = gates.into_iter().collect();
        let mut cone = Vec::new();
        while let Some(gate) = open.pop() {
            if std::mem::replace(&mut self.stamps[gate.index()], self.stamp) != self.stamp {
                cone.push(gate);
                open.extend(self.circuit.inputs(gate));
            }
        }
        cone.sort_unstable();
        cone
    }
}

/// Returns the literals that follow from a gate having a value, without looking into choices.
pub(crate) fn implied(circuit: &Circuit, gate: GateId, value: bool) -> Vec<Literal> {
    let mut literals = Vec::new();
    for (gate, value) in conjuncts(circuit, gate, value) {
        if let Gate::Fluent(fluent) = circuit.gate(gate) {
            literals.push(Literal { fluent, value });
        }
    }
    literals.sort_unstable();
    literals.dedup();
    literals
}

/// Returns gates and values that together mean that a gate has a value. None of them is itself a
/// conjunction.
pub(crate) fn conjuncts(circuit: &Circuit, gate: GateId, value: bool) -> Vec<(GateId, bool)> {
    let mut open = vec![(gate, value)];
    let mut parts = Vec::new();
    while let Some((gate, value)) = open.pop() {
        match (circuit.gate(gate), value) {
            (Gate::Not(input), _) => open.push((input, !value)),
            (Gate::And(inputs), true) | (Gate::Or(inputs), false) => {
                open.extend(inputs.iter().map(|&input| (input, value)));
            }
            (Gate::Constant(is), _) if is == value => {}
            _ => parts.push((gate, value)),
        }
    }
    parts.sort_unstable();
    parts.dedup();
    parts
}

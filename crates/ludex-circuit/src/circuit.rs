//! The type [`Circuit`], its gates and its loops.

use std::ops::Range;
use std::sync::Arc;

use ludex_base::{BitSet, FluentId, Goal, MoveId, RoleId, define_id};
use ludex_ground::Vocabulary;

define_id! {
    /// A gate of some [`Circuit`].
    pub struct GateId;
}

/// A game as a circuit: its inputs are the fluents of a state and the moves of a joint move, its
/// outputs describe the state and its successor.
///
/// The inputs of a gate have smaller numbers than the gate. The exception is [`Gate::Feedback`],
/// whose value comes from the [`Loop`] it belongs to. Outputs about the state (`legal`, `terminal`,
/// `goals`) do not depend on moves.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// The roles, fluents, moves and percepts.
    pub vocabulary: Arc<Vocabulary>,
    /// Whether roles see only their own moves and percepts.
    pub has_percepts: bool,
    /// The fluents of the initial state.
    pub init: BitSet,
    /// For each fluent, whether it is true in the next state.
    pub next: Vec<GateId>,
    /// For each move, whether it is legal.
    pub legal: Vec<GateId>,
    /// For each percept, whether it is seen.
    pub sees: Vec<GateId>,
    /// Whether the game is over.
    pub terminal: GateId,
    /// The goal values that can be derived, sorted by role and value.
    pub goals: Vec<(RoleId, Goal, GateId)>,
    /// The ranges of gates to be evaluated until nothing changes, ascending and disjoint.
    pub loops: Vec<Loop>,
    pub(crate) gates: Gates,
}

/// All gates, stored in a few long vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    pub kinds: Vec<Kind>,
    /// By gate, the end of its inputs.
    pub ends: Vec<u32>,
    pub inputs: Vec<GateId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Constant(bool),
    Fluent(FluentId),
    Move(MoveId),
    Feedback,
    Not,
    And,
    Or,
}

/// The operation of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate<'a> {
    /// A constant.
    Constant(bool),
    /// Whether the fluent is true in the current state.
    Fluent(FluentId),
    /// Whether the move is played in the current step.
    Move(MoveId),
    /// The value that its loop has derived so far; false at first.
    Feedback,
    /// The negation of its input.
    Not(GateId),
    /// Whether all inputs are true; at least two, ascending.
    And(&'a [GateId]),
    /// Whether some input is true; at least two, ascending.
    Or(&'a [GateId]),
}

/// A range of gates that depend on each other, all positively.
///
/// Its meaning is the least fixpoint. With all feedback gates false, evaluate the gates of the
/// range in order and copy each source to its feedback gate; repeat until nothing changes. A
/// feedback gate never changes from true to false, so there is at most one more round than there
/// are feedback gates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The gates of the loop, by number.
    pub gates: Range<u32>,
    /// Each feedback gate of the loop with the gate that it copies.
    pub feedback: Vec<(GateId, GateId)>,
}

impl Circuit {
    /// Returns the number of gates, including inputs and constants.
    pub fn n_gates(&self) -> usize {
        self.gates.kinds.len()
    }

    /// Returns the total number of inputs of all gates.
    pub fn n_edges(&self) -> usize {
        self.gates.inputs.len()
    }

    /// Returns the operation of a gate.
    #[inline]
    pub fn gate(&self, id: GateId) -> Gate<'_> {
        self.gates.gate(id)
    }

    /// Returns the inputs of a gate.
    #[inline]
    pub fn inputs(&self, id: GateId) -> &[GateId] {
        self.gates.inputs_of(id)
    }

    /// Iterates over all gates, inputs before the gates that use them.
    pub fn gate_ids(&self) -> impl Iterator<Item = GateId> + use<> {
        (0..self.n_gates()).map(GateId::new)
    }

    /// Returns whether a gate belongs to a loop.
    pub(crate) fn is_in_loop(&self, id: GateId) -> bool {
        let idx = id.index() as u32;
        let next = self.loops.partition_point(|it| it.gates.end <= idx);
        self.loops.get(next).is_some_and(|it| it.gates.contains(&idx))
    }

    /// Returns the number of roles.
    pub fn n_roles(&self) -> usize {
        self.vocabulary.roles.len()
    }

    /// Iterates over the gates of all outputs.
    pub fn outputs(&self) -> impl Iterator<Item = GateId> + '_ {
        let goals = self.goals.iter().map(|&(_, _, gate)| gate);
        let lists = [&self.next, &self.legal, &self.sees];
        lists.into_iter().flatten().copied().chain(goals).chain([self.terminal])
    }

    /// Returns for each gate whether one of `outputs` depends on it, directly or through loops.
    pub fn cone(&self, outputs: impl IntoIterator<Item = GateId>) -> Vec<bool> {
        let mut is_needed = vec![false; self.n_gates()];
        let mut source_of = vec![None; if self.loops.is_empty() { 0 } else { self.n_gates() }];
        for &(feedback, source) in self.loops.iter().flat_map(|it| &it.feedback) {
            source_of[feedback.index()] = Some(source);
        }
        let mut open: Vec<GateId> = outputs.into_iter().collect();
        while let Some(gate) = open.pop() {
            if std::mem::replace(&mut is_needed[gate.index()], true) {
                continue;
            }
            open.extend(self.inputs(gate));
            if let Gate::Feedback = self.gate(gate) {
                open.extend(source_of[gate.index()]);
            }
        }
        is_needed
    }
}

impl Gates {
    pub fn gate(&self, id: GateId) -> Gate<'_> {
        let inputs = self.inputs_of(id);
        match self.kinds[id.index()] {
            Kind::Constant(value) => Gate::Constant(value),
            Kind::Fluent(fluent) => Gate::Fluent(fluent),
            Kind::Move(played) => Gate::Move(played),
            Kind::Feedback => Gate::Feedback,
            Kind::Not => Gate::Not(inputs[0]),
            Kind::And => Gate::And(inputs),
            Kind::Or => Gate::Or(inputs),
        }
    }

    pub fn inputs_of(&self, id: GateId) -> &[GateId] {
        let start = if id.index() == 0 { 0 } else { self.ends[id.index() - 1] as usize };
        &self.inputs[start..self.ends[id.index()] as usize]
    }
}

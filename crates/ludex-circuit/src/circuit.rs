//! The main type of this crate.

use std::ops::Range;
use std::sync::Arc;

use ludex_base::{BitSet, FluentId, Goal, MoveId, RoleId, define_id};
use ludex_ground::Vocabulary;

define_id! {
    /// A gate of some [`Circuit`].
    pub struct GateId;
}

/// A game as a circuit: its inputs are the fluents of a state and the moves of a joint move, its
/// outputs say what follows.
///
/// Gates are numbered so that the inputs of a gate have smaller numbers, but for
/// [`Gate::Feedback`], whose value comes from the [`Loop`] it belongs to. Outputs about the state
/// (`legal`, `terminal`, `goals`) do not depend on moves.
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
    /// The runs of gates to be evaluated until nothing changes, ascending and apart.
    pub loops: Vec<Loop>,
    pub(crate) gates: Gates,
}

/// The gates in a few long vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    pub kinds: Vec<Kind>,
    /// Where the inputs of a gate end.
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

/// What a gate computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate<'a> {
    /// Always the same.
    Constant(bool),
    /// Whether the fluent is true now.
    Fluent(FluentId),
    /// Whether the move is played now.
    Move(MoveId),
    /// What its loop has derived so far; false at first.
    Feedback,
    /// The opposite.
    Not(GateId),
    /// Whether all hold; at least two inputs, ascending.
    And(&'a [GateId]),
    /// Whether one holds; at least two inputs, ascending.
    Or(&'a [GateId]),
}

/// A run of gates that depend on each other, all positively.
///
/// Its meaning is the least fixpoint: with all feedback false, evaluate the gates of the run in
/// order, copy each source to its feedback gate, and again, until nothing changes. A feedback gate
/// that became true never becomes false again, so there are at most as many rounds as feedback
/// gates, and one more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The gates of the run, by number.
    pub gates: Range<u32>,
    /// Each feedback gate, which is in the run, with the gate that it copies.
    pub feedback: Vec<(GateId, GateId)>,
}

impl Circuit {
    /// How many gates there are, inputs and constants included.
    pub fn n_gates(&self) -> usize {
        self.gates.kinds.len()
    }

    /// How many inputs all gates have together.
    pub fn n_edges(&self) -> usize {
        self.gates.inputs.len()
    }

    /// What a gate computes.
    #[inline]
    pub fn gate(&self, id: GateId) -> Gate<'_> {
        self.gates.gate(id)
    }

    /// The inputs of a gate.
    #[inline]
    pub fn inputs(&self, id: GateId) -> &[GateId] {
        self.gates.inputs_of(id)
    }

    /// The ids of all gates, inputs before the gates that use them.
    pub fn gate_ids(&self) -> impl Iterator<Item = GateId> + use<> {
        (0..self.n_gates()).map(GateId::new)
    }

    /// Whether a gate belongs to a loop.
    pub(crate) fn is_in_loop(&self, id: GateId) -> bool {
        let idx = id.index() as u32;
        let next = self.loops.partition_point(|it| it.gates.end <= idx);
        self.loops.get(next).is_some_and(|it| it.gates.contains(&idx))
    }

    /// How many roles there are.
    pub fn n_roles(&self) -> usize {
        self.vocabulary.roles.len()
    }

    /// All gates that something outside may ask for.
    pub fn outputs(&self) -> impl Iterator<Item = GateId> + '_ {
        let goals = self.goals.iter().map(|&(_, _, gate)| gate);
        let lists = [&self.next, &self.legal, &self.sees];
        lists.into_iter().flatten().copied().chain(goals).chain([self.terminal])
    }

    /// For each gate, whether one of `outputs` depends on it, through loops as well.
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

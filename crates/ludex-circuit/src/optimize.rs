//! Reduction of a circuit to fewer gates and edges.
//!
//! One pass from the inputs to the outputs applies two rewritings:
//!
//! - A disjunction that only another disjunction reads is merged into it; the same holds for
//!   conjunctions.
//! - Each role plays exactly one move, so a disjunction over many moves of a role is the negation
//!   of the disjunction over its few others. Most edges of real games belong to frame axioms ("this
//!   cell keeps its piece unless a move touches it"), and this removes nearly all of them.

use ludex_base::{Limits, MoveId, Pace, StopReason};

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId, Loop};
use crate::compile::STEPS_PER_CHECK;

impl Circuit {
    /// Returns an equivalent circuit with fewer gates and edges.
    ///
    /// It is equivalent for transitions in which every role plays exactly one of its moves, and for
    /// states whose outputs do not depend on moves.
    pub fn optimized(&self) -> Circuit {
        self.optimized_at(&Pace::unlimited()).expect("nothing stops an unlimited pace")
    }

    /// Does the same as [`Circuit::optimized`] within some limits.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn optimized_within(&self, limits: &Limits) -> Result<Circuit, StopReason> {
        self.optimized_at(&Pace::new(&limits.deadline, STEPS_PER_CHECK))
    }

    fn optimized_at(&self, pace: &Pace<'_>) -> Result<Circuit, StopReason> {
        let mut pass = Pass::new(self);
        let mut loops = self.loops.iter().peekable();
        let mut open_loop: Option<(&Loop, u32)> = None;
        for id in self.gate_ids() {
            if let Some((it, start)) =
                open_loop.take_if(|(it, _)| it.gates.end as usize == id.index())
            {
                pass.end_loop(it, start);
            }
            if let Some(it) = loops.next_if(|it| it.gates.start as usize == id.index()) {
                open_loop = Some((it, pass.builder.n_gates() as u32));
            }
            pace.steps(1 + self.inputs(id).len())?;
            pass.gate(id);
        }
        if let Some((it, start)) = open_loop {
            pass.end_loop(it, start);
        }
        let Pass { builder, new_ids, loops, .. } = pass;
        Ok(self.over(builder.finish(), loops, |id| new_ids[id.index()]).pruned())
    }
}

struct Pass<'a> {
    circuit: &'a Circuit,
    builder: Builder,
    new_ids: Vec<GateId>,
    /// By gate of the old circuit, how many gates and outputs read it.
    n_readers: Vec<u32>,
    /// The range of moves of each role: moves are sorted by role.
    moves_of: Vec<std::ops::Range<usize>>,
    loops: Vec<Loop>,
}

impl<'a> Pass<'a> {
    fn new(circuit: &'a Circuit) -> Self {
        let mut n_readers = vec![0; circuit.n_gates()];
        circuit
            .gate_ids()
            .flat_map(|id| circuit.inputs(id))
            .for_each(|input| n_readers[input.index()] += 1);
        circuit.outputs().for_each(|output| n_readers[output.index()] += 1);
        for (_, source) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            n_readers[source.index()] += 1;
        }
        let moves = &circuit.vocabulary.moves;
        let moves_of = (0..circuit.n_roles())
            .map(|role| {
                let start = moves.partition_point(|(of, _)| of.index() < role);
                start..moves.partition_point(|(of, _)| of.index() <= role)
            })
            .collect();
        let mut builder = Builder::default();
        let never = builder.constant(false);
        let new_ids = vec![never; circuit.n_gates()];
        Self { circuit, builder, new_ids, n_readers, moves_of, loops: Vec::new() }
    }

    fn end_loop(&mut self, it: &Loop, start: u32) {
        let new = |id: GateId| self.new_ids[id.index()];
        let feedback = it.feedback.iter().map(|&(gate, source)| (new(gate), new(source))).collect();
        self.loops.push(Loop { gates: start..self.builder.n_gates() as u32, feedback });
    }

    fn gate(&mut self, id: GateId) {
        let new = match self.circuit.gate(id) {
            Gate::Constant(value) => self.builder.constant(value),
            Gate::Fluent(fluent) => self.builder.fluent(fluent),
            Gate::Move(played) => self.builder.played(played),
            Gate::Feedback => self.builder.feedback(),
            Gate::Not(input) => self.builder.not(self.new_ids[input.index()]),
            Gate::And(_) => {
                let mut inputs = self.merged_inputs(id);
                self.shorten_moves(&mut inputs, false);
                self.builder.and(&mut inputs)
            }
            Gate::Or(_) => {
                let mut inputs = self.merged_inputs(id);
                self.shorten_moves(&mut inputs, true);
                self.builder.or(&mut inputs)
            }
        };
        self.new_ids[id.index()] = new;
    }

    /// Returns the new inputs of a gate, with those of inputs of the same kind that nothing else
    /// reads merged in.
    fn merged_inputs(&self, id: GateId) -> Vec<GateId> {
        let is_or = matches!(self.circuit.gate(id), Gate::Or(_));
        let mut inputs = Vec::new();
        for &input in self.circuit.inputs(id) {
            let new = self.new_ids[input.index()];
            let merged = match self.builder.gate_of(new) {
                Gate::Or(parts) if is_or && self.n_readers[input.index()] == 1 => parts,
                Gate::And(parts) if !is_or && self.n_readers[input.index()] == 1 => parts,
                _ => std::slice::from_ref(&new),
            };
            inputs.extend_from_slice(merged);
        }
        inputs
    }

    /// Replaces many moves of a role in a disjunction by the negation of the others; in a
    /// conjunction, replaces many negated moves by the disjunction of the others.
    fn shorten_moves(&mut self, inputs: &mut Vec<GateId>, is_or: bool) {
        let played = |builder: &Builder, id: GateId| match (builder.gate_of(id), is_or) {
            (Gate::Move(played), true) => Some(played),
            (Gate::Not(input), false) => match builder.gate_of(input) {
                Gate::Move(played) => Some(played),
                _ => None,
            },
            _ => None,
        };
        let mut moves: Vec<MoveId> =
            inputs.iter().filter_map(|&id| played(&self.builder, id)).collect();
        moves.sort_unstable();
        moves.dedup();
        for role_idx in 0..self.moves_of.len() {
            let all = self.moves_of[role_idx].clone();
            let start = moves.partition_point(|id| id.index() < all.start);
            let end = moves.partition_point(|id| id.index() < all.end);
            let listed = &moves[start..end];
            let n_others = all.len() - listed.len();
            // The negation itself is an edge too.
            if listed.len() < n_others + 2 {
                continue;
            }
            inputs.retain(|&id| {
                played(&self.builder, id).is_none_or(|id| !all.contains(&id.index()))
            });
            let mut others: Vec<GateId> = all
                .filter(|&idx| listed.binary_search(&MoveId::new(idx)).is_err())
                .map(|idx| self.builder.played(MoveId::new(idx)))
                .collect();
            let others = self.builder.or(&mut others);
            inputs.push(if is_or { self.builder.not(others) } else { others });
        }
    }
}

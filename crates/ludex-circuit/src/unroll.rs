//! Unrolling: an equivalent circuit without feedback.

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId, Loop};

impl Circuit {
    /// Returns an equivalent circuit without loops: it contains the gates of each loop once for
    /// each round that the fixpoint may take, unless a round adds nothing to the round before.
    ///
    /// A loop of n feedback gates becomes up to n + 1 copies, so the result can be large; `None` if
    /// it would have more than `max_gates` gates.
    pub fn unrolled(&self, max_gates: usize) -> Option<Circuit> {
        let mut copy = Copy {
            circuit: self,
            builder: Builder::default(),
            new_ids: vec![None; self.n_gates()],
        };
        let mut loops = self.loops.iter().peekable();
        let mut next = 0;
        while next < self.n_gates() {
            match loops.next_if(|it| it.gates.start as usize == next) {
                Some(it) => {
                    copy.unroll(it, max_gates)?;
                    next = it.gates.end as usize;
                }
                None => {
                    copy.gate(GateId::new(next));
                    next += 1;
                }
            }
            if copy.builder.n_gates() > max_gates {
                return None;
            }
        }
        let Copy { builder, new_ids, .. } = copy;
        let new = |id: GateId| new_ids[id.index()].expect("every gate was copied");
        Some(self.over(builder.finish(), Vec::new(), new).pruned())
    }
}

struct Copy<'a> {
    circuit: &'a Circuit,
    builder: Builder,
    /// By gate, its copy; for a feedback gate, its value in this round.
    new_ids: Vec<Option<GateId>>,
}

impl Copy<'_> {
    fn unroll(&mut self, it: &Loop, max_gates: usize) -> Option<()> {
        let never = self.builder.constant(false);
        for &(feedback, _) in &it.feedback {
            self.new_ids[feedback.index()] = Some(never);
        }
        // One more round than there are feedback gates: the last round computes the fixpoint.
        for _ in 0..=it.feedback.len() {
            it.gates.clone().for_each(|id| self.gate(GateId::new(id as usize)));
            if self.builder.n_gates() > max_gates {
                return None;
            }
            let mut has_changed = false;
            for &(feedback, source) in &it.feedback {
                let value = self.new_ids[source.index()];
                has_changed |= self.new_ids[feedback.index()] != value;
                self.new_ids[feedback.index()] = value;
            }
            if !has_changed {
                break;
            }
        }
        Some(())
    }

    fn gate(&mut self, id: GateId) {
        let new = |id: &GateId| self.new_ids[id.index()].expect("inputs are copied first");
        let copied = match self.circuit.gate(id) {
            Gate::Feedback => return,
            Gate::Constant(value) => self.builder.constant(value),
            Gate::Fluent(fluent) => self.builder.fluent(fluent),
            Gate::Move(played) => self.builder.played(played),
            Gate::Not(input) => {
                let input = new(&input);
                self.builder.not(input)
            }
            Gate::And(inputs) => {
                let mut inputs = inputs.iter().map(new).collect();
                self.builder.and(&mut inputs)
            }
            Gate::Or(inputs) => {
                let mut inputs = inputs.iter().map(new).collect();
                self.builder.or(&mut inputs)
            }
        };
        self.new_ids[id.index()] = Some(copied);
    }
}

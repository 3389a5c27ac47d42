//! Copies of a circuit with some gates replaced.

use ludex_base::{Pace, StopReason};

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId, Gates, Loop};

impl Circuit {
    /// Copies the circuit and replaces some gates. `replace` gets the new ids of all earlier gates
    /// and the gate to copy; if it returns `None`, the gate is copied unchanged.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub(crate) fn rebuilt(
        &self,
        pace: &Pace<'_>,
        mut replace: impl FnMut(&mut Builder, &[GateId], GateId) -> Option<GateId>,
    ) -> Result<Circuit, StopReason> {
        let mut builder = Builder::default();
        let mut new_ids: Vec<GateId> = Vec::with_capacity(self.n_gates());
        let mut loops: Vec<Loop> = Vec::new();
        let mut old_loops = self.loops.iter().peekable();
        let mut open: Option<(&Loop, u32)> = None;
        for id in self.gate_ids() {
            let end = open.take_if(|(it, _)| it.gates.end as usize == id.index());
            loops.extend(end.map(|(it, start)| copied_loop(it, start, &builder, &new_ids)));
            if let Some(it) = old_loops.next_if(|it| it.gates.start as usize == id.index()) {
                open = Some((it, builder.n_gates() as u32));
            }
            pace.steps(1 + self.inputs(id).len())?;
            let copied = |inputs: &[GateId]| inputs.iter().map(|it| new_ids[it.index()]).collect();
            let replaced = replace(&mut builder, &new_ids, id);
            let new = replaced.unwrap_or_else(|| match self.gate(id) {
                Gate::Constant(value) => builder.constant(value),
                Gate::Fluent(fluent) => builder.fluent(fluent),
                Gate::Move(played) => builder.played(played),
                Gate::Feedback => builder.feedback(),
                Gate::Not(input) => builder.not(new_ids[input.index()]),
                Gate::And(inputs) => builder.and(&mut copied(inputs)),
                Gate::Or(inputs) => builder.or(&mut copied(inputs)),
            });
            new_ids.push(new);
        }
        loops.extend(open.map(|(it, start)| copied_loop(it, start, &builder, &new_ids)));
        Ok(self.over(builder.finish(), loops, |id| new_ids[id.index()]).pruned())
    }

    /// Returns the same game over other gates: `new` maps the gate of each output.
    pub(crate) fn over(
        &self,
        gates: Gates,
        loops: Vec<Loop>,
        new: impl Fn(GateId) -> GateId,
    ) -> Circuit {
        let all = |ids: &[GateId]| ids.iter().map(|&id| new(id)).collect();
        Circuit {
            vocabulary: self.vocabulary.clone(),
            has_percepts: self.has_percepts,
            init: self.init.clone(),
            next: all(&self.next),
            legal: all(&self.legal),
            sees: all(&self.sees),
            terminal: new(self.terminal),
            goals: self.goals.iter().map(|&(role, goal, id)| (role, goal, new(id))).collect(),
            loops,
            gates,
        }
    }
}

fn copied_loop(it: &Loop, start: u32, builder: &Builder, new_ids: &[GateId]) -> Loop {
    let new = |id: GateId| new_ids[id.index()];
    let feedback = it.feedback.iter().map(|&(gate, source)| (new(gate), new(source))).collect();
    Loop { gates: start..builder.n_gates() as u32, feedback }
}

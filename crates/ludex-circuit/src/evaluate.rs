//! Straightforward evaluation of every gate; tests compare the fast evaluations with it.

use ludex_base::{BitSet, MoveId};

use crate::circuit::{Circuit, Gate, GateId};

impl Circuit {
    /// Evaluates every gate in a state with a joint move, which may be empty.
    pub fn evaluate(&self, state: &BitSet, joint: &[MoveId]) -> Vec<bool> {
        let mut values = vec![false; self.n_gates()];
        let mut loops = self.loops.iter().peekable();
        let mut next = 0;
        while next < self.n_gates() {
            let Some(it) = loops.next_if(|it| it.gates.start as usize == next) else {
                values[next] = self.value(GateId::new(next), &values, state, joint);
                next += 1;
                continue;
            };
            loop {
                for id in it.gates.clone().map(|id| GateId::new(id as usize)) {
                    if self.gate(id) != Gate::Feedback {
                        values[id.index()] = self.value(id, &values, state, joint);
                    }
                }
                let is_open = |values: &[bool]| {
                    it.feedback.iter().any(|(to, from)| values[to.index()] != values[from.index()])
                };
                if !is_open(&values) {
                    break;
                }
                for (to, from) in &it.feedback {
                    values[to.index()] = values[from.index()];
                }
            }
            next = it.gates.end as usize;
        }
        values
    }

    pub(crate) fn value(
        &self,
        id: GateId,
        values: &[bool],
        state: &BitSet,
        joint: &[MoveId],
    ) -> bool {
        match self.gate(id) {
            Gate::Constant(value) => value,
            Gate::Fluent(fluent) => state.contains(fluent.index()),
            Gate::Move(played) => joint.contains(&played),
            Gate::Feedback => values[id.index()],
            Gate::Not(input) => !values[input.index()],
            Gate::And(inputs) => inputs.iter().all(|input| values[input.index()]),
            Gate::Or(inputs) => inputs.iter().any(|input| values[input.index()]),
        }
    }
}

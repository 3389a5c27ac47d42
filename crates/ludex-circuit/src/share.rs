//! Common inputs of several gates: `a ∨ b ∨ c ∨ d` reads `a ∨ b ∨ c` if another gate needs that
//! too.
//!
//! Rules list the moves to a square piece by piece. So the disjunction for the square can read the
//! disjunctions for its pieces instead of every move again.

use ludex_base::{Pace, StopReason};
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId};

/// Smaller parts do not pay for the extra gate.
const MIN_PART: usize = 3;

/// Largest number of inputs to look at: a few hundredths of a second.
const MAX_WORK: usize = 8_000_000;

impl Circuit {
    /// Returns an equivalent circuit in which lists of inputs common to several gates are gates
    /// themselves.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn with_shared_parts(&self, pace: &Pace<'_>) -> Result<Circuit, StopReason> {
        let Some(mut parts) = Parts::find(self) else {
            return Ok(self.clone());
        };
        self.rebuilt(pace, |builder, new_ids, id| {
            let within = std::mem::take(&mut parts.of_gates[id.index()]);
            let is_or = matches!(self.gate(id), Gate::Or(_));
            let join = || parts.join(builder, new_ids, is_or, self.inputs(id), &within);
            (!within.is_empty()).then(join)
        })
    }

    /// Returns the conjunctions and disjunctions with enough inputs, except those in loops.
    fn wide_gates(&self) -> Vec<GateId> {
        (self.gate_ids())
            .filter(|&id| matches!(self.gate(id), Gate::And(_) | Gate::Or(_)))
            .filter(|&id| self.inputs(id).len() >= MIN_PART && !self.is_in_loop(id))
            .collect()
    }
}

/// Lists of inputs that several gates have in common.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
    /// By gate, the parts that are subsets of its inputs, the largest first.
    of_gates: Vec<Vec<usize>>,
}

struct Part {
    is_or: bool,
    inputs: Vec<GateId>,
    /// The parts that are subsets of its inputs, the largest first.
    within: Vec<usize>,
    /// Its gate in the new circuit, once it is made.
    made: Option<GateId>,
}

impl Parts {
    /// Finds the parts of a circuit; `None` if that takes too long.
    fn find(circuit: &Circuit) -> Option<Parts> {
        let is_or = |id: GateId| matches!(circuit.gate(id), Gate::Or(_));
        let wide = circuit.wide_gates();
        // By gate, its readers: separately the conjunctions and the disjunctions.
        let mut readers: [Vec<Vec<GateId>>; 2] =
            std::array::from_fn(|_| vec![Vec::new(); circuit.n_gates()]);
        for &id in &wide {
            let of_kind = &mut readers[usize::from(is_or(id))];
            circuit.inputs(id).iter().for_each(|input| of_kind[input.index()].push(id));
        }
        let mut n_looked_at = 0;
        let mut contains = |all: &[GateId], inputs: &[GateId]| {
            n_looked_at += inputs.len();
            let has_all = inputs.iter().all(|input| all.binary_search(input).is_ok());
            (n_looked_at <= MAX_WORK).then_some(has_all)
        };
        let mut found = Parts { parts: Vec::new(), of_gates: vec![Vec::new(); circuit.n_gates()] };
        let mut origins: FxHashMap<(bool, Vec<GateId>), GateId> = FxHashMap::default();
        for &origin in &wide {
            let readers = &readers[usize::from(is_or(origin))];
            // An input that no other gate reads can't be in a shared part.
            let is_shared = |input: &&GateId| readers[input.index()].len() > 1;
            let inputs: Vec<GateId> =
                circuit.inputs(origin).iter().filter(is_shared).copied().collect();
            let rarest = inputs.iter().min_by_key(|input| readers[input.index()].len());
            let Some(rarest) = rarest.filter(|_| inputs.len() >= MIN_PART) else { continue };
            if origins.insert((is_or(origin), inputs.clone()), origin).is_some() {
                continue;
            }
            let mut users = Vec::new();
            for &user in &readers[rarest.index()] {
                if contains(circuit.inputs(user), &inputs)? {
                    users.push(user);
                }
            }
            if users.len() > 1 {
                let idx = found.parts.len();
                for user in users {
                    found.of_gates[user.index()].push(idx);
                }
                let within = vec![origin.index()];
                found.parts.push(Part { is_or: is_or(origin), inputs, within, made: None });
            }
        }
        let size = |found: &Parts, idx: usize| std::cmp::Reverse(found.parts[idx].inputs.len());
        for idx in 0..found.parts.len() {
            let part = &found.parts[idx];
            let mut within = Vec::new();
            for &other in &found.of_gates[part.within[0]] {
                let inputs = &found.parts[other].inputs;
                if inputs.len() < part.inputs.len() && contains(&part.inputs, inputs)? {
                    within.push(other);
                }
            }
            within.sort_by_key(|&idx| (size(&found, idx), idx));
            found.parts[idx].within = within;
        }
        let mut of_gates = std::mem::take(&mut found.of_gates);
        for &id in &wide {
            let within = &mut of_gates[id.index()];
            within.sort_by_key(|&idx| (size(&found, idx), idx));
        }
        found.of_gates = of_gates;
        Some(found)
    }

    /// Makes the disjunction or conjunction of the copies of some inputs, out of parts where
    /// possible.
    fn join(
        &mut self,
        builder: &mut Builder,
        new_ids: &[GateId],
        is_or: bool,
        inputs: &[GateId],
        within: &[usize],
    ) -> GateId {
        let mut rest: Vec<GateId> = inputs.to_vec();
        let mut joined = Vec::new();
        for &idx in within {
            let part = &self.parts[idx];
            let is_in_part = |input: &GateId| part.inputs.binary_search(input).is_ok();
            // A part with all the inputs would contain itself.
            let is_all = part.inputs.len() == inputs.len();
            if !is_all && rest.iter().filter(|input| is_in_part(input)).count() > 1 {
                rest.retain(|input| !is_in_part(input));
                joined.push(self.make(builder, new_ids, idx));
            }
        }
        joined.extend(rest.iter().map(|input| new_ids[input.index()]));
        if is_or { builder.or(&mut joined) } else { builder.and(&mut joined) }
    }

    /// Returns the gate of a part, making it if necessary.
    fn make(&mut self, builder: &mut Builder, new_ids: &[GateId], idx: usize) -> GateId {
        if let Some(made) = self.parts[idx].made {
            return made;
        }
        let Part { is_or, inputs, within, .. } = &mut self.parts[idx];
        let (is_or, inputs, within) = (*is_or, std::mem::take(inputs), std::mem::take(within));
        let made = self.join(builder, new_ids, is_or, &inputs, &within);
        let part = &mut self.parts[idx];
        (part.inputs, part.made) = (inputs, Some(made));
        made
    }
}

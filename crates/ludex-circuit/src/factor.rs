//! Factoring: `a b c ∨ a b d ∨ e b c ∨ e b d` becomes `(a ∨ e) b (c ∨ d)`.
//!
//! A disjunction of conjunctions is written as a tree of cases, its most frequent literals first.
//! Cases with equal remainders are merged, and since equal gates are one gate, disjunctions share
//! remainders as well. Conjunctions of disjunctions are treated likewise.

use ludex_base::{Pace, StopReason};
use rustc_hash::FxHashMap;

use crate::builder::Builder;
use crate::circuit::{Circuit, Gate, GateId};

/// Longer terms stay as they are.
const MAX_TERM: usize = 12;

impl Circuit {
    /// Returns an equivalent circuit with common factors taken out.
    ///
    /// It suits evaluation of all gates: there are fewer inputs to read, but more gates between an
    /// input and an output.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn factored(&self, pace: &Pace<'_>) -> Result<Circuit, StopReason> {
        let mut n_readers = vec![0_u32; self.n_gates()];
        let sources = self.loops.iter().flat_map(|it| &it.feedback).map(|&(_, source)| source);
        let inputs = self.gate_ids().flat_map(|id| self.inputs(id)).copied();
        for read in inputs.chain(self.outputs()).chain(sources) {
            n_readers[read.index()] += 1;
        }
        self.rebuilt(pace, |builder, new_ids, id| {
            let (inputs, is_or) = match self.gate(id) {
                Gate::And(inputs) => (inputs, false),
                Gate::Or(inputs) => (inputs, true),
                _ => return None,
            };
            let mut terms: Vec<Vec<GateId>> = Vec::new();
            let mut others: Vec<GateId> = Vec::new();
            for &input in inputs {
                match (self.gate(input), is_or) {
                    (Gate::And(parts), true) | (Gate::Or(parts), false)
                        if n_readers[input.index()] == 1 && parts.len() <= MAX_TERM =>
                    {
                        terms.push(parts.iter().map(|part| new_ids[part.index()]).collect());
                    }
                    _ => others.push(new_ids[input.index()]),
                }
            }
            (terms.len() > 1).then(|| factor(builder, terms, others, is_or))
        })
    }
}

/// Makes the disjunction of some conjunctions (the terms) and some other gates; or the dual.
fn factor(
    builder: &mut Builder,
    mut terms: Vec<Vec<GateId>>,
    mut others: Vec<GateId>,
    is_or: bool,
) -> GateId {
    let mut n_uses: FxHashMap<GateId, u32> = FxHashMap::default();
    terms.iter().flatten().for_each(|&id| *n_uses.entry(id).or_default() += 1);
    for term in &mut terms {
        term.sort_unstable_by_key(|id| (std::cmp::Reverse(n_uses[id]), *id));
        term.dedup();
    }
    terms.sort_unstable();
    terms.dedup();
    let terms: Vec<&[GateId]> = terms.iter().map(Vec::as_slice).collect();
    Cases { builder, is_or }.join(&terms, &mut others)
}

/// The tree of cases of a disjunction or conjunction.
struct Cases<'a> {
    builder: &'a mut Builder,
    is_or: bool,
}

impl Cases<'_> {
    /// Makes the disjunction of sorted nonempty terms and some other gates.
    fn join(&mut self, mut terms: &[&[GateId]], others: &mut Vec<GateId>) -> GateId {
        // The remainder of each case, with the literals that it begins with.
        let mut cases: Vec<(Vec<GateId>, GateId)> = Vec::new();
        while let Some(first) = terms.first().map(|term| term[0]) {
            let n = terms.iter().take_while(|term| term[0] == first).count();
            let rests: Vec<&[GateId]> = terms[..n].iter().map(|term| &term[1..]).collect();
            terms = &terms[n..];
            if rests[0].is_empty() {
                // A term of one literal covers every longer term that begins with it.
                others.push(first);
            } else if n == 2 && rests.iter().any(|rest| rest.len() > 1) {
                // Factoring two longer terms would not save an input.
                cases.extend(rests.iter().map(|rest| (rest.to_vec(), first)));
            } else {
                let rest = match rests[..] {
                    [rest] => rest.to_vec(),
                    _ => vec![self.join(&rests, &mut Vec::new())],
                };
                cases.push((rest, first));
            }
        }
        cases.sort_unstable();
        for case in cases.chunk_by(|a, b| a.0 == b.0) {
            let mut literals: Vec<GateId> = case.iter().map(|&(_, literal)| literal).collect();
            let mut term = case[0].0.clone();
            term.push(self.gate(self.is_or, &mut literals));
            others.push(self.gate(!self.is_or, &mut term));
        }
        self.gate(self.is_or, others)
    }

    fn gate(&mut self, is_or: bool, inputs: &mut Vec<GateId>) -> GateId {
        if is_or { self.builder.or(inputs) } else { self.builder.and(inputs) }
    }
}

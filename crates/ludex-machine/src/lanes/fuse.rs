//! Gates that are evaluated inside the only gate that reads them.
//!
//! A disjunction of many small conjunctions need not store each of them: it can read their inputs
//! instead. That saves a write, a read and a slot for each, and leaves more room for other values
//! in the cache.

use ludex_circuit::{Circuit, Gate, GateId};

/// Returns for each gate whether it is a pair that its only reader evaluates on the way.
pub(crate) fn inner_gates(circuit: &Circuit) -> Vec<bool> {
    let n_readers = n_readers(circuit);
    let mut can_be_inner: Vec<bool> = n_readers.iter().map(|&n| n == 1).collect();
    // Outputs and the sources of loops have slots of their own.
    for id in circuit.outputs().chain(sources(circuit)) {
        can_be_inner[without_not(circuit, id).0.index()] = false;
    }
    let mut is_inner = vec![false; circuit.n_gates()];
    for idx in (0..circuit.n_gates()).rev() {
        let id = GateId::new(idx);
        if is_inner[idx] || !matches!(circuit.gate(id), Gate::And(_) | Gate::Or(_)) {
            continue;
        }
        for &input in circuit.inputs(id) {
            let (inner, is_negated) = without_not(circuit, input);
            let is_pair = match (circuit.gate(id), circuit.gate(inner)) {
                (Gate::Or(_), Gate::And(pair)) | (Gate::And(_), Gate::Or(pair)) => {
                    !is_negated && pair.len() == 2
                }
                (Gate::Or(_), Gate::Or(pair)) | (Gate::And(_), Gate::And(pair)) => {
                    is_negated && pair.len() == 2
                }
                _ => false,
            };
            is_inner[inner.index()] |= is_pair && can_be_inner[inner.index()];
        }
    }
    is_inner
}

/// Counts the gates, outputs and loops that read each gate, negated or not.
pub(crate) fn n_readers(circuit: &Circuit) -> Vec<u32> {
    let mut n_readers = vec![0; circuit.n_gates()];
    let gates = circuit.gate_ids().filter(|&id| !matches!(circuit.gate(id), Gate::Not(_)));
    let inputs = gates.flat_map(|id| circuit.inputs(id)).copied();
    for id in inputs.chain(circuit.outputs()).chain(sources(circuit)) {
        n_readers[without_not(circuit, id).0.index()] += 1;
    }
    n_readers
}

/// Lists the sources of feedback gates.
fn sources(circuit: &Circuit) -> impl Iterator<Item = GateId> + '_ {
    circuit.loops.iter().flat_map(|it| &it.feedback).map(|&(_, source)| source)
}

/// Strips negations: returns the gate below them, and whether the original is its negation.
pub(crate) fn without_not(circuit: &Circuit, mut id: GateId) -> (GateId, bool) {
    let mut is_negated = false;
    while let Gate::Not(input) = circuit.gate(id) {
        (id, is_negated) = (input, !is_negated);
    }
    (id, is_negated)
}

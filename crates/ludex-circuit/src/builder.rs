//! Construction of gates, each made once, with constants folded.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use ludex_base::{FluentId, MoveId};
use rustc_hash::FxBuildHasher;

use crate::circuit::{Gate, GateId, Gates, Kind};

/// Makes gates.
#[derive(Default)]
pub(crate) struct Builder {
    gates: Gates,
    index: HashTable<GateId>,
}

impl Builder {
    pub fn n_gates(&self) -> usize {
        self.gates.kinds.len()
    }

    /// Returns whether so many more edges, and as many gates, can have numbers.
    pub fn has_room_for(&self, n_edges: usize) -> bool {
        let n_used = self.gates.inputs.len().max(self.gates.kinds.len());
        n_used.saturating_add(n_edges) < u32::MAX as usize
    }

    pub fn gate_of(&self, id: GateId) -> Gate<'_> {
        self.gates.gate(id)
    }

    pub fn finish(self) -> Gates {
        self.gates
    }

    pub fn constant(&mut self, value: bool) -> GateId {
        self.gate(Kind::Constant(value), &[])
    }

    pub fn fluent(&mut self, fluent: FluentId) -> GateId {
        self.gate(Kind::Fluent(fluent), &[])
    }

    pub fn played(&mut self, played: MoveId) -> GateId {
        self.gate(Kind::Move(played), &[])
    }

    /// Makes a feedback gate; each call makes a new one.
    pub fn feedback(&mut self) -> GateId {
        self.push(Kind::Feedback, &[])
    }

    pub fn not(&mut self, input: GateId) -> GateId {
        match self.gates.gate(input) {
            Gate::Constant(value) => self.constant(!value),
            Gate::Not(inner) => inner,
            _ => self.gate(Kind::Not, &[input]),
        }
    }

    /// Makes a conjunction; empties the list.
    pub fn and(&mut self, inputs: &mut Vec<GateId>) -> GateId {
        self.joined(Kind::And, inputs)
    }

    /// Makes a disjunction; empties the list.
    pub fn or(&mut self, inputs: &mut Vec<GateId>) -> GateId {
        self.joined(Kind::Or, inputs)
    }

    /// Makes a conjunction or disjunction. One of the constants decides its value, the other is
    /// dropped.
    fn joined(&mut self, kind: Kind, inputs: &mut Vec<GateId>) -> GateId {
        let deciding = kind == Kind::Or;
        inputs.sort_unstable();
        inputs.dedup();
        let is_constant = |gates: &Gates, id: GateId, value: bool| {
            gates.kinds[id.index()] == Kind::Constant(value)
        };
        inputs.retain(|&id| !is_constant(&self.gates, id, !deciding));
        let is_decided = inputs.iter().any(|&id| {
            is_constant(&self.gates, id, deciding)
                || matches!(self.gates.gate(id), Gate::Not(inner) if inputs.binary_search(&inner).is_ok())
        });
        if is_decided {
            return self.constant(deciding);
        }
        match inputs[..] {
            [] => self.constant(!deciding),
            [only] => only,
            _ => self.gate(kind, inputs),
        }
    }

    fn gate(&mut self, kind: Kind, inputs: &[GateId]) -> GateId {
        let hash = hash_of(kind, inputs);
        let Self { gates, index } = self;
        let is_same =
            |&id: &GateId| gates.kinds[id.index()] == kind && gates.inputs_of(id) == inputs;
        if let Some(&id) = index.find(hash, is_same) {
            return id;
        }
        let id = self.push(kind, inputs);
        let Self { gates, index } = self;
        index.insert_unique(hash, id, |&id| hash_of(gates.kinds[id.index()], gates.inputs_of(id)));
        id
    }

    fn push(&mut self, kind: Kind, inputs: &[GateId]) -> GateId {
        self.gates.kinds.push(kind);
        self.gates.inputs.extend_from_slice(inputs);
        let end = u32::try_from(self.gates.inputs.len())
            .expect("the number of edges must fit in 32 bits");
        self.gates.ends.push(end);
        GateId::new(self.gates.kinds.len() - 1)
    }
}

fn hash_of(kind: Kind, inputs: &[GateId]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    kind.hash(&mut hasher);
    inputs.hash(&mut hasher);
    hasher.finish()
}

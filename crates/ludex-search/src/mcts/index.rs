//! The transposition table of the tree, from keys to nodes.
//!
//! A fixed array of node ids with linear probing. It stores no keys, because each node has its own.
//! Threads insert with one compare-and-swap.

use std::sync::atomic::{AtomicU32, Ordering::*};

use super::tree::{NONE, NodeId};

/// Slots for node ids; a power of two.
pub(crate) struct Index {
    slots: Vec<AtomicU32>,
}

/// How far an id may lie from its first slot. At most half of the slots are used, so longer runs
/// are rare enough to ignore: the node is then not found again.
const MAX_PROBES: usize = 32;

impl Index {
    /// Creates an empty index for `n_nodes`.
    pub(crate) fn new(n_nodes: usize) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(Self::n_slots(n_nodes), || AtomicU32::new(NONE));
        Self { slots }
    }

    /// Returns the number of slots for `n_nodes`.
    pub(crate) fn n_slots(n_nodes: usize) -> usize {
        (n_nodes * 2).next_power_of_two()
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| *slot.get_mut() = NONE);
    }

    /// Returns the node of a key that `is_it` accepts.
    pub(crate) fn find(&self, key: u64, is_it: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        for slot in self.probes(key) {
            let id = slot.load(Acquire);
            if id == NONE {
                return None;
            }
            let id = NodeId::new(id as usize);
            if is_it(id) {
                return Some(id);
            }
        }
        None
    }

    /// Publishes a node unless one that `is_it` accepts is there; returns the one to use.
    pub(crate) fn insert(&self, key: u64, id: NodeId, is_it: impl Fn(NodeId) -> bool) -> NodeId {
        for slot in self.probes(key) {
            match slot.compare_exchange(NONE, id.index() as u32, AcqRel, Acquire) {
                Ok(_) => return id,
                Err(other) => {
                    let other = NodeId::new(other as usize);
                    if is_it(other) {
                        return other;
                    }
                }
            }
        }
        id
    }

    fn probes(&self, key: u64) -> impl Iterator<Item = &AtomicU32> {
        let mask = self.slots.len() - 1;
        (0..MAX_PROBES.min(self.slots.len()))
            .map(move |probe| &self.slots[(key as usize).wrapping_add(probe) & mask])
    }
}

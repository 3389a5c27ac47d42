//! From keys to nodes: the transposition table of the tree.
//!
//! A fixed array of node ids, probed linearly. It holds no keys: the node knows its own. Threads
//! insert with one compare-and-swap.

use std::sync::atomic::{AtomicU32, Ordering::*};

use super::tree::{NONE, NodeId};

/// Slots for node ids; a power of two.
pub(crate) struct Index {
    slots: Vec<AtomicU32>,
}

/// How far from its place an id may lie. At most half of the slots are used, so a longer run is
/// too rare to matter: the node is then not found again.
const MAX_PROBES: usize = 32;

impl Index {
    /// An empty index for so many nodes.
    pub(crate) fn new(n_nodes: usize) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(Self::n_slots(n_nodes), || AtomicU32::new(NONE));
        Self { slots }
    }

    /// How many slots there are for so many nodes.
    pub(crate) fn n_slots(n_nodes: usize) -> usize {
        (n_nodes * 2).next_power_of_two()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| *slot.get_mut() = NONE);
    }

    /// The node of a key that `is_it` accepts.
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

    /// Publishes a node, unless one that `is_it` accepts is there; gives the one to use.
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

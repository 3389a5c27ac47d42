//! Memory of the tree: growing, recycling, and moving the root.
//!
//! All of this needs exclusive access to the tree and happens between rounds. What a new root has
//! left behind is dropped first, if that makes room. Pools double up to the memory limit; then the
//! least visited nodes are dropped, with everything that is only reachable through them. An edge to
//! a dropped node keeps its statistics, so nothing learned is lost, and the node returns when it is
//! visited again.

use std::hash::Hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::time::{Duration, Instant};

use ludex_base::Deadline;

use super::amaf::AmafCell;
use super::index::Index;
use super::selection::AmafSource;
use super::tree::{Edge, Full, NONE, Node, NodeId, Tree};

/// Initial room for nodes.
const MIN_NODES: usize = 1024;
/// Nanoseconds per byte for making room, until measured on a tree of some size.
pub(crate) const ROOM_NS: f64 = 1.0;
const MIN_MEASURED: usize = 1 << 20;
/// The part of the memory limit that pools may take: while they grow, old and new exist together.
const POOL_SHARE: f64 = 2.0 / 3.0;

impl<S: Clone + Eq + Hash> Tree<S> {
    /// Returns the bytes of a tree with room for `n_nodes` and `n_edges`.
    fn bytes_for(&self, n_nodes: usize, n_edges: usize) -> usize {
        let has_tables = matches!(self.amaf_source, AmafSource::Ancestor { .. });
        let per_node = size_of::<Node>()
            + size_of::<OnceLock<S>>()
            + self.state_bytes
            + 2 * self.roles.n * size_of::<AtomicU32>()
            + usize::from(has_tables) * size_of::<OnceLock<super::amaf::AmafTable>>();
        let has_cells = self.amaf_source == AmafSource::Node;
        let per_edge = size_of::<Edge>() + usize::from(has_cells) * size_of::<AmafCell>();
        n_nodes * per_node + n_edges * per_edge + Index::n_slots(n_nodes) * size_of::<AtomicU32>()
    }

    /// Returns the current bytes of the tree.
    pub(crate) fn n_bytes(&self) -> usize {
        self.bytes_for(self.nodes.len(), self.edges.len()) + self.amaf_bytes.load(Relaxed)
    }

    /// Whether there is time to make room, with a reserve, at the speed of the last time.
    pub(crate) fn has_time_for_room(&self, deadline: &Deadline) -> bool {
        let time = Duration::from_nanos((2.0 * self.n_bytes() as f64 * self.room_ns) as u64);
        deadline.remaining().is_none_or(|left| left > time)
    }

    /// Whether most nodes are not below the root: each visit of the root adds at most one node
    /// below it.
    pub(crate) fn is_mostly_unreachable(&self) -> bool {
        let n_visits = self.node(self.root).n_visits.load(Relaxed) as usize;
        2 * n_visits < self.n_nodes.load(Relaxed).min(self.nodes.len())
    }

    /// Makes room for at least one more node of the requested width, by growing or recycling.
    ///
    /// # Errors
    /// If the memory limit does not allow even that.
    pub(crate) fn make_room(&mut self, memory: usize) -> Result<(), Full> {
        let (n_bytes, start) = (self.n_bytes(), Instant::now());
        let result = self.make_room_unmeasured(memory);
        // Small trees say nothing about large ones.
        if n_bytes >= MIN_MEASURED {
            self.room_ns = start.elapsed().as_nanos() as f64 / n_bytes as f64;
        }
        result
    }

    fn make_room_unmeasured(&mut self, memory: usize) -> Result<(), Full> {
        self.clamp_counters();
        let n_more_edges = *self.n_wanted_edges.get_mut();
        if self.has_moved && self.drop_unreachable() {
            return Ok(());
        }
        let budget = (memory as f64 * POOL_SHARE) as usize;
        let budget = budget.saturating_sub(self.amaf_bytes.load(Relaxed));
        let (n_nodes, n_edges) = (*self.n_nodes.get_mut(), *self.n_edges.get_mut());
        // The number of edges follows the average so far.
        let per_node = (n_edges + n_more_edges).div_ceil(n_nodes + 1).max(4);
        let fits = |n: usize| self.bytes_for(n, n * per_node + n_more_edges) <= budget;
        let mut wanted = (self.nodes.len() * 2).max(MIN_NODES);
        while wanted > self.nodes.len() + self.nodes.len() / 8 && !fits(wanted) {
            wanted -= wanted / 8 + 1;
        }
        if fits(wanted) && wanted > self.nodes.len() {
            self.grow(wanted, (wanted * per_node + n_more_edges).max(self.edges.len()));
            return Ok(());
        }
        if n_nodes == 0 {
            // The limit has no room for a single node, so there is nothing to drop.
            return Err(Full);
        }
        self.recycle();
        let n_free_nodes = self.nodes.len() - *self.n_nodes.get_mut();
        let n_free_edges = self.edges.len() - *self.n_edges.get_mut();
        if n_free_nodes == 0 || n_free_edges < n_more_edges { Err(Full) } else { Ok(()) }
    }

    /// Resets the counters after failed attempts to add a node.
    fn clamp_counters(&mut self) {
        let n_nodes = (*self.n_nodes.get_mut()).min(self.nodes.len());
        *self.n_nodes.get_mut() = n_nodes;
        *self.n_edges.get_mut() = (*self.n_edges.get_mut()).min(self.edges.len());
    }

    fn grow(&mut self, n_nodes: usize, n_edges: usize) {
        fn resize<T>(pool: &mut Vec<T>, n: usize, new: impl FnMut() -> T) {
            pool.reserve_exact(n.saturating_sub(pool.len()));
            pool.resize_with(n, new);
        }
        resize(&mut self.nodes, n_nodes, Node::default);
        resize(&mut self.states, n_nodes, OnceLock::new);
        resize(&mut self.ends, n_nodes * self.roles.n, AtomicU32::default);
        resize(&mut self.values, n_nodes * self.roles.n, AtomicU32::default);
        resize(&mut self.edges, n_edges, Edge::default);
        match self.amaf_source {
            AmafSource::None | AmafSource::Everywhere => {}
            AmafSource::Node => resize(&mut self.amaf, n_edges, AmafCell::default),
            AmafSource::Ancestor { .. } => resize(&mut self.amaf_tables, n_nodes, OnceLock::new),
        }
        self.index = Index::new(n_nodes);
        self.rebuild_index();
    }

    fn rebuild_index(&mut self) {
        self.index.clear();
        for idx in 0..*self.n_nodes.get_mut() {
            // A slot that was taken when the edges ran out has no state and no node.
            if self.states[idx].get().is_some() {
                let key = self.nodes[idx].key.load(Relaxed);
                self.index.insert(key, NodeId::new(idx), |_| false);
            }
        }
    }

    /// Drops nodes that the root has left behind, if at most half of the room is used then. Returns
    /// whether it did.
    fn drop_unreachable(&mut self) -> bool {
        self.has_moved = false;
        let keeps = self.wanted(0);
        let is_small = self.is_small(&keeps);
        if is_small {
            self.compact(&keeps);
        }
        is_small
    }

    /// Drops the least visited nodes until at most half of the room is used.
    pub(crate) fn recycle(&mut self) {
        self.clamp_counters();
        let mut min_visits = self.median_visits();
        loop {
            let keeps = self.wanted(min_visits);
            if self.is_small(&keeps) || min_visits == u32::MAX {
                self.compact(&keeps);
                return;
            }
            min_visits = min_visits.saturating_mul(2).saturating_add(1);
        }
    }

    /// Whether the nodes to keep use at most half of the room.
    fn is_small(&self, keeps: &[bool]) -> bool {
        let kept = (0..keeps.len()).filter(|&idx| keeps[idx]);
        let n_edges: usize = kept.clone().map(|idx| self.all_edges(NodeId::new(idx)).len()).sum();
        kept.count() * 2 <= self.nodes.len() && n_edges * 2 <= self.edges.len()
    }

    /// Returns the median number of visits of a node.
    fn median_visits(&mut self) -> u32 {
        let n_nodes = *self.n_nodes.get_mut();
        let mut visits: Vec<u32> =
            self.nodes[..n_nodes].iter().map(|node| node.n_visits.load(Relaxed)).collect();
        if visits.is_empty() {
            return 0;
        }
        let middle = visits.len() / 2;
        *visits.select_nth_unstable(middle).1
    }

    /// Returns the nodes to keep: those reachable from the root through nodes with at least
    /// `min_visits`. Proved nodes are kept regardless of visits, but not the nodes below them,
    /// which are never searched again.
    fn wanted(&self, min_visits: u32) -> Vec<bool> {
        let mut keeps = vec![false; self.n_nodes.load(Relaxed)];
        keeps[self.root.index()] = true;
        let is_visited = |id: NodeId| self.node(id).n_visits.load(Relaxed) >= min_visits;
        if self.has_several.load(Relaxed) {
            // Joint moves of several roles have no edge to the child, so reachability is unknown;
            // any node deeper than the root may be below it.
            let min_depth = self.node(self.root).depth.load(Relaxed);
            for id in (0..keeps.len()).map(NodeId::new) {
                let is_below = self.node(id).depth.load(Relaxed) > min_depth;
                keeps[id.index()] |=
                    is_below && is_visited(id) && self.states[id.index()].get().is_some();
            }
            return keeps;
        }
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            if self.node(id).is_proven() && id != self.root {
                continue;
            }
            for edge in self.all_edges(id) {
                let Some(child) = self.edges[edge].child() else { continue };
                let is_wanted = is_visited(child) || self.node(child).is_proven();
                if is_wanted && !keeps[child.index()] {
                    keeps[child.index()] = true;
                    open.push(child);
                }
            }
        }
        keeps
    }

    /// Moves the nodes to keep to the front of the pools.
    fn compact(&mut self, keeps: &[bool]) {
        let n_roles = self.roles.n;
        let n_before = (keeps.len(), *self.n_edges.get_mut());
        // Step 1. New ids in the order of the old ones, so that nothing moves backwards.
        let mut new_ids = vec![NONE; keeps.len()];
        let mut kept: Vec<usize> = (0..keeps.len()).filter(|&idx| keeps[idx]).collect();
        for (new, &old) in kept.iter().enumerate() {
            new_ids[old] = new as u32;
        }
        // Step 2. Move edges in the order of their positions, which is not always that of the
        // nodes.
        let mut starts: Vec<(usize, usize)> =
            kept.iter().map(|&old| (*self.nodes[old].first_edge.get_mut() as usize, old)).collect();
        starts.sort_unstable();
        let mut n_edges = 0;
        for (first, old) in starts {
            let n = *self.ends[old * n_roles + n_roles - 1].get_mut() as usize;
            *self.nodes[old].first_edge.get_mut() = n_edges as u32;
            for idx in first..first + n {
                let mut edge = std::mem::take(&mut self.edges[idx]);
                let child = edge.child.get_mut();
                if *child != NONE {
                    *child = new_ids[*child as usize];
                }
                if *edge.child.get_mut() == NONE {
                    edge.forget_proof();
                }
                self.edges[n_edges] = edge;
                if !self.amaf.is_empty() {
                    self.amaf[n_edges] = std::mem::take(&mut self.amaf[idx]);
                }
                n_edges += 1;
            }
        }
        // Step 3. Move nodes and the data beside them.
        let n_nodes = kept.len();
        let mut amaf_bytes = self.history.n_bytes();
        for (new, old) in kept.drain(..).enumerate() {
            if new != old {
                self.nodes[new] = std::mem::take(&mut self.nodes[old]);
                self.states.swap(new, old);
                for role_idx in 0..n_roles {
                    self.ends.swap(new * n_roles + role_idx, old * n_roles + role_idx);
                    self.values.swap(new * n_roles + role_idx, old * n_roles + role_idx);
                }
                if !self.amaf_tables.is_empty() {
                    self.amaf_tables.swap(new, old);
                }
            }
            if let Some(table) = self.amaf_tables.get_mut(new).and_then(OnceLock::get_mut) {
                amaf_bytes += table.n_bytes();
            }
        }
        self.clear_slots(n_nodes..n_before.0, n_edges..n_before.1);
        self.root = NodeId::new(new_ids[self.root.index()] as usize);
        *self.n_nodes.get_mut() = n_nodes;
        *self.n_edges.get_mut() = n_edges;
        *self.amaf_bytes.get_mut() = amaf_bytes;
        self.rebuild_index();
    }

    fn clear_slots(&mut self, nodes: std::ops::Range<usize>, edges: std::ops::Range<usize>) {
        for idx in nodes {
            self.nodes[idx] = Node::default();
            self.states[idx].take();
            if let Some(table) = self.amaf_tables.get_mut(idx) {
                table.take();
            }
        }
        self.edges[edges.clone()].iter_mut().for_each(|edge| *edge = Edge::default());
        if let Some(cells) = self.amaf.get_mut(edges) {
            cells.iter_mut().for_each(|cell| *cell = AmafCell::default());
        }
    }
}

//! The tree: nodes and edges in pools, shared by threads without locks.
//!
//! A node is a state at a depth, or a *stage* of it: the same state after some of the simultaneous
//! roles have chosen. It has one edge for each legal move of each role, role by role. Two paths of
//! equal length to one state meet in one node, so the tree is a DAG and never has a cycle.
//!
//! All numbers are atomics. A node is written before its id is published in the index or in an
//! edge; afterwards only its statistics and proofs change. Operations that need exclusive access to
//! the tree (growing, recycling, moving the root) take `&mut self` between rounds.
//!
//! Invariant: an id in an edge or in the index belongs to a node whose state is set.

use std::hash::Hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};

use ludex_base::{MoveId, RoleId, define_id};

use super::amaf::{AmafCell, AmafTable};
use super::index::Index;
use super::selection::{AmafSource, EdgeStats};
use crate::roles::{Roles, heap_bytes_of, mix};

define_id! {
    /// A node of the tree.
    pub(crate) struct NodeId;
}

define_id! {
    /// An edge of the tree: one move of one role at one node.
    pub(crate) struct EdgeId;
}

/// Marks the absence of a node.
pub(crate) const NONE: u32 = u32::MAX;

/// The memory of a search.
pub(crate) struct Tree<S> {
    pub(crate) roles: Roles,
    pub(crate) nodes: Vec<Node>,
    pub(crate) states: Vec<OnceLock<S>>,
    /// For each node and role, where the edges of the role end, counted from the node's first edge.
    pub(crate) ends: Vec<AtomicU32>,
    /// For each node and role, its exact goal as the bits of a float, once proved.
    pub(crate) values: Vec<AtomicU32>,
    pub(crate) edges: Vec<Edge>,
    /// All-moves-as-first statistics by edge; empty unless the selection reads them.
    pub(crate) amaf: Vec<AmafCell>,
    /// All-moves-as-first statistics by node and move; empty unless the selection reads them.
    pub(crate) amaf_tables: Vec<OnceLock<AmafTable>>,
    /// All-moves-as-first statistics of all playouts; empty unless the selection reads them.
    pub(crate) history: AmafTable,
    pub(crate) index: Index,
    pub(crate) n_nodes: AtomicUsize,
    pub(crate) n_edges: AtomicUsize,
    /// Bytes of the tables of `amaf_tables` and of `history`.
    pub(crate) amaf_bytes: AtomicUsize,
    pub(crate) amaf_source: AmafSource,
    pub(crate) root: NodeId,
    /// The largest number of edges for which a node found no room.
    pub(crate) n_wanted_edges: AtomicUsize,
    /// Whether there are nodes of [`Kind::Several`].
    pub(crate) has_several: AtomicBool,
    /// Whether the root has changed since unreachable nodes were last dropped.
    pub(crate) has_moved: bool,
    /// Nanoseconds per byte that making room took the last time.
    pub(crate) room_ns: f64,
    /// Approximate heap bytes of a state.
    pub(crate) state_bytes: usize,
}

/// The data of a node.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) key: AtomicU64,
    pub(crate) first_edge: AtomicU32,
    pub(crate) n_visits: AtomicU32,
    pub(crate) depth: AtomicU32,
    /// The kind, the choosing role, and whether it is proved; see [`Kind`].
    flags: AtomicU32,
}

/// The data of an edge.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) id: AtomicU32,
    pub(crate) child: AtomicU32,
    pub(crate) n_visits: AtomicU32,
    /// The exact goal of the choosing role, as the bits of a float; NaN if not proved.
    proven: AtomicU32,
    /// The sum of the choosing role's goals over visits, in units of 1/[`GOAL_UNIT`].
    pub(crate) goal_sum: AtomicU64,
}

/// Sums of goals are integers, so that threads can add without a lock and in any order; exact
/// values of chance nodes need some fractional bits.
pub(crate) const GOAL_UNIT: u64 = 256;

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The game is over.
    Terminal,
    /// A role has no move, or the rules cannot be evaluated: nothing is known.
    Stuck,
    /// One role chooses.
    Single {
        /// The role that chooses.
        role: RoleId,
        /// Others choose simultaneously, so the children are stages of the same state.
        has_stages: bool,
        /// Others have chosen before, unseen in the game: this node is a stage.
        is_stage: bool,
        /// Some of those others are players, not `random`.
        is_contested: bool,
    },
    /// Only `random` chooses.
    Chance { role: RoleId },
    /// Several roles choose simultaneously and independently.
    Several,
}

const PROVEN: u32 = 1 << 31;

impl Kind {
    fn pack(self) -> u32 {
        match self {
            Kind::Terminal => 1,
            Kind::Stuck => 2,
            Kind::Single { role, has_stages, is_stage, is_contested } => {
                let [has_stages, is_stage, is_contested] =
                    [has_stages, is_stage, is_contested].map(u32::from);
                3 | has_stages << 4 | is_stage << 5 | is_contested << 6 | (role.index() as u32) << 8
            }
            Kind::Chance { role } => 4 | (role.index() as u32) << 8,
            Kind::Several => 5,
        }
    }

    fn unpack(flags: u32) -> Self {
        let role = || RoleId::new((flags >> 8 & 0xFFFF) as usize);
        match flags & 7 {
            1 => Kind::Terminal,
            3 => Kind::Single {
                role: role(),
                has_stages: flags >> 4 & 1 != 0,
                is_stage: flags >> 5 & 1 != 0,
                is_contested: flags >> 6 & 1 != 0,
            },
            4 => Kind::Chance { role: role() },
            5 => Kind::Several,
            _ => Kind::Stuck,
        }
    }
}

impl Node {
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        Kind::unpack(self.flags.load(Relaxed))
    }

    #[inline]
    pub(crate) fn is_proven(&self) -> bool {
        self.flags.load(Acquire) & PROVEN != 0
    }

    pub(crate) fn forget_proof(&mut self) {
        *self.flags.get_mut() &= !PROVEN;
    }
}

impl Default for Edge {
    fn default() -> Self {
        Self {
            id: AtomicU32::new(0),
            child: AtomicU32::new(NONE),
            n_visits: AtomicU32::new(0),
            proven: AtomicU32::new(f32::NAN.to_bits()),
            goal_sum: AtomicU64::new(0),
        }
    }
}

impl Edge {
    #[inline]
    pub(crate) fn move_id(&self) -> MoveId {
        MoveId::new(self.id.load(Relaxed) as usize)
    }

    #[inline]
    pub(crate) fn child(&self) -> Option<NodeId> {
        let child = self.child.load(Acquire);
        (child != NONE).then(|| NodeId::new(child as usize))
    }

    /// Returns the statistics for a selection.
    #[inline]
    pub(crate) fn stats(&self) -> EdgeStats {
        let n_visits = self.n_visits.load(Relaxed);
        let goal_sum = self.goal_sum.load(Relaxed);
        let mean = goal_sum as f32 / (n_visits.max(1) as f32 * 100.0 * GOAL_UNIT as f32);
        let proven = self.proven().map(|goal| goal / 100.0);
        EdgeStats { n_visits, mean, proven, ..EdgeStats::NEW }
    }

    /// Returns the exact goal, if proved.
    #[inline]
    pub(crate) fn proven(&self) -> Option<f32> {
        let value = f32::from_bits(self.proven.load(Acquire));
        (!value.is_nan()).then_some(value)
    }

    pub(crate) fn prove(&self, goal: f32) {
        self.proven.store(goal.to_bits(), Release);
    }

    pub(crate) fn forget_proof(&mut self) {
        *self.proven.get_mut() = f32::NAN.to_bits();
    }
}

/// The content of a new node.
pub(crate) struct NewNode<'a, S> {
    pub(crate) key: u64,
    pub(crate) depth: u32,
    pub(crate) kind: Kind,
    pub(crate) state: &'a S,
    /// Legal moves, role by role, and where those of each role end; empty in terminal states.
    pub(crate) moves: &'a [MoveId],
    pub(crate) ends: &'a [u32],
    /// The goals of all roles in a terminal state; empty elsewhere.
    pub(crate) goals: &'a [u8],
}

/// There is no room for another node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

impl<S: Clone + Eq + Hash> Tree<S> {
    /// Creates a tree with room for some nodes, without a root.
    pub(crate) fn new(roles: Roles, amaf_source: AmafSource, state: &S) -> Self {
        Self {
            roles,
            nodes: Vec::new(),
            states: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
            edges: Vec::new(),
            amaf: Vec::new(),
            amaf_tables: Vec::new(),
            history: AmafTable::default(),
            index: Index::new(0),
            n_nodes: AtomicUsize::new(0),
            n_edges: AtomicUsize::new(0),
            amaf_bytes: AtomicUsize::new(0),
            amaf_source,
            root: NodeId::new(0),
            n_wanted_edges: AtomicUsize::new(0),
            has_several: AtomicBool::new(false),
            has_moved: false,
            room_ns: super::room::ROOM_NS,
            state_bytes: heap_bytes_of(state),
        }
    }

    /// Returns the key of a state at a depth.
    pub(crate) fn key(state_hash: u64, depth: u32) -> u64 {
        state_hash ^ mix(u64::from(depth) + 1)
    }

    /// Returns the key of the node after a joint move, if paths to the same state do not meet.
    pub(crate) fn path_key(key: u64, joint: &[MoveId]) -> u64 {
        joint.iter().fold(!key, |key, id| mix(key ^ id.index() as u64).rotate_left(1))
    }

    /// Returns the key of the stage after a move.
    pub(crate) fn stage_key(key: u64, id: MoveId) -> u64 {
        mix(key ^ mix(!(id.index() as u64)))
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    #[inline]
    pub(crate) fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    #[inline]
    pub(crate) fn state(&self, id: NodeId) -> &S {
        self.states[id.index()].get().expect("a published node has its state")
    }

    /// Returns the edges of a role at a node.
    #[inline]
    pub(crate) fn span(&self, id: NodeId, role: RoleId) -> std::ops::Range<usize> {
        let first = self.node(id).first_edge.load(Relaxed) as usize;
        let idx = id.index() * self.roles.n + role.index();
        let start = if role.index() == 0 { 0 } else { self.ends[idx - 1].load(Relaxed) };
        first + start as usize..first + self.ends[idx].load(Relaxed) as usize
    }

    /// Returns all edges of a node.
    pub(crate) fn all_edges(&self, id: NodeId) -> std::ops::Range<usize> {
        let first = self.node(id).first_edge.load(Relaxed) as usize;
        let last = id.index() * self.roles.n + self.roles.n - 1;
        first..first + self.ends[last].load(Relaxed) as usize
    }

    /// Returns the exact goal of a role at a proved node.
    #[inline]
    pub(crate) fn value(&self, id: NodeId, role: RoleId) -> f32 {
        f32::from_bits(self.values[id.index() * self.roles.n + role.index()].load(Relaxed))
    }

    /// Stores the exact goals of a node.
    pub(crate) fn prove(&self, id: NodeId, goal_of: impl Fn(RoleId) -> f32) {
        for role in self.roles.ids() {
            let idx = id.index() * self.roles.n + role.index();
            self.values[idx].store(goal_of(role).to_bits(), Relaxed);
        }
        self.node(id).flags.fetch_or(PROVEN, Release);
    }

    /// Returns the node of this key and state, if there is one.
    pub(crate) fn find(&self, key: u64, state: &S) -> Option<NodeId> {
        self.index.find(key, |id| self.is_node(id, key, state))
    }

    #[inline]
    fn is_node(&self, id: NodeId, key: u64, state: &S) -> bool {
        self.node(id).key.load(Relaxed) == key && self.state(id) == state
    }

    /// Adds a node unless another thread was faster. Returns the node in the tree, and whether it
    /// is the new one.
    ///
    /// # Errors
    /// If a pool is full.
    pub(crate) fn add(&self, new: &NewNode<'_, S>) -> Result<(NodeId, bool), Full> {
        // The counters may pass the ends of the pools; `clamp_counters` resets them.
        let idx = self.n_nodes.fetch_add(1, Relaxed);
        if idx >= self.nodes.len() {
            return Err(self.full_for(new.moves.len()));
        }
        let first_edge = self.n_edges.fetch_add(new.moves.len(), Relaxed);
        if first_edge + new.moves.len() > self.edges.len() {
            return Err(self.full_for(new.moves.len()));
        }
        for (edge, id) in self.edges[first_edge..].iter().zip(new.moves) {
            edge.id.store(id.index() as u32, Relaxed);
        }
        let ends = &self.ends[idx * self.roles.n..][..self.roles.n];
        for (role_idx, end) in ends.iter().enumerate() {
            end.store(new.ends.get(role_idx).copied().unwrap_or(0), Relaxed);
        }
        let node = &self.nodes[idx];
        node.key.store(new.key, Relaxed);
        node.first_edge.store(first_edge as u32, Relaxed);
        node.depth.store(new.depth, Relaxed);
        node.flags.store(new.kind.pack(), Relaxed);
        if new.kind == Kind::Several {
            self.has_several.store(true, Relaxed);
        }
        if !new.goals.is_empty() {
            self.prove(NodeId::new(idx), |role| f32::from(new.goals[role.index()]));
        }
        // A slot that lost a race is cleared only between rounds, so this one is unused.
        let is_new = self.states[idx].set(new.state.clone()).is_ok();
        debug_assert!(is_new, "a slot is used only once");
        let id = NodeId::new(idx);
        let there = self.index.insert(new.key, id, |id| self.is_node(id, new.key, new.state));
        Ok((there, there == id))
    }

    #[cold]
    fn full_for(&self, n_edges: usize) -> Full {
        self.n_wanted_edges.fetch_max(n_edges, Relaxed);
        Full
    }
}

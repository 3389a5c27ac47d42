//! The table of states with their networks, and the operators that compute values in it.
//!
//! A node is a state, with the network of its step. The network of an open node is not solved yet; a solved
//! node has an arm for each solution, that is a joint move and the state it leads to. Equal states are one
//! node, so the nodes form a graph that may have cycles.
//!
//! The value of a solved node is the reward of the searching role: it maximizes over its own moves, the other
//! roles minimize, and the moves of `random` are averaged. Each node also has bounds that hold whatever the
//! open nodes below it are worth. When the bounds meet, the node is closed.

use std::collections::VecDeque;
use std::hash::BuildHasher as _;

use ludex_base::{BitSet, Deadline, MoveId, RoleId, define_id};
use rustc_hash::{FxBuildHasher, FxHashMap};

define_id! {
    /// A state in the table.
    pub(crate) struct NodeId;
}

/// The roles of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seats {
    pub n_roles: usize,
    pub random: Option<RoleId>,
    /// The searching role, whose rewards the values are.
    pub me: RoleId,
}

/// One solution of the network of a node.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub joint: Box<[MoveId]>,
    pub child: NodeId,
}

/// The roles that have a choice in a state, `random` not counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Chooses {
    /// The node is not solved, or every role has only one move.
    Nobody,
    One(RoleId),
    /// These roles move simultaneously.
    Several(Box<[RoleId]>),
}

pub(crate) struct Node {
    pub state: BitSet,
    /// The next node in the chain of nodes with the same hash.
    twin: Option<NodeId>,
    /// The solutions, sorted by the own move, then the moves of the others, then that of `random`; `None`
    /// while the node is open. Empty in terminal states, and if the network has no solution.
    pub arms: Option<Box<[Arm]>>,
    /// Whether its value is that of a symmetric node, to which its only arm leads.
    pub is_image: bool,
    pub parents: Vec<NodeId>,
    pub n_playouts: u32,
    /// The roles that choose here.
    pub chooses: Chooses,
    /// The number of the last root from which the node was known to be reachable.
    epoch: u32,
    /// Whether it waits for its value to be computed again.
    is_changed: bool,
    /// Its value for the searching role, 0 to 1.
    pub value: f32,
    pub low: f32,
    pub high: f32,
}

impl Node {
    pub fn is_closed(&self) -> bool {
        self.low >= self.high
    }

    /// Whether its network has no solution although the game is not over.
    pub fn is_stuck(&self) -> bool {
        !self.is_closed() && self.arms.as_ref().is_some_and(|arms| arms.is_empty())
    }
}

pub(crate) struct Graph {
    pub seats: Seats,
    nodes: Vec<Node>,
    /// Sums of the goals of playouts, by node and role.
    sums: Vec<u64>,
    /// For each hash, the first node of its chain. The index stores hashes and no states, so dropping it
    /// is fast.
    index: FxHashMap<u64, NodeId>,
    n_bytes: usize,
    /// Closed nodes so far.
    pub n_closed: u64,
    /// Nodes whose values are to be computed again, each once.
    changed: VecDeque<NodeId>,
    /// The number of the root.
    epoch: u32,
    /// Whether every node that the root reaches has its number.
    knows_reached: bool,
}

/// Most arms to evaluate after a change. A change that reaches further, for example through a cycle, continues
/// after the next one.
const MAX_CHANGED_ARMS: usize = 50_000;
/// The reward to assume when nothing is known.
const UNKNOWN_REWARD: f32 = 0.5;

impl Graph {
    pub fn new(seats: Seats) -> Self {
        Self {
            seats,
            nodes: Vec::new(),
            sums: Vec::new(),
            index: FxHashMap::default(),
            n_bytes: 0,
            n_closed: 0,
            changed: VecDeque::new(),
            epoch: 0,
            knows_reached: true,
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Estimate of the memory in use.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub fn find(&self, state: &BitSet) -> Option<NodeId> {
        let mut found = self.index.get(&hash_of(state)).copied();
        while let Some(id) = found.filter(|id| self.node(*id).state != *state) {
            found = self.node(id).twin;
        }
        found
    }

    /// Adds a new state. `value` is that of its parent, until more is known.
    pub fn add(&mut self, state: BitSet, value: f32) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.n_bytes += node_bytes(&state, self.seats.n_roles);
        let twin = self.index.insert(hash_of(&state), id);
        self.sums.resize(self.sums.len() + self.seats.n_roles, 0);
        self.nodes.push(Node {
            state,
            twin,
            arms: None,
            is_image: false,
            parents: Vec::new(),
            n_playouts: 0,
            chooses: Chooses::Nobody,
            epoch: self.epoch,
            is_changed: false,
            value,
            low: 0.0,
            high: 1.0,
        });
        id
    }

    /// Records that a node is terminal.
    pub fn end(&mut self, id: NodeId, goals: &[u8]) {
        let value = f32::from(goals[self.seats.me.index()]) / 100.0;
        let node = &mut self.nodes[id.index()];
        node.arms = Some(Box::default());
        (node.value, node.low, node.high) = (value, value, value);
        self.n_closed += 1;
        self.tell_parents(id);
        self.settle();
    }

    /// Records that the network of a node has no solution although the game is not over: some role has no
    /// move. The rules define no value for such a state; it gets the value 0 but stays unproved.
    pub fn give_up(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.arms = Some(Box::default());
        node.value = 0.0;
        self.tell_parents(id);
        self.settle();
    }

    /// Records the solutions of a node.
    pub fn solve(&mut self, id: NodeId, mut arms: Vec<Arm>) {
        let (me, random) = (self.seats.me, self.seats.random);
        arms.sort_by_cached_key(|arm| key(&arm.joint, me, random));
        for arm in &arms {
            // A node is solved only once, so a repeated parent is the last one.
            let parents = &mut self.nodes[arm.child.index()].parents;
            if parents.last() != Some(&id) {
                parents.push(id);
            }
            self.n_bytes += arm_bytes(arm);
        }
        let node = &mut self.nodes[id.index()];
        node.chooses = choosing(&arms, self.seats);
        node.arms = Some(arms.into());
        node.is_image = false;
        self.note_change(id);
        self.settle();
    }

    /// Records that a node has the value of another, whose state is its image. Its only arm has no
    /// moves that mean anything.
    pub fn share(&mut self, id: NodeId, same: NodeId) {
        let joint = vec![MoveId::new(0); self.seats.n_roles].into();
        self.solve(id, vec![Arm { joint, child: same }]);
        let node = &mut self.nodes[id.index()];
        node.chooses = Chooses::Nobody;
        node.is_image = true;
    }

    /// Adds the goals of a playout through a node.
    pub fn add_playout(&mut self, id: NodeId, goals: &[u8]) {
        let first = id.index() * self.seats.n_roles;
        for (sum, &goal) in self.sums[first..].iter_mut().zip(goals) {
            *sum += u64::from(goal);
        }
        self.nodes[id.index()].n_playouts += 1;
        let mean = self.mean(id, self.seats.me);
        let node = &mut self.nodes[id.index()];
        if node.arms.is_none() {
            node.value = mean;
            self.tell_parents(id);
        }
    }

    /// The mean reward of a role over the playouts through a node, 0 to 1. For a node without playouts it is
    /// the value of the node for the searching role, and the mean of the nearest ancestor for the others.
    pub fn mean(&self, id: NodeId, role: RoleId) -> f32 {
        let mut id = id;
        loop {
            let node = self.node(id);
            match (node.n_playouts, node.parents.first()) {
                (0, _) if role == self.seats.me => return node.value,
                // A parent with a smaller number was found earlier, so the loop ends.
                (0, Some(&parent)) if parent < id => id = parent,
                (0, _) => return UNKNOWN_REWARD,
                (n, _) => {
                    let sum = self.sums[id.index() * self.seats.n_roles + role.index()];
                    return sum as f32 / (n as f32 * 100.0);
                }
            }
        }
    }

    fn tell_parents(&mut self, id: NodeId) {
        let parents = std::mem::take(&mut self.nodes[id.index()].parents);
        parents.iter().for_each(|&parent| self.note_change(parent));
        self.nodes[id.index()].parents = parents;
    }

    fn note_change(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if !node.is_changed {
            node.is_changed = true;
            self.changed.push_back(id);
        }
    }

    /// Computes values and bounds again where something changed, up to the root.
    pub fn settle(&mut self) {
        let mut n_arms = 0;
        while n_arms < MAX_CHANGED_ARMS {
            let Some(id) = self.changed.pop_front() else { return };
            self.nodes[id.index()].is_changed = false;
            let node = self.node(id);
            let Some(arms) = &node.arms else { continue };
            if node.is_closed() || arms.is_empty() {
                continue;
            }
            n_arms += arms.len();
            let of = |arm: &Arm| {
                let child = self.node(arm.child);
                [child.low, child.value, child.high]
            };
            let [low, value, high] = self.operate(arms, of);
            // Closed nodes never open again, so bounds only tighten.
            let (low, high) = (low.max(node.low), high.min(node.high));
            let value = value.clamp(low, high);
            if (low, value, high) == (node.low, node.value, node.high) {
                continue;
            }
            self.n_closed += u64::from(low >= high);
            let node = &mut self.nodes[id.index()];
            (node.low, node.value, node.high) = (low, value, high);
            self.tell_parents(id);
        }
    }

    /// Applies the operators to all arms: low, value and high of the best own moves.
    fn operate(&self, arms: &[Arm], of: impl Fn(&Arm) -> [f32; 3]) -> [f32; 3] {
        let me = self.seats.me;
        let mut best = [f32::NEG_INFINITY; 3];
        for own in arms.chunk_by(|a, b| a.joint[me.index()] == b.joint[me.index()]) {
            let worst = self.after(own, &of);
            (0..3).for_each(|i| best[i] = best[i].max(worst[i]));
        }
        best
    }

    /// Groups arms of a node, or of one own move, by the decisions of the roles: the arms of a group differ
    /// only in the move of `random`. The order of arms keeps each group together.
    pub fn decisions<'a>(&self, arms: &'a [Arm]) -> impl Iterator<Item = &'a [Arm]> + use<'a> {
        let random = self.seats.random.map(RoleId::index);
        arms.chunk_by(move |a, b| {
            (0..a.joint.len()).all(|role| Some(role) == random || a.joint[role] == b.joint[role])
        })
    }

    /// Low, value and high of one own move, over its arms.
    fn after(&self, own: &[Arm], of: impl Fn(&Arm) -> [f32; 3]) -> [f32; 3] {
        let mut worst = [f32::INFINITY; 3];
        for drawn in self.decisions(own) {
            let mut sum = [0.0_f32; 3];
            for arm in drawn {
                let values = of(arm);
                (0..3).for_each(|i| sum[i] += values[i]);
            }
            (0..3).for_each(|i| worst[i] = worst[i].min(sum[i] / drawn.len() as f32));
        }
        worst
    }

    /// For each own move at a solved node: the move, its low, value and high, and its arms.
    pub fn moves(&self, id: NodeId) -> Vec<(MoveId, [f32; 3], &[Arm])> {
        let me = self.seats.me;
        let arms = self.node(id).arms.as_deref().unwrap_or_default();
        let of = |arm: &Arm| {
            let child = self.node(arm.child);
            [child.low, child.value, child.high]
        };
        arms.chunk_by(|a, b| a.joint[me.index()] == b.joint[me.index()])
            .map(|own| (own[0].joint[me.index()], self.after(own, of), own))
            .collect()
    }

    /// Keeps only the nodes reachable from `root`, which becomes node 0. Returns the others, so that the
    /// caller can drop them slowly: there may be millions.
    ///
    /// `None`, and no change, if the deadline is reached while the reachable nodes are collected. Moving
    /// them after that takes up to eight times as long.
    pub fn go_to(&mut self, root: NodeId, deadline: &Deadline) -> Option<Vec<Node>> {
        const NONE: u32 = u32::MAX;
        let mut new_ids: Vec<u32> = vec![NONE; self.nodes.len()];
        let mut order = vec![root];
        new_ids[root.index()] = 0;
        let mut next = 0;
        while next < order.len() {
            if next.is_multiple_of(NODES_PER_CLOCK_CHECK) && deadline.reached() {
                return None;
            }
            for arm in self.node(order[next]).arms.as_deref().unwrap_or_default() {
                let new_id = &mut new_ids[arm.child.index()];
                if *new_id == NONE {
                    *new_id = order.len() as u32;
                    order.push(arm.child);
                }
            }
            next += 1;
        }
        let new_id = |old: NodeId| NodeId::new(new_ids[old.index()] as usize);
        self.changed.retain(|id| new_ids[id.index()] != NONE);
        self.changed.iter_mut().for_each(|id| *id = new_id(*id));
        (self.epoch, self.knows_reached) = (0, true);
        let mut old = std::mem::take(&mut self.nodes);
        let sums = std::mem::take(&mut self.sums);
        self.nodes.reserve(order.len());
        self.sums.reserve(order.len() * self.seats.n_roles);
        self.index = FxHashMap::with_capacity_and_hasher(order.len(), FxBuildHasher);
        self.n_bytes = 0;
        for &id in &order {
            let mut node = std::mem::replace(&mut old[id.index()], Node::forgotten());
            node.epoch = 0;
            node.parents.retain(|parent| new_ids[parent.index()] != NONE);
            node.parents.iter_mut().for_each(|parent| *parent = new_id(*parent));
            self.n_bytes += node_bytes(&node.state, self.seats.n_roles);
            for arm in node.arms.iter_mut().flatten() {
                arm.child = new_id(arm.child);
                self.n_bytes += arm_bytes(arm);
            }
            node.twin = self.index.insert(hash_of(&node.state), NodeId::new(self.nodes.len()));
            self.sums
                .extend_from_slice(&sums[id.index() * self.seats.n_roles..][..self.seats.n_roles]);
            self.nodes.push(node);
        }
        Some(old)
    }

    /// Changes the root and returns the open nodes that it reaches. If there is no time to find them, it
    /// returns `None`, and from then on all nodes are treated as reachable.
    pub fn set_root(&mut self, root: NodeId, deadline: &Deadline) -> Option<Vec<NodeId>> {
        self.epoch += 1;
        let open = self.reach(root, deadline);
        self.knows_reached = open.is_some();
        open
    }

    /// Marks a node and everything below it as reachable, and returns the open nodes among the newly marked.
    /// `None` when the deadline was reached.
    fn reach(&mut self, from: NodeId, deadline: &Deadline) -> Option<Vec<NodeId>> {
        let epoch = self.epoch;
        let mut open = Vec::new();
        let mut reached = vec![from];
        self.nodes[from.index()].epoch = epoch;
        for n_met in 1_usize.. {
            let Some(id) = reached.pop() else { break };
            if n_met.is_multiple_of(NODES_PER_CLOCK_CHECK) && deadline.reached() {
                return None;
            }
            let Some(arms) = self.nodes[id.index()].arms.take() else {
                open.push(id);
                continue;
            };
            for arm in &arms {
                let child = &mut self.nodes[arm.child.index()];
                if child.epoch != epoch {
                    child.epoch = epoch;
                    reached.push(arm.child);
                }
            }
            self.nodes[id.index()].arms = Some(arms);
        }
        Some(open)
    }

    /// Records that the root reaches a node, and returns the open nodes that became reachable with it. If
    /// there is no time to find them, all nodes are treated as reachable.
    pub fn note_reached(&mut self, id: NodeId, deadline: &Deadline) -> Vec<NodeId> {
        if !self.knows_reached || self.node(id).epoch == self.epoch {
            return Vec::new();
        }
        let open = self.reach(id, deadline);
        self.knows_reached = open.is_some();
        open.unwrap_or_default()
    }

    /// All nodes, so that the caller can drop them slowly.
    pub fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Every node that is neither solved nor closed.
    pub fn open(&self) -> impl Iterator<Item = NodeId> + '_ {
        let is_open = |id: &NodeId| self.node(*id).arms.is_none() && !self.node(*id).is_closed();
        (0..self.nodes.len()).map(NodeId::new).filter(is_open)
    }

    /// Whether the value of a node can still change that of the root: some path up to the root has no closed
    /// node. A node with many ancestors is assumed to matter.
    pub fn matters(&self, id: NodeId, root: NodeId) -> bool {
        if self.knows_reached && self.node(id).epoch != self.epoch {
            return false;
        }
        let mut seen: Vec<NodeId> = vec![id];
        let mut next = 0;
        while next < seen.len() {
            let here = seen[next];
            next += 1;
            let parents = &self.node(here).parents;
            if here == root || seen.len() + parents.len() > MAX_ANCESTORS {
                return true;
            }
            for &parent in parents {
                if !self.node(parent).is_closed() && !seen.contains(&parent) {
                    seen.push(parent);
                }
            }
        }
        false
    }
}

/// Most ancestors to visit before a node is assumed to matter.
const MAX_ANCESTORS: usize = 64;
/// Nodes between two looks at the clock.
const NODES_PER_CLOCK_CHECK: usize = 256;

fn hash_of(state: &BitSet) -> u64 {
    FxBuildHasher.hash_one(state)
}

/// Estimate of the bytes of a node without its arms, with its index entry and its parents.
fn node_bytes(state: &BitSet, n_roles: usize) -> usize {
    size_of::<Node>() + 2 * 8 * state.words().len() + 8 * n_roles + 64
}

fn arm_bytes(arm: &Arm) -> usize {
    size_of::<Arm>() + size_of_val(&*arm.joint) + 24
}

impl Node {
    /// A placeholder for a node that was moved.
    fn forgotten() -> Self {
        Self {
            state: BitSet::new(0),
            twin: None,
            arms: None,
            is_image: false,
            parents: Vec::new(),
            n_playouts: 0,
            chooses: Chooses::Nobody,
            epoch: 0,
            is_changed: false,
            value: 0.0,
            low: 0.0,
            high: 1.0,
        }
    }
}

/// The sort key of arms: the own move, then the moves of the others, then that of `random`.
fn key(joint: &[MoveId], me: RoleId, random: Option<RoleId>) -> (MoveId, Vec<MoveId>) {
    let is_other = |role: &usize| *role != me.index() && Some(*role) != random.map(RoleId::index);
    let others = (0..joint.len()).filter(is_other).chain(random.map(RoleId::index));
    (joint[me.index()], others.map(|role| joint[role]).collect())
}

/// The roles that have a choice among these solutions.
fn choosing(arms: &[Arm], seats: Seats) -> Chooses {
    let first = &arms[0].joint;
    let chooses = |role: &usize| {
        Some(*role) != seats.random.map(RoleId::index)
            && arms.iter().any(|arm| arm.joint[*role] != first[*role])
    };
    let roles: Vec<RoleId> = (0..seats.n_roles).filter(chooses).map(RoleId::new).collect();
    match roles[..] {
        [] => Chooses::Nobody,
        [only] => Chooses::One(only),
        _ => Chooses::Several(roles.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(idx: usize) -> BitSet {
        let mut state = BitSet::new(64);
        state.insert(idx);
        state
    }

    fn graph(me: usize) -> Graph {
        Graph::new(Seats { n_roles: 2, random: None, me: RoleId::new(me) })
    }

    fn arm(joint: [usize; 2], child: NodeId) -> Arm {
        Arm { joint: joint.map(MoveId::new).into(), child }
    }

    /// Role 0 chooses, then role 1 in each of two states, with goals 100 0 and 50 100.
    fn small(me: usize) -> (Graph, NodeId) {
        let mut graph = graph(me);
        let ids: Vec<NodeId> = (0..7).map(|idx| graph.add(state(idx), 0.5)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1]), arm([1, 9], ids[2])]);
        graph.solve(ids[1], vec![arm([2, 7], ids[3]), arm([2, 8], ids[4])]);
        graph.solve(ids[2], vec![arm([2, 7], ids[5]), arm([2, 8], ids[6])]);
        for (id, goal) in [(3, 100), (4, 0), (5, 50), (6, 100)] {
            graph.end(ids[id], &[goal, 100 - goal]);
        }
        (graph, ids[0])
    }

    #[test]
    fn the_operators_are_maximum_and_minimum() {
        let (graph, root) = small(0);
        assert!(graph.node(root).is_closed());
        assert_eq!(graph.node(root).value, 0.5);
        assert_eq!(graph.node(root).chooses, Chooses::One(RoleId::new(0)));
        let (graph, root) = small(1);
        assert_eq!(graph.node(root).value, 0.5);
    }

    #[test]
    fn a_node_is_closed_when_no_open_node_can_change_its_value() {
        let mut graph = graph(0);
        let ids: Vec<NodeId> = (0..3).map(|idx| graph.add(state(idx), 0.5)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1]), arm([1, 9], ids[2])]);
        graph.end(ids[1], &[100, 0]);
        assert!(graph.node(ids[0]).is_closed() && graph.node(ids[0]).value == 1.0);
        assert!(!graph.matters(ids[2], ids[0]));
        assert_eq!(graph.n_closed, 2);
    }

    #[test]
    fn without_playouts_the_others_have_the_mean_of_an_ancestor() {
        let mut graph = graph(0);
        let ids: Vec<NodeId> = (0..3).map(|idx| graph.add(state(idx), 0.9)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1])]);
        graph.solve(ids[1], vec![arm([2, 7], ids[2])]);
        let other = RoleId::new(1);
        assert_eq!(graph.mean(ids[2], other), UNKNOWN_REWARD);
        graph.add_playout(ids[0], &[80, 20]);
        assert_eq!(graph.mean(ids[2], other), 0.2);
        assert_eq!(graph.mean(ids[2], RoleId::new(0)), graph.node(ids[2]).value);
    }

    #[test]
    fn chance_is_averaged() {
        let random = Some(RoleId::new(1));
        let mut graph = Graph::new(Seats { n_roles: 2, random, me: RoleId::new(0) });
        let ids: Vec<NodeId> = (0..3).map(|idx| graph.add(state(idx), 0.5)).collect();
        graph.solve(ids[0], vec![arm([0, 8], ids[1]), arm([0, 9], ids[2])]);
        graph.end(ids[1], &[100, 0]);
        graph.end(ids[2], &[0, 0]);
        assert_eq!(graph.node(ids[0]).value, 0.5);
        assert!(graph.node(ids[0]).is_closed());
    }

    #[test]
    fn unreachable_nodes_are_removed() {
        let (mut graph, root) = small(0);
        let child = graph.node(root).arms.as_ref().expect("solved")[1].child;
        let n_bytes = graph.n_bytes();
        let forgotten = graph.go_to(child, &Deadline::never()).expect("there is time");
        assert_eq!(forgotten.len(), 7);
        assert_eq!(graph.n_nodes(), 3);
        assert!(graph.n_bytes() < n_bytes / 2 && graph.n_bytes() > 0);
        assert_eq!(graph.find(&state(2)), Some(NodeId::new(0)));
        assert_eq!(graph.find(&state(0)), None);
        assert!(graph.node(NodeId::new(0)).parents.is_empty());
        assert_eq!(graph.moves(NodeId::new(0))[0].1, [0.5; 3]);
    }

    /// After a move, nodes that are no longer reachable are skipped until a new arm leads to them.
    #[test]
    fn unreachable_nodes_do_not_matter() {
        let mut graph = graph(0);
        let ids: Vec<NodeId> = (0..5).map(|idx| graph.add(state(idx), 0.5)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1]), arm([1, 9], ids[2])]);
        graph.solve(ids[1], vec![arm([2, 7], ids[3])]);
        graph.solve(ids[2], vec![arm([2, 7], ids[4])]);
        assert!(graph.matters(ids[3], ids[0]) && graph.matters(ids[4], ids[0]));
        assert_eq!(graph.set_root(ids[2], &Deadline::never()), Some(vec![ids[4]]));
        assert!(!graph.matters(ids[3], ids[2]) && graph.matters(ids[4], ids[2]));
        // The last state leads back to one that was unreachable.
        graph.solve(ids[4], vec![arm([3, 9], ids[1])]);
        assert_eq!(graph.note_reached(ids[1], &Deadline::never()), [ids[3]]);
        assert!(graph.matters(ids[3], ids[2]));
        assert!(graph.note_reached(ids[1], &Deadline::never()).is_empty());
        // Without time to find the reachable nodes, all nodes matter.
        let mut wide: Vec<Arm> = Vec::new();
        for idx in 0..600 {
            let id = graph.add(state(5), 0.5);
            wide.push(arm([idx, 9], id));
        }
        let ends: Vec<NodeId> = wide.iter().map(|arm| arm.child).collect();
        graph.solve(ids[3], wide);
        assert_eq!(graph.set_root(ids[3], &Deadline::after(std::time::Duration::ZERO)), None);
        assert!(graph.matters(ends[7], ids[3]));
    }

    /// A change that needs more than one call of `settle` is not lost.
    #[test]
    fn a_long_change_continues_in_the_next_call() {
        let mut graph = graph(0);
        let n = 3 * MAX_CHANGED_ARMS / 2;
        let ids: Vec<NodeId> = (0..=n).map(|_| graph.add(state(0), 0.5)).collect();
        for pair in ids.windows(2) {
            graph.solve(pair[0], vec![arm([0, 9], pair[1])]);
        }
        graph.end(ids[n], &[100, 0]);
        assert!(!graph.node(ids[0]).is_closed());
        graph.settle();
        assert!(graph.node(ids[0]).is_closed());
        assert_eq!(graph.n_closed, n as u64 + 1);
    }

    /// Removing unreachable nodes among millions can take longer than a turn.
    #[test]
    fn without_time_to_remove_them_all_nodes_stay() {
        let (mut graph, root) = small(0);
        let child = graph.node(root).arms.as_ref().expect("solved")[1].child;
        let n_bytes = graph.n_bytes();
        assert!(graph.go_to(child, &Deadline::after(std::time::Duration::ZERO)).is_none());
        assert_eq!((graph.n_nodes(), graph.n_bytes()), (7, n_bytes));
        assert_eq!(graph.find(&state(2)), Some(child));
        assert_eq!(graph.moves(root)[1].1, [0.5; 3]);
        assert_eq!(graph.into_nodes().len(), 7);
    }

    #[test]
    fn states_with_the_same_hash_are_two_nodes() {
        let mut graph = graph(0);
        let first = graph.add(state(1), 0.5);
        // This simulates two states with the hash of the second.
        graph.index.clear();
        graph.index.insert(hash_of(&state(2)), first);
        assert_eq!(graph.find(&state(2)), None);
        let second = graph.add(state(2), 0.5);
        assert_eq!(graph.find(&state(2)), Some(second));
        assert_eq!(graph.node(second).twin, Some(first));
        graph.index.insert(hash_of(&state(1)), second);
        assert_eq!(graph.find(&state(1)), Some(first));
    }
}

//! The table of states whose networks are known, and what follows from it by the operators.
//!
//! A node is a state, that is the network of its step. An open one is still to be solved; a solved
//! one has an arm for each solution, a joint move and the state it leads to. Equal states are one
//! node, whatever leads there, so the nodes are a graph that may have cycles.
//!
//! The value of a solved node is what the role that searches gets: the best over its own moves of
//! the worst over the moves of the others of the mean over those of `random`. Beside it stand the
//! bounds that hold whatever the open nodes below are worth; where they meet, the node is closed.

use ludex_base::{BitSet, MoveId, RoleId, define_id};
use rustc_hash::FxHashMap;

define_id! {
    /// A state in the table.
    pub(crate) struct NodeId;
}

/// Who plays, and for whom values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seats {
    pub n_roles: usize,
    pub random: Option<RoleId>,
    pub me: RoleId,
}

/// One solution of the network of a node.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub joint: Box<[MoveId]>,
    pub child: NodeId,
}

pub(crate) struct Node {
    pub state: BitSet,
    /// The solutions, sorted by the own move, then those of the others, then that of `random`;
    /// `None` while it is open.
    pub arms: Option<Box<[Arm]>>,
    pub parents: Vec<NodeId>,
    pub n_playouts: u32,
    /// The role that chooses here; the one that searches where several do or none.
    pub mover: RoleId,
    /// What it is worth to the role that searches, 0 to 1.
    pub value: f32,
    pub low: f32,
    pub high: f32,
}

impl Node {
    pub fn is_closed(&self) -> bool {
        self.low >= self.high
    }
}

pub(crate) struct Graph {
    pub seats: Seats,
    nodes: Vec<Node>,
    /// Goals of playouts, summed, by node and role.
    sums: Vec<u64>,
    index: FxHashMap<BitSet, NodeId>,
    n_bytes: usize,
    /// Nodes that were closed so far.
    pub n_closed: u64,
    changed: Vec<NodeId>,
}

/// Nodes whose values are looked at after a change. A change that reaches further, through a cycle
/// perhaps, is taken in when something else changes there.
const MAX_CHANGES: usize = 20_000;
/// What is not known of a reward.
const UNKNOWN: f32 = 0.5;

impl Graph {
    pub fn new(seats: Seats) -> Self {
        Self {
            seats,
            nodes: Vec::new(),
            sums: Vec::new(),
            index: FxHashMap::default(),
            n_bytes: 0,
            n_closed: 0,
            changed: Vec::new(),
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// About how many bytes it takes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub fn find(&self, state: &BitSet) -> Option<NodeId> {
        self.index.get(state).copied()
    }

    /// Adds a state that is not there. Until something is known it is worth what its parent is.
    pub fn add(&mut self, state: BitSet, value: f32) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.n_bytes +=
            size_of::<Node>() + 4 * 8 * state.words().len() + 8 * self.seats.n_roles + 64;
        self.index.insert(state.clone(), id);
        self.sums.resize(self.sums.len() + self.seats.n_roles, 0);
        self.nodes.push(Node {
            state,
            arms: None,
            parents: Vec::new(),
            n_playouts: 0,
            mover: self.seats.me,
            value,
            low: 0.0,
            high: 1.0,
        });
        id
    }

    /// Notes that a node is terminal.
    pub fn end(&mut self, id: NodeId, goals: &[u8]) {
        let value = f32::from(goals[self.seats.me.index()]) / 100.0;
        let node = &mut self.nodes[id.index()];
        node.arms = Some(Box::default());
        (node.value, node.low, node.high) = (value, value, value);
        self.n_closed += 1;
        self.tell_parents(id);
        self.settle();
    }

    /// Notes the solutions of a node.
    pub fn solve(&mut self, id: NodeId, mut arms: Vec<Arm>) {
        let (me, random) = (self.seats.me, self.seats.random);
        arms.sort_by_cached_key(|arm| key(&arm.joint, me, random));
        for arm in &arms {
            let parents = &mut self.nodes[arm.child.index()].parents;
            if !parents.contains(&id) {
                parents.push(id);
            }
            self.n_bytes += size_of::<Arm>() + size_of_val(&*arm.joint) + 24;
        }
        let node = &mut self.nodes[id.index()];
        node.mover = mover(&arms, self.seats);
        node.arms = Some(arms.into());
        self.changed.push(id);
        self.settle();
    }

    /// Adds a playout that went through a node.
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

    /// The mean reward of a role over the playouts through a node, 0 to 1. Without any it is the value of
    /// the node for the role that searches, and for the others what the last node on the way had.
    pub fn mean(&self, id: NodeId, role: RoleId) -> f32 {
        let mut id = id;
        loop {
            let node = self.node(id);
            match (node.n_playouts, node.parents.first()) {
                // A value is that of the role that searches.
                (0, _) if role == self.seats.me => return node.value,
                // Those who were found later have larger numbers, so this ends.
                (0, Some(&parent)) if parent < id => id = parent,
                (0, _) => return UNKNOWN,
                (n, _) => {
                    let sum = self.sums[id.index() * self.seats.n_roles + role.index()];
                    return sum as f32 / (n as f32 * 100.0);
                }
            }
        }
    }

    fn tell_parents(&mut self, id: NodeId) {
        let Graph { nodes, changed, .. } = self;
        changed.extend_from_slice(&nodes[id.index()].parents);
    }

    /// Draws the consequences of what has changed.
    pub fn settle(&mut self) {
        for _ in 0..MAX_CHANGES {
            let Some(id) = self.changed.pop() else { return };
            let node = self.node(id);
            let Some(arms) = &node.arms else { continue };
            if node.is_closed() || arms.is_empty() {
                continue;
            }
            let of = |arm: &Arm| {
                let child = self.node(arm.child);
                [child.low, child.value, child.high]
            };
            let [low, value, high] = self.operate(arms, of);
            // What is closed below can't come open again, so bounds only tighten.
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
        self.changed.clear();
    }

    /// The operators over all arms: the best of the own moves.
    fn operate(&self, arms: &[Arm], of: impl Fn(&Arm) -> [f32; 3]) -> [f32; 3] {
        let me = self.seats.me;
        let mut best = [f32::NEG_INFINITY; 3];
        for own in arms.chunk_by(|a, b| a.joint[me.index()] == b.joint[me.index()]) {
            let worst = self.after(own, &of);
            (0..3).for_each(|it| best[it] = best[it].max(worst[it]));
        }
        best
    }

    /// What one own move is worth: low, value and high over its arms.
    fn after(&self, own: &[Arm], of: impl Fn(&Arm) -> [f32; 3]) -> [f32; 3] {
        let random = self.seats.random.map(RoleId::index);
        let same = |a: &Arm, b: &Arm| {
            (0..a.joint.len()).all(|role| Some(role) == random || a.joint[role] == b.joint[role])
        };
        let mut worst = [f32::INFINITY; 3];
        for drawn in own.chunk_by(same) {
            let mut sum = [0.0_f32; 3];
            for arm in drawn {
                let values = of(arm);
                (0..3).for_each(|it| sum[it] += values[it]);
            }
            (0..3).for_each(|it| worst[it] = worst[it].min(sum[it] / drawn.len() as f32));
        }
        worst
    }

    /// For each own move at a node that is solved: the move, its low, value and high, and its arms.
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

    /// Keeps only what can be reached from a node, and gives its new number.
    pub fn go_to(&mut self, root: NodeId) -> NodeId {
        let mut new_ids: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        let mut order = vec![root];
        new_ids.insert(root, NodeId::new(0));
        let mut at = 0;
        while at < order.len() {
            let arms = self.node(order[at]).arms.as_deref().unwrap_or_default();
            for arm in arms {
                new_ids.entry(arm.child).or_insert_with(|| {
                    order.push(arm.child);
                    NodeId::new(order.len() - 1)
                });
            }
            at += 1;
        }
        let mut old: Vec<Option<Node>> =
            std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        let sums = std::mem::take(&mut self.sums);
        self.index.clear();
        self.n_bytes = 0;
        for &id in &order {
            let mut node = old[id.index()].take().expect("each is kept once");
            node.parents.retain_mut(|parent| match new_ids.get(parent) {
                Some(&new) => {
                    *parent = new;
                    true
                }
                None => false,
            });
            self.n_bytes += size_of::<Node>() + 4 * 8 * node.state.words().len() + 64;
            for arm in node.arms.iter_mut().flatten() {
                arm.child = new_ids[&arm.child];
                self.n_bytes += size_of::<Arm>() + size_of_val(&*arm.joint) + 24;
            }
            self.index.insert(node.state.clone(), NodeId::new(self.nodes.len()));
            self.sums
                .extend_from_slice(&sums[id.index() * self.seats.n_roles..][..self.seats.n_roles]);
            self.nodes.push(node);
        }
        NodeId::new(0)
    }

    /// Every node that is neither solved nor closed.
    pub fn open(&self) -> impl Iterator<Item = NodeId> + '_ {
        let is_open = |id: &NodeId| self.node(*id).arms.is_none() && !self.node(*id).is_closed();
        (0..self.nodes.len()).map(NodeId::new).filter(is_open)
    }

    /// Whether the value of a node still matters: a way leads up to the root on which nothing is
    /// closed. After many steps it is taken to.
    pub fn matters(&self, id: NodeId, root: NodeId) -> bool {
        let mut seen: Vec<NodeId> = vec![id];
        let mut at = 0;
        while at < seen.len() {
            let here = seen[at];
            at += 1;
            if here == root || seen.len() > MAX_ANCESTORS {
                return true;
            }
            for &parent in &self.node(here).parents {
                if !self.node(parent).is_closed() && !seen.contains(&parent) {
                    seen.push(parent);
                }
            }
        }
        false
    }
}

const MAX_ANCESTORS: usize = 64;

/// The own move first, then those of the others, that of `random` last.
fn key(joint: &[MoveId], me: RoleId, random: Option<RoleId>) -> (MoveId, Vec<MoveId>) {
    let is_other = |role: &usize| *role != me.index() && Some(*role) != random.map(RoleId::index);
    let others = (0..joint.len()).filter(is_other).chain(random.map(RoleId::index));
    (joint[me.index()], others.map(|role| joint[role]).collect())
}

/// The only role that has a choice, `random` not counted; else the one that searches.
fn mover(arms: &[Arm], seats: Seats) -> RoleId {
    let first = &arms[0].joint;
    let chooses = |role: &usize| {
        Some(*role) != seats.random.map(RoleId::index)
            && arms.iter().any(|arm| arm.joint[*role] != first[*role])
    };
    let mut choosing = (0..seats.n_roles).filter(chooses);
    match (choosing.next(), choosing.next()) {
        (Some(only), None) => RoleId::new(only),
        _ => seats.me,
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
    fn the_operators_are_best_and_worst() {
        let (graph, root) = small(0);
        assert!(graph.node(root).is_closed());
        assert_eq!(graph.node(root).value, 0.5);
        assert_eq!(graph.node(root).mover, RoleId::new(0));
        let (graph, root) = small(1);
        assert_eq!(graph.node(root).value, 0.5);
    }

    #[test]
    fn a_value_is_closed_when_no_open_node_can_change_it() {
        let mut graph = graph(0);
        let ids: Vec<NodeId> = (0..3).map(|idx| graph.add(state(idx), 0.5)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1]), arm([1, 9], ids[2])]);
        graph.end(ids[1], &[100, 0]);
        assert!(graph.node(ids[0]).is_closed() && graph.node(ids[0]).value == 1.0);
        assert!(!graph.matters(ids[2], ids[0]));
        assert_eq!(graph.n_closed, 2);
    }

    #[test]
    fn without_playouts_the_others_have_what_was_known_before_and_not_our_value() {
        let mut graph = graph(0);
        let ids: Vec<NodeId> = (0..3).map(|idx| graph.add(state(idx), 0.9)).collect();
        graph.solve(ids[0], vec![arm([0, 9], ids[1])]);
        graph.solve(ids[1], vec![arm([2, 7], ids[2])]);
        let other = RoleId::new(1);
        assert_eq!(graph.mean(ids[2], other), UNKNOWN);
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
    fn what_can_not_be_reached_any_more_is_forgotten() {
        let (mut graph, root) = small(0);
        let child = graph.node(root).arms.as_ref().expect("solved")[1].child;
        assert_eq!(graph.go_to(child), NodeId::new(0));
        assert_eq!(graph.n_nodes(), 3);
        assert_eq!(graph.find(&state(2)), Some(NodeId::new(0)));
        assert_eq!(graph.find(&state(0)), None);
        assert!(graph.node(NodeId::new(0)).parents.is_empty());
        assert_eq!(graph.moves(NodeId::new(0))[0].1, [0.5; 3]);
    }
}

//! What is remembered of each thing that a role may know.

use ludex_base::{MoveId, Rng, RoleId};
use rustc_hash::FxHashMap;

use crate::report::MoveReport;
use crate::roles::mix;

/// Nodes by what roles know.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    index: FxHashMap<u64, u32>,
    nodes: Vec<Node>,
    n_edges: usize,
}

/// A move that was tried less often than this part of the most tried one says little.
const ENOUGH: u32 = 8;
/// What a node takes with its place in the index, and what an edge takes, with some room to grow.
const NODE_BYTES: usize = 96;
const EDGE_BYTES: usize = 48;

/// What a role knows when it chooses, and how its moves did.
#[derive(Clone, Debug, Default)]
struct Node {
    n_visits: u32,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    id: MoveId,
    n_visits: u32,
    /// How often it was there to be chosen.
    n_available: u32,
    mean: f64,
}

/// An edge that was followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub role: RoleId,
    node: u32,
    edge: u32,
}

/// The key of what a role knows when it is its turn to choose.
pub(super) fn key(view: u64, role: RoleId) -> u64 {
    mix(view ^ (role.index() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Tree {
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn n_bytes(&self) -> usize {
        self.nodes.len() * NODE_BYTES + self.n_edges * EDGE_BYTES
    }

    /// The node of a key, made if there is room for it.
    pub fn node(&mut self, key: u64, max_bytes: usize) -> Option<u32> {
        if let Some(&node) = self.index.get(&key) {
            return Some(node);
        }
        if self.n_bytes() >= max_bytes {
            return None;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node::default());
        self.index.insert(key, node);
        Some(node)
    }

    pub fn n_visits(&self, node: u32) -> u32 {
        self.nodes[node as usize].n_visits
    }

    pub fn id_of(&self, taken: &Taken) -> MoveId {
        self.nodes[taken.node as usize].edges[taken.edge as usize].id
    }

    /// Picks one of these moves by UCB, those that were never tried first, in any order.
    pub fn select(
        &mut self,
        node: u32,
        role: RoleId,
        moves: &[MoveId],
        c: f64,
        rng: &mut Rng,
    ) -> Taken {
        let found = &mut self.nodes[node as usize];
        found.n_visits += 1;
        let n_before = found.edges.len();
        if n_before == 0 {
            found.edges.extend(moves.iter().map(|&id| Edge::new(id)));
        }
        let start = rng.below(moves.len());
        let (mut best, mut best_score) = (0, f64::NEG_INFINITY);
        for turned in 0..moves.len() {
            let place = (start + turned) % moves.len();
            let edge_idx = found.edge(place, moves[place]);
            let edge = &mut found.edges[edge_idx];
            edge.n_available += 1;
            let score = edge.score(c);
            if score > best_score {
                (best, best_score) = (edge_idx, score);
            }
        }
        self.n_edges += found.edges.len() - n_before;
        Taken { role, node, edge: best as u32 }
    }

    /// Adds a reward to an edge that was followed. What counts is at least that part of the last
    /// one: rewards that grow with what is known below should not be held down by the first of
    /// them.
    pub fn learn(&mut self, taken: &Taken, reward: f64, least: f64) {
        let edge = &mut self.nodes[taken.node as usize].edges[taken.edge as usize];
        edge.n_visits += 1;
        edge.mean += (reward - edge.mean) * least.max(1.0 / f64::from(edge.n_visits));
    }

    /// What the best move of the node of an edge is worth, of those that were tried often enough to
    /// tell.
    pub fn best(&self, taken: &Taken) -> f64 {
        let edges = &self.nodes[taken.node as usize].edges;
        let most = edges.iter().map(|edge| edge.n_visits).max().unwrap_or(0);
        let tried = edges.iter().filter(|edge| edge.n_visits > most / ENOUGH);
        tried.map(|edge| edge.mean).fold(0.0, f64::max)
    }

    /// The legal move that was tried most.
    pub fn favorite(&self, node: u32, legal: &[MoveId]) -> Option<MoveId> {
        let edges = self.nodes[node as usize].edges.iter();
        let best = edges.filter(|edge| legal.contains(&edge.id)).max_by_key(|edge| edge.n_visits);
        best.map(|edge| edge.id)
    }

    pub fn report(&self, node: u32, id: MoveId) -> MoveReport {
        let edge = self.nodes[node as usize].edges.iter().find(|edge| edge.id == id);
        match edge {
            Some(edge) if edge.n_visits > 0 => MoveReport {
                n_visits: u64::from(edge.n_visits),
                mean_reward: Some(edge.mean),
                ..MoveReport::untried(id)
            },
            _ => MoveReport::untried(id),
        }
    }
}

impl Node {
    /// The edge of a move, made if it is new; mostly at the same place as in the list of legal
    /// moves.
    fn edge(&mut self, place: usize, id: MoveId) -> usize {
        if self.edges.get(place).is_some_and(|edge| edge.id == id) {
            return place;
        }
        let known = self.edges.iter().position(|edge| edge.id == id);
        known.unwrap_or_else(|| {
            self.edges.push(Edge::new(id));
            self.edges.len() - 1
        })
    }
}

impl Edge {
    fn new(id: MoveId) -> Self {
        Self { id, n_visits: 0, n_available: 0, mean: 0.0 }
    }

    /// UCB with the visits of the node replaced by how often the move could have been chosen.
    fn score(&self, c: f64) -> f64 {
        match self.n_visits {
            0 => f64::MAX,
            n => self.mean + c * (f64::from(self.n_available).ln() / f64::from(n)).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    #[test]
    fn a_move_that_is_seldom_legal_is_not_tried_for_being_new_alone() {
        let mut tree = Tree::default();
        let mut rng = Seed(1).rng();
        let me = RoleId::new(0);
        let [good, bad, rare] = [0, 1, 2].map(MoveId::new);
        let node = tree.node(key(1, me), 10).expect("there is room");
        for round in 0..2_000 {
            let legal: &[MoveId] = if round % 20 == 0 { &[good, bad, rare] } else { &[good, bad] };
            let taken = tree.select(node, me, legal, 0.4, &mut rng);
            let reward = if tree.id_of(&taken) == good { 0.8 } else { 0.4 };
            tree.learn(&taken, reward, 0.0);
        }
        let visits = |id| tree.report(node, id).n_visits;
        assert!(visits(good) > 1_700, "{}", visits(good));
        // By the visits of the node it would be tried nearly every time it is there.
        assert!((1..40).contains(&visits(rare)), "{}", visits(rare));
        assert_eq!(tree.favorite(node, &[bad, rare]), Some(bad));
    }

    #[test]
    fn a_full_tree_makes_no_nodes() {
        let mut tree = Tree::default();
        let me = RoleId::new(0);
        assert_eq!(tree.node(key(1, me), 1), Some(0));
        assert_eq!(tree.node(key(2, me), 1), None);
        assert_eq!(tree.node(key(1, me), 1), Some(0));
    }
}

//! The search tree: a node for each state of knowledge of a role.

use ludex_base::{MoveId, Rng, RoleId};
use rustc_hash::FxHashMap;

use crate::report::MoveReport;
use crate::roles::mix;

/// How often to try moves that do not look best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explore {
    /// The exploration constant, for rewards from 0 to 1.
    pub c: f64,
    /// The probability of trying any move, if moves are worth the best below them.
    pub epsilon: f64,
}

/// Nodes by the knowledge of roles.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    index: FxHashMap<u64, u32>,
    nodes: Vec<Node>,
    n_edges: usize,
}

/// A move counts if it was tried more often than the most tried one divided by this.
const MIN_VISITS_DIVISOR: u32 = 8;
/// The fewest rewards from which a spread is estimated, and the smallest spread.
const MIN_SAMPLES: u32 = 8;
const MIN_SPREAD: f64 = 0.04;
/// Tries per move of a node before random tries begin: with hundreds of moves, most nodes are not
/// worth them.
const N_TRIES_PER_MOVE: usize = 16;
/// Approximate sizes of a node with its index entry, and of an edge with room to grow.
const NODE_BYTES: usize = 128;
const EDGE_BYTES: usize = 48;

/// The knowledge of a role when it chooses, and the results of its moves.
#[derive(Clone, Debug, Default)]
struct Node {
    n_visits: u32,
    edges: Vec<Edge>,
    /// The value of the best move, and the rewards from here; used only if moves are worth the best
    /// below them.
    value: f64,
    samples: Samples,
}

/// Statistics of the rewards from a node.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    n: u32,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    id: MoveId,
    n_visits: u32,
    /// How often it was available.
    n_available: u32,
    mean: f64,
    /// Its assumed value before the first try, if known.
    prior: f32,
}

/// An edge that was followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub role: RoleId,
    node: u32,
    edge: u32,
}

/// Returns the key of a view of the role that chooses.
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

    /// Returns the node of a key, created if there is room.
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

    /// Selects one of these moves by UCB. Untried moves come first, in random order; if there were
    /// priors when the node was new, they count as if tried once.
    pub fn select(
        &mut self,
        node: u32,
        role: RoleId,
        moves: &[MoveId],
        priors: &[f32],
        Explore { c, epsilon }: Explore,
        rng: &mut Rng,
    ) -> Taken {
        let found = &mut self.nodes[node as usize];
        found.n_visits += 1;
        // If all moves are worth nearly the same, small differences matter.
        let c = c * found.samples.spread();
        let n_before = found.edges.len();
        if n_before == 0 {
            let priors = priors.iter().copied().chain(std::iter::repeat(f32::MAX));
            let edges =
                moves.iter().zip(priors).map(|(&id, prior)| Edge { prior, ..Edge::new(id) });
            found.edges.extend(edges);
        }
        let start = rng.below(moves.len());
        let (mut best, mut best_score) = (0, f64::NEG_INFINITY);
        // Bad tries do not lower the best value below, so some tries may go anywhere and find what
        // bad luck has hidden.
        let is_anything =
            found.samples.n as usize >= N_TRIES_PER_MOVE * moves.len() && rng.unit() < epsilon;
        for turned in 0..moves.len() {
            let idx = (start + turned) % moves.len();
            let edge_idx = found.edge(idx, moves[idx]);
            let edge = &mut found.edges[edge_idx];
            edge.n_available += 1;
            let score = if is_anything { -(turned as f64) } else { edge.score(c) };
            if score > best_score {
                (best, best_score) = (edge_idx, score);
            }
        }
        self.n_edges += found.edges.len() - n_before;
        Taken { role, node, edge: best as u32 }
    }

    /// Adds a reward to an edge, whose value is the mean of its rewards.
    pub fn learn(&mut self, taken: &Taken, reward: f64) {
        let edge = &mut self.nodes[taken.node as usize].edges[taken.edge as usize];
        edge.n_visits += 1;
        edge.mean += (reward - edge.mean) / f64::from(edge.n_visits);
    }

    /// Adds a reward at the end of a path, where a move is worth the best values after each
    /// observation, weighted by how often it was seen.
    ///
    /// A new reward changes the value of a node for all visits so far, so it changes the sums of
    /// the edges above by more than one reward (MaxUCT).
    pub fn learn_best(&mut self, path: &[Taken], reward: f64) {
        // The gain of an edge's sum, and the reward of this iteration.
        let (mut gain, mut sample) = (reward, reward);
        for taken in path.iter().rev() {
            let node = &mut self.nodes[taken.node as usize];
            let edge = &mut node.edges[taken.edge as usize];
            edge.n_visits += 1;
            edge.mean += (gain - edge.mean) / f64::from(edge.n_visits);
            let (n_before, before) = (f64::from(node.samples.n), node.value);
            node.samples.add(sample);
            node.value = node.best();
            sample = node.value;
            gain = n_before * (node.value - before) + node.value;
        }
    }

    /// Returns the most tried legal move.
    pub fn favorite(&self, node: u32, legal: &[MoveId]) -> Option<MoveId> {
        let edges = self.nodes[node as usize].edges.iter();
        let best = edges.filter(|edge| legal.contains(&edge.id)).max_by_key(|edge| edge.n_visits);
        best.map(|edge| edge.id)
    }

    /// Returns the legal move with the best value among those tried often enough.
    pub fn best(&self, node: u32, legal: &[MoveId]) -> Option<MoveId> {
        let edges = &self.nodes[node as usize].edges;
        let of = edges.iter().filter(|edge| legal.contains(&edge.id) && edge.n_visits > 0);
        let most = of.clone().map(|edge| edge.n_visits).max().unwrap_or(0);
        let tried = of.filter(|edge| edge.n_visits > most / MIN_VISITS_DIVISOR);
        tried.max_by(|a, b| a.mean.total_cmp(&b.mean)).map(|edge| edge.id)
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

impl Samples {
    fn add(&mut self, sample: f64) {
        self.n += 1;
        let difference = sample - self.mean;
        self.mean += difference / f64::from(self.n);
        self.squares += difference * (sample - self.mean);
    }

    /// Returns the spread of the samples, from 0 to about 1; it is 1 for a fair coin.
    fn spread(&self) -> f64 {
        if self.n >= MIN_SAMPLES {
            (2.0 * (self.squares / f64::from(self.n)).sqrt()).max(MIN_SPREAD)
        } else {
            1.0
        }
    }
}

impl Node {
    /// Returns the value of the best move among those tried often enough.
    fn best(&self) -> f64 {
        let most = self.edges.iter().map(|edge| edge.n_visits).max().unwrap_or(0);
        let tried = self.edges.iter().filter(|edge| edge.n_visits > most / MIN_VISITS_DIVISOR);
        tried.map(|edge| edge.mean).fold(0.0, f64::max)
    }

    /// Returns the edge of a move, created if new. It usually has the same index as in the list of
    /// legal moves.
    fn edge(&mut self, idx: usize, id: MoveId) -> usize {
        if self.edges.get(idx).is_some_and(|edge| edge.id == id) {
            return idx;
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
        Self { id, n_visits: 0, n_available: 0, mean: 0.0, prior: f32::MAX }
    }

    /// Returns the UCB score, with the visits of the node replaced by how often the move was
    /// available.
    fn score(&self, c: f64) -> f64 {
        match self.n_visits {
            0 => f64::from(self.prior) + c * f64::from(self.n_available).ln().sqrt(),
            n => self.mean + c * (f64::from(self.n_available).ln() / f64::from(n)).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    const PLAIN: Explore = Explore { c: 0.4, epsilon: 0.1 };

    #[test]
    fn a_rarely_legal_move_is_not_tried_every_time() {
        let mut tree = Tree::default();
        let mut rng = Seed(1).rng();
        let me = RoleId::new(0);
        let [good, bad, rare] = [0, 1, 2].map(MoveId::new);
        let node = tree.node(key(1, me), 10).expect("there is room");
        for round in 0..2_000 {
            let legal: &[MoveId] = if round % 20 == 0 { &[good, bad, rare] } else { &[good, bad] };
            let taken = tree.select(node, me, legal, &[], PLAIN, &mut rng);
            let reward = if tree.id_of(&taken) == good { 0.8 } else { 0.4 };
            tree.learn(&taken, reward);
        }
        let visits = |id| tree.report(node, id).n_visits;
        assert!(visits(good) > 1_700, "{}", visits(good));
        // By the visits of the node it would be tried nearly every time it is legal.
        assert!((1..40).contains(&visits(rare)), "{}", visits(rare));
        assert_eq!(tree.favorite(node, &[bad, rare]), Some(bad));
    }

    #[test]
    fn a_move_is_worth_the_best_after_each_observation() {
        let mut tree = Tree::default();
        let mut rng = Seed(1).rng();
        let me = RoleId::new(0);
        let moves = [0, 1].map(MoveId::new);
        let root = tree.node(key(0, me), 1 << 20).expect("there is room");
        // After move 0 the role sees one of two percepts, and a different move is right after each.
        for round in 0..4_000 {
            let first = tree.select(root, me, &moves, &[], PLAIN, &mut rng);
            if tree.id_of(&first) == moves[1] {
                tree.learn_best(&[first], 0.6);
                continue;
            }
            let seen = round % 2;
            let below = tree.node(key(1 + seen, me), 1 << 20).expect("there is room");
            let second = tree.select(below, me, &moves, &[], PLAIN, &mut rng);
            let is_right = tree.id_of(&second) == moves[seen as usize];
            tree.learn_best(&[first, second], if is_right { 0.9 } else { 0.0 });
        }
        let mean = |id| tree.report(root, id).mean_reward.expect("the move was tried");
        assert!((mean(moves[0]) - 0.9).abs() < 0.01, "{}", mean(moves[0]));
        assert!((mean(moves[1]) - 0.6).abs() < 1e-9, "{}", mean(moves[1]));
        assert!(tree.report(root, moves[0]).n_visits > 3_500);
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

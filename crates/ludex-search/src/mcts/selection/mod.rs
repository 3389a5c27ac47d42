//! Selection: which edge to follow from a node, given only its statistics.

use ludex_base::Rng;

mod ucb;
mod rave;
mod grave;
mod history;

pub use grave::Grave;
pub use history::History;
pub use rave::Rave;
pub use ucb::Ucb;

/// Selects the edge to follow from a node. Rewards are from 0 to 1, for the role that chooses.
pub trait Selection: Send {
    /// Returns the index of the edge to follow; `edges` is not empty.
    ///
    /// `n_parent_visits` is how often this choice was made here before, by this or other threads.
    /// Implementations break ties with `rng`.
    fn select(&mut self, n_parent_visits: u32, edges: &[EdgeStats], rng: &mut Rng) -> usize;

    /// Returns which all-moves-as-first statistics the rule reads.
    ///
    /// The default is none, which costs nothing to collect.
    fn amaf(&self) -> AmafSource {
        AmafSource::None
    }
}

/// The statistics of one edge.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EdgeStats {
    /// How often it was followed, including unfinished searches. These count as losses until they
    /// return, which is the virtual loss that keeps threads apart.
    pub n_visits: u32,
    /// The mean reward; 0 without visits.
    pub mean: f32,
    /// Its exact reward, if proved.
    pub proven: Option<f32>,
    /// Playouts in which the move was played later.
    pub n_amaf: u32,
    /// Their mean reward.
    pub amaf_mean: f32,
}

impl EdgeStats {
    /// An edge that nobody has followed yet.
    pub const NEW: Self = Self { n_visits: 0, mean: 0.0, proven: None, n_amaf: 0, amaf_mean: 0.0 };
}

/// The source of all-moves-as-first statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AmafSource {
    /// None.
    None,
    /// Playouts through the node itself.
    Node,
    /// All playouts of the search.
    Everywhere,
    /// Playouts through the nearest ancestor, or the node itself, with more playouts than this.
    Ancestor {
        /// The number of playouts that makes a node trustworthy.
        min_playouts: u32,
    },
}

/// Returns the index with the highest upper bound, ties broken at random. `bound` takes an edge and
/// the width of its confidence interval.
fn best_by_bound(
    c: f32,
    n_parent_visits: u32,
    edges: &[EdgeStats],
    rng: &mut Rng,
    bound: impl Fn(&EdgeStats, f32) -> f32,
) -> usize {
    let log = (n_parent_visits.max(1) as f32).ln();
    best_by(edges, rng, |edge| bound(edge, c * (log / edge.n_visits.max(1) as f32).sqrt()))
}

/// Returns the index with the highest score, ties broken at random. The score of a proved edge is
/// its value: there is nothing left to explore.
fn best_by(edges: &[EdgeStats], rng: &mut Rng, score: impl Fn(&EdgeStats) -> f32) -> usize {
    let start = rng.below(edges.len());
    let (mut best, mut best_score) = (start, f32::NEG_INFINITY);
    let mut look = |first: usize, edges: &[EdgeStats]| {
        for (idx, edge) in (first..).zip(edges) {
            let score = edge.proven.unwrap_or_else(|| score(edge));
            if score > best_score {
                (best, best_score) = (idx, score);
            }
        }
    };
    let (before, after) = edges.split_at(start);
    look(start, after);
    look(0, before);
    best
}

/// An edge of a test whose move was played later in 50 playouts.
#[cfg(test)]
fn edge_played_later(n_visits: u32, mean: f32, amaf_mean: f32) -> EdgeStats {
    EdgeStats { n_visits, mean, n_amaf: 50, amaf_mean, ..EdgeStats::NEW }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn a_proven_edge_competes_by_its_value() {
        let won = EdgeStats { n_visits: 9, mean: 0.2, proven: Some(0.6), ..EdgeStats::NEW };
        let open = EdgeStats { n_visits: 9, mean: 0.5, ..EdgeStats::NEW };
        let mut rng = Seed(1).rng();
        assert_eq!(best_by(&[open, won], &mut rng, |edge| edge.mean), 1);
        assert_eq!(best_by(&[open, won], &mut rng, |edge| edge.mean + 0.2), 0);
    }

    #[test]
    fn ties_are_broken_at_random() {
        let mut rng = Seed(1).rng();
        let mut seen = [0; 3];
        for _ in 0..300 {
            seen[best_by(&[EdgeStats::NEW; 3], &mut rng, |_| 1.0)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
    }
}

//! UCB1 with first-play urgency.
//!
//! mean + c √(ln N / n), with rewards from 0 to 1 so that one constant serves every game. An edge
//! that was never followed has the urgency `fpu`. A large one tries every move first; a smaller one
//! goes deeper below a good move before it has tried all the others, which matters in states with
//! hundreds of moves.
//!
//! After Kocsis and Szepesvári, *Bandit Based Monte-Carlo Planning*, 2006; first-play urgency after
//! Gelly and Wang, *Exploration Exploitation in Go*, 2006.

use ludex_base::Rng;

use super::{EdgeStats, Selection, best_by};

/// The selection rule of UCT.
#[derive(Clone, Copy, Debug)]
pub struct Ucb {
    /// The exploration constant.
    pub c: f32,
    /// The score of an edge that was never followed.
    pub fpu: f32,
}

impl Selection for Ucb {
    fn select(&mut self, n_parent_visits: u32, edges: &[EdgeStats], rng: &mut Rng) -> usize {
        let log = (n_parent_visits.max(1) as f32).ln();
        best_by(edges, rng, |edge| {
            if edge.n_visits == 0 {
                self.fpu
            } else {
                edge.mean + self.c * (log / edge.n_visits as f32).sqrt()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    fn edge(n_visits: u32, mean: f32) -> EdgeStats {
        EdgeStats { n_visits, mean, ..EdgeStats::NEW }
    }

    #[test]
    fn exploits_good_edges_and_explores_new_ones() {
        let mut rng = Seed(1).rng();
        let mut rule = Ucb { c: 0.7, fpu: 100.0 };
        assert_eq!(rule.select(20, &[edge(10, 0.4), edge(10, 0.6)], &mut rng), 1);
        assert_eq!(rule.select(100, &[edge(2, 0.4), edge(98, 0.6)], &mut rng), 0);
        assert_eq!(rule.select(10, &[edge(10, 1.0), edge(0, 0.0)], &mut rng), 1);
        rule.fpu = 0.9;
        assert_eq!(rule.select(10, &[edge(10, 1.0), edge(0, 0.0)], &mut rng), 0);
    }
}

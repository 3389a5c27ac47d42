//! RAVE: mixes the mean of a move with its mean wherever it was played later.
//!
//! The weight of the second mean falls with the visits of the edge, √(k / (3n + k)), so that k is
//! the number of visits at which both count equally.
//!
//! After Gelly and Silver, *Combining Online and Offline Knowledge in UCT*, 2007.

use ludex_base::Rng;

use super::{AmafSource, EdgeStats, Selection, best_by_bound};

/// UCB on the mixed mean.
#[derive(Clone, Copy, Debug)]
pub struct Rave {
    /// The exploration constant.
    pub c: f32,
    /// The score of an edge without statistics.
    pub fpu: f32,
    /// Visits at which both means count equally.
    pub equivalence: f32,
}

impl Selection for Rave {
    fn select(&mut self, n_parent_visits: u32, edges: &[EdgeStats], rng: &mut Rng) -> usize {
        best_by_bound(self.c, n_parent_visits, edges, rng, |edge, explored| {
            let n = edge.n_visits as f32;
            match (edge.n_visits, edge.n_amaf) {
                (0, 0) => self.fpu,
                (_, 0) => edge.mean + explored,
                (0, _) => edge.amaf_mean + explored,
                _ => {
                    let beta = (self.equivalence / (3.0 * n + self.equivalence)).sqrt();
                    (1.0 - beta) * edge.mean + beta * edge.amaf_mean + explored
                }
            }
        })
    }

    fn amaf(&self) -> AmafSource {
        AmafSource::Node
    }
}

#[cfg(test)]
mod tests {
    use super::super::edge_played_later as edge;
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn amaf_means_decide_while_visits_are_few() {
        let mut rule = Rave { c: 0.0, fpu: 2.0, equivalence: 100.0 };
        let mut rng = Seed(1).rng();
        assert_eq!(rule.select(4, &[edge(2, 0.5, 0.2), edge(2, 0.4, 0.8)], &mut rng), 1);
        let edges = [edge(9000, 0.5, 0.2), edge(9000, 0.4, 0.8)];
        assert_eq!(rule.select(18_000, &edges, &mut rng), 0);
    }
}

//! Progressive history: UCB with a bonus for moves that did well in any state.
//!
//! mean + c √(ln N / n) + h · weight / (n (1 − mean) + 1), where h is the mean of the move over all
//! games of the search in which it was played, in the tree or after it. The bonus shrinks as the
//! edge loses games. An edge that was never followed has h as its mean. For any game.
//!
//! After Nijssen and Winands, *Enhancements for Multi-Player Monte-Carlo Tree Search*, 2010.

use ludex_base::Rng;

use super::{AmafSource, EdgeStats, Selection, best_by_bound};

/// UCB with a history bonus.
#[derive(Clone, Copy, Debug)]
pub struct History {
    /// The exploration constant.
    pub c: f32,
    /// The score of an edge without statistics.
    pub fpu: f32,
    /// The weight of the bonus.
    pub weight: f32,
}

impl Selection for History {
    fn select(&mut self, n_parent_visits: u32, edges: &[EdgeStats], rng: &mut Rng) -> usize {
        best_by_bound(self.c, n_parent_visits, edges, rng, |edge, explored| {
            let n = edge.n_visits as f32;
            match (edge.n_visits, edge.n_amaf) {
                (0, 0) => self.fpu,
                (0, _) => edge.amaf_mean + explored + self.weight * edge.amaf_mean,
                (_, 0) => edge.mean + explored,
                _ => {
                    let n_lost = n * (1.0 - edge.mean);
                    edge.mean + explored + edge.amaf_mean * self.weight / (n_lost + 1.0)
                }
            }
        })
    }

    fn amaf(&self) -> AmafSource {
        AmafSource::Everywhere
    }
}

#[cfg(test)]
mod tests {
    use super::super::edge_played_later as edge;
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn the_bonus_shrinks_with_losses() {
        let mut rule = History { c: 0.0, fpu: 2.0, weight: 1.0 };
        let mut rng = Seed(1).rng();
        // 0.5 + 0.9 / 2 = 0.95 beats 0.6 + 0.2 / 1.8 = 0.71.
        assert_eq!(rule.select(4, &[edge(2, 0.6, 0.2), edge(2, 0.5, 0.9)], &mut rng), 1);
        // 0.5 + 0.9 / 501 falls behind 0.6 + 0.2 / 401.
        assert_eq!(rule.select(2000, &[edge(1000, 0.6, 0.2), edge(1000, 0.5, 0.9)], &mut rng), 0);
        // Without visits: (1 + weight) h against 0.6 + 0.2 / 1.8.
        assert_eq!(rule.select(4, &[edge(2, 0.6, 0.2), edge(0, 0.0, 0.3)], &mut rng), 0);
        assert_eq!(rule.select(4, &[edge(2, 0.6, 0.2), edge(0, 0.0, 0.4)], &mut rng), 1);
    }
}

//! GRAVE: RAVE with the statistics of an ancestor that has enough playouts.
//!
//! β = ña / (ña + n + bias · ña · n), value = (1 − β) mean + β amaf mean. There is no exploration
//! term by default. A move without any statistics comes first; the listing of the thesis divides by
//! zero there.
//!
//! After Cazenave, *Generalized Rapid Action Value Estimation*, 2015. We start collecting at a node
//! when it has enough visits to be worth a table, not at its first playout.

use ludex_base::Rng;

use super::{AmafSource, EdgeStats, Selection, best_by_bound};

/// The selection rule of GRAVE.
#[derive(Clone, Copy, Debug)]
pub struct Grave {
    /// The exploration constant; the paper has 0.
    pub c: f32,
    /// The score of an edge without statistics.
    pub fpu: f32,
    /// How fast the weight of the ancestor's statistics falls.
    pub bias: f32,
    /// The minimum number of playouts of an ancestor.
    pub min_playouts: u32,
}

impl Selection for Grave {
    fn select(&mut self, n_parent_visits: u32, edges: &[EdgeStats], rng: &mut Rng) -> usize {
        best_by_bound(self.c, n_parent_visits, edges, rng, |edge, explored| {
            let (n, n_amaf) = (edge.n_visits as f32, edge.n_amaf as f32);
            if edge.n_visits == 0 && edge.n_amaf == 0 {
                return self.fpu;
            }
            let beta = n_amaf / (n_amaf + n + self.bias * n_amaf * n);
            (1.0 - beta) * edge.mean + beta * edge.amaf_mean + explored
        })
    }

    fn amaf(&self) -> AmafSource {
        AmafSource::Ancestor { min_playouts: self.min_playouts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn the_weight_of_the_ancestor_falls_with_visits() {
        let mut rule = Grave { c: 0.0, fpu: 2.0, bias: 0.1, min_playouts: 50 };
        let mut rng = Seed(1).rng();
        let edge = |n_visits, mean, amaf_mean| EdgeStats {
            n_visits,
            mean,
            n_amaf: 100,
            amaf_mean,
            ..EdgeStats::NEW
        };
        assert_eq!(rule.select(2, &[edge(1, 1.0, 0.2), edge(1, 0.0, 0.9)], &mut rng), 1);
        let edges = [edge(1000, 0.6, 0.2), edge(1000, 0.5, 0.9)];
        assert_eq!(rule.select(2000, &edges, &mut rng), 0);
        assert_eq!(rule.select(2, &[edge(1, 1.0, 0.9), EdgeStats::NEW], &mut rng), 1);
    }
}

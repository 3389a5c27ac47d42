//! MAST: playouts prefer moves that did well anywhere.
//!
//! The value of a move is its mean reward over all games in which it was chosen, whatever the
//! state. *TO-MAST* (tree only) counts only choices in the tree, which are better. For any game.
//!
//! After Finnsson and Björnsson, *Simulation-Based Approach to General Game Playing*, 2008, and
//! *Learning Simulation Control in General Game-Playing Agents*, 2010 (tree only). Here, forced
//! moves teach nothing.

use ludex_base::{MoveId, Rng};

use super::draw::pick_weighted;
use super::means::{MoveMeans, UNKNOWN_MEAN, reward};
use super::{Draw, GameRecord, PlayoutPolicy};

/// The table of means, and how moves are drawn.
#[derive(Clone, Debug)]
pub struct Mast {
    draw: Draw,
    tree_only: bool,
    means: MoveMeans,
    /// exp(mean / τ) for Gibbs, stored because it is read far more often than it changes.
    weights: Vec<f32>,
    sums: Vec<f32>,
}

impl Mast {
    /// Creates a table without knowledge.
    pub fn new(draw: Draw, tree_only: bool) -> Self {
        let (means, weights, sums) = (MoveMeans::default(), Vec::new(), Vec::new());
        Self { draw, tree_only, means, weights, sums }
    }
}

impl PlayoutPolicy for Mast {
    fn choose(&mut self, moves: &[MoveId], _game: &GameRecord, rng: &mut Rng) -> MoveId {
        let Self { draw, means, weights, sums, .. } = self;
        match *draw {
            Draw::Gibbs { temperature } => {
                let unknown = (UNKNOWN_MEAN / temperature).exp();
                let weight = |id: MoveId| weights.get(id.index()).copied().unwrap_or(unknown);
                pick_weighted(moves, rng, sums, weight)
            }
            Draw::Greedy { .. } => draw.pick(moves, rng, sums, |id| means.value(id)),
        }
    }

    fn learn(&mut self, game: &GameRecord, goals: &[u8]) {
        let n_steps = if self.tree_only { game.n_tree_steps() } else { game.n_steps() };
        for step_idx in 0..n_steps {
            for (role_idx, id) in game.chosen(step_idx) {
                let mean = self.means.add(id, reward(goals[role_idx]));
                if let Draw::Gibbs { temperature } = self.draw {
                    if id.index() >= self.weights.len() {
                        self.weights.resize(id.index() + 1, (UNKNOWN_MEAN / temperature).exp());
                    }
                    self.weights[id.index()] = (mean / temperature).exp();
                }
            }
        }
    }

    fn n_bytes(&self) -> usize {
        self.means.n_bytes() + self.weights.capacity() * size_of::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::game;
    use super::*;
    use ludex_base::Seed;

    const GIBBS: Draw = Draw::Gibbs { temperature: 0.5 };

    #[test]
    fn good_moves_are_drawn_more_often() {
        let [good, bad] = [0, 1].map(MoveId::new);
        let mut policy = Mast::new(GIBBS, false);
        for _ in 0..20 {
            policy.learn(&game(1, 0, &[0]), &[100]);
            policy.learn(&game(1, 0, &[1]), &[0]);
        }
        let mut rng = Seed(1).rng();
        let none = GameRecord::default();
        let n_good =
            (0..10_000).filter(|_| policy.choose(&[bad, good], &none, &mut rng) == good).count();
        // e² / (1 + e²) = 0.881; four standard deviations are 0.013.
        assert!((8_680..8_940).contains(&n_good), "{n_good}");
    }

    #[test]
    fn means_are_over_the_games_in_which_a_move_was_chosen() {
        // Two roles; the first step is in the tree.
        let played = [game(2, 1, &[0, 10, 1, 11]), game(2, 1, &[1, 10, 0, 12])];
        let value = |policy: &Mast, id| policy.means.value(MoveId::new(id));
        let mut all = Mast::new(GIBBS, false);
        let mut tree_only = Mast::new(GIBBS, true);
        for (game, goals) in played.iter().zip([[100, 0], [30, 70]]) {
            all.learn(game, &goals);
            tree_only.learn(game, &goals);
        }
        assert_eq!([0, 1, 10, 11, 12].map(|id| value(&all, id)), [0.65, 0.65, 0.35, 0.0, 0.7]);
        assert_eq!(
            [0, 1, 10, 11, 12].map(|id| value(&tree_only, id)),
            [1.0, 0.3, 0.35, UNKNOWN_MEAN, UNKNOWN_MEAN]
        );
    }
}

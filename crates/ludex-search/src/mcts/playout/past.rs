//! PAST: values a move by its results while the same fluents were true.
//!
//! Each pair of a move and a fluent has the mean reward of the games in which the move was chosen
//! while the fluent was true. The value of a move is the largest of these means among the true
//! fluents that were seen often enough; without any, it is the mean over all games, as in MAST. For
//! any game whose engine can list fluents; otherwise it is MAST.
//!
//! After Finnsson and Björnsson, *Learning Simulation Control in General Game-Playing Agents*,
//! 2010. We learn about fluents only after the tree, whose states are not visited again for that.

use ludex_base::{MoveId, Rng};

use super::means::{MoveMeans, reward};
use super::{Draw, GameRecord, PlayoutPolicy};

/// The means of moves and fluents, and how moves are drawn.
#[derive(Clone, Debug)]
pub struct Past {
    draw: Draw,
    min_seen: u32,
    max_bytes: usize,
    single: MoveMeans,
    /// By move, then by fluent; a move without a row has only its mean.
    rows: Vec<Vec<Pair>>,
    row_bytes: usize,
    sums: Vec<f32>,
}

/// The number of games of a move and a fluent, and their mean reward.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    n_seen: u32,
    mean: f32,
}

impl Past {
    /// Creates a policy without knowledge. Pairs count once they were seen `min_seen` times; at
    /// most `max_bytes` of them are kept.
    pub fn new(draw: Draw, min_seen: u32, max_bytes: usize) -> Self {
        let (single, rows, sums) = (MoveMeans::default(), Vec::new(), Vec::new());
        Self { draw, min_seen, max_bytes, single, rows, row_bytes: 0, sums }
    }

    /// Returns the row of a move, wide enough for a fluent; `None` if there is no room.
    fn row(&mut self, id: MoveId, widest: usize) -> Option<&mut [Pair]> {
        if id.index() >= self.rows.len() {
            self.rows.resize(id.index() + 1, Vec::new());
        }
        let row = &mut self.rows[id.index()];
        if widest >= row.len() {
            let n_more = widest + 1 - row.len();
            let n_bytes = n_more * size_of::<Pair>();
            if self.row_bytes + n_bytes > self.max_bytes {
                return None;
            }
            self.row_bytes += n_bytes;
            row.reserve_exact(n_more);
            row.resize(widest + 1, Pair::default());
        }
        Some(row)
    }
}

impl PlayoutPolicy for Past {
    fn choose(&mut self, moves: &[MoveId], game: &GameRecord, rng: &mut Rng) -> MoveId {
        let Self { draw, min_seen, single, rows, sums, .. } = self;
        let fluents = game.fluents(game.n_steps()).unwrap_or(&[]);
        draw.pick(moves, rng, sums, |id| {
            let row = rows.get(id.index()).map_or(&[][..], Vec::as_slice);
            let known = fluents.iter().filter_map(|&fluent| row.get(fluent as usize));
            let known = known.filter(|pair| pair.n_seen >= *min_seen);
            known.map(|pair| pair.mean).reduce(f32::max).unwrap_or_else(|| single.value(id))
        })
    }

    fn learn(&mut self, game: &GameRecord, goals: &[u8]) {
        for step_idx in 0..game.n_steps() {
            for (role_idx, id) in game.chosen(step_idx) {
                let reward = reward(goals[role_idx]);
                self.single.add(id, reward);
                let fluents = game.fluents(step_idx).unwrap_or(&[]);
                let Some(&widest) = fluents.iter().max() else { continue };
                let Some(row) = self.row(id, widest as usize) else { continue };
                for &fluent in fluents {
                    let pair = &mut row[fluent as usize];
                    pair.n_seen = pair.n_seen.saturating_add(1);
                    pair.mean += (reward - pair.mean) / pair.n_seen as f32;
                }
            }
        }
    }

    fn wants_fluents(&self) -> bool {
        true
    }

    fn n_bytes(&self) -> usize {
        self.single.n_bytes() + self.row_bytes + self.rows.capacity() * size_of::<Vec<Pair>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    const GREEDY: Draw = Draw::Greedy { epsilon: 0.0 };

    /// A game of one role; each step has the true fluents and the chosen move.
    fn game(steps: &[(&[u32], usize)]) -> GameRecord {
        let mut record = GameRecord::default();
        record.clear(1);
        for &(fluents, id) in steps {
            stand(&mut record, fluents);
            record.add_move(MoveId::new(id), true);
        }
        record
    }

    fn stand(record: &mut GameRecord, fluents: &[u32]) {
        record.add_fluents(fluents.iter().copied());
    }

    #[test]
    fn pairs_have_the_means_of_the_games_with_both() {
        let mut policy = Past::new(GREEDY, 1, 1 << 20);
        policy.learn(&game(&[(&[1, 2], 0), (&[2], 1)]), &[100]);
        policy.learn(&game(&[(&[1], 0), (&[3], 0)]), &[50]);
        let pair = |id: usize, fluent: usize| {
            let pair = policy.rows[id].get(fluent).copied().unwrap_or_default();
            (pair.n_seen, pair.mean)
        };
        assert_eq!([pair(0, 1), pair(0, 2), pair(0, 3)], [(2, 0.75), (1, 1.0), (1, 0.5)]);
        assert_eq!([pair(1, 1), pair(1, 2), pair(1, 3)], [(0, 0.0), (1, 1.0), (0, 0.0)]);
        assert!((policy.single.value(MoveId::new(0)) - 2.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn the_best_true_fluent_decides_the_value_of_a_move() {
        let mut policy = Past::new(GREEDY, 2, 1 << 20);
        // Move 0 is good while fluent 1 is true and bad while 2 is; move 1 is middling everywhere.
        for _ in 0..2 {
            policy.learn(&game(&[(&[1, 5], 0)]), &[90]);
            policy.learn(&game(&[(&[2], 0)]), &[10]);
            policy.learn(&game(&[(&[1, 2], 1)]), &[60]);
        }
        let mut rng = Seed(1).rng();
        for (fluents, best) in [(&[1][..], 0), (&[2], 1), (&[1, 2], 0), (&[7], 1)] {
            let mut here = game(&[]);
            stand(&mut here, fluents);
            let chosen = policy.choose(&[0, 1].map(MoveId::new), &here, &mut rng);
            assert_eq!(chosen, MoveId::new(best), "{fluents:?}");
        }
    }

    #[test]
    fn rows_stay_within_their_memory() {
        let mut policy = Past::new(GREEDY, 1, 10_000);
        for id in 0..1_000 {
            policy.learn(&game(&[(&[99], id)]), &[100]);
        }
        assert!(policy.row_bytes <= 10_000 && policy.row_bytes > 9_000, "{}", policy.row_bytes);
        // A move without a row still has its mean.
        assert_eq!(policy.single.value(MoveId::new(999)), 1.0);
        assert!(policy.rows[999].is_empty());
    }
}

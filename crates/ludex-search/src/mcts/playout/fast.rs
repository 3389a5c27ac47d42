//! FAST: learns values of fluents by temporal differences, and values of moves by what they change.
//!
//! The value of a state for a role is linear in the true fluents, V(s) = Σ w(f). After a game its
//! states learn from what followed: G(t) = (1 − λ) V(t + 1) + λ G(t + 1), the last one from the
//! goal; w(f) += α / |s| · (G(t) − V(t)) for each fluent of s(t). The value of a move is its mean
//! over all games, as in MAST, plus the average change of V when it was chosen. For any game whose
//! engine can list fluents; otherwise it is MAST.
//!
//! After Finnsson and Björnsson, *Learning Simulation Control in General Game-Playing Agents*,
//! 2010, with TD(λ) after Sutton, *Learning to Predict by the Methods of Temporal Differences*,
//! 1988. They use pieces on squares as features and read from the move what it captures. We use
//! every fluent, and see the effect of a move in the states around it, so that nothing has to be
//! guessed from the rules.

use ludex_base::{MoveId, Rng};

use super::means::{MoveMeans, reward};
use super::{Draw, GameRecord, PlayoutPolicy};

/// Values of fluents, changes by moves, and how moves are drawn.
#[derive(Clone, Debug)]
pub struct Fast {
    draw: Draw,
    means: MoveMeans,
    changes: MoveMeans,
    /// By role, then by fluent.
    weights: Vec<Vec<f32>>,
    n_games: u64,
    values: Vec<f32>,
    sums: Vec<f32>,
}

/// The weight of later results against the next prediction.
const LAMBDA: f32 = 0.8;
/// The learning rate, for all fluents of a state together.
const ALPHA: f32 = 0.05;
/// One in this many games is learned from: listing fluents takes longer than choosing moves.
const LEARN_EVERY: u64 = 4;
/// The weight of a move's changes relative to its mean.
const CHANGE_WEIGHT: f32 = 2.0;

impl Fast {
    /// Creates a policy without knowledge.
    pub fn new(draw: Draw) -> Self {
        Self {
            draw,
            means: MoveMeans::default(),
            changes: MoveMeans::default(),
            weights: Vec::new(),
            n_games: 0,
            values: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Learns the values of fluents for a role from the states after the tree, and the changes by
    /// moves.
    fn learn_values(&mut self, game: &GameRecord, role_idx: usize, goal: f32) {
        let steps = game.n_tree_steps()..game.n_steps();
        if steps.is_empty() || game.fluents(steps.end - 1).is_none() {
            return;
        }
        let fluents = |step_idx| game.fluents(step_idx).unwrap_or(&[]);
        let weights = &mut self.weights[role_idx];
        if let Some(widest) = steps.clone().flat_map(&fluents).max()
            && *widest as usize >= weights.len()
        {
            weights.resize(*widest as usize + 1, 0.0);
        }
        // Step 1. Compute the current value of every state; the end has the value of its goal.
        self.values.clear();
        for step_idx in steps.clone() {
            let holding = fluents(step_idx).iter();
            self.values.push(holding.map(|&fluent| weights[fluent as usize]).sum());
        }
        self.values.push(goal);
        // Step 2. From the end back, each state learns from those after it.
        let mut later = goal;
        for (idx, step_idx) in steps.clone().enumerate().rev() {
            later = (1.0 - LAMBDA) * self.values[idx + 1] + LAMBDA * later;
            let holding = fluents(step_idx);
            let step = ALPHA * (later - self.values[idx]) / holding.len().max(1) as f32;
            holding.iter().for_each(|&fluent| weights[fluent as usize] += step);
        }
        // Step 3. Record the changes by the role's moves.
        for (idx, step_idx) in steps.enumerate() {
            let change = self.values[idx + 1] - self.values[idx];
            let chosen = game.chosen(step_idx).find(|&(role, _)| role == role_idx);
            if let Some((_, id)) = chosen {
                self.changes.add(id, change);
            }
        }
    }

    /// Returns the mean change by a move; 0 if it was never seen.
    fn change(changes: &MoveMeans, id: MoveId) -> f32 {
        if changes.n_played(id) == 0 { 0.0 } else { changes.value(id) }
    }
}

impl PlayoutPolicy for Fast {
    fn choose(&mut self, moves: &[MoveId], _game: &GameRecord, rng: &mut Rng) -> MoveId {
        let Self { draw, means, changes, sums, .. } = self;
        let value = |id| means.value(id) + CHANGE_WEIGHT * Self::change(changes, id);
        draw.pick(moves, rng, sums, value)
    }

    fn learn(&mut self, game: &GameRecord, goals: &[u8]) {
        for step_idx in 0..game.n_steps() {
            for (role_idx, id) in game.chosen(step_idx) {
                self.means.add(id, reward(goals[role_idx]));
            }
        }
        self.weights.resize(goals.len(), Vec::new());
        for (role_idx, &goal) in goals.iter().enumerate() {
            self.learn_values(game, role_idx, reward(goal));
        }
        self.n_games += 1;
    }

    fn wants_fluents(&self) -> bool {
        self.n_games.is_multiple_of(LEARN_EVERY)
    }

    fn n_bytes(&self) -> usize {
        let weights: usize = self.weights.iter().map(|row| row.capacity() * size_of::<f32>()).sum();
        self.means.n_bytes() + self.changes.n_bytes() + weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One role moves from the state of fluent 0 by move 7 to that of fluents 1 and 2, and by move
    /// 8 to the end.
    fn chain() -> GameRecord {
        let mut record = GameRecord::default();
        record.clear(1);
        for (fluents, id) in [(&[0][..], 7), (&[1, 2], 8)] {
            record.add_fluents(fluents.iter().copied());
            record.add_move(MoveId::new(id), true);
        }
        record
    }

    #[track_caller]
    fn check(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-6, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn two_states_learn_from_what_follows() {
        let mut policy = Fast::new(Draw::Greedy { epsilon: 0.0 });
        policy.learn(&chain(), &[100]);
        // The first game: G(1) = 1, G(0) = 0.2 · 0 + 0.8 · 1 = 0.8.
        check(&policy.weights[0], &[0.05 * 0.8, 0.05 / 2.0, 0.05 / 2.0]);
        let changes = [7, 8].map(|id| Fast::change(&policy.changes, MoveId::new(id)));
        check(&changes, &[0.0, 1.0]);
        policy.learn(&chain(), &[0]);
        // V was 0.04 and 0.05: G(1) = 0, G(0) = 0.2 · 0.05 = 0.01.
        let second = 0.025 + 0.05 / 2.0 * (0.0 - 0.05);
        check(&policy.weights[0], &[0.04 + 0.05 * (0.01 - 0.04), second, second]);
        let changes = [7, 8].map(|id| Fast::change(&policy.changes, MoveId::new(id)));
        check(&changes, &[0.01 / 2.0, (1.0 - 0.05) / 2.0]);
    }

    #[test]
    fn values_approach_the_expected_goals() {
        let mut policy = Fast::new(Draw::Greedy { epsilon: 0.0 });
        for n in 0..4_000 {
            policy.learn(&chain(), &[if n % 4 == 0 { 100 } else { 0 }]);
        }
        let weights = &policy.weights[0];
        assert!((weights[0] - 0.25).abs() < 0.08, "{weights:?}");
        assert!((weights[1] + weights[2] - 0.25).abs() < 0.08, "{weights:?}");
    }

    #[test]
    fn without_fluents_it_is_mast() {
        let mut policy = Fast::new(Draw::Greedy { epsilon: 0.0 });
        policy.learn(&super::super::tests::game(1, 0, &[7, 8]), &[100]);
        assert_eq!(Fast::change(&policy.changes, MoveId::new(8)), 0.0);
        assert_eq!(policy.means.value(MoveId::new(8)), 1.0);
        assert!(policy.weights[0].is_empty());
    }
}

//! The policy of nested rollout policy adaptation: a weight in the exponent for each move.

use ludex_base::{MoveId, Rng};

/// P(a) ∝ exp(w(a)); w is 0 for moves that never occurred in a line, nor as an alternative.
#[derive(Clone, Debug, Default)]
pub(super) struct Policy {
    weights: Vec<f64>,
    /// exp(w), stored because draws are many and changes few.
    exponents: Vec<f64>,
}

/// Larger weights make no difference; the bound keeps their sums finite.
const MAX_WEIGHT: f64 = 300.0;

impl Policy {
    fn exponent(&self, id: MoveId) -> f64 {
        self.exponents.get(id.index()).copied().unwrap_or(1.0)
    }

    /// Draws one of the moves; `None` if there is none.
    pub(super) fn draw(&self, legal: &[MoveId], rng: &mut Rng) -> Option<MoveId> {
        if self.weights.is_empty() {
            return rng.choose(legal).copied();
        }
        let total: f64 = legal.iter().map(|&id| self.exponent(id)).sum();
        let mut left = total * rng.unit();
        for &id in legal {
            left -= self.exponent(id);
            if left < 0.0 {
                return Some(id);
            }
        }
        legal.last().copied()
    }

    /// Adapts to a line by one gradient step: at each step the chosen move gains 1, and all legal
    /// moves lose their former probability.
    pub(super) fn adapt<'a>(&mut self, line: impl Iterator<Item = (MoveId, &'a [MoveId])>) {
        let mut changes: Vec<(MoveId, f64)> = Vec::new();
        for (chosen, legal) in line {
            let total: f64 = legal.iter().map(|&id| self.exponent(id)).sum();
            changes.extend(legal.iter().map(|&id| (id, -self.exponent(id) / total)));
            changes.push((chosen, 1.0));
        }
        for &(id, change) in &changes {
            if id.index() >= self.weights.len() {
                self.weights.resize(id.index() + 1, 0.0);
                self.exponents.resize(id.index() + 1, 1.0);
            }
            let weight = &mut self.weights[id.index()];
            *weight = (*weight + change).clamp(-MAX_WEIGHT, MAX_WEIGHT);
        }
        for (id, _) in changes {
            self.exponents[id.index()] = self.weights[id.index()].exp();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn unlikely_choices_of_a_line_gain_most() {
        let ids = [0, 1, 2].map(MoveId::new);
        let mut policy = Policy::default();
        // Twice from the same two moves: both steps read the policy before the change.
        policy.adapt([(ids[0], &ids[..2]), (ids[0], &ids[..2])].into_iter());
        assert_eq!(policy.weights, [1.0, -1.0]);
        // e : 1/e : 1 for the three moves.
        policy.adapt(std::iter::once((ids[2], &ids[..])));
        let e = std::f64::consts::E;
        let total = e + 1.0 / e + 1.0;
        let expected = [1.0 - e / total, -1.0 - 1.0 / e / total, 1.0 - 1.0 / total];
        for (found, expected) in policy.weights.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{:?}", policy.weights);
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let ids = [0, 1].map(MoveId::new);
        let mut policy = Policy::default();
        policy.adapt(std::iter::once((ids[0], &ids[..])));
        let mut rng = Seed(1).rng();
        let n = (0..10_000).filter(|_| policy.draw(&ids, &mut rng) == Some(ids[0])).count();
        // e / (e + 1) = 0.731 for a difference of 1; four standard deviations are 0.018.
        assert!((7_130..7_490).contains(&n), "{n}");
        assert_eq!(policy.draw(&[], &mut rng), None);
    }

    #[test]
    fn weights_stay_finite() {
        let ids = [0, 1].map(MoveId::new);
        let mut policy = Policy::default();
        for _ in 0..50 {
            policy.adapt(std::iter::repeat_n((ids[0], &ids[..]), 100));
        }
        assert!(policy.exponents.iter().all(|it| it.is_finite()), "{policy:?}");
        assert_eq!(policy.draw(&ids, &mut Seed(1).rng()), Some(ids[0]));
    }
}

//! How values of moves become a choice.

use ludex_base::{MoveId, Rng};

/// A rule for choosing by values from about 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Draw {
    /// P(a) ∝ exp(value(a) / temperature), the Gibbs distribution.
    Gibbs {
        /// A small temperature is greedy, a large one uniform.
        temperature: f32,
    },
    /// Any move with probability epsilon, otherwise the one with the highest value, of equal ones
    /// the first after a random index.
    ///
    /// Tak, Winands and Björnsson, *N-Grams and the Last-Good-Reply Policy Applied in General Game
    /// Playing*, 2012, found it stronger than Gibbs; it also does not need the values every time.
    Greedy {
        /// The probability of ignoring the values.
        epsilon: f32,
    },
}

impl Draw {
    /// Chooses one of several moves; `sums` is working memory.
    pub(super) fn pick(
        self,
        moves: &[MoveId],
        rng: &mut Rng,
        sums: &mut Vec<f32>,
        value: impl Fn(MoveId) -> f32,
    ) -> MoveId {
        match self {
            Draw::Gibbs { temperature } => {
                pick_weighted(moves, rng, sums, |id| (value(id) / temperature).exp())
            }
            Draw::Greedy { epsilon } => {
                let start = rng.below(moves.len());
                if part(rng) < epsilon {
                    return moves[start];
                }
                let (before, after) = moves.split_at(start);
                let (mut best, mut best_value) = (moves[start], f32::NEG_INFINITY);
                for &id in after.iter().chain(before) {
                    let value = value(id);
                    if value > best_value {
                        (best, best_value) = (id, value);
                    }
                }
                best
            }
        }
    }
}

/// Draws a move by weight; `sums` is working memory.
pub(super) fn pick_weighted(
    moves: &[MoveId],
    rng: &mut Rng,
    sums: &mut Vec<f32>,
    weight: impl Fn(MoveId) -> f32,
) -> MoveId {
    sums.clear();
    let mut total = 0.0;
    for &id in moves {
        total += weight(id);
        sums.push(total);
    }
    let drawn = part(rng) * total;
    let idx = sums.partition_point(|&sum| sum <= drawn);
    moves[idx.min(moves.len() - 1)]
}

/// Returns a number in 0..1. A 32-bit float has room for 24 random bits.
fn part(rng: &mut Rng) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    fn counts(draw: Draw, values: [f32; 3]) -> [usize; 3] {
        let moves = [0, 1, 2].map(MoveId::new);
        let mut rng = Seed(1).rng();
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            let drawn = draw.pick(&moves, &mut rng, &mut Vec::new(), |id| values[id.index()]);
            counts[drawn.index()] += 1;
        }
        counts
    }

    #[track_caller]
    fn check(counts: [usize; 3], expected: [f64; 3]) {
        for (n, part) in counts.into_iter().zip(expected) {
            // Four standard deviations of the largest are 0.0116.
            assert!((n as f64 / 30_000.0 - part).abs() < 0.012, "{counts:?} for {expected:?}");
        }
    }

    #[test]
    fn gibbs_follows_its_formula() {
        // e² : e¹ : e⁰ at temperature 0.5.
        let counts = counts(Draw::Gibbs { temperature: 0.5 }, [1.0, 0.5, 0.0]);
        check(counts, [0.6652, 0.2447, 0.0900]);
    }

    #[test]
    fn greedy_takes_the_best_but_for_epsilon() {
        check(counts(Draw::Greedy { epsilon: 0.3 }, [0.2, 0.9, 0.4]), [0.1, 0.8, 0.1]);
        // From the third index on, the first move comes before the second.
        check(counts(Draw::Greedy { epsilon: 0.0 }, [0.7, 0.7, 0.4]), [2.0 / 3.0, 1.0 / 3.0, 0.0]);
        check(counts(Draw::Greedy { epsilon: 1.0 }, [0.7, 0.1, 0.4]), [1.0 / 3.0; 3]);
    }
}

//! Pearson's chi-square test of whether samples come from the same distribution.

use std::collections::BTreeMap;

use ludex_base::{Deadline, Rng};
use ludex_game::{Cursor, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Categories expected less often than this are merged, because the test is an approximation that
/// needs about this many.
const MIN_EXPECTED: f64 = 5.0;
/// Maximal number of classes in which lengths are compared, each with about equally many games.
const MAX_CLASSES: usize = 24;
/// Playouts per batch, whose moves are kept in memory until they are counted.
const BATCH: usize = 2_000;
/// Maximal length of a playout. It is higher than elsewhere, because leaving out long games would
/// make two samples of one distribution differ.
const MAX_STEPS: usize = 10_000;

/// The endings of random games: the frequencies of goals and of lengths.
#[derive(Clone, Default, Debug)]
pub struct Endings {
    /// Number of playouts counted.
    pub n_playouts: u64,
    /// Number of playouts that reached no end.
    pub n_given_up: u64,
    goals: BTreeMap<Vec<u8>, u64>,
    lengths: BTreeMap<usize, u64>,
}

impl Endings {
    /// Plays games until there are `n_playouts`, or until the deadline. The last batch is always
    /// finished, because stopping it early would count long games less often.
    pub fn of<G: Playouts>(game: &G, n_playouts: u64, deadline: &Deadline, rng: &mut Rng) -> Self {
        let n_roles = game.roles().len();
        let starts = [game.cursor().state().clone()];
        let mut runner = game.runner();
        let mut endings = Endings::default();
        let mut batch = 1;
        while endings.n_playouts + endings.n_given_up < n_playouts && !deadline.reached() {
            let n_left = n_playouts - endings.n_playouts - endings.n_given_up;
            let request = PlayoutRequest {
                starts: &starts,
                n_per_start: batch.min(usize::try_from(n_left).unwrap_or(batch)),
                max_steps: MAX_STEPS,
                wants_moves: true,
                deadline: &Deadline::never(),
            };
            let mut results = PlayoutResults::default();
            runner.run(&request, rng, &mut results);
            endings.n_given_up += results.n_given_up;
            for game in results.games {
                endings.n_playouts += 1;
                *endings.lengths.entry(game.moves.len() / n_roles).or_default() += 1;
                *endings.goals.entry(game.goals).or_default() += 1;
            }
            batch = (2 * batch).min(BATCH);
        }
        endings
    }

    /// Tests whether the goals have the same distribution in the other sample.
    pub fn compare_goals(&self, other: &Endings) -> ChiSquare {
        ChiSquare::of(&paired(&self.goals, &other.goals))
    }

    /// Tests whether the lengths have the same distribution in the other sample.
    pub fn compare_lengths(&self, other: &Endings) -> ChiSquare {
        let pairs = paired(&self.lengths, &other.lengths);
        let total: u64 = pairs.iter().map(|&(a, b)| a + b).sum();
        let class_size = total.div_ceil(MAX_CLASSES as u64).max(1);
        let mut classes: Vec<(u64, u64)> = Vec::new();
        for (a, b) in pairs {
            match classes.last_mut() {
                Some(last) if last.0 + last.1 < class_size => *last = (last.0 + a, last.1 + b),
                _ => classes.push((a, b)),
            }
        }
        ChiSquare::of(&classes)
    }

    /// Returns the mean length.
    pub fn mean_length(&self) -> f64 {
        let sum: u64 = self.lengths.iter().map(|(&length, &n)| length as u64 * n).sum();
        sum as f64 / self.n_playouts as f64
    }
}

fn paired<K: Ord>(first: &BTreeMap<K, u64>, second: &BTreeMap<K, u64>) -> Vec<(u64, u64)> {
    let mut pairs: BTreeMap<&K, (u64, u64)> = BTreeMap::new();
    first.iter().for_each(|(key, &n)| pairs.entry(key).or_default().0 = n);
    second.iter().for_each(|(key, &n)| pairs.entry(key).or_default().1 = n);
    pairs.into_values().collect()
}

/// The result of a test of whether samples have one distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChiSquare {
    /// The sum of squared deviations, each divided by the expected count.
    pub statistic: f64,
    /// Degrees of freedom.
    pub n_free: usize,
    /// The probability that samples of one distribution differ at least this much.
    pub p: f64,
}

impl ChiSquare {
    /// Compares a sample with the uniform distribution over its categories.
    pub fn of_even(counts: &[u32]) -> Self {
        let expected = counts.iter().map(|&n| f64::from(n)).sum::<f64>() / counts.len() as f64;
        let statistic = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let n_free = counts.len() - 1;
        Self { statistic, n_free, p: upper_tail(statistic, n_free) }
    }

    /// Compares two samples, given the counts of each category in both.
    pub fn of(pairs: &[(u64, u64)]) -> Self {
        let n_first = pairs.iter().map(|pair| pair.0).sum::<u64>() as f64;
        let n_second = pairs.iter().map(|pair| pair.1).sum::<u64>() as f64;
        let total = n_first + n_second;
        let smaller = n_first.min(n_second) / total;
        let is_rare = |&&(a, b): &&(u64, u64)| ((a + b) as f64) * smaller < MIN_EXPECTED;
        let rare =
            pairs.iter().filter(is_rare).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let common = pairs.iter().filter(|pair| !is_rare(pair)).copied();
        let categories: Vec<(u64, u64)> =
            common.chain(Some(rare).filter(|it| it.0 + it.1 > 0)).collect();
        let deviation = |(a, b): &(u64, u64)| {
            let of_both = (a + b) as f64;
            let (expected_a, expected_b) = (of_both * n_first / total, of_both * n_second / total);
            (*a as f64 - expected_a).powi(2) / expected_a
                + (*b as f64 - expected_b).powi(2) / expected_b
        };
        let statistic =
            if categories.len() < 2 { 0.0 } else { categories.iter().map(deviation).sum() };
        let n_free = categories.len().saturating_sub(1);
        Self { statistic, n_free, p: upper_tail(statistic, n_free) }
    }
}

/// Returns the probability that a chi-square variable with `n_free` degrees of freedom is above
/// `x`.
fn upper_tail(x: f64, n_free: usize) -> f64 {
    if n_free == 0 {
        return 1.0;
    }
    ChiSquared::new(n_free as f64).expect("there are degrees of freedom").sf(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_tail_matches_published_tables() {
        for (x, n_free, p) in [
            (3.841, 1, 0.05),
            (10.828, 1, 0.001),
            (18.307, 10, 0.05),
            (29.588, 10, 0.001),
            (43.773, 30, 0.05),
            (69.346, 24, 2.745e-6),
        ] {
            let found = upper_tail(x, n_free);
            assert!((found - p).abs() < 0.01 * p, "{x} with {n_free}: {found}");
        }
        assert_eq!([upper_tail(0.0, 5), upper_tail(7.0, 0)], [1.0, 1.0]);
    }

    #[test]
    fn the_test_separates_different_samples_only() {
        assert!(ChiSquare::of(&[(500, 400), (500, 600)]).p < 1e-4);
        assert!(ChiSquare::of(&[(500, 510), (500, 490)]).p > 0.5);
        assert_eq!(ChiSquare::of(&[(500, 70)]).p, 1.0);
        assert!(ChiSquare::of_even(&[500, 510, 490]).p > 0.5);
        assert!(ChiSquare::of_even(&[400, 600]).p < 1e-4);
    }
}

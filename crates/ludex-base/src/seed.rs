//! Reproducible randomness.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The source of a run's randomness: the same seed gives the same run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns a seed for part number `index` of the work, independent of those of the other parts.
    pub fn child(self, index: u64) -> Seed {
        Seed(mix(self.0 ^ mix(index.wrapping_add(0x9E37_79B9_7F4A_7C15))))
    }

    /// Returns the generator that starts from this seed.
    pub fn rng(self) -> Rng {
        Rng(Xoshiro256PlusPlus::seed_from_u64(self.0))
    }
}

/// The finalizer of SplitMix64: each bit of the input reaches each bit of the output.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A fast generator. Its sequence never changes, because recorded games depend on it.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, each equally likely.
    ///
    /// After Lemire, *Fast Random Integer Generation in an Interval*, 2019.
    ///
    /// # Panics
    /// When `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "the bound must be positive");
        let bound = bound as u64;
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as usize
    }

    /// Returns a number in `[0, 1)` with 53 random bits, the precision of a float.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an index into a list of weights, each with probability proportional to its weight.
    ///
    /// # Panics
    /// When no weight is positive.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        for (idx, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return idx;
            }
        }
        // Rounding may leave a rest after the last weight.
        weights.iter().rposition(|&weight| weight > 0.0).expect("one weight must be positive")
    }

    /// Returns an element of a slice, each equally likely; `None` for an empty slice.
    #[inline]
    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { Some(&from[self.below(from.len())]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut rng = Seed(1).rng();
        let drawn: Vec<usize> = (0..8).map(|_| rng.below(10)).collect();
        let again: Vec<usize> = {
            let mut rng = Seed(1).rng();
            (0..8).map(|_| rng.below(10)).collect()
        };
        assert_eq!(drawn, again);
        assert_eq!(Seed(1).rng().next_u64(), 14_971_601_782_005_023_387);
    }

    #[test]
    fn draws_below_a_bound_are_even() {
        let mut rng = Seed(7).rng();
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        // Chi-square with 6 degrees of freedom exceeds 22.5 once in a thousand times.
        let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 22.5, "{counts:?}");
    }

    #[test]
    fn children_of_a_seed_differ() {
        let children: std::collections::HashSet<u64> =
            (0..1000).map(|index| Seed(3).child(index).0).collect();
        assert_eq!(children.len(), 1000);
    }

    #[test]
    fn weights_are_drawn_in_proportion() {
        let mut rng = Seed(3).rng();
        let mut counts = [0; 3];
        for _ in 0..40_000 {
            counts[rng.weighted(&[3.0, 0.0, 1.0])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((29_500..30_500).contains(&counts[0]), "{counts:?}");
    }
}

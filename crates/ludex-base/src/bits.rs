//! A set of small numbers in a fixed number of words.

use std::fmt;

/// A set of numbers below a capacity that is fixed at creation.
///
/// The words are open to callers that work on whole words at a time; bits at and
/// above the capacity are zero, so that equal sets have equal words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitSet {
    words: Box<[u64]>,
}

impl BitSet {
    /// Creates an empty set for the numbers below `capacity`.
    pub fn new(capacity: usize) -> Self {
        Self { words: vec![0; capacity.div_ceil(64)].into() }
    }

    /// Returns whether `index` is in the set.
    ///
    /// # Panics
    /// When `index` is beyond the capacity, rounded up to a whole word.
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 != 0
    }

    /// Adds `index` to the set.
    ///
    /// # Panics
    /// When `index` is beyond the capacity, rounded up to a whole word.
    #[inline]
    pub fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Removes `index` from the set.
    ///
    /// # Panics
    /// When `index` is beyond the capacity, rounded up to a whole word.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Makes this set equal to `other`, which has the same capacity, without allocating.
    ///
    /// # Panics
    /// When the capacities differ by more than the rounding to words.
    #[inline]
    pub fn copy_from(&mut self, other: &BitSet) {
        self.words.copy_from_slice(&other.words);
    }

    /// Returns how many numbers are in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Iterates over the numbers in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(word_idx, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    word_idx * 64 + bit
                })
            })
        })
    }

    /// Returns the words, lowest numbers first.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words for changes in place; the caller keeps bits beyond the capacity zero.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl fmt::Debug for BitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_numbers_are_listed_in_order() {
        let mut set = BitSet::new(200);
        for index in [199, 0, 64, 63, 130] {
            set.insert(index);
        }
        set.remove(130);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 199]);
        assert_eq!(set.count(), 4);
        assert!(set.contains(64) && !set.contains(130));
    }

    #[test]
    fn a_set_without_room_is_empty() {
        assert!(BitSet::new(0).is_empty());
        assert_eq!(BitSet::new(0).iter().count(), 0);
    }
}

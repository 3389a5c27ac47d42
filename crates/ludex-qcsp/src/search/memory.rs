//! A memory of verdicts by the values they depend on.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::schedule::mix;

/// A table of verdicts of bounded size, shared by threads without locks.
///
/// A slot has three words: the low half of the key XOR-ed with the third word, the high half XOR-ed
/// with a hash of the first, and the verdict. A slot torn by two threads holds an entry for a key
/// that nobody looks up, except with probability 2^-64. Each bucket keeps the entry that took the
/// most work, and the one stored last.
pub(crate) struct Memory {
    words: Vec<AtomicU64>,
    n_buckets: usize,
    n_stored: AtomicU64,
    max_buckets: usize,
}

/// The initial size of a table.
const FIRST_BUCKETS: usize = 1 << 9;
/// The size of a table that threads share, because it cannot grow then.
const SHARED_BUCKETS: usize = 1 << 21;

const WORDS_PER_SLOT: usize = 3;
const SLOTS_PER_BUCKET: usize = 2;
const WORDS_PER_BUCKET: usize = WORDS_PER_SLOT * SLOTS_PER_BUCKET;

impl Memory {
    /// Creates an empty table that may grow to `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        let max_buckets = (max_bytes / (8 * WORDS_PER_BUCKET)).max(1);
        let mut memory = Self {
            words: Vec::new(),
            n_buckets: FIRST_BUCKETS.min(max_buckets),
            n_stored: AtomicU64::new(0),
            max_buckets,
        };
        memory.clear();
        memory
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let n_words = self.n_buckets * WORDS_PER_BUCKET;
        self.words = std::iter::repeat_with(|| AtomicU64::new(0)).take(n_words).collect();
        self.n_stored = AtomicU64::new(0);
    }

    #[inline]
    fn bucket(&self, scope: usize, key: u128) -> usize {
        let hash = mix(key as u64 ^ mix((key >> 64) as u64 ^ (scope as u64) << 17));
        // The high half of the product spreads the hash over any number of buckets.
        let at = (u128::from(hash) * self.n_buckets as u128) >> 64;
        at as usize * WORDS_PER_BUCKET
    }

    #[inline]
    fn slot(&self, at: usize) -> [u64; 3] {
        [0, 1, 2].map(|i| self.words[at + i].load(Ordering::Relaxed))
    }

    /// Returns the verdict if it is known.
    #[inline]
    pub fn get(&self, scope: usize, key: u128) -> Option<bool> {
        let bucket = self.bucket(scope, key);
        for slot in 0..SLOTS_PER_BUCKET {
            let [low, high, data] = self.slot(bucket + slot * WORDS_PER_SLOT);
            if data >> 16 == scope as u64 + 1
                && low ^ data == key as u64
                && high ^ mix(low) == (key >> 64) as u64
            {
                return Some(data & 1 != 0);
            }
        }
        None
    }

    /// Stores a verdict that took `n_nodes` nodes.
    pub fn put(&self, scope: usize, key: u128, verdict: bool, n_nodes: u64) {
        let work = u64::from(64 - n_nodes.leading_zeros());
        let data = (scope as u64 + 1) << 16 | work << 1 | u64::from(verdict);
        let bucket = self.bucket(scope, key);
        let [_, _, kept] = self.slot(bucket);
        let is_first = (kept & 0xffff) >> 1 <= work;
        if is_first && kept != 0 {
            for i in 0..WORDS_PER_SLOT {
                let word = self.words[bucket + i].load(Ordering::Relaxed);
                self.words[bucket + WORDS_PER_SLOT + i].store(word, Ordering::Relaxed);
            }
        }
        let at = bucket + if is_first { 0 } else { WORDS_PER_SLOT };
        let low = key as u64 ^ data;
        let words = [low, (key >> 64) as u64 ^ mix(low), data];
        for (i, word) in words.into_iter().enumerate() {
            self.words[at + i].store(word, Ordering::Relaxed);
        }
        self.n_stored.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the table is well filled and may grow.
    #[inline]
    pub fn is_small(&self) -> bool {
        self.n_stored.load(Ordering::Relaxed) > self.n_buckets as u64
            && self.n_buckets < self.max_buckets
    }

    /// Makes the table four times as large.
    pub fn grow(&mut self) {
        self.resize((self.n_buckets * 4).min(self.max_buckets));
    }

    /// Gives the table the size of one that threads share.
    pub fn grow_to_share(&mut self) {
        self.resize(SHARED_BUCKETS.min(self.max_buckets).max(self.n_buckets));
    }

    fn resize(&mut self, n_buckets: usize) {
        let old = std::mem::take(&mut self.words);
        let n_stored = self.n_stored.load(Ordering::Relaxed);
        self.n_buckets = n_buckets;
        self.clear();
        for slot in old.chunks_exact(WORDS_PER_SLOT) {
            let [low, high, data] = [0, 1, 2].map(|i| slot[i].load(Ordering::Relaxed));
            if data != 0 {
                let key = u128::from(high ^ mix(low)) << 64 | u128::from(low ^ data);
                let n_nodes = 1_u64 << ((data & 0xffff) >> 1).min(63).saturating_sub(1);
                self.put((data >> 16) as usize - 1, key, data & 1 != 0, n_nodes);
            }
        }
        self.n_stored = AtomicU64::new(n_stored.min(n_buckets as u64 / 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_verdicts_were_stored() {
        let mut memory = Memory::new(1 << 16);
        for i in 0..5000_u128 {
            memory.put((i % 7) as usize, i << 60, i % 3 == 0, i as u64);
            if memory.is_small() {
                memory.grow();
            }
        }
        let mut n_found = 0;
        for i in 0..6000_u128 {
            if let Some(verdict) = memory.get((i % 7) as usize, i << 60) {
                assert!(i < 5000 && verdict == (i % 3 == 0));
                n_found += 1;
            }
            assert_eq!(memory.get((i % 7) as usize + 7, i << 60), None);
        }
        assert!(n_found > 1000, "{n_found}");
    }
}

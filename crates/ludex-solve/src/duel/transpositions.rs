//! What alpha-beta remembers of the states it has searched: bounds, and the best move.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// The name of a state in the table: two hash values, of which the first finds the place.
///
/// Two states with the same name are taken for one. With a billion states the chance of such a
/// pair is less than one in a million; a certificate excludes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fingerprint(u64, u64);

impl Fingerprint {
    /// Returns the name of a state.
    pub(crate) fn of<S: Hash>(state: &S) -> Self {
        let first = FxBuildHasher.hash_one(state);
        let second = FxBuildHasher.hash_one((SALT, state));
        Self(mixed(first), mixed(second ^ first.rotate_left(32)))
    }
}

/// Any odd number.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a hash value over the whole word.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// What is known about a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// The first hash value, and half of the second; both 0 in an empty place.
    check: u64,
    more: u32,
    /// The role can force this goal.
    pub(crate) lower: u8,
    /// The role can force no more than this.
    pub(crate) upper: u8,
    /// The place of the best move, and below it the work.
    best_and_work: u16,
}

const EMPTY: Entry = Entry { check: 0, more: 0, lower: 0, upper: u8::MAX, best_and_work: 0 };

/// The work of an entry is the logarithm of the nodes searched below the state, in this many bits.
const WORK_BITS: u32 = 6;
/// The place of the best move if there is none, or if it is not kept because it is too large.
pub(crate) const NO_PLACE: u16 = u16::MAX >> WORK_BITS;

impl Entry {
    /// Returns the place of the move that decided last, or [`NO_PLACE`].
    pub(crate) fn best(&self) -> u16 {
        self.best_and_work >> WORK_BITS
    }

    fn work(&self) -> u16 {
        self.best_and_work & ((1 << WORK_BITS) - 1)
    }

    fn is_empty(&self) -> bool {
        *self == EMPTY
    }

    fn is_for(&self, key: Fingerprint) -> bool {
        self.check == key.0 && self.more == key.1 as u32 && !self.is_empty()
    }
}

/// Entries that share a place.
const BUCKET: usize = 4;
/// Entries of a new table.
const FIRST_ENTRIES: usize = 1 << 14;

/// A table that grows up to a fixed size. Then a new entry replaces the one of its bucket with the
/// least work.
pub(crate) struct Transpositions {
    entries: Vec<Entry>,
    n_used: usize,
    max_entries: usize,
}

impl Transpositions {
    /// Creates a table of at most this many bytes, or a few kilobytes if that is more.
    pub(crate) fn within(bytes: u64) -> Self {
        // While it grows, the old table is there too.
        let most = bytes * 2 / 3 / std::mem::size_of::<Entry>() as u64;
        let max_entries = 1 << most.clamp(1 << 10, 1 << 34).ilog2();
        let n_entries = FIRST_ENTRIES.min(max_entries);
        Self { entries: vec![EMPTY; n_entries], n_used: 0, max_entries }
    }

    /// Returns what is known about a state.
    #[inline]
    pub(crate) fn find(&self, key: Fingerprint) -> Option<Entry> {
        let first = self.first(key.0);
        self.entries[first..first + BUCKET].iter().find(|entry| entry.is_for(key)).copied()
    }

    /// Adds bounds on a state to those that are known.
    pub(crate) fn store(
        &mut self,
        key: Fingerprint,
        (lower, upper): (u8, u8),
        best: u16,
        n_nodes: u64,
    ) {
        if self.n_used > self.entries.len() / 2 && self.entries.len() < self.max_entries {
            self.grow();
        }
        let work = n_nodes.max(1).ilog2() as u16;
        let best_and_work = best.min(NO_PLACE) << WORK_BITS | work;
        let first = self.first(key.0);
        let known = self.entries[first..first + BUCKET].iter_mut().find(|it| it.is_for(key));
        if let Some(entry) = known {
            entry.lower = entry.lower.max(lower);
            entry.upper = entry.upper.min(upper);
            entry.best_and_work = best.min(NO_PLACE) << WORK_BITS | work.max(entry.work());
            return;
        }
        self.put(Entry { check: key.0, more: key.1 as u32, lower, upper, best_and_work });
    }

    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.entries.len() - BUCKET)
    }

    fn put(&mut self, entry: Entry) {
        let first = self.first(entry.check);
        let bucket = &mut self.entries[first..first + BUCKET];
        let worth = |it: &&mut Entry| (!it.is_empty(), it.work());
        let place = bucket.iter_mut().min_by_key(worth).expect("a bucket has entries");
        self.n_used += usize::from(place.is_empty());
        *place = entry;
    }

    fn grow(&mut self) {
        let n_entries = 2 * self.entries.len();
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; n_entries]);
        self.n_used = 0;
        old.into_iter().filter(|entry| !entry.is_empty()).for_each(|entry| self.put(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_state_come_together() {
        let mut table = Transpositions::within(1 << 20);
        let key = Fingerprint::of(&[1_u64, 2]);
        assert_eq!(table.find(key), None);
        table.store(key, (0, 99), 3, 10);
        table.store(key, (50, 100), 4, 10);
        let entry = table.find(key).expect("it was stored");
        assert_eq!((entry.lower, entry.upper, entry.best()), (50, 99, 4));
        assert_eq!(table.find(Fingerprint::of(&[2_u64, 1])), None);
    }

    #[test]
    fn a_table_grows_without_loss() {
        let mut table = Transpositions::within(16 << 20);
        let keys: Vec<Fingerprint> = (0..40_000_u64).map(|state| Fingerprint::of(&state)).collect();
        for (idx, &key) in keys.iter().enumerate() {
            table.store(key, (0, (idx % 100) as u8), NO_PLACE, 1);
        }
        assert!(table.entries.len() > FIRST_ENTRIES);
        let found = |idx: &usize| {
            table.find(keys[*idx]).is_some_and(|entry| usize::from(entry.upper) == *idx % 100)
        };
        // A full bucket loses an entry now and then.
        assert!((0..keys.len()).filter(found).count() > 36_000);
    }

    #[test]
    fn more_work_stays() {
        let mut table = Transpositions::within(1);
        let keys: Vec<Fingerprint> =
            (0..100_000_u64).map(|state| Fingerprint::of(&state)).collect();
        table.store(keys[0], (1, 1), 0, 1 << 40);
        keys[1..].iter().for_each(|&key| table.store(key, (2, 2), 0, 1));
        assert_eq!(table.find(keys[0]).map(|entry| entry.lower), Some(1));
        assert!(keys.iter().filter(|&&key| table.find(key).is_some()).count() <= 1 << 10);
    }
}

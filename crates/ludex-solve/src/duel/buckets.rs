//! A table for what a search remembers of states: small buckets, and in a full one the entry with
//! the least work is replaced.

use super::transpositions::Fingerprint;

/// Entries that share a place.
const BUCKET: usize = 4;
/// Entries of a new table.
const FIRST_ENTRIES: usize = 1 << 12;

/// A table that grows up to a fixed size.
pub(crate) struct Buckets<T> {
    slots: Vec<Option<Slot<T>>>,
    n_used: usize,
    max_entries: usize,
}

#[derive(Clone, Copy)]
struct Slot<T> {
    key: Fingerprint,
    /// The logarithm of the nodes searched below the state.
    work: u8,
    entry: T,
}

impl<T: Copy> Buckets<T> {
    /// Creates a table of at most this many bytes, or of a few kilobytes if that is more.
    pub(crate) fn within(bytes: u64) -> Self {
        // While it grows, the old table is there too.
        let most = bytes * 2 / 3 / std::mem::size_of::<Option<Slot<T>>>() as u64;
        let max_entries = 1 << most.clamp(1 << 10, 1 << 34).ilog2();
        Self { slots: vec![None; FIRST_ENTRIES.min(max_entries)], n_used: 0, max_entries }
    }

    /// Returns what is stored about a state.
    pub(crate) fn find(&self, key: Fingerprint) -> Option<T> {
        let slots = &self.slots[self.bucket(key)];
        slots.iter().flatten().find(|slot| slot.key == key).map(|slot| slot.entry)
    }

    /// Stores something about a state, in place of what was known.
    pub(crate) fn store(&mut self, key: Fingerprint, entry: T, n_nodes: u64) {
        if self.n_used > self.slots.len() / 2 && self.slots.len() < self.max_entries {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![None; 2 * old.len()];
            self.n_used = 0;
            old.into_iter().flatten().for_each(|slot| self.put(slot));
        }
        self.put(Slot { key, work: n_nodes.max(1).ilog2() as u8, entry });
    }

    fn bucket(&self, key: Fingerprint) -> std::ops::Range<usize> {
        let first = key.place_of(self.slots.len() / BUCKET) * BUCKET;
        first..first + BUCKET
    }

    fn put(&mut self, new: Slot<T>) {
        let bucket = self.bucket(new.key);
        let worth = |place: &&mut Option<Slot<T>>| match place {
            Some(slot) if slot.key == new.key => (0, 0),
            None => (1, 0),
            Some(slot) => (2, slot.work),
        };
        let place = self.slots[bucket].iter_mut().min_by_key(worth).expect("a bucket has places");
        self.n_used += usize::from(place.is_none());
        *place = Some(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_counts_and_more_work_stays() {
        let mut table = Buckets::within(1);
        let keys: Vec<Fingerprint> = (0..20_000_u64).map(|state| Fingerprint::of(&state)).collect();
        table.store(keys[0], 1, 1 << 40);
        table.store(keys[0], 2, 1 << 40);
        keys[1..].iter().for_each(|&key| table.store(key, 3, 1));
        assert_eq!(table.find(keys[0]), Some(2));
        assert!(keys.iter().filter(|&&key| table.find(key).is_some()).count() <= 1 << 10);
    }

    #[test]
    fn a_table_grows() {
        let mut table = Buckets::within(16 << 20);
        let keys: Vec<Fingerprint> = (0..20_000_u64).map(|state| Fingerprint::of(&state)).collect();
        keys.iter().enumerate().for_each(|(idx, &key)| table.store(key, idx, 1));
        let is_found = |idx: &usize| table.find(keys[*idx]) == Some(*idx);
        // A full bucket loses an entry now and then.
        assert!((0..keys.len()).filter(is_found).count() > 18_000);
    }
}

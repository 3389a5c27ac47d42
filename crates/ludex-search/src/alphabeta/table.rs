//! The transposition table: a fixed array of buckets of two entries.
//!
//! The first entry of a bucket keeps the deepest search, the second the latest. Two states whose
//! keys agree in all 64 bits are taken to be the same.

use ludex_base::MoveId;

/// The search result of a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) goal: f32,
    /// Steps to the horizon, or [`Table::SOLVED`].
    pub(crate) depth: usize,
    pub(crate) bound: Bound,
    pub(crate) best: Option<MoveId>,
}

/// How the goal of an entry relates to the exact one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

impl Bound {
    /// Whether a goal with this bound settles a search between `alpha` and `beta`.
    pub(crate) fn decides(self, goal: f32, alpha: f32, beta: f32) -> bool {
        match self {
            Bound::Exact => true,
            Bound::AtLeast => goal >= beta,
            Bound::AtMost => goal <= alpha,
        }
    }
}

/// Entries packed into two words, the key and the rest. A key of 0 marks an empty entry.
pub(crate) struct Table {
    slots: Vec<[u64; 2]>,
}

/// The number that marks a missing move; larger move ids are not stored either.
const NO_MOVE: u64 = (1 << 22) - 1;

impl Table {
    /// The depth of an entry backed up from terminal states alone.
    pub(crate) const SOLVED: usize = 255;

    /// Creates a table of at most `n_bytes`, which may be 0. The system provides zeroed pages when
    /// they are first touched.
    pub(crate) fn new(n_bytes: usize) -> Self {
        let n_buckets = (n_bytes / size_of::<[[u64; 2]; 2]>()).max(1);
        let n_buckets =
            if n_buckets.is_power_of_two() { n_buckets } else { n_buckets.next_power_of_two() / 2 };
        Self { slots: vec![[0; 2]; n_buckets * 2] }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.slots.len() * size_of::<[u64; 2]>()
    }

    pub(crate) fn find(&self, key: u64) -> Option<Entry> {
        let key = key.max(1);
        let slot_idx = self.slot_idx(key)?;
        let slot = self.slots[slot_idx..slot_idx + 2].iter().find(|slot| slot[0] == key)?;
        Some(unpack(slot[1]))
    }

    pub(crate) fn store(&mut self, key: u64, entry: Entry) {
        let key = key.max(1);
        let Some(slot_idx) = self.slot_idx(key) else { return };
        let deep = self.slots[slot_idx];
        let is_deeper = deep[0] == 0 || deep[0] == key || entry.depth >= unpack(deep[1]).depth;
        self.slots[slot_idx + usize::from(!is_deeper)] = [key, pack(entry)];
    }

    /// Returns the first slot of the bucket of a key. The upper half of the product is uniform over
    /// the buckets.
    fn slot_idx(&self, key: u64) -> Option<usize> {
        let n_buckets = self.slots.len() / 2;
        let bucket = ((u128::from(key) * n_buckets as u128) >> 64) as usize;
        (n_buckets > 0).then_some(bucket * 2)
    }
}

fn pack(entry: Entry) -> u64 {
    let best = entry.best.map_or(NO_MOVE, |id| (id.index() as u64).min(NO_MOVE));
    u64::from(entry.goal.to_bits())
        | best << 32
        | (entry.depth as u64) << 54
        | (entry.bound as u64) << 62
}

fn unpack(word: u64) -> Entry {
    let best = word >> 32 & NO_MOVE;
    Entry {
        goal: f32::from_bits(word as u32),
        best: (best != NO_MOVE).then(|| MoveId::new(best as usize)),
        depth: (word >> 54 & 0xFF) as usize,
        bound: match word >> 62 {
            0 => Bound::Exact,
            1 => Bound::AtLeast,
            _ => Bound::AtMost,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_entries_are_found_unchanged() {
        let mut table = Table::new(1 << 12);
        let entry =
            Entry { goal: 33.3, depth: 7, bound: Bound::AtMost, best: Some(MoveId::new(1234)) };
        table.store(99, entry);
        assert_eq!(table.find(99), Some(entry));
        assert_eq!(table.find(98), None);
    }

    #[test]
    fn a_solved_entry_outlives_shallow_ones() {
        let mut table = Table::new(32);
        let entry = |depth| Entry { goal: 1.0, depth, bound: Bound::Exact, best: None };
        table.store(2, entry(Table::SOLVED));
        for key in 3..20 {
            table.store(key, entry(1));
        }
        assert_eq!(table.find(2), Some(entry(Table::SOLVED)));
        assert_eq!(table.find(19), Some(entry(1)));
        assert_eq!(table.find(18), None);
    }
}

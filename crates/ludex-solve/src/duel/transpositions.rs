//! What alpha-beta remembers of the states it has searched: bounds, and the best move. Several
//! threads share it.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering::Relaxed};

use ludex_base::Goal;
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

    /// Returns a place in a table of this many places, a power of two.
    pub(crate) fn place_of(self, n_places: usize) -> usize {
        self.0 as usize & (n_places - 1)
    }

    /// Returns true for one in `n` states, as if drawn at random.
    pub(crate) fn is_one_of(self, n: u64) -> bool {
        (self.1 >> 32).is_multiple_of(n)
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
    /// Half of the second hash value.
    more: u32,
    /// The role can force this goal.
    pub(crate) lower: u8,
    /// The role can force no more than this.
    pub(crate) upper: u8,
    /// The place of the move that decided last, or [`NO_PLACE`].
    pub(crate) best: u16,
    /// The logarithm of the nodes searched below the state, plus one.
    work: u8,
}

/// The work of an entry has this many bits.
const WORK_BITS: u32 = 6;
/// The place of the best move if there is none, or if it is not kept because it is too large.
pub(crate) const NO_PLACE: u16 = u16::MAX >> WORK_BITS;

impl Entry {
    /// Returns the entry in one word. It is not 0, because work is not.
    fn packed(self) -> u64 {
        let best_and_work = self.best.min(NO_PLACE) << WORK_BITS | u16::from(self.work);
        u64::from(self.more) << 32
            | u64::from(self.lower) << 24
            | u64::from(self.upper) << 16
            | u64::from(best_and_work)
    }

    fn unpacked(word: u64) -> Self {
        let best_and_work = word as u16;
        Self {
            more: (word >> 32) as u32,
            lower: (word >> 24) as u8,
            upper: (word >> 16) as u8,
            best: best_and_work >> WORK_BITS,
            work: (best_and_work & ((1 << WORK_BITS) - 1)) as u8,
        }
    }
}

/// A place for an entry, which threads read and write without a lock.
///
/// The first word is the first hash value, combined with the second word by exclusive or. So if two
/// threads write at the same time and one word of each stays, the place belongs to no state.
/// After Hyatt and Mann, *A lock-less transposition table implementation for parallel search*, 2002.
#[derive(Default)]
struct Place {
    check: AtomicU64,
    /// The entry, 0 if there is none.
    entry: AtomicU64,
}

impl Place {
    /// Returns the entry and the first hash value of its state.
    #[inline]
    fn read(&self) -> Option<(u64, Entry)> {
        let word = self.entry.load(Relaxed);
        (word != 0).then(|| (self.check.load(Relaxed) ^ word, Entry::unpacked(word)))
    }

    #[inline]
    fn read_for(&self, key: Fingerprint) -> Option<Entry> {
        let (check, entry) = self.read()?;
        (check == key.0 && entry.more == key.1 as u32).then_some(entry)
    }

    fn write(&self, check: u64, entry: Entry) {
        let word = entry.packed();
        self.check.store(check ^ word, Relaxed);
        self.entry.store(word, Relaxed);
    }
}

/// Entries that share a place.
const BUCKET: usize = 4;
/// Entries of a new table.
const FIRST_ENTRIES: usize = 1 << 14;

/// A table that grows up to a fixed size. Then a new entry replaces the one of its bucket with the
/// least work.
pub(crate) struct Transpositions {
    places: Box<[Place]>,
    n_used: AtomicUsize,
    max_entries: usize,
    sums: Sums,
}

/// The sum of the goals of two roles in all terminal states that were met.
#[derive(Default)]
pub(crate) struct Sums(AtomicU16);

impl Sums {
    const DIFFERENT: u16 = u16::MAX;

    /// Notes a terminal state.
    pub(crate) fn note(&self, one: Goal, two: Goal) {
        let sum = u16::from(one.value()) + u16::from(two.value()) + 1;
        let known = self.0.load(Relaxed);
        if known != sum && known != Self::DIFFERENT {
            let first = self.0.compare_exchange(0, sum, Relaxed, Relaxed);
            if first.is_err_and(|other| other != sum) {
                self.0.store(Self::DIFFERENT, Relaxed);
            }
        }
    }

    /// Returns the sum, if all states had the same.
    pub(crate) fn only(&self) -> Option<u8> {
        match self.0.load(Relaxed) {
            0 | Self::DIFFERENT => None,
            sum => u8::try_from(sum - 1).ok(),
        }
    }
}

impl Transpositions {
    /// Creates a table of at most this many bytes, or a few kilobytes if that is more.
    pub(crate) fn within(bytes: u64) -> Self {
        // While it grows, the old table is there too.
        let most = bytes * 2 / 3 / std::mem::size_of::<Place>() as u64;
        let max_entries = 1 << most.clamp(1 << 10, 1 << 34).ilog2();
        let n_entries = FIRST_ENTRIES.min(max_entries);
        Self {
            places: empty(n_entries),
            n_used: AtomicUsize::new(0),
            max_entries,
            sums: Sums::default(),
        }
    }

    /// Returns what is known about a state.
    #[inline]
    pub(crate) fn find(&self, key: Fingerprint) -> Option<Entry> {
        self.bucket(key.0).iter().find_map(|place| place.read_for(key))
    }

    /// Adds bounds on a state to those that are known.
    pub(crate) fn store(
        &self,
        key: Fingerprint,
        (lower, upper): (u8, u8),
        best: u16,
        n_nodes: u64,
    ) {
        let work = (n_nodes.max(1).ilog2() as u8 + 1).min((1 << WORK_BITS) - 1);
        let mut entry = Entry { more: key.1 as u32, lower, upper, best, work };
        let known = self.bucket(key.0).iter().find_map(|it| Some((it, it.read_for(key)?)));
        if let Some((place, known)) = known {
            entry.lower = lower.max(known.lower);
            entry.upper = upper.min(known.upper);
            entry.work = work.max(known.work);
            place.write(key.0, entry);
        } else {
            self.put(key.0, entry);
        }
    }

    /// Returns the sums of the goals in the terminal states that its bounds rest on.
    pub(crate) fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Returns whether so many places are used that it should grow, if it may.
    pub(crate) fn is_tight(&self) -> bool {
        self.n_used.load(Relaxed) > self.places.len() / 2 && !self.is_largest()
    }

    /// Returns whether it has the size that it may have at most.
    pub(crate) fn is_largest(&self) -> bool {
        self.places.len() == self.max_entries
    }

    /// Takes twice as many entries, at most as many as it may.
    pub(crate) fn grow(&mut self) {
        let n_entries = (2 * self.places.len()).min(self.max_entries);
        let old = std::mem::replace(&mut self.places, empty(n_entries));
        self.n_used = AtomicUsize::new(0);
        old.iter().filter_map(Place::read).for_each(|(check, entry)| self.put(check, entry));
    }

    fn bucket(&self, hash: u64) -> &[Place] {
        let first = hash as usize & (self.places.len() - BUCKET);
        &self.places[first..first + BUCKET]
    }

    fn put(&self, check: u64, entry: Entry) {
        let worth = |place: &&Place| place.read().map_or(0, |(_, entry)| entry.work);
        let place = self.bucket(check).iter().min_by_key(worth).expect("a bucket has places");
        if place.read().is_none() {
            self.n_used.fetch_add(1, Relaxed);
        }
        place.write(check, entry);
    }
}

fn empty(n_entries: usize) -> Box<[Place]> {
    std::iter::repeat_with(Place::default).take(n_entries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_state_come_together() {
        let table = Transpositions::within(1 << 20);
        let key = Fingerprint::of(&[1_u64, 2]);
        assert_eq!(table.find(key), None);
        table.store(key, (0, 99), 3, 10);
        table.store(key, (50, 100), 4, 10);
        let entry = table.find(key).expect("it was stored");
        assert_eq!((entry.lower, entry.upper, entry.best), (50, 99, 4));
        assert_eq!(table.find(Fingerprint::of(&[2_u64, 1])), None);
    }

    #[test]
    fn words_of_two_writers_belong_to_no_state() {
        let table = Transpositions::within(1 << 20);
        let (one, two) = (Fingerprint(8, 1), Fingerprint(1 << 40 | 8, 2));
        table.store(one, (1, 1), 1, 1);
        let torn = table.bucket(8).iter().find(|it| it.read().is_some()).expect("it was stored");
        let other = Place::default();
        other.write(two.0, Entry { more: 2, lower: 2, upper: 2, best: 2, work: 1 });
        torn.entry.store(other.entry.load(Relaxed), Relaxed);
        assert_eq!((table.find(one), table.find(two)), (None, None));
    }

    #[test]
    fn sums_are_one_or_none() {
        let goal = |value| Goal::new(value).expect("a goal");
        let sums = Sums::default();
        assert_eq!(sums.only(), None);
        sums.note(goal(50), goal(50));
        sums.note(goal(0), goal(100));
        assert_eq!(sums.only(), Some(100));
        sums.note(goal(0), goal(0));
        sums.note(goal(50), goal(50));
        assert_eq!(sums.only(), None);
    }

    #[test]
    fn a_table_grows_without_loss() {
        let mut table = Transpositions::within(16 << 20);
        let keys: Vec<Fingerprint> = (0..40_000_u64).map(|state| Fingerprint::of(&state)).collect();
        for (idx, &key) in keys.iter().enumerate() {
            table.store(key, (0, (idx % 100) as u8), NO_PLACE, 1);
            if table.is_tight() {
                table.grow();
            }
        }
        assert!(table.places.len() > FIRST_ENTRIES);
        let found = |idx: &usize| {
            table.find(keys[*idx]).is_some_and(|entry| usize::from(entry.upper) == *idx % 100)
        };
        // A full bucket loses an entry now and then.
        assert!((0..keys.len()).filter(found).count() > 36_000);
    }

    #[test]
    fn more_work_stays() {
        let table = Transpositions::within(1);
        let keys: Vec<Fingerprint> =
            (0..100_000_u64).map(|state| Fingerprint::of(&state)).collect();
        table.store(keys[0], (1, 1), 0, 1 << 40);
        keys[1..].iter().for_each(|&key| table.store(key, (2, 2), 0, 1));
        assert_eq!(table.find(keys[0]).map(|entry| entry.lower), Some(1));
        assert!(keys.iter().filter(|&&key| table.find(key).is_some()).count() <= 1 << 10);
    }
}

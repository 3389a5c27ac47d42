//! Domains of variables, pruned and restored.
//!
//! Every value of a variable has an *index*, its position in the initial domain. A domain is
//! one of
//!
//! - a **bit set** over indexes, for domains of up to 2^16 consecutive values, and for lists of
//!   values with gaps, whose indexes are looked up in the sorted list;
//! - a **range** with a list of holes, for everything wider.
//!
//! Bounds and size are stored separately, so reading them costs one access. All of it lives in
//! the [`Trail`](crate::trail), so undoing a level restores the domains.
//!
//! Invariant: bounds are in the domain, `size` counts its values, and bits outside it are zero
//! (unless the last operation was a [`Conflict`], after which the caller must pop a level).

mod cells;
mod prune;

use std::sync::Arc;

pub use cells::{Cell, Cells};

use crate::trail::Trail;
use crate::{Value, ValueSet};

ludex_base::define_id! {
    /// A variable of a network.
    pub struct VarId;
}

/// A domain lost its last value, or a constraint can no longer be satisfied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict;

/// Changes of a domain; a set of the constants below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Events(u8);

impl Events {
    /// The least value was removed.
    pub const LOWER: Events = Events(1);
    /// The greatest value was removed.
    pub const UPPER: Events = Events(2);
    /// Either bound moved.
    pub const BOUNDS: Events = Events(3);
    /// One value is left.
    pub const FIXED: Events = Events(4);
    /// Some value was removed.
    pub const ANY: Events = Events(8);

    /// Whether the sets share an event.
    #[inline]
    pub fn intersects(self, other: Events) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the events of both sets.
    #[inline]
    pub fn union(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }
}

/// Largest number of consecutive values stored as bits.
const MAX_BITS: u64 = 1 << 16;
/// Largest number of values with gaps stored as bits over a sorted list.
const MAX_LISTED: u64 = 1 << 20;

#[derive(Clone, Debug)]
enum Kind {
    /// Bits; the value of index `i` is `base + i`.
    Bits,
    /// Bits over a sorted list of values.
    Listed(Arc<[Value]>),
    /// Bounds and holes; the number selects the list of holes.
    Range(u32),
}

#[derive(Clone, Debug)]
struct Variable {
    base: Value,
    n_indexes: u32,
    /// First word: bounds as indexes, then the size, then the bits.
    at: u32,
    kind: Kind,
}

/// The domains of all variables, with their undo log.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    trail: Trail,
    variables: Vec<Variable>,
    /// Ascending indexes that are missing inside the bounds of a wide variable; indexes outside
    /// the current bounds may remain in the list.
    holes: Vec<Vec<u32>>,
    hole_log: Vec<(u32, u32)>,
    hole_marks: Vec<u32>,
    events: Vec<u8>,
    changed: Vec<VarId>,
    conflict_var: Option<VarId>,
}

impl Domains {
    /// Adds a variable.
    ///
    /// Returns `None` when the domain is empty, or when it has no representation because it is
    /// wide and has gaps (more than 2^20 values in more than one range).
    pub fn add(&mut self, set: &ValueSet) -> Option<VarId> {
        let (lo, hi) = (set.min()?, set.max()?);
        let span = (i64::from(hi) - i64::from(lo) + 1) as u64;
        let (kind, n_indexes, n_bits) = if span <= MAX_BITS {
            (Kind::Bits, span, span)
        } else if set.ranges().len() == 1 {
            self.holes.push(Vec::new());
            (Kind::Range(self.holes.len() as u32 - 1), span, 0)
        } else if set.len() <= MAX_LISTED {
            (Kind::Listed(set.iter().collect()), set.len(), set.len())
        } else {
            return None;
        };
        let at = self.trail.allocate(2 + n_bits.div_ceil(64) as usize, 0);
        self.trail.set(at, pack(0, (n_indexes - 1) as u32));
        self.trail.set(at + 1, set.len());
        let is_listed = matches!(kind, Kind::Listed(_));
        if n_bits > 0 {
            let ranges = if is_listed { &[(0, n_indexes as Value - 1)][..] } else { set.ranges() };
            let base = if is_listed { 0 } else { lo };
            for &(from, to) in ranges {
                for index in (from - base) as usize..=(to - base) as usize {
                    let word = self.trail.get(at + 2 + index / 64);
                    self.trail.set(at + 2 + index / 64, word | 1 << (index % 64));
                }
            }
        }
        self.variables.push(Variable {
            base: lo,
            n_indexes: n_indexes as u32,
            at: at as u32,
            kind,
        });
        self.events.push(0);
        Some(VarId::new(self.variables.len() - 1))
    }

    /// Returns an estimate of the size in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.trail.n_bytes() + size_of_val(&self.variables[..])
    }

    /// Returns the number of variables.
    pub fn n_variables(&self) -> usize {
        self.variables.len()
    }

    /// Iterates over all variables.
    pub fn variables(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId::new)
    }

    #[inline]
    fn bounds(&self, x: VarId) -> (u32, u32) {
        unpack(self.trail.get(self.variables[x.index()].at as usize))
    }

    /// Returns the least value of `x`.
    #[inline]
    pub fn min(&self, x: VarId) -> Value {
        self.value_at(x, self.bounds(x).0)
    }

    /// Returns the greatest value of `x`.
    #[inline]
    pub fn max(&self, x: VarId) -> Value {
        self.value_at(x, self.bounds(x).1)
    }

    /// Returns the least and the greatest index of the values of `x`.
    #[inline]
    pub fn index_bounds(&self, x: VarId) -> (u32, u32) {
        self.bounds(x)
    }

    /// Returns the number of values of `x`.
    #[inline]
    pub fn size(&self, x: VarId) -> u64 {
        self.trail.get(self.variables[x.index()].at as usize + 1)
    }

    /// Whether `x` has one value left.
    #[inline]
    pub fn is_fixed(&self, x: VarId) -> bool {
        let (lo, hi) = self.bounds(x);
        lo == hi
    }

    /// Returns the value of `x` if only one is left.
    #[inline]
    pub fn fixed_value(&self, x: VarId) -> Option<Value> {
        let (lo, hi) = self.bounds(x);
        (lo == hi).then(|| self.value_at(x, lo))
    }

    /// Returns the number of indexes of `x`: its initial values, and for a bit set also the
    /// gaps between them.
    #[inline]
    pub fn n_indexes(&self, x: VarId) -> usize {
        self.variables[x.index()].n_indexes as usize
    }

    /// Returns the value with this index.
    #[inline]
    pub fn value_at(&self, x: VarId, index: u32) -> Value {
        let variable = &self.variables[x.index()];
        match &variable.kind {
            Kind::Listed(values) => values[index as usize],
            _ => (i64::from(variable.base) + i64::from(index)) as Value,
        }
    }

    /// Returns the index of an initial value, also after the value was removed.
    #[inline]
    pub fn index_of(&self, x: VarId, value: Value) -> Option<u32> {
        let variable = &self.variables[x.index()];
        match &variable.kind {
            Kind::Listed(values) => values.binary_search(&value).ok().map(|index| index as u32),
            _ => {
                let index = i64::from(value) - i64::from(variable.base);
                (0..i64::from(variable.n_indexes)).contains(&index).then_some(index as u32)
            }
        }
    }

    /// Whether `value` is in the domain of `x`.
    #[inline]
    pub fn contains(&self, x: VarId, value: Value) -> bool {
        self.index_of(x, value).is_some_and(|index| self.contains_index(x, index))
    }

    /// Whether the value with this index is in the domain of `x`.
    #[inline]
    pub fn contains_index(&self, x: VarId, index: u32) -> bool {
        let variable = &self.variables[x.index()];
        if let Kind::Range(holes) = variable.kind {
            let (lo, hi) = self.bounds(x);
            return lo <= index
                && index <= hi
                && self.holes[holes as usize].binary_search(&index).is_err();
        }
        let word = self.trail.get(variable.at as usize + 2 + index as usize / 64);
        word >> (index % 64) & 1 != 0
    }

    /// Returns the bits of the domain by index, unless the domain is a wide range.
    #[inline]
    pub fn bits(&self, x: VarId) -> Option<&[u64]> {
        let variable = &self.variables[x.index()];
        let n_words = (variable.n_indexes as usize).div_ceil(64);
        match variable.kind {
            Kind::Range(_) => None,
            _ => Some(self.trail.slice(variable.at as usize + 2, n_words)),
        }
    }

    /// Iterates over the indexes of the values of `x`, ascending.
    pub fn indexes(&self, x: VarId) -> impl Iterator<Item = u32> + '_ {
        let mut next = Some(self.bounds(x).0);
        std::iter::from_fn(move || {
            let index = next?;
            next = index.checked_add(1).and_then(|from| self.next_index(x, from));
            Some(index)
        })
    }

    /// Iterates over the values of `x`, ascending.
    pub fn values(&self, x: VarId) -> impl Iterator<Item = Value> + '_ {
        self.indexes(x).map(move |index| self.value_at(x, index))
    }

    /// Returns the domain of `x` as a set.
    pub fn value_set(&self, x: VarId) -> ValueSet {
        if let Kind::Range(holes) = self.variables[x.index()].kind {
            let (lo, hi) = (self.min(x), self.max(x));
            let mut ranges = Vec::new();
            let mut from = i64::from(lo);
            for &hole in &self.holes[holes as usize] {
                let hole = i64::from(self.value_at(x, hole));
                if (from..=i64::from(hi)).contains(&hole) {
                    ranges.push((from as Value, hole as Value - 1));
                    from = hole + 1;
                }
            }
            ranges.push((from as Value, hi));
            return ValueSet::from_ranges(ranges);
        }
        self.values(x).collect()
    }

    /// Returns the least index in the domain that is at least `from`.
    #[inline]
    pub fn next_index(&self, x: VarId, from: u32) -> Option<u32> {
        let (lo, hi) = self.bounds(x);
        if from > hi {
            return None;
        }
        let mut index = from.max(lo);
        let variable = &self.variables[x.index()];
        if let Kind::Range(holes) = variable.kind {
            let holes = &self.holes[holes as usize];
            let mut at = holes.partition_point(|&hole| hole < index);
            while holes.get(at) == Some(&index) {
                index += 1;
                at += 1;
            }
            return Some(index);
        }
        let bits = variable.at as usize + 2;
        let mut word_idx = index as usize / 64;
        let mut word = self.trail.get(bits + word_idx) & (!0 << (index % 64));
        while word == 0 {
            word_idx += 1;
            word = self.trail.get(bits + word_idx);
        }
        Some(word_idx as u32 * 64 + word.trailing_zeros())
    }

    /// Returns the greatest index in the domain that is at most `from`.
    #[inline]
    pub fn previous_index(&self, x: VarId, from: u32) -> Option<u32> {
        let (lo, hi) = self.bounds(x);
        if from < lo {
            return None;
        }
        let mut index = from.min(hi);
        let variable = &self.variables[x.index()];
        if let Kind::Range(holes) = variable.kind {
            let holes = &self.holes[holes as usize];
            let mut at = holes.partition_point(|&hole| hole <= index);
            while at > 0 && holes[at - 1] == index {
                index -= 1;
                at -= 1;
            }
            return Some(index);
        }
        let bits = variable.at as usize + 2;
        let mut word_idx = index as usize / 64;
        let mut word = self.trail.get(bits + word_idx) & (!0 >> (63 - index % 64));
        while word == 0 {
            word_idx -= 1;
            word = self.trail.get(bits + word_idx);
        }
        Some(word_idx as u32 * 64 + 63 - word.leading_zeros())
    }

    /// Returns the variable whose domain would have become empty at the last conflict.
    pub fn conflict_var(&self) -> Option<VarId> {
        self.conflict_var
    }

    pub(crate) fn forget_conflict(&mut self) {
        self.conflict_var = None;
    }

    /// Returns the number of open levels.
    pub fn level(&self) -> usize {
        self.trail.depth()
    }

    /// Opens a level: [`Domains::pop_level`] undoes all later changes.
    pub fn push_level(&mut self) {
        self.trail.push();
        self.hole_marks.push(self.hole_log.len() as u32);
    }

    /// Undoes everything since the last [`Domains::push_level`].
    ///
    /// # Panics
    /// When no level is open.
    pub fn pop_level(&mut self) {
        self.trail.pop();
        let mark = self.hole_marks.pop().expect("both trails have the same levels") as usize;
        for (holes, index) in self.hole_log.drain(mark..) {
            let list = &mut self.holes[holes as usize];
            let place = list.binary_search(&index).expect("a logged hole is in its list");
            list.remove(place);
        }
        self.clear_events();
    }

    /// Runs `attempt` and undoes its changes: the domains and the pending events stay as they
    /// are.
    pub fn probe<T>(&mut self, attempt: impl FnOnce(&mut Domains) -> T) -> T {
        let pending: Vec<(VarId, u8)> = self
            .changed
            .drain(..)
            .map(|x| (x, std::mem::take(&mut self.events[x.index()])))
            .collect();
        self.push_level();
        let result = attempt(self);
        self.pop_level();
        for (x, events) in pending {
            self.changed.push(x);
            self.events[x.index()] = events;
        }
        result
    }

    pub(crate) fn clear_events(&mut self) {
        for x in self.changed.drain(..) {
            self.events[x.index()] = 0;
        }
    }

    /// Removes and returns one changed variable with its events.
    #[inline]
    pub(crate) fn take_change(&mut self) -> Option<(VarId, Events)> {
        let x = self.changed.pop()?;
        Some((x, Events(std::mem::take(&mut self.events[x.index()]))))
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }
}

#[inline]
fn pack(lo: u32, hi: u32) -> u64 {
    u64::from(lo) | u64::from(hi) << 32
}

#[inline]
fn unpack(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ludex_base::Seed;

    use super::*;

    /// Compares random operations on one domain, with undo, with those on a plain set.
    fn check_against_sets(set: ValueSet, seed: u64) {
        let mut domains = Domains::default();
        let x = domains.add(&set).expect("the set can be represented");
        let pool: Vec<Value> = set
            .ranges()
            .iter()
            .flat_map(|&(lo, hi)| [lo, lo + 1, hi])
            .chain(set.iter().take(40))
            .collect();
        let mut rng = Seed(seed).rng();
        // A wide domain is modeled by its bounds and the values removed so far.
        let mut states = vec![(set.min().unwrap(), set.max().unwrap(), BTreeSet::new())];
        let in_state = |state: &(Value, Value, BTreeSet<Value>), v: Value| {
            state.0 <= v && v <= state.1 && set.contains(v) && !state.2.contains(&v)
        };
        for _ in 0..4000 {
            let value = *rng.choose(&pool).unwrap() + rng.below(3) as Value - 1;
            let mut state = states.last().unwrap().clone();
            let operation = rng.below(6);
            let result = match operation {
                0 | 1 => {
                    state.2.insert(value);
                    domains.remove(x, value)
                }
                2 => {
                    state.0 = state.0.max(value);
                    domains.at_least(x, value)
                }
                3 => {
                    state.1 = state.1.min(value);
                    domains.at_most(x, value)
                }
                4 => {
                    domains.push_level();
                    states.push(state);
                    continue;
                }
                _ => {
                    if states.len() > 1 {
                        domains.pop_level();
                        states.pop();
                    }
                    continue;
                }
            };
            let is_left = set.iter().take(3000).any(|v| in_state(&state, v))
                || set.iter().rev_take(3000).into_iter().any(|v| in_state(&state, v));
            assert_eq!(result.is_ok(), is_left, "{operation} {value}");
            if result.is_ok() {
                *states.last_mut().unwrap() = state;
            } else if states.len() > 1 {
                domains.pop_level();
                states.pop();
            }
            let state = states.last().unwrap();
            for &v in &pool {
                assert_eq!(domains.contains(x, v), in_state(state, v), "{v}");
            }
            assert!(in_state(state, domains.min(x)) && in_state(state, domains.max(x)));
            let expected = set.iter().filter(|&v| in_state(state, v)).count() as u64;
            if set.len() < 10_000 {
                assert_eq!(domains.size(x), expected);
                assert_eq!(domains.values(x).count() as u64, expected);
            }
            assert_eq!(domains.value_set(x).len(), domains.size(x));
        }
    }

    trait RevTake {
        fn rev_take(self, n: usize) -> Vec<Value>;
    }

    impl<I: Iterator<Item = Value>> RevTake for I {
        fn rev_take(self, n: usize) -> Vec<Value> {
            let all: Vec<Value> = self.collect();
            all.into_iter().rev().take(n).collect()
        }
    }

    #[test]
    fn bit_sets_behave_as_sets() {
        for seed in 0..20 {
            check_against_sets(ValueSet::from(-3..=200), seed);
            check_against_sets(ValueSet::from_ranges([(0, 0), (5, 70), (190, 200)]), seed);
        }
    }

    #[test]
    fn listed_domains_behave_as_sets() {
        for seed in 0..20 {
            check_against_sets((0..150).map(|i| i * i * 50 - 1000).collect(), seed);
        }
    }

    #[test]
    fn ranges_with_holes_behave_as_sets() {
        for seed in 0..3 {
            check_against_sets(ValueSet::from(-10..=66_000), seed);
        }
    }

    #[test]
    fn a_range_of_four_billion_values_takes_no_room() {
        let mut domains = Domains::default();
        let x = domains.add(&ValueSet::from(-2_000_000_000..=2_000_000_000)).unwrap();
        assert_eq!(domains.size(x), 4_000_000_001);
        domains.remove(x, 0).unwrap();
        domains.at_least(x, 0).unwrap();
        assert_eq!((domains.min(x), domains.size(x)), (1, 2_000_000_000));
    }

    #[test]
    fn events_tell_bounds_from_holes() {
        let mut domains = Domains::default();
        let x = domains.add(&ValueSet::from(1..=5)).unwrap();
        domains.remove(x, 3).unwrap();
        assert_eq!(domains.take_change(), Some((x, Events::ANY)));
        domains.at_least(x, 4).unwrap();
        domains.remove(x, 5).unwrap();
        let (_, events) = domains.take_change().unwrap();
        assert!(events.intersects(Events::FIXED) && events.intersects(Events::LOWER));
        assert_eq!(domains.remove(x, 4), Err(Conflict));
        assert_eq!(domains.conflict_var(), Some(x));
    }
}

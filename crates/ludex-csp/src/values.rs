//! Sets of integers as a modeler writes them, as ranges and lists.

use std::fmt;
use std::ops::{Range, RangeInclusive};

/// A value of a variable.
pub type Value = i32;

/// Values lie between `-VALUE_LIMIT` and `VALUE_LIMIT`, so that differences fit in 32 bits.
pub const VALUE_LIMIT: Value = 2_000_000_000;

/// A finite set of values: ascending ranges with gaps between them.
///
/// ```
/// use ludex_csp::ValueSet;
/// let set = ValueSet::from_ranges([(7, 9), (1, 3), (4, 5)]);
/// assert_eq!(set.to_string(), "1..5 7..9");
/// assert_eq!(set.len(), 8);
/// assert!(set.contains(8) && !set.contains(6));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ValueSet {
    ranges: Vec<(Value, Value)>,
}

impl ValueSet {
    /// Creates the set of these ranges, ends included; a range with crossed ends is empty.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|&(lo, hi)| lo <= hi).collect();
        ranges.sort_unstable();
        let mut merged: Vec<(Value, Value)> = Vec::with_capacity(ranges.len());
        for (lo, hi) in ranges {
            match merged.last_mut() {
                Some(last) if i64::from(lo) <= i64::from(last.1) + 1 => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Self { ranges: merged }
    }

    /// Returns the ranges, ascending, ends included.
    pub fn ranges(&self) -> &[(Value, Value)] {
        &self.ranges
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of values.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|&(lo, hi)| (i64::from(hi) - i64::from(lo) + 1) as u64).sum()
    }

    /// Returns the least value.
    pub fn min(&self) -> Option<Value> {
        self.ranges.first().map(|range| range.0)
    }

    /// Returns the greatest value.
    pub fn max(&self) -> Option<Value> {
        self.ranges.last().map(|range| range.1)
    }

    /// Whether `value` is in the set.
    pub fn contains(&self, value: Value) -> bool {
        let after = self.ranges.partition_point(|range| range.0 <= value);
        after > 0 && value <= self.ranges[after - 1].1
    }

    /// Iterates over the values, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        self.ranges.iter().flat_map(|&(lo, hi)| lo..=hi)
    }

    /// Returns the values in both sets.
    pub fn intersection(&self, other: &ValueSet) -> ValueSet {
        let mut ranges = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < self.ranges.len() && j < other.ranges.len() {
            let (a, b) = (self.ranges[i], other.ranges[j]);
            if a.0.max(b.0) <= a.1.min(b.1) {
                ranges.push((a.0.max(b.0), a.1.min(b.1)));
            }
            if a.1 < b.1 { i += 1 } else { j += 1 }
        }
        Self { ranges }
    }

    /// Returns the 32-bit values that are not in this set.
    pub fn complement(&self) -> ValueSet {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut from = i64::from(Value::MIN);
        for &(lo, hi) in &self.ranges {
            if from < i64::from(lo) {
                ranges.push((from as Value, lo - 1));
            }
            from = i64::from(hi) + 1;
        }
        if from <= i64::from(Value::MAX) {
            ranges.push((from as Value, Value::MAX));
        }
        Self { ranges }
    }

    /// Returns the values of this set that `keep` accepts.
    pub fn filter(&self, mut keep: impl FnMut(Value) -> bool) -> ValueSet {
        self.iter().filter(|&value| keep(value)).collect()
    }
}

impl FromIterator<Value> for ValueSet {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self::from_ranges(values.into_iter().map(|value| (value, value)))
    }
}

impl From<RangeInclusive<Value>> for ValueSet {
    fn from(range: RangeInclusive<Value>) -> Self {
        Self::from_ranges([(*range.start(), *range.end())])
    }
}

impl From<Range<Value>> for ValueSet {
    fn from(range: Range<Value>) -> Self {
        if range.is_empty() {
            Self::default()
        } else {
            Self::from_ranges([(range.start, range.end - 1)])
        }
    }
}

impl<const N: usize> From<[Value; N]> for ValueSet {
    fn from(values: [Value; N]) -> Self {
        values.into_iter().collect()
    }
}

impl From<&[Value]> for ValueSet {
    fn from(values: &[Value]) -> Self {
        values.iter().copied().collect()
    }
}

impl From<Vec<Value>> for ValueSet {
    fn from(values: Vec<Value>) -> Self {
        values.into_iter().collect()
    }
}

impl fmt::Display for ValueSet {
    /// Writes the set as XCSP3 writes domains: `0 2..5 9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &(lo, hi)) in self.ranges.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            if lo == hi {
                write!(f, "{space}{lo}")?;
            } else {
                write!(f, "{space}{lo}..{hi}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intersections_keep_the_gaps_of_both() {
        let a = ValueSet::from_ranges([(0, 10), (20, 30)]);
        let b = ValueSet::from_ranges([(5, 22), (25, 25), (29, 40)]);
        assert_eq!(a.intersection(&b).to_string(), "5..10 20..22 25 29..30");
        assert!(a.intersection(&ValueSet::default()).is_empty());
        assert_eq!(a.complement().intersection(&(-2..=22).into()).to_string(), "-2..-1 11..19");
        assert_eq!(a.complement().complement(), a);
        assert_eq!(ValueSet::default().complement().complement(), ValueSet::default());
    }

    #[test]
    fn ranges_at_the_ends_of_the_integers_do_not_overflow() {
        let all = ValueSet::from_ranges([(Value::MIN, -1), (0, Value::MAX)]);
        assert_eq!(all.len(), 1 << 32);
        assert_eq!(all.ranges().len(), 1);
    }
}

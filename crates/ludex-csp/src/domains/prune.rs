//! Removing values from domains.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Conflict, Domains, Events, Kind, VarId, pack};
use crate::Value;

impl Domains {
    /// Makes `value` the only value of `x`; returns whether the domain changed.
    ///
    /// # Errors
    /// [`Conflict`] when the value is not in the domain.
    #[inline]
    pub fn fix(&mut self, x: VarId, value: Value) -> Result<bool, Conflict> {
        match self.index_of(x, value) {
            Some(index) => self.fix_index(x, index),
            None => self.fail(x),
        }
    }

    /// Makes the value with this index the only one of `x`; returns whether the domain changed.
    ///
    /// # Errors
    /// [`Conflict`] when the value is not in the domain.
    #[inline]
    pub fn fix_index(&mut self, x: VarId, index: u32) -> Result<bool, Conflict> {
        if !self.contains_index(x, index) {
            return self.fail(x);
        }
        let (lo, hi) = self.bounds(x);
        if lo == hi {
            return Ok(false);
        }
        let variable = &self.variables[x.index()];
        let at = variable.at as usize;
        if !matches!(variable.kind, Kind::Range(_)) {
            for word_idx in lo as usize / 64..=hi as usize / 64 {
                if self.trail.get(at + 2 + word_idx) != 0 {
                    self.trail.set(at + 2 + word_idx, 0);
                }
            }
            self.trail.set(at + 2 + index as usize / 64, 1 << (index % 64));
        }
        self.update(x, at, (lo, hi), (index, index), 1);
        Ok(true)
    }

    /// Removes `value` from `x`; returns whether it was in the domain.
    ///
    /// # Errors
    /// [`Conflict`] when it was the last value.
    #[inline]
    pub fn remove(&mut self, x: VarId, value: Value) -> Result<bool, Conflict> {
        match self.index_of(x, value) {
            Some(index) => self.remove_index(x, index),
            None => Ok(false),
        }
    }

    /// Removes the value with this index from `x`; returns whether it was in the domain.
    ///
    /// # Errors
    /// [`Conflict`] when it was the last value.
    #[inline]
    pub fn remove_index(&mut self, x: VarId, index: u32) -> Result<bool, Conflict> {
        if !self.contains_index(x, index) {
            return Ok(false);
        }
        let (lo, hi) = self.bounds(x);
        if lo == hi {
            return self.fail(x);
        }
        if index == lo {
            return self.at_least_index(x, index + 1);
        }
        if index == hi {
            return self.at_most_index(x, index - 1);
        }
        let variable = &self.variables[x.index()];
        let at = variable.at as usize;
        if let Kind::Range(holes) = variable.kind {
            let list = &mut self.holes[holes as usize];
            let place = list.binary_search(&index).expect_err("a value in the domain is no hole");
            list.insert(place, index);
            if self.trail.depth() > 0 {
                self.hole_log.push((holes, index));
            }
        } else {
            let word_at = at + 2 + index as usize / 64;
            self.trail.set(word_at, self.trail.get(word_at) & !(1 << (index % 64)));
        }
        let size = self.trail.get(at + 1) - 1;
        self.update(x, at, (lo, hi), (lo, hi), size);
        Ok(true)
    }

    /// Removes the values of `x` below `value`; returns whether there were any.
    ///
    /// # Errors
    /// [`Conflict`] when no value is left.
    #[inline]
    pub fn at_least(&mut self, x: VarId, value: Value) -> Result<bool, Conflict> {
        if value <= self.min(x) {
            return Ok(false);
        }
        if value > self.max(x) {
            return self.fail(x);
        }
        let index = match &self.variables[x.index()].kind {
            Kind::Listed(values) => values.partition_point(|&other| other < value) as u32,
            _ => (i64::from(value) - i64::from(self.variables[x.index()].base)) as u32,
        };
        self.at_least_index(x, index)
    }

    /// Removes the values of `x` above `value`; returns whether there were any.
    ///
    /// # Errors
    /// [`Conflict`] when no value is left.
    #[inline]
    pub fn at_most(&mut self, x: VarId, value: Value) -> Result<bool, Conflict> {
        if value >= self.max(x) {
            return Ok(false);
        }
        if value < self.min(x) {
            return self.fail(x);
        }
        let index = match &self.variables[x.index()].kind {
            Kind::Listed(values) => values.partition_point(|&other| other <= value) as u32 - 1,
            _ => (i64::from(value) - i64::from(self.variables[x.index()].base)) as u32,
        };
        self.at_most_index(x, index)
    }

    /// Works as [`Domains::at_least`] for a bound that may lie outside 32 bits.
    ///
    /// # Errors
    /// [`Conflict`] when no value is left.
    #[inline]
    pub fn at_least_wide(&mut self, x: VarId, value: i64) -> Result<bool, Conflict> {
        self.at_least(x, value.clamp(i64::from(Value::MIN), i64::from(Value::MAX)) as Value)
    }

    /// Works as [`Domains::at_most`] for a bound that may lie outside 32 bits.
    ///
    /// # Errors
    /// [`Conflict`] when no value is left.
    #[inline]
    pub fn at_most_wide(&mut self, x: VarId, value: i64) -> Result<bool, Conflict> {
        self.at_most(x, value.clamp(i64::from(Value::MIN), i64::from(Value::MAX)) as Value)
    }

    fn at_least_index(&mut self, x: VarId, index: u32) -> Result<bool, Conflict> {
        let (lo, hi) = self.bounds(x);
        if index <= lo {
            return Ok(false);
        }
        let Some(new_lo) = self.next_index(x, index) else {
            return self.fail(x);
        };
        let n_removed = self.clear(x, lo, new_lo - 1);
        let at = self.variables[x.index()].at as usize;
        let size = self.trail.get(at + 1) - n_removed;
        self.update(x, at, (lo, hi), (new_lo, hi), size);
        Ok(true)
    }

    fn at_most_index(&mut self, x: VarId, index: u32) -> Result<bool, Conflict> {
        let (lo, hi) = self.bounds(x);
        if index >= hi {
            return Ok(false);
        }
        let Some(new_hi) = self.previous_index(x, index) else {
            return self.fail(x);
        };
        let n_removed = self.clear(x, new_hi + 1, hi);
        let at = self.variables[x.index()].at as usize;
        let size = self.trail.get(at + 1) - n_removed;
        self.update(x, at, (lo, hi), (lo, new_hi), size);
        Ok(true)
    }

    /// Clears the bits from one index to another, both included, and returns the number of
    /// values removed.
    fn clear(&mut self, x: VarId, from: u32, to: u32) -> u64 {
        let variable = &self.variables[x.index()];
        if let Kind::Range(holes) = variable.kind {
            let holes = &self.holes[holes as usize];
            let n_holes = holes.partition_point(|&hole| hole <= to)
                - holes.partition_point(|&hole| hole < from);
            return u64::from(to - from) + 1 - n_holes as u64;
        }
        let bits = variable.at as usize + 2;
        let mut n_removed = 0;
        for word_idx in from / 64..=to / 64 {
            let mut mask = !0_u64;
            if word_idx == from / 64 {
                mask &= !0 << (from % 64);
            }
            if word_idx == to / 64 {
                mask &= !0 >> (63 - to % 64);
            }
            let word = self.trail.get(bits + word_idx as usize);
            if word & mask != 0 {
                n_removed += u64::from((word & mask).count_ones());
                self.trail.set(bits + word_idx as usize, word & !mask);
            }
        }
        n_removed
    }

    /// Keeps the values of `x` that `keep` accepts; returns whether any was removed.
    ///
    /// # Errors
    /// [`Conflict`] when none is left.
    pub fn retain(
        &mut self,
        x: VarId,
        mut keep: impl FnMut(Value) -> bool,
    ) -> Result<bool, Conflict> {
        let variable = &self.variables[x.index()];
        match &variable.kind {
            Kind::Bits => {
                let base = variable.base;
                self.retain_indexes(x, |index| keep(base + index as Value))
            }
            Kind::Listed(values) => {
                let values = Arc::clone(values);
                self.retain_indexes(x, |index| keep(values[index as usize]))
            }
            Kind::Range(_) => {
                let base = i64::from(variable.base);
                self.retain_indexes(x, |index| keep((base + i64::from(index)) as Value))
            }
        }
    }

    /// Keeps the values of `x` whose index `keep` accepts; returns whether any was removed.
    ///
    /// # Errors
    /// [`Conflict`] when none is left.
    #[inline]
    pub fn retain_indexes(
        &mut self,
        x: VarId,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Result<bool, Conflict> {
        let (lo, hi) = self.bounds(x);
        if matches!(self.variables[x.index()].kind, Kind::Range(_)) {
            let mut changed = false;
            for index in lo..=hi {
                if self.contains_index(x, index) && !keep(index) {
                    changed |= self.remove_index(x, index)?;
                }
            }
            return Ok(changed);
        }
        let at = self.variables[x.index()].at as usize;
        let (mut new_lo, mut new_hi, mut size) = (u32::MAX, 0, 0);
        let mut changed = false;
        // Nobody pops a level after a conflict at the root, so the domain must stay as it was.
        let is_root = self.trail.depth() == 0;
        let mut before: SmallVec<[u64; 4]> = SmallVec::new();
        for word_idx in lo / 64..=hi / 64 {
            let word = self.trail.get(at + 2 + word_idx as usize);
            let (mut rest, mut kept) = (word, word);
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(word_idx * 64 + bit) {
                    kept &= !(1 << bit);
                }
            }
            if is_root {
                before.push(word);
            }
            if kept != word {
                self.trail.set(at + 2 + word_idx as usize, kept);
                changed = true;
            }
            if kept != 0 {
                new_lo = new_lo.min(word_idx * 64 + kept.trailing_zeros());
                new_hi = word_idx * 64 + 63 - kept.leading_zeros();
                size += u64::from(kept.count_ones());
            }
        }
        if size == 0 {
            for (word_idx, word) in before.into_iter().enumerate() {
                self.trail.set(at + 2 + lo as usize / 64 + word_idx, word);
            }
            return self.fail(x);
        }
        if changed {
            self.update(x, at, (lo, hi), (new_lo, new_hi), size);
        }
        Ok(changed)
    }

    /// Keeps the values of `x` whose bits are set in `mask`; returns whether any was removed.
    ///
    /// # Errors
    /// [`Conflict`] when none is left.
    ///
    /// # Panics
    /// When the domain is a wide range, or `mask` has fewer words than [`Domains::bits`].
    #[inline]
    pub fn restrict_bits(&mut self, x: VarId, mask: &[u64]) -> Result<bool, Conflict> {
        let variable = &self.variables[x.index()];
        assert!(!matches!(variable.kind, Kind::Range(_)), "wide ranges have no bits");
        let at = variable.at as usize;
        let (lo, hi) = self.bounds(x);
        let (mut new_lo, mut new_hi, mut n_removed) = (u32::MAX, 0, 0);
        for word_idx in lo / 64..=hi / 64 {
            let word = self.trail.get(at + 2 + word_idx as usize);
            let kept = word & mask[word_idx as usize];
            if kept != word {
                self.trail.set(at + 2 + word_idx as usize, kept);
                n_removed += u64::from((word ^ kept).count_ones());
            }
            if kept != 0 {
                new_lo = new_lo.min(word_idx * 64 + kept.trailing_zeros());
                new_hi = word_idx * 64 + 63 - kept.leading_zeros();
            }
        }
        if new_lo == u32::MAX {
            return self.fail(x);
        }
        if n_removed > 0 {
            let size = self.trail.get(at + 1) - n_removed;
            self.update(x, at, (lo, hi), (new_lo, new_hi), size);
        }
        Ok(n_removed > 0)
    }

    #[inline]
    fn update(&mut self, x: VarId, at: usize, old: (u32, u32), new: (u32, u32), size: u64) {
        let mut events = Events::ANY.0;
        if old != new {
            self.trail.set(at, pack(new.0, new.1));
            events |= if old.0 == new.0 { 0 } else { Events::LOWER.0 };
            events |= if old.1 == new.1 { 0 } else { Events::UPPER.0 };
            events |= if new.0 == new.1 { Events::FIXED.0 } else { 0 };
        }
        self.trail.set(at + 1, size);
        if self.events[x.index()] == 0 {
            self.changed.push(x);
        }
        self.events[x.index()] |= events;
    }

    #[cold]
    fn fail<T>(&mut self, x: VarId) -> Result<T, Conflict> {
        self.conflict_var = Some(x);
        Err(Conflict)
    }
}

//! Compact-Table: a reversible sparse bit set of the valid tuples.
//!
//! Each value of each variable has a row, the set of tuples that support it. When a domain
//! shrinks, the lost tuples are masked out, by the rows of the removed values or of the
//! remaining values, whichever are fewer. A value stays while its row intersects the valid
//! tuples; the word that last proved this is tested first.
//!
//! After Demeulenaere, Hartert, Lecoutre, Perez, Perron, Régin and Schaus, *Compact-Table:
//! Efficiently Filtering Table Constraints with Reversible Sparse Bit-Sets*, CP 2016; short
//! tuples after Verhaeghe, Lecoutre and Schaus, AAAI 2017: a star is in the rows of all values,
//! so removing a value does not invalidate the tuple.
//!
//! Invariant: `index[..limit]` are the nonzero words of the set. Words behind the limit count
//! as zero and keep their last value, so they need not be saved.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{STAR_INDEX, Table, indexed};
use crate::domains::{Cell, Cells, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A positive table, possibly with short tuples, by Compact-Table.
#[derive(Clone)]
pub struct CompactTable {
    scope: Vec<VarId>,
    table: Arc<Table>,
    rows: Arc<Rows>,
    state: Option<State>,
    /// By row: the word that last supported the value.
    residues: Vec<u32>,
    /// A permutation of the words of the set, and its inverse.
    index: Vec<u32>,
    place: Vec<u32>,
    /// Scratch: a mask of tuples, or of values.
    mask: Vec<u64>,
    /// Scratch: the positions to check, and by position the values met in tuples.
    open: Vec<usize>,
    met: Vec<u64>,
    /// By position, with one more at the end: its first word in `met`.
    first_met: Vec<usize>,
}

/// Largest number of words in use with which tuples are read, unless many were just lost.
const MAX_GATHERED: usize = 32;
/// Number of tuples read between two checks whether all values were met.
const TUPLES_PER_CHECK: usize = 24;

/// The rows of all values, shared between copies.
#[derive(Default)]
struct Rows {
    n_words: usize,
    /// By position in the scope: its first row.
    first: Vec<usize>,
    /// By row: the tuples that allow the value.
    supports: Vec<u64>,
    /// By row: the tuples that name the value; empty when there are no stars.
    strict: Vec<u64>,
    /// By row: the nonzero words of `supports`.
    summaries: Vec<u64>,
    n_summary_words: usize,
    tuples: Tuples,
}

/// The tuples as indexes, when these fit in 8 or 16 bits. Access is random, so the number of
/// tuples per cache line matters.
#[derive(Default)]
enum Tuples {
    #[default]
    None,
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// An index in fewer bits, whose greatest value stands for a star.
trait NarrowIndex {
    const STAR: u32;
}

impl NarrowIndex for u8 {
    const STAR: u32 = u8::MAX as u32;
}

impl NarrowIndex for u16 {
    const STAR: u32 = u16::MAX as u32;
}

impl Tuples {
    fn new(tuples: &[u32], n_indexes: usize) -> Self {
        match n_indexes as u32 {
            n if n < <u8 as NarrowIndex>::STAR => Tuples::Narrow(
                tuples.iter().map(|&index| index.min(<u8 as NarrowIndex>::STAR) as u8).collect(),
            ),
            n if n < <u16 as NarrowIndex>::STAR => Tuples::Wide(
                tuples.iter().map(|&index| index.min(<u16 as NarrowIndex>::STAR) as u16).collect(),
            ),
            _ => Tuples::None,
        }
    }
}

#[derive(Clone)]
struct State {
    words: Cells,
    limit: Cell,
    /// By position: the size and then the bits of the domain at the last call.
    seen_sizes: Cells,
    seen_bits: Vec<Cells>,
    /// 1 once every value has been checked.
    is_filtered: Cell,
}

impl CompactTable {
    /// Creates the constraint that the variables take one of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        debug_assert_eq!(scope.len(), table.arity());
        Self {
            scope,
            table,
            rows: Arc::default(),
            state: None,
            residues: Vec::new(),
            index: Vec::new(),
            place: Vec::new(),
            mask: Vec::new(),
            open: Vec::new(),
            met: Vec::new(),
            first_met: vec![0],
        }
    }

    /// Removes the tuples that lost a value. Returns whether any was removed, the number of
    /// changed domains, and the last of them.
    #[inline]
    fn update(
        &mut self,
        state: &State,
        domains: &mut Domains,
    ) -> Result<(bool, usize, usize), Conflict> {
        let (mut n_changed, mut last_changed) = (0, 0);
        let mut fixed = SmallVec::<[usize; 8]>::new();
        self.open.clear();
        for (position, &x) in self.scope.iter().enumerate() {
            let size = domains.size(x);
            if size == domains.get(state.seen_sizes.at(position)) {
                continue;
            }
            n_changed += 1;
            last_changed = position;
            if size > 1 {
                self.open.push(position);
                continue;
            }
            // Below a node where the variable is fixed, its bits are not needed.
            domains.set(state.seen_sizes.at(position), 1);
            fixed.push(self.rows.first[position] + domains.index_bounds(x).0 as usize);
        }
        let old_limit = domains.get(state.limit) as usize;
        let (mut limit, mut is_reduced) = (old_limit, false);
        // Fixed variables come first: they cost least and leave the least work for the others.
        if !fixed.is_empty() {
            (limit, is_reduced) = self.keep_fixed(state, &fixed, limit, domains);
        }
        for at in 0..self.open.len() {
            if limit == 0 {
                return Err(Conflict);
            }
            let (new_limit, is_less) = self.keep_open(state, self.open[at], limit, domains);
            limit = new_limit;
            is_reduced |= is_less;
        }
        if limit == 0 {
            return Err(Conflict);
        }
        if limit != old_limit {
            domains.set(state.limit, limit as u64);
        }
        Ok((is_reduced, n_changed, last_changed))
    }

    /// Keeps the tuples in all the rows of fixed variables.
    fn keep_fixed(
        &mut self,
        state: &State,
        fixed: &[usize],
        limit: usize,
        domains: &mut Domains,
    ) -> (usize, bool) {
        let all = &*self.rows;
        let (index, place) = (&mut self.index, &mut self.place);
        let (trail, first) = domains.in_trail(state.words);
        let rows: SmallVec<[&[u64]; 8]> = fixed.iter().map(|&row_idx| all.row(row_idx)).collect();
        let (one, others) = rows.split_first().expect("a variable is fixed");
        let mask = |at: usize| others.iter().fold(one[at], |kept, row| kept & row[at]);
        if limit < index.len() / 8 {
            return trail.narrow(first, index, place, limit, mask);
        }
        // In sorted tuples a row has bits in few words, and two rows share fewer.
        let candidates = &mut self.mask[..all.n_summary_words];
        candidates.copy_from_slice(all.summary(fixed[0]));
        for &row_idx in &fixed[1..] {
            candidates.iter_mut().zip(all.summary(row_idx)).for_each(|(kept, row)| *kept &= row);
        }
        trail.narrow_among(first, index, place, limit, candidates, mask)
    }

    /// Keeps the tuples with a remaining value of the variable at this position: by the removed
    /// values or by the remaining ones, whichever are fewer.
    fn keep_open(
        &mut self,
        state: &State,
        position: usize,
        limit: usize,
        domains: &mut Domains,
    ) -> (usize, bool) {
        let x = self.scope[position];
        let (size, seen_size) = (domains.size(x), domains.get(state.seen_sizes.at(position)));
        domains.set(state.seen_sizes.at(position), size);
        let from_removed = seen_size - size < size;
        for &word_idx in &self.index[..limit] {
            self.mask[word_idx as usize] = 0;
        }
        let seen = state.seen_bits[position];
        for word_idx in 0..seen.len() {
            let old = domains.get(seen.at(word_idx));
            let now = domains.bits(x).expect("tables have bit sets")[word_idx];
            let mut rest = if from_removed { old & !now } else { now };
            while rest != 0 {
                let index = word_idx as u32 * 64 + rest.trailing_zeros();
                rest &= rest - 1;
                let row = if from_removed {
                    self.rows.strict_supports_of(position, index)
                } else {
                    self.rows.supports_of(position, index)
                };
                for &word_idx in &self.index[..limit] {
                    self.mask[word_idx as usize] |= row[word_idx as usize];
                }
            }
            if old != now {
                domains.set(seen.at(word_idx), now);
            }
        }
        let flip = if from_removed { !0 } else { 0 };
        let mask = &self.mask;
        let (index, place) = (&mut self.index, &mut self.place);
        let (trail, first) = domains.in_trail(state.words);
        trail.narrow(first, index, place, limit, |at| mask[at] ^ flip)
    }

    /// Removes the values of one variable that no valid tuple supports; values already met in a
    /// tuple need no check.
    #[inline]
    fn filter(
        &mut self,
        state: &State,
        position: usize,
        domains: &mut Domains,
    ) -> Result<(), Conflict> {
        let x = self.scope[position];
        let rows = &*self.rows;
        let n_words = rows.n_words;
        let limit = domains.get(state.limit) as usize;
        let words = domains.cells(state.words);
        let bits = domains.bits(x).expect("tables have bit sets");
        let (lo, hi) = domains.index_bounds(x);
        let mut is_reduced = false;
        self.mask.resize(self.mask.len().max(bits.len()), 0);
        let n_skipped = lo as usize / 64;
        for (word_idx, &word) in bits[..=hi as usize / 64].iter().enumerate().skip(n_skipped) {
            let (mut rest, mut kept) = (word & !self.met_at(position)[word_idx], word);
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let row_idx = rows.first[position] + word_idx * 64 + bit as usize;
                let row = &rows.supports[row_idx * n_words..(row_idx + 1) * n_words];
                let residue = self.residues[row_idx] as usize;
                let is_used = (self.place[residue] as usize) < limit;
                if is_used && words[residue] & row[residue] != 0 {
                    continue;
                }
                let found = self.index[..limit]
                    .iter()
                    .find(|&&word_idx| words[word_idx as usize] & row[word_idx as usize] != 0);
                match found {
                    Some(&word_idx) => self.residues[row_idx] = word_idx,
                    None => kept &= !(1 << bit),
                }
            }
            is_reduced |= kept != word;
            self.mask[word_idx] = kept;
        }
        if !is_reduced {
            return Ok(());
        }
        domains.restrict_bits(x, &self.mask)?;
        self.remember(state, position, domains);
        Ok(())
    }
}

impl Propagator for CompactTable {
    fn name(&self) -> &'static str {
        "table"
    }

    scope_and_meaning!(self => true);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        self.rows = Arc::new(Rows::new(&self.scope, &self.table, domains));
        let n_words = self.rows.n_words;
        self.residues = vec![0; self.rows.supports.len() / n_words];
        self.index = (0..n_words as u32).collect();
        self.place = self.index.clone();
        self.mask = vec![0; n_words];
        let n_tuples = self.rows.n_tuples(&self.scope, domains);
        let words = domains.new_cells(n_words, !0);
        if !n_tuples.is_multiple_of(64) {
            domains.set(words.at(n_tuples / 64), (1 << (n_tuples % 64)) - 1);
        }
        let seen_sizes = domains.new_cells(self.scope.len(), 0);
        let mut seen_bits = Vec::new();
        for (position, &x) in self.scope.iter().enumerate() {
            let bits = domains.bits(x).expect("tables have bit sets").to_vec();
            let seen = domains.new_cells(bits.len(), 0);
            for (word_idx, &word) in bits.iter().enumerate() {
                domains.set(seen.at(word_idx), word);
            }
            domains.set(seen_sizes.at(position), domains.size(x));
            seen_bits.push(seen);
            self.met.resize(self.met.len() + bits.len(), 0);
            self.first_met.push(self.met.len());
        }
        let limit = domains.new_cell(n_tuples.div_ceil(64) as u64);
        let is_filtered = domains.new_cell(0);
        self.state = Some(State { words, limit, seen_sizes, seen_bits, is_filtered });
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let state = self.state.take().expect("a propagator is posted before it propagates");
        let result = self.propagate_with(&state, domains);
        self.state = Some(state);
        result
    }

    fn cost(&self) -> Cost {
        Cost::Linear
    }

    fn n_bytes(&self) -> usize {
        let rows = &*self.rows;
        let n_words = rows.supports.len() + rows.strict.len() + rows.summaries.len();
        let tuples = match &rows.tuples {
            Tuples::None => 0,
            Tuples::Narrow(tuples) => tuples.len(),
            Tuples::Wide(tuples) => 2 * tuples.len(),
        };
        let own = 4 * self.residues.len() + 16 * self.index.len() + 8 * self.met.len();
        size_of_val(self) + size_of::<Rows>() + 8 * n_words + tuples + own + 48 * self.scope.len()
    }

    duplicate_by_clone!();
}

impl CompactTable {
    fn propagate_with(
        &mut self,
        state: &State,
        domains: &mut Domains,
    ) -> Result<Pruning, Conflict> {
        if domains.get(state.limit) == 0 {
            return Err(Conflict);
        }
        let old_limit = domains.get(state.limit) as usize;
        let (is_reduced, n_changed, last_changed) = self.update(state, domains)?;
        let is_filtered = domains.get(state.is_filtered) != 0;
        if is_filtered && !is_reduced {
            return Ok(self.pruning(domains));
        }
        domains.set(state.is_filtered, 1);
        let mut n_values = 0;
        self.open.clear();
        for (position, &x) in self.scope.iter().enumerate() {
            // If only one domain has changed, its values have not lost support: the lost tuples
            // had other values there.
            let is_safe = is_filtered && n_changed == 1 && position == last_changed;
            if !is_safe && !domains.is_fixed(x) {
                self.open.push(position);
                let (first, end) = (self.first_met[position], self.first_met[position + 1]);
                self.met[first..end].fill(0);
                n_values += domains.size(x) as usize;
            }
        }
        if self.open.is_empty() {
            return Ok(self.pruning(domains));
        }
        // Reading valid tuples finds many supports at once. It is worth more after many tuples
        // were lost, when the words that last supported values are of no help.
        let limit = domains.get(state.limit) as usize;
        let budget = match limit {
            limit if 2 * limit <= old_limit => 4 * n_values,
            ..=MAX_GATHERED => 2 * n_values / self.open.len(),
            _ => 0,
        };
        let rows = Arc::clone(&self.rows);
        let saw_all = match &rows.tuples {
            Tuples::Narrow(tuples) => self.gather(state, tuples, budget, domains),
            Tuples::Wide(tuples) => self.gather(state, tuples, budget, domains),
            Tuples::None => false,
        };
        for at in 0..self.open.len() {
            let position = self.open[at];
            if !saw_all {
                self.filter(state, position, domains)?;
            } else if domains.restrict_bits(self.scope[position], self.met_at(position))? {
                self.remember(state, position, domains);
            }
        }
        Ok(self.pruning(domains))
    }

    /// Entailed when at most one variable is open: all its values then fit the fixed ones.
    fn pruning(&self, domains: &Domains) -> Pruning {
        let n_open = self.scope.iter().filter(|&&x| !domains.is_fixed(x)).take(2).count();
        if n_open <= 1 { Pruning::Entailed } else { Pruning::Fixpoint }
    }

    /// Reads valid tuples for the values they support, and closes positions with all values
    /// met. Returns false when the budget ended before the tuples.
    fn gather<T: Copy + Into<u32> + NarrowIndex>(
        &mut self,
        state: &State,
        tuples: &[T],
        budget: usize,
        domains: &Domains,
    ) -> bool {
        let arity = self.scope.len();
        let limit = domains.get(state.limit) as usize;
        let words = domains.cells(state.words);
        let is_flat = self.met.len() == arity;
        let (mut n_read, mut next_look) = (0, TUPLES_PER_CHECK);
        for &word_idx in &self.index[..limit] {
            if n_read >= next_look {
                let (scope, met, first) = (&self.scope, &self.met, &self.first_met);
                self.open.retain(|&position| {
                    let bits = domains.bits(scope[position]).expect("tables have bit sets");
                    bits.iter().zip(&met[first[position]..]).any(|(bits, met)| bits & !met != 0)
                });
                if self.open.is_empty() {
                    return true;
                }
                next_look += TUPLES_PER_CHECK;
            }
            if n_read >= budget {
                return false;
            }
            let (met, open) = (&mut self.met[..], &self.open[..]);
            for bit in ones(words[word_idx as usize]) {
                let at = (word_idx as usize * 64 + bit) * arity;
                let tuple = &tuples[at..at + arity];
                n_read += 1;
                if is_flat {
                    // One word per position avoids a division and a second lookup.
                    for &position in open {
                        let index = tuple[position].into();
                        met[position] |= if index == T::STAR { !0 } else { 1 << (index % 64) };
                    }
                    continue;
                }
                for &position in open {
                    let first = self.first_met[position];
                    match tuple[position].into() {
                        index if index == T::STAR => {
                            met[first..self.first_met[position + 1]].fill(!0);
                        }
                        index => met[first + index as usize / 64] |= 1 << (index % 64),
                    }
                }
            }
        }
        true
    }

    /// Returns the values met at a position.
    fn met_at(&self, position: usize) -> &[u64] {
        &self.met[self.first_met[position]..self.first_met[position + 1]]
    }

    /// Records the current domain.
    fn remember(&self, state: &State, position: usize, domains: &mut Domains) {
        let x = self.scope[position];
        domains.set(state.seen_sizes.at(position), domains.size(x));
        let seen = state.seen_bits[position];
        for word_idx in 0..seen.len() {
            let now = domains.bits(x).expect("tables have bit sets")[word_idx];
            if domains.get(seen.at(word_idx)) != now {
                domains.set(seen.at(word_idx), now);
            }
        }
    }
}

impl Rows {
    fn new(scope: &[VarId], table: &Table, domains: &Domains) -> Self {
        let tuples = sorted(&indexed(scope, table, domains), scope.len());
        let n_words = (tuples.len() / scope.len()).div_ceil(64).max(1);
        let mut first = Vec::with_capacity(scope.len());
        let mut n_rows = 0;
        for &x in scope {
            first.push(n_rows);
            n_rows += domains.n_indexes(x);
        }
        let mut supports = vec![0; n_rows * n_words];
        let mut strict = if table.has_stars() { vec![0; n_rows * n_words] } else { Vec::new() };
        for (tuple_idx, tuple) in tuples.chunks_exact(scope.len()).enumerate() {
            let (word_idx, bit) = (tuple_idx / 64, 1 << (tuple_idx % 64));
            for (position, &index) in tuple.iter().enumerate() {
                if index == STAR_INDEX {
                    for row in first[position]..first[position] + domains.n_indexes(scope[position])
                    {
                        supports[row * n_words + word_idx] |= bit;
                    }
                } else {
                    let at = (first[position] + index as usize) * n_words + word_idx;
                    supports[at] |= bit;
                    if !strict.is_empty() {
                        strict[at] |= bit;
                    }
                }
            }
        }
        let n_most = scope.iter().map(|&x| domains.n_indexes(x)).max().unwrap_or(0);
        let tuples = Tuples::new(&tuples, n_most);
        let n_summary_words = n_words.div_ceil(64);
        let mut summaries = vec![0; n_rows * n_summary_words];
        for (at, _) in supports.iter().enumerate().filter(|(_, word)| **word != 0) {
            let (row, word_idx) = (at / n_words, at % n_words);
            summaries[row * n_summary_words + word_idx / 64] |= 1 << (word_idx % 64);
        }
        Self { n_words, first, supports, strict, summaries, n_summary_words, tuples }
    }

    #[inline]
    fn row(&self, row_idx: usize) -> &[u64] {
        &self.supports[row_idx * self.n_words..(row_idx + 1) * self.n_words]
    }

    #[inline]
    fn summary(&self, row_idx: usize) -> &[u64] {
        &self.summaries[row_idx * self.n_summary_words..(row_idx + 1) * self.n_summary_words]
    }

    /// Returns the tuples that allow the value with this index.
    #[inline]
    fn supports_of(&self, position: usize, index: u32) -> &[u64] {
        let at = (self.first[position] + index as usize) * self.n_words;
        &self.supports[at..at + self.n_words]
    }

    /// Returns the tuples that name the value with this index.
    #[inline]
    fn strict_supports_of(&self, position: usize, index: u32) -> &[u64] {
        let source = if self.strict.is_empty() { &self.supports } else { &self.strict };
        let at = (self.first[position] + index as usize) * self.n_words;
        &source[at..at + self.n_words]
    }

    /// Returns the number of tuples in the rows of the first variable, which is that of all
    /// tuples.
    fn n_tuples(&self, scope: &[VarId], domains: &Domains) -> usize {
        let n_rows = domains.n_indexes(scope[0]);
        let mut seen = vec![0_u64; self.n_words];
        for row in self.supports[..n_rows * self.n_words].chunks_exact(self.n_words) {
            seen.iter_mut().zip(row).for_each(|(seen, word)| *seen |= word);
        }
        seen.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Iterates over the positions of the bits of a word, ascending.
#[inline]
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

/// Sorts the tuples lexicographically, so that the support of a value is in few words.
fn sorted(tuples: &[u32], arity: usize) -> Vec<u32> {
    let mut order: Vec<&[u32]> = tuples.chunks_exact(arity).collect();
    order.sort_unstable();
    order.concat()
}

//! A sparse bit set of forbidden tuples.
//!
//! A value is removed when it occurs in as many valid forbidden tuples as the other domains
//! have combinations. The propagator therefore counts the valid tuples.
//!
//! After Verhaeghe, Lecoutre and Schaus, *Extending Compact-Table to Negative and Short
//! Tables*, AAAI 2017. Duplicate tuples are removed when posting, so that the counts are
//! correct.

use std::sync::Arc;

use super::{Table, indexed};
use crate::domains::{Cell, Cells, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A negative table without short tuples.
#[derive(Clone)]
pub struct NegativeTable {
    scope: Vec<VarId>,
    table: Arc<Table>,
    n_words: usize,
    first: Vec<usize>,
    rows: Arc<[u64]>,
    index: Vec<u32>,
    state: Option<State>,
    mask: Vec<u64>,
}

#[derive(Clone, Copy)]
struct State {
    words: Cells,
    limit: Cell,
    seen_sizes: Cells,
}

impl NegativeTable {
    /// Creates the constraint that the variables take none of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        assert!(!table.has_stars(), "short forbidden tuples overlap and can't be counted");
        Self {
            scope,
            table,
            n_words: 0,
            first: Vec::new(),
            rows: Arc::from([]),
            index: Vec::new(),
            state: None,
            mask: Vec::new(),
        }
    }

    /// Removes the tuples that lost a value.
    fn update(&mut self, state: State, domains: &mut Domains) {
        let mut limit = domains.get(state.limit) as usize;
        for (position, &x) in self.scope.iter().enumerate() {
            let size = domains.size(x);
            if size == domains.get(state.seen_sizes.at(position)) {
                continue;
            }
            domains.set(state.seen_sizes.at(position), size);
            for &word_idx in &self.index[..limit] {
                self.mask[word_idx as usize] = 0;
            }
            for index in domains.indexes(x) {
                let at = (self.first[position] + index as usize) * self.n_words;
                let row = &self.rows[at..at + self.n_words];
                for &word_idx in &self.index[..limit] {
                    self.mask[word_idx as usize] |= row[word_idx as usize];
                }
            }
            for place in (0..limit).rev() {
                let word_idx = self.index[place] as usize;
                let word = domains.get(state.words.at(word_idx));
                let kept = word & self.mask[word_idx];
                if kept != word {
                    domains.set(state.words.at(word_idx), kept);
                    if kept == 0 {
                        limit -= 1;
                        self.index.swap(place, limit);
                    }
                }
            }
        }
        domains.set(state.limit, limit as u64);
    }
}

impl Propagator for NegativeTable {
    fn name(&self) -> &'static str {
        "negative table"
    }

    scope_and_meaning!(self => false);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        let arity = self.scope.len();
        let flat = indexed(&self.scope, &self.table, domains);
        let mut tuples: Vec<&[u32]> = flat.chunks_exact(arity).collect();
        tuples.sort_unstable();
        tuples.dedup();
        self.n_words = tuples.len().div_ceil(64).max(1);
        let mut n_rows = 0;
        self.first.clear();
        for &x in &self.scope {
            self.first.push(n_rows);
            n_rows += domains.n_indexes(x);
        }
        let mut rows = vec![0_u64; n_rows * self.n_words];
        for (tuple_idx, tuple) in tuples.iter().enumerate() {
            for (position, &index) in tuple.iter().enumerate() {
                let row = (self.first[position] + index as usize) * self.n_words;
                rows[row + tuple_idx / 64] |= 1 << (tuple_idx % 64);
            }
        }
        self.rows = rows.into();
        self.index = (0..self.n_words as u32).collect();
        self.mask = vec![0; self.n_words];
        let words = domains.new_cells(self.n_words, !0);
        if !tuples.len().is_multiple_of(64) || tuples.is_empty() {
            domains.set(words.at(tuples.len() / 64), (1 << (tuples.len() % 64)) - 1);
        }
        let limit = domains.new_cell(tuples.len().div_ceil(64) as u64);
        let seen_sizes = domains.new_cells(arity, 0);
        self.state = Some(State { words, limit, seen_sizes });
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let state = self.state.expect("a propagator is posted before it propagates");
        self.update(state, domains);
        let mut result = Pruning::Fixpoint;
        for position in 0..self.scope.len() {
            let limit = domains.get(state.limit) as usize;
            if limit == 0 {
                return Ok(Pruning::Entailed);
            }
            let x = self.scope[position];
            let n_others = self
                .scope
                .iter()
                .filter(|&&y| y != x)
                .fold(1_u64, |product, &y| product.saturating_mul(domains.size(y)));
            if n_others > limit as u64 * 64 {
                continue;
            }
            let words = domains.cells(state.words);
            let is_lost = |index: u32| {
                let at = (self.first[position] + index as usize) * self.n_words;
                let row = &self.rows[at..at + self.n_words];
                let n_forbidden: u64 = self.index[..limit]
                    .iter()
                    .map(|&w| u64::from((words[w as usize] & row[w as usize]).count_ones()))
                    .sum();
                n_forbidden == n_others
            };
            let lost: Vec<u32> = domains.indexes(x).filter(|&index| is_lost(index)).collect();
            for &index in &lost {
                domains.remove_index(x, index)?;
            }
            if !lost.is_empty() {
                // The counts of the other variables were computed with the larger domain.
                self.update(state, domains);
                result = Pruning::MayPruneMore;
            }
        }
        Ok(result)
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}

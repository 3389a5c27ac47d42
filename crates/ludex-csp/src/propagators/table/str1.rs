//! Simple tabular reduction: the valid tuples as a prefix of a permutation.
//!
//! After Ullmann, *Partition search for non-binary constraint satisfaction*, 2007, as the
//! thesis of Piette gives it (with the increment moved after the loop on variables, where it
//! belongs). The trail keeps the limits of earlier levels.

use std::sync::Arc;

use super::{Permutation, STAR_INDEX, Table, no_values, scan_cost};
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A positive table, possibly with short tuples, by simple tabular reduction.
#[derive(Clone)]
pub struct Str {
    scope: Vec<VarId>,
    table: Arc<Table>,
    permutation: Permutation,
    n_valid: Option<Cell>,
    /// By variable: the bits of the values met in a valid tuple.
    supported: Vec<Vec<u64>>,
}

impl Str {
    /// Creates the constraint that the variables take one of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        Self {
            scope,
            table,
            permutation: Permutation::default(),
            n_valid: None,
            supported: Vec::new(),
        }
    }

    /// Returns the permutation of the tuples, valid ones first.
    pub fn position(&self) -> &[u32] {
        &self.permutation.position
    }

    /// Returns the position of the last valid tuple, -1 when there is none.
    pub fn current_limit(&self, domains: &Domains) -> i64 {
        domains.get(self.n_valid.expect("posted")) as i64 - 1
    }

    /// Returns the limit before a level changed it; `None` when the level did not.
    pub fn level_limit(&self, domains: &Domains, level: usize) -> Option<i64> {
        domains.saved(self.n_valid.expect("posted"), level).map(|n| n as i64 - 1)
    }
}

impl Propagator for Str {
    fn name(&self) -> &'static str {
        "table by STR"
    }

    scope_and_meaning!(self => true);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        self.permutation = Permutation::new(&self.scope, &self.table, domains);
        self.n_valid = Some(domains.new_cell(self.permutation.len() as u64));
        self.supported = no_values(&self.scope, domains);
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let cell = self.n_valid.expect("a propagator is posted before it propagates");
        let Self { scope, permutation, supported, .. } = self;
        supported.iter_mut().for_each(|words| words.fill(0));
        let n_valid = permutation.retain(domains.get(cell) as usize, |tuple| {
            let is_valid = (scope.iter().zip(tuple))
                .all(|(&x, &index)| index == STAR_INDEX || domains.contains_index(x, index));
            if is_valid {
                for (words, &index) in supported.iter_mut().zip(tuple) {
                    if index == STAR_INDEX {
                        words.fill(!0);
                    } else {
                        words[index as usize / 64] |= 1 << (index % 64);
                    }
                }
            }
            Ok(is_valid)
        })?;
        if n_valid as u64 != domains.get(cell) {
            domains.set(cell, n_valid as u64);
        }
        if n_valid == 0 {
            return Err(Conflict);
        }
        for (&x, words) in self.scope.iter().zip(&self.supported) {
            domains.restrict_bits(x, words)?;
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        scan_cost(self.permutation.len())
    }

    duplicate_by_clone!();
}

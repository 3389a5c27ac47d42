//! STR2: simple tabular reduction that visits only relevant variables.
//!
//! Validity is checked only on variables whose domain changed since the last call, and supports
//! are searched only for variables that still lack some.
//!
//! After Lecoutre, *STR2: optimized simple tabular reduction for table constraints*,
//! Constraints 2011. Here the last sizes are reversible, where the paper resets them.

use std::sync::Arc;

use super::{Permutation, STAR_INDEX, Table, no_values, scan_cost};
use crate::domains::{Cell, Cells, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A positive table, possibly with short tuples, by STR2.
#[derive(Clone)]
pub struct Str2 {
    scope: Vec<VarId>,
    table: Arc<Table>,
    permutation: Permutation,
    state: Option<State>,
    /// By variable: the bits of the values met in a valid tuple, and the number of missing
    /// ones.
    supported: Vec<Vec<u64>>,
    n_missing: Vec<u64>,
    to_validate: Vec<usize>,
    to_support: Vec<usize>,
}

#[derive(Clone, Copy)]
struct State {
    n_valid: Cell,
    seen_sizes: Cells,
}

impl Str2 {
    /// Creates the constraint that the variables take one of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        Self {
            scope,
            table,
            permutation: Permutation::default(),
            state: None,
            supported: Vec::new(),
            n_missing: Vec::new(),
            to_validate: Vec::new(),
            to_support: Vec::new(),
        }
    }
}

impl Propagator for Str2 {
    fn name(&self) -> &'static str {
        "table by STR2"
    }

    scope_and_meaning!(self => true);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        self.permutation = Permutation::new(&self.scope, &self.table, domains);
        self.supported = no_values(&self.scope, domains);
        self.n_missing = vec![0; self.scope.len()];
        let n_valid = domains.new_cell(self.permutation.len() as u64);
        let seen_sizes = domains.new_cells(self.scope.len(), 0);
        self.state = Some(State { n_valid, seen_sizes });
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let state = self.state.expect("a propagator is posted before it propagates");
        // Step 1. Select the variables to visit.
        self.to_validate.clear();
        self.to_support.clear();
        for (position, &x) in self.scope.iter().enumerate() {
            let size = domains.size(x);
            if size != domains.get(state.seen_sizes.at(position)) {
                self.to_validate.push(position);
                domains.set(state.seen_sizes.at(position), size);
            }
            if size > 1 {
                self.to_support.push(position);
                self.supported[position].fill(0);
                self.n_missing[position] = size;
            }
        }
        // Step 2. Scan the tuples that were valid.
        let Self { scope, permutation, supported, n_missing, to_validate, to_support, .. } = self;
        let n_valid = permutation.retain(domains.get(state.n_valid) as usize, |tuple| {
            let is_valid = to_validate.iter().all(|&position| {
                let index = tuple[position];
                index == STAR_INDEX || domains.contains_index(scope[position], index)
            });
            if !is_valid {
                return Ok(false);
            }
            to_support.retain(|&position| {
                let index = tuple[position];
                if index == STAR_INDEX {
                    supported[position].fill(!0);
                    return false;
                }
                let word = &mut supported[position][index as usize / 64];
                if *word >> (index % 64) & 1 == 0 {
                    *word |= 1 << (index % 64);
                    n_missing[position] -= 1;
                }
                n_missing[position] > 0
            });
            Ok(true)
        })?;
        if n_valid == 0 {
            return Err(Conflict);
        }
        if n_valid as u64 != domains.get(state.n_valid) {
            domains.set(state.n_valid, n_valid as u64);
        }
        // Step 3. Remove values without support.
        for &position in &self.to_support {
            let x = self.scope[position];
            domains.restrict_bits(x, &self.supported[position])?;
            domains.set(state.seen_sizes.at(position), domains.size(x));
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        scan_cost(self.permutation.len())
    }

    duplicate_by_clone!();
}

//! STR2: simple tabular reduction that looks only at variables that can matter.
//!
//! Validity is checked on variables whose domain changed since the last call, supports are
//! sought only for variables that still miss some.
//!
//! After Lecoutre, *STR2: optimized simple tabular reduction for table constraints*,
//! Constraints 2011. The sizes last seen are reversible here, where the paper resets them.

use std::sync::Arc;

use super::{STAR_INDEX, Table, indexed_in_order, no_values, scan_cost};
use crate::domains::{Cell, Cells, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A positive table, possibly with short tuples, by STR2.
#[derive(Clone)]
pub struct Str2 {
    scope: Vec<VarId>,
    table: Arc<Table>,
    tuples: Arc<[u32]>,
    position: Vec<u32>,
    state: Option<State>,
    /// By variable: the bits of the values met in a valid tuple, and how many are missing.
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
    /// The constraint that the variables take one of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        Self {
            scope,
            table,
            tuples: Arc::from([]),
            position: Vec::new(),
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

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.table.matches(tuple)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        (self.tuples, self.position) = indexed_in_order(&self.scope, &self.table, domains);
        self.supported = no_values(&self.scope, domains);
        self.n_missing = vec![0; self.scope.len()];
        let n_valid = domains.new_cell(self.position.len() as u64);
        let seen_sizes = domains.new_cells(self.scope.len(), 0);
        self.state = Some(State { n_valid, seen_sizes });
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let state = self.state.expect("a propagator is posted before it propagates");
        let arity = self.scope.len();
        // Step 1. Which variables to look at.
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
        let mut n_valid = domains.get(state.n_valid) as usize;
        let mut place = 0;
        while place < n_valid {
            let tuple_idx = self.position[place] as usize;
            let tuple = &self.tuples[tuple_idx * arity..(tuple_idx + 1) * arity];
            let is_valid = self.to_validate.iter().all(|&position| {
                let index = tuple[position];
                index == STAR_INDEX || domains.contains_index(self.scope[position], index)
            });
            if !is_valid {
                n_valid -= 1;
                self.position.swap(place, n_valid);
                continue;
            }
            place += 1;
            let (supported, n_missing) = (&mut self.supported, &mut self.n_missing);
            self.to_support.retain(|&position| {
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
        }
        if n_valid == 0 {
            return Err(Conflict);
        }
        if n_valid as u64 != domains.get(state.n_valid) {
            domains.set(state.n_valid, n_valid as u64);
        }
        // Step 3. Values without support go.
        for &position in &self.to_support {
            let x = self.scope[position];
            domains.restrict_bits(x, &self.supported[position])?;
            domains.set(state.seen_sizes.at(position), domains.size(x));
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        scan_cost(self.position.len())
    }

    duplicate_by_clone!();
}

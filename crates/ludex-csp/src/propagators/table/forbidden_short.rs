//! Forbidden tuples with stars, each treated as a clause.
//!
//! A forbidden tuple fails when all its values are taken and prunes when all but one are.
//! Tuples that lost a value are satisfied permanently and swapped behind a reversible limit.

use std::sync::Arc;

use super::{Permutation, STAR_INDEX, Table, scan_cost};
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A negative table with short tuples.
#[derive(Clone)]
pub struct ForbiddenShort {
    scope: Vec<VarId>,
    table: Arc<Table>,
    permutation: Permutation,
    n_active: Option<Cell>,
}

impl ForbiddenShort {
    /// Creates the constraint that the variables match none of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        Self { scope, table, permutation: Permutation::default(), n_active: None }
    }
}

impl Propagator for ForbiddenShort {
    fn name(&self) -> &'static str {
        "forbidden short tuples"
    }

    scope_and_meaning!(self => false);

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.permutation = Permutation::new(&self.scope, &self.table, setup.domains());
        self.n_active = Some(setup.domains().new_cell(self.permutation.len() as u64));
        for &x in &self.scope {
            setup.subscribe(x, Events::FIXED);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let n_active = self.n_active.expect("a propagator is posted before it propagates");
        let mut result = Pruning::Fixpoint;
        let Self { scope, permutation, .. } = self;
        let active = permutation.retain(domains.get(n_active) as usize, |tuple| {
            let mut open = None;
            let mut n_open = 0;
            let mut is_satisfied = false;
            for (&x, &index) in scope.iter().zip(tuple) {
                if index == STAR_INDEX {
                    continue;
                }
                if !domains.contains_index(x, index) {
                    is_satisfied = true;
                    break;
                }
                if !domains.is_fixed(x) {
                    n_open += 1;
                    open = Some((x, index));
                }
            }
            match (is_satisfied, open) {
                (false, None) => return Err(Conflict),
                (false, Some((x, index))) if n_open == 1 => {
                    domains.remove_index(x, index)?;
                    result = Pruning::MayPruneMore;
                    is_satisfied = true;
                }
                _ => {}
            }
            Ok(!is_satisfied)
        })?;
        domains.set(n_active, active as u64);
        Ok(if active == 0 { Pruning::Entailed } else { result })
    }

    fn cost(&self) -> Cost {
        scan_cost(self.permutation.len())
    }

    duplicate_by_clone!();
}

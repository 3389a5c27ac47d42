//! Removes the value of a fixed variable from the others.

use super::all_different;
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// All different, as strong as the clique of disequalities.
#[derive(Clone)]
pub struct AllDifferentValue {
    scope: Vec<VarId>,
    except: ValueSet,
    /// A permutation of the scope: first the variables whose value has not been removed from
    /// the others yet.
    order: Vec<VarId>,
    n_open: Option<Cell>,
}

impl AllDifferentValue {
    /// Creates the constraint that the variables differ, except for the excepted values.
    pub fn new(scope: &[VarId], except: impl Into<ValueSet>) -> Self {
        Self { scope: scope.to_vec(), except: except.into(), order: scope.to_vec(), n_open: None }
    }
}

impl Propagator for AllDifferentValue {
    fn name(&self) -> &'static str {
        "all different by value"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        all_different(tuple, &self.except)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.n_open = Some(setup.domains().new_cell(self.scope.len() as u64));
        for &x in &self.scope {
            setup.subscribe(x, Events::FIXED);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let cell = self.n_open.expect("a propagator is posted before it propagates");
        let mut n_open = domains.get(cell) as usize;
        let mut place = 0;
        while place < n_open {
            let Some(value) = domains.fixed_value(self.order[place]) else {
                place += 1;
                continue;
            };
            n_open -= 1;
            self.order.swap(place, n_open);
            if self.except.contains(value) {
                continue;
            }
            let mut has_fixed = false;
            for &x in &self.order[..n_open] {
                has_fixed |= domains.remove(x, value)? && domains.is_fixed(x);
            }
            // Pruning may have fixed a variable before this position.
            if has_fixed {
                place = 0;
            }
        }
        domains.set(cell, n_open as u64);
        Ok(if n_open <= 1 { Pruning::Entailed } else { Pruning::Fixpoint })
    }

    fn cost(&self) -> Cost {
        Cost::Linear
    }

    duplicate_by_clone!();
}

//! The bound of branch and bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// The objective is better than the best value that any thread has found so far.
///
/// The bound only tightens and is not part of the trail: values it pruned at a node may return
/// on backtracking, and the next call prunes them again.
#[derive(Clone)]
pub struct ObjectiveBound {
    scope: [VarId; 1],
    is_minimized: bool,
    /// The greatest (or least) value that still improves the objective.
    bound: Arc<AtomicI64>,
}

impl ObjectiveBound {
    /// Creates the constraint that `x` is at most (when minimized), else at least, the shared
    /// bound.
    pub fn new(x: VarId, is_minimized: bool, bound: Arc<AtomicI64>) -> Self {
        Self { scope: [x], is_minimized, bound }
    }
}

impl Propagator for ObjectiveBound {
    fn name(&self) -> &'static str {
        "objective"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let bound = self.bound.load(Ordering::Relaxed);
        if self.is_minimized { i64::from(tuple[0]) <= bound } else { i64::from(tuple[0]) >= bound }
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe(self.scope[0], Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let bound = self.bound.load(Ordering::Relaxed);
        if self.is_minimized {
            domains.at_most_wide(self.scope[0], bound)?;
        } else {
            domains.at_least_wide(self.scope[0], bound)?;
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

//! What was refuted before a restart, so that it is not refuted again.
//!
//! A refuted decision below positive decisions is a nogood: these and the refuted one can't
//! all be. Negative decisions before it need not be kept.
//!
//! After Lecoutre, Sais, Tabary and Vidal, *Nogood Recording from Restarts*, IJCAI 2007.
//! Nogoods are propagated by two watched decisions each.

use std::sync::{Arc, Mutex};

use crate::Value;
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};

/// "The variable takes the value with this index."
pub(super) type Assignment = (VarId, u32);

/// A growing set of nogoods, shared by the search that adds and the propagator that prunes.
#[derive(Clone, Default)]
pub(super) struct NogoodBase {
    shared: Arc<Mutex<Nogoods>>,
}

#[derive(Clone, Default)]
struct Nogoods {
    /// The first two of each are watched.
    nogoods: Vec<Vec<Assignment>>,
    /// By variable: the nogoods that watch it.
    watches: Vec<Vec<u32>>,
}

impl NogoodBase {
    pub fn propagator(&self, vars: Vec<VarId>, n_variables: usize) -> Box<dyn Propagator> {
        self.lock().watches.resize(n_variables, Vec::new());
        Box::new(NogoodPropagator {
            base: self.clone(),
            order: vars.clone(),
            scope: vars,
            n_open: None,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Nogoods> {
        self.shared.lock().expect("no thread panics while it holds the nogoods")
    }

    /// Adds a nogood at the root; says whether there was anything to keep.
    ///
    /// # Errors
    /// [`Conflict`] when it leaves a domain empty.
    pub fn add(
        &self,
        mut nogood: Vec<Assignment>,
        domains: &mut Domains,
    ) -> Result<bool, Conflict> {
        if nogood.iter().any(|&(x, index)| !domains.contains_index(x, index)) {
            return Ok(false);
        }
        nogood.retain(|&(x, _)| !domains.is_fixed(x));
        match nogood[..] {
            [] => Err(Conflict),
            [(x, index)] => domains.remove_index(x, index),
            [(x, _), (y, _), ..] => {
                let mut base = self.lock();
                let id = base.nogoods.len() as u32;
                base.watches[x.index()].push(id);
                base.watches[y.index()].push(id);
                base.nogoods.push(nogood);
                Ok(true)
            }
        }
    }
}

struct NogoodPropagator {
    base: NogoodBase,
    scope: Vec<VarId>,
    /// Variables whose fixing was not yet seen come first.
    order: Vec<VarId>,
    n_open: Option<Cell>,
}

impl NogoodPropagator {
    /// Looks at the nogoods that watch a variable which is fixed now.
    fn visit(base: &mut Nogoods, x: VarId, domains: &mut Domains) -> Result<(), Conflict> {
        let mut watching = std::mem::take(&mut base.watches[x.index()]);
        let mut kept = 0;
        let mut result = Ok(());
        let mut at = 0;
        while at < watching.len() {
            let id = watching[at];
            at += 1;
            let nogood = &mut base.nogoods[id as usize];
            if nogood[0].0 == x {
                nogood.swap(0, 1);
            }
            let (_, index) = nogood[1];
            let is_open = |&(y, index): &Assignment, domains: &Domains| {
                !domains.is_fixed(y) || !domains.contains_index(y, index)
            };
            if !domains.contains_index(x, index) {
                watching[kept] = id;
                kept += 1;
                continue;
            }
            if let Some(other) = (2..nogood.len()).find(|&i| is_open(&nogood[i], domains)) {
                nogood.swap(1, other);
                base.watches[nogood[1].0.index()].push(id);
                continue;
            }
            watching[kept] = id;
            kept += 1;
            let (y, index) = nogood[0];
            if let Err(conflict) = domains.remove_index(y, index) {
                result = Err(conflict);
                break;
            }
        }
        watching.copy_within(at.., kept);
        watching.truncate(kept + watching.len() - at);
        base.watches[x.index()] = watching;
        result
    }
}

impl Propagator for NogoodPropagator {
    fn name(&self) -> &'static str {
        "nogoods"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        // Nogoods only forbid what has no solution, so every solution passes.
        tuple.len() == self.scope.len()
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.n_open = Some(setup.domains().new_cell(self.scope.len() as u64));
        for &x in &self.scope {
            setup.subscribe(x, Events::FIXED);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let base = self.base.clone();
        let mut base = base.lock();
        if base.nogoods.is_empty() {
            return Ok(Pruning::Fixpoint);
        }
        let cell = self.n_open.expect("a propagator is posted before it propagates");
        let mut n_open = domains.get(cell) as usize;
        for place in (0..n_open).rev() {
            if domains.is_fixed(self.order[place]) {
                n_open -= 1;
                self.order.swap(place, n_open);
                domains.set(cell, n_open as u64);
                Self::visit(&mut base, self.order[n_open], domains)?;
            }
        }
        Ok(Pruning::MayPruneMore)
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn duplicate(&self) -> Box<dyn Propagator> {
        let base = NogoodBase { shared: Arc::new(Mutex::new(self.base.lock().clone())) };
        Box::new(Self {
            base,
            scope: self.scope.clone(),
            order: self.order.clone(),
            n_open: self.n_open,
        })
    }
}

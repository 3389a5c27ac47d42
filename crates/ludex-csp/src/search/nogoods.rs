//! Nogoods: refuted parts of the tree, recorded at a restart so that they are not refuted
//! again.
//!
//! A refuted decision below positive decisions gives a nogood: these and the refuted decision
//! can't all hold. Earlier negative decisions are left out, unless their positive half is not
//! refuted yet: when two threads share a tree, each can refute only its own half.
//!
//! After Lecoutre, Sais, Tabary and Vidal, *Nogood Recording from Restarts*, IJCAI 2007.
//! Each nogood watches two decisions and is checked when one of their variables is fixed.

use std::sync::{Arc, Mutex};

use crate::Value;
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};

/// "The variable takes, or does not take, the value with this index."
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Literal {
    pub x: VarId,
    pub index: u32,
    pub is_positive: bool,
}

impl Literal {
    /// Whether the domain contradicts the literal.
    fn is_false(&self, domains: &Domains) -> bool {
        if self.is_positive {
            !domains.contains_index(self.x, self.index)
        } else {
            domains.is_fixed(self.x) && domains.contains_index(self.x, self.index)
        }
    }

    /// Whether the literal is not known to hold. A literal whose value was removed also counts
    /// as open: the propagator notices the removal only when the variable is fixed.
    fn is_open(&self, domains: &Domains) -> bool {
        !domains.is_fixed(self.x) || self.is_false(domains)
    }

    /// Makes the literal false.
    fn refute(&self, domains: &mut Domains) -> Result<bool, Conflict> {
        if self.is_positive {
            domains.remove_index(self.x, self.index)
        } else {
            domains.fix_index(self.x, self.index)
        }
    }
}

/// A growing set of nogoods, shared by the search that adds them and the propagator that prunes
/// with them.
#[derive(Clone, Default)]
pub(super) struct NogoodBase {
    shared: Arc<Mutex<Nogoods>>,
}

#[derive(Clone, Default)]
struct Nogoods {
    /// The first two of each are watched.
    nogoods: Vec<Vec<Literal>>,
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

    /// Adds a nogood at the root; returns whether it was worth keeping.
    ///
    /// # Errors
    /// [`Conflict`] when it leaves a domain empty.
    pub fn add(&self, mut nogood: Vec<Literal>, domains: &mut Domains) -> Result<bool, Conflict> {
        if nogood.iter().any(|literal| literal.is_false(domains)) {
            return Ok(false);
        }
        nogood.retain(|literal| literal.is_open(domains));
        match nogood[..] {
            [] => Err(Conflict),
            [literal] => literal.refute(domains),
            [first, second, ..] => {
                let mut base = self.lock();
                let id = base.nogoods.len() as u32;
                base.watches[first.x.index()].push(id);
                base.watches[second.x.index()].push(id);
                base.nogoods.push(nogood);
                Ok(true)
            }
        }
    }
}

struct NogoodPropagator {
    base: NogoodBase,
    scope: Vec<VarId>,
    /// The scope; variables not yet seen as fixed come first.
    order: Vec<VarId>,
    n_open: Option<Cell>,
}

impl NogoodPropagator {
    /// Checks the nogoods that watch a newly fixed variable.
    fn visit(base: &mut Nogoods, x: VarId, domains: &mut Domains) -> Result<(), Conflict> {
        let mut watching = std::mem::take(&mut base.watches[x.index()]);
        let mut kept = 0;
        let mut result = Ok(());
        let mut at = 0;
        while at < watching.len() {
            let id = watching[at];
            at += 1;
            let nogood = &mut base.nogoods[id as usize];
            if nogood[0].x == x {
                nogood.swap(0, 1);
            }
            let is_settled = nogood[1].is_false(domains);
            let is_open = |literal: &Literal| literal.is_open(domains);
            let other = if is_settled {
                None
            } else {
                nogood[2..].iter().position(is_open).map(|at| at + 2)
            };
            match other {
                Some(other) if nogood[other].x != x => {
                    nogood.swap(1, other);
                    base.watches[nogood[1].x.index()].push(id);
                    continue;
                }
                // An open literal of a fixed variable is false.
                Some(_) => {}
                None if is_settled => {}
                None => result = nogood[0].refute(domains).map(|_| ()),
            }
            watching[kept] = id;
            kept += 1;
            if result.is_err() {
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
        // Nogoods exclude no solution, so every solution satisfies this constraint.
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

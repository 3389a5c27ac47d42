//! The least or the greatest of a list of variables.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// `result` is the greatest, or the least, of a list of variables.
#[derive(Clone)]
pub struct Extremum {
    /// The result, then the list.
    scope: Vec<VarId>,
    is_maximum: bool,
}

impl Extremum {
    /// Creates the constraint `result = max(list)`.
    pub fn maximum(result: VarId, list: &[VarId]) -> Self {
        Self::new(result, list, true)
    }

    /// Creates the constraint `result = min(list)`.
    pub fn minimum(result: VarId, list: &[VarId]) -> Self {
        Self::new(result, list, false)
    }

    fn new(result: VarId, list: &[VarId], is_maximum: bool) -> Self {
        assert!(!list.is_empty(), "an extremum of an empty list");
        let scope = std::iter::once(result).chain(list.iter().copied()).collect();
        Self { scope, is_maximum }
    }

    // The minimum is the maximum with all signs reversed, so one algorithm serves both.

    fn lo(&self, x: VarId, domains: &Domains) -> Value {
        if self.is_maximum { domains.min(x) } else { -domains.max(x) }
    }

    fn hi(&self, x: VarId, domains: &Domains) -> Value {
        if self.is_maximum { domains.max(x) } else { -domains.min(x) }
    }

    fn at_least(&self, x: VarId, value: Value, domains: &mut Domains) -> Result<bool, Conflict> {
        if self.is_maximum { domains.at_least(x, value) } else { domains.at_most(x, -value) }
    }

    fn at_most(&self, x: VarId, value: Value, domains: &mut Domains) -> Result<bool, Conflict> {
        if self.is_maximum { domains.at_most(x, value) } else { domains.at_least(x, -value) }
    }
}

impl Propagator for Extremum {
    fn name(&self) -> &'static str {
        if self.is_maximum { "maximum" } else { "minimum" }
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let list = tuple[1..].iter().copied();
        Some(tuple[0]) == if self.is_maximum { list.max() } else { list.min() }
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(&self.scope, Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let (result, list) = (self.scope[0], &self.scope[1..]);
        let lo = list.iter().map(|&x| self.lo(x, domains)).max().expect("not empty");
        let hi = list.iter().map(|&x| self.hi(x, domains)).max().expect("not empty");
        self.at_least(result, lo, domains)?;
        self.at_most(result, hi, domains)?;
        let (lo, hi) = (self.lo(result, domains), self.hi(result, domains));
        let mut reaching = None;
        let mut n_reaching = 0;
        for &x in list {
            self.at_most(x, hi, domains)?;
            if self.hi(x, domains) >= lo {
                n_reaching += 1;
                reaching = Some(x);
            }
        }
        let reaching = reaching.ok_or(Conflict)?;
        if n_reaching == 1 {
            self.at_least(reaching, lo, domains)?;
        }
        Ok(Pruning::MayPruneMore)
    }

    duplicate_by_clone!();
}

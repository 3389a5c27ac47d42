//! The least or the greatest of some variables.

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
    /// `result = max(list)`.
    pub fn maximum(result: VarId, list: &[VarId]) -> Self {
        Self::new(result, list, true)
    }

    /// `result = min(list)`.
    pub fn minimum(result: VarId, list: &[VarId]) -> Self {
        Self::new(result, list, false)
    }

    fn new(result: VarId, list: &[VarId], is_maximum: bool) -> Self {
        assert!(!list.is_empty(), "an extremum is of something");
        let scope = std::iter::once(result).chain(list.iter().copied()).collect();
        Self { scope, is_maximum }
    }

    /// For the maximum: `least` of the list bounds the result from below, and so on.
    fn propagate_maximum(&self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let (result, list) = (self.scope[0], &self.scope[1..]);
        let lo = list.iter().map(|&x| domains.min(x)).max().expect("not empty");
        let hi = list.iter().map(|&x| domains.max(x)).max().expect("not empty");
        domains.at_least(result, lo)?;
        domains.at_most(result, hi)?;
        let (lo, hi) = (domains.min(result), domains.max(result));
        let mut reaching = None;
        let mut n_reaching = 0;
        for &x in list {
            domains.at_most(x, hi)?;
            if domains.max(x) >= lo {
                n_reaching += 1;
                reaching = Some(x);
            }
        }
        match reaching {
            None => Err(Conflict),
            Some(x) if n_reaching == 1 => {
                domains.at_least(x, lo)?;
                Ok(Pruning::MayPruneMore)
            }
            _ => Ok(Pruning::MayPruneMore),
        }
    }

    fn propagate_minimum(&self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let (result, list) = (self.scope[0], &self.scope[1..]);
        let lo = list.iter().map(|&x| domains.min(x)).min().expect("not empty");
        let hi = list.iter().map(|&x| domains.max(x)).min().expect("not empty");
        domains.at_least(result, lo)?;
        domains.at_most(result, hi)?;
        let (lo, hi) = (domains.min(result), domains.max(result));
        let mut reaching = None;
        let mut n_reaching = 0;
        for &x in list {
            domains.at_least(x, lo)?;
            if domains.min(x) <= hi {
                n_reaching += 1;
                reaching = Some(x);
            }
        }
        match reaching {
            None => Err(Conflict),
            Some(x) if n_reaching == 1 => {
                domains.at_most(x, hi)?;
                Ok(Pruning::MayPruneMore)
            }
            _ => Ok(Pruning::MayPruneMore),
        }
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
        for &x in &self.scope {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        if self.is_maximum {
            self.propagate_maximum(domains)
        } else {
            self.propagate_minimum(domains)
        }
    }

    duplicate_by_clone!();
}

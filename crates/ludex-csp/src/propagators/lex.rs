//! Lexicographic order of two lists.
//!
//! After Frisch, Hnich, Kiziltan, Miguel and Walsh, *Global Constraints for Lexicographic
//! Orderings*, CP 2002: only the first open pair can prune, and the pairs after it decide
//! whether it may be equal.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// The first list precedes the second in lexicographic order, or equals it unless strict.
#[derive(Clone)]
pub struct Lex {
    /// The first list, then the second.
    scope: Vec<VarId>,
    n: usize,
    is_strict: bool,
}

impl Lex {
    /// Creates the constraint `first <= second`, or `first < second` when strict.
    ///
    /// # Panics
    /// When the lists have different lengths.
    pub fn new(first: &[VarId], second: &[VarId], is_strict: bool) -> Self {
        assert_eq!(first.len(), second.len(), "the lists have different lengths");
        Self { scope: [first, second].concat(), n: first.len(), is_strict }
    }

    /// Whether the pairs from `from` on can still be in order.
    fn tail_may_hold(&self, from: usize, domains: &Domains) -> bool {
        for at in from..self.n {
            let (lo, hi) = (domains.min(self.scope[at]), domains.max(self.scope[self.n + at]));
            if lo != hi {
                return lo < hi;
            }
        }
        !self.is_strict
    }
}

impl Propagator for Lex {
    fn name(&self) -> &'static str {
        "lexicographic order"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let (first, second) = tuple.split_at(self.n);
        if self.is_strict { first < second } else { first <= second }
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for &x in &self.scope {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        for at in 0..self.n {
            let (x, y) = (self.scope[at], self.scope[self.n + at]);
            if domains.max(x) < domains.min(y) {
                return Ok(Pruning::Entailed);
            }
            let gap = Value::from(!self.tail_may_hold(at + 1, domains));
            domains.at_most(x, domains.max(y) - gap)?;
            domains.at_least(y, domains.min(x) + gap)?;
            let is_equal = domains.is_fixed(x) && domains.fixed_value(x) == domains.fixed_value(y);
            if !is_equal {
                return Ok(Pruning::Fixpoint);
            }
        }
        if self.is_strict { Err(Conflict) } else { Ok(Pruning::Entailed) }
    }

    duplicate_by_clone!();
}

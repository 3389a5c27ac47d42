//! The number of variables with a value in a set.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// The number of variables of a list with a value in a set equals a variable.
///
/// "Among", "exactly", "at least" and "at most" are this constraint with a suitable domain of
/// the count.
#[derive(Clone)]
pub struct Count {
    /// The count, then the list.
    scope: Vec<VarId>,
    set: ValueSet,
}

/// Largest domain whose values are tested one by one.
const MAX_FILTERED: u64 = 1 << 16;

impl Count {
    /// Creates the constraint that `count` variables of the list have a value in the set.
    pub fn new(list: &[VarId], set: impl Into<ValueSet>, count: VarId) -> Self {
        let scope = std::iter::once(count).chain(list.iter().copied()).collect();
        Self { scope, set: set.into() }
    }

    /// Whether all values of the variable are in the set, or none; `None` if both kinds are
    /// left.
    fn status(&self, x: VarId, domains: &Domains) -> Option<bool> {
        if let Some(value) = domains.fixed_value(x) {
            return Some(self.set.contains(value));
        }
        let (lo, hi) = (domains.min(x), domains.max(x));
        let single = match self.set.ranges() {
            [(a, b)] if a == b => Some(*a),
            _ => None,
        };
        if let Some(value) = single {
            return if domains.contains(x, value) { None } else { Some(false) };
        }
        let mut near = self.set.ranges().iter().filter(|&&(a, b)| a <= hi && lo <= b).peekable();
        if near.peek().is_none() {
            return Some(false);
        }
        if near.any(|&(a, b)| a <= lo && hi <= b) {
            return Some(true);
        }
        if domains.size(x) > 4096 {
            return None;
        }
        match domains.values(x).filter(|&v| self.set.contains(v)).count() as u64 {
            0 => Some(false),
            n if n == domains.size(x) => Some(true),
            _ => None,
        }
    }
}

impl Propagator for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let n = tuple[1..].iter().filter(|&&value| self.set.contains(value)).count();
        i64::from(tuple[0]) == n as i64
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe(self.scope[0], Events::BOUNDS);
        for &x in &self.scope[1..] {
            setup.subscribe(x, Events::ANY);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let count = self.scope[0];
        let mut n_in = 0;
        let mut open = smallvec::SmallVec::<[VarId; 32]>::new();
        for &x in &self.scope[1..] {
            match self.status(x, domains) {
                Some(true) => n_in += 1,
                Some(false) => {}
                None => open.push(x),
            }
        }
        domains.at_least(count, n_in)?;
        domains.at_most(count, n_in + open.len() as Value)?;
        let all_in = domains.min(count) == n_in + open.len() as Value;
        let none_in = domains.max(count) == n_in;
        if !all_in && !none_in {
            return Ok(Pruning::Fixpoint);
        }
        let mut result = Pruning::Entailed;
        for x in open {
            if self.set.len() > 1 && domains.size(x) > MAX_FILTERED {
                // The domain is too large to filter now, so the variable is checked again when
                // it has shrunk.
                result = Pruning::MayPruneMore;
                if all_in && let (Some(lo), Some(hi)) = (self.set.min(), self.set.max()) {
                    domains.at_least(x, lo)?;
                    domains.at_most(x, hi)?;
                }
            } else if none_in {
                match self.set.ranges() {
                    [(a, b)] if a == b => domains.remove(x, *a)?,
                    _ => domains.retain(x, |value| !self.set.contains(value))?,
                };
            } else {
                match self.set.ranges() {
                    [(a, b)] if a == b => domains.fix(x, *a)?,
                    _ => domains.retain(x, |value| self.set.contains(value))?,
                };
            }
        }
        Ok(result)
    }

    duplicate_by_clone!();
}

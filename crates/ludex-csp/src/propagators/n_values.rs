//! The number of different values of a list of variables.

use rustc_hash::FxHashSet;

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// The number of different values of a list equals a variable; excepted values do not count.
///
/// The bounds come from the fixed variables and from a greedy set of variables with disjoint
/// ranges. When the count reaches one of its bounds, the open variables keep only used values
/// or only new ones.
#[derive(Clone)]
pub struct NValues {
    /// The count, then the list.
    scope: Vec<VarId>,
    except: ValueSet,
}

/// Largest domain whose values are tested one by one.
const MAX_FILTERED: u64 = 1 << 16;

impl NValues {
    /// Creates the constraint that the list has `count` different values besides the excepted
    /// ones.
    pub fn new(list: &[VarId], except: impl Into<ValueSet>, count: VarId) -> Self {
        let scope = std::iter::once(count).chain(list.iter().copied()).collect();
        Self { scope, except: except.into() }
    }
}

impl Propagator for NValues {
    fn name(&self) -> &'static str {
        "number of values"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let values: FxHashSet<Value> =
            tuple[1..].iter().copied().filter(|&v| !self.except.contains(v)).collect();
        i64::from(tuple[0]) == values.len() as i64
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe(self.scope[0], Events::BOUNDS);
        for &x in &self.scope[1..] {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let count = self.scope[0];
        let mut taken = FxHashSet::default();
        let mut open = Vec::new();
        for &x in &self.scope[1..] {
            match domains.fixed_value(x) {
                Some(value) if self.except.contains(value) => {}
                Some(value) => {
                    taken.insert(value);
                }
                None => open.push(x),
            }
        }
        // Ranges that are disjoint from each other and from the exceptions need one value each.
        let mut ranges: Vec<(Value, Value)> = self.scope[1..]
            .iter()
            .map(|&x| (domains.max(x), domains.min(x)))
            .filter(|&(hi, lo)| !self.except.ranges().iter().any(|&(a, b)| a <= hi && lo <= b))
            .collect();
        ranges.sort_unstable();
        let (mut n_disjoint, mut end) = (0, i64::MIN);
        for (hi, lo) in ranges {
            if i64::from(lo) > end {
                n_disjoint += 1;
                end = i64::from(hi);
            }
        }
        let n_taken = taken.len() as Value;
        domains.at_least(count, n_taken.max(n_disjoint))?;
        domains.at_most(count, n_taken + open.len() as Value)?;
        if open.is_empty() {
            return Ok(Pruning::Entailed);
        }
        if domains.max(count) == n_taken {
            for &x in open.iter().filter(|&&x| domains.size(x) <= MAX_FILTERED).collect::<Vec<_>>()
            {
                domains.retain(x, |v| taken.contains(&v) || self.except.contains(v))?;
            }
            return Ok(Pruning::MayPruneMore);
        }
        if domains.min(count) == n_taken + open.len() as Value {
            for &x in open.iter().filter(|&&x| domains.size(x) <= MAX_FILTERED).collect::<Vec<_>>()
            {
                domains.retain(x, |v| !taken.contains(&v) && !self.except.contains(v))?;
            }
            return Ok(Pruning::MayPruneMore);
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}

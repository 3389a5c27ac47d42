//! Equality and difference of two variables up to a constant.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// `x != y + offset`.
#[derive(Clone)]
pub struct NotEqual {
    scope: [VarId; 2],
    offset: i64,
}

impl NotEqual {
    /// Creates the constraint `x != y + offset`.
    pub fn new(x: VarId, y: VarId, offset: i64) -> Self {
        Self { scope: [x, y], offset }
    }
}

impl Propagator for NotEqual {
    fn name(&self) -> &'static str {
        "not equal"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        i64::from(tuple[0]) != i64::from(tuple[1]) + self.offset
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for x in self.scope {
            setup.subscribe(x, Events::FIXED);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let [x, y] = self.scope;
        if let Some(value) = domains.fixed_value(x) {
            remove_wide(domains, y, i64::from(value) - self.offset)?;
            return Ok(Pruning::Entailed);
        }
        if let Some(value) = domains.fixed_value(y) {
            remove_wide(domains, x, i64::from(value) + self.offset)?;
            return Ok(Pruning::Entailed);
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

fn remove_wide(domains: &mut Domains, x: VarId, value: i64) -> Result<bool, Conflict> {
    Value::try_from(value).map_or(Ok(false), |value| domains.remove(x, value))
}

/// `x = y + offset`, domain consistent, but only bounds consistent between wide ranges.
#[derive(Clone)]
pub struct EqualOffset {
    scope: [VarId; 2],
    offset: i64,
}

/// Largest domains compared value by value; larger ones are compared by bounds until they
/// shrink.
const MAX_COMPARED: u64 = 1 << 16;

impl EqualOffset {
    /// Creates the constraint `x = y + offset`.
    pub fn new(x: VarId, y: VarId, offset: i64) -> Self {
        Self { scope: [x, y], offset }
    }
}

impl Propagator for EqualOffset {
    fn name(&self) -> &'static str {
        "equal"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        i64::from(tuple[0]) == i64::from(tuple[1]) + self.offset
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let ([x, y], offset) = (self.scope, self.offset);
        loop {
            domains.at_least_wide(x, i64::from(domains.min(y)) + offset)?;
            domains.at_most_wide(x, i64::from(domains.max(y)) + offset)?;
            let raised = domains.at_least_wide(y, i64::from(domains.min(x)) - offset)?;
            let lowered = domains.at_most_wide(y, i64::from(domains.max(x)) - offset)?;
            if !raised && !lowered {
                break;
            }
        }
        if domains.is_fixed(x) {
            return Ok(Pruning::Entailed);
        }
        let (n_x, n_y) = (domains.size(x), domains.size(y));
        let span = (i64::from(domains.max(x)) - i64::from(domains.min(x)) + 1) as u64;
        if n_x.max(n_y) > MAX_COMPARED || (n_x == span && n_y == span) {
            return Ok(Pruning::Fixpoint);
        }
        let kept = |domains: &Domains, z: VarId, value: i64| {
            Value::try_from(value).is_ok_and(|value| domains.contains(z, value))
        };
        let lost: Vec<Value> =
            domains.values(x).filter(|&v| !kept(domains, y, i64::from(v) - offset)).collect();
        for value in lost {
            domains.remove(x, value)?;
        }
        let lost: Vec<Value> =
            domains.values(y).filter(|&v| !kept(domains, x, i64::from(v) + offset)).collect();
        for value in lost {
            domains.remove(y, value)?;
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

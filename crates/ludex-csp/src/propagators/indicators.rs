//! Truth variables for many values of one variable.

use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// `truths[i]` is 1 exactly when the variable has the value `values[i]`.
///
/// Equivalent to one constraint for each value, but woken once per change instead of once per
/// value.
#[derive(Clone)]
pub struct Indicators {
    /// The variable, then the truths.
    scope: Vec<VarId>,
    values: Vec<Value>,
    /// The truths by number; those from the limit on are settled, as are their values.
    order: Vec<u32>,
    limit: Option<Cell>,
}

impl Indicators {
    /// Creates the constraint that each truth, with values 0 and 1, is 1 exactly when `x` has
    /// its value.
    pub fn new(x: VarId, truths: &[(Value, VarId)]) -> Self {
        let scope = std::iter::once(x).chain(truths.iter().map(|(_, truth)| *truth)).collect();
        let values = truths.iter().map(|(value, _)| *value).collect();
        Self { scope, values, order: (0..truths.len() as u32).collect(), limit: None }
    }

    /// Propagates between one value and its truth; returns whether both are settled.
    fn settle(&self, number: usize, domains: &mut Domains) -> Result<bool, Conflict> {
        let (x, truth, value) = (self.scope[0], self.scope[number + 1], self.values[number]);
        let is_possible = domains.contains(x, value);
        if !is_possible {
            domains.fix(truth, 0)?;
            return Ok(true);
        }
        if domains.is_fixed(x) {
            domains.fix(truth, 1)?;
            return Ok(true);
        }
        match domains.fixed_value(truth) {
            None => return Ok(false),
            Some(0) => domains.remove(x, value)?,
            Some(1) => domains.fix(x, value)?,
            Some(_) => return Err(Conflict),
        };
        Ok(true)
    }
}

impl Propagator for Indicators {
    fn name(&self) -> &'static str {
        "indicators"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.values
            .iter()
            .zip(&tuple[1..])
            .all(|(&it, &truth)| truth == Value::from(it == tuple[0]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.limit = Some(setup.domains().new_cell(self.values.len() as u64));
        setup.subscribe(self.scope[0], Events::ANY);
        setup.subscribe_all(&self.scope[1..], Events::FIXED);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let limit = self.limit.expect("a propagator is posted before it propagates");
        let old_end = domains.get(limit) as usize;
        let (mut at, mut end) = (0, old_end);
        let size = domains.size(self.scope[0]);
        while at < end {
            if self.settle(self.order[at] as usize, domains)? {
                end -= 1;
                self.order.swap(at, end);
            } else {
                at += 1;
            }
        }
        if end != old_end {
            domains.set(limit, end as u64);
        }
        // Removing a value for its truth may leave one value, which an indicator visited
        // earlier did not see.
        Ok(match end {
            0 => Pruning::Entailed,
            _ if domains.size(self.scope[0]) == size => Pruning::Fixpoint,
            _ => Pruning::MayPruneMore,
        })
    }

    duplicate_by_clone!();
}

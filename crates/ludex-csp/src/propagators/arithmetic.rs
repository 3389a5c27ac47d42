//! `z = x op y` for products, quotients, remainders, powers and distances.
//!
//! Bounds are narrowed by interval evaluation: a part of a range is removed when all its
//! results miss the range of `z`. Parts are halved, so wide ranges take logarithmic time where
//! the operation is monotone. Where it is not, the search for a bound gives up after
//! `MAX_PARTS` parts, and values without support stay until the range is narrower.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::expr::Operation;
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// `z = x op y`, where the operation is defined.
#[derive(Clone)]
pub struct Arithmetic {
    scope: [VarId; 3],
    op: Operation,
}

impl Arithmetic {
    /// Creates the constraint `z = x op y`.
    pub fn new(op: Operation, x: VarId, y: VarId, z: VarId) -> Self {
        Self { scope: [x, y, z], op }
    }
}

type Bounds = (i64, i64);

fn bounds(domains: &Domains, x: VarId) -> Bounds {
    (i64::from(domains.min(x)), i64::from(domains.max(x)))
}

/// Largest number of parts of a range in which a bound is searched.
const MAX_PARTS: u32 = 4096;
/// Rounds of mutual narrowing before other propagators get a turn.
const MAX_ROUNDS: usize = 16;

/// Returns the least and the greatest value whose surrounding parts may all be possible.
fn possible_bounds(range: Bounds, possible: &dyn Fn(Bounds) -> bool) -> Result<Bounds, Conflict> {
    let first = first_possible(range, possible, &mut { MAX_PARTS }).ok_or(Conflict)?;
    let last = last_possible(range, possible, &mut { MAX_PARTS }).ok_or(Conflict)?;
    Ok((first, last))
}

fn first_possible(
    (lo, hi): Bounds,
    possible: &dyn Fn(Bounds) -> bool,
    n_parts: &mut u32,
) -> Option<i64> {
    if *n_parts == 0 {
        return Some(lo);
    }
    *n_parts -= 1;
    if !possible((lo, hi)) {
        return None;
    }
    if lo == hi {
        return Some(lo);
    }
    let middle = lo + (hi - lo) / 2;
    first_possible((lo, middle), possible, n_parts)
        .or_else(|| first_possible((middle + 1, hi), possible, n_parts))
}

fn last_possible(
    (lo, hi): Bounds,
    possible: &dyn Fn(Bounds) -> bool,
    n_parts: &mut u32,
) -> Option<i64> {
    if *n_parts == 0 {
        return Some(hi);
    }
    *n_parts -= 1;
    if !possible((lo, hi)) {
        return None;
    }
    if lo == hi {
        return Some(hi);
    }
    let middle = lo + (hi - lo) / 2;
    last_possible((middle + 1, hi), possible, n_parts)
        .or_else(|| last_possible((lo, middle), possible, n_parts))
}

impl Propagator for Arithmetic {
    fn name(&self) -> &'static str {
        "arithmetic"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.op.apply(i64::from(tuple[0]), i64::from(tuple[1])) == Some(i64::from(tuple[2]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for x in self.scope {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let ([x, y, z], op) = (self.scope, self.op);
        match op {
            Operation::Div | Operation::Mod => {
                domains.remove(y, 0)?;
            }
            Operation::Pow => {
                domains.at_least(y, 0)?;
            }
            _ => {}
        }
        let mut is_fixpoint = false;
        for _ in 0..MAX_ROUNDS {
            let (bx, by) = (bounds(domains, x), bounds(domains, y));
            let (lo, hi) = op.bounds(bx, by);
            let mut is_reduced = domains.at_least_wide(z, lo)? | domains.at_most_wide(z, hi)?;
            let bz = bounds(domains, z);
            let meets = |(lo, hi): Bounds| lo <= bz.1 && bz.0 <= hi;
            let possible_x = |part: Bounds| meets(op.bounds(part, by));
            let (from, to) = possible_bounds(bx, &possible_x)?;
            is_reduced |= domains.at_least_wide(x, from)? | domains.at_most_wide(x, to)?;
            let bx = bounds(domains, x);
            let possible_y = |part: Bounds| meets(op.bounds(bx, part));
            let (from, to) = possible_bounds(by, &possible_y)?;
            is_reduced |= domains.at_least_wide(y, from)? | domains.at_most_wide(y, to)?;
            if !is_reduced {
                is_fixpoint = true;
                break;
            }
        }
        if let (Some(a), Some(b)) = (domains.fixed_value(x), domains.fixed_value(y)) {
            let value = op.apply(i64::from(a), i64::from(b)).ok_or(Conflict)?;
            domains.fix(z, Value::try_from(value).map_err(|_| Conflict)?)?;
            return Ok(Pruning::Entailed);
        }
        Ok(if is_fixpoint { Pruning::Fixpoint } else { Pruning::MayPruneMore })
    }

    fn cost(&self) -> Cost {
        Cost::Linear
    }

    duplicate_by_clone!();
}

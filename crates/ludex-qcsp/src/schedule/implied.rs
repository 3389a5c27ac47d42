//! Consequences of a linear constraint before all its variables are known.
//!
//! With `x` known and `y` between 0 and 3, `2 * x + y = 9` implies `2 * x <= 9` and `2 * x + 3 >=
//! 9`: bounds consistency of sums, compiled into the steps of a level. A choice that it rejects has
//! no completion, so verdicts and strategies stay the same.

use ludex_csp::{Comparison, Expr, Operation, VarId};

use super::fold::{fold, is_total};
use crate::model::Model;

/// The maximal length of a sum.
const MAX_TERMS: usize = 64;

/// Returns conditions on the known variables that the expression implies.
pub(super) fn implied(model: &Model, e: &Expr, is_unknown: &dyn Fn(VarId) -> bool) -> Vec<Expr> {
    let bounds = |x: VarId| model.bounds(x);
    let Expr::Compare(op, a, b) = e else { return Vec::new() };
    let difference = Expr::Sum(vec![(**a).clone(), Expr::Neg(b.clone())]);
    if *op == Comparison::Ne || !is_total(&difference, &bounds) {
        return Vec::new();
    }
    let Some((least, greatest)) = extremes(model, &difference, is_unknown) else {
        return Vec::new();
    };
    let test = |op: Comparison, e: &Expr| {
        Expr::Compare(op, Box::new(e.clone()), Box::new(Expr::Constant(0)))
    };
    let all = match op {
        Comparison::Lt | Comparison::Le => vec![test(*op, &least)],
        Comparison::Gt | Comparison::Ge => vec![test(*op, &greatest)],
        _ => vec![test(Comparison::Le, &least), test(Comparison::Ge, &greatest)],
    };
    let folded = all.iter().map(|e| fold(e, &|_| None, &bounds));
    folded.filter(|e| !matches!(e, Expr::Constant(value) if *value != 0)).collect()
}

/// Returns the least and the greatest value of a sum, as expressions of the known variables.
fn extremes(model: &Model, sum: &Expr, is_unknown: &dyn Fn(VarId) -> bool) -> Option<(Expr, Expr)> {
    let (terms, constant) = sum.linear_form()?;
    if terms.len() > MAX_TERMS {
        return None;
    }
    let (mut least, mut greatest) =
        (vec![Expr::Constant(constant)], vec![Expr::Constant(constant)]);
    for (factor, e) in terms {
        if !e.scope().into_iter().any(is_unknown) {
            least.push(Expr::Constant(factor) * e.clone());
            greatest.push(Expr::Constant(factor) * e.clone());
            continue;
        }
        let (known, (lo, hi)) = known_factor(model, e, is_unknown);
        let ends = [factor.checked_mul(lo)?, factor.checked_mul(hi)?];
        least.push(Expr::Constant(ends[0].min(ends[1])) * known.clone());
        greatest.push(Expr::Constant(ends[0].max(ends[1])) * known);
    }
    Some((Expr::Sum(least), Expr::Sum(greatest)))
}

/// Splits a term into a known factor that is never negative, and the bounds of the rest.
fn known_factor(model: &Model, e: &Expr, is_unknown: &dyn Fn(VarId) -> bool) -> (Expr, (i64, i64)) {
    let bounds = |e: &Expr| e.bounds(&|x| model.bounds(x));
    if let Expr::Binary(Operation::Mul, a, b) = e {
        for (known, rest) in [(a, b), (b, a)] {
            if bounds(known).0 >= 0 && !known.scope().into_iter().any(is_unknown) {
                return ((**known).clone(), bounds(rest));
            }
        }
    }
    (Expr::Constant(1), bounds(e))
}

//! Sums of variables.

use rustc_hash::FxHashMap;

use super::Poster;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr, Operation};
use crate::propagators::{EqualOffset, Linear, LinearRelation, NotEqual};

/// Sums stay below this, so that adding bounds can't overflow.
const SUM_LIMIT: i128 = 1 << 61;

impl Poster<'_> {
    /// An expression as a weighted sum of variables plus a constant.
    pub(super) fn linear_terms(&mut self, e: &Expr) -> Result<(Vec<(i64, VarId)>, i64), CspError> {
        let overflow = || CspError::out_of_range("a coefficient");
        let (terms, mut constant) = e.linear_form().ok_or_else(overflow)?;
        let mut merged: Vec<(i64, VarId)> = Vec::with_capacity(terms.len());
        let mut places: FxHashMap<VarId, usize> = FxHashMap::default();
        for (factor, term) in terms {
            let x = self.var_of(term)?;
            if let Some(value) = self.domains().fixed_value(x) {
                let product = factor.checked_mul(i64::from(value)).ok_or_else(overflow)?;
                constant = constant.checked_add(product).ok_or_else(overflow)?;
                continue;
            }
            match places.get(&x) {
                Some(&place) => {
                    let sum = merged[place].0.checked_add(factor).ok_or_else(overflow)?;
                    merged[place].0 = sum;
                }
                None => {
                    places.insert(x, merged.len());
                    merged.push((factor, x));
                }
            }
        }
        merged.retain(|term| term.0 != 0);
        let total: i128 = merged
            .iter()
            .map(|&(factor, x)| {
                let (lo, hi) = self.bounds_of(x);
                i128::from(factor).abs() * i128::from(lo.abs().max(hi.abs()))
            })
            .sum();
        if total + i128::from(constant).abs() > SUM_LIMIT {
            return Err(CspError::out_of_range("a sum"));
        }
        Ok((merged, constant))
    }

    /// Posts `sum of terms op constant`.
    pub(super) fn linear(
        &mut self,
        terms: &[(i64, VarId)],
        op: Comparison,
        constant: i64,
    ) -> Result<(), CspError> {
        if terms.is_empty() {
            if !op.holds(0, constant) {
                self.fail();
            }
            return Ok(());
        }
        let (terms, relation, constant) = normalized(terms, op, constant);
        match (&terms[..], relation) {
            (&[(1, x), (-1, y)], LinearRelation::Ne) | (&[(-1, y), (1, x)], LinearRelation::Ne) => {
                self.post(NotEqual::new(x, y, constant));
            }
            (&[(1, x), (-1, y)], LinearRelation::Eq) | (&[(-1, y), (1, x)], LinearRelation::Eq) => {
                self.post(EqualOffset::new(x, y, constant));
            }
            (&[(a, x), (b, y)], LinearRelation::Eq) if self.is_small(&[x, y]) => {
                let e =
                    Expr::Sum(vec![scaled(a, x), scaled(b, y)]).equals(Expr::Constant(constant));
                return self.require_table(&e, &[x, y]);
            }
            _ => self.post(Linear::new(&terms, relation, constant)),
        }
        Ok(())
    }
}

/// The terms with the relation as one of the three that propagators know.
pub(super) fn normalized(
    terms: &[(i64, VarId)],
    op: Comparison,
    constant: i64,
) -> (Vec<(i64, VarId)>, LinearRelation, i64) {
    let negative = || terms.iter().map(|&(a, x)| (-a, x)).collect();
    match op {
        Comparison::Eq => (terms.to_vec(), LinearRelation::Eq, constant),
        Comparison::Ne => (terms.to_vec(), LinearRelation::Ne, constant),
        Comparison::Le => (terms.to_vec(), LinearRelation::Le, constant),
        Comparison::Lt => (terms.to_vec(), LinearRelation::Le, constant - 1),
        Comparison::Ge => (negative(), LinearRelation::Le, -constant),
        Comparison::Gt => (negative(), LinearRelation::Le, -constant - 1),
    }
}

pub(super) fn scaled(factor: i64, x: VarId) -> Expr {
    Expr::Binary(Operation::Mul, Box::new(Expr::Constant(factor)), Box::new(Expr::Var(x)))
}

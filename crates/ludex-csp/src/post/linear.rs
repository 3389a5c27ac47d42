//! Sums of variables.

use rustc_hash::FxHashMap;

use super::Poster;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr, Operation};
use crate::propagators::{EqualOffset, Item, Knapsack, Linear, LinearRelation, NotEqual};

/// Largest absolute value of a sum, so that adding bounds can't overflow.
pub(super) const SUM_LIMIT: i128 = 1 << 61;

impl Poster<'_> {
    /// Returns an expression as a weighted sum of variables plus a constant.
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
        let (mut terms, relation, mut constant) = normalized(terms, op, constant);
        // Without a common factor bounds meet sooner, and an equation may fail at once.
        let divisor = terms.iter().fold(0, |divisor, term| gcd(divisor, term.0));
        if divisor > 1 {
            match (relation, constant % divisor == 0) {
                (LinearRelation::Eq, false) => {
                    self.fail();
                    return Ok(());
                }
                (LinearRelation::Ne, false) => return Ok(()),
                _ => constant = constant.div_euclid(divisor),
            }
            terms.iter_mut().for_each(|term| term.0 /= divisor);
        }
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
        if self.network.objective().is_some() && relation != LinearRelation::Ne {
            self.sums.push(Sum { terms, relation, constant });
        }
        Ok(())
    }

    /// Bounds an objective that is a sum by each limited sum over its variables, as a knapsack.
    pub(super) fn bound_objective(&mut self, value: VarId, is_minimized: bool) {
        let sums = std::mem::take(&mut self.sums);
        let defines = |sum: &&Sum| {
            sum.relation == LinearRelation::Eq
                && sum.terms.iter().any(|&(a, x)| x == value && a.abs() == 1)
        };
        // The definition of the objective is the longest such equation; a shorter one may be
        // any other constraint.
        let Some(definition) = sums.iter().filter(defines).max_by_key(|sum| sum.terms.len()) else {
            return;
        };
        let sign = if is_minimized { -1 } else { 1 };
        let (profits, extra) = definition.solved_for(value, sign);
        let profit_of: FxHashMap<VarId, i64> = profits.iter().map(|&(a, x)| (x, a)).collect();
        let mut n_posted = 0;
        for sum in sums.iter().filter(|sum| sum.terms.iter().all(|term| term.1 != value)) {
            for factor in sum.as_limits() {
                let wanted = |x: VarId| profit_of.get(&x).map_or(0, |profit| profit.signum());
                let is_traded = |&&(weight, x): &&(i64, VarId)| {
                    wanted(x) != 0 && wanted(x) == (factor * weight).signum()
                };
                if sum.terms.iter().filter(is_traded).count() < 2 || n_posted == MAX_KNAPSACKS {
                    continue;
                }
                let weight_of: FxHashMap<VarId, i64> =
                    sum.terms.iter().map(|&(a, x)| (x, factor * a)).collect();
                let valued = profits.iter().map(|&(profit, x)| {
                    let weight = weight_of.get(&x).copied().unwrap_or(0);
                    Item { x, weight, profit }
                });
                let others = sum.terms.iter().filter(|term| !profit_of.contains_key(&term.1));
                let others = others.map(|&(a, x)| Item { x, weight: factor * a, profit: 0 });
                let items = valued.chain(others).collect();
                let capacity = factor * sum.constant;
                if let Some(knapsack) = Knapsack::new(items, capacity, value, sign, extra) {
                    self.post(knapsack);
                    n_posted += 1;
                }
            }
        }
    }
}

/// Largest number of limited sums that bound an objective.
const MAX_KNAPSACKS: usize = 32;

/// A posted sum that is at most or equal to a constant.
pub(super) struct Sum {
    terms: Vec<(i64, VarId)>,
    relation: LinearRelation,
    constant: i64,
}

impl Sum {
    /// Rewrites an equation with a term `value` or `-value` as `sign * value = terms +
    /// constant`.
    fn solved_for(&self, value: VarId, sign: i64) -> (Vec<(i64, VarId)>, i64) {
        let own = self
            .terms
            .iter()
            .find(|term| term.1 == value)
            .expect("the equation contains the value")
            .0;
        let others = self.terms.iter().filter(|term| term.1 != value);
        (others.map(|&(a, x)| (-sign * own * a, x)).collect(), sign * own * self.constant)
    }

    /// Returns the factors by which the sum becomes an upper limit: at most its constant.
    fn as_limits(&self) -> &'static [i64] {
        match self.relation {
            LinearRelation::Eq => &[1, -1],
            _ => &[1],
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Rewrites the relation as one of the three that propagators support.
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

//! Posts expressions that must be true.

use super::{Poster, negation};
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr};
use crate::propagators::{Clause, Literal};
use crate::{VALUE_LIMIT, Value, ValueSet};

impl Poster<'_> {
    pub(super) fn require(&mut self, e: &Expr) -> Result<(), CspError> {
        match e {
            Expr::And(list) => return list.iter().try_for_each(|e| self.require(e)),
            Expr::Not(inner) => {
                if let Some(negated) = negation(inner) {
                    return self.require(&negated);
                }
            }
            Expr::If(c, a, b) => {
                self.require(&Expr::Or(vec![Expr::Not(c.clone()), (**a).clone()]))?;
                return self.require(&Expr::Or(vec![(**c).clone(), (**b).clone()]));
            }
            Expr::AllEqual(list) => {
                return list
                    .windows(2)
                    .try_for_each(|pair| self.require(&pair[0].clone().equals(&pair[1])));
            }
            _ => {}
        }
        let scope = e.scope();
        if scope.is_empty() {
            if !e.holds(&|_| 0) {
                self.fail();
            }
            return Ok(());
        }
        if let [x] = *scope
            && self.domains().bits(x).is_some()
        {
            self.prune(|d| d.retain(x, |value| e.holds(&|_| i64::from(value))));
            return Ok(());
        }
        if let Some(literal) = self.literal(e) {
            self.prune(|d| literal.assert(d));
            return Ok(());
        }
        if let Expr::Compare(Comparison::Ne, a, b) = e
            && let Expr::Var(truth) = **a
            && b.is_boolean()
            && self.domains().min(truth) >= 0
            && self.domains().max(truth) <= 1
        {
            return self.require(&(**a).clone().equals(Expr::Not(b.clone())));
        }
        if !self.is_definition(e) && self.is_worth_tabling(e, &scope) {
            let table = self.tabled(e, &scope);
            if scope.len() <= 2 || !self.is_loose(&table, &scope) || !is_disjunction(e) {
                return self.table(&scope, &table, true);
            }
        }
        match e {
            Expr::Compare(op, a, b) => self.require_comparison(*op, a, b),
            Expr::Or(list) => self.require_clause(list),
            Expr::In(inner, set) => {
                let (lo, hi) = inner.bounds(&|x| self.bounds_of(x));
                let limit = i64::from(VALUE_LIMIT);
                let range = (lo.max(-limit) as Value, hi.min(limit) as Value);
                let set = set.intersection(&ValueSet::from_ranges([range]));
                if matches!(**inner, Expr::Var(_)) || self.defined.contains_key(&**inner) {
                    let x = self.var_of(inner)?;
                    return self.require_member(x, &set);
                }
                if set.is_empty() {
                    self.fail();
                    return Ok(());
                }
                // The expression needs a variable anyway, and the set becomes its domain.
                let x = self.aux(&set)?;
                self.define(x, inner)?;
                self.origins.insert(x, inner.scope());
                self.remember((**inner).clone(), x);
                Ok(())
            }
            _ => {
                let x = self.var_of(e)?;
                self.prune(|d| d.remove(x, 0));
                Ok(())
            }
        }
    }

    /// Requires the variable to have a value of the set.
    pub(super) fn require_member(&mut self, x: VarId, set: &ValueSet) -> Result<(), CspError> {
        let (Some(lo), Some(hi)) = (set.min(), set.max()) else {
            self.fail();
            return Ok(());
        };
        if self.domains().bits(x).is_some() {
            self.prune(|d| d.retain(x, |value| set.contains(value)));
            return Ok(());
        }
        // A wide range can't list its gaps, so a clause states them.
        self.prune(|d| d.at_least(x, lo));
        self.prune(|d| d.at_most(x, hi));
        match set.ranges() {
            [_] => Ok(()),
            ranges => {
                let inside = ranges.iter().map(|&(lo, hi)| x.at_least(lo) & x.at_most(hi));
                self.require_clause(&inside.collect::<Vec<_>>())
            }
        }
    }

    pub(super) fn require_comparison(
        &mut self,
        op: Comparison,
        a: &Expr,
        b: &Expr,
    ) -> Result<(), CspError> {
        if op == Comparison::Eq {
            // A definition needs no auxiliary variable.
            for (x, e) in [(a, b), (b, a)] {
                if let Expr::Var(x) = x
                    && !matches!(e, Expr::Var(_) | Expr::Constant(_) | Expr::Sum(_) | Expr::Neg(_))
                    && !self.defined.contains_key(e)
                {
                    let x = *x;
                    self.define(x, e)?;
                    if !e.scope().contains(&x) {
                        self.remember(e.clone(), x);
                    }
                    return Ok(());
                }
            }
        }
        let difference = Expr::Sum(vec![a.clone(), Expr::Neg(Box::new(b.clone()))]);
        let (terms, constant) = self.linear_terms(&difference)?;
        self.linear(&terms, op, -constant)
    }

    pub(super) fn require_clause(&mut self, list: &[Expr]) -> Result<(), CspError> {
        let mut literals = Vec::new();
        for e in flattened_or(list) {
            literals.push(self.literal_of(&e)?);
        }
        if literals.iter().any(|literal| literal.status(self.domains()) == Some(true)) {
            return Ok(());
        }
        self.post(Clause::new(literals));
        Ok(())
    }

    /// Whether the expression defines a truth variable: that another variable has a value of a
    /// set, or that several literals hold. The propagator for these prunes as much as a table.
    fn is_definition(&self, e: &Expr) -> bool {
        let Expr::Compare(Comparison::Eq, a, b) = e else { return false };
        let Expr::Var(truth) = **a else { return false };
        let e = match &**b {
            Expr::Not(inner) => negation(inner),
            _ => None,
        };
        let e = e.as_ref().unwrap_or(b);
        let is_in = |e: &Expr| matches!(e, Expr::In(inner, _) if matches!(**inner, Expr::Var(_)));
        let is_member = is_in(e) || matches!(e, Expr::Not(inner) if is_in(inner));
        !e.scope().contains(&truth)
            && e.is_boolean()
            && (is_member || self.literal(e).is_some() || self.are_apart(e))
    }

    /// Returns the expression as a literal, over a new variable if necessary.
    pub(super) fn literal_of(&mut self, e: &Expr) -> Result<Literal, CspError> {
        match self.literal(e) {
            Some(literal) => Ok(literal),
            None => Ok(Literal::new(self.truth_of(e)?, Comparison::Ne, 0)),
        }
    }

    /// Returns the expression as a literal, if it is one.
    pub(super) fn literal(&self, e: &Expr) -> Option<Literal> {
        match e {
            Expr::Compare(op, a, b) => {
                let (x, op, value) = match (&**a, &**b) {
                    (Expr::Var(x), Expr::Constant(value)) => (*x, *op, *value),
                    (Expr::Constant(value), Expr::Var(x)) => (*x, op.mirrored(), *value),
                    _ => return None,
                };
                let limit = i64::from(VALUE_LIMIT) + 1;
                // All values beyond the limit compare alike.
                Some(Literal::new(x, op, value.clamp(-limit, limit) as Value))
            }
            Expr::In(inner, set) => match (&**inner, set.ranges()) {
                (Expr::Var(x), [(lo, hi)]) if lo == hi => {
                    Some(Literal::new(*x, Comparison::Eq, *lo))
                }
                _ => None,
            },
            Expr::Var(x) => Some(Literal::new(*x, Comparison::Ne, 0)),
            Expr::Not(inner) => self.literal(inner).map(Literal::negated),
            _ => None,
        }
    }
}

/// Whether decomposing the expression gives a clause.
fn is_disjunction(e: &Expr) -> bool {
    match e {
        Expr::Or(_) => true,
        Expr::Not(inner) => matches!(**inner, Expr::And(_)),
        _ => false,
    }
}

/// Flattens a disjunction: opens nested disjunctions and pushes negations inwards.
fn flattened_or(list: &[Expr]) -> Vec<Expr> {
    let mut flat = Vec::new();
    for e in list {
        match e {
            Expr::Or(inner) => flat.extend(flattened_or(inner)),
            Expr::Not(inner) => match negation(inner) {
                Some(Expr::Or(inner)) => flat.extend(flattened_or(&inner)),
                Some(negated) => flat.push(negated),
                None => flat.push(e.clone()),
            },
            e => flat.push(e.clone()),
        }
    }
    flat
}

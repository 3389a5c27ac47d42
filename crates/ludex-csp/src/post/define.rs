//! Auxiliary variables for expressions.

use std::sync::Arc;

use super::linear::{normalized, scaled};
use super::tabling::for_each_tuple;
use super::{Poster, negation};
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::{Comparison, Expr, Operation};
use crate::propagators::table::Table;
use crate::propagators::*;
use crate::{Value, ValueSet};

impl Poster<'_> {
    pub(super) fn vars_of(&mut self, list: &[Expr]) -> Result<Vec<VarId>, CspError> {
        list.iter().map(|e| self.var_of(e)).collect()
    }

    /// Returns a variable that equals the expression.
    pub(super) fn var_of(&mut self, e: &Expr) -> Result<VarId, CspError> {
        match e {
            Expr::Var(x) => return Ok(*x),
            Expr::Constant(value) => return self.constant(*value),
            _ => {}
        }
        if let Some(&x) = self.defined.get(e) {
            return Ok(x);
        }
        let x = if e.is_boolean() {
            self.truth_of(e)?
        } else {
            let scope = e.scope();
            let (lo, hi) = e.bounds(&|x| self.bounds_of(x));
            let x = if self.is_small(&scope) && hi.saturating_sub(lo) > 1 {
                let mut values = Vec::new();
                let sets: Vec<ValueSet> =
                    scope.iter().map(|&x| self.domains().value_set(x)).collect();
                for_each_tuple(&sets, &mut |tuple| {
                    let value = e.eval(&|x| {
                        let at = scope.iter().position(|&y| y == x).expect("x is in the scope");
                        i64::from(tuple[at])
                    });
                    values.extend(value.and_then(|value| Value::try_from(value).ok()));
                });
                values.sort_unstable();
                values.dedup();
                if values.is_empty() {
                    self.fail();
                    values.push(0);
                }
                self.aux(&ValueSet::from(values))?
            } else {
                self.aux_range(lo, hi)?
            };
            self.define(x, e)?;
            x
        };
        self.origins.insert(x, e.scope());
        self.remember(e.clone(), x);
        Ok(x)
    }

    /// Posts `x = e`.
    pub(super) fn define(&mut self, x: VarId, e: &Expr) -> Result<(), CspError> {
        if e.is_boolean() {
            return self.define_truth(x, e);
        }
        match e {
            Expr::Abs(inner) => {
                self.define_operation(Operation::Dist, inner, &Expr::Constant(0), x)
            }
            Expr::Binary(op, a, b) => {
                if let Some((terms, _)) = e.linear_form()
                    && !terms.iter().any(|(_, term)| *term == e)
                {
                    return self.define_sum(x, e);
                }
                self.define_operation(*op, a, b, x)
            }
            Expr::Min(list) | Expr::Max(list) => {
                let vars = self.vars_of(list)?;
                self.post(match e {
                    Expr::Min(_) => Extremum::minimum(x, &vars),
                    _ => Extremum::maximum(x, &vars),
                });
                Ok(())
            }
            Expr::If(c, a, b) => {
                let [no, yes, truth] = [self.var_of(b)?, self.var_of(a)?, self.truth_of(c)?];
                self.post(Element::new(&[no, yes], 0, truth, x));
                Ok(())
            }
            Expr::Element(list, index) => {
                let (vars, index) = (self.vars_of(list)?, self.var_of(index)?);
                self.post(Element::new(&vars, 0, index, x));
                Ok(())
            }
            _ => self.define_sum(x, e),
        }
    }

    pub(super) fn define_sum(&mut self, x: VarId, e: &Expr) -> Result<(), CspError> {
        let difference = Expr::Sum(vec![Expr::Var(x), Expr::Neg(Box::new(e.clone()))]);
        let (terms, constant) = self.linear_terms(&difference)?;
        self.linear(&terms, Comparison::Eq, -constant)
    }

    pub(super) fn define_operation(
        &mut self,
        op: Operation,
        a: &Expr,
        b: &Expr,
        z: VarId,
    ) -> Result<(), CspError> {
        let (x, y) = (self.var_of(a)?, self.var_of(b)?);
        let mut scope = vec![x, y, z];
        scope.sort_unstable();
        scope.dedup();
        let inputs: &[VarId] = if x == y { &[x] } else { &[x, y] };
        if scope.len() == inputs.len() + 1
            && self.is_small(inputs)
            && self.domains().bits(z).is_some()
        {
            let sets: Vec<ValueSet> = inputs.iter().map(|&x| self.domains().value_set(x)).collect();
            let mut values = Vec::new();
            for_each_tuple(&sets, &mut |tuple| {
                let (a, b) = (i64::from(tuple[0]), i64::from(tuple[tuple.len() - 1]));
                if let Some(value) = op.apply(a, b).and_then(|value| Value::try_from(value).ok())
                    && self.engine.domains().contains(z, value)
                {
                    values.extend_from_slice(tuple);
                    values.push(value);
                }
            });
            let table = Arc::new(Table::new(inputs.len() + 1, values));
            // A fixed argument needs no column.
            let open: Vec<usize> =
                (0..inputs.len()).filter(|&at| !self.domains().is_fixed(inputs[at])).collect();
            if open.len() == 1 && inputs.len() == 2 {
                let pairs = table.tuples().map(|tuple| [tuple[open[0]], tuple[2]]);
                let table = Arc::new(Table::from_tuples(2, pairs));
                return self.table(&[inputs[open[0]], z], &table, true);
            }
            return self.table(&[inputs, &[z]].concat(), &table, true);
        }
        self.post(Arithmetic::new(op, x, y, z));
        Ok(())
    }

    /// Posts `truth = 1 exactly when e` for a conjunction or a disjunction.
    fn define_joined(&mut self, truth: VarId, e: &Expr) -> Result<(), CspError> {
        let (Expr::And(list) | Expr::Or(list)) = e else {
            unreachable!("only conjunctions and disjunctions are joined")
        };
        let literals = list.iter().map(|e| self.literal_of(e)).collect::<Result<Vec<_>, _>>()?;
        let result = Literal::new(truth, Comparison::Ne, 0);
        self.post(match e {
            Expr::And(_) => Conjunction::all(result, literals),
            _ => Conjunction::any(result, literals),
        });
        Ok(())
    }

    /// Whether the parts of a conjunction or disjunction are literals of different variables.
    /// Such parts need no variables of their own, and a table would not prune more.
    pub(super) fn are_apart(&self, e: &Expr) -> bool {
        let (Expr::And(list) | Expr::Or(list)) = e else { return false };
        let vars: Option<Vec<VarId>> =
            list.iter().map(|e| self.literal(e).map(Literal::var)).collect();
        vars.is_some_and(|vars| !vars.is_empty() && !self.has_repeats(&vars))
    }

    /// Posts the requested truths of single values, one propagator for each variable.
    pub(super) fn add_indicators(&mut self) {
        for (x, truths) in std::mem::take(&mut self.indicators) {
            if let [(value, truth)] = truths[..] {
                let literal = Literal::new(x, Comparison::Eq, value);
                self.post(ReifiedLiteral::new(truth, literal));
                continue;
            }
            self.post(Indicators::new(x, &truths));
        }
    }

    /// Returns a variable with values 0 and 1 that is 1 exactly when the expression is true.
    pub(super) fn truth_of(&mut self, e: &Expr) -> Result<VarId, CspError> {
        match e {
            Expr::Var(x) if self.domains().min(*x) >= 0 && self.domains().max(*x) <= 1 => {
                return Ok(*x);
            }
            Expr::Constant(value) => return self.constant(i64::from(*value != 0)),
            _ => {}
        }
        let key = if e.is_boolean() { e.clone() } else { e.clone().differs(0) };
        if let Some(&truth) = self.defined.get(&key) {
            return Ok(truth);
        }
        let truth = self.truth()?;
        self.define_truth(truth, &key)?;
        self.origins.insert(truth, key.scope());
        self.remember(key, truth);
        Ok(truth)
    }

    /// Posts `truth = 1 exactly when e`.
    pub(super) fn define_truth(&mut self, truth: VarId, e: &Expr) -> Result<(), CspError> {
        self.prune(|d| d.at_least(truth, 0));
        self.prune(|d| d.at_most(truth, 1));
        if let Some(literal) = self.literal(e) {
            match literal.wanted() {
                Some(value) if literal.var() != truth => {
                    self.indicators.entry(literal.var()).or_default().push((value, truth));
                }
                _ => self.post(ReifiedLiteral::new(truth, literal)),
            }
            return Ok(());
        }
        let scope = e.scope();
        if scope.is_empty() {
            let value = Value::from(e.holds(&|_| 0));
            self.prune(|d| d.fix(truth, value));
            return Ok(());
        }
        if let Expr::In(inner, set) = e
            && let Expr::Var(x) = **inner
            && x != truth
            && self.domains().bits(x).is_some()
        {
            self.post(ReifiedMember::new(truth, x, set.clone()));
            return Ok(());
        }
        if let Expr::Not(inner) = e
            && let Expr::In(inner, set) = &**inner
            && let Expr::Var(x) = **inner
            && x != truth
            && self.domains().bits(x).is_some()
        {
            let outside = self.domains().values(x).filter(|&value| !set.contains(value)).collect();
            self.post(ReifiedMember::new(truth, x, outside));
            return Ok(());
        }
        if self.are_apart(e) {
            return self.define_joined(truth, e);
        }
        if self.is_worth_tabling(e, &scope) && !scope.contains(&truth) {
            let definition =
                Expr::Compare(Comparison::Eq, Box::new(Expr::Var(truth)), Box::new(e.clone()));
            if self.is_small(&[&scope[..], &[truth]].concat()) {
                return self.require_table(&definition, &definition.scope());
            }
        }
        match e {
            Expr::Compare(op, a, b) => {
                let difference = Expr::Sum(vec![(**a).clone(), Expr::Neg(b.clone())]);
                let (terms, constant) = self.linear_terms(&difference)?;
                if terms.is_empty() {
                    let value = Value::from(op.holds(constant, 0));
                    self.prune(|d| d.fix(truth, value));
                    return Ok(());
                }
                let (terms, relation, constant) = normalized(&terms, *op, -constant);
                self.post(LinearReified::new(truth, &terms, relation, constant));
                Ok(())
            }
            Expr::Not(inner) => match negation(inner) {
                Some(negated) => self.define_truth(truth, &negated),
                None => {
                    let inner = self.truth_of(inner)?;
                    self.post(ReifiedLiteral::new(truth, Literal::new(inner, Comparison::Eq, 0)));
                    Ok(())
                }
            },
            Expr::And(_) | Expr::Or(_) => self.define_joined(truth, e),
            Expr::Xor(list) => {
                let mut terms: Vec<(i64, VarId)> = Vec::new();
                for e in list {
                    terms.push((1, self.truth_of(e)?));
                }
                let half = self.aux_range(0, list.len() as i64 / 2)?;
                terms.extend([(-2, half), (-1, truth)]);
                let sum = Expr::Sum(terms.iter().map(|&(a, x)| scaled(a, x)).collect());
                let (terms, constant) = self.linear_terms(&sum)?;
                self.linear(&terms, Comparison::Eq, -constant)
            }
            Expr::AllEqual(list) => {
                let pairs = list.windows(2).map(|pair| pair[0].clone().equals(&pair[1]));
                self.define_truth(truth, &Expr::And(pairs.collect()))
            }
            Expr::In(inner, set) => {
                let x = self.var_of(inner)?;
                let inside = set.ranges().iter().map(|&(lo, hi)| x.at_least(lo) & x.at_most(hi));
                self.define_truth(truth, &Expr::Or(inside.collect()))
            }
            Expr::If(c, a, b) => {
                let yes = Expr::Or(vec![Expr::Not(c.clone()), (**a).clone()]);
                let no = Expr::Or(vec![(**c).clone(), (**b).clone()]);
                self.define_truth(truth, &Expr::And(vec![yes, no]))
            }
            number => {
                let x = self.var_of(number)?;
                self.post(ReifiedLiteral::new(truth, Literal::new(x, Comparison::Ne, 0)));
                Ok(())
            }
        }
    }
}

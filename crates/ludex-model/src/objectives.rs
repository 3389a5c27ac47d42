//! Objectives and aggregates, which may refer to later scopes.

use ludex_csp::{Expr as Formula, VarId};
use ludex_qcsp::{AggregateFunction, Criterion, Measure, Quantifier, ScopeId};

use crate::codes;
use crate::draft::Owner;
use crate::eval::Evaluated;
use crate::lower::Lowering;
use crate::syntax::{Expr, ExprKind, Generator, Name};
use crate::value::{Term, Value};

/// An objective or an aggregate that may refer to later scopes.
pub struct Pending {
    pub scope: ScopeId,
    pub use_: Use,
    pub expr: Expr,
    pub found: Option<Found>,
}

pub enum Use {
    Optimize { is_minimized: bool },
    Aggregate { name: Name, function: AggregateFunction },
}

pub enum Found {
    Variable(VarId),
    /// The name of an aggregate.
    Aggregate(String),
}

impl Lowering<'_, '_> {
    /// Gives pending objectives and aggregates their variables, if these are declared by now.
    ///
    /// A computed one becomes a functional variable of the first scope that has all its names.
    pub(crate) fn settle_pending(&mut self) -> Evaluated<()> {
        for i in 0..self.pending.len() {
            if self.pending[i].found.is_some() {
                continue;
            }
            let expr = self.pending[i].expr.clone();
            if let ExprKind::Name(name) = &expr.kind
                && self.is_aggregate(name)
            {
                self.pending[i].found = Some(Found::Aggregate(name.clone()));
                continue;
            }
            if !self.has_names(&expr) {
                continue;
            }
            let value = self.evaluator.eval(&expr)?;
            let value = match value {
                Value::Int(number) => {
                    Value::Term(Box::new(Term::new(Formula::Constant(number), false, 1, 1)))
                }
                Value::Bool(truth) => {
                    Value::Term(Box::new(Term::new(Formula::Constant(truth.into()), false, 1, 1)))
                }
                value => value,
            };
            let shown = crate::print::print_expression(&expr);
            match self.named(&shown, value, expr.at.0)? {
                Value::Term(term) => {
                    let Formula::Var(x) = term.formula else {
                        unreachable!("named terms are variables")
                    };
                    self.pending[i].found = Some(Found::Variable(x));
                }
                other => {
                    let message = format!("expected a number, found {}", other.kind());
                    return self.evaluator.fail(codes::TYPE, expr.at.0, message);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn is_aggregate(&self, name: &str) -> bool {
        self.pending.iter().any(
            |pending| matches!(&pending.use_, Use::Aggregate { name: own, .. } if own.text == name),
        )
    }

    /// Whether all names of values in an expression are known.
    pub(crate) fn has_names(&self, expr: &Expr) -> bool {
        let mut names = Vec::new();
        free_names(expr, &mut Vec::new(), &mut names);
        names.iter().all(|name| self.evaluator.binding(name).is_some())
    }

    /// Adds aggregates, inner ones first, and then objectives.
    pub(crate) fn measures(&mut self) -> Evaluated<()> {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|pending| std::cmp::Reverse(pending.scope));
        let mut aggregates: Vec<(String, ludex_qcsp::AggregateId)> = Vec::new();
        for one in &pending {
            if let Use::Aggregate { name, function } = &one.use_ {
                let measure = self.measure(one, &aggregates)?;
                let id = self.draft.aggregate(one.scope, name.text.clone(), *function, measure);
                aggregates.push((name.text.clone(), id));
            }
        }
        for one in &pending {
            if let Use::Optimize { is_minimized } = one.use_ {
                let measure = self.measure(one, &aggregates)?;
                if self.draft.scope(one.scope).criterion.is_some() {
                    return self.evaluator.fail(
                        codes::MISPLACED,
                        one.expr.at.0,
                        "a scope has one criterion",
                    );
                }
                let criterion = Some(Criterion { measure, is_minimized });
                self.draft.scope_mut(one.scope).criterion = criterion;
                if let Some(error) = self.wrong_measure(one.scope) {
                    return self.evaluator.fail_with_help(
                        codes::UNKNOWN_VARIABLE,
                        one.expr.at.0,
                        error,
                        "aggregate it in the universal scope between: `aggregate total = sum(…)`",
                    );
                }
            }
        }
        Ok(())
    }

    /// Explains a criterion that its scope can't see.
    pub(crate) fn wrong_measure(&self, scope: ScopeId) -> Option<String> {
        let criterion = self.draft.scope(scope).criterion?;
        let Measure::Variable(x) = criterion.measure else { return None };
        let own = self.draft.variable(x).scope;
        let between = scope.index() + 1..=own.index();
        let universal = between
            .clone()
            .map(|i| self.draft.scope(ScopeId::new(i)))
            .find(|scope| !matches!(scope.owner, Owner::Player(Quantifier::Exists)))?;
        Some(format!(
            "`{}` is chosen behind the universal scope `{}` and has a value for each of its branches",
            self.draft.variable(x).variable.name,
            universal.name
        ))
    }

    pub(crate) fn measure(
        &mut self,
        pending: &Pending,
        aggregates: &[(String, ludex_qcsp::AggregateId)],
    ) -> Evaluated<Measure> {
        match &pending.found {
            Some(Found::Variable(x)) => Ok(Measure::Variable(*x)),
            Some(Found::Aggregate(name)) => match aggregates.iter().find(|(own, _)| own == name) {
                Some((_, id)) => Ok(Measure::Aggregate(*id)),
                None => self.evaluator.fail_with_help(
                    codes::UNKNOWN_VARIABLE,
                    pending.expr.at.0,
                    format!("`{name}` is aggregated by an earlier scope"),
                    "an aggregate is of what a later scope chooses or aggregates",
                ),
            },
            None => {
                let message = "this looks at what no scope chooses";
                self.evaluator.fail_with_help(
                    codes::UNKNOWN_VARIABLE,
                    pending.expr.at.0,
                    message,
                    "an aggregate can be optimized or aggregated only by itself, not inside of an expression",
                )
            }
        }
    }
}

/// Returns the free names of an expression, without functions.
fn free_names(expr: &Expr, bound: &mut Vec<String>, names: &mut Vec<String>) {
    let generators =
        |generators: &[Generator], bound: &mut Vec<String>, names: &mut Vec<String>| {
            for generator in generators {
                free_names(&generator.over, bound, names);
                bound.extend(generator.names.iter().map(|name| name.text.clone()));
                if let Some(condition) = &generator.condition {
                    free_names(condition, bound, names);
                }
            }
        };
    let n_bound = bound.len();
    match &expr.kind {
        ExprKind::Name(name) => {
            if !bound.contains(name) {
                names.push(name.clone());
            }
        }
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::All | ExprKind::Optimum(_) => {}
        ExprKind::Unary(_, inner) => free_names(inner, bound, names),
        ExprKind::Binary(_, left, right) => {
            free_names(left, bound, names);
            free_names(right, bound, names);
        }
        ExprKind::If(branches, otherwise) => {
            for (condition, value) in branches {
                free_names(condition, bound, names);
                free_names(value, bound, names);
            }
            free_names(otherwise, bound, names);
        }
        ExprKind::Index(base, list) => {
            free_names(base, bound, names);
            list.iter().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Call(_, list) | ExprKind::List(list) | ExprKind::Set(list) => {
            list.iter().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Rows(rows) => {
            rows.iter().flatten().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Fold(_, over, body)
        | ExprKind::Each(body, over)
        | ExprKind::SetOf(body, over) => {
            generators(over, bound, names);
            free_names(body, bound, names);
        }
        ExprKind::Let(list, body) => {
            for (name, value) in list {
                free_names(value, bound, names);
                bound.push(name.text.clone());
            }
            free_names(body, bound, names);
        }
    }
    bound.truncate(n_bound);
}

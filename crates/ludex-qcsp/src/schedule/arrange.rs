//! Orders the variables of a scope: which ones are decided, and which follow from them.
//!
//! A variable follows if it has a definition, or if a constraint of the restrictor determines its
//! value: `x = e`, a linear equation with coefficient 1, an equivalence, an element. The variable
//! whose decision makes the most others follow comes first; it is the *decision variable* of a
//! move. If the form of the constraints does not show it, propagation finds it (`probe`).

use std::sync::Arc;

use ludex_csp::{Comparison, Condition, Constraint, Expr, Operation, VarId, conjuncts, element};
use rustc_hash::FxHashSet;

use super::Rule;
use super::fold::{fold, is_total};
use super::implied::implied;
use super::probe::decider;
use crate::model::Model;

/// A scope in the order of its search.
pub(super) struct Arranged {
    /// The rules that need no variable of the scope.
    pub opening: Vec<Rule>,
    /// The variables to decide, each with the rules that apply once it is known.
    pub levels: Vec<(VarId, Vec<Rule>)>,
}

/// Scopes with more variables than this are decided in the order of declaration.
const MAX_COMPARED: usize = 64;

pub(super) fn arrange(model: &Model, scope_idx: usize, more: &[Constraint]) -> Arranged {
    let scope = &model.scopes()[scope_idx];
    let mut open = Open {
        model,
        unknown: scope.variables.iter().copied().collect(),
        pending: conjuncts(&scope.restrictor)
            .into_iter()
            .chain(more.iter().cloned())
            .map(|constraint| {
                Some(Pending { scope: constraint.scope().into(), constraint: Arc::new(constraint) })
            })
            .collect(),
        defined: scope
            .variables
            .iter()
            .copied()
            .filter(|&x| model.variable(x).definition.is_some())
            .collect(),
    };
    let constraints: Vec<Pending> = open.pending.iter().flatten().cloned().collect();
    let opening = open.follow();
    let mut levels = Vec::new();
    while !open.unknown.is_empty() {
        let candidates: Vec<VarId> = scope
            .variables
            .iter()
            .copied()
            .filter(|x| open.unknown.contains(x) && model.variable(*x).definition.is_none())
            .collect();
        let mut x = open.choose(&candidates);
        if levels.is_empty() && open.leaves_open(x) {
            x = decider(model, scope_idx, &candidates).unwrap_or(x);
        }
        let before = open.unknown.clone();
        open.unknown.remove(&x);
        let mut rules = open.follow();
        open.look_ahead(&constraints, &before, &mut rules);
        levels.push((x, rules));
    }
    Arranged { opening, levels }
}

/// A partly arranged scope.
#[derive(Clone)]
struct Open<'m> {
    model: &'m Model,
    unknown: FxHashSet<VarId>,
    pending: Vec<Option<Pending>>,
    /// Variables with a declared definition, in order.
    defined: Vec<VarId>,
}

#[derive(Clone)]
struct Pending {
    constraint: Arc<Constraint>,
    scope: Arc<[VarId]>,
}

impl Open<'_> {
    /// Returns the candidate that makes the most others follow.
    fn choose(&self, candidates: &[VarId]) -> VarId {
        let first = candidates[0];
        if candidates.len() == 1 || candidates.len() > MAX_COMPARED {
            return first;
        }
        let n_following = |x: VarId| {
            let mut open = self.clone();
            open.unknown.remove(&x);
            open.follow();
            self.unknown.len() - open.unknown.len()
        };
        let mut best = (first, n_following(first));
        for &x in &candidates[1..] {
            let n = n_following(x);
            if n > best.1 {
                best = (x, n);
            }
        }
        best.0
    }

    /// Whether some variables stay unknown after this one is decided.
    fn leaves_open(&self, x: VarId) -> bool {
        let mut open = self.clone();
        open.unknown.remove(&x);
        open.follow();
        !open.unknown.is_empty()
    }

    /// Adds everything that can be computed or checked now.
    fn follow(&mut self) -> Vec<Rule> {
        let mut rules = Vec::new();
        loop {
            let n_before = rules.len();
            self.follow_definitions(&mut rules);
            self.follow_constraints(&mut rules);
            if rules.len() == n_before {
                return rules;
            }
        }
    }

    /// Adds the consequences of constraints that cannot be checked yet: those for which some
    /// variables became known since `before`, while others are unknown.
    fn look_ahead(
        &self,
        constraints: &[Pending],
        before: &FxHashSet<VarId>,
        rules: &mut Vec<Rule>,
    ) {
        for Pending { constraint, scope } in constraints {
            let is_unknown = |x: &VarId| self.unknown.contains(x);
            let is_news = |x: &VarId| !is_unknown(x) && before.contains(x);
            if scope.iter().any(is_unknown)
                && scope.iter().any(is_news)
                && let Constraint::Intension(e) = &**constraint
            {
                let checks = implied(self.model, e, &|x| is_unknown(&x));
                rules.extend(checks.into_iter().map(Constraint::Intension).map(Rule::Check));
            }
        }
    }

    fn follow_definitions(&mut self, rules: &mut Vec<Rule>) {
        for x in self.defined.clone() {
            let definition = self.model.variable(x).definition.as_ref();
            let expr = definition.expect("it is among the defined ones");
            if self.unknown.contains(&x) && expr.scope().iter().all(|y| !self.unknown.contains(y)) {
                self.unknown.remove(&x);
                rules.push(Rule::Define { x, expr: expr.clone(), is_declared: true });
            }
        }
    }

    fn follow_constraints(&mut self, rules: &mut Vec<Rule>) {
        for slot in 0..self.pending.len() {
            let Some(pending) = &self.pending[slot] else { continue };
            let mut open = pending.scope.iter().copied().filter(|x| self.unknown.contains(x));
            match (open.next(), open.next()) {
                (None, _) => {
                    let pending = self.pending[slot].take().expect("it is there");
                    rules.push(Rule::Check((*pending.constraint).clone()));
                }
                (Some(x), None) if self.model.variable(x).definition.is_none() => {
                    if let Some(expr) = solved_for(self.model, x, &pending.constraint) {
                        self.unknown.remove(&x);
                        self.pending[slot] = None;
                        rules.push(Rule::Define { x, expr, is_declared: false });
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns `x` as an expression of the other variables of a constraint; the expression has no value
/// if and only if the constraint cannot hold.
fn solved_for(model: &Model, x: VarId, constraint: &Constraint) -> Option<Expr> {
    match constraint {
        Constraint::Intension(Expr::Compare(Comparison::Eq, a, b)) => {
            for (left, right) in [(a, b), (b, a)] {
                if **left == Expr::Var(x) && !right.scope().contains(&x) {
                    return Some((**right).clone());
                }
            }
            solved_sum(model, x, a, b)
        }
        Constraint::Intension(Expr::Not(inner)) => {
            let (lo, hi) = model.bounds(x);
            let Expr::Xor(pair) = &**inner else { return None };
            let [p, q] = &pair[..] else { return None };
            for (left, right) in [(p, q), (q, p)] {
                if *left == Expr::Var(x) && !right.scope().contains(&x) && lo >= 0 && hi <= 1 {
                    return Some(right.clone().differs(0));
                }
            }
            None
        }
        Constraint::Element { list, start, index, condition } => {
            let Condition::Compare(Comparison::Eq, Expr::Var(y)) = condition else { return None };
            let is_free = list.iter().chain([index]).all(|e| !e.scope().contains(&x));
            let place = index.clone() - *start;
            (*y == x && is_free).then(|| Expr::Element(list.clone(), Box::new(place)))
        }
        _ => None,
    }
}

/// Returns the number of terms of a sum, without combining them.
fn n_terms(e: &Expr) -> usize {
    match e {
        Expr::Constant(_) => 0,
        Expr::Sum(list) => list.iter().map(n_terms).sum(),
        Expr::Neg(e) => n_terms(e),
        Expr::Binary(Operation::Mul, a, b) => match (&**a, &**b) {
            (Expr::Constant(_), e) | (e, Expr::Constant(_)) => n_terms(e),
            _ => 1,
        },
        _ => 1,
    }
}

/// Solves a linear equation for `x`, which occurs once: with coefficient 1 or -1, or as a factor of
/// an expression that is never 0.
fn solved_sum(model: &Model, x: VarId, a: &Expr, b: &Expr) -> Option<Expr> {
    let difference = Expr::Sum(vec![a.clone(), Expr::Neg(Box::new(b.clone()))]);
    let (terms, constant) = difference.linear_form()?;
    // Terms that cancel must still have a value.
    if n_terms(&difference) != terms.len() && !is_total(&difference, &|y| model.bounds(y)) {
        return None;
    }
    let mut factor_of_x: Option<Expr> = None;
    let mut rest = vec![Expr::Constant(constant)];
    for (factor, e) in terms {
        if !e.scope().contains(&x) {
            rest.push(Expr::Constant(factor) * e.clone());
            continue;
        }
        if factor_of_x.is_some() {
            return None;
        }
        let other = match e {
            Expr::Var(_) => Expr::Constant(1),
            Expr::Binary(Operation::Mul, a, b) => match (&**a, &**b) {
                (Expr::Var(y), e) | (e, Expr::Var(y)) if *y == x && !e.scope().contains(&x) => {
                    e.clone()
                }
                _ => return None,
            },
            _ => return None,
        };
        factor_of_x = Some(Expr::Constant(factor) * other);
    }
    let factor = fold(&factor_of_x?, &|_| None, &|y| model.bounds(y));
    let rest = Expr::Sum(rest);
    match factor {
        Expr::Constant(1) => return Some(Expr::Neg(Box::new(rest))),
        Expr::Constant(-1) => return Some(rest),
        _ => {}
    }
    let (lo, hi) = factor.bounds(&|y| model.bounds(y));
    // The quotient if there is no remainder; otherwise a place outside the list.
    let quotient = Expr::Neg(Box::new(rest.clone() / factor.clone()));
    (lo > 0 || hi < 0).then(|| element([quotient], (rest % factor).abs()))
}

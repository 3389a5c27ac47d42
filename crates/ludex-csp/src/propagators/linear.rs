//! Weighted sums compared with a constant.
//!
//! Bounds reasoning: when all other terms take their least value, the rest of the constant
//! limits the term. Fixed terms are swapped behind a reversible limit and summed once, so a
//! call visits only open terms.

use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// The comparison of a sum with its constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinearRelation {
    /// At most.
    Le,
    /// Equal.
    Eq,
    /// Different.
    Ne,
}

impl LinearRelation {
    fn holds(self, sum: i64, constant: i64) -> bool {
        match self {
            LinearRelation::Le => sum <= constant,
            LinearRelation::Eq => sum == constant,
            LinearRelation::Ne => sum != constant,
        }
    }
}

/// `sum of coefficient * variable  (<=, =, !=)  constant`.
#[derive(Clone)]
pub struct Linear {
    sum: OpenSum,
    relation: LinearRelation,
    constant: i64,
}

impl Linear {
    /// Creates the constraint on the sum of `coefficient * variable`.
    ///
    /// # Panics
    /// When there is no term. The caller must ensure that sums fit in 62 bits.
    pub fn new(terms: &[(i64, VarId)], relation: LinearRelation, constant: i64) -> Self {
        assert!(!terms.is_empty(), "a sum without terms");
        Self { sum: OpenSum::new(terms), relation, constant }
    }
}

impl Propagator for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn scope(&self) -> &[VarId] {
        &self.sum.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.relation.holds(self.sum.value(tuple), self.constant)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.sum.post(setup.domains());
        for (&x, &coefficient) in self.sum.scope.iter().zip(&self.sum.coefficients) {
            let events = match self.relation {
                LinearRelation::Le if coefficient > 0 => Events::LOWER,
                LinearRelation::Le => Events::UPPER,
                LinearRelation::Eq => Events::BOUNDS,
                LinearRelation::Ne => Events::FIXED,
            };
            setup.subscribe(x, events);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        self.sum.propagate(domains, self.relation, self.constant)
    }

    fn cost(&self) -> Cost {
        if self.sum.scope.len() <= 3 { Cost::Constant } else { Cost::Linear }
    }

    duplicate_by_clone!();
}

/// `truth` is 1 exactly when the sum compares with the constant as given.
#[derive(Clone)]
pub struct LinearReified {
    scope: Vec<VarId>,
    sum: OpenSum,
    relation: LinearRelation,
    constant: i64,
}

impl LinearReified {
    /// Creates the constraint that `truth`, with values 0 and 1, is 1 exactly when the relation
    /// holds.
    pub fn new(
        truth: VarId,
        terms: &[(i64, VarId)],
        relation: LinearRelation,
        constant: i64,
    ) -> Self {
        let scope = std::iter::once(truth).chain(terms.iter().map(|term| term.1)).collect();
        Self { scope, sum: OpenSum::new(terms), relation, constant }
    }

    fn truth(&self) -> VarId {
        self.scope[0]
    }
}

impl Propagator for LinearReified {
    fn name(&self) -> &'static str {
        "reified linear"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let is_true = self.relation.holds(self.sum.value(&tuple[1..]), self.constant);
        tuple[0] == Value::from(is_true)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.sum.post(setup.domains());
        setup.subscribe(self.truth(), Events::FIXED);
        for &x in &self.scope[1..] {
            let is_pair = self.scope.len() == 3 && self.relation != LinearRelation::Le;
            setup.subscribe(x, if is_pair { Events::ANY } else { Events::BOUNDS });
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let truth = self.truth();
        if let Some(value) = domains.fixed_value(truth) {
            return match (value, self.relation) {
                (1, relation) => self.sum.propagate(domains, relation, self.constant),
                (0, LinearRelation::Le) => self.sum.propagate_above(domains, self.constant),
                (0, LinearRelation::Eq) => {
                    self.sum.propagate(domains, LinearRelation::Ne, self.constant)
                }
                (0, LinearRelation::Ne) => {
                    self.sum.propagate(domains, LinearRelation::Eq, self.constant)
                }
                _ => Err(Conflict),
            };
        }
        let Span { lo, hi, .. } = self.sum.span(domains);
        let constant = self.constant;
        let is_equal = if lo == hi {
            Some(lo == constant)
        } else if constant < lo || hi < constant || !self.sum.may_equal(domains, constant) {
            Some(false)
        } else {
            None
        };
        let status = match self.relation {
            LinearRelation::Le if hi <= constant => Some(true),
            LinearRelation::Le if lo > constant => Some(false),
            LinearRelation::Le => None,
            LinearRelation::Eq => is_equal,
            LinearRelation::Ne => is_equal.map(|equal| !equal),
        };
        match status {
            Some(status) => {
                domains.fix(truth, Value::from(status))?;
                Ok(Pruning::Entailed)
            }
            None => Ok(Pruning::Fixpoint),
        }
    }

    duplicate_by_clone!();
}

/// Rounds in one call. Bounds may creep by one a billion times; after these rounds the
/// propagator returns to the engine, which checks the deadline.
const MAX_ROUNDS: usize = 64;

/// The possible values of a sum: the number of open terms, the bounds, and the widest open
/// term.
struct Span {
    n_open: usize,
    lo: i64,
    hi: i64,
    widest: i64,
}

/// A bound of a term.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// A weighted sum whose fixed terms are summed once.
#[derive(Clone)]
struct OpenSum {
    scope: Vec<VarId>,
    coefficients: Vec<i64>,
    /// A permutation of the terms: open ones first.
    order: Vec<u32>,
    /// The number of open terms, and the sum of the others.
    state: Option<(Cell, Cell)>,
}

impl OpenSum {
    fn new(terms: &[(i64, VarId)]) -> Self {
        Self {
            scope: terms.iter().map(|term| term.1).collect(),
            coefficients: terms.iter().map(|term| term.0).collect(),
            order: (0..terms.len() as u32).collect(),
            state: None,
        }
    }

    fn value(&self, tuple: &[Value]) -> i64 {
        self.coefficients.iter().zip(tuple).map(|(&a, &v)| a * i64::from(v)).sum()
    }

    fn post(&mut self, domains: &mut Domains) {
        self.state = Some((domains.new_cell(self.scope.len() as u64), domains.new_cell(0)));
    }

    /// Moves newly fixed terms behind the limit; returns the number of open terms and the sum
    /// of the others.
    #[inline]
    fn set_aside(&mut self, domains: &mut Domains) -> (usize, i64) {
        let (open_cell, fixed_cell) = self.state.expect("posted before it propagates");
        let mut n_open = domains.get(open_cell) as usize;
        let mut fixed = domains.get(fixed_cell) as i64;
        let n_before = n_open;
        for place in (0..n_open).rev() {
            let term = self.order[place] as usize;
            if let Some(value) = domains.fixed_value(self.scope[term]) {
                fixed += self.coefficients[term] * i64::from(value);
                n_open -= 1;
                self.order.swap(place, n_open);
            }
        }
        if n_open != n_before {
            domains.set(open_cell, n_open as u64);
            domains.set(fixed_cell, fixed as u64);
        }
        (n_open, fixed)
    }

    /// Returns the bounds of a term.
    #[inline]
    fn term(&self, term: usize, domains: &Domains) -> (i64, i64) {
        let x = self.scope[term];
        let a = self.coefficients[term];
        let (lo, hi) = (a * i64::from(domains.min(x)), a * i64::from(domains.max(x)));
        if a > 0 { (lo, hi) } else { (hi, lo) }
    }

    /// Returns bounds on the sum.
    #[inline]
    fn span(&mut self, domains: &mut Domains) -> Span {
        let (n_open, fixed) = self.set_aside(domains);
        let mut span = Span { n_open, lo: fixed, hi: fixed, widest: 0 };
        for &term in &self.order[..n_open] {
            let (lo, hi) = self.term(term as usize, domains);
            span.lo += lo;
            span.hi += hi;
            span.widest = span.widest.max(hi - lo);
        }
        span
    }

    /// Whether one or two open terms can make the sum equal to the constant; always true for
    /// more.
    fn may_equal(&mut self, domains: &mut Domains, constant: i64) -> bool {
        let (n_open, fixed) = self.set_aside(domains);
        let rest = constant - fixed;
        let quotient = |term: usize, rest: i64| {
            let a = self.coefficients[term];
            (rest % a == 0).then_some(rest / a).and_then(|v| Value::try_from(v).ok())
        };
        let has = |term: usize, rest: i64| {
            quotient(term, rest).is_some_and(|v| domains.contains(self.scope[term], v))
        };
        match self.order[..n_open] {
            [term] => has(term as usize, rest),
            [first, second] => {
                let (mut small, mut large) = (first as usize, second as usize);
                if domains.size(self.scope[small]) > domains.size(self.scope[large]) {
                    std::mem::swap(&mut small, &mut large);
                }
                let x = self.scope[small];
                if domains.size(x) > 256 {
                    return true;
                }
                let a = self.coefficients[small];
                domains.values(x).any(|value| has(large, rest - a * i64::from(value)))
            }
            _ => true,
        }
    }

    fn propagate(
        &mut self,
        domains: &mut Domains,
        relation: LinearRelation,
        constant: i64,
    ) -> Result<Pruning, Conflict> {
        match relation {
            LinearRelation::Le => self.propagate_at_most(domains, constant),
            LinearRelation::Eq => self.propagate_equal(domains, constant),
            LinearRelation::Ne => self.propagate_different(domains, constant),
        }
    }

    fn propagate_at_most(
        &mut self,
        domains: &mut Domains,
        constant: i64,
    ) -> Result<Pruning, Conflict> {
        let span = self.span(domains);
        if span.lo > constant {
            return Err(Conflict);
        }
        if span.hi <= constant {
            return Ok(Pruning::Entailed);
        }
        self.limit_all(&span, constant - span.lo, End::Least, domains)
    }

    /// Requires the sum to be greater than the constant.
    fn propagate_above(
        &mut self,
        domains: &mut Domains,
        constant: i64,
    ) -> Result<Pruning, Conflict> {
        let span = self.span(domains);
        if span.hi <= constant {
            return Err(Conflict);
        }
        if span.lo > constant {
            return Ok(Pruning::Entailed);
        }
        self.limit_all(&span, span.hi - constant - 1, End::Greatest, domains)
    }

    /// Requires every open term to be within `slack` of an end.
    fn limit_all(
        &self,
        span: &Span,
        slack: i64,
        end: End,
        domains: &mut Domains,
    ) -> Result<Pruning, Conflict> {
        if span.widest > slack {
            for &term in &self.order[..span.n_open] {
                self.limit(term as usize, slack, end, domains)?;
            }
        }
        Ok(Pruning::Fixpoint)
    }

    fn propagate_equal(
        &mut self,
        domains: &mut Domains,
        constant: i64,
    ) -> Result<Pruning, Conflict> {
        for _ in 0..MAX_ROUNDS {
            let Span { n_open, mut lo, mut hi, widest } = self.span(domains);
            if lo > constant || hi < constant {
                return Err(Conflict);
            }
            if n_open == 0 {
                return Ok(Pruning::Entailed);
            }
            if widest <= (constant - lo).min(hi - constant) {
                return Ok(Pruning::Fixpoint);
            }
            let mut is_reduced = false;
            for &term in &self.order[..n_open] {
                // The sums are updated after each term, so that later terms see tighter bounds.
                let term = term as usize;
                let (l, h) = self.term(term, domains);
                if h - l > constant - lo && self.limit(term, constant - lo, End::Least, domains)? {
                    hi += self.term(term, domains).1 - h;
                    is_reduced = true;
                }
                let (l, h) = self.term(term, domains);
                if h - l > hi - constant
                    && self.limit(term, hi - constant, End::Greatest, domains)?
                {
                    lo += self.term(term, domains).0 - l;
                    is_reduced = true;
                }
            }
            if !is_reduced {
                return Ok(Pruning::Fixpoint);
            }
        }
        Ok(Pruning::MayPruneMore)
    }

    fn propagate_different(
        &mut self,
        domains: &mut Domains,
        constant: i64,
    ) -> Result<Pruning, Conflict> {
        let (n_open, fixed) = self.set_aside(domains);
        match n_open {
            0 if fixed == constant => Err(Conflict),
            0 => Ok(Pruning::Entailed),
            1 => {
                let term = self.order[0] as usize;
                let rest = constant - fixed;
                let a = self.coefficients[term];
                if rest % a == 0
                    && let Ok(value) = Value::try_from(rest / a)
                {
                    domains.remove(self.scope[term], value)?;
                }
                Ok(Pruning::Entailed)
            }
            _ => Ok(Pruning::Fixpoint),
        }
    }

    /// Requires the term to be within `slack` of an end.
    #[inline]
    fn limit(
        &self,
        term: usize,
        slack: i64,
        end: End,
        domains: &mut Domains,
    ) -> Result<bool, Conflict> {
        let (x, a) = (self.scope[term], self.coefficients[term]);
        let room = slack / a.abs();
        if (a > 0) == (end == End::Least) {
            domains.at_most_wide(x, i64::from(domains.min(x)) + room)
        } else {
            domains.at_least_wide(x, i64::from(domains.max(x)) - room)
        }
    }
}

//! Disjunctions of literals.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::expr::Comparison;
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A variable compared with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Literal {
    var: VarId,
    /// One of `Le`, `Ge`, `Eq`, `Ne`.
    op: Comparison,
    value: Value,
}

impl Literal {
    /// Creates the literal `var op value`.
    ///
    /// # Panics
    /// When the value is the least or the greatest of 32 bits.
    pub fn new(var: VarId, op: Comparison, value: Value) -> Self {
        match op {
            Comparison::Lt => {
                let value = value.checked_sub(1).expect("values are inside 32 bits");
                Self { var, op: Comparison::Le, value }
            }
            Comparison::Gt => {
                let value = value.checked_add(1).expect("values are inside 32 bits");
                Self { var, op: Comparison::Ge, value }
            }
            op => Self { var, op, value },
        }
    }

    /// Returns the variable of the literal.
    pub fn var(self) -> VarId {
        self.var
    }

    /// Returns the value that the literal requires, if it requires a single one.
    pub(crate) fn wanted(self) -> Option<Value> {
        (self.op == Comparison::Eq).then_some(self.value)
    }

    /// Returns the literal that holds exactly when this one does not.
    pub fn negated(self) -> Self {
        Self::new(self.var, self.op.negated(), self.value)
    }

    /// Whether it holds when its variable has this value.
    pub fn holds(self, value: Value) -> bool {
        self.op.holds(i64::from(value), i64::from(self.value))
    }

    /// Returns whether the literal is true or false for all values left; `None` if it is open.
    #[inline]
    pub fn status(self, domains: &Domains) -> Option<bool> {
        let (lo, hi) = (domains.min(self.var), domains.max(self.var));
        match self.op {
            Comparison::Le if hi <= self.value => Some(true),
            Comparison::Le if lo > self.value => Some(false),
            Comparison::Ge if lo >= self.value => Some(true),
            Comparison::Ge if hi < self.value => Some(false),
            Comparison::Eq | Comparison::Ne => {
                let is_equality = self.op == Comparison::Eq;
                if !domains.contains(self.var, self.value) {
                    Some(!is_equality)
                } else if lo == hi {
                    Some(is_equality)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Makes the literal true.
    ///
    /// # Errors
    /// [`Conflict`] when it is false.
    pub fn assert(self, domains: &mut Domains) -> Result<bool, Conflict> {
        match self.op {
            Comparison::Le => domains.at_most(self.var, self.value),
            Comparison::Ge => domains.at_least(self.var, self.value),
            Comparison::Eq => domains.fix(self.var, self.value),
            _ => domains.remove(self.var, self.value),
        }
    }

    /// Returns the events that can make the literal true or false.
    pub(crate) fn deciding(self) -> Events {
        self.falsifying().union(self.negated().falsifying())
    }

    /// Returns the events that can make the literal false.
    fn falsifying(self) -> Events {
        match self.op {
            Comparison::Le => Events::LOWER,
            Comparison::Ge => Events::UPPER,
            Comparison::Eq => Events::ANY,
            _ => Events::FIXED,
        }
    }
}

/// At least one of the literals holds.
#[derive(Clone)]
pub struct Clause {
    scope: Vec<VarId>,
    literals: Vec<Literal>,
    /// Two literals that were not false at the last check; only hints, so they are not
    /// reversible.
    watched: [usize; 2],
}

impl Clause {
    /// Creates the disjunction of the literals.
    pub fn new(literals: Vec<Literal>) -> Self {
        let scope = literals.iter().map(|literal| literal.var).collect();
        Self { scope, literals, watched: [0, 1] }
    }
}

impl Propagator for Clause {
    fn name(&self) -> &'static str {
        "clause"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.literals.iter().zip(tuple).any(|(literal, &value)| literal.holds(value))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for literal in &self.literals {
            setup.subscribe(literal.var, literal.falsifying());
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        if self.literals.len() >= 2 {
            let [a, b] = self.watched.map(|at| self.literals[at].status(domains));
            if a == Some(true) || b == Some(true) {
                return Ok(Pruning::Entailed);
            }
            if a.is_none() && b.is_none() {
                return Ok(Pruning::Fixpoint);
            }
        }
        let mut open = None;
        for (at, literal) in self.literals.iter().enumerate() {
            match (literal.status(domains), open) {
                (Some(true), _) => {
                    self.watched[0] = at;
                    return Ok(Pruning::Entailed);
                }
                (Some(false), _) => {}
                (None, None) => open = Some(at),
                (None, Some(first)) => {
                    self.watched = [first, at];
                    return Ok(Pruning::Fixpoint);
                }
            }
        }
        self.literals[open.ok_or(Conflict)?].assert(domains)?;
        Ok(Pruning::Entailed)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

/// `truth` is 1 exactly when the literal holds.
#[derive(Clone)]
pub struct ReifiedLiteral {
    scope: [VarId; 2],
    literal: Literal,
}

impl ReifiedLiteral {
    /// Creates the constraint that `truth`, with values 0 and 1, is 1 exactly when the literal
    /// holds.
    pub fn new(truth: VarId, literal: Literal) -> Self {
        Self { scope: [truth, literal.var], literal }
    }
}

impl Propagator for ReifiedLiteral {
    fn name(&self) -> &'static str {
        "reified literal"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        tuple[0] == Value::from(self.literal.holds(tuple[1]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe(self.scope[0], Events::FIXED);
        setup.subscribe(self.scope[1], self.literal.deciding());
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        if let Some(status) = self.literal.status(domains) {
            domains.fix(self.scope[0], Value::from(status))?;
            return Ok(Pruning::Entailed);
        }
        match domains.fixed_value(self.scope[0]) {
            Some(0) => self.literal.negated().assert(domains)?,
            Some(1) => self.literal.assert(domains)?,
            Some(_) => return Err(Conflict),
            None => return Ok(Pruning::Fixpoint),
        };
        Ok(Pruning::Entailed)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

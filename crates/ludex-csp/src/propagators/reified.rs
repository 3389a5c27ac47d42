//! Reification: a truth variable that is equivalent to any constraint, or implies it.
//!
//! While the truth variable is open, the inner constraint is propagated tentatively on the
//! trail: if it fails there, it is false. Its negation prunes only when all variables but one
//! are fixed.

use crate::Value;
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};

/// If `truth` is 1, the inner constraint holds.
pub struct HalfReified {
    scope: Vec<VarId>,
    inner: Box<dyn Propagator>,
}

impl HalfReified {
    /// Creates the constraint `truth = 1 implies inner`.
    pub fn new(truth: VarId, inner: Box<dyn Propagator>) -> Self {
        let scope = std::iter::once(truth).chain(inner.scope().iter().copied()).collect();
        Self { scope, inner }
    }
}

impl Propagator for HalfReified {
    fn name(&self) -> &'static str {
        "implied"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        tuple[0] != 1 || self.inner.holds(&tuple[1..])
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.inner.post(setup);
        setup.subscribe(self.scope[0], Events::FIXED);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        match domains.fixed_value(self.scope[0]) {
            Some(1) => self.inner.propagate(domains),
            Some(_) => Ok(Pruning::Entailed),
            None if domains.probe(|domains| self.inner.propagate(domains)).is_err() => {
                domains.remove(self.scope[0], 1)?;
                Ok(Pruning::Entailed)
            }
            None => Ok(Pruning::Fixpoint),
        }
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn duplicate(&self) -> Box<dyn Propagator> {
        Box::new(Self { scope: self.scope.clone(), inner: self.inner.duplicate() })
    }
}

/// `truth` is 1 exactly when the inner constraint holds.
pub struct Reified {
    scope: Vec<VarId>,
    inner: Box<dyn Propagator>,
    negation: Box<dyn Propagator>,
}

impl Reified {
    /// Creates the constraint that `truth`, with values 0 and 1, is 1 exactly when `inner`
    /// holds.
    pub fn new(truth: VarId, inner: Box<dyn Propagator>) -> Self {
        let negation = Box::new(Negation::new(inner.duplicate()));
        Self::with_negation(truth, inner, negation)
    }

    /// Creates the same constraint with a negation that prunes better than the general one.
    ///
    /// # Panics
    /// When the two have different scopes.
    pub fn with_negation(
        truth: VarId,
        inner: Box<dyn Propagator>,
        negation: Box<dyn Propagator>,
    ) -> Self {
        assert_eq!(
            inner.scope(),
            negation.scope(),
            "a constraint and its negation must have the same scope"
        );
        let scope = std::iter::once(truth).chain(inner.scope().iter().copied()).collect();
        Self { scope, inner, negation }
    }
}

impl Propagator for Reified {
    fn name(&self) -> &'static str {
        "reified"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        tuple[0] == Value::from(self.inner.holds(&tuple[1..]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        self.inner.post(setup);
        self.negation.post(setup);
        setup.subscribe(self.scope[0], Events::FIXED);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let truth = self.scope[0];
        match domains.fixed_value(truth) {
            Some(1) => return self.inner.propagate(domains),
            Some(0) => return self.negation.propagate(domains),
            Some(_) => return Err(Conflict),
            None => {}
        }
        if domains.probe(|domains| self.inner.propagate(domains)).is_err() {
            domains.fix(truth, 0)?;
            return Ok(Pruning::MayPruneMore);
        }
        if domains.probe(|domains| self.negation.propagate(domains)).is_err() {
            domains.fix(truth, 1)?;
            return Ok(Pruning::MayPruneMore);
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        self.inner.cost().max(self.negation.cost())
    }

    fn duplicate(&self) -> Box<dyn Propagator> {
        Box::new(Self {
            scope: self.scope.clone(),
            inner: self.inner.duplicate(),
            negation: self.negation.duplicate(),
        })
    }
}

/// The inner constraint does not hold.
pub struct Negation {
    inner: Box<dyn Propagator>,
}

impl Negation {
    /// Creates the constraint that `inner` does not hold. It uses only `holds` of `inner`.
    pub fn new(inner: Box<dyn Propagator>) -> Self {
        Self { inner }
    }
}

impl Propagator for Negation {
    fn name(&self) -> &'static str {
        "negation"
    }

    fn scope(&self) -> &[VarId] {
        self.inner.scope()
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        !self.inner.holds(tuple)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for &x in self.inner.scope() {
            setup.subscribe(x, Events::FIXED);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let scope = self.inner.scope();
        let mut open = scope.iter().copied().filter(|&x| !domains.is_fixed(x));
        let (x, more) = (open.next(), open.next());
        if more.is_some() {
            return Ok(Pruning::Fixpoint);
        }
        let mut tuple: Vec<Value> = scope.iter().map(|&x| domains.min(x)).collect();
        match x {
            None if self.inner.holds(&tuple) => Err(Conflict),
            None => Ok(Pruning::Entailed),
            Some(x) => {
                let places: Vec<usize> = (0..scope.len()).filter(|&at| scope[at] == x).collect();
                domains.retain(x, |value| {
                    places.iter().for_each(|&at| tuple[at] = value);
                    !self.inner.holds(&tuple)
                })?;
                Ok(Pruning::Entailed)
            }
        }
    }

    fn duplicate(&self) -> Box<dyn Propagator> {
        Box::new(Self { inner: self.inner.duplicate() })
    }
}

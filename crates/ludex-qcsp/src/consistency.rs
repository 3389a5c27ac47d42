//! Quantified consistencies of unrestricted models, enforced before the search.
//!
//! Each consistency looks at one goal constraint at a time, with its variables in the order of the
//! prefix, until a fixpoint. Inconsistent values are removed from existential domains; if a
//! universal variable has an inconsistent value, the model is false.
//!
//! - [`Consistency::Qac`]: existential analysis with the propagators of the kernel, which know
//!   arithmetic and Boolean constraints. (Bordeaux and Monfroy, CP 2002)
//! - [`Consistency::Wqgac`]: with the value, every choice of the universal variables that come
//!   later in the constraint has a tuple. (Nightingale, 2005)
//! - [`Consistency::Bmqgac`]: the value is in an outcome, a tuple of a winning strategy of the
//!   model that has this constraint only.
//! - [`Consistency::Sqgac`]: the tuples of the weak form come from one winning strategy. For a
//!   single constraint this equals being in an outcome: the strategy below the value answers all
//!   later universal choices. The literature calls it stronger without an example.
//!
//! *Pure values* cannot hurt their owner: all constraints hold with them, whatever the other
//! variables are. An existential variable takes one at once; a universal one need not try it.

use ludex_csp::{Constraint, Network, PostConfig, Value, ValueSet, VarId, conjuncts};

use crate::config::Consistency;
use crate::error::{ModelError, Part};
use crate::model::Model;
use crate::scope::Quantifier;

/// Constraints with more tuples than this are skipped.
const MAX_TUPLES: u64 = 100_000;

/// Returns the domains after enforcing a consistency, or `None` if it shows that the model is
/// false.
///
/// # Errors
/// Returns an error if the model has restrictors or definitions, because values that a constraint
/// forbids may be harmless there, or if the goal cannot be posted.
pub fn enforce(
    model: &Model,
    consistency: Consistency,
) -> Result<Option<Vec<ValueSet>>, ModelError> {
    require_unrestricted(model, "a consistency")?;
    if consistency == Consistency::Qac {
        return existential_analysis(model);
    }
    let mut domains: Vec<ValueSet> =
        model.variables().iter().map(|x| x.variable.domain.clone()).collect();
    let constraints = conjuncts(model.goal_constraints());
    loop {
        let before = domains.clone();
        for constraint in &constraints {
            let scope = in_prefix_order(constraint);
            if n_tuples(&domains, &scope) > MAX_TUPLES {
                continue;
            }
            let of_one = OneConstraint { model, constraint, scope: &scope, domains: &domains };
            let kept: Vec<ValueSet> = (0..scope.len())
                .map(|at| domains[scope[at].index()].filter(|v| of_one.keeps(at, v, consistency)))
                .collect();
            for (&x, kept) in scope.iter().zip(kept) {
                let is_universal = quantifier(model, x) == Quantifier::Forall;
                if kept.is_empty() || is_universal && kept != domains[x.index()] {
                    return Ok(None);
                }
                domains[x.index()] = kept;
            }
        }
        if domains == before {
            return Ok(Some(domains));
        }
    }
}

/// Returns the domains after pruning by pure values.
///
/// # Errors
/// Returns an error if the model has restrictors or definitions.
pub fn pure_values(model: &Model) -> Result<Vec<ValueSet>, ModelError> {
    require_unrestricted(model, "the rule of pure values")?;
    let mut domains: Vec<ValueSet> =
        model.variables().iter().map(|x| x.variable.domain.clone()).collect();
    let constraints = conjuncts(model.goal_constraints());
    for i in 0..domains.len() {
        let x = VarId::new(i);
        let mentioning: Vec<(&Constraint, Vec<VarId>)> = constraints
            .iter()
            .map(|constraint| (constraint, in_prefix_order(constraint)))
            .filter(|(_, scope)| scope.contains(&x))
            .collect();
        let is_small = mentioning.iter().all(|(_, scope)| n_tuples(&domains, scope) <= MAX_TUPLES);
        if !is_small {
            continue;
        }
        let is_pure = |value: Value| {
            mentioning.iter().all(|(constraint, scope)| {
                let of_one = OneConstraint { model, constraint, scope, domains: &domains };
                of_one.always_holds(scope.iter().position(|y| *y == x), value)
            })
        };
        let pure = domains[i].filter(is_pure);
        let Some(first) = pure.min() else { continue };
        domains[i] = match quantifier(model, x) {
            Quantifier::Exists => ValueSet::from([first]),
            Quantifier::Forall if pure == domains[i] => ValueSet::from([first]),
            Quantifier::Forall => domains[i].filter(|value| !pure.contains(value)),
        };
    }
    Ok(domains)
}

fn require_unrestricted(model: &Model, option: &'static str) -> Result<(), ModelError> {
    let restricted = model.scopes().iter().find(|scope| !scope.restrictor.is_empty());
    let defined = model.variables().iter().find(|x| x.definition.is_some());
    let reason = match (restricted, defined) {
        (Some(scope), _) => format!("scope `{}` has a restrictor", scope.name),
        (None, Some(x)) => format!("`{}` has a definition", x.variable.name),
        (None, None) if model.is_optimization() => "the model optimizes".to_string(),
        (None, None) => return Ok(()),
    };
    Err(ModelError::Option { option, reason })
}

fn quantifier(model: &Model, x: VarId) -> Quantifier {
    model.scope(model.variable(x).scope).quantifier
}

fn in_prefix_order(constraint: &Constraint) -> Vec<VarId> {
    let mut scope = constraint.scope();
    scope.sort_unstable();
    scope
}

fn n_tuples(domains: &[ValueSet], scope: &[VarId]) -> u64 {
    scope.iter().fold(1, |n: u64, x| n.saturating_mul(domains[x.index()].len()))
}

fn existential_analysis(model: &Model) -> Result<Option<Vec<ValueSet>>, ModelError> {
    let mut network = Network::new();
    for x in model.variables() {
        network.int(x.variable.name.clone(), x.variable.domain.clone());
    }
    for constraint in model.goal_constraints() {
        network.add(constraint.clone());
    }
    let posted = network.post(&PostConfig::default());
    let mut engine = posted.map_err(|error| ModelError::Constraint { part: Part::Goal, error })?;
    if engine.propagate().is_err() {
        return Ok(None);
    }
    let all = (0..model.variables().len()).map(VarId::new);
    let domains: Vec<ValueSet> = all.map(|x| engine.domains().value_set(x)).collect();
    let shrinks = |(i, domain): (usize, &ValueSet)| {
        let x = VarId::new(i);
        quantifier(model, x) == Quantifier::Forall && domain != model.domain(x)
    };
    Ok((!domains.iter().enumerate().any(shrinks)).then_some(domains))
}

/// A constraint with its variables in the order of the prefix.
struct OneConstraint<'a> {
    model: &'a Model,
    constraint: &'a Constraint,
    scope: &'a [VarId],
    domains: &'a [ValueSet],
}

impl OneConstraint<'_> {
    fn keeps(&self, at: usize, value: Value, consistency: Consistency) -> bool {
        match consistency {
            Consistency::Qac => true,
            Consistency::Wqgac => self.has_tuples(at, value, at + 1, &mut Vec::new()),
            Consistency::Bmqgac | Consistency::Sqgac => {
                self.is_in_outcome(at, value, &mut Vec::new())
            }
        }
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.constraint.holds(&|x: VarId| {
            let at =
                self.scope.iter().position(|y| *y == x).expect("the scope contains the variable");
            tuple[at].into()
        })
    }

    fn values(&self, at: usize) -> impl Iterator<Item = Value> + '_ {
        self.domains[self.scope[at].index()].iter()
    }

    fn is_universal(&self, at: usize) -> bool {
        quantifier(self.model, self.scope[at]) == Quantifier::Forall
    }

    /// Whether every choice of the universal variables from `from` on extends to a tuple.
    fn has_tuples(
        &self,
        at: usize,
        value: Value,
        from: usize,
        fixed: &mut Vec<(usize, Value)>,
    ) -> bool {
        match (from..self.scope.len()).find(|&i| self.is_universal(i)) {
            Some(next) => self.values(next).all(|choice| {
                fixed.push((next, choice));
                let has = self.has_tuples(at, value, next + 1, fixed);
                fixed.pop();
                has
            }),
            None => {
                fixed.push((at, value));
                let has = self.has_tuple(fixed, &mut Vec::new());
                fixed.pop();
                has
            }
        }
    }

    fn has_tuple(&self, fixed: &[(usize, Value)], tuple: &mut Vec<Value>) -> bool {
        let at = tuple.len();
        if at == self.scope.len() {
            return self.holds(tuple);
        }
        let only = fixed.iter().find(|(place, _)| *place == at).map(|(_, value)| *value);
        self.values(at).filter(|&value| only.is_none_or(|only| only == value)).any(|value| {
            tuple.push(value);
            let has = self.has_tuple(fixed, tuple);
            tuple.pop();
            has
        })
    }

    /// Whether the existential player wins the model of this constraint alone from here on.
    fn is_won(&self, tuple: &mut Vec<Value>) -> bool {
        let at = tuple.len();
        if at == self.scope.len() {
            return self.holds(tuple);
        }
        let mut wins = |value: Value| {
            tuple.push(value);
            let wins = self.is_won(tuple);
            tuple.pop();
            wins
        };
        if self.is_universal(at) {
            self.values(at).all(&mut wins)
        } else {
            self.values(at).any(&mut wins)
        }
    }

    /// Whether a winning strategy has a tuple that begins with `tuple` and has the value at `at`.
    fn is_in_outcome(&self, at: usize, value: Value, tuple: &mut Vec<Value>) -> bool {
        if !self.is_won(tuple) {
            return false;
        }
        let next = tuple.len();
        if next > at {
            return true;
        }
        let only = (next == at).then_some(value);
        self.values(next).filter(|&v| only.is_none_or(|only| only == v)).any(|v| {
            tuple.push(v);
            let is_in = self.is_in_outcome(at, value, tuple);
            tuple.pop();
            is_in
        })
    }

    /// Whether the constraint holds with this value, whatever the other values are.
    fn always_holds(&self, at: Option<usize>, value: Value) -> bool {
        fn all(
            of: &OneConstraint<'_>,
            at: Option<usize>,
            value: Value,
            tuple: &mut Vec<Value>,
        ) -> bool {
            let next = tuple.len();
            if next == of.scope.len() {
                return of.holds(tuple);
            }
            let only = (at == Some(next)).then_some(value);
            of.values(next).filter(|&v| only.is_none_or(|only| only == v)).all(|v| {
                tuple.push(v);
                let holds = all(of, at, value, tuple);
                tuple.pop();
                holds
            })
        }
        all(self, at, value, &mut Vec::new())
    }
}

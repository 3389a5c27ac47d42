//! The semantics of a model, computed directly from the definition: the slow reference for the
//! search.

use std::cmp::Ordering;

use ludex_csp::{Constraint, Value, VarId};
use rustc_hash::FxHashMap;

use crate::measure::{Interest, aggregate_value, compare, interests};
use crate::model::Model;
use crate::scope::{Measure, Quantifier, Ties};

/// Returns whether a model is true, and the value of its first criterion or aggregate.
///
/// Tries every choice of every scope, so it suits only small models and tests.
pub fn by_definition(model: &Model) -> (bool, Option<i64>) {
    let mut values = vec![0; model.variables().len()];
    let mut n_left = u64::MAX;
    let outcome = evaluate(model, 0, &mut values, &mut n_left).expect("there is no limit");
    let value = outcome
        .as_ref()
        .and_then(|outcome| outcome.get(&crate::measure::root_measure(model)?).copied());
    (outcome.is_some(), value)
}

/// The final values of the measures that earlier scopes can see.
pub(crate) type Outcome = FxHashMap<Measure, i64>;

/// The limit on choices was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMany;

/// Returns the outcome from a scope on, or `None` if the existential player loses. `n_left` limits
/// the choices still to be tried.
pub(crate) fn evaluate(
    model: &Model,
    scope_idx: usize,
    values: &mut [Value],
    n_left: &mut u64,
) -> Result<Option<Outcome>, TooMany> {
    let Some(scope) = model.scopes().get(scope_idx) else {
        let value_of = |x: VarId| i64::from(values[x.index()]);
        let is_won = model.goal_constraints().iter().all(|c| c.holds(&value_of));
        return Ok(is_won.then(Outcome::default));
    };
    let choices = choices_within(model, scope_idx, values, n_left)?;
    let set = |choice: &[Value], values: &mut [Value]| {
        for (&x, &value) in scope.variables.iter().zip(choice) {
            values[x.index()] = value;
        }
    };
    match scope.quantifier {
        Quantifier::Exists => {
            let interests = interests(model, scope_idx);
            let mut best: Option<Outcome> = None;
            for choice in choices {
                set(&choice, values);
                let Some(mut outcome) = evaluate(model, scope_idx + 1, values, n_left)? else {
                    continue;
                };
                for (&x, &value) in scope.variables.iter().zip(&choice) {
                    outcome.insert(Measure::Variable(x), value.into());
                }
                let is_better = best
                    .as_ref()
                    .is_none_or(|best| is_preferred(scope.ties, &interests, &outcome, best));
                if is_better {
                    best = Some(outcome);
                }
            }
            Ok(best)
        }
        Quantifier::Forall => {
            let mut branches = Vec::new();
            for choice in choices {
                set(&choice, values);
                match evaluate(model, scope_idx + 1, values, n_left)? {
                    Some(branch) => branches.push(branch),
                    None => return Ok(None),
                }
            }
            Ok(Some(aggregated(model, scope_idx, &branches)))
        }
    }
}

/// Aggregates the outcomes of the branches of a universal scope.
pub(crate) fn aggregated(model: &Model, scope_idx: usize, branches: &[Outcome]) -> Outcome {
    let mut outcome = Outcome::default();
    for (i, aggregate) in model.aggregates().iter().enumerate() {
        if aggregate.scope.index() == scope_idx {
            let of = branches.iter().filter_map(|b| b.get(&aggregate.of).copied());
            let measure = Measure::Aggregate(crate::AggregateId::new(i));
            if let Some(value) = aggregate_value(aggregate.function, of) {
                outcome.insert(measure, value);
            }
        }
    }
    outcome
}

/// Whether a choice is better than the best one before it. Ties go to the earlier choice, which
/// comes first in lexicographic order.
fn is_preferred(ties: Ties, interests: &[Interest], new: &Outcome, best: &Outcome) -> bool {
    for interest in interests {
        let is_own = interest.is_own;
        if !is_own && matches!(ties, Ties::Lexicographic | Ties::Any) {
            return false;
        }
        let order = compare(interest, |m| new.get(&m).copied(), |m| best.get(&m).copied());
        let order = if !is_own && ties == Ties::Pessimistic { order.reverse() } else { order };
        match order {
            Ordering::Equal => {}
            order => return order == Ordering::Greater,
        }
    }
    false
}

/// Returns all choices of a scope in lexicographic order, unless `n_left` values do not suffice. A
/// constraint is checked once all its variables of the scope have values.
pub(crate) fn choices_within(
    model: &Model,
    scope_idx: usize,
    values: &mut [Value],
    n_left: &mut u64,
) -> Result<Vec<Vec<Value>>, TooMany> {
    let scope = &model.scopes()[scope_idx];
    let mut known_at: Vec<Vec<&Constraint>> = vec![Vec::new(); scope.variables.len() + 1];
    for constraint in &scope.restrictor {
        let mentioned = constraint.scope();
        let last = scope.variables.iter().rposition(|x| mentioned.contains(x));
        known_at[last.map_or(0, |last| last + 1)].push(constraint);
    }
    let mut found = Vec::new();
    extend(model, scope_idx, &known_at, 0, values, n_left, &mut found)?;
    Ok(found)
}

/// Extends a partial choice. `known_at` holds, by the number of assigned variables, the constraints
/// that become checkable then.
fn extend(
    model: &Model,
    scope_idx: usize,
    known_at: &[Vec<&Constraint>],
    at: usize,
    values: &mut [Value],
    n_left: &mut u64,
    found: &mut Vec<Vec<Value>>,
) -> Result<(), TooMany> {
    let scope = &model.scopes()[scope_idx];
    *n_left = n_left.checked_sub(1).ok_or(TooMany)?;
    let value_of = |x: VarId| i64::from(values[x.index()]);
    if !known_at[at].iter().all(|constraint| constraint.holds(&value_of)) {
        return Ok(());
    }
    let Some(&x) = scope.variables.get(at) else {
        found.push(scope.variables.iter().map(|x| values[x.index()]).collect());
        return Ok(());
    };
    let variable = model.variable(x);
    match &variable.definition {
        Some(definition) => {
            let value = definition.eval(&|y: VarId| i64::from(values[y.index()]));
            let value = value.and_then(|value| Value::try_from(value).ok());
            if let Some(value) = value.filter(|v| variable.variable.domain.contains(*v)) {
                values[x.index()] = value;
                extend(model, scope_idx, known_at, at + 1, values, n_left, found)?;
            }
        }
        None => {
            for value in variable.variable.domain.iter() {
                values[x.index()] = value;
                extend(model, scope_idx, known_at, at + 1, values, n_left, found)?;
            }
        }
    }
    Ok(())
}

/// Completes a choice, given by the values of the variables without definitions, and returns
/// whether the choice is legal.
pub(crate) fn complete(
    model: &Model,
    scope_idx: usize,
    choice: &[Value],
    values: &mut [Value],
) -> bool {
    let scope = &model.scopes()[scope_idx];
    let mut chosen = choice.iter();
    for &x in &scope.variables {
        let variable = model.variable(x);
        let value = match &variable.definition {
            Some(definition) => {
                let value = definition.eval(&|y: VarId| i64::from(values[y.index()]));
                value.and_then(|value| Value::try_from(value).ok())
            }
            None => chosen.next().copied(),
        };
        match value.filter(|value| variable.variable.domain.contains(*value)) {
            Some(value) => values[x.index()] = value,
            None => return false,
        }
    }
    let value_of = |x: VarId| i64::from(values[x.index()]);
    chosen.next().is_none() && scope.restrictor.iter().all(|c| c.holds(&value_of))
}

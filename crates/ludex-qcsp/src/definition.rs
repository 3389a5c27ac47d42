//! The meaning of a model, computed as it is defined: the slow twin of the search.

use std::cmp::Ordering;

use ludex_csp::{Constraint, Value, VarId};
use rustc_hash::FxHashMap;

use crate::measure::{Interest, aggregate_value, compare, interests};
use crate::model::Model;
use crate::scope::{Measure, Quantifier, Ties};

/// Whether a model is true, and the value of its first criterion or aggregate.
///
/// Every choice of every scope is tried. For small models and tests.
pub fn by_definition(model: &Model) -> (bool, Option<i64>) {
    let mut values = vec![0; model.variables().len()];
    let mut n_left = u64::MAX;
    let outcome = evaluate(model, 0, &mut values, &mut n_left).expect("there is no limit");
    let value = outcome
        .as_ref()
        .and_then(|outcome| outcome.get(&crate::measure::root_measure(model)?).copied());
    (outcome.is_some(), value)
}

/// What the measures that earlier scopes may look at are in the end.
pub(crate) type Outcome = FxHashMap<Measure, i64>;

/// More choices would have to be tried than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMany;

/// The outcome from a scope on; `None` when the existential player loses. So many choices are
/// left to be tried.
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

/// The aggregates of a universal scope, from its branches.
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

/// Whether a choice is better than the best one before it. Earlier choices win ties: they
/// come first in lexicographic order.
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

/// All choices of a scope, in lexicographic order, unless more values have to be tried than
/// are left. A constraint is
/// asked as soon as the variables of the scope that it mentions have values.
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

/// `known_at` has, by the number of variables with values, the constraints that can be asked
/// then and not before.
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

/// Completes a choice, given by the values of the variables that are not definitions; says
/// whether there is such a choice.
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

//! The interests of scopes: which measure a scope wants to be large or small.

use std::cmp::Ordering;

use crate::model::Model;
use crate::scope::{AggregateFunction, Measure, Quantifier};

/// A measure that the choices of a scope influence, as seen by a criterion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interest {
    /// The measure in one branch of the scope.
    pub measure: Measure,
    pub is_minimized: bool,
    /// Whether only the distinction between 0 and other values matters.
    pub is_counted: bool,
    /// Whether this is the criterion of the scope itself rather than of a leader.
    pub is_own: bool,
}

/// Returns the interests in the choices of an existential scope: its own criterion, then those of
/// the leaders, nearest first.
///
/// A leader that optimizes an aggregate wants to optimize the measure in each branch, because all
/// aggregate functions are monotone.
pub(crate) fn interests(model: &Model, scope_idx: usize) -> Vec<Interest> {
    (0..=scope_idx)
        .rev()
        .filter_map(|leader| {
            let criterion = model.scopes()[leader].criterion?;
            let (measure, is_counted) = seen(model, scope_idx, criterion.measure)?;
            let is_minimized = criterion.is_minimized;
            Some(Interest { measure, is_minimized, is_counted, is_own: leader == scope_idx })
        })
        .collect()
}

/// Returns the measure that decides `measure` within a branch of a scope, and whether only its
/// being 0 matters; `None` if no branch influences it.
pub(crate) fn seen(model: &Model, scope_idx: usize, measure: Measure) -> Option<(Measure, bool)> {
    match measure {
        Measure::Variable(x) => {
            (model.variable(x).scope.index() >= scope_idx).then_some((measure, false))
        }
        Measure::Aggregate(id) => {
            let aggregate = &model.aggregates()[id.index()];
            if aggregate.scope.index() >= scope_idx {
                return Some((measure, false));
            }
            let (measure, is_counted) = seen(model, scope_idx, aggregate.of)?;
            Some((measure, is_counted || aggregate.function == AggregateFunction::Count))
        }
    }
}

/// Compares two branches; greater is better. A missing value is worse than any value.
pub(crate) fn compare(
    interest: &Interest,
    left: impl FnOnce(Measure) -> Option<i64>,
    right: impl FnOnce(Measure) -> Option<i64>,
) -> Ordering {
    let seen = |value: i64| if interest.is_counted { i64::from(value != 0) } else { value };
    let (left, right) = (left(interest.measure).map(seen), right(interest.measure).map(seen));
    match (left, right) {
        (Some(left), Some(right)) if interest.is_minimized => right.cmp(&left),
        (left, right) => left.cmp(&right),
    }
}

/// Computes an aggregate from the values of the branches.
pub(crate) fn aggregate_value(
    function: AggregateFunction,
    of: impl Iterator<Item = i64>,
) -> Option<i64> {
    let mut partial = Partial::default();
    of.for_each(|value| partial.add(value));
    partial.value(function)
}

/// An aggregate over the branches visited so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Partial {
    n: i64,
    n_true: i64,
    sum: i64,
    min: i64,
    max: i64,
}

impl Default for Partial {
    fn default() -> Self {
        Self { n: 0, n_true: 0, sum: 0, min: i64::MAX, max: i64::MIN }
    }
}

impl Partial {
    /// Adds one more branch.
    pub fn add(&mut self, value: i64) {
        self.n += 1;
        self.n_true += i64::from(value != 0);
        self.sum = self.sum.saturating_add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Returns the value over all branches added.
    pub fn value(&self, function: AggregateFunction) -> Option<i64> {
        let is_some = self.n > 0;
        match function {
            AggregateFunction::Sum => Some(self.sum),
            AggregateFunction::Count => Some(self.n_true),
            AggregateFunction::Min => is_some.then_some(self.min),
            AggregateFunction::Max => is_some.then_some(self.max),
            AggregateFunction::Mean => is_some.then(|| self.sum / self.n),
        }
    }
}

/// Returns the measure reported as the value of the model: the first criterion, or the first
/// aggregate if the first scope is universal.
pub(crate) fn root_measure(model: &Model) -> Option<Measure> {
    for (i, scope) in model.scopes().iter().enumerate() {
        if scope.quantifier == Quantifier::Forall {
            let first = model.aggregates().iter().position(|a| a.scope.index() == i);
            return first.map(|i| Measure::Aggregate(crate::AggregateId::new(i)));
        }
        if let Some(criterion) = scope.criterion {
            return Some(criterion.measure);
        }
    }
    None
}

//! Computes the measures of a model: search for optimal strategies.
//!
//! An existential scope tries its choices and keeps the best for its own criterion, breaking ties
//! as declared; a universal scope needs all of its branches and aggregates them.
//!
//! Choices are skipped only by a bound on the scope's *own* criterion (see `bound`), never by
//! posting a better value for a leader below a follower: the follower would then answer from the
//! remaining choices instead of with its best one (example 47 of the thesis).

use std::cmp::Ordering;

use ludex_csp::Value;
use smallvec::SmallVec;

use super::{Searcher, Stopped};
use crate::measure::Partial;
use crate::schedule::measures::{ScopeMeasures, Wish};
use crate::scope::{Quantifier, Ties};

/// The value of a measure without a value.
pub(crate) const NONE: i64 = i64::MIN;

/// The final values of the measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    pub measures: SmallVec<[i64; 6]>,
    /// The choice of the scope, if it breaks ties.
    pub choice: Vec<Value>,
}

impl Searcher<'_> {
    /// Returns the outcome of the whole model, or `None` if the existential player loses.
    pub fn optimize_all(&mut self) -> Result<Option<Outcome>, Stopped> {
        if self.schedule.levels.is_empty() {
            return Ok(self.schedule.goal_without_levels.then(|| self.empty()));
        }
        self.optimize_scope(0)
    }

    fn empty(&self) -> Outcome {
        Outcome {
            measures: SmallVec::from_elem(NONE, self.schedule.measures.n),
            choice: Vec::new(),
        }
    }

    /// Returns the outcome from a scope on.
    pub fn optimize_scope(&mut self, scope: usize) -> Result<Option<Outcome>, Stopped> {
        let level = self.schedule.first_level[scope];
        if level == self.schedule.levels.len() {
            return Ok(Some(self.empty()));
        }
        let key = (self.remembers(scope)).then(|| self.schedule.keys[scope].of(&self.values));
        if let Some(key) = key {
            self.asked[scope].0 += 1;
            if let Some(outcome) = self.outcomes.get(&(scope as u32, key)) {
                self.asked[scope].1 += 1;
                self.statistics.n_memory_hits += 1;
                return Ok(outcome.clone());
            }
        }
        let outcome = match self.schedule.levels[level].quantifier {
            Quantifier::Exists => {
                let before = self.incumbents[scope].take();
                let best = if self.open(level) { self.best_choice(level)? } else { None };
                self.incumbents[scope] = before;
                best
            }
            Quantifier::Forall => {
                let n = self.schedule.measures.scopes[scope].aggregates.len();
                self.partials.push(vec![Partial::default(); n]);
                let is_won = !self.open(level) || self.all_choices(level)?;
                let partials = self.partials.pop().expect("the partials were pushed");
                is_won.then(|| {
                    let mut outcome = self.empty();
                    let aggregates = &self.schedule.measures.scopes[scope].aggregates;
                    for (partial, &(number, function, _)) in partials.iter().zip(aggregates) {
                        outcome.measures[number] = partial.value(function).unwrap_or(NONE);
                    }
                    outcome
                })
            }
        };
        // A full table keeps its entries, because subproblems of early scopes recur.
        if let Some(key) = key
            && self.outcomes.len() < self.config.memory_bytes / 256
        {
            self.statistics.n_memory_stores += 1;
            self.outcomes.insert((scope as u32, key), outcome.clone());
        }
        Ok(outcome)
    }

    /// Returns the best outcome of an existential scope from a level on.
    pub(super) fn best_choice(&mut self, level: usize) -> Result<Option<Outcome>, Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        let measures = &schedule.measures.scopes[spec.scope];
        let mut best: Option<Outcome> = None;
        for (place, bound) in self.ordered(level) {
            if bound.is_some_and(|bound| !self.can_improve(spec.scope, bound)) {
                self.statistics.n_bounded += 1;
                continue;
            }
            if !self.choose(level, place) {
                continue;
            }
            self.count_node(level)?;
            if !self.goal_holds(level) {
                continue;
            }
            let outcome = if spec.is_last_of_scope {
                let outcome = self.optimize_scope(spec.scope + 1)?;
                outcome.map(|outcome| self.own(spec.scope, outcome))
            } else {
                self.best_choice(level + 1)?
            };
            let Some(outcome) = outcome else { continue };
            if best.as_ref().is_none_or(|best| is_preferred(measures, &outcome, best)) {
                self.note_incumbent(spec.scope, &outcome);
                best = Some(outcome);
            }
            // If nobody has an interest, the first winning choice is as good as any.
            if measures.interests.is_empty() && !measures.is_settled_by_choice {
                break;
            }
        }
        Ok(best)
    }

    /// Adds the measures of the scope itself to an outcome.
    pub fn own(&self, scope: usize, mut outcome: Outcome) -> Outcome {
        let measures = &self.schedule.measures.scopes[scope];
        for &(number, x) in &measures.variables {
            outcome.measures[number] = self.values[x.index()].into();
        }
        outcome.choice.clear();
        if measures.is_settled_by_choice {
            let variables = &self.schedule.model.scopes()[scope].variables;
            outcome.choice.extend(variables.iter().map(|x| self.values[x.index()]));
        }
        outcome
    }

    pub(super) fn note_incumbent(&mut self, scope: usize, outcome: &Outcome) {
        let Some(wish) = own_wish(&self.schedule.measures.scopes[scope]) else { return };
        let value = outcome.measures[wish.measure];
        let is_better = self.incumbents[scope].is_none_or(|best| better(wish, value, best).is_gt());
        if is_better {
            self.incumbents[scope] = Some(value);
            if let (0, Some(best)) = (scope, self.best_elsewhere) {
                best.offer(value);
            }
        }
    }

    /// Whether a choice with this bound on its criterion can change the outcome of the scope.
    pub(super) fn can_improve(&self, scope: usize, bound: Option<i64>) -> bool {
        let measures = &self.schedule.measures.scopes[scope];
        let own_best = self.incumbents[scope];
        let best = match self.best_elsewhere {
            Some(elsewhere) if scope == 0 => elsewhere.get().or(own_best),
            _ => own_best,
        };
        let (Some(wish), Some(best)) = (own_wish(measures), best) else {
            return bound.is_some();
        };
        let Some(bound) = bound else { return false };
        match better(wish, bound, best) {
            Ordering::Greater => true,
            // A tie with the best matters if another interest breaks it.
            Ordering::Equal => measures.interests.len() > 1 || measures.is_settled_by_choice,
            Ordering::Less => false,
        }
    }

    /// Returns the places of values with bounds on the criterion, best first. The bound is `None`
    /// if it was not computed, and `Some(None)` if the choice cannot win.
    pub(super) fn ordered(&mut self, level: usize) -> Vec<(usize, Option<Option<i64>>)> {
        let spec = &self.schedule.levels[level];
        let n_values = spec.values.len();
        let wish = own_wish(&self.schedule.measures.scopes[spec.scope]).copied();
        let Some(wish) = wish.filter(|_| self.config.branch_and_bound && spec.is_worth_bounding)
        else {
            return (0..n_values).map(|place| (place, None)).collect();
        };
        let mut order = Vec::with_capacity(n_values);
        for place in 0..n_values {
            if self.choose(level, place) {
                order.push((place, Some(self.bound(level, &wish))));
            }
        }
        if !self.schedule.levels[level].is_ordered {
            order.sort_by(|a, b| {
                let value = |bound: Option<Option<i64>>| bound.flatten().unwrap_or(NONE);
                better(&wish, value(b.1), value(a.1))
            });
        }
        order
    }

    /// Whether a universal scope is won in all of its branches, which are aggregated.
    fn all_choices(&mut self, level: usize) -> Result<bool, Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        for place in 0..spec.values.len() {
            if !self.choose(level, place) {
                continue;
            }
            self.count_node(level)?;
            if !self.goal_holds(level) {
                return Ok(false);
            }
            if !spec.is_last_of_scope {
                if !self.all_choices(level + 1)? {
                    return Ok(false);
                }
                continue;
            }
            let Some(outcome) = self.optimize_scope(spec.scope + 1)? else { return Ok(false) };
            let partials = self.partials.last_mut().expect("the scope has its own");
            let aggregates = &schedule.measures.scopes[spec.scope].aggregates;
            for (partial, &(_, _, of)) in partials.iter_mut().zip(aggregates) {
                if outcome.measures[of] != NONE {
                    partial.add(outcome.measures[of]);
                }
            }
        }
        Ok(true)
    }
}

/// Returns the criterion of the scope itself.
pub(super) fn own_wish(measures: &ScopeMeasures) -> Option<&Wish> {
    measures.interests.first().filter(|wish| wish.is_own)
}

/// Compares two values; greater is better.
pub(super) fn better(wish: &Wish, left: i64, right: i64) -> Ordering {
    let seen = |value: i64| match value {
        NONE => NONE,
        value if wish.is_counted => i64::from(value != 0),
        value => value,
    };
    let (left, right) = (seen(left), seen(right));
    if wish.is_minimized && left != NONE && right != NONE {
        right.cmp(&left)
    } else {
        left.cmp(&right)
    }
}

/// Whether a new choice of an existential scope is better than the best one before it.
pub(crate) fn is_preferred(measures: &ScopeMeasures, new: &Outcome, best: &Outcome) -> bool {
    for wish in &measures.interests {
        if !wish.is_own && matches!(measures.ties, Ties::Lexicographic | Ties::Any) {
            break;
        }
        let order = better(wish, new.measures[wish.measure], best.measures[wish.measure]);
        let is_adverse = !wish.is_own && measures.ties == Ties::Pessimistic;
        match if is_adverse { order.reverse() } else { order } {
            Ordering::Equal => {}
            order => return order == Ordering::Greater,
        }
    }
    measures.is_settled_by_choice && new.choice < best.choice
}

//! A checker for the optimality of strategies, by trying all other choices.
//!
//! The plays of a strategy show that it wins, but not that a choice is optimal. The checker
//! therefore evaluates the other choices by definition, within a limit on their number.

use std::cmp::Ordering;

use ludex_csp::{Value, VarId};
use rustc_hash::FxHashMap;

use super::{NodeId, Strategy, StrategyNode};
use crate::definition::{Outcome, TooMany, aggregated, choices_within, complete, evaluate};
use crate::measure::{compare, interests};
use crate::model::Model;
use crate::scope::{Measure, Quantifier, Ties};

/// The result of checking the choices of a winning strategy for optimality.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Optimality {
    /// Each choice is the best for its owner, and ties are broken as the model says.
    Certified,
    /// There is nothing to optimize, or the winner is the universal player.
    NothingToOptimize,
    /// In a scope, the outcome of the strategy differs from that of the best choice.
    Refuted {
        /// The scope.
        scope: String,
        /// The value of its criterion, or of a leader's, under the strategy.
        found: Option<i64>,
        /// The value under the best choice.
        best: Option<i64>,
    },
    /// The limit on choices was reached.
    TooLarge,
    /// A scope breaks ties arbitrarily, so leaders have no well-defined value.
    AnyTies {
        /// The scope.
        scope: String,
    },
}

/// Checks whether the choices of a winning strategy (see [`check_strategy`](crate::check_strategy))
/// are optimal, trying at most `max_choices` choices.
pub fn check_optimality(model: &Model, strategy: &Strategy, max_choices: u64) -> Optimality {
    if strategy.winner != Quantifier::Exists || !model.is_optimization() {
        return Optimality::NothingToOptimize;
    }
    let any = model.scopes().iter().enumerate().find(|(i, scope)| {
        scope.ties == Ties::Any && interests(model, *i).iter().any(|interest| !interest.is_own)
    });
    if let Some((_, scope)) = any {
        return Optimality::AnyTies { scope: scope.name.clone() };
    }
    let mut judge =
        Judge { model, strategy, values: vec![0; model.variables().len()], n_left: max_choices };
    match judge.node(0, strategy.root) {
        Ok(_) => Optimality::Certified,
        Err(Stop::TooMany) => Optimality::TooLarge,
        Err(Stop::Refuted { scope, found, best }) => Optimality::Refuted { scope, found, best },
    }
}

struct Judge<'a> {
    model: &'a Model,
    strategy: &'a Strategy,
    values: Vec<Value>,
    n_left: u64,
}

enum Stop {
    TooMany,
    Refuted { scope: String, found: Option<i64>, best: Option<i64> },
}

impl From<TooMany> for Stop {
    fn from(_: TooMany) -> Self {
        Stop::TooMany
    }
}

impl Judge<'_> {
    /// Computes the outcome of the strategy from a scope on.
    fn node(&mut self, scope_idx: usize, id: NodeId) -> Result<Outcome, Stop> {
        let model = self.model;
        let Some(scope) = model.scopes().get(scope_idx) else { return Ok(Outcome::default()) };
        let StrategyNode::Play { branches, .. } = self.strategy.node(id) else {
            return Ok(Outcome::default());
        };
        match scope.quantifier {
            Quantifier::Exists => {
                let before = self.values.clone();
                let mut first: Option<Outcome> = None;
                for (choice, next) in branches {
                    complete(model, scope_idx, choice, &mut self.values);
                    let mut outcome = self.node(scope_idx + 1, *next)?;
                    for &x in &scope.variables {
                        let value = self.values[x.index()];
                        outcome.insert(Measure::Variable(x), value.into());
                    }
                    self.values.clone_from(&before);
                    self.compare_with_best(scope_idx, &outcome)?;
                    first.get_or_insert(outcome);
                }
                Ok(first.unwrap_or_default())
            }
            Quantifier::Forall => {
                let answers: FxHashMap<&[Value], NodeId> =
                    branches.iter().map(|(choice, next)| (&choice[..], *next)).collect();
                let mut outcomes = Vec::new();
                let mut values = self.values.clone();
                for values in choices_within(model, scope_idx, &mut values, &mut self.n_left)? {
                    for (x, &value) in scope.variables.iter().zip(&values) {
                        self.values[x.index()] = value;
                    }
                    let pairs = scope.variables.iter().zip(&values);
                    let is_chosen = |x: VarId| model.variable(x).definition.is_none();
                    let choice: Vec<Value> =
                        pairs.filter(|(x, _)| is_chosen(**x)).map(|(_, &value)| value).collect();
                    if let Some(&next) = answers.get(&choice[..]) {
                        outcomes.push(self.node(scope_idx + 1, next)?);
                    }
                }
                Ok(aggregated(model, scope_idx, &outcomes))
            }
        }
    }

    /// Compares an outcome of a scope with that of the best choice.
    fn compare_with_best(&mut self, scope_idx: usize, found: &Outcome) -> Result<(), Stop> {
        let interests = interests(self.model, scope_idx);
        if interests.is_empty() {
            return Ok(());
        }
        let mut values = self.values.clone();
        let best = evaluate(self.model, scope_idx, &mut values, &mut self.n_left)?;
        let best = best.unwrap_or_default();
        for interest in &interests {
            let of = |outcome: &Outcome, measure: Measure| outcome.get(&measure).copied();
            let order = compare(interest, |m| of(found, m), |m| of(&best, m));
            if order != Ordering::Equal {
                return Err(Stop::Refuted {
                    scope: self.model.scopes()[scope_idx].name.clone(),
                    found: of(found, interest.measure),
                    best: of(&best, interest.measure),
                });
            }
        }
        Ok(())
    }
}

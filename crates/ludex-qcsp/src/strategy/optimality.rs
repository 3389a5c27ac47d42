//! Whether the choices of a strategy are the best, by trying all others.
//!
//! That a strategy wins can be seen from its plays. That a choice is optimal can't: what other
//! choices lead to has to be found out, and is, as the definition says it, as long as that
//! takes no more choices than allowed.

use std::cmp::Ordering;

use ludex_csp::{Value, VarId};
use rustc_hash::FxHashMap;

use super::{NodeId, Strategy, StrategyNode};
use crate::definition::{Outcome, TooMany, aggregated, choices_within, complete, evaluate};
use crate::measure::{compare, interests};
use crate::model::Model;
use crate::scope::{Measure, Quantifier, Ties};

/// What is known of the choices of a winning strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Optimality {
    /// Each is the best for its owner, and ties are settled as the model says.
    Certified,
    /// There is nothing to optimize, or the winner is the universal player.
    NothingToOptimize,
    /// In a scope, what the strategy comes to differs from the best choice.
    Refuted {
        /// The scope.
        scope: String,
        /// The value that its criterion, or that of a leader, has by the strategy.
        found: Option<i64>,
        /// The value it should have.
        best: Option<i64>,
    },
    /// More choices would have to be tried than allowed.
    TooLarge,
    /// A scope takes any of equally good choices, so that leaders have no value of their own.
    AnyTies {
        /// The scope.
        scope: String,
    },
}

/// Whether the choices of a strategy that wins (see [`check_strategy`](crate::check_strategy))
/// are the best ones; at most so many choices are tried.
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
    /// What the strategy comes to from a scope on.
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

    /// Holds an outcome of a scope against that of the best choice.
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

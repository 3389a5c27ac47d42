//! An independent checker of strategies.
//!
//! It evaluates the constraints directly and shares no code with the search.

use ludex_csp::{Value, VarId};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{NodeId, Strategy, StrategyNode};
use crate::definition::{choices_within, complete};
use crate::model::Model;
use crate::scope::Quantifier;

/// The reason why a strategy does not win.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Refutation {
    /// The strategy makes a choice that the restrictor does not allow.
    #[error("in scope `{scope}` the strategy chooses {choice:?}, which the restrictor forbids")]
    IllegalChoice {
        /// The scope.
        scope: String,
        /// The values of its variables that are not definitions.
        choice: Vec<Value>,
    },
    /// The strategy has no answer to a choice of the opponent.
    #[error("in scope `{scope}` the strategy has no answer to {choice:?}")]
    NoAnswer {
        /// The scope.
        scope: String,
        /// The values of its variables that are not definitions.
        choice: Vec<Value>,
    },
    /// The winner has no legal choice.
    #[error("in scope `{scope}` the winner is blocked")]
    Blocked {
        /// The scope.
        scope: String,
    },
    /// A play ends with a goal that the winner does not want.
    #[error("a play ends where the goal is {is_goal_met}: {play:?}")]
    Lost {
        /// Whether the goal holds in the end.
        is_goal_met: bool,
        /// The values of all variables.
        play: Vec<Value>,
    },
    /// The opponent has too many choices to check all of them.
    #[error("in scope `{scope}` there are too many choices to look at all of them")]
    TooLarge {
        /// The scope.
        scope: String,
    },
    /// The graph is not a strategy for this model.
    #[error("the node for scope `{scope}` belongs to another scope or does not exist")]
    Misplaced {
        /// The scope.
        scope: String,
    },
}

/// Checks that every play of the strategy is won by its winner, and returns the number of positions
/// checked.
///
/// Nodes are checked once for each state that the rest of the play can depend on.
///
/// # Errors
/// Returns the first play that is not won.
pub fn check_strategy(model: &Model, strategy: &Strategy) -> Result<usize, Refutation> {
    let mut checker = Checker {
        model,
        strategy,
        values: vec![0; model.variables().len()],
        read_later: read_later(model),
        seen: FxHashMap::default(),
        n_left: MAX_TRIED,
    };
    checker.node(0, strategy.root)?;
    Ok(checker.seen.len())
}

struct Checker<'a> {
    model: &'a Model,
    strategy: &'a Strategy,
    values: Vec<Value>,
    /// By scope, the earlier variables that it, a later scope or the goal mentions.
    read_later: Vec<Vec<VarId>>,
    seen: FxHashMap<(usize, NodeId, Vec<Value>), ()>,
    /// Number of values that may still be tried to find the choices of the opponent.
    n_left: u64,
}

/// The maximal number of values tried, which takes about ten seconds.
const MAX_TRIED: u64 = 100_000_000;

fn read_later(model: &Model) -> Vec<Vec<VarId>> {
    let n_scopes = model.scopes().len();
    let mut read: Vec<VarId> =
        model.goal_constraints().iter().flat_map(|constraint| constraint.scope()).collect();
    let mut by_scope = vec![Vec::new(); n_scopes + 1];
    for i in (0..=n_scopes).rev() {
        if let Some(scope) = model.scopes().get(i) {
            read.extend(scope.restrictor.iter().flat_map(|constraint| constraint.scope()));
            let definitions =
                scope.variables.iter().filter_map(|x| model.variable(*x).definition.as_ref());
            read.extend(definitions.flat_map(|definition| definition.scope()));
        }
        read.sort_unstable();
        read.dedup();
        let is_earlier = |x: &VarId| model.variable(*x).scope.index() < i;
        by_scope[i] = read.iter().copied().filter(is_earlier).collect();
    }
    by_scope
}

impl Checker<'_> {
    fn node(&mut self, scope_idx: usize, id: NodeId) -> Result<(), Refutation> {
        let state = self.read_later[scope_idx].iter().map(|x| self.values[x.index()]).collect();
        if self.seen.insert((scope_idx, id, state), ()).is_some() {
            return Ok(());
        }
        let Some(scope) = self.model.scopes().get(scope_idx) else { return self.end(id) };
        let name = || scope.name.clone();
        let branches = match self.strategy.nodes.get(id.index()) {
            Some(StrategyNode::Play { scope, branches }) if scope.index() == scope_idx => branches,
            _ => return Err(Refutation::Misplaced { scope: name() }),
        };
        if scope.quantifier == self.strategy.winner {
            if branches.is_empty() {
                return Err(Refutation::Blocked { scope: name() });
            }
            for (choice, next) in branches {
                if !complete(self.model, scope_idx, choice, &mut self.values) {
                    return Err(Refutation::IllegalChoice {
                        scope: name(),
                        choice: choice.clone(),
                    });
                }
                self.node(scope_idx + 1, *next)?;
            }
        } else {
            let answers: FxHashMap<&[Value], NodeId> =
                branches.iter().map(|(choice, next)| (&choice[..], *next)).collect();
            let mut values = self.values.clone();
            let choices = choices_within(self.model, scope_idx, &mut values, &mut self.n_left);
            for values in choices.map_err(|_| Refutation::TooLarge { scope: name() })? {
                let pairs = scope.variables.iter().zip(&values);
                let is_chosen = |x: VarId| self.model.variable(x).definition.is_none();
                let choice: Vec<Value> =
                    pairs.filter(|(x, _)| is_chosen(**x)).map(|(_, &value)| value).collect();
                let Some(next) = answers.get(&choice[..]) else {
                    return Err(Refutation::NoAnswer { scope: name(), choice });
                };
                for (x, &value) in scope.variables.iter().zip(&values) {
                    self.values[x.index()] = value;
                }
                self.node(scope_idx + 1, *next)?;
            }
        }
        Ok(())
    }

    fn end(&self, id: NodeId) -> Result<(), Refutation> {
        if self.strategy.nodes.get(id.index()) != Some(&StrategyNode::End) {
            return Err(Refutation::Misplaced { scope: "the goal".to_string() });
        }
        let value_of = |x: VarId| i64::from(self.values[x.index()]);
        let is_goal_met = self.model.goal_constraints().iter().all(|c| c.holds(&value_of));
        if is_goal_met == (self.strategy.winner == Quantifier::Exists) {
            Ok(())
        } else {
            Err(Refutation::Lost { is_goal_met, play: self.values.clone() })
        }
    }
}

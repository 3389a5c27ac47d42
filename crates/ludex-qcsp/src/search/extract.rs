//! Extracts strategies: walks through the tree again and asks the search, which remembers most of
//! it, for a winning choice at each node of the winner.

use ludex_base::StopReason;
use ludex_csp::Value;
use rustc_hash::FxHashMap;

use super::decide::Opened;
use super::optimize::{Outcome, is_preferred};
use super::{Searcher, Stopped};
use crate::config::StrategyRefused;
use crate::scope::{Quantifier, ScopeId};
use crate::strategy::{NodeId, Strategy, StrategyNode};

/// Returns the strategy of the winner.
pub(crate) fn extract(
    searcher: &mut Searcher<'_>,
    winner: Quantifier,
    takes_all: bool,
) -> Result<Strategy, StrategyRefused> {
    let optimizes = searcher.schedule.model.is_optimization() && winner == Quantifier::Exists;
    let max_bytes = searcher.config.strategy_bytes;
    let mut extractor = Extractor {
        searcher,
        winner,
        takes_all: takes_all && !optimizes,
        optimizes,
        nodes: Vec::new(),
        known: FxHashMap::default(),
        states: FxHashMap::default(),
        n_bytes: 0,
    };
    match extractor.walk(0, None) {
        Ok(root) => Ok(Strategy { winner, nodes: extractor.nodes, root }),
        Err(Stopped(StopReason::Memory)) => Err(StrategyRefused::TooLarge { bytes: max_bytes }),
        Err(Stopped(reason)) => Err(StrategyRefused::Stopped(reason)),
    }
}

struct Extractor<'s, 'p> {
    searcher: &'s mut Searcher<'p>,
    winner: Quantifier,
    takes_all: bool,
    optimizes: bool,
    nodes: Vec<StrategyNode>,
    known: FxHashMap<StrategyNode, NodeId>,
    /// Nodes by scope, the values it depends on, and whether the play is decided.
    states: FxHashMap<(usize, Vec<Value>, bool), NodeId>,
    n_bytes: usize,
}

/// The branches of a node so far.
#[derive(Default)]
struct Branches {
    found: Vec<(Vec<Value>, NodeId)>,
    /// For optimization, the best outcome and its choice.
    best: Option<(Outcome, Vec<Value>, Vec<usize>)>,
}

impl Extractor<'_, '_> {
    /// Returns the node of a scope, given all earlier choices. `decided` is set if the goal makes
    /// the verdict certain, whatever follows.
    fn walk(&mut self, scope: usize, decided: Option<bool>) -> Result<NodeId, Stopped> {
        let schedule = self.searcher.schedule;
        let level = schedule.first_level[scope];
        if level == schedule.levels.len() {
            return self.node(StrategyNode::End);
        }
        // A declared key determines the winner, but not the legal choices.
        let live = schedule.live[scope].iter();
        let state: Vec<Value> = live.map(|x| self.searcher.values[x.index()]).collect();
        let state = (scope, state, decided.is_some());
        if let Some(&node) = self.states.get(&state) {
            return Ok(node);
        }
        let mut branches = Branches::default();
        if self.searcher.open(level) {
            self.branches(level, &mut Vec::new(), decided, &mut branches)?;
        }
        if let Some((_, choice, places)) = branches.best {
            // Repeat the best choice, to continue from there.
            for (at, &place) in places.iter().enumerate() {
                self.searcher.choose(level + at, place);
            }
            branches.found = vec![(choice, self.walk(scope + 1, None)?)];
        }
        let branches = branches.found;
        if branches.is_empty() && schedule.levels[level].quantifier == self.winner {
            // This happens only in a scope that was wrongly declared non-blocking.
            return Err(Stopped(StopReason::Fault));
        }
        let n_values: usize = branches.iter().map(|(values, _)| values.len() + 8).sum();
        self.n_bytes += 4 * (state.1.len() + n_values) + 96;
        let node = self.node(StrategyNode::Play { scope: ScopeId::new(scope), branches })?;
        self.states.insert(state, node);
        Ok(node)
    }

    fn node(&mut self, node: StrategyNode) -> Result<NodeId, Stopped> {
        if let Some(&id) = self.known.get(&node) {
            return Ok(id);
        }
        if self.n_bytes > self.searcher.config.strategy_bytes {
            return Err(Stopped(StopReason::Memory));
        }
        if self.nodes.len().is_multiple_of(1024) && self.searcher.config.deadline.reached() {
            return Err(Stopped(StopReason::of_deadline()));
        }
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(node.clone());
        self.known.insert(node, id);
        Ok(id)
    }

    /// Finds the branches of a scope from a level on, and returns whether they suffice.
    fn branches(
        &mut self,
        level: usize,
        places: &mut Vec<usize>,
        decided: Option<bool>,
        into: &mut Branches,
    ) -> Result<bool, Stopped> {
        let spec = &self.searcher.schedule.levels[level];
        let wanted = self.winner == Quantifier::Exists;
        let is_own = spec.quantifier == self.winner;
        if is_own
            && decided.is_none()
            && !self.takes_all
            && self.searcher.engines.solves(spec.scope)
        {
            return self.solved_branch(spec.scope, into);
        }
        let known = spec
            .x
            .filter(|_| is_own && spec.scope == 0 && !self.takes_all)
            .and_then(|x| Some(self.searcher.first_choice.as_ref()?[x.index()]));
        for place in 0..spec.values.len() {
            if known.is_some_and(|value| spec.values[place] != value) {
                continue;
            }
            if !self.searcher.choose(level, place) {
                continue;
            }
            self.searcher.count_node(level)?;
            let mut decided = decided;
            if decided.is_none() && !self.searcher.goal_holds(level) {
                decided = Some(false);
            }
            if decided.is_none() && spec.is_won && !self.optimizes {
                decided = Some(true);
            }
            // The winner never makes a losing choice.
            if is_own && decided.is_some_and(|verdict| verdict != wanted) {
                continue;
            }
            places.push(place);
            let is_enough = if spec.is_last_of_scope {
                self.branch(level, places, decided, into)?
            } else {
                self.branches(level + 1, places, decided, into)?
            };
            places.pop();
            if is_enough {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the branch of the last scope if it is solved as an ordinary network.
    fn solved_branch(&mut self, scope: usize, into: &mut Branches) -> Result<bool, Stopped> {
        if self.searcher.solve_last(scope)? {
            let choice = self.choice(scope);
            into.found.push((choice, self.node(StrategyNode::End)?));
        }
        Ok(true)
    }

    /// Adds the choice just made if it belongs to the strategy.
    fn branch(
        &mut self,
        level: usize,
        places: &[usize],
        decided: Option<bool>,
        into: &mut Branches,
    ) -> Result<bool, Stopped> {
        let schedule = self.searcher.schedule;
        let spec = &schedule.levels[level];
        let scope = spec.scope;
        let choice = self.choice(scope);
        let is_own = spec.quantifier == self.winner;
        if is_own && self.optimizes {
            if let Some(outcome) = self.searcher.optimize_scope(scope + 1)? {
                let outcome = self.searcher.own(scope, outcome);
                let measures = &schedule.measures.scopes[scope];
                let best = into.best.as_ref();
                if best.is_none_or(|(best, _, _)| is_preferred(measures, &outcome, best)) {
                    into.best = Some((outcome, choice, places.to_vec()));
                }
            }
            return Ok(false);
        }
        if is_own && decided.is_none() {
            let verdict = match self.searcher.look(level + 1) {
                Opened::Decided(verdict) => verdict,
                Opened::Open(key) => self.searcher.decide_scope(level + 1, key)?,
            };
            if verdict != (self.winner == Quantifier::Exists) {
                return Ok(false);
            }
        }
        let next = self.walk(scope + 1, decided)?;
        into.found.push((choice, next));
        Ok(is_own && !self.takes_all)
    }

    /// Returns the values of the scope's variables without definitions.
    fn choice(&self, scope: usize) -> Vec<Value> {
        let model = self.searcher.schedule.model;
        let variables = model.scopes()[scope].variables.iter();
        let chosen = variables.filter(|x| model.variable(**x).definition.is_none());
        chosen.map(|x| self.searcher.values[x.index()]).collect()
    }
}

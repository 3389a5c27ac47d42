//! Winning strategies of either side as graphs that share equal parts.

mod check;
mod dot;
mod optimality;

use ludex_csp::Value;

use crate::scope::{Quantifier, ScopeId};
pub use check::{Refutation, check_strategy};
pub use dot::strategy_dot;
pub use optimality::{Optimality, check_optimality};

ludex_base::define_id! {
    /// A node of a strategy.
    pub struct NodeId;
}

/// A winning strategy.
///
/// Paths from the root are plays. The nodes of a play belong to the scopes of the prefix in
/// order, until the goal or a scope whose owner is blocked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strategy {
    /// The player whose strategy it is.
    pub winner: Quantifier,
    /// The nodes; children come before their parents.
    pub nodes: Vec<StrategyNode>,
    /// The node where plays begin.
    pub root: NodeId,
}

/// A node of a strategy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StrategyNode {
    /// All scopes are played. The goal holds if and only if the existential player wins.
    End,
    /// A scope is played. Each branch holds the values of its variables without definitions, in
    /// order of declaration.
    ///
    /// A scope of the winner has one branch, or one for each winning choice; a scope of the
    /// opponent has one for each legal choice. If it has no branches, the opponent is blocked.
    Play {
        /// The scope.
        scope: ScopeId,
        /// The choices with the nodes that follow.
        branches: Vec<(Vec<Value>, NodeId)>,
    },
}

impl Strategy {
    /// Returns a node.
    pub fn node(&self, id: NodeId) -> &StrategyNode {
        &self.nodes[id.index()]
    }

    /// Returns the number of nodes of the graph.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns by scope its number of nodes and the total number of their branches.
    pub fn branches_by_scope(&self, n_scopes: usize) -> Vec<(usize, usize)> {
        let mut counts = vec![(0, 0); n_scopes];
        for node in &self.nodes {
            if let StrategyNode::Play { scope, branches } = node {
                let (n_nodes, n_branches) = &mut counts[scope.index()];
                *n_nodes += 1;
                *n_branches += branches.len();
            }
        }
        counts
    }

    /// Returns the number of plays, saturating.
    pub fn n_plays(&self) -> u128 {
        let mut plays: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            plays.push(match node {
                StrategyNode::End => 1,
                StrategyNode::Play { branches, .. } if branches.is_empty() => 1,
                StrategyNode::Play { branches, .. } => branches
                    .iter()
                    .fold(0_u128, |sum, (_, child)| sum.saturating_add(plays[child.index()])),
            });
        }
        plays[self.root.index()]
    }

    /// Returns the number of strategies with one choice at each node of the winner that the graph
    /// contains, saturating.
    pub fn n_strategies(&self, owner_of: impl Fn(ScopeId) -> Quantifier) -> u128 {
        let mut counts: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            counts.push(match node {
                StrategyNode::End => 1,
                StrategyNode::Play { scope, branches } => {
                    let below = branches.iter().map(|(_, child)| counts[child.index()]);
                    if owner_of(*scope) == self.winner {
                        below.fold(0, u128::saturating_add)
                    } else {
                        below.fold(1, u128::saturating_mul)
                    }
                }
            });
        }
        counts[self.root.index()]
    }
}

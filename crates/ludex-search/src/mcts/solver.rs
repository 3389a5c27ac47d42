//! Proved values, backed up from proved children.
//!
//! A node where one role chooses has the value of the child that is best for that role; of equal
//! ones the worst for the searching role, then the first. In constant-sum games of two roles that
//! is minimax; otherwise it is max^n with ties broken against us. A chance node has the mean of its
//! children. Where several roles choose simultaneously, a value is proved only if it does not
//! depend on their choices, or if the first stage has a move that wins whatever the others do.
//!
//! A node is proved before all its children are if one of them gives the choosing role 100 and
//! every other role 0: no other child can change its value.
//!
//! After Winands, Björnsson and Saito, *Monte-Carlo Tree Search Solver*, 2008, for goals between 0
//! and 100 and any number of roles.

use std::hash::Hash;

use ludex_base::RoleId;

use super::tree::{EdgeId, Kind, NodeId, Tree};

/// Marks an edge as proved, and the node too if that proves it. Returns whether it does.
///
/// `me` is the searching role. The root is proved as soon as one of its moves is known to be worth
/// 100 to `me`: there is no better move to find.
pub(crate) fn prove_edge<S: Clone + Eq + Hash>(
    tree: &Tree<S>,
    node: NodeId,
    edge: EdgeId,
    child: NodeId,
    me: RoleId,
) -> bool {
    match tree.node(node).kind() {
        Kind::Single { role, is_stage, is_contested, .. } => {
            tree.edge(edge).prove(tree.value(child, role));
            let answers_unseen = is_stage && is_contested;
            let is_own_root = node == tree.root && role == me;
            if !answers_unseen && is_best_possible(tree, child, role, is_own_root) {
                return prove_like(tree, node, child);
            }
            let Some(children) = proven_children(tree, node, role) else { return false };
            if is_contested {
                let is_constant = children.iter().all(|&other| same(tree, other, child));
                return is_constant && prove_like(tree, node, child);
            }
            let best = best_child(tree, &children, role, me);
            prove_like(tree, node, best)
        }
        Kind::Chance { role } => {
            tree.edge(edge).prove(tree.value(child, me));
            let Some(children) = proven_children(tree, node, role) else { return false };
            tree.prove(node, |role| {
                let sum: f64 =
                    children.iter().map(|&child| f64::from(tree.value(child, role))).sum();
                (sum / children.len() as f64) as f32
            });
            true
        }
        Kind::Terminal | Kind::Stuck | Kind::Several => false,
    }
}

/// Whether no other child can change the value of the node, or matters any more.
fn is_best_possible<S: Clone + Eq + Hash>(
    tree: &Tree<S>,
    child: NodeId,
    role: RoleId,
    is_own_root: bool,
) -> bool {
    let gets_nothing = |other: RoleId| other == role || tree.value(child, other) <= 0.0;
    tree.value(child, role) >= 100.0 && (is_own_root || players(tree).all(gets_nothing))
}

fn players<S>(tree: &Tree<S>) -> impl Iterator<Item = RoleId> + use<'_, S> {
    tree.roles.ids().filter(|&role| Some(role) != tree.roles.random)
}

fn prove_like<S: Clone + Eq + Hash>(tree: &Tree<S>, node: NodeId, child: NodeId) -> bool {
    tree.prove(node, |role| tree.value(child, role));
    true
}

/// Returns the children along all edges of a role, if all of them are proved.
fn proven_children<S: Clone + Eq + Hash>(
    tree: &Tree<S>,
    node: NodeId,
    role: RoleId,
) -> Option<Vec<NodeId>> {
    let span = tree.span(node, role);
    // Most nodes fail here, at the first open edge.
    if span.clone().any(|edge| tree.edges[edge].proven().is_none()) {
        return None;
    }
    span.map(|edge| tree.edges[edge].child()).collect()
}

fn best_child<S: Clone + Eq + Hash>(
    tree: &Tree<S>,
    children: &[NodeId],
    role: RoleId,
    me: RoleId,
) -> NodeId {
    let mut best = children[0];
    for &child in &children[1..] {
        let (goal, best_goal) = (tree.value(child, role), tree.value(best, role));
        let is_worse_for_me = tree.value(child, me) < tree.value(best, me);
        if goal > best_goal || goal == best_goal && is_worse_for_me {
            best = child;
        }
    }
    best
}

fn same<S: Clone + Eq + Hash>(tree: &Tree<S>, a: NodeId, b: NodeId) -> bool {
    players(tree).all(|role| tree.value(a, role) == tree.value(b, role))
}

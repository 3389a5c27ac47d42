//! The final report of the tree.

use std::hash::Hash;
use std::sync::atomic::Ordering::*;

use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;

use super::tree::{GOAL_UNIT, Kind, NodeId, Tree};
use crate::report::{MoveReport, SearchReport};
use crate::roles::hash_of;

/// Reports the moves of a role at the root with their results, the move to play, and the expected
/// line.
pub(crate) fn report<C: Cursor>(tree: &Tree<C::State>, root: &C, role: RoleId) -> SearchReport {
    let moves = move_reports(tree, tree.root, role);
    let chosen = choose(&moves);
    let expected = chosen.map(|idx| &moves[idx]);
    SearchReport {
        chosen: expected.map(|it| it.id),
        reward: expected.and_then(|it| it.proven.or(it.mean_reward)),
        is_proven: expected.is_some_and(|it| it.proven.is_some())
            && tree.node(tree.root).is_proven(),
        n_nodes: tree.n_nodes.load(Relaxed).min(tree.nodes.len()) as u64,
        n_bytes: tree.n_bytes() as u64,
        line: line(tree, root, role, chosen),
        moves,
        ..SearchReport::default()
    }
}

/// Returns the move a role would play now.
pub(crate) fn move_now<S: Clone + Eq + Hash>(tree: &Tree<S>, role: RoleId) -> Option<MoveId> {
    let moves = move_reports(tree, tree.root, role);
    choose(&moves).map(|idx| moves[idx].id)
}

/// Whether a proved node has a move that proves it.
pub(crate) fn has_proven_move<S: Clone + Eq + Hash>(tree: &Tree<S>, node: NodeId) -> bool {
    match tree.node(node).kind() {
        Kind::Single { role, .. } | Kind::Chance { role } => tree
            .span(node, role)
            .any(|edge| tree.edges[edge].proven() == Some(tree.value(node, role))),
        _ => false,
    }
}

fn move_reports<S: Clone + Eq + Hash>(
    tree: &Tree<S>,
    node: NodeId,
    role: RoleId,
) -> Vec<MoveReport> {
    // The edges of a role that does not choose have no proofs of their own.
    let chooses = match tree.node(node).kind() {
        Kind::Single { role: chooser, is_contested, .. } => chooser == role && !is_contested,
        _ => false,
    };
    tree.span(node, role)
        .map(|idx| {
            let edge = &tree.edges[idx];
            let n_visits = edge.n_visits.load(Relaxed);
            let mean = edge.goal_sum.load(Relaxed) as f64
                / (f64::from(n_visits.max(1)) * 100.0 * GOAL_UNIT as f64);
            let is_certain = |goal: &f32| chooses || *goal >= 100.0;
            MoveReport {
                id: edge.move_id(),
                n_visits: u64::from(n_visits),
                mean_reward: (n_visits > 0).then_some(mean),
                proven: edge.proven().filter(is_certain).map(|goal| f64::from(goal) / 100.0),
            }
        })
        .collect()
}

/// Chooses the robust child: the most tried of the open moves, unless a proved one is worth as
/// much.
pub(crate) fn choose(moves: &[MoveReport]) -> Option<usize> {
    let by_visits = |&a: &usize, &b: &usize| {
        let key = |idx: usize| (moves[idx].n_visits, moves[idx].mean_reward.unwrap_or(0.0));
        // Prefer the first of equal moves.
        key(a).partial_cmp(&key(b)).expect("rewards are numbers").then(b.cmp(&a))
    };
    let open = (0..moves.len()).filter(|&idx| moves[idx].proven.is_none()).max_by(by_visits);
    let best_proven = moves.iter().filter_map(|it| it.proven).fold(f64::NEG_INFINITY, f64::max);
    let proven =
        (0..moves.len()).filter(|&idx| moves[idx].proven == Some(best_proven)).max_by(by_visits);
    match (open, proven) {
        (Some(open), Some(proven)) => {
            let is_as_good = moves[open].mean_reward.is_none_or(|mean| best_proven >= mean);
            // A proved loss is no better than an untried move.
            let is_hopeless = best_proven <= 0.0;
            Some(if is_as_good && !is_hopeless { proven } else { open })
        }
        (open, proven) => open.or(proven),
    }
}

/// Returns the most tried moves from the root on, one joint move per step.
fn line<C: Cursor>(
    tree: &Tree<C::State>,
    root: &C,
    role: RoleId,
    chosen: Option<usize>,
) -> Vec<Vec<MoveId>> {
    const MAX_LINE: usize = 40;
    let mut cursor = root.clone();
    let mut line: Vec<Vec<MoveId>> = Vec::new();
    let mut node = tree.root;
    let mut joint: Vec<MoveId> = Vec::new();
    while line.len() < MAX_LINE {
        let kind = tree.node(node).kind();
        if matches!(kind, Kind::Terminal | Kind::Stuck) || tree.all_edges(node).is_empty() {
            break;
        }
        joint.clear();
        let mut child = None;
        let mut is_tried = true;
        for other in tree.roles.ids() {
            let moves = move_reports(tree, node, other);
            let idx = match chosen {
                Some(idx) if other == role && line.is_empty() => idx,
                _ => choose(&moves).expect("a node that goes on has moves"),
            };
            // At a stage, roles that chose before have a single edge.
            let edge = &tree.edges[tree.span(node, other).start + idx.min(moves.len() - 1)];
            joint.push(edge.move_id());
            let chooses = match kind {
                Kind::Single { role, .. } | Kind::Chance { role } => role == other,
                _ => false,
            };
            if chooses {
                child = edge.child();
                is_tried = edge.n_visits.load(Relaxed) > 0;
            }
        }
        if !is_tried {
            break;
        }
        if let (Kind::Single { has_stages: true, .. }, Some(stage)) = (kind, child) {
            node = stage;
            continue;
        }
        let depth = tree.node(node).depth.load(Relaxed) + 1;
        cursor.play(&joint);
        line.push(joint.clone());
        let found = child.or_else(|| {
            tree.find(Tree::<C::State>::key(hash_of(cursor.state()), depth), cursor.state())
        });
        let Some(next) = found else { break };
        node = next;
    }
    line
}

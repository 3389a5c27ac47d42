//! Strategies as lines of certificates: only the states that they reach.

use std::hash::Hash;

use ludex_base::{Deadline, RoleId};
use ludex_game::{Cursor, Describe, Game, StateOf};
use ludex_verify::{choice_line, state_key};

use super::graph::{Graph, Shape, StateNumber};
use super::induction::{Matrix, Mixed};

/// Strategies with more lines are not written.
const MAX_LINES: usize = 5_000_000;

/// Who follows a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The role itself.
    Own,
    /// All the others but `random`.
    Others,
}

/// Returns the roles that follow a strategy for or against a role.
pub(crate) fn followers<G: Game>(game: &G, role: RoleId, side: Side) -> Vec<RoleId> {
    let follows =
        |it: &RoleId| (*it == role) == (side == Side::Own) && !game.roles()[it.index()].is_random;
    game.role_ids().filter(follows).collect()
}

/// Lists what the followers play in every state that their strategy reaches; `None` if that is too
/// much, or the deadline is reached.
///
/// `choose` gives the places of their joint moves, with weights.
pub(crate) fn strategy_lines<G: Describe>(
    game: &G,
    graph: &Graph<StateOf<G>>,
    role: RoleId,
    side: Side,
    choose: impl Fn(StateNumber, Shape<'_>) -> Mixed,
    deadline: &Deadline,
) -> Option<Vec<String>>
where
    StateOf<G>: Clone + Eq + Hash,
{
    let followers = followers(game, role, side);
    let mut cursor = game.cursor();
    let mut lines = Vec::new();
    let mut is_seen = vec![false; graph.len()];
    is_seen[0] = true;
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        if lines.len() > MAX_LINES || deadline.reached() {
            return None;
        }
        let shape = graph.shape(number);
        let mut lines_at =
            |mixed: &Mixed| lines_of(game, &mut cursor, graph.state(number), &followers, mixed);
        let next: Vec<StateNumber> = match shape {
            Shape::Open => return None,
            Shape::Terminal(_) => continue,
            Shape::Single(chooser, successors) => {
                if successors.len() > 1 && followers.contains(&chooser) {
                    let mixed = choose(number, shape);
                    lines.extend(lines_at(&mixed));
                    mixed.iter().map(|&(place, _)| successors[place]).collect()
                } else {
                    successors.to_vec()
                }
            }
            Shape::Joint(sizes, successors) => {
                let mixed = choose(number, shape);
                if followers.iter().any(|role| sizes[role.index()] > 1) {
                    lines.extend(lines_at(&mixed));
                }
                let matrix = Matrix::of(sizes, game.roles(), role);
                let place = |idx: usize| match side {
                    Side::Own => matrix.places[idx].0,
                    Side::Others => matrix.places[idx].1,
                };
                let is_chosen = |idx: &usize| mixed.iter().any(|&(it, _)| it == place(*idx));
                (0..successors.len()).filter(is_chosen).map(|idx| successors[idx]).collect()
            }
        };
        for successor in next {
            if !std::mem::replace(&mut is_seen[successor as usize], true) {
                open.push(successor);
            }
        }
    }
    Some(lines)
}

/// Returns the lines of a state. A place counts the joint moves of the followers, the last role's
/// moves fastest.
pub(crate) fn lines_of<G: Describe>(
    game: &G,
    cursor: &mut G::Cursor,
    state: &StateOf<G>,
    followers: &[RoleId],
    mixed: &Mixed,
) -> Vec<String> {
    cursor.set_state(state);
    let key = state_key(&game.state_texts(state));
    let line = |&(place, weight): &(usize, u32)| {
        let mut left = place;
        let mut texts: Vec<String> = Vec::new();
        for &role in followers.iter().rev() {
            let moves = cursor.legal_moves(role);
            texts.push(game.move_text(moves[left % moves.len()]));
            left /= moves.len();
        }
        texts.reverse();
        choice_line(&key, weight, &texts)
    };
    mixed.iter().map(line).collect()
}

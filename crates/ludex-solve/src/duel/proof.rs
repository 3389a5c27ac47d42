//! Strategies as lines of certificates: only the states that they reach.

use ludex_base::{Deadline, RoleId};
use ludex_game::{Cursor, Describe, Game, JointMoves, StateOf};
use ludex_verify::{choice_line, state_key};
use rustc_hash::FxHashSet;

use super::graph::{Graph, Shape, step_to};
use super::induction::{Matrix, Mixed};
use super::questions::choices;
use crate::problem::Problem;

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
/// The states are those of the game itself; the graph may be that of the folded game, if several
/// roles never choose at the same time. `choose` gives the places of the followers' joint moves, with
/// weights.
pub(crate) fn strategy_lines<G: Describe>(
    problem: &Problem<'_, G>,
    graph: &Graph<StateOf<G>>,
    role: RoleId,
    side: Side,
    choose: impl Fn(Shape<'_>) -> Mixed,
    deadline: &Deadline,
) -> Option<Vec<String>> {
    let game = problem.game;
    let followers = followers(game, role, side);
    let mut cursor = game.cursor();
    let mut lines = Vec::new();
    let mut seen = FxHashSet::from_iter([problem.state.clone()]);
    let mut open = vec![problem.state.clone()];
    while let Some(state) = open.pop() {
        if lines.len() > MAX_LINES || deadline.reached() {
            return None;
        }
        let number = graph.find(&problem.canonical(&state))?;
        let shape = graph.shape(number);
        cursor.set_state(&state);
        let next: Vec<StateOf<G>> = match shape {
            Shape::Open => return None,
            Shape::Terminal(_) => continue,
            Shape::Single(_, successors) => {
                // In a canonical state moves that are like others are left out.
                let (chooser, moves, _) = choices(game, &mut cursor).ok()?;
                if moves.len() > 1 && followers.contains(&chooser) {
                    let place = if successors.len() > 1 { choose(shape)[0].0 } else { 0 };
                    let (joint, after) =
                        step_to(problem, graph, &mut cursor, &state, successors[place])?;
                    let text = |role: &RoleId| game.move_text(joint[role.index()]);
                    let texts: Vec<String> = followers.iter().map(text).collect();
                    lines.push(choice_line(&state_key(&game.state_texts(&state)), 1, &texts));
                    vec![after]
                } else {
                    let mut joints = JointMoves::of(&mut cursor, game.roles().len());
                    let mut after = Vec::new();
                    while let Some(joint) = joints.next_joint() {
                        cursor.set_state(&state);
                        cursor.play(joint);
                        after.push(cursor.state().clone());
                    }
                    after
                }
            }
            Shape::Joint(sizes, successors) => {
                let mixed = choose(shape);
                if followers.iter().any(|role| sizes[role.index()] > 1) {
                    lines.extend(lines_of(game, &mut cursor, &state, &followers, &mixed));
                }
                let matrix = Matrix::of(sizes, game.roles(), role);
                let place = |idx: usize| match side {
                    Side::Own => matrix.places[idx].0,
                    Side::Others => matrix.places[idx].1,
                };
                let is_chosen = |idx: &usize| mixed.iter().any(|&(it, _)| it == place(*idx));
                let chosen = (0..successors.len()).filter(is_chosen);
                chosen.map(|idx| graph.state(successors[idx]).clone()).collect()
            }
        };
        for state in next {
            if seen.insert(state.clone()) {
                open.push(state);
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

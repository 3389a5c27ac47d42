//! Nested rollout policy adaptation: random plays that lean towards the best line so far.
//!
//! It proves nothing, but finds lines that are too long for the other methods and too irregular for
//! constraints: tours of a knight, peg jumping. See [`ludex_search::nested`].

use ludex_base::{MoveId, Seed, StopReason};
use ludex_game::Game;
use ludex_search::nested::Explorer;

use super::{play_out, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// Playouts of each level.
const N_PER_LEVEL: usize = 60;
/// Levels of the search.
const N_LEVELS: usize = 3;

/// Plays until the value is known or a limit is reached. Returns why it stopped early.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let role = puzzle_role();
    let mut n_playouts = 0;
    let mut wants_long = true;
    while !progress.is_settled() {
        if let Some(reason) = options.limits.deadline.stop_reason() {
            return Some(reason);
        }
        if n_playouts >= options.max_nodes {
            return Some(StopReason::Count);
        }
        let rng = Seed(1).child(n_playouts).rng();
        let left = options.max_nodes - n_playouts;
        let deadline = &options.limits.deadline;
        let mut explorer = Explorer::new(problem.game.cursor(), 1, role, rng, deadline, left);
        explorer.wants_long = wants_long;
        let found = explorer.adapt_policy(&problem.state, N_LEVELS, N_PER_LEVEL);
        progress.count(0, explorer.n_playouts);
        n_playouts += explorer.n_playouts.max(1);
        wants_long = !wants_long;
        let line: Option<Vec<Vec<MoveId>>> =
            found.map(|found| found.moves.into_iter().map(|chosen| vec![chosen]).collect());
        if let Some(line) = line
            && let Some(goal) = play_out(problem, &line)
        {
            progress.reached(Method::Nested, role, goal, &line);
        }
    }
    None
}

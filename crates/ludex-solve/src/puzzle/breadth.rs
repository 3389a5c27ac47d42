//! Breadth-first search with duplicate detection: each state once, in the order of its distance.
//!
//! It is exact when all states fit into the limits. States that differ only in what happens by itself count as one where that is
//! allowed (see [`states`](super::states)); if that leaves a doubt in the end, the search is
//! repeated without it.

use ludex_base::{Goal, MoveId, StopReason};
use ludex_game::{Cursor, Game, StateOf};

use super::puzzle_role;
use super::states::{Folding, States};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// Steps between two checks of the deadline.
const CHECK_INTERVAL: usize = 256;

/// Visits the states of a puzzle until the largest goal is found, none is left, or a limit is
/// reached. Returns why it stopped early.
///
/// It checks the deadline after every 256 steps.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    if let Some(folding) = problem.rules.and_then(|rules| Folding::of(rules, &problem.state)) {
        match visit(problem, Some(folding), options, progress) {
            Ok(true) => return None,
            // There was a doubt.
            Ok(false) => {}
            Err(reason) => return Some(reason),
        }
    }
    visit(problem, None, options, progress).err()
}

/// Visits the states; returns whether the value is known.
fn visit<'a, G: Game>(
    problem: &Problem<'a, G>,
    folding: Option<Folding<'a, StateOf<G>>>,
    options: &SolveOptions,
    progress: &Progress,
) -> Result<bool, StopReason> {
    let role = puzzle_role();
    let mut cursor = problem.searched().cursor();
    let mut states = States::new(&problem.canonical(&problem.state), folding);
    let mut best: Option<Goal> = None;
    let mut next = 0;
    let mut n_counted = (0, 0);
    let mut count = |n_states: usize, n_nodes: usize| {
        progress.count((n_states - n_counted.0) as u64, (n_nodes - n_counted.1) as u64);
        n_counted = (n_states, n_nodes);
    };
    let mut n_steps = 0_usize;
    if let Some(reason) = options.limits.stop_reason(0) {
        return Err(reason);
    }
    while let Some(state) = states.get(next) {
        if next as u64 >= options.max_nodes {
            return Err(StopReason::Count);
        }
        cursor.set_state(state);
        if cursor.has_fault() {
            return Err(StopReason::Fault);
        }
        if cursor.is_terminal() {
            let goal = cursor.goal(role);
            if best.is_none_or(|best| goal > best) {
                best = Some(goal);
                progress.reached(Method::Breadth, role, goal, &line_to(problem, &states, next));
            }
        } else {
            let state = state.clone();
            for chosen in cursor.legal_moves(role).to_vec() {
                cursor.set_state(&state);
                cursor.play(&[chosen]);
                states.add(cursor.state(), next, chosen);
                n_steps += 1;
                if n_steps.is_multiple_of(CHECK_INTERVAL) {
                    count(states.len(), next);
                    if let Some(reason) = options.limits.stop_reason(states.n_bytes()) {
                        return Err(reason);
                    }
                }
            }
        }
        if progress.is_settled() {
            break;
        }
        next += 1;
    }
    count(states.len(), next);
    if progress.is_settled() {
        return Ok(true);
    }
    let largest = best.unwrap_or(Goal::MIN);
    let is_proved = states.proves(largest, &options.limits.deadline);
    if is_proved {
        progress.refuted_above(Method::Breadth, role, largest, Evidence::Enumeration);
    }
    Ok(is_proved)
}

/// Returns the joint moves that lead to a state, or to one that it stands for.
fn line_to<G: Game>(
    problem: &Problem<'_, G>,
    states: &States<'_, StateOf<G>>,
    idx: usize,
) -> Vec<Vec<MoveId>> {
    if problem.folded.is_none() {
        return states.line_to(idx);
    }
    let mut cursor = problem.game.cursor();
    let mut state = problem.state.clone();
    let mut line = Vec::new();
    for target in states.path_to(idx) {
        cursor.set_state(&state);
        let moves = cursor.legal_moves(puzzle_role()).to_vec();
        let leads_on = |played: &MoveId| {
            cursor.set_state(&state);
            cursor.play(&[*played]);
            problem.canonical(cursor.state()) == *target
        };
        let played = moves.into_iter().find(leads_on).expect("a symmetry takes moves to moves");
        state = cursor.state().clone();
        line.push(vec![played]);
    }
    line
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Limits};

    use super::*;
    use crate::puzzle::tests::{STAIRS, machine};
    use crate::solution::Bounds;

    #[test]
    fn finds_a_shortest_line_and_proves_the_maximum() {
        let game = machine(STAIRS);
        let problem = Problem::initial(&game);
        let progress = Progress::new();
        progress.begin(problem.bounds());
        assert_eq!(search(&problem, &SolveOptions::default(), &progress), None);
        let solution = progress.solution();
        // No rule gives more than 60, and without the circuit only enumeration shows it.
        assert_eq!(solution.value(puzzle_role()), Goal::new(60));
        assert_eq!(solution.evidence, Evidence::Enumeration);
        assert_eq!(solution.line.len(), 3);
    }

    #[test]
    fn a_reached_deadline_leaves_bounds_that_contain_the_value() {
        let game = machine(STAIRS);
        let problem = Problem::initial(&game);
        let progress = Progress::new();
        progress.begin(problem.bounds());
        let limits = Limits::usual().until(Deadline::after(std::time::Duration::ZERO));
        let options = SolveOptions { limits, ..SolveOptions::default() };
        assert_eq!(search(&problem, &options, &progress), Some(StopReason::Time));
        assert_eq!(progress.bounds(puzzle_role()), Bounds::ANY);
    }
}

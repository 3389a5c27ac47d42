//! Breadth-first search with duplicate detection: each state once, in the order of its distance.
//!
//! It is exact when all states fit into the limits, and the first play that reaches a goal is a
//! shortest one. It uses nothing but the game, and so it is the oracle of the other methods.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use ludex_base::{Goal, MoveId, StopReason};
use ludex_game::{Cursor, Game};
use ludex_search::heap_bytes_of;
use rustc_hash::FxBuildHasher;

use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::puzzle::puzzle_role;
use crate::solution::Evidence;

/// States between two checks of the deadline.
const CHECK_INTERVAL: usize = 256;

/// Visits the states of a puzzle until the largest goal is found, none is left, or a limit is
/// reached. Returns why it stopped early.
///
/// It checks the deadline after every 256 states.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let role = puzzle_role();
    let mut cursor = problem.game.cursor();
    let mut visited = Visited::new(problem.state.clone());
    let mut best: Option<Goal> = None;
    let mut next = 0;
    let mut n_counted = 0;
    while let Some(state) = visited.states.get(next) {
        if next % CHECK_INTERVAL == 0 {
            progress.count((visited.states.len() - n_counted) as u64, CHECK_INTERVAL as u64);
            n_counted = visited.states.len();
            if let Some(reason) = options.limits.stop_reason(visited.n_bytes()) {
                return Some(reason);
            }
        }
        if next as u64 >= options.max_nodes {
            return Some(StopReason::Count);
        }
        cursor.set_state(state);
        if cursor.has_fault() {
            return Some(StopReason::Fault);
        }
        if cursor.is_terminal() {
            let goal = cursor.goal(role);
            if best.is_none_or(|best| goal > best) {
                best = Some(goal);
                progress.reached(Method::Breadth, role, goal, &visited.line_to(next));
            }
        } else {
            let state = state.clone();
            for chosen in cursor.legal_moves(role).to_vec() {
                cursor.set_state(&state);
                cursor.play(&[chosen]);
                visited.add(cursor.state(), next as u32, chosen);
            }
        }
        if progress.is_settled() {
            return None;
        }
        next += 1;
    }
    let largest = best.unwrap_or(Goal::MIN);
    progress.refuted_above(Method::Breadth, role, largest, Evidence::Enumeration);
    None
}

/// The states met so far, each with the step that led to it.
struct Visited<S> {
    states: Vec<S>,
    came_from: Vec<(u32, MoveId)>,
    /// Finds the index of a state by its hash.
    indexes: HashTable<u32>,
    bytes_per_state: usize,
}

impl<S: Clone + Eq + Hash> Visited<S> {
    fn new(first: S) -> Self {
        let bytes_per_state = heap_bytes_of(&first)
            + size_of::<S>()
            + size_of::<(u32, MoveId)>()
            + 2 * size_of::<u32>();
        let mut visited = Self {
            states: Vec::new(),
            came_from: Vec::new(),
            indexes: HashTable::new(),
            bytes_per_state,
        };
        visited.add(&first, 0, MoveId::new(0));
        visited
    }

    fn add(&mut self, state: &S, before: u32, chosen: MoveId) {
        let Self { states, came_from, indexes, .. } = self;
        let hash = |state: &S| FxBuildHasher.hash_one(state);
        let entry = indexes.entry(
            hash(state),
            |&idx| states[idx as usize] == *state,
            |&idx| hash(&states[idx as usize]),
        );
        if let Entry::Vacant(entry) = entry {
            entry.insert(states.len() as u32);
            states.push(state.clone());
            came_from.push((before, chosen));
        }
    }

    /// Returns the joint moves from the first state to another.
    fn line_to(&self, mut idx: usize) -> Vec<Vec<MoveId>> {
        let mut line = Vec::new();
        while idx != 0 {
            let (before, chosen) = self.came_from[idx];
            line.push(vec![chosen]);
            idx = before as usize;
        }
        line.reverse();
        line
    }

    /// Returns about how many bytes it takes, with vectors that may be half empty.
    fn n_bytes(&self) -> u64 {
        2 * (self.states.len() * self.bytes_per_state) as u64
    }
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

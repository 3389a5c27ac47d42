//! Beam search: of the states after each number of steps, only those that look best are kept.
//!
//! It reaches far in games with goals in grades and proves nothing. The beam is narrow at first and
//! four times as wide in each round.

use std::hash::BuildHasher;

use ludex_base::{BitSet, Goal, MoveId, StopReason};
use ludex_game::{Cursor, Game, StateOf};
use ludex_search::heap_bytes_of;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::analysis::Analysis;
use super::patterns::Patterns;
use super::relaxed::Relaxation;
use super::{goals_of, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// States kept at each step of the first round.
const FIRST_WIDTH: usize = 64;
/// The factor from one round to the next.
const GROWTH: usize = 4;
/// Steps between two checks of the deadline.
const CHECK_INTERVAL: usize = 256;

/// Searches in rounds, until the value is known, no state was left out, or a limit is reached.
/// Returns why it stopped early; [`StopReason::Count`] if it visited all states or the rules are too
/// large to analyze.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let analysis = match Analysis::of(problem, &options.limits) {
        Ok(analysis) => analysis,
        Err(stop) => return Some(stop),
    };
    let goal = goals_of(&analysis.circuit).pop().unwrap_or(Goal::MAX);
    let patterns = Patterns::of(&analysis, goal, &options.limits.deadline);
    let Analysis { circuit, effects, clock, .. } = &analysis;
    let mut relaxation = Relaxation::new(circuit, effects, clock, goal);
    let estimate: Estimate<'_> = if patterns.is_empty() {
        Box::new(|state| relaxation.estimate(state))
    } else {
        Box::new(|state| patterns.estimate(state))
    };
    let mut beam = Beam { problem, estimate, options, progress, n_steps: 0 };
    let mut width = FIRST_WIDTH;
    loop {
        match beam.run(width) {
            Ok(true) => return Some(StopReason::Count),
            Ok(false) if progress.is_settled() => return None,
            Ok(false) => width *= GROWTH,
            Err(reason) => return Some(reason),
        }
    }
}

/// Estimates the number of steps from a state to the goal; `None` if it cannot be reached.
type Estimate<'a> = Box<dyn FnMut(&BitSet) -> Option<u32> + 'a>;

struct Beam<'a, 'b, G: Game> {
    problem: &'a Problem<'b, G>,
    estimate: Estimate<'a>,
    options: &'a SolveOptions,
    progress: &'a Progress,
    n_steps: usize,
}

/// A state of the beam, with its place in the list of ways.
struct Entry<S> {
    state: S,
    way: u32,
}

impl<G: Game> Beam<'_, '_, G> {
    /// Runs one round; returns whether no state was left out.
    fn run(&mut self, width: usize) -> Result<bool, StopReason> {
        let role = puzzle_role();
        let rules = self.problem.rules.expect("the caller has the rules");
        let bytes_per_state = heap_bytes_of(&self.problem.state) + 64;
        let mut cursor = self.problem.game.cursor();
        let mut is_complete = true;
        // For each state kept, the way before it and the move to it.
        let mut ways: Vec<(u32, MoveId)> = vec![(0, MoveId::new(0))];
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut beam = vec![Entry { state: self.problem.state.clone(), way: 0 }];
        while !beam.is_empty() && !self.progress.is_settled() {
            let mut next: Vec<(u64, StateOf<G>, u32, MoveId)> = Vec::new();
            for entry in &beam {
                cursor.set_state(&entry.state);
                if cursor.has_fault() {
                    return Err(StopReason::Fault);
                }
                if cursor.is_terminal() {
                    let goal = cursor.goal(role);
                    if goal > self.progress.bounds(role).lower {
                        let line = line_to(&ways, entry.way);
                        self.progress.reached(Method::Beam, role, goal, &line);
                    }
                    continue;
                }
                for played in cursor.legal_moves(role).to_vec() {
                    self.n_steps += 1;
                    let n_bytes = (next.len() + beam.len()) * bytes_per_state + seen.len() * 24;
                    if self.n_steps.is_multiple_of(CHECK_INTERVAL) {
                        self.progress.count(0, CHECK_INTERVAL as u64);
                        if let Some(reason) = self.options.limits.stop_reason(n_bytes as u64) {
                            return Err(reason);
                        }
                    }
                    if self.n_steps as u64 > self.options.max_nodes {
                        return Err(StopReason::Count);
                    }
                    cursor.set_state(&entry.state);
                    cursor.play(&[played]);
                    let hash = FxBuildHasher.hash_one(cursor.state());
                    // Two states with one hash cost a state, and nothing is proved by it.
                    if !seen.insert(hash) {
                        continue;
                    }
                    if let Some(estimate) = (self.estimate)(rules.fluents(cursor.state())) {
                        // Equal states are in an order that only their hashes decide.
                        let order = u64::from(estimate) << 32 | (hash >> 32);
                        next.push((order, cursor.state().clone(), entry.way, played));
                    }
                }
            }
            if next.len() > width {
                is_complete = false;
                next.select_nth_unstable_by_key(width, |it| it.0);
                next.truncate(width);
            }
            next.sort_unstable_by_key(|it| it.0);
            beam.clear();
            for (_, state, before, played) in next {
                ways.push((before, played));
                beam.push(Entry { state, way: (ways.len() - 1) as u32 });
            }
        }
        Ok(is_complete)
    }
}

/// Returns the joint moves of a way.
fn line_to(ways: &[(u32, MoveId)], mut way: u32) -> Vec<Vec<MoveId>> {
    let mut line = Vec::new();
    while way != 0 {
        let (before, played) = ways[way as usize];
        line.push(vec![played]);
        way = before;
    }
    line.reverse();
    line
}

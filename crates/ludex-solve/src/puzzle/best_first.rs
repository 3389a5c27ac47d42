//! Best-first searches, guided by a [relaxation](super::relaxed) of the rules.
//!
//! | order | which state comes first | finds |
//! | --- | --- | --- |
//! | [`Order::Nearest`] | the one that looks nearest to the goal | some line, soon |
//! | [`Order::Shortest`] | the one with the fewest steps to the goal, done and at least to come | a shortest line |
//!
//! The second is A* with h^max, which is admissible and consistent. The first takes one state in
//! four in the order in which it met them, because an estimate can be wrong for a whole region.
//!
//! States that differ only in the time count as one where that is allowed; in a search for a shortest
//! line only where no shortest line can be lost.
//!
//! States from which even the relaxation does not reach the goal are dropped. A search aims at the
//! largest goal first; when no state is left, that goal cannot be reached, and the next one is the
//! aim.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ludex_base::{Goal, StopReason};
use ludex_game::{Cursor, Game, StateOf};

use super::analysis::Analysis;
use super::bound::Bound;
use super::relaxed::Relaxation;
use super::states::{Added, Folding, States};
use super::{goals_of, play_out, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// Steps between two checks of the deadline.
const CHECK_INTERVAL: usize = 64;
/// One state in this many is taken in the order in which they were met.
const IN_ORDER: usize = 4;

/// The order in which states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// By the estimated number of steps to the goal.
    Nearest,
    /// By the number of steps so far and the least number of steps to come: A*.
    Shortest,
    /// By the number of steps so far: Dijkstra's algorithm.
    Cheapest,
}

impl Order {
    fn method(self) -> Method {
        match self {
            Order::Nearest => Method::BestFirst,
            Order::Shortest => Method::AStar,
            Order::Cheapest => Method::Dijkstra,
        }
    }
}

/// Searches a puzzle for the largest goal, then for the next one, until one is found or a limit is
/// reached. Returns why it stopped early; [`StopReason::Count`] if the rules are too large to
/// relax.
///
/// It checks the deadline after every 64 steps.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    order: Order,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let analysis = match Analysis::of(problem, &options.limits) {
        Ok(analysis) => analysis,
        Err(stop) => return Some(stop),
    };
    let role = puzzle_role();
    let search = Search { problem, analysis: &analysis, order, options, progress };
    let mut goals = goals_of(&analysis.circuit);
    while let Some(goal) = goals.pop() {
        let bounds = progress.bounds(role);
        if goal > bounds.upper {
            continue;
        }
        if goal < bounds.lower || (goal == bounds.lower && order == Order::Nearest) {
            return None;
        }
        let below = goals.last().copied().unwrap_or(Goal::MIN);
        match search.aim(goal, below) {
            Ok(Aimed::Refuted) => {
                let below = below.max(progress.bounds(role).lower);
                progress.refuted_above(order.method(), role, below, Evidence::Enumeration);
            }
            Ok(Aimed::Reached) => return None,
            Ok(Aimed::Doubtful) => return Some(StopReason::Count),
            Err(reason) => return Some(reason),
        }
    }
    None
}

/// What a search for one goal found.
enum Aimed {
    /// A play that reaches it was reported.
    Reached,
    /// No play reaches it.
    Refuted,
    /// No play was found, but some may have been missed.
    Doubtful,
}

struct Search<'a, 'b, G: Game> {
    problem: &'a Problem<'b, G>,
    analysis: &'a Analysis,
    order: Order,
    options: &'a SolveOptions,
    progress: &'a Progress,
}

impl<G: Game> Search<'_, '_, G> {
    /// Aims at a goal; `below` is the next smaller one.
    fn aim(&self, goal: Goal, below: Goal) -> Result<Aimed, StopReason> {
        let Self { problem, analysis, order, options, progress } = self;
        let role = puzzle_role();
        let rules = problem.rules.expect("the caller has the rules");
        let Analysis { circuit, effects, clock, .. } = analysis;
        let mut relaxation = Relaxation::new(circuit, effects, clock, goal);
        let mut bound = Bound::of(analysis, goal, *order == Order::Shortest, options);
        let mut priority = |state: &StateOf<G>, depth: u32| match order {
            Order::Nearest => relaxation.estimate(rules.fluents(state)),
            Order::Shortest | Order::Cheapest => {
                bound.at_least(rules.fluents(state)).map(|least| depth + least)
            }
        };
        let mut cursor = problem.game.cursor();
        let folding = Folding::of(rules, &problem.state);
        let folding = folding.filter(|it| *order == Order::Nearest || it.keeps_shortest(goal));
        let mut states = States::new(&problem.state, folding);
        let mut is_expanded = vec![false];
        let mut open = BinaryHeap::new();
        open.extend(priority(&problem.state, 0).map(|priority| Reverse((priority, 0))));
        let (mut n_nodes, mut n_steps, mut oldest) = (0_usize, 0_usize, 0);
        let mut n_counted = (0, 0);
        let mut count = |n_states: usize, n_nodes: usize| {
            progress.count((n_states - n_counted.0) as u64, (n_nodes - n_counted.1) as u64);
            n_counted = (n_states, n_nodes);
        };
        while !open.is_empty() {
            if n_nodes as u64 >= options.max_nodes {
                return Err(StopReason::Count);
            }
            n_nodes += 1;
            // Step 1. Choose a state.
            let mut next = None;
            if *order == Order::Nearest && n_nodes.is_multiple_of(IN_ORDER) {
                while is_expanded.get(oldest) == Some(&true) {
                    oldest += 1;
                }
                next = (oldest < states.len()).then_some(oldest);
            }
            let chosen = next.or_else(|| open.pop().map(|Reverse((_, idx))| idx));
            let idx = chosen.expect("the list of open states is not empty");
            if std::mem::replace(&mut is_expanded[idx], true) {
                continue;
            }
            // Step 2. Is it an end?
            let state = states.get(idx).expect("an index of the set").clone();
            cursor.set_state(&state);
            if cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            if cursor.is_terminal() {
                let line = states.line_to(idx);
                // The way to a folded state may have become shorter since the state was met.
                if let Some(reached) = play_out(problem, &line) {
                    count(states.len(), n_nodes);
                    progress.reached(order.method(), role, reached, &line);
                    if reached >= goal {
                        if *order != Order::Nearest {
                            progress.found_shortest(order.method(), role, reached, &line);
                        }
                        return Ok(Aimed::Reached);
                    }
                }
                continue;
            }
            // Step 3. Estimate the states that follow.
            for chosen in cursor.legal_moves(role).to_vec() {
                cursor.set_state(&state);
                cursor.play(&[chosen]);
                n_steps += 1;
                if n_steps.is_multiple_of(CHECK_INTERVAL) {
                    count(states.len(), n_nodes);
                    if let Some(reason) = options.limits.stop_reason(states.n_bytes()) {
                        return Err(reason);
                    }
                }
                let idx = match states.add(cursor.state(), idx, chosen) {
                    Added::New(idx) => {
                        is_expanded.push(false);
                        idx
                    }
                    Added::Sooner(idx) => idx,
                    Added::Known => continue,
                };
                let priority = priority(cursor.state(), states.depth(idx));
                is_expanded[idx] = priority.is_none();
                open.extend(priority.map(|priority| Reverse((priority, idx))));
            }
        }
        count(states.len(), n_nodes);
        let is_proved = states.proves(below, &options.limits.deadline);
        Ok(if is_proved { Aimed::Refuted } else { Aimed::Doubtful })
    }
}

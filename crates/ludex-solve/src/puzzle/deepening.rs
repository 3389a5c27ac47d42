//! A* by iterative deepening: depth first, with a limit on the steps so far and to come that grows.
//!
//! It keeps one play in memory and nothing else, and visits a state again for each way to it. So it
//! reaches further than A* where states are many and ways to the same state are few.
//!
//! After Korf, *Depth-First Iterative-Deepening*, AIJ 1985.

use ludex_base::{Goal, MoveId, StopReason};
use ludex_game::{Cursor, Game, StateOf};

use super::analysis::Analysis;
use super::bound::Bound;
use super::states::Folding;
use super::{goals_of, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// Nodes between two checks of the deadline.
const CHECK_INTERVAL: u64 = 256;

/// Searches a puzzle for a shortest play to the largest goal, then to the next one, until one is
/// found or a limit is reached. Returns why it stopped early; [`StopReason::Count`] if the rules are
/// too large to analyze.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let analysis = match Analysis::of(problem, &options.limits) {
        Ok(analysis) => analysis,
        Err(stop) => return Some(stop),
    };
    let role = puzzle_role();
    let mut n_nodes = 0;
    let mut goals = goals_of(&analysis.circuit);
    while let Some(goal) = goals.pop() {
        let bounds = progress.bounds(role);
        if goal > bounds.upper {
            continue;
        }
        if goal < bounds.lower {
            return None;
        }
        let bound = Bound::of(&analysis, goal, true, options);
        let folding = problem.rules.and_then(|rules| Folding::of(rules, &problem.state));
        let folding = folding.filter(|it| it.keeps_shortest(goal));
        let mut walk = Walk { problem, options, progress, goal, bound, folding, n_nodes };
        let found = walk.deepen();
        n_nodes = walk.n_nodes;
        match found {
            Ok(true) => return None,
            Ok(false) => {
                let below = goals.last().copied().unwrap_or(Goal::MIN);
                let below = below.max(progress.bounds(role).lower);
                progress.refuted_above(Method::IdaStar, role, below, Evidence::Enumeration);
            }
            Err(reason) => return Some(reason),
        }
    }
    None
}

struct Walk<'a, 'b, G: Game> {
    problem: &'a Problem<'b, G>,
    options: &'a SolveOptions,
    progress: &'a Progress,
    goal: Goal,
    bound: Bound<'a>,
    /// Which states on the path count as one, if not only equal ones do.
    folding: Option<Folding<'a, StateOf<G>>>,
    n_nodes: u64,
}

/// A state of the play in hand, and the moves not tried yet.
struct Frame<S> {
    state: S,
    moves: Vec<MoveId>,
}

impl<G: Game> Walk<'_, '_, G> {
    /// Raises the limit until a play is found; returns false if there is none.
    fn deepen(&mut self) -> Result<bool, StopReason> {
        let rules = self.problem.rules.expect("the caller has the rules");
        let mut limit = self.bound.at_least(rules.fluents(&self.problem.state));
        while let Some(steps) = limit {
            let n_before = self.n_nodes;
            let found = self.within(steps);
            self.progress.count(0, self.n_nodes - n_before);
            match found? {
                Found::Play => return Ok(true),
                Found::Limit(next) => limit = next,
            }
        }
        Ok(false)
    }

    fn is_same(&self, a: &StateOf<G>, b: &StateOf<G>) -> bool {
        self.folding.as_ref().map_or_else(|| a == b, |folding| folding.is_same(a, b))
    }

    /// Looks for a play of at most `limit` steps.
    fn within(&mut self, limit: u32) -> Result<Found, StopReason> {
        let role = puzzle_role();
        let rules = self.problem.rules.expect("the caller has the rules");
        let mut cursor = self.problem.game.cursor();
        let mut path: Vec<Frame<StateOf<G>>> = Vec::new();
        let mut line: Vec<Vec<MoveId>> = Vec::new();
        let mut next_limit: Option<u32> = None;
        cursor.set_state(&self.problem.state);
        let mut is_new = true;
        loop {
            // Step 1. Enter the state of the cursor, unless it is too far or on the path.
            if is_new {
                self.n_nodes += 1;
                if self.n_nodes > self.options.max_nodes {
                    return Err(StopReason::Count);
                }
                if self.n_nodes.is_multiple_of(CHECK_INTERVAL)
                    && let Some(reason) = self.options.limits.deadline.stop_reason()
                {
                    return Err(reason);
                }
                if cursor.has_fault() {
                    return Err(StopReason::Fault);
                }
                let mut moves = Vec::new();
                let least = self.bound.at_least(rules.fluents(cursor.state()));
                match least.map(|least| line.len() as u32 + least) {
                    Some(steps) if steps > limit => {
                        next_limit = Some(next_limit.map_or(steps, |it| it.min(steps)));
                    }
                    Some(_) if cursor.is_terminal() => {
                        let reached = cursor.goal(role);
                        self.progress.reached(Method::IdaStar, role, reached, &line);
                        if reached >= self.goal {
                            self.progress.found_shortest(Method::IdaStar, role, reached, &line);
                            return Ok(Found::Play);
                        }
                    }
                    Some(_) if !path.iter().any(|it| self.is_same(&it.state, cursor.state())) => {
                        moves = cursor.legal_moves(role).to_vec();
                    }
                    _ => {}
                }
                path.push(Frame { state: cursor.state().clone(), moves });
            }
            // Step 2. Go on with the next move of the last state, or leave it.
            let Some(frame) = path.last_mut() else { return Ok(Found::Limit(next_limit)) };
            is_new = false;
            match frame.moves.pop() {
                Some(played) => {
                    cursor.set_state(&frame.state);
                    cursor.play(&[played]);
                    line.push(vec![played]);
                    is_new = true;
                }
                None => {
                    path.pop();
                    line.pop();
                }
            }
        }
    }
}

/// What a search within a limit found.
enum Found {
    /// A play, which was reported.
    Play,
    /// No play; the next limit, or none if every play was tried.
    Limit(Option<u32>),
}

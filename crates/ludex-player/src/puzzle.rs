//! Puzzles: one role, no chance, no hidden information. The player can follow a line to its end once it
//! has found one.
//!
//! Three searches share the time of a turn, and the best line of all is kept from move to move.
//!
//! - The methods of [`ludex_solve`]: they find a line of the best goal, or prove that there is none.
//! - Batches of random playouts: millions a second find lines that are rare but short.
//! - Nested rollout policy adaptation: playouts that lean towards the best line so far, at several levels;
//!   see [`ludex_search::nested`].

use std::sync::Arc;

use ludex_base::{Deadline, Goal, Limits, MoveId, Rng, RoleId, StopReason};
use ludex_circuit::Rules;
use ludex_game::{Cursor, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf};
use ludex_search::nested::{Explorer, Found, Line};
use ludex_search::{SearchLimits, SearchReport};
use ludex_solve::{Method, Problem, Progress, SolveOptions, solve};

use crate::Playable;

/// Searches one puzzle and remembers the best line.
pub(crate) struct PuzzleSearch<G: Playable> {
    game: G,
    rules: Option<Arc<dyn Rules<StateOf<G>>>>,
    cursor: G::Cursor,
    runner: <G as Playouts>::Runner,
    best: Option<Line<StateOf<G>>>,
    /// The methods of `ludex-solve` that it uses.
    methods: Vec<Method>,
    /// Whether the next nested search prefers long lines.
    wants_long: bool,
    n_playouts: u64,
    n_nodes: u64,
}

/// Playouts of each level of the nested search.
const N_PER_LEVEL: usize = 60;
/// Levels of the nested search.
const N_LEVELS: usize = 3;
/// Steps after which a playout of a batch is cut off.
const MAX_STEPS: usize = 1_000;
/// The part of the time for exact methods.
const EXACT_PART: f64 = 0.6;
/// The part of the remaining time for batches of playouts.
const SAMPLING_PART: f64 = 0.4;
/// The methods of `ludex-solve`; the nested search of this module has the rest of the time.
const EXACT_METHODS: &[Method] = &[
    Method::Placement,
    Method::Parts,
    Method::BestFirst,
    Method::Dive,
    Method::Beam,
    Method::Breadth,
    Method::Sat,
];
/// Playouts of a batch that does not record moves, used until some goal is above 0.
const N_AT_ONCE: usize = 1 << 14;
/// Playouts of a batch that records moves.
const N_AT_ONCE_WITH_MOVES: usize = 1 << 10;

impl<G: Playable> PuzzleSearch<G> {
    /// Takes the puzzle apart if `uses_parts`.
    pub fn new(game: &G, uses_parts: bool) -> Self {
        let (cursor, runner) = (game.cursor(), game.runner());
        Self {
            game: game.clone(),
            rules: game.rules(),
            cursor,
            runner,
            best: None,
            methods: (EXACT_METHODS.iter().copied())
                .filter(|&it| uses_parts || it != Method::Parts)
                .collect(),
            wants_long: true,
            n_playouts: 0,
            n_nodes: 0,
        }
    }

    /// Searches for a line from a state, or continues the line it has.
    pub fn search(
        &mut self,
        state: &StateOf<G>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> SearchReport {
        (self.n_playouts, self.n_nodes) = (0, 0);
        self.best = self.best.take().and_then(|line| line.from_here(state));
        self.note(role, limits);
        if !self.is_settled() {
            self.solve(state, role, limits);
            self.note(role, limits);
        }
        let max_playouts = limits.iterations.unwrap_or(u64::MAX);
        if !self.is_settled() {
            let deadline = limits.deadline.part(SAMPLING_PART);
            let mut rng = limits.seed.rng();
            let run =
                Run { role, rng: &mut rng, deadline: &deadline, max_playouts: max_playouts / 2 };
            self.sample(state, run);
            self.note(role, limits);
        }
        while !self.is_settled() && !limits.deadline.reached() && self.n_playouts < max_playouts {
            let (cursor, left) = (self.cursor.clone(), max_playouts - self.n_playouts);
            let rng = limits.seed.child(self.n_playouts).rng();
            let mut explorer = Explorer::new(cursor, 1, role, rng, &limits.deadline, left);
            explorer.wants_long = self.wants_long;
            let found = explorer.adapt_policy(state, N_LEVELS, N_PER_LEVEL);
            self.n_playouts += explorer.n_playouts;
            self.wants_long = !self.wants_long;
            if let Some(found) = found {
                self.keep(state, &found);
                self.note(role, limits);
            }
        }
        self.report(state, role)
    }

    /// Publishes the first move of the best line as the hint.
    fn note(&self, role: RoleId, limits: &SearchLimits) {
        if let Some(best) = &self.best {
            best.note(role, &limits.hint);
        }
    }

    /// Whether there is nothing more to find.
    fn is_settled(&self) -> bool {
        self.best.as_ref().is_some_and(Line::is_settled)
    }

    /// Runs the exact methods. What they find becomes the hint at once.
    fn solve(&mut self, state: &StateOf<G>, role: RoleId, limits: &SearchLimits) {
        let rules = self.rules.as_deref();
        let problem = Problem { game: &self.game, state: state.clone(), rules, folded: None };
        let options = SolveOptions {
            limits: Limits {
                deadline: limits.deadline.part(EXACT_PART),
                max_bytes: limits.memory as u64,
                ..Limits::usual()
            },
            max_nodes: limits.iterations.unwrap_or(u64::MAX),
            n_threads: limits.threads,
            methods: self.methods.clone(),
            ..SolveOptions::default()
        };
        let known = self.best.as_ref().map(Line::goal);
        let hint = limits.hint.clone();
        let progress = Progress::with_listener(move |solution| {
            if let Some(joint) = solution.line.first()
                && known.is_none_or(|known| solution.bounds[0].lower > known)
            {
                hint.set(joint[0]);
            }
        });
        let solution = solve(&problem, &options, &progress);
        self.n_nodes += solution.n_nodes;
        let bounds = solution.bounds[role.index()];
        if !solution.line.is_empty() {
            let moves = solution.line.into_iter().flatten().collect();
            self.keep(state, &found(bounds.lower, moves, bounds.lower == bounds.upper));
        }
        if let Some(best) = &mut self.best
            && best.goal() >= bounds.upper
        {
            best.settle();
        }
    }

    /// Plays batches of random games.
    fn sample(&mut self, from: &StateOf<G>, run: Run<'_>) {
        while !self.is_settled() && !run.deadline.reached() && self.n_playouts < run.max_playouts {
            let known = self.best.as_ref().map_or(Goal::MIN, Line::goal);
            let is_first = known == Goal::MIN;
            let at_once = if is_first { N_AT_ONCE } else { N_AT_ONCE_WITH_MOVES };
            let most = (run.max_playouts - self.n_playouts).min(at_once as u64) as usize;
            let never = Deadline::never();
            let mut request = PlayoutRequest {
                starts: std::slice::from_ref(from),
                n_per_start: most,
                max_steps: MAX_STEPS,
                wants_moves: !is_first,
                deadline: run.deadline,
            };
            let mut same_rng = run.rng.clone();
            let mut results = PlayoutResults::default();
            self.runner.run(&request, run.rng, &mut results);
            let total = results.total();
            self.n_playouts += total.n_playouts + results.n_given_up;
            if total.n_playouts == 0 {
                break;
            }
            if is_first && total.goal_sums[run.role.index()] > 0 {
                // The same games again, this time with their moves.
                (request.wants_moves, request.deadline) = (true, &never);
                results = PlayoutResults::default();
                self.runner.run(&request, &mut same_rng, &mut results);
            }
            let me = run.role.index();
            let best = results.games.into_iter().max_by_key(|game| game.goals[me]);
            if let Some(game) = best
                && let Some(goal) = Goal::new(game.goals[me].into())
                && (goal > known || self.best.is_none())
            {
                self.keep(from, &found(goal, game.moves, false));
            }
        }
    }

    /// Keeps a line if it is better than the best so far.
    fn keep(&mut self, from: &StateOf<G>, found: &Found) {
        match &mut self.best {
            Some(best) if found.goal <= best.goal() => {
                if found.is_proven {
                    best.settle();
                }
            }
            _ => self.best = Some(Line::new(&mut self.cursor, 1, from, found)),
        }
    }

    fn report(&mut self, state: &StateOf<G>, role: RoleId) -> SearchReport {
        self.cursor.set_state(state);
        let legal = self.cursor.legal_moves(role);
        let report = match &self.best {
            Some(best) => best.report(legal, role),
            None => SearchReport {
                stopped: Some(StopReason::of_deadline()),
                ..SearchReport::unsearched(legal)
            },
        };
        let n_playouts = self.n_playouts;
        SearchReport { n_playouts, n_iterations: n_playouts + self.n_nodes, ..report }
    }
}

/// The role, randomness and limits of a run of batches.
struct Run<'a> {
    role: RoleId,
    rng: &'a mut Rng,
    deadline: &'a Deadline,
    max_playouts: u64,
}

/// A line whose good steps were not counted.
fn found(goal: Goal, moves: Vec<MoveId>, is_proven: bool) -> Found {
    Found { goal, moves, n_good: 0, is_proven }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;
    use crate::tests::loaded;

    #[test]
    fn playouts_are_the_same_with_and_without_their_moves() {
        for name in ["lights-on", "n-queens", "knights-tour"] {
            let (_, game) = loaded(name);
            let mut search = PuzzleSearch::new(&game, true);
            let state = search.cursor.state().clone();
            let role = RoleId::new(0);
            let never = Deadline::never();
            let mut run = |wants_moves| {
                let mut results = PlayoutResults::default();
                let request = PlayoutRequest {
                    starts: std::slice::from_ref(&state),
                    n_per_start: 5_000,
                    max_steps: MAX_STEPS,
                    wants_moves,
                    deadline: &never,
                };
                search.runner.run(&request, &mut Seed(1).rng(), &mut results);
                results
            };
            let (without, with) = (run(false).total(), run(true));
            assert_eq!(without.goal_sums, with.total().goal_sums, "{name}");
            assert_eq!(with.games.len() as u64, without.n_playouts, "{name}");
            // The kept line leads to the goal it claims.
            let mut rng = Seed(1).rng();
            search.sample(
                &state,
                Run { role, rng: &mut rng, deadline: &never, max_playouts: 50_000 },
            );
            let line = search.best.as_ref().unwrap_or_else(|| panic!("{name} has games that end"));
            let most = with.games.iter().map(|game| game.goals[0]).max();
            assert!(Some(line.goal().value()) >= most, "{name}: {:?}", line.goal());
            let (last, joint) = line.steps().last().expect("it has steps");
            search.cursor.set_state(last);
            search.cursor.play(joint);
            assert!(search.cursor.is_terminal(), "{name}");
            assert_eq!(search.cursor.goal(role), line.goal(), "{name}");
        }
    }
}

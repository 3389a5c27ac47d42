//! What a player thinks with: one search, or the flagship's choice of several.
//!
//! A mind lives on the thread of a [`Worker`](crate::worker::Worker) and may break down there.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, RoleId, Seed};
use ludex_game::{Cursor, StateOf};
use ludex_macucb::{NetworkSpec, Networks};
use ludex_search::{Limits, MoveReport, SearchReport, SearchSpec, Searcher};

use crate::Playable;

/// Chooses moves; keeps what it learned during a match.
pub(crate) trait Mind<G: Playable>: Send {
    /// Uses the start clock.
    fn prepare(&mut self, role: RoleId, limits: &Limits);

    /// Thinks about a turn. There is one state when it is known, several possible ones else; in each
    /// the role has a choice.
    fn think(&mut self, states: &[StateOf<G>], role: RoleId, limits: &Limits) -> Opinion;
}

/// What a mind came to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Opinion {
    pub report: SearchReport,
    /// What searched.
    pub search: String,
}

/// Breaks down over its first turn, for tests of what stands around it.
pub(crate) struct Broken;

impl<G: Playable> Mind<G> for Broken {
    fn prepare(&mut self, _role: RoleId, _limits: &Limits) {}

    fn think(&mut self, _states: &[StateOf<G>], _role: RoleId, _limits: &Limits) -> Opinion {
        panic!("the search breaks down, as a test wants");
    }
}

/// One search, always.
pub(crate) struct OneSearch<G: Playable> {
    game: G,
    name: &'static str,
    /// Makes a searcher that knows nothing yet.
    build: BuildSearcher<G>,
    cursor: G::Cursor,
    searcher: Box<dyn Searcher<G::Cursor> + Send>,
}

type BuildSearcher<G> =
    Box<dyn Fn(&G) -> Box<dyn Searcher<<G as ludex_game::Game>::Cursor> + Send> + Send>;

impl<G: Playable> OneSearch<G> {
    pub fn new(game: &G, spec: &SearchSpec) -> Self {
        let (name, spec) = (spec.entry().name, spec.clone());
        Self::made_by(game, name, Box::new(move |game| spec.build(game)))
    }

    /// A search on networks; all its searchers share those of the game.
    pub fn on_networks(game: &G, spec: &NetworkSpec) -> Self {
        let (name, spec) = (spec.entry().name, spec.clone());
        let networks = Networks::new(game.rules());
        Self::made_by(game, name, Box::new(move |game| spec.build(game, &networks)))
    }

    fn made_by(game: &G, name: &'static str, build: BuildSearcher<G>) -> Self {
        let searcher = build(game);
        Self { game: game.clone(), name, build, cursor: game.cursor(), searcher }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Searches from one state.
    pub fn search(&mut self, state: &StateOf<G>, role: RoleId, limits: &Limits) -> SearchReport {
        self.cursor.set_state(state);
        self.searcher.search(&self.cursor, role, limits)
    }

    /// Searches the initial state ahead, for what the search keeps.
    pub fn warm_up(&mut self, role: RoleId, limits: &Limits) {
        let mut cursor = self.game.cursor();
        // What is learned from one state is thrown away where states are only possible.
        if self.game.has_percepts() || cursor.is_terminal() || cursor.legal_moves(role).is_empty() {
            return;
        }
        let deadline = part_at(&limits.deadline, MAX_WARM_UP);
        let limits = Limits { deadline, ..limits.clone() };
        self.searcher.search(&cursor, role, &limits);
    }

    /// Searches from each of several possible states as if it were known, and joins what was found.
    ///
    /// That is determinisation: it values a move by its mean over the states, and so believes that the
    /// state will be known from the next move on. It never pays for information and never bluffs.
    pub fn search_determinised(
        &mut self,
        states: &[StateOf<G>],
        role: RoleId,
        limits: &Limits,
    ) -> SearchReport {
        let mut joined = Joined::default();
        for (idx, state) in states.iter().enumerate() {
            if idx > 0 && limits.deadline.reached() {
                break;
            }
            // What was learned in one state would mislead in another.
            self.searcher = (self.build)(&self.game);
            let n_left = (states.len() - idx) as u32;
            let limits = Limits {
                deadline: part_of(&limits.deadline, 1.0 / f64::from(n_left)),
                iterations: limits.iterations.map(|n| (n / states.len() as u64).max(1)),
                seed: limits.seed.child(idx as u64),
                ..limits.clone()
            };
            joined.add(self.search(state, role, &limits));
        }
        joined.report()
    }
}

/// Most of the start clock that a search uses on the initial state.
const MAX_WARM_UP: Duration = Duration::from_secs(60);

/// States that are searched in a turn when the true one is hidden.
const N_DETERMINISED: usize = 10;

impl<G: Playable> Mind<G> for OneSearch<G> {
    fn prepare(&mut self, role: RoleId, limits: &Limits) {
        self.warm_up(role, limits);
    }

    fn think(&mut self, states: &[StateOf<G>], role: RoleId, limits: &Limits) -> Opinion {
        let report = match states {
            [state] if !self.game.has_percepts() => self.search(state, role, limits),
            _ => {
                let n_states = states.len().min(N_DETERMINISED);
                self.search_determinised(&states[..n_states], role, limits)
            }
        };
        Opinion { report, search: self.name().into() }
    }
}

/// A deadline after a part of the time that is left; the same when there is no limit.
pub(crate) fn part_of(deadline: &Deadline, part: f64) -> Deadline {
    match deadline.remaining() {
        Some(left) => part_at(deadline, left.mul_f64(part)),
        None => deadline.clone(),
    }
}

/// A deadline after that time that still listens to the flag of the one given.
fn part_at(deadline: &Deadline, time: Duration) -> Deadline {
    deadline.no_later_than(Instant::now() + time)
}

/// Reports on several states, each as likely as the others.
#[derive(Default)]
struct Joined {
    n_reports: u64,
    whole: SearchReport,
    /// Sums of mean rewards, beside the moves of `whole`.
    sums: Vec<f64>,
}

impl Joined {
    fn add(&mut self, report: SearchReport) {
        self.n_reports += 1;
        self.whole.n_iterations += report.n_iterations;
        self.whole.n_playouts += report.n_playouts;
        self.whole.n_nodes = self.whole.n_nodes.max(report.n_nodes);
        self.whole.n_bytes = self.whole.n_bytes.max(report.n_bytes);
        self.whole.depth = self.whole.depth.max(report.depth);
        self.whole.stopped = self.whole.stopped.or(report.stopped);
        if let Some(work) = &report.network {
            self.whole.network.get_or_insert_default().add(work);
        }
        if self.whole.chosen.is_none() {
            self.whole.chosen = report.chosen;
        }
        for found in report.moves {
            let place = self.whole.moves.iter().position(|known| known.id == found.id);
            let place = place.unwrap_or_else(|| {
                self.whole.moves.push(MoveReport::untried(found.id));
                self.sums.push(0.0);
                self.sums.len() - 1
            });
            self.whole.moves[place].n_visits += found.n_visits;
            // A move that a search never tried there looked no better than nothing.
            self.sums[place] += found.mean_reward.unwrap_or(0.0);
        }
    }

    fn report(mut self) -> SearchReport {
        for (known, sum) in self.whole.moves.iter_mut().zip(&self.sums) {
            if known.n_visits > 0 {
                known.mean_reward = Some(sum / self.n_reports as f64);
            }
        }
        let best = self.whole.moves.iter().filter(|known| known.mean_reward.is_some());
        let best = best
            .max_by(|a, b| a.mean_reward.partial_cmp(&b.mean_reward).expect("rewards are numbers"));
        if let Some(best) = best {
            self.whole.chosen = Some(best.id);
            self.whole.reward = best.mean_reward;
        }
        self.whole
    }
}

/// A seed for a turn.
pub(crate) fn turn_seed(seed: Seed, turn: u64) -> Seed {
    seed.child(1_000 + turn)
}

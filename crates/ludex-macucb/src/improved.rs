//! `mac-ucb`: a tree search that asks the network only what it can answer best.
//!
//! The engine of the game computes legal moves, next states and playouts faster than a network. So the tree
//! and the playouts are those of [`Uct`](ludex_search::mcts::Uct), in batches where these are faster. The
//! network answers what only it can: that every play from a state ends with the same goals, without visiting
//! them ([`outlook`](crate::outlook)). The search asks it about nodes with many visits, and closes them. The
//! network gets its share of the time while it closes nodes, and little when it does not. In a
//! [duel](ludex_search::duel) a short alpha-beta search before the tree finds forced results.
//!
//! For the same games as `Uct`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, RoleId};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, OneByOne, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts,
    StateOf,
};
use ludex_search::duel::{FORCED_PART, FORCED_SEARCH, looks_like_duel};
use ludex_search::mcts::advice::Adviser;
use ludex_search::mcts::{Uct, UctOptions};
use ludex_search::{OpenSearcher, Search, SearchLimits, SearchReport, Searchable, Searcher};

use crate::networks::Networks;
use crate::outlook::Outlook;
use crate::work::NetworkWork;

/// The options of `mac-ucb` that apply to this search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ImprovedOptions {
    /// The part of the time that the network may take as long as it closes nodes.
    pub share: f64,
    /// Visits after which a node is put to the network.
    pub visits: usize,
    /// Whether to search for forced results before growing the tree.
    pub forced: bool,
}

/// The search `mac-ucb`.
pub(crate) struct Improved<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: ImprovedOptions,
    tree: Option<Uct<G>>,
    /// The search for forced results, if the game is a duel; `None` until that is known.
    forced: Option<Option<OpenSearcher<G>>>,
    ledger: Arc<Ledger>,
    /// Why there is no network.
    note: Option<String>,
}

/// Questions to the network and their times, recorded by the adviser.
#[derive(Debug)]
struct Ledger {
    /// When the ledger was created; other times count from here.
    epoch: Instant,
    n_asked: AtomicU64,
    n_closed: AtomicU64,
    /// Nanoseconds spent on all questions.
    nanos: AtomicU64,
    /// Nanoseconds spent on injection, part of `nanos`.
    injection: AtomicU64,
    /// Nanoseconds of all earlier turns.
    searched: AtomicU64,
    /// When this turn began, in nanoseconds since `epoch`.
    turn_began: AtomicU64,
    /// Nanoseconds that this turn has; 0 with an iteration limit.
    turn: AtomicU64,
}

impl Ledger {
    fn new() -> Self {
        let [n_asked, n_closed, nanos, injection, searched, turn_began, turn] =
            std::array::from_fn(|_| AtomicU64::new(0));
        let epoch = Instant::now();
        Self { epoch, n_asked, n_closed, nanos, injection, searched, turn_began, turn }
    }

    /// Nanoseconds since `epoch`.
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }
}

/// One answer in this many has to close a node; otherwise the network gets less time.
const MAX_ASKED_PER_CLOSED: f64 = 25.0;
/// Answers after which this is first checked.
const MIN_ASKED_TO_JUDGE: f64 = 40.0;
/// The factor by which the share of a network that closes little is reduced.
const REDUCED_SHARE: f64 = 0.1;
/// The largest part of a turn that one answer may take.
const MAX_ANSWER_PART: f64 = 0.1;
/// Visited nodes between two looks at the clock.
const CALLS_PER_CLOCK_CHECK: u64 = 64;

/// The adviser of the tree: asks the network as long as its share of the time lasts.
struct Asking<S> {
    outlook: Outlook,
    networks: Arc<Networks<S>>,
    ledger: Arc<Ledger>,
    options: ImprovedOptions,
    n_calls: u64,
    is_allowed: bool,
}

impl<S> Asking<S> {
    /// Whether the network stays within its share of the match after one more answer.
    fn is_allowed(&self) -> bool {
        let ledger = &self.ledger;
        let count = |counter: &AtomicU64| counter.load(Relaxed) as f64;
        let (n_asked, n_closed) = (count(&ledger.n_asked), count(&ledger.n_closed));
        let pays = n_asked < MIN_ASKED_TO_JUDGE || n_closed * MAX_ASKED_PER_CLOSED >= n_asked;
        let turn = count(&ledger.turn);
        if self.options.share <= 0.0 {
            return false;
        }
        if turn == 0.0 {
            // With an iteration limit, equal seeds must give equal questions, so the clock does not count.
            return pays || n_asked <= self.n_calls as f64 * 1e-4;
        }
        let (taken, answer) = (count(&ledger.nanos), count(&ledger.nanos) / n_asked.max(1.0));
        let searched = count(&ledger.searched) + ledger.now() as f64 - count(&ledger.turn_began);
        let part = self.options.share * if pays { 1.0 } else { REDUCED_SHARE };
        taken + answer <= searched * part && answer <= turn * MAX_ANSWER_PART
    }
}

impl<S: Send + Sync> Adviser<S> for Asking<S> {
    fn asks_at(&mut self) -> Option<u32> {
        self.n_calls += 1;
        if self.n_calls.is_multiple_of(CALLS_PER_CLOCK_CHECK) {
            self.is_allowed = self.is_allowed();
        }
        self.is_allowed.then_some(self.options.visits as u32)
    }

    fn certain_goals(&mut self, state: &S, deadline: &Deadline) -> Option<Vec<u8>> {
        let start = Instant::now();
        let fluents = self.networks.rules().fluents(state);
        // The first answers may take long, so each has a deadline of its own.
        let deadline = match self.ledger.turn.load(Relaxed) {
            0 => deadline.clone(),
            turn => {
                let most = Duration::from_nanos((turn as f64 * MAX_ANSWER_PART) as u64);
                deadline.no_later_than(start + most)
            }
        };
        let goals = self.outlook.certain_goals(fluents, &deadline);
        self.ledger.n_asked.fetch_add(1, Relaxed);
        self.ledger.n_closed.fetch_add(u64::from(goals.is_some()), Relaxed);
        self.ledger.nanos.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        let injection = self.outlook.injection.as_nanos() as u64;
        self.ledger.injection.store(injection, Relaxed);
        self.is_allowed = self.is_allowed();
        goals
    }
}

impl<G: Searchable> Improved<G> {
    pub fn new(
        name: &'static str,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
        options: ImprovedOptions,
    ) -> Self {
        Self {
            name,
            game: game.clone(),
            networks: Arc::clone(networks),
            options,
            tree: None,
            forced: None,
            ledger: Arc::new(Ledger::new()),
            note: None,
        }
    }

    /// The tree search, with the network if it exists or there is time to make it.
    fn tree(&mut self, root: &G::Cursor, limits: &SearchLimits) -> &mut Uct<G> {
        // A tree without a network tries again: this turn may have more time to make one.
        let is_final = self.tree.is_some() && self.note.is_none();
        if is_final {
            return self.tree.as_mut().expect("the tree exists");
        }
        let outlook = self.networks.post(&limits.deadline, Outlook::new);
        let tree = match self.tree.take() {
            Some(tree) => tree,
            None => Uct::new(self.name, &self.game, tree_options(&self.game, root, limits)),
        };
        let tree = match outlook {
            Err(note) => {
                self.note = Some(note);
                tree
            }
            Ok(outlook) => {
                self.note = None;
                tree.advised(Box::new(Asking {
                    outlook,
                    networks: Arc::clone(&self.networks),
                    ledger: Arc::clone(&self.ledger),
                    options: self.options.clone(),
                    n_calls: 0,
                    is_allowed: self.options.share > 0.0,
                }))
            }
        };
        self.tree.insert(tree)
    }
}

/// The options of the tree for a game: GRAVE, or plain UCT in games with chance; batches of leaves where these
/// are faster.
fn tree_options<G: Playouts>(game: &G, root: &G::Cursor, limits: &SearchLimits) -> UctOptions {
    let has_chance = game.roles().iter().any(|role| role.is_random);
    let options = if has_chance { UctOptions::default() } else { UctOptions::GRAVE };
    // With an iteration limit the options must not depend on the clock. Games with hidden information use
    // other searches, and the large ones among them take long to start a batch.
    let may_try = limits.iterations.is_none() && !game.has_percepts();
    if may_try && batches_are_faster(game, root, limits) {
        UctOptions { leaves: 32, playouts: 8, ..options }
    } else {
        options
    }
}

/// How many times faster batches must be before they are used.
const BATCH_GAIN: f64 = 3.0;
/// A trial takes the turn divided by this.
const TRIAL_DIVISOR: u32 = 20;
/// Longest trial.
const MAX_TRIAL: Duration = Duration::from_millis(20);

fn batches_are_faster<G: Playouts>(game: &G, root: &G::Cursor, limits: &SearchLimits) -> bool {
    let Some(left) = limits.deadline.remaining() else { return false };
    let time = (left / TRIAL_DIVISOR).min(MAX_TRIAL);
    let starts = [root.state().clone()];
    let mut rng = limits.seed.rng();
    let mut rate = |runner: &mut dyn PlayoutRunner<State = StateOf<G>>, n_per_start: usize| {
        let (start, deadline) = (Instant::now(), Deadline::after(time));
        let mut results = PlayoutResults::default();
        while !deadline.reached() {
            let (wants_moves, max_steps) = (false, MAX_RANDOM_STEPS);
            let starts = &starts;
            let deadline = &deadline;
            let request = PlayoutRequest { starts, n_per_start, max_steps, wants_moves, deadline };
            runner.run(&request, &mut rng, &mut results);
        }
        results.total().n_playouts as f64 / start.elapsed().as_secs_f64()
    };
    // The first run builds what later batches reuse, so its time does not count.
    let mut runner = game.runner();
    rate(&mut runner, 1);
    let batched = rate(&mut runner, 256);
    batched > BATCH_GAIN * rate(&mut OneByOne::new(game), 1)
}

impl<G: Searchable> Searcher<G::Cursor> for Improved<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        // A hint comes first, because making the network may take the whole turn.
        let first = root.clone().legal_moves(role).first().copied();
        first.into_iter().for_each(|first| limits.hint.set(first));
        let start = Instant::now();
        let ledger = Arc::clone(&self.ledger);
        let count = || {
            [&ledger.n_asked, &ledger.n_closed, &ledger.nanos, &ledger.injection]
                .map(|it| it.load(Relaxed))
        };
        let before = count();
        let turn = match limits.iterations {
            Some(_) => 0,
            None => limits.deadline.remaining().map_or(u64::MAX, |left| left.as_nanos() as u64),
        };
        ledger.turn.store(turn, Relaxed);
        ledger.turn_began.store(ledger.now(), Relaxed);
        self.tree(root, limits);
        if self.forced.is_none() {
            // With an iteration limit the decision must not depend on the clock.
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(1.0 / f64::from(TRIAL_DIVISOR)),
            };
            let found = if self.options.forced {
                looks_like_duel(&self.game, limits.seed.child(1), &deadline)
            } else {
                Some(false)
            };
            self.forced =
                found.map(|is_duel| is_duel.then(|| FORCED_SEARCH.build("alphabeta", &self.game)));
        }
        let forced = self.forced.as_mut().and_then(Option::as_mut);
        let forced = forced.map(|search| search.search(root, role, &limits.part(FORCED_PART)));
        let prepared = start.elapsed();
        let tree = self.tree.as_mut().expect("the tree exists");
        let report = match forced {
            Some(forced) if forced.is_proven => forced,
            Some(forced) => tree.search(root, role, limits).respecting(&forced),
            None => tree.search(root, role, limits),
        };
        ledger.searched.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        let after = count();
        let [n_solved, n_closed, asked, injection] = [0, 1, 2, 3].map(|it| after[it] - before[it]);
        let network = NetworkWork {
            note: self.note.clone().unwrap_or_default(),
            plan: String::new(),
            n_solved,
            n_closed,
            injection: Duration::from_nanos(injection),
            resolution: Duration::from_nanos(asked.saturating_sub(injection)),
            simulation: start.elapsed().saturating_sub(prepared + Duration::from_nanos(asked)),
            ..NetworkWork::default()
        };
        report.extended(network)
    }
}

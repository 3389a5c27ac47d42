//! MAC-UCB where each question goes to who answers it best.
//!
//! The engine of the game answers what it answers faster than a network: which moves there are,
//! what they lead to, how games end. So the tree and the playouts are those of
//! [`Uct`](ludex_search::mcts::Uct), side by side where that is faster. The network answers what only
//! it can: that every play from a state ends in the same way, though nobody has looked at them
//! ([`outlook`](crate::outlook)). It is asked about nodes that are visited often, and closes them.
//! It gets time as long as that closes something, and little when it does not. In a
//! [duel](ludex_search::duel) a short search in depth before the tree sees what is forced.
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
use ludex_search::{Limits, OpenSearcher, Search, SearchReport, Searchable, Searcher};

use crate::networks::Networks;
use crate::outlook::Outlook;
use crate::work::NetworkWork;

/// What the search can be told.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ImprovedOptions {
    /// The part of the time that the network may take while it closes something.
    pub share: f64,
    /// Visits at which a node is asked about.
    pub visits: usize,
    /// Whether what is forced is looked for before the tree is grown.
    pub forced: bool,
}

/// The search.
pub(crate) struct Improved<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: ImprovedOptions,
    tree: Option<Uct<G>>,
    /// Looks for what is forced; `None` until it is known whether the game is a duel.
    forced: Option<Option<OpenSearcher<G>>>,
    ledger: Arc<Ledger>,
    /// Why there is no network.
    note: Option<String>,
}

/// What the network was asked and what it took, told by the adviser.
#[derive(Debug)]
struct Ledger {
    /// When it was made, from which other times are counted.
    epoch: Instant,
    n_asked: AtomicU64,
    n_closed: AtomicU64,
    nanos: AtomicU64,
    /// Nanoseconds of these in which sets were put into the network.
    injection: AtomicU64,
    /// Nanoseconds of the turns before this one.
    searched: AtomicU64,
    /// When this turn began.
    turn_began: AtomicU64,
    /// Nanoseconds that this turn has; 0 when only iterations count.
    turn: AtomicU64,
}

impl Ledger {
    fn new() -> Self {
        let [n_asked, n_closed, nanos, injection, searched, turn_began, turn] =
            std::array::from_fn(|_| AtomicU64::new(0));
        let epoch = Instant::now();
        Self { epoch, n_asked, n_closed, nanos, injection, searched, turn_began, turn }
    }

    /// Nanoseconds since it was made.
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }
}

/// One answer in so many has to close something, or the network gets less.
const MAX_ASKED_PER_CLOSED: f64 = 25.0;
/// Answers after which that is judged.
const MIN_ASKED_TO_JUDGE: f64 = 40.0;
/// How much less.
const REDUCED_SHARE: f64 = 0.1;
/// The part of a turn that one answer may take.
const MAX_ANSWER_PART: f64 = 0.1;
/// Nodes between two looks at the clock.
const CALLS_PER_CLOCK_CHECK: u64 = 64;

struct Asking<S> {
    outlook: Outlook,
    networks: Arc<Networks<S>>,
    ledger: Arc<Ledger>,
    options: ImprovedOptions,
    n_calls: u64,
    is_allowed: bool,
}

impl<S> Asking<S> {
    /// Whether the network will have taken no more than its part of the match after one more answer.
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
            // Without a clock the same seed gives the same questions.
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
        // The first answers are not known to be short.
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

    /// The tree search; with the network, if there is one or time to make it.
    fn tree(&mut self, root: &G::Cursor, limits: &Limits) -> &mut Uct<G> {
        // A tree that has no network because there was no time may get one with more of it.
        let is_final = self.tree.is_some() && self.note.is_none();
        if is_final {
            return self.tree.as_mut().expect("there is one");
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

/// The tree for a game: the statistics of an ancestor guide it unless chance comes between, and leaves
/// are played out in batches where that is faster.
fn tree_options<G: Playouts>(game: &G, root: &G::Cursor, limits: &Limits) -> UctOptions {
    let has_chance = game.roles().iter().any(|role| role.is_random);
    let options = if has_chance { UctOptions::default() } else { UctOptions::GRAVE };
    // What a clock says must not count where only iterations do. Games that hide something are searched by
    // what roles know, and large ones among them take long to begin a batch.
    let may_try = limits.iterations.is_none() && !game.has_percepts();
    if may_try && batches_are_faster(game, root, limits) {
        UctOptions { leaves: 32, playouts: 8, ..options }
    } else {
        options
    }
}

/// How much faster playouts have to be side by side.
const BATCH_GAIN: f64 = 3.0;
/// The part of a turn in which that is tried, and the most.
const TRIAL_DIVISOR: u32 = 20;
const MAX_TRIAL: Duration = Duration::from_millis(20);

fn batches_are_faster<G: Playouts>(game: &G, root: &G::Cursor, limits: &Limits) -> bool {
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
    // The first batch pays for what is made once.
    let mut runner = game.runner();
    rate(&mut runner, 1);
    let batched = rate(&mut runner, 256);
    batched > BATCH_GAIN * rate(&mut OneByOne::new(game), 1)
}

impl<G: Searchable> Searcher<G::Cursor> for Improved<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
        // Making the network may take longer than there is time.
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
            // Where only iterations count, the clock must not.
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
        let tree = self.tree.as_mut().expect("it was made");
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
        };
        report.extended(network)
    }
}

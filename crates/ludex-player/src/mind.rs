//! Minds, which choose the moves of a player: one search, or the flagship's choice of several.
//!
//! A mind lives on the thread of a [`Worker`](crate::worker::Worker), which catches its panics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{RoleId, Seed};
use ludex_game::{Cursor, StateOf};
use ludex_macucb::{Networks, WithNetworks};
use ludex_search::information::{Follower, Model};
use ludex_search::{HiddenSearcher, Information, OpenSearcher, Search, SearchLimits, SearchReport};
use ludex_solve::Saved;

use crate::Playable;
use crate::flagship::Flagship;
use crate::folded::Folds;
use crate::knowledge::Situation;
use crate::remembered::Remembering;
use crate::roster::{PlayedBy, PlayerSpec};

/// Chooses moves, and keeps what it learns during a match.
pub(crate) trait Mind<G: Playable>: Send {
    /// Uses the start clock.
    fn prepare(&mut self, role: RoleId, limits: &SearchLimits);

    /// Thinks about a turn in which the role has a choice.
    fn think(
        &mut self,
        situation: &Situation<StateOf<G>>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> Opinion;
}

/// Makes minds for a player: one at the beginning, and another whenever one has panicked.
pub struct Minds<G> {
    make: Arc<dyn Fn() -> Box<dyn Mind<G>> + Send + Sync>,
}

impl<G> Clone for Minds<G> {
    fn clone(&self) -> Self {
        Self { make: Arc::clone(&self.make) }
    }
}

impl<G: Playable> Minds<G> {
    /// The minds of a player.
    pub fn new(spec: &PlayerSpec, game: &G) -> Self {
        let (spec, game) = (spec.clone(), game.clone());
        Self::by(move || match spec.played_by() {
            PlayedBy::Flagship(options) => Box::new(Flagship::new(&game, options)),
            PlayedBy::Search(search) => Box::new(OneSearch::new(&game, spec.name(), search)),
            PlayedBy::Folded(folded) => {
                let (search, folds) = folded.search();
                Box::new(if folds {
                    OneSearch::folded(&game, spec.name(), &search)
                } else {
                    OneSearch::new(&game, spec.name(), &search)
                })
            }
        })
    }

    /// Thinks about one state that is known, without a match around it; returns what was found and the
    /// name of the search.
    ///
    /// The game must have no percepts, and the role a choice.
    pub fn think_once(
        &self,
        state: &StateOf<G>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> (SearchReport, String) {
        let Opinion { report, search } =
            self.one().think(&Situation::Open(state.clone()), role, limits);
        (report, search)
    }

    /// The same minds, which play saved strategies where there are some.
    pub(crate) fn remembering(self, game: &G, saved: &Arc<Saved>) -> Self {
        let (game, saved) = (game.clone(), Arc::clone(saved));
        Self::by(move || Box::new(Remembering::new(&game, Arc::clone(&saved), self.one())))
    }

    /// The minds that a function makes.
    pub(crate) fn by(make: impl Fn() -> Box<dyn Mind<G>> + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make) }
    }

    pub(crate) fn one(&self) -> Box<dyn Mind<G>> {
        (self.make)()
    }
}

/// The result of a mind: a report, and the search that made it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Opinion {
    pub report: SearchReport,
    /// Name of the search.
    pub search: String,
}

/// Panics in its first turn, for tests of the code around it.
pub(crate) struct Broken;

impl<G: Playable> Mind<G> for Broken {
    fn prepare(&mut self, _role: RoleId, _limits: &SearchLimits) {}

    fn think(&mut self, _: &Situation<StateOf<G>>, _: RoleId, _: &SearchLimits) -> Opinion {
        panic!("this search panics on purpose, for a test");
    }
}

/// A mind with a single search.
pub(crate) struct OneSearch<G: Playable> {
    game: G,
    name: &'static str,
    cursor: G::Cursor,
    searcher: Searches<G>,
    /// If the search sees folded states: the way to them and back.
    folds: Option<Folds<G>>,
}

/// The searcher, for a game with a known or with a hidden state.
enum Searches<G: Playable> {
    Open(OpenSearcher<G>),
    Hidden(HiddenSearcher<G>),
}

impl<G: Playable> OneSearch<G> {
    /// Builds a search under this name.
    pub fn new(
        game: &G,
        name: &'static str,
        search: &(impl Search<WithNetworks<G>> + ?Sized),
    ) -> Self {
        let from = WithNetworks {
            game: game.clone(),
            feature_finder: game.feature_finder(),
            networks: Networks::new(game.rules()),
        };
        let searcher = if game.has_percepts() {
            Searches::Hidden(search.build_informed(name, &from))
        } else {
            Searches::Open(search.build(name, &from))
        };
        Self { game: game.clone(), name, cursor: game.cursor(), searcher, folds: None }
    }

    /// Builds a search that sees folded states, if the game has symmetries.
    pub fn folded(
        game: &G,
        name: &'static str,
        search: &(impl Search<WithNetworks<G>> + ?Sized),
    ) -> Self {
        match Folds::of(game) {
            Some(folds) => {
                let folded = folds.game.clone();
                Self { folds: Some(folds), ..Self::new(&folded, name, search) }
            }
            None => Self::new(game, name, search),
        }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Searches from a state that is known.
    pub fn search(
        &mut self,
        state: &StateOf<G>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> SearchReport {
        let Searches::Open(searcher) = &mut self.searcher else {
            panic!("the state is known exactly in games without percepts")
        };
        let Some(folds) = &mut self.folds else {
            self.cursor.set_state(state);
            return searcher.search(&self.cursor, role, limits);
        };
        let (canonical, element) = folds.enter(state);
        self.cursor.set_state(&canonical);
        let report = searcher.search(&self.cursor, role, limits);
        folds.leave(state, role, &element, report)
    }

    /// Searches for a role with this information.
    pub fn search_hidden(
        &mut self,
        known: &Information<StateOf<G>>,
        limits: &SearchLimits,
    ) -> SearchReport {
        let Searches::Hidden(searcher) = &mut self.searcher else {
            panic!("the state is known exactly in games without percepts")
        };
        searcher.search(known, limits)
    }

    /// Searches the initial state ahead, so that the search can reuse the result.
    pub fn warm_up(&mut self, role: RoleId, limits: &SearchLimits) {
        if !starts_with_a_move(&self.game, role) {
            return;
        }
        let deadline = limits.deadline.no_later_than(Instant::now() + MAX_WARM_UP);
        let limits = SearchLimits { deadline, ..limits.clone() };
        match &mut self.searcher {
            Searches::Open(searcher) => drop(searcher.search(&self.game.cursor(), role, &limits)),
            Searches::Hidden(searcher) => {
                // Every role knows the initial state.
                let mut follower = Follower::new(&self.game, role, Model::uniform());
                searcher.search(&follower.information(), &limits);
            }
        }
    }
}

/// Longest time to search the initial state in the start clock.
const MAX_WARM_UP: Duration = Duration::from_secs(60);

impl<G: Playable> Mind<G> for OneSearch<G> {
    fn prepare(&mut self, role: RoleId, limits: &SearchLimits) {
        self.warm_up(role, limits);
    }

    fn think(
        &mut self,
        situation: &Situation<StateOf<G>>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> Opinion {
        let report = match situation {
            Situation::Open(state) => self.search(state, role, limits),
            Situation::Hidden(known) => self.search_hidden(known, limits),
        };
        Opinion { report, search: self.name().into() }
    }
}

/// Whether a role has a move in the initial state.
pub(crate) fn starts_with_a_move<G: Playable>(game: &G, role: RoleId) -> bool {
    let mut cursor = game.cursor();
    !cursor.is_terminal() && !cursor.legal_moves(role).is_empty()
}

/// The seed of a turn.
pub(crate) fn turn_seed(seed: Seed, turn: u64) -> Seed {
    seed.child(1_000 + turn)
}

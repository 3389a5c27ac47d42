//! HyperPlay: searches possible states as if they were known.
//!
//! States are drawn by their weights; a state drawn several times counts, and is searched,
//! accordingly more. A search for complete information searches each, and the value of a move is
//! its mean over them. So the role acts as if the state became known with the next move: it never
//! pays for information and never bluffs. For any game; with complete information it equals the
//! inner search.
//!
//! | search | value of a move |
//! | --- | --- |
//! | hyperplay | a search with complete information from each state |
//! | hyperplay-ii | games in which every role knows only what it sees: see [`ImperfectPlay`] |
//!
//! After Schofield, Cerexhe and Thielscher, *HyperPlay: A Solution to General Game Playing with
//! Imperfect Information*, 2012.

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::{Cursor, Playouts, StateOf};

use crate::alphabeta::DepthFirstOptions;
use crate::flat::FlatOptions;
use crate::information::{Information, InformationSearcher, Weights};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, Searchable};
use crate::limits::{Hint, SearchLimits};
use crate::mcts::UctOptions;
use crate::registry::PlainSearch;
use crate::report::{MoveReport, SearchReport};
use crate::searcher::Searcher;

mod imperfect;

pub use imperfect::{ImperfectPlay, ImperfectPlayOptions};

crate::option_names! {
    /// The search that treats a state as known.
    pub enum Within {
        /// UCT.
        Uct = "uct",
        /// UCT with all-moves-as-first statistics of an ancestor.
        Grave = "grave",
        /// UCT with playouts that prefer moves that did well before.
        Mast = "mast",
        /// Flat Monte Carlo.
        Flat = "flat",
        /// Alpha-beta.
        AlphaBeta = "alphabeta",
    }
}

crate::search_options! {
    /// Options of `hyperplay`.
    pub struct HyperPlayOptions {
        /// states drawn per turn
        states: usize = N_STATES,
        /// search of each state: uct, grave, mast, flat or alphabeta
        search: Within = Within::Uct,
    }
}

/// Default number of states drawn per turn; more would get too little time each.
const N_STATES: usize = 10;

impl Within {
    /// Returns the search of that name.
    fn search(self) -> PlainSearch {
        match self {
            Self::Uct => UctOptions::DEFAULT.into(),
            Self::Grave => UctOptions::GRAVE.into(),
            Self::Mast => UctOptions::MAST.into(),
            Self::Flat => FlatOptions::DEFAULT.into(),
            Self::AlphaBeta => DepthFirstOptions::DEFAULT.into(),
        }
    }
}

/// A search for complete information, applied to possible states.
pub struct HyperPlay<G: Playouts> {
    name: &'static str,
    game: G,
    /// Builds a searcher without knowledge.
    build: BuildSearcher<G>,
    n_states: usize,
    cursor: G::Cursor,
    /// Used in known states, so that it can keep what it learned.
    searcher: OpenSearcher<G>,
}

/// Builds a searcher for complete information.
pub type BuildSearcher<G> = Box<dyn Fn(&G) -> OpenSearcher<G> + Send>;

impl<I: Ingredients> Search<I> for HyperPlayOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(HyperPlay::new(name, from.game(), self))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        Box::new(HyperPlay::new(name, from.game(), self))
    }
}

impl<G: Searchable> HyperPlay<G> {
    /// Creates a search over the one that the options name.
    pub fn new(name: &'static str, game: &G, options: &HyperPlayOptions) -> Self {
        let within = options.search.search();
        let n_states = options.states.max(1);
        Self { n_states, ..Self::over(name, game, Box::new(move |game| within.build(name, game))) }
    }

    /// Creates a search over any search for complete information.
    pub fn over(name: &'static str, game: &G, build: BuildSearcher<G>) -> Self {
        let (searcher, cursor) = (build(game), game.cursor());
        Self { name, game: game.clone(), build, n_states: N_STATES, cursor, searcher }
    }
}

impl<G: Searchable> Searcher<G::Cursor> for HyperPlay<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        self.searcher.search(root, role, limits)
    }
}

impl<G: Searchable> InformationSearcher<StateOf<G>> for HyperPlay<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let nothing = SearchReport::unsearched(known.legal_moves());
        let mut rng = limits.seed.child(u64::MAX).rng();
        let mut joined = Joined::new(known.legal_moves());
        let drawn = drawn(known, self.n_states, &mut rng);
        let mut left = 1.0_f64;
        for (idx, (state_idx, weight)) in drawn.into_iter().enumerate() {
            if idx > 0 && limits.deadline.reached() {
                break;
            }
            // The hint of the first search is best in one state only, but better than none.
            let hint = if idx == 0 { limits.hint.clone() } else { Hint::default() };
            let within = SearchLimits {
                deadline: limits.deadline.part((weight / left.max(weight)).min(1.0)),
                iterations: limits.iterations.map(|all| ((all as f64 * weight) as u64).max(1)),
                seed: limits.seed.child(idx as u64),
                hint,
                ..limits.clone()
            };
            left -= weight;
            // What a searcher learned in one state would mislead it in another.
            let mut searcher = (self.build)(&self.game);
            self.cursor.set_state(&known.possible()[state_idx].state);
            let report = searcher.search(&self.cursor, known.role(), &within);
            joined.add(&report, weight);
            joined.best().into_iter().for_each(|best| limits.hint.set(best));
        }
        joined.report(nothing)
    }
}

/// Returns indices of possible states with weights that sum to 1: all of them if there are at most
/// `n_states`, otherwise a sample, weighted by how often each was drawn.
fn drawn<S>(known: &Information<S>, n_states: usize, rng: &mut Rng) -> Vec<(usize, f64)> {
    let possible = known.possible();
    if possible.len() <= n_states {
        return possible.iter().map(|it| it.weight).enumerate().collect();
    }
    let weights = Weights::new(possible.iter().map(|it| it.weight));
    let each = 1.0 / n_states as f64;
    let mut drawn: Vec<(usize, f64)> = Vec::new();
    for _ in 0..n_states {
        let state_idx = weights.draw(rng);
        match drawn.iter_mut().find(|it| it.0 == state_idx) {
            Some((_, weight)) => *weight += each,
            None => drawn.push((state_idx, each)),
        }
    }
    drawn
}

/// The weighted sum of reports on several states.
struct Joined {
    whole: SearchReport,
    /// Sums of weighted mean rewards, parallel to the moves of `whole`, and the sum of the weights.
    sums: Vec<f64>,
    weight: f64,
}

impl Joined {
    fn new(legal: &[MoveId]) -> Self {
        let moves = legal.iter().map(|&id| MoveReport::untried(id)).collect();
        let whole = SearchReport { moves, ..SearchReport::default() };
        Self { whole, sums: vec![0.0; legal.len()], weight: 0.0 }
    }

    fn add(&mut self, report: &SearchReport, weight: f64) {
        self.weight += weight;
        let whole = &mut self.whole;
        whole.n_iterations += report.n_iterations;
        whole.n_playouts += report.n_playouts;
        whole.n_nodes = whole.n_nodes.max(report.n_nodes);
        whole.n_bytes = whole.n_bytes.max(report.n_bytes);
        whole.depth = whole.depth.max(report.depth);
        whole.stopped = whole.stopped.or(report.stopped);
        whole.extension = match (whole.extension.take(), &report.extension) {
            (Some(so_far), Some(more)) => Some(so_far.joined(more)),
            (so_far, more) => so_far.or_else(|| more.clone()),
        };
        let is_listed = |id: &MoveId| whole.moves.iter().any(|known| known.id == *id);
        // If the searches do not value moves, the first choice counts.
        whole.chosen = whole.chosen.or(report.chosen.filter(is_listed));
        for (known, sum) in whole.moves.iter_mut().zip(&mut self.sums) {
            // A move that is illegal in that state or was never tried counts as worth nothing.
            let Some(found) = report.moves.iter().find(|found| found.id == known.id) else {
                continue;
            };
            known.n_visits += found.n_visits;
            *sum += weight * found.mean_reward.unwrap_or(0.0);
        }
    }

    /// Returns the tried move with the best mean.
    fn best(&self) -> Option<MoveId> {
        let moves = self.whole.moves.iter().zip(&self.sums);
        let tried = moves.filter(|(known, _)| known.n_visits > 0);
        let best = tried.max_by(|a, b| a.1.partial_cmp(b.1).expect("rewards are numbers"));
        best.map(|(known, _)| known.id)
    }

    fn report(mut self, nothing: SearchReport) -> SearchReport {
        if self.whole.moves.is_empty() {
            return nothing;
        }
        let best = self.best();
        for (known, sum) in self.whole.moves.iter_mut().zip(&self.sums) {
            known.mean_reward = (known.n_visits > 0).then(|| sum / self.weight);
        }
        self.whole.chosen = best.or(self.whole.chosen).or(nothing.chosen);
        self.whole.reward = self.whole.chosen_move().and_then(|known| known.mean_reward);
        self.whole
    }
}

//! UCT and nested Monte Carlo search with half of the time each; the one that expects more chooses.
//!
//! The value of a line is the goal at its end. The value of UCT is an average, so its move is
//! played only if that exceeds the goal of every line, or if it is proved. For puzzles; with other
//! roles, UCT gets all the time.
//!
//! After Méhat and Cazenave, *Combining UCT and Nested Monte Carlo Search for Single-Player General Game
//! Playing*, 2010, where the combination is called MAX.

use std::time::Instant;

use ludex_base::RoleId;
use ludex_game::Playouts;

use super::{Nested, NmcsOptions, Rule};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::mcts::{Uct, UctOptions};
use crate::report::SearchReport;
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`UctNested`].
    pub struct UctNestedOptions {
        /// levels of nesting
        level: usize = 2,
        /// exploration constant of uct, for rewards from 0 to 1
        c: f64 = 0.7,
        /// threads; 0 for as many as the limits allow
        threads: usize = 0,
    }
}

/// Both searches side by side.
pub struct UctNested<G: Playouts> {
    uct: Uct<G>,
    nested: Nested<G>,
    is_puzzle: bool,
}

impl<I: Ingredients> Search<I> for UctNestedOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(UctNested::new(from.game(), self.clone()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts + Clone> UctNested<G> {
    /// Creates searches without knowledge.
    pub fn new(game: &G, options: UctNestedOptions) -> Self {
        let UctNestedOptions { level, c, threads } = options;
        let uct = UctOptions { c, threads, ..UctOptions::default() };
        let nmcs = NmcsOptions { level, threads };
        Self {
            uct: Uct::new("uct-nested", game, uct),
            nested: Nested::new("uct-nested", game, Rule::Nmcs(nmcs)),
            is_puzzle: game.roles().len() == 1,
        }
    }
}

impl<G: Playouts + Clone> Searcher<G::Cursor> for UctNested<G> {
    fn name(&self) -> &'static str {
        "uct-nested"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        if !self.is_puzzle {
            return self.uct.search(root, role, limits);
        }
        let half = limits.deadline.remaining().map(|left| Instant::now() + left / 2);
        let first = SearchLimits {
            deadline: half
                .map_or(limits.deadline.clone(), |end| limits.deadline.no_later_than(end)),
            iterations: limits.iterations.map(|n| n / 2),
            memory: limits.memory / 2,
            ..limits.clone()
        };
        let lines = self.nested.search(root, role, &first);
        if lines.is_proven {
            return lines;
        }
        let second = SearchLimits {
            iterations: limits.iterations.map(|n| n.saturating_sub(lines.n_iterations)),
            ..limits.clone()
        };
        let tree = self.uct.search(root, role, &second);
        let n_playouts = lines.n_playouts + tree.n_playouts;
        let n_iterations = lines.n_iterations + tree.n_iterations;
        let best = if tree.is_proven || tree.reward > lines.reward { tree } else { lines };
        SearchReport { n_playouts, n_iterations, ..best }
    }
}

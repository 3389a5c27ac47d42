//! Random legal moves: the baseline that every search must beat.
//!
//! For any game.

use ludex_base::RoleId;
use ludex_game::Cursor;

use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::report::SearchReport;
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`Random`], which has none.
    pub struct RandomOptions {}
}

impl<I: Ingredients> Search<I> for RandomOptions {
    fn build(&self, _name: &'static str, _from: &I) -> OpenSearcher<I::Game> {
        Box::new(Random::default())
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

/// Plays a random legal move. Every call draws anew.
#[derive(Clone, Debug, Default)]
pub struct Random {
    n_calls: u64,
}

impl<C: Cursor> Searcher<C> for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn search(&mut self, root: &C, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let mut cursor = root.clone();
        let legal = cursor.legal_moves(role);
        let mut rng = limits.seed.child(self.n_calls).rng();
        self.n_calls += 1;
        SearchReport { chosen: rng.choose(legal).copied(), ..SearchReport::unsearched(legal) }
    }
}

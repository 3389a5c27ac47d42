//! The trait that every search implements.

use ludex_base::RoleId;
use ludex_game::Cursor;

use crate::limits::SearchLimits;
use crate::report::SearchReport;

/// Finds a move for a role in a known state.
///
/// A searcher may keep what it learned from one call to the next as long as the calls follow one
/// game; make a new one for a new game. In games with hidden information the caller passes possible
/// states, and the searcher treats each as known.
pub trait Searcher<C: Cursor> {
    /// Returns the name under which the search is registered.
    fn name(&self) -> &'static str;

    /// Searches from the state of the cursor, which must not be terminal.
    ///
    /// The chosen move is legal, even if the limits leave no time to search.
    fn search(&mut self, root: &C, role: RoleId, limits: &SearchLimits) -> SearchReport;
}

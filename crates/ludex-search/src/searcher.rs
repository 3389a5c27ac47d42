//! The trait every search keeps.

use ludex_base::RoleId;
use ludex_game::Cursor;

use crate::limits::Limits;
use crate::report::SearchReport;

/// Finds a move for a role in a state that it is shown.
///
/// A searcher may keep what it learned from one call to the next, as long as the calls follow one
/// game; make a new one for a new game. For games with hidden information the caller shows states
/// that are possible: the searcher itself takes the state to be known.
pub trait Searcher<C: Cursor> {
    /// The name it is registered under.
    fn name(&self) -> &'static str;

    /// Searches from the state the cursor stands on, which is not terminal.
    ///
    /// The move is legal, also when the limits leave no time to look at anything.
    fn search(&mut self, root: &C, role: RoleId, limits: &Limits) -> SearchReport;
}

//! Searches: from a cursor to a move and the reasons for it.
//!
//! A [`Searcher`] is shown a state and a role and gives a [`SearchReport`] within [`Limits`]. It
//! sees `Game` and `Cursor` and nothing of rulesheets. Where the state is hidden, an
//! [`InformationSearcher`] is given what the role knows instead. [`SEARCHES`] lists all searches;
//! [`SearchSpec`] reads `uct:c=0.7,threads=2` and builds one for a game.
//!
//! ```
//! use ludex_search::SearchSpec;
//!
//! let spec = SearchSpec::parse("random").expect("there is such a search");
//! assert_eq!(spec.claims[0].name(), "legal");
//! ```
//!
//! Read the modules in this order:
//!
//! 1. [`searcher`], [`limits`], [`report`]: the contract.
//! 2. [`options`]: options as people write them.
//! 3. [`random`]: the smallest search, and [`flat`], the smallest that looks ahead.
//! 4. [`mcts`]: Monte Carlo tree search.
//! 5. [`alphabeta`]: depth-first searches.
//! 6. [`information`]: what a role knows that does not see the state, and the trait of searches for
//!    it.
//! 7. [`hyperplay`], [`iss`], [`ismcts`]: searches for hidden information.
//! 8. [`normal`]: games of one choice a role; [`cfr`]: regret and equilibria, for moves at once and
//!    hidden information.
//! 9. [`nested`]: lines that are found once and played, for puzzles.
//! 10. [`claims`], [`ingredients`], [`spec`]: what there is to say of a search, what it is built from,
//!     and its name with options; [`registry`]: the list.
//! 11. [`random_games`]: what random games show of a game; [`duel`]: the games in which it is looked for what is forced.

pub mod searcher;
pub mod limits;
pub mod report;
pub mod options;
pub mod claims;
pub mod ingredients;
pub mod spec;
pub mod random;
mod roles;
mod clock;
mod playout;
mod evaluate;
pub mod mcts;
pub mod flat;
pub mod alphabeta;
pub mod information;
pub mod hyperplay;
pub mod iss;
pub mod ismcts;
pub mod normal;
pub mod cfr;
pub mod nested;
pub mod registry;
pub mod random_games;
pub mod duel;

#[cfg(test)]
mod toy;

pub use claims::{Claim, GameFeatures, GamesMeant};
pub use information::{Information, InformationSearcher};
pub use ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, Searchable};
pub use limits::{Hint, Limits};
pub use options::{OptionError, OptionInfo};
pub use registry::{PlainSearch, SEARCHES};
pub use report::{Extension, MoveReport, ReportExtension, SearchReport};
pub use roles::heap_bytes_of;
pub use searcher::Searcher;
pub use spec::SearchSpec;

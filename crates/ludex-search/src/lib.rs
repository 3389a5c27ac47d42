//! Searches: they take a cursor and return a move with the reasons for it.
//!
//! A [`Searcher`] takes a state and a role and returns a [`SearchReport`] within [`SearchLimits`]. It
//! sees only `Game` and `Cursor`, never a rulesheet. When the state is hidden, an
//! [`InformationSearcher`] takes the information of the role instead. [`SEARCHES`] lists all
//! searches; [`SearchSpec`] parses `uct:c=0.7,threads=2` and builds a searcher for a game.
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
//! 2. [`options`]: parsing options such as `c=0.7`.
//! 3. [`random`]: the smallest search, and [`flat`], the smallest that looks ahead.
//! 4. [`mcts`]: Monte Carlo tree search.
//! 5. [`alphabeta`]: depth-first searches.
//! 6. [`information`]: what a role knows when it does not see the state, and the trait of searches
//!    that use it.
//! 7. [`hyperplay`], [`iss`], [`ismcts`]: searches for hidden information.
//! 8. [`normal`]: games in which each role chooses once; [`cfr`]: regret minimization and
//!    equilibria, for simultaneous moves and hidden information.
//! 9. [`nested`]: nested searches for puzzles, which find a line of play once and follow it.
//! 10. [`claims`], [`ingredients`], [`spec`]: what a search promises, what it is built from, and
//!     its name with options; [`registry`]: the list of all searches.
//! 11. [`random_games`]: properties of a game, estimated from random games; [`duel`]: the games
//!     in which a search for forced lines pays.

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
pub use limits::{Hint, SearchLimits};
pub use options::{OptionError, OptionInfo};
pub use registry::{PlainSearch, SEARCHES};
pub use report::{Extension, MoveReport, ReportExtension, SearchReport};
pub use roles::heap_bytes_of;
pub use searcher::Searcher;
pub use spec::SearchSpec;

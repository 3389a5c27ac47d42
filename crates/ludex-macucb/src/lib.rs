//! MAC-UCB: playing by solving the constraint networks of states.
//!
//! A game that has a circuit offers it by [`Rules`]; [`Networks`] makes the network of a step from it,
//! once for a match. A [`NetworkSpec`] reads `mac-ucb:faithful` and builds a searcher. Where there is
//! no network, because the engine has no circuit or the network would be too large, a search of
//! `ludex-search` takes over and the report says so.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. [`rules`]: where networks come from.
//! 2. `resolve`: solving the network of a state by consistency, and `forward`, by forward checking.
//! 3. `graph`: the table of states, and the operators.
//! 4. `faithful`: the search as it was published.
//! 5. `outlook`: closing states by consistency, and `improved`: the search that leaves the rest to the
//!    engine of the game.
//! 6. [`information`]: the next steps of a role who does not know the state, and `informed`: searches
//!    for such roles.
//! 7. [`registry`]: the list.

pub mod rules;
mod resolve;
mod forward;
mod graph;
mod faithful;
mod outlook;
mod improved;
pub mod information;
mod informed;
pub mod registry;

#[cfg(test)]
mod tests;

pub use registry::{NETWORK_SEARCHES, NetworkEntry, NetworkSpec};
pub use rules::{NetworkBounds, Networks, Rules};

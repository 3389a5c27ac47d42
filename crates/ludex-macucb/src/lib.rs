//! MAC-UCB: playing by solving the constraint networks of states.
//!
//! A game that has a circuit offers it by [`Rules`](ludex_circuit::Rules); [`Networks`] makes the network
//! of a step from it, once for a match. [`NETWORK_SEARCHES`] lists the searches. Where there is no network, because the engine has no circuit or the network would be too large, a search of
//! `ludex-search` takes over and the report says so.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. [`networks`]: where networks come from; `work`: what searches on them add to their reports.
//! 2. `resolve`: solving the network of a state by consistency, and `forward`, by forward checking.
//! 3. `graph`: the table of states, and the operators.
//! 4. `faithful`: the search as it was published.
//! 5. `outlook`: closing states by consistency, and `improved`: the search that leaves the rest to the
//!    engine of the game.
//! 6. [`information`]: the next steps of a role who does not know the state, and `informed`: searches
//!    for such roles.
//! 7. [`registry`]: the list.

pub mod networks;
mod work;
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

pub use networks::{NetworkBounds, NetworkIngredients, Networks, WithNetworks};
pub use registry::{NETWORK_SEARCHES, NetworkSearch};
pub use work::NetworkWork;

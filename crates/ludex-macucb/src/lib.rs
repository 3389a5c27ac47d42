//! MAC-UCB: playing by solving the constraint networks of states.
//!
//! A game that has a circuit offers it by [`Rules`](ludex_circuit::Rules). [`Networks`] encodes the circuit
//! as the network of one step, once a match. [`NETWORK_SEARCHES`] lists the searches. When the engine has no
//! circuit or the network would be too large, a search of `ludex-search` plays and the report says so.
//!
//! Read the modules in this order; each uses only those before it.
//!
//! 1. [`networks`]: encoding and posting networks; `work`: what the searches add to their reports.
//! 2. `resolve`: solving the network of a state by maintaining consistency; `forward`: by forward checking.
//! 3. `graph`: the table of states, and the operators.
//! 4. `symmetric`: the table of symmetric states; `faithful`: the search as published.
//! 5. `outlook`: closing states by consistency; `improved`: a tree search that asks the network only that,
//!    and the engine of the game everything else.
//! 6. [`information`]: planning the next steps of a role that does not know the state; `informed`: searches
//!    for such roles.
//! 7. [`registry`]: the list of searches.

pub mod networks;
mod work;
mod resolve;
mod forward;
mod graph;
mod symmetric;
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

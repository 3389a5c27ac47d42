//! Players: a legal move, in time, always.
//!
//! A [`Player`] plays one role of one match. It receives the role's observations and a deadline, and
//! returns a [`Choice`]. [`PlayerSpec`] names the player: the flagship `ludex`, which chooses its searches
//! to suit the game, or any single search by its name.
//!
//! Read the modules in this order:
//!
//! 1. `playable`: the games; [`seen`] and [`thought`]: the input and the output of a player.
//! 2. `certainty` and [`knowledge`]: the state, or what a role knows when the state is hidden.
//! 3. [`survey`]: properties of a game estimated from a few random games.
//! 4. `folded`, [`mind`], [`stages`], [`contest`], [`hidden_contest`], [`puzzle`], `proved` and [`flagship`]: the searches of a
//!    player, and how the flagship finds out which of them suit a game; `remembered`: saved strategies.
//! 5. [`worker`]: the thread that runs a search and can be abandoned; [`interrupter`]: stopping it from
//!    another thread.
//! 6. [`latency`]: how much of the clock to keep in reserve.
//! 7. [`attention`]: waking up in time.
//! 8. [`backup`]: the reasoner, which plays when the search has failed.
//! 9. [`player`]: the contract, and the ladder of fallbacks.
//! 10. [`roster`]: the list of players.

mod playable;
pub mod seen;
pub mod thought;
mod certainty;
mod knowledge;
pub mod survey;
mod folded;
mod mind;
mod stages;
mod contest;
mod hidden_contest;
mod proved;
mod puzzle;
mod flagship;
mod remembered;
mod worker;
mod interrupter;
mod latency;
mod attention;
mod backup;
pub mod player;
pub mod roster;

#[cfg(test)]
mod tests;

pub use certainty::follower;
pub use flagship::FlagshipOptions;
pub use interrupter::Interrupter;
pub use mind::Minds;
pub use playable::Playable;
pub use player::{Player, PlayerConfig, memory_of_each};
pub use roster::{AnySearch, FLAGSHIP, PlayerInfo, PlayerSpec, players, searches};
pub use seen::Seen;
pub use survey::{Survey, survey};
pub use thought::{Choice, NetworkWork, Rung, Thought};

//! Players: a legal move, in time, always.
//!
//! A [`Player`] plays one role of one match. It is told what the role sees, has a deadline, and gives a
//! [`Choice`]. [`PlayerSpec`] says who plays: the flagship `ludex`, which chooses its searches by the
//! game, or any search of `ludex-search` by name.
//!
//! Read the modules in this order:
//!
//! 1. `playable`: the games; [`seen`] and [`thought`]: what goes in and what comes out.
//! 2. `certainty` and [`knowledge`]: the state, or what a role knows that does not see it.
//! 3. [`survey`]: what a few random games tell about a game.
//! 4. [`mind`], [`stages`], [`contest`], [`hidden_contest`], [`puzzle`] and [`flagship`]: what a player
//!    thinks with, and how it finds out which searches suit a game.
//! 5. [`worker`]: a thread that thinks, and can be given up.
//!    [`interrupter`]: from outside.
//! 6. [`latency`]: how much of the clock to keep back.
//! 7. [`attention`]: being woken up in time.
//! 8. [`backup`]: when the search broke down, the reasoner plays.
//! 9. [`player`]: the contract, and the ladder.
//! 10. [`roster`]: who there is.

mod playable;
pub mod seen;
pub mod thought;
mod certainty;
mod knowledge;
pub mod survey;
mod mind;
mod stages;
mod contest;
mod hidden_contest;
mod puzzle;
mod flagship;
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
pub use player::{Player, PlayerConfig};
pub use roster::{AnySearch, FLAGSHIP, PlayerInfo, PlayerSpec, players, searches};
pub use seen::Seen;
pub use survey::{Survey, survey};
pub use thought::{Choice, NetworkWork, Rung, Thought};

//! Players: a legal move, in time, always.
//!
//! A [`Player`] plays one role of one match. It is told what the role sees, has a deadline, and gives a
//! [`Choice`]. [`PlayerSpec`] says who plays: the flagship `ludex`, which chooses its searches by the
//! game, or any search of `ludex-search` by name.
//!
//! Read the modules in this order:
//!
//! 1. [`seen`] and [`thought`]: what goes in and what comes out.
//! 2. [`knowledge`]: the state, or the states that agree with what was seen.
//! 3. [`survey`]: what a few random games tell about a game.
//! 4. [`mind`], [`stages`], [`contest`], [`puzzle`] and [`flagship`]: what a player thinks with, and how
//!    it finds out which searches suit a game.
//! 5. [`worker`]: a thread that thinks, and can be given up.
//!    [`interrupter`]: from outside.
//! 6. [`latency`]: how much of the clock to keep back.
//! 7. [`attention`]: being woken up in time.
//! 8. [`backup`]: when the search broke down, the reasoner plays.
//! 9. [`player`]: the contract, and the ladder.
//! 10. [`roster`]: who there is.

pub mod seen;
pub mod thought;
mod knowledge;
pub mod survey;
mod mind;
mod stages;
mod contest;
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

use ludex_game::{Describe, Game, Observe, Playouts};

pub use interrupter::Interrupter;
pub use player::{Player, PlayerConfig};
pub use roster::{FLAGSHIP, PlayerInfo, PlayerSpec, players};
pub use seen::Seen;
pub use survey::{Survey, survey};
pub use thought::{Choice, Rung, Thought};

/// A game that players can play: copies are cheap, and it can do all that searches and reports need.
pub trait Playable:
    Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

impl<G> Playable for G where
    G: Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

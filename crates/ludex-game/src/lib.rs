//! What it means to be a game, whatever plays it underneath.
//!
//! A [`Game`] is the rules of one game, ready to play and shared by every thread; a
//! [`Cursor`] stands on one state and answers questions about it. Searches, referees and
//! tests see these traits and nothing of rulesheets or circuits.
//!
//! Abilities that not every user needs are traits of their own: [`Observe`] for what roles
//! see, [`Describe`] for names, [`Playouts`] for many random games at once.
//!
//! Read the modules in this order:
//!
//! 1. [`game`]: the traits.
//! 2. [`playouts`]: random games in batches.

pub mod game;
pub mod playouts;

pub use game::{
    Cursor, Describe, Game, IllegalMove, Observe, Role, StateOf, play_checked,
};
pub use playouts::{OneByOne, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts};

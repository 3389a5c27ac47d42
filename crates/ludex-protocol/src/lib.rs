//! The messages of the General Game Playing protocol: text to values and back, without sockets.
//!
//! A game manager sends [`Request`]s, and a player answers each with a [`Reply`]. Reading is
//! tolerant, because programs write these messages in many ways; writing is exact to the blank,
//! because some programs read no other form. A manager that wants to hide which game is played puts
//! a [`Codebook`] between itself and the players.
//!
//! ```
//! use ludex_protocol::{Request, News};
//!
//! let request = Request::read("(play m1 ((mark 1 1) noop))")?;
//! let Request::Play { match_id, news: News::Joint(moves) } = &request else { unreachable!() };
//! assert_eq!((match_id.as_str(), moves[1].as_str()), ("m1", "noop"));
//! assert_eq!(request.to_string(), "( PLAY m1 (( mark 1 1 ) noop ) )");
//! # Ok::<(), ludex_protocol::ProtocolError>(())
//! ```
//!
//! Read the modules in this order; each uses only those before it.

// Sizes come from texts of strangers: a number that does not fit must be noticed.
#![deny(clippy::cast_possible_truncation)]

mod tokens; // 1. words and parentheses
mod term; // 2. a move or a percept
mod request; // 3. messages of a manager
mod reply; // 4. answers of a player, and their faults
mod codebook; // 5. a match under new names

pub use codebook::Codebook;
pub use reply::{Info, MoveFault, Reply, Status, read_move};
pub use request::{News, ProtocolError, Request, wire_rules};
pub use term::{MAX_TERM, Term};
pub use tokens::shortened;

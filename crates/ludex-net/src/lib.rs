//! The General Game Playing protocol over HTTP, from both sides.
//!
//! A [`Server`] answers for an [`Endpoint`], which plays whatever match a game manager sends it. A
//! [`RemoteSeat`] is the other side: a player somewhere else, at the table of a referee.
//!
//! Read the modules in this order:
//!
//! 1. [`wire`]: a connection, read within bounds.
//! 2. [`event`]: what is told on the way.
//! 3. [`participant`]: a player that hears of its match by messages.
//! 4. [`responder`], [`loading`] and [`table`]: one match, in its own thread.
//! 5. [`endpoint`]: which message gets which reply.
//! 6. [`status`] and [`server`]: HTTP around it.
//! 7. [`client`]: a message and its reply.
//! 8. [`remote`]: a seat for a player elsewhere.

mod wire;
pub mod event;
mod participant;
mod responder;
mod loading;
mod table;
pub mod endpoint;
mod status;
pub mod server;
pub mod client;
pub mod remote;

#[cfg(test)]
mod tests;

pub use client::{Address, AddressError, AskError, ask};
pub use endpoint::{Endpoint, EndpointConfig};
pub use event::{Event, Observer};
pub use remote::{RemoteMatch, RemoteSeat, info};
pub use server::Server;

//! The General Game Playing protocol over HTTP, from both sides.
//!
//! A [`Server`] receives messages for an [`Endpoint`], which plays the matches that a game manager
//! sends. A [`RemoteSeat`] is the other side: the referee's seat for a player elsewhere.
//!
//! Read the modules in this order:
//!
//! 1. [`wire`]: a connection, read within bounds of size and time.
//! 2. [`event`]: events that an endpoint reports.
//! 3. [`participant`]: a player that follows its match by messages.
//! 4. [`responder`], [`loading`] and [`table`]: one match, in its own thread.
//! 5. [`endpoint`]: which message gets which reply.
//! 6. [`status`] and [`server`]: the endpoint over HTTP.
//! 7. [`client`]: sends a message and reads the reply.
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

pub use client::{Address, AddressError, AskError, ask, tell_page};
pub use endpoint::{Endpoint, EndpointConfig};
pub use event::{Event, Observer};
pub use remote::{RemoteMatch, RemoteSeat, info};
pub use server::Server;

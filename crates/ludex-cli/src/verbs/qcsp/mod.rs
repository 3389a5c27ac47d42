//! `ludex qcsp`: quantified constraint networks from files.

mod input;
pub mod play;
pub mod solve;
mod strategy;

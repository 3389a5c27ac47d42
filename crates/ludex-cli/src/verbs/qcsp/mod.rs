//! `ludex qcsp`: quantified constraint networks from files.

pub mod input;
pub mod play;
pub mod solve;
mod strategy;

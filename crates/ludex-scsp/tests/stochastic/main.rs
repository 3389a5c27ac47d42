//! Stochastic networks: worked examples, random networks against the definition, bad input,
//! limits of time and memory.

mod agree;
mod examples;
mod input;
mod limits;
mod networks;

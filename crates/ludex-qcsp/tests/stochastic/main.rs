//! Stochastic networks: worked examples, random networks against the definition, bad input,
//! files, limits of time and memory.

mod agree;
mod examples;
mod files;
mod input;
mod limits;
mod networks;

//! Stochastic networks: worked examples, random networks compared with the definition, invalid
//! input, limits of time and memory.

mod agree;
mod examples;
mod input;
mod limits;
mod networks;

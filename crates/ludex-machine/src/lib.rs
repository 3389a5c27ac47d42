//! The fast engine: a circuit compiled for evaluation.
//!
//! A [`Machine`] is a [`Game`](ludex_game::Game) whose states are bit sets of fluents. Its cursor
//! updates counters incrementally from one state to the next; a playout allocates nothing.
//!
//! Batches of playouts run side by side: each bit of a 256-bit word belongs to one playout, so one
//! instruction evaluates a gate for all of them. On processors with AVX2, loading a game compiles
//! these instructions to machine code.
//!
//! Read the modules in this order; each uses only those before it. The `mod.rs` of each folder
//! gives the order of its files.

mod gates; // 1. evaluation gate by gate: slow, for every circuit
mod net; // 2. counters updated incrementally
mod lanes; // 3. operations on words, one bit per playout
mod native; // 4. these operations as machine code
mod cursor; // 5. a cursor on one state
mod wide; // 6. batches of playouts
mod positions; // 7. positions side by side, with moves from outside
mod children; // 8. all successors of many states
mod machine; // the game

#[cfg(test)]
mod tests;

pub use cursor::MachineCursor;
pub use machine::{Machine, MachineRunner, PlayoutStyle};
pub use positions::Positions;

//! The fast game: a circuit compiled for evaluation.
//!
//! A [`Machine`] is a [`Game`](ludex_game::Game) whose states are bit sets of fluents. Its cursor moves
//! from a state to the next by updating counters incrementally; nothing is allocated in a playout.
//!
//! Batches of playouts are played side by side: one bit of a 256-bit word is one of them, so that an
//! instruction evaluates a gate for all. Where the processor is one that we know, these instructions are
//! compiled when the game is loaded.
//!
//! Read the modules in this order; each uses only those before it, and each folder says in its `mod.rs`
//! in which order to read its files.

mod gates; // 1. gate by gate: slow, and right for every circuit
mod net; // 2. counters that change from a state to the next
mod lanes; // 3. operations on words, one bit a playout
mod native; // 4. these operations as machine code
mod cursor; // 5. one state at a time
mod wide; // 6. many playouts at once
mod machine; // the game

#[cfg(test)]
mod tests;

pub use cursor::MachineCursor;
pub use machine::{Machine, MachineRunner, PlayoutStyle};

//! The fast game: a circuit compiled for evaluation.
//!
//! A [`Machine`] is a [`Game`](ludex_game::Game) whose states are bit sets of fluents. Its cursor moves
//! from a state to the next by telling counters what has changed; nothing is allocated in a playout.
//!
//! Batches of playouts are played side by side: one bit of a 256-bit word is one of them, so that an
//! instruction evaluates a gate for all. Where the processor is one that we know, these instructions are
//! compiled when the game is loaded.
//!
//! Read the modules in this order; each uses only those before it.

mod schedule; // 1. which gates to evaluate for which question, and in which order
mod evaluate; // 2. the values of the gates
mod conjunctions; // 3. gates of one kind
mod effects; // 4. what a move changes
mod split; // 5. conditions in parts
mod refute; // 6. endings that a legal move refutes
mod net; // 7. counters that are told of changes
mod weigh; // 8. which questions are better kept answered
mod assemble; // 9. from the circuit to the net
mod word; // 10. a bit for each of many playouts
mod fuse; // 11. gates evaluated within others
mod tape; // 12. the circuit as a list of operations on words
mod run; // 13. the operations carried out
mod options; // 14. the legal moves of a role in blocks
mod draw; // 15. a random legal move in every lane
mod straight; // 16. the operations as straight-line code
mod emit; // 17. straight-line code as machine code
mod native; // 18. machine code that is called
mod plan; // 19. the tapes for a step
mod code; // 20. the tapes as machine code
mod wide; // 21. many playouts at once
mod cursor; // 22. one state at a time
mod machine; // the game

#[cfg(test)]
mod tests;

pub use cursor::MachineCursor;
pub use machine::{Machine, MachineRunner, PlayoutStyle};

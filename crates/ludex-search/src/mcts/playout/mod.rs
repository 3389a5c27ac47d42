//! How playouts choose their moves.

use ludex_base::{MoveId, Rng};

mod mast;
mod uniform;

pub use mast::Mast;
pub use uniform::Uniform;

/// Chooses the moves of a playout, and may learn from what came out. Each thread has its own.
pub trait PlayoutPolicy: Send {
    /// One of the legal moves of a role; `moves` is not empty.
    fn choose(&mut self, moves: &[MoveId], rng: &mut Rng) -> MoveId;

    /// Learns from a game that was played from the root to its end: joint moves one after the
    /// other, role by role, and the goal of each role. The default learns nothing.
    fn learn(&mut self, _moves: &[MoveId], _goals: &[u8]) {}

    /// Whether every move is equally likely, so that engines may play in batches. The default
    /// says no.
    fn is_uniform(&self) -> bool {
        false
    }
}

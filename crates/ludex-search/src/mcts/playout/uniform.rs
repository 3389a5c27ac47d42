//! The uniform policy: every legal move is equally likely.

use ludex_base::{MoveId, Rng};

use super::{GameRecord, PlayoutPolicy};

/// Draws uniformly.
#[derive(Clone, Copy, Debug)]
pub struct Uniform;

impl PlayoutPolicy for Uniform {
    #[inline]
    fn choose(&mut self, moves: &[MoveId], _game: &GameRecord, rng: &mut Rng) -> MoveId {
        moves[rng.below(moves.len())]
    }

    fn is_uniform(&self) -> bool {
        true
    }
}

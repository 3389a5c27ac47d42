//! Playout policies: how playouts choose their moves.
//!
//! Read `record` (what a policy sees), `draw` (how values become a choice), then the policies.
//! Engines that play many games side by side draw uniformly, so every other policy plays one game
//! at a time.

use ludex_base::{MoveId, Rng};

mod record;
mod draw;
mod means;
mod uniform;
mod mast;
mod nst;
mod past;
mod fast;

pub use draw::Draw;
pub use fast::Fast;
pub use mast::Mast;
pub use nst::Nst;
pub use past::Past;
pub use record::GameRecord;
pub use uniform::Uniform;

/// Chooses the moves of a playout, and may learn from the results. Each thread has its own.
pub trait PlayoutPolicy: Send {
    /// Chooses one of the legal moves of a role, of which there are several.
    ///
    /// `game` has the complete steps so far, and then the moves of the roles that come earlier in
    /// this step.
    fn choose(&mut self, moves: &[MoveId], game: &GameRecord, rng: &mut Rng) -> MoveId;

    /// Learns from a game from the root to its end, or to where it was cut, with the goal of each
    /// role.
    ///
    /// The default learns nothing.
    fn learn(&mut self, _game: &GameRecord, _goals: &[u8]) {}

    /// Whether every move is equally likely, so that engines may play in batches.
    ///
    /// The default is false.
    fn is_uniform(&self) -> bool {
        false
    }

    /// Whether the record of the next game should have the fluents of its states.
    ///
    /// The default is false, because listing them takes time.
    fn wants_fluents(&self) -> bool {
        false
    }

    /// Returns the bytes of its tables. The default is 0.
    fn n_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game of choices, with its first `n_tree_steps` in the tree.
    pub(super) fn game(n_roles: usize, n_tree_steps: usize, moves: &[usize]) -> GameRecord {
        let mut record = GameRecord::default();
        record.clear(n_roles);
        for (idx, &id) in moves.iter().enumerate() {
            if idx == n_tree_steps * n_roles {
                record.leave_tree();
            }
            record.add_move(MoveId::new(id), true);
        }
        record
    }

    #[test]
    fn a_record_tells_steps_and_choices_apart() {
        let mut record = GameRecord::default();
        record.clear(2);
        let ids = [0, 1, 2, 3].map(MoveId::new);
        record.add_move(ids[0], true);
        record.add_move(ids[1], false);
        record.leave_tree();
        record.add_fluents([7, 9].into_iter());
        record.add_move(ids[2], false);
        // The second step is not complete yet.
        assert_eq!((record.n_steps(), record.n_tree_steps()), (1, 1));
        record.add_move(ids[3], true);
        assert_eq!(record.n_steps(), 2);
        assert_eq!(record.chosen(0).collect::<Vec<_>>(), [(0, ids[0])]);
        assert_eq!(record.chosen(1).collect::<Vec<_>>(), [(1, ids[3])]);
        assert_eq!(record.playout_moves(), &ids[2..]);
        assert_eq!((record.fluents(0), record.fluents(1)), (None, Some(&[7, 9][..])));
    }
}

//! The mean reward of each move over all states.

use ludex_base::MoveId;

/// A table by move. It needs no role, because roles have distinct moves.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveMeans {
    /// How often the move was played, and the mean.
    entries: Vec<(u32, f32)>,
}

/// A move that was never played has the best possible value, so that it is tried.
pub(super) const UNKNOWN_MEAN: f32 = 1.0;

impl MoveMeans {
    /// Returns the mean of a move.
    #[inline]
    pub(super) fn value(&self, id: MoveId) -> f32 {
        self.entries.get(id.index()).map_or(UNKNOWN_MEAN, |entry| entry.1)
    }

    /// Returns how often a move was played.
    pub(super) fn n_played(&self, id: MoveId) -> u32 {
        self.entries.get(id.index()).map_or(0, |entry| entry.0)
    }

    /// Adds a game in which a move was played; returns the new mean.
    pub(super) fn add(&mut self, id: MoveId, reward: f32) -> f32 {
        if id.index() >= self.entries.len() {
            self.entries.resize(id.index() + 1, (0, UNKNOWN_MEAN));
        }
        let (n, mean) = &mut self.entries[id.index()];
        *n = n.saturating_add(1);
        *mean += (reward - *mean) / *n as f32;
        *mean
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u32, f32)>()
    }
}

/// Converts a goal to a reward.
pub(super) fn reward(goal: u8) -> f32 {
    f32::from(goal) / 100.0
}

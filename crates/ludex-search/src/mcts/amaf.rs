//! All moves as first: the results of a move wherever it was played later.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::*};

use ludex_base::MoveId;

/// Playouts in which a move was played below a node, and the sum of its role's goals.
///
/// Counting stops long before the sums overflow.
#[derive(Debug, Default)]
pub(crate) struct AmafCell {
    n: AtomicU32,
    goal_sum: AtomicU32,
}

impl AmafCell {
    pub(crate) fn add(&self, goal: u8) {
        if self.n.load(Relaxed) < u32::MAX / 128 {
            self.n.fetch_add(1, Relaxed);
            self.goal_sum.fetch_add(u32::from(goal), Relaxed);
        }
    }

    /// Returns the number of playouts and their mean reward.
    pub(crate) fn read(&self) -> (u32, f32) {
        mean(self.n.load(Relaxed), self.goal_sum.load(Relaxed))
    }
}

/// The same for every move, at one node.
#[derive(Debug, Default)]
pub(crate) struct AmafTable {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    n_playouts: u32,
    /// By move, playouts and goals.
    by_move: Vec<(u32, u32)>,
}

impl AmafTable {
    /// Counts one playout in which these moves were played, each with the goal of its role. Returns
    /// by how many bytes the table grew.
    pub(crate) fn add(&self, played: &[(MoveId, u8)]) -> usize {
        let mut entries = self.entries.lock().expect("no thread panics while holding the lock");
        let before = entries.by_move.len();
        let entries = &mut *entries;
        if entries.n_playouts == u32::MAX / 128 {
            return 0;
        }
        entries.n_playouts += 1;
        for &(id, goal) in played {
            if id.index() >= entries.by_move.len() {
                entries.by_move.resize(id.index() + 1, (0, 0));
            }
            let entry = &mut entries.by_move[id.index()];
            entry.0 += 1;
            entry.1 += u32::from(goal);
        }
        (entries.by_move.len() - before) * size_of::<(u32, u32)>()
    }

    /// Reads the statistics of moves, if the table has more than `min_playouts`.
    pub(crate) fn read(
        &self,
        min_playouts: u32,
        moves: impl Iterator<Item = MoveId>,
        mut take: impl FnMut(u32, f32),
    ) -> bool {
        let entries = self.entries.lock().expect("no thread panics while holding the lock");
        if entries.n_playouts <= min_playouts {
            return false;
        }
        for id in moves {
            let (n, goal_sum) = entries.by_move.get(id.index()).copied().unwrap_or((0, 0));
            let (n, mean) = mean(n, goal_sum);
            take(n, mean);
        }
        true
    }

    pub(crate) fn n_bytes(&mut self) -> usize {
        let entries = self.entries.get_mut().expect("no thread panics while holding the lock");
        entries.by_move.capacity() * size_of::<(u32, u32)>()
    }
}

fn mean(n: u32, goal_sum: u32) -> (u32, f32) {
    (n, if n == 0 { 0.0 } else { goal_sum as f32 / n as f32 / 100.0 })
}

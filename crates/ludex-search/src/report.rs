//! What a search found.

use ludex_base::{MoveId, StopReason};

/// The move to play, and why.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SearchReport {
    /// The move to play; legal. `None` only when the role has no legal move.
    pub chosen: Option<MoveId>,
    /// Every legal move of the role, in the order of the cursor.
    pub moves: Vec<MoveReport>,
    /// The reward that is expected, 0 to 1; `None` when nothing was looked at.
    pub reward: Option<f64>,
    /// Whether that reward is proved under the assumptions the search makes about the others.
    pub is_proven: bool,
    /// Iterations of a Monte Carlo search, nodes visited by a depth-first one.
    pub n_iterations: u64,
    /// Playouts, in whatever batches they came.
    pub n_playouts: u64,
    /// Nodes in memory at the end.
    pub n_nodes: u64,
    /// Bytes that trees and tables take at the end, as far as they are counted.
    pub n_bytes: u64,
    /// The deepest node that was looked at, or the last depth that was completed, in steps below
    /// the root.
    pub depth: u32,
    /// What stopped the search; `None` when there was nothing left to search.
    pub stopped: Option<StopReason>,
    /// The line of play that the search expects: joint moves, role by role.
    pub line: Vec<Vec<MoveId>>,
}

/// What is known about one move of the role that searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub id: MoveId,
    /// How often it was tried.
    pub n_visits: u64,
    /// The mean reward after it, 0 to 1; the last backed-up value in a depth-first search.
    /// `None` when it was never tried.
    pub mean_reward: Option<f64>,
    /// Its exact reward, where that is proved.
    pub proven: Option<f64>,
}

impl MoveReport {
    /// A move of which nothing is known.
    pub fn untried(id: MoveId) -> Self {
        Self { id, n_visits: 0, mean_reward: None, proven: None }
    }
}

impl SearchReport {
    /// The report of a search that has only the list of moves: it plays the first.
    pub fn unsearched(legal: &[MoveId]) -> Self {
        Self {
            chosen: legal.first().copied(),
            moves: legal.iter().map(|&id| MoveReport::untried(id)).collect(),
            ..Self::default()
        }
    }

    /// Whether nothing was looked at: the chosen move is just one of them.
    pub fn is_blank(&self) -> bool {
        self.reward.is_none() && self.n_iterations == 0 && self.n_playouts == 0
    }

    /// What is known about the chosen move.
    pub fn chosen_move(&self) -> Option<&MoveReport> {
        self.moves.iter().find(|it| Some(it.id) == self.chosen)
    }
}

//! What a search found.

use std::time::Duration;

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
    /// What was done on constraint networks, in searches that have them.
    pub network: Option<NetworkWork>,
}

/// What a search did on the constraint networks of states.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetworkWork {
    /// Why there is no network and another search took over; empty when there is one.
    pub note: String,
    /// What was planned where the state is hidden, or why nothing was; empty where it is known.
    pub plan: String,
    /// Networks that were asked: all solutions, or whether there are any.
    pub n_solved: u64,
    /// States whose value is exact by what the networks said.
    pub n_closed: u64,
    /// Time in which states were put into networks.
    pub injection: Duration,
    /// Time in which networks were solved, without injection.
    pub resolution: Duration,
    /// Time in which games were played out.
    pub simulation: Duration,
}

impl NetworkWork {
    /// Adds what was done elsewhere for the same move.
    pub fn add(&mut self, other: &NetworkWork) {
        if self.note.is_empty() {
            self.note.clone_from(&other.note);
        }
        if self.plan.is_empty() {
            self.plan.clone_from(&other.plan);
        }
        self.n_solved += other.n_solved;
        self.n_closed += other.n_closed;
        self.injection += other.injection;
        self.resolution += other.resolution;
        self.simulation += other.simulation;
    }
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

    /// The same report without what a clock measured.
    pub fn without_times(mut self) -> Self {
        if let Some(work) = &mut self.network {
            (work.injection, work.resolution, work.simulation) = Default::default();
        }
        self
    }

    /// The same report, but it keeps away from moves which an earlier search of the same state proved to
    /// be lost, if there are others.
    pub fn respecting(mut self, before: &SearchReport) -> Self {
        let proven = |id| {
            let of = |report: &SearchReport| {
                report.moves.iter().find(|found| found.id == id).and_then(|found| found.proven)
            };
            of(before).or(of(&self))
        };
        let is_lost = |id| proven(id).is_some_and(|reward| reward <= 0.0);
        if self.is_proven || !self.chosen.is_some_and(is_lost) {
            return self;
        }
        let others = self.moves.iter().filter(|found| !is_lost(found.id));
        if let Some(best) = others.max_by_key(|found| found.n_visits).copied() {
            self.chosen = Some(best.id);
            self.reward = best.mean_reward;
            self.line.clear();
        }
        self
    }

    /// What is known about the chosen move.
    pub fn chosen_move(&self) -> Option<&MoveReport> {
        self.moves.iter().find(|it| Some(it.id) == self.chosen)
    }
}

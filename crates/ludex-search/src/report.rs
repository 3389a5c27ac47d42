//! What a search found.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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
    /// What the kind of search adds.
    pub extension: Option<Extension>,
}

/// What one kind of search adds to its reports.
pub trait ReportExtension: Any + fmt::Debug + Send + Sync {
    /// What this and another report of the same kind say together.
    fn joined(&self, other: &dyn ReportExtension) -> Extension;

    /// The same without what a clock measured.
    fn without_times(&self) -> Extension;

    /// Whether another report says the same.
    fn equals(&self, other: &dyn ReportExtension) -> bool;
}

/// An extension of a report, of whatever kind.
#[derive(Clone, Debug)]
pub struct Extension(Arc<dyn ReportExtension>);

impl Extension {
    /// An extension of a report.
    pub fn new(extension: impl ReportExtension) -> Self {
        Self(Arc::new(extension))
    }

    /// What two reports say together.
    pub fn joined(&self, other: &Extension) -> Extension {
        self.0.joined(&*other.0)
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
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
        self.extension = self.extension.map(|it| it.0.without_times());
        self
    }

    /// What one kind of search added; `None` where another kind searched.
    pub fn extension<T: ReportExtension>(&self) -> Option<&T> {
        let extension: &dyn Any = &*self.extension.as_ref()?.0;
        extension.downcast_ref()
    }

    /// The same report with what a kind of search adds, in place of what was there.
    pub fn extended(self, extension: impl ReportExtension) -> Self {
        Self { extension: Some(Extension::new(extension)), ..self }
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

//! The result of a search.

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
    /// The expected reward, 0 to 1; `None` if nothing was searched.
    pub reward: Option<f64>,
    /// Whether that reward is proved under the assumptions of the search about the other roles.
    pub is_proven: bool,
    /// Iterations of a Monte Carlo search, nodes visited by a depth-first one.
    pub n_iterations: u64,
    /// Playouts, single or in batches.
    pub n_playouts: u64,
    /// Nodes in memory at the end.
    pub n_nodes: u64,
    /// Bytes of trees and tables at the end, as far as the search counts them.
    pub n_bytes: u64,
    /// The depth of the deepest node visited, or the last depth completed, in steps below the root.
    pub depth: u32,
    /// What stopped the search; `None` if there was nothing left to search.
    pub stopped: Option<StopReason>,
    /// The expected line of play, as joint moves.
    pub line: Vec<Vec<MoveId>>,
    /// Data that only this kind of search reports.
    pub extension: Option<Extension>,
}

/// Data that one kind of search adds to its reports.
pub trait ReportExtension: Any + fmt::Debug + Send + Sync {
    /// Combines this with another extension of the same kind.
    fn joined(&self, other: &dyn ReportExtension) -> Extension;

    /// Returns the extension without measured times.
    fn without_times(&self) -> Extension;

    /// Whether another extension holds the same data.
    fn equals(&self, other: &dyn ReportExtension) -> bool;
}

/// An extension of a report, of any kind.
#[derive(Clone, Debug)]
pub struct Extension(Arc<dyn ReportExtension>);

impl Extension {
    /// Wraps an extension.
    pub fn new(extension: impl ReportExtension) -> Self {
        Self(Arc::new(extension))
    }

    /// Combines two extensions of the same kind.
    pub fn joined(&self, other: &Extension) -> Extension {
        self.0.joined(&*other.0)
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

/// The result for one move of the searching role.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub id: MoveId,
    /// How often the search tried it.
    pub n_visits: u64,
    /// The mean reward after it, 0 to 1; in a depth-first search, the last backed-up value. `None`
    /// if it was never tried.
    pub mean_reward: Option<f64>,
    /// Its exact reward, if proved.
    pub proven: Option<f64>,
}

impl MoveReport {
    /// A move without results.
    pub fn untried(id: MoveId) -> Self {
        Self { id, n_visits: 0, mean_reward: None, proven: None }
    }
}

impl SearchReport {
    /// A report of the bare list of moves, which plays the first.
    pub fn unsearched(legal: &[MoveId]) -> Self {
        Self {
            chosen: legal.first().copied(),
            moves: legal.iter().map(|&id| MoveReport::untried(id)).collect(),
            ..Self::default()
        }
    }

    /// Whether nothing was searched, so that the chosen move is arbitrary.
    pub fn is_blank(&self) -> bool {
        self.reward.is_none() && self.n_iterations == 0 && self.n_playouts == 0
    }

    /// Returns the report without measured times.
    pub fn without_times(mut self) -> Self {
        self.extension = self.extension.map(|it| it.0.without_times());
        self
    }

    /// Returns the extension of type `T`; `None` if another kind of search made the report.
    pub fn extension<T: ReportExtension>(&self) -> Option<&T> {
        let extension: &dyn Any = &*self.extension.as_ref()?.0;
        extension.downcast_ref()
    }

    /// Returns the report with this extension, replacing any other.
    pub fn extended(self, extension: impl ReportExtension) -> Self {
        Self { extension: Some(Extension::new(extension)), ..self }
    }

    /// Replaces a chosen move that this or an earlier search of the same state proved lost, if there
    /// is another; a proved report stays as it is.
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

    /// Returns the result for the chosen move.
    pub fn chosen_move(&self) -> Option<&MoveReport> {
        self.moves.iter().find(|it| Some(it.id) == self.chosen)
    }
}

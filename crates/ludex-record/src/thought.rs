//! How a player chose a move.

use std::time::Duration;

use ludex_player::{NetworkWork, Rung, Thought};
use serde::{Deserialize, Serialize};

use crate::numbers::{duration, round, seconds};

/// A player's account of its choice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThoughtReport {
    /// The rung of the fallback ladder that chose the move.
    pub rung: String,
    /// The search; empty if none ran.
    pub search: String,
    /// The expected goal, 0 to 100.
    pub goal: Option<f64>,
    /// Whether the expected goal is proved.
    pub proven: bool,
    /// Iterations or nodes.
    pub iterations: u64,
    /// Playouts.
    pub playouts: u64,
    /// Depth of the search, in steps.
    pub depth: u32,
    /// The expected line of play, as joint moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<Vec<String>>,
    /// Why the rungs above failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Work on constraint networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkReport>,
}

/// Work of a search on constraint networks, with times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetworkReport {
    /// Networks solved.
    pub solved: u64,
    /// Subtrees closed.
    pub closed: u64,
    /// Time to inject states into networks.
    pub injection: f64,
    /// Time to solve networks.
    pub resolution: f64,
    /// Time for playouts.
    pub simulation: f64,
    /// Networks not solved, because that of a symmetric state was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub symmetric: u64,
    /// Time for symmetric states.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub symmetry: f64,
    /// The plan followed; empty if there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// Why there was no network; empty if there was one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl ThoughtReport {
    /// Converts a thought.
    pub fn of(thought: &Thought) -> Self {
        Self {
            rung: thought.rung.name().into(),
            search: thought.search.clone(),
            goal: thought.goal.map(round),
            proven: thought.is_proven,
            iterations: thought.n_iterations,
            playouts: thought.n_playouts,
            depth: thought.depth,
            line: thought.line.clone(),
            note: thought.note.clone(),
            network: thought.network.as_ref().map(NetworkReport::of),
        }
    }

    /// Converts back. The time since the player was asked is not in the report.
    ///
    /// `None` for a rung that does not exist.
    pub fn to_thought(&self) -> Option<Thought> {
        Some(Thought {
            rung: Rung::ALL.into_iter().find(|rung| rung.name() == self.rung)?,
            search: self.search.clone(),
            goal: self.goal,
            is_proven: self.proven,
            n_iterations: self.iterations,
            n_playouts: self.playouts,
            depth: self.depth,
            line: self.line.clone(),
            time: Duration::ZERO,
            note: self.note.clone(),
            network: self.network.as_ref().map(NetworkReport::to_work),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_no_time(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl NetworkReport {
    /// Converts back.
    fn to_work(&self) -> NetworkWork {
        NetworkWork {
            note: self.note.clone(),
            plan: self.plan.clone(),
            n_solved: self.solved,
            n_closed: self.closed,
            injection: duration(self.injection),
            resolution: duration(self.resolution),
            simulation: duration(self.simulation),
            n_symmetric: self.symmetric,
            symmetry: duration(self.symmetry),
        }
    }

    /// Converts the work that a search reports.
    pub fn of(work: &NetworkWork) -> Self {
        Self {
            solved: work.n_solved,
            closed: work.n_closed,
            injection: seconds(work.injection),
            resolution: seconds(work.resolution),
            simulation: seconds(work.simulation),
            symmetric: work.n_symmetric,
            symmetry: seconds(work.symmetry),
            plan: work.plan.clone(),
            note: work.note.clone(),
        }
    }
}

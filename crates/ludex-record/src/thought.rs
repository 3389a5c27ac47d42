//! How a player came to a move.

use ludex_player::NetworkWork;
use ludex_player::Thought;
use serde::{Deserialize, Serialize};

use crate::numbers::{round, seconds};

/// What a player says about its choice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThoughtReport {
    /// How far down the ladder the move was made.
    pub rung: String,
    /// What searched; empty when nothing did.
    pub search: String,
    /// The goal that is expected, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that is proved.
    pub proven: bool,
    /// Iterations or nodes.
    pub iterations: u64,
    /// Playouts.
    pub playouts: u64,
    /// How deep it looked, in steps.
    pub depth: u32,
    /// The line of play it expects: joint moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<Vec<String>>,
    /// Why the rungs above were left.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What was done on constraint networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkReport>,
}

/// What a search did on constraint networks, times in seconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetworkReport {
    /// Networks solved.
    pub solved: u64,
    /// Subtrees closed.
    pub closed: u64,
    /// Time to put states into networks.
    pub injection: f64,
    /// Time to solve them.
    pub resolution: f64,
    /// Time for playouts.
    pub simulation: f64,
    /// The plan that was followed; empty if there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// Why there was no network; empty if there was one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl ThoughtReport {
    /// The counterpart of a thought.
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
}

impl NetworkReport {
    /// The counterpart of what a search reports.
    pub fn of(work: &NetworkWork) -> Self {
        Self {
            solved: work.n_solved,
            closed: work.n_closed,
            injection: seconds(work.injection),
            resolution: seconds(work.resolution),
            simulation: seconds(work.simulation),
            plan: work.plan.clone(),
            note: work.note.clone(),
        }
    }
}

//! What the page gets of a match, as JSON.

use ludex_board::Touches;
use serde::Serialize;

use crate::sheet::RoleView;
use crate::store::{SeatPlan, StoredThought};

/// A match as one viewer sees it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MatchView {
    /// Grows with every change.
    pub version: u64,
    /// Its name in links.
    pub id: String,
    /// The title of its game.
    pub title: String,
    /// What the match does.
    pub status: Status,
    /// An explanation of the status; mostly empty.
    pub message: String,
    /// Whether roles see only a part of the state.
    pub is_hidden: bool,
    /// The roles.
    pub roles: Vec<RoleView>,
    /// Who plays them.
    pub seats: Vec<SeatPlan>,
    /// Finished steps.
    pub n_steps: usize,
    /// The goals of the roles, if the game has come to its end.
    pub goals: Option<Vec<u8>>,
    /// The role that gave up, if one has.
    pub resigned: Option<usize>,
    /// When the time of people for their move is over, in milliseconds since 1970.
    pub clock_end: Option<u64>,
    /// The state as an image, if the viewer may see it.
    pub svg: Option<String>,
    /// The roles that the state names as the ones to move.
    pub turn: Vec<usize>,
    /// The choices that people have to make and the viewer may see.
    pub pending: Vec<PendingView>,
    /// The steps, as far as the viewer may see them.
    pub history: Vec<StepView>,
}

/// What a match does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The engine is being built.
    Loading,
    /// People have to choose.
    Waiting,
    /// Players search.
    Thinking,
    /// The game is over.
    Over,
    /// The match cannot go on.
    Failed,
}

/// A choice of a person.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PendingView {
    /// The number of the role.
    pub role: usize,
    /// The legal moves, sorted by text.
    pub moves: Vec<MoveView>,
}

/// A legal move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MoveView {
    /// The move as the rulesheet writes it.
    pub text: String,
    /// The cells that it names.
    pub touches: Touches,
}

/// A finished step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StepView {
    /// The move of each role that the viewer may see.
    pub moves: Vec<Option<String>>,
    /// What the viewer's role saw, in a game with hidden information.
    pub percepts: Vec<String>,
    /// What the players expected, if the viewer may know.
    pub thoughts: Vec<Option<StoredThought>>,
}

/// A state of a match, to step back and forth.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StateView {
    /// Steps before it.
    pub step: usize,
    /// The state as an image.
    pub svg: String,
    /// Its fluents.
    pub fluents: Vec<String>,
}

/// What a search says about the moves of a role.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HintView {
    /// The search.
    pub search: String,
    /// The expected goal, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that goal is proved.
    pub is_proven: bool,
    /// Playouts.
    pub n_playouts: u64,
    /// The moves, the best first.
    pub moves: Vec<HintMove>,
}

/// A move in a hint.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HintMove {
    /// The move.
    pub text: String,
    /// How often the search tried it.
    pub n_visits: u64,
    /// The goal it gives, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that goal is proved.
    pub is_proven: bool,
}

//! The two fixed lines of play of a game, in the format of the recordings of the corpus.

use ludex_game::trace::{End, Line, Step, Trace};
use serde::{Deserialize, Serialize};

/// The two lines of a game, without the names of the engines that checked them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The game.
    pub name: String,
    /// SHA-256 of the rulesheet.
    pub sha256: String,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<String>,
    /// The initial state; left out if large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<Vec<String>>,
    /// The legal moves in the initial state; left out if there are many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal0: Option<Vec<Vec<String>>>,
    /// The lines.
    pub lines: LineRecords,
}

/// The two lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineRecords {
    /// Each role plays its smallest move.
    pub min: LineRecord,
    /// Each role plays a move that depends on role and step.
    pub mix: LineRecord,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineRecord {
    /// Why the line ends.
    pub end: String,
    /// The states of the line.
    pub steps: Vec<TraceStep>,
}

/// One state of a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceStep {
    /// Number of true fluents.
    pub n: usize,
    /// Hash of the true fluents.
    pub h: String,
    /// Number of legal moves of each role.
    pub l: Vec<usize>,
    /// Hash of the legal moves of each role.
    pub lh: Vec<String>,
    /// 1 if the state is terminal.
    pub t: u8,
    /// The goals of each role.
    pub g: Vec<Vec<u8>>,
    /// The joint move played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<Vec<String>>,
    /// The percepts of each role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s: Option<Vec<Vec<String>>>,
}

impl TraceRecord {
    /// Converts a trace.
    pub fn of(name: &str, sha256: &str, trace: Trace) -> Self {
        Self {
            name: name.into(),
            sha256: sha256.into(),
            roles: trace.roles,
            init: trace.initial,
            legal0: trace.initial_legal,
            lines: LineRecords { min: LineRecord::of(trace.min), mix: LineRecord::of(trace.mix) },
        }
    }
}

impl LineRecord {
    fn of(line: Line) -> Self {
        let steps = line.steps.into_iter().map(TraceStep::of).collect();
        Self { end: end_name(line.end).into(), steps }
    }
}

impl TraceStep {
    fn of(step: Step) -> Self {
        Self {
            n: step.n_fluents,
            h: step.state_hash,
            l: step.n_legal,
            lh: step.legal_hashes,
            t: u8::from(step.is_terminal),
            g: step.goals,
            m: step.joint,
            s: step.percepts,
        }
    }
}

/// Returns why a line ends, in one word.
pub fn end_name(end: End) -> &'static str {
    match end {
        End::Terminal => "terminal",
        End::MaxSteps => "max_steps",
        End::NoLegalMove => "no_legal_move",
        End::Stopped(_) => "cut",
    }
}

//! Recorded lines of play that every engine must reproduce, step by step.
//!
//! The types mirror the files; the README of the corpus explains the fields.

use std::fmt;
use std::fs;
use std::path::Path;

use ludex_base::Deadline;
use ludex_game::trace::{Choice, End, MIN_LINE_STEPS, MIX_LINE_STEPS, Opening, Step, play_line};
use ludex_game::{Describe, Observe};
use serde::Deserialize;

/// The recorded lines of one game.
#[derive(Clone, Debug, Deserialize)]
pub struct Golden {
    /// The stem of the rulesheet.
    pub name: String,
    /// SHA-256 of the rulesheet.
    pub sha256: String,
    /// The roles in order.
    pub roles: Vec<String>,
    /// The initial state, unless it is large.
    pub init: Option<Vec<String>>,
    /// The legal moves in the initial state, unless there are many.
    pub legal0: Option<Vec<Vec<String>>>,
    /// The two recorded lines.
    pub lines: GoldenLines,
}

/// The two recorded lines of a game.
#[derive(Clone, Debug, Deserialize)]
pub struct GoldenLines {
    /// Each role plays its smallest move.
    pub min: GoldenLine,
    /// Each role plays a move that depends on role and step.
    pub mix: GoldenLine,
}

/// One recorded line.
#[derive(Clone, Debug, Deserialize)]
pub struct GoldenLine {
    /// The reason why it ends.
    pub end: String,
    /// The states it passes.
    pub steps: Vec<GoldenStep>,
}

/// One state of a line.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct GoldenStep {
    n: usize,
    h: String,
    l: Vec<usize>,
    lh: Vec<String>,
    t: u8,
    g: Vec<Vec<u8>>,
    m: Option<Vec<String>>,
    s: Option<Vec<Vec<String>>>,
}

/// The first deviation of an engine from the recorded line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// The engine and the recording differ.
    Differs {
        /// The place, such as `min step 3`.
        place: String,
        /// The recorded text.
        expected: String,
        /// The text of the engine.
        found: String,
    },
    /// The deadline was reached before the end of the lines.
    OutOfTime {
        /// The last step compared, such as `min step 3`.
        place: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Differs { place, expected, found } => {
                write!(f, "{place}: expected {expected}, found {found}")
            }
            Mismatch::OutOfTime { place } => write!(f, "out of time at {place}"),
        }
    }
}

impl Golden {
    /// Reads the recording of a game, if there is one.
    ///
    /// # Panics
    /// Panics if the file is not a valid recording.
    pub fn read(shared: &Path, name: &str) -> Option<Golden> {
        let text = fs::read_to_string(shared.join("golden").join(format!("{name}.json"))).ok()?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}.json: {error}")))
    }

    /// Returns the number of recorded steps, all of which [`compare`] checks.
    pub fn n_steps(&self) -> usize {
        self.lines.min.steps.len() + self.lines.mix.steps.len()
    }
}

/// Replays the recorded lines and compares every step.
///
/// # Errors
/// Returns the first difference, or the place where the deadline was reached.
pub fn compare<G>(game: &G, golden: &Golden, deadline: &Deadline) -> Result<(), Mismatch>
where
    G: Describe,
    G::Cursor: Observe,
{
    let opening = Opening::of(game);
    same("roles", &golden.roles, &opening.roles)?;
    same("init", &golden.init, &opening.fluents)?;
    same("legal0", &golden.legal0, &opening.legal)?;
    compare_line(game, "min", Choice::Min, MIN_LINE_STEPS, &golden.lines.min, deadline)?;
    compare_line(game, "mix", Choice::Mix, MIX_LINE_STEPS, &golden.lines.mix, deadline)
}

fn compare_line<G>(
    game: &G,
    name: &str,
    choice: Choice,
    max_steps: usize,
    golden: &GoldenLine,
    deadline: &Deadline,
) -> Result<(), Mismatch>
where
    G: Describe,
    G::Cursor: Observe,
{
    // A recording that was cut short says nothing about later states, nor about the move played in
    // its last state.
    let is_cut = golden.end == "cut";
    let max_steps = if is_cut { golden.steps.len() - 1 } else { max_steps };
    let line = play_line(game, choice, max_steps, deadline);
    for (step_idx, (golden, step)) in golden.steps.iter().zip(&line.steps).enumerate() {
        let is_last = step_idx + 1 == line.steps.len();
        let mut step = counterpart(step);
        let mut golden = golden.clone();
        if is_last && (is_cut || matches!(line.end, End::Stopped(_))) {
            (golden.m, golden.s) = (None, None);
            (step.m, step.s) = (None, None);
        }
        same(&format!("{name} step {step_idx}"), &golden, &step)?;
    }
    if matches!(line.end, End::Stopped(_)) {
        return Err(Mismatch::OutOfTime { place: format!("{name} step {}", line.steps.len() - 1) });
    }
    same(&format!("length of {name}"), &golden.steps.len(), &line.steps.len())?;
    let end = match line.end {
        End::Terminal => "terminal",
        End::NoLegalMove => "no_legal_move",
        End::MaxSteps if is_cut => "cut",
        End::MaxSteps => "max_steps",
        End::Stopped(_) => "stopped",
    };
    same(&format!("end of {name}"), &golden.end.as_str(), &end)
}

fn counterpart(step: &Step) -> GoldenStep {
    GoldenStep {
        n: step.n_fluents,
        h: step.state_hash.clone(),
        l: step.n_legal.clone(),
        lh: step.legal_hashes.clone(),
        t: u8::from(step.is_terminal),
        g: step.goals.clone(),
        m: step.joint.clone(),
        s: step.percepts.clone(),
    }
}

fn same<T: PartialEq + fmt::Debug>(place: &str, expected: &T, found: &T) -> Result<(), Mismatch> {
    if expected == found {
        return Ok(());
    }
    let show = |value: &T| {
        let mut text = format!("{value:?}");
        if let Some((end, _)) = text.char_indices().nth(600) {
            text.truncate(end);
            text.push('…');
        }
        text
    };
    let (expected, found) = (show(expected), show(found));
    Err(Mismatch::Differs { place: place.into(), expected, found })
}

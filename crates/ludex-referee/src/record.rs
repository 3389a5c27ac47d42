//! What happened in a match, in words that outlive the engine that played it.

use std::time::Duration;

use ludex_base::{Goal, MoveId, RoleId, Seed};
use ludex_game::{Cursor, Describe};
use ludex_player::Thought;

/// The clocks of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Before the first move.
    pub start: Duration,
    /// For each move.
    pub play: Duration,
}

/// One match from beginning to end.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchRecord {
    /// Its number in the series.
    pub number: usize,
    /// Where the moves of `random`, and those in place of moves that were not made, come from.
    pub seed: Seed,
    /// The clocks.
    pub clocks: Clocks,
    /// One a role, in the order of the rulesheet.
    pub seats: Vec<SeatRecord>,
    /// One a joint move.
    pub steps: Vec<StepRecord>,
    /// How it ended.
    pub ending: Ending,
    /// Goals at the end, in role order.
    pub goals: Vec<Goal>,
    /// How long it took, the start clock included.
    pub time: Duration,
}

/// One role and who played it.
#[derive(Clone, PartialEq, Debug)]
pub struct SeatRecord {
    /// The role.
    pub role: String,
    /// The player's name; `None` for `random`, which the referee plays.
    pub player: Option<String>,
    /// What went wrong before the first move.
    pub lapse: Option<Lapse>,
    /// How long it prepared.
    pub start_time: Duration,
}

/// One joint move.
#[derive(Clone, PartialEq, Debug)]
pub struct StepRecord {
    /// What was played, in role order.
    pub moves: Vec<String>,
    /// What each seat did about it; `None` for `random`.
    pub answers: Vec<Option<AnswerRecord>>,
    /// When it was played, counted from the beginning of the match.
    pub at: Duration,
}

/// How one seat came to its move.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerRecord {
    /// From the question to the answer.
    pub time: Duration,
    /// What went wrong, so that a random legal move was played instead.
    pub lapse: Option<Lapse>,
    /// What the player says about its choice.
    pub thought: Option<Thought>,
}

/// What a seat did wrong. The referee plays a random legal move for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lapse {
    /// The move is not legal here.
    Illegal(String),
    /// The answer came after the clock.
    Late,
    /// No answer at all: the player broke down, or there was no reaching it.
    Failed(String),
}

/// How a match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// In a terminal state.
    Terminal,
    /// The rules left a role without a move before the end.
    Stuck,
    /// It had more steps than are allowed.
    TooLong,
    /// The rules could not be evaluated.
    Fault,
    /// It was stopped from outside.
    Interrupted,
}

impl Ending {
    /// The ending in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Terminal => "terminal",
            Ending::Stuck => "stuck",
            Ending::TooLong => "too-long",
            Ending::Fault => "fault",
            Ending::Interrupted => "interrupted",
        }
    }
}

impl MatchRecord {
    /// What went wrong at a role, in order.
    pub fn lapses(&self, role: RoleId) -> impl Iterator<Item = &Lapse> {
        let idx = role.index();
        let answers = self.steps.iter().filter_map(move |step| step.answers[idx].as_ref());
        self.seats[idx].lapse.iter().chain(answers.filter_map(|answer| answer.lapse.as_ref()))
    }
}

/// Why a record does not fit a game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("step {step}: `{text}` is not legal for {role}")]
pub struct ReplayError {
    /// The step, from 0.
    pub step: usize,
    /// Whose move it is.
    pub role: String,
    /// The move.
    pub text: String,
}

/// Plays a record again and gives the goals of the state it ends in.
///
/// # Errors
/// When a move of the record is not legal where it was played.
pub fn replay<G: Describe>(game: &G, record: &MatchRecord) -> Result<Vec<Goal>, ReplayError> {
    let mut cursor = game.cursor();
    for (step, played) in record.steps.iter().enumerate() {
        let mut joint = Vec::new();
        for role in game.role_ids() {
            let text = played.moves.get(role.index()).map_or("", String::as_str);
            let found = find_move(game, &mut cursor, role, text).ok_or_else(|| ReplayError {
                step,
                role: game.roles()[role.index()].name.clone(),
                text: text.into(),
            })?;
            joint.push(found);
        }
        cursor.play(&joint);
    }
    Ok(game.role_ids().map(|role| cursor.goal(role)).collect())
}

/// The legal move of a role with this text.
pub(crate) fn find_move<G: Describe>(
    game: &G,
    cursor: &mut G::Cursor,
    role: RoleId,
    text: &str,
) -> Option<MoveId> {
    cursor.legal_moves(role).iter().copied().find(|&id| game.move_text(id) == text)
}

//! The record of a match, as text that is readable without the engine that played it.

use std::time::Duration;

use ludex_base::{Goal, MoveId, RoleId, Seed};
use ludex_game::{Cursor, Describe};
use ludex_player::Thought;

/// The clocks of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Time before the first move.
    pub start: Duration,
    /// Time for each move.
    pub play: Duration,
}

/// One match from beginning to end.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchRecord {
    /// The number of the match in its series.
    pub number: usize,
    /// Seed of the moves of `random` and of the moves that replace illegal, late and missing ones.
    pub seed: Seed,
    /// The clocks.
    pub clocks: Clocks,
    /// One seat per role, in the order of the rulesheet.
    pub seats: Vec<SeatRecord>,
    /// One step per joint move.
    pub steps: Vec<StepRecord>,
    /// Why the match ended.
    pub ending: Ending,
    /// What went wrong, if the game panicked: the step and the message.
    pub fault: Option<String>,
    /// Goals at the end, in role order.
    pub goals: Vec<Goal>,
    /// Duration of the match, including the start clock.
    pub time: Duration,
}

/// One role and its player.
#[derive(Clone, PartialEq, Debug)]
pub struct SeatRecord {
    /// The role.
    pub role: String,
    /// The player's name; `None` for `random`, which the referee plays.
    pub player: Option<String>,
    /// The lapse before the first move, if any.
    pub lapse: Option<Lapse>,
    /// Time the player took to prepare.
    pub start_time: Duration,
}

/// One joint move.
#[derive(Clone, PartialEq, Debug)]
pub struct StepRecord {
    /// The moves, in role order.
    pub moves: Vec<String>,
    /// How each seat answered; `None` for `random`.
    pub answers: Vec<Option<AnswerRecord>>,
    /// Time of the step, counted from the beginning of the match.
    pub at: Duration,
}

/// How one seat answered the request for a move.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerRecord {
    /// Time from the request to the answer.
    pub time: Duration,
    /// The lapse for which a random legal move was played instead.
    pub lapse: Option<Lapse>,
    /// The player's account of its choice.
    pub thought: Option<Thought>,
}

/// A missing, late or illegal answer; the referee plays a random legal move instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lapse {
    /// The move is not legal in this state.
    Illegal(String),
    /// The answer came after the deadline.
    Late,
    /// There was no answer: the player failed or could not be reached.
    Failed(String),
}

/// Why a match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It reached a terminal state.
    Terminal,
    /// A role had no legal move in a state that is not terminal.
    Stuck,
    /// It reached the step limit.
    TooLong,
    /// The rules could not be evaluated.
    Fault,
    /// It was stopped from outside.
    Interrupted,
}

impl Ending {
    /// All endings.
    pub const ALL: [Ending; 5] =
        [Ending::Terminal, Ending::Stuck, Ending::TooLong, Ending::Fault, Ending::Interrupted];

    /// Returns the ending in one word, for reports.
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
    /// Returns the lapses of a role, in order.
    pub fn lapses(&self, role: RoleId) -> impl Iterator<Item = &Lapse> {
        let idx = role.index();
        let answers = self.steps.iter().filter_map(move |step| step.answers[idx].as_ref());
        self.seats[idx].lapse.iter().chain(answers.filter_map(|answer| answer.lapse.as_ref()))
    }
}

/// A move of a record is not legal in the game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("step {step}: `{text}` is not legal for {role}")]
pub struct ReplayError {
    /// The step, from 0.
    pub step: usize,
    /// The role that moves.
    pub role: String,
    /// The move.
    pub text: String,
}

/// Replays a record and returns the goals of its last state.
///
/// # Errors
/// When a move of the record is not legal in the state where it was played.
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

/// Finds the legal move of a role with this text.
pub(crate) fn find_move<G: Describe>(
    game: &G,
    cursor: &mut G::Cursor,
    role: RoleId,
    text: &str,
) -> Option<MoveId> {
    cursor.legal_moves(role).iter().copied().find(|&id| game.move_text(id) == text)
}

//! Two fixed lines of play, for comparing independent engines.
//!
//! Texts, and never ids, decide which moves are played, so the lines do not depend on the engine:
//! moves are sorted by the bytes of their text, `min` plays the first, and `mix` one that depends
//! on the step and the role alone.

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use sha2::{Digest, Sha256};

use crate::game::{Cursor, Describe, Observe};

/// Longest line of [`Choice::Min`], in joint moves.
pub const MIN_LINE_STEPS: usize = 20;
/// Longest line of [`Choice::Mix`], in joint moves.
pub const MIX_LINE_STEPS: usize = 40;
/// A trace omits the initial state or the initial legal moves if they have more texts than this.
pub const MAX_LISTED: usize = 400;

/// How a line of play chooses its moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Each role plays its smallest move.
    Min,
    /// Role `i` at step `t` plays the move at position `(7919(t+1) + 104729(i+1)) mod k` of its
    /// `k` moves.
    Mix,
}

/// The two lines of one game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The names of the roles.
    pub roles: Vec<String>,
    /// The initial state, unless it has more than [`MAX_LISTED`] fluents.
    pub initial: Option<Vec<String>>,
    /// The legal moves of each role in the initial state, unless there are more than
    /// [`MAX_LISTED`].
    pub initial_legal: Option<Vec<Vec<String>>>,
    /// The line of [`Choice::Min`].
    pub min: Line,
    /// The line of [`Choice::Mix`].
    pub mix: Line,
}

/// One line of play.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Why it ends.
    pub end: End,
    /// The states of the line, from the initial one.
    pub steps: Vec<Step>,
}

/// Why a line of play ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The game is over.
    Terminal,
    /// The line reached its step limit.
    MaxSteps,
    /// A role has no legal move in a nonterminal state.
    NoLegalMove,
    /// The deadline was reached.
    Stopped(StopReason),
}

/// One state of a line, and the joint move played there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// How many fluents hold.
    pub n_fluents: usize,
    /// [`hash_texts`] of the fluents.
    pub state_hash: String,
    /// How many legal moves each role has.
    pub n_legal: Vec<usize>,
    /// [`hash_texts`] of the legal moves of each role.
    pub legal_hashes: Vec<String>,
    /// Whether the state is terminal.
    pub is_terminal: bool,
    /// Every goal value of each role, ascending.
    pub goals: Vec<Vec<u8>>,
    /// The move of each role; `None` in the last step.
    pub joint: Option<Vec<String>>,
    /// The percepts of each role after that move; `None` if no role has any.
    pub percepts: Option<Vec<Vec<String>>>,
}

/// Plays the two lines of a game. The deadline is checked at every step and cuts a line short.
pub fn trace<G>(game: &G, deadline: &Deadline) -> Trace
where
    G: Describe,
    G::Cursor: Observe,
{
    let opening = Opening::of(game);
    Trace {
        roles: opening.roles,
        initial: opening.fluents,
        initial_legal: opening.legal,
        min: play_line(game, Choice::Min, MIN_LINE_STEPS, deadline),
        mix: play_line(game, Choice::Mix, MIX_LINE_STEPS, deadline),
    }
}

/// The beginning of a game, as texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The names of the roles.
    pub roles: Vec<String>,
    /// The initial state, unless it has more than [`MAX_LISTED`] fluents.
    pub fluents: Option<Vec<String>>,
    /// The legal moves of each role there, unless there are more than [`MAX_LISTED`].
    pub legal: Option<Vec<Vec<String>>>,
}

impl Opening {
    /// Describes the beginning of a game.
    pub fn of<G: Describe>(game: &G) -> Self {
        let mut cursor = game.cursor();
        let fluents = game.state_texts(cursor.state());
        let mut texts = |role| {
            sorted_moves(game, &mut cursor, role).into_iter().map(|(text, _)| text).collect()
        };
        let legal: Vec<Vec<String>> = game.role_ids().map(&mut texts).collect();
        let n_legal: usize = legal.iter().map(Vec::len).sum();
        Self {
            roles: game.roles().iter().map(|role| role.name.clone()).collect(),
            fluents: (fluents.len() <= MAX_LISTED).then_some(fluents),
            legal: (n_legal <= MAX_LISTED).then_some(legal),
        }
    }
}

/// Plays one line of at most `max_steps` joint moves.
pub fn play_line<G>(game: &G, choice: Choice, max_steps: usize, deadline: &Deadline) -> Line
where
    G: Describe,
    G::Cursor: Observe,
{
    let mut cursor = game.cursor();
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let step_idx = steps.len();
        let legal: Vec<Vec<(String, MoveId)>> =
            game.role_ids().map(|role| sorted_moves(game, &mut cursor, role)).collect();
        let mut step = describe_step(game, &mut cursor, &legal);
        let end = if cursor.has_fault() {
            Some(End::Stopped(StopReason::Fault))
        } else if step.is_terminal {
            Some(End::Terminal)
        } else if step_idx == max_steps {
            Some(End::MaxSteps)
        } else if legal.iter().any(Vec::is_empty) {
            Some(End::NoLegalMove)
        } else if deadline.reached() {
            Some(End::Stopped(StopReason::of_deadline()))
        } else {
            None
        };
        if let Some(end) = end {
            steps.push(step);
            return Line { end, steps };
        }
        let chosen: Vec<&(String, MoveId)> = legal
            .iter()
            .enumerate()
            .map(|(role_idx, moves)| &moves[choice.position(step_idx, role_idx, moves.len())])
            .collect();
        let joint: Vec<MoveId> = chosen.iter().map(|&&(_, id)| id).collect();
        step.joint = Some(chosen.into_iter().map(|(text, _)| text.clone()).collect());
        cursor.play(&joint);
        if cursor.has_fault() {
            steps.push(step);
            return Line { end: End::Stopped(StopReason::Fault), steps };
        }
        let percepts: Vec<Vec<String>> =
            game.role_ids().map(|role| sorted_percepts(game, &cursor, role)).collect();
        step.percepts = percepts.iter().any(|seen| !seen.is_empty()).then_some(percepts);
        steps.push(step);
    }
}

impl Choice {
    /// Returns which of `n_moves` sorted moves a role plays at a step.
    fn position(self, step_idx: usize, role_idx: usize, n_moves: usize) -> usize {
        match self {
            Choice::Min => 0,
            Choice::Mix => (7919 * (step_idx + 1) + 104_729 * (role_idx + 1)) % n_moves,
        }
    }
}

fn describe_step<G: Describe>(
    game: &G,
    cursor: &mut G::Cursor,
    legal: &[Vec<(String, MoveId)>],
) -> Step {
    let fluents = game.state_texts(cursor.state());
    let goals = game
        .role_ids()
        .map(|role| cursor.goals(role).iter().map(|goal| goal.value()).collect())
        .collect();
    Step {
        n_fluents: fluents.len(),
        state_hash: hash_texts(&fluents),
        n_legal: legal.iter().map(Vec::len).collect(),
        legal_hashes: legal
            .iter()
            .map(|moves| hash_texts(moves.iter().map(|(text, _)| text)))
            .collect(),
        is_terminal: cursor.is_terminal(),
        goals,
        joint: None,
        percepts: None,
    }
}

/// Returns the legal moves of a role with their texts, sorted by the bytes of the text.
pub fn sorted_moves<G: Describe>(
    game: &G,
    cursor: &mut G::Cursor,
    role: RoleId,
) -> Vec<(String, MoveId)> {
    let mut moves: Vec<(String, MoveId)> =
        cursor.legal_moves(role).iter().map(|&id| (game.move_text(id), id)).collect();
    moves.sort();
    moves
}

/// Returns the percepts of a role after the last joint move, as texts sorted by bytes.
pub fn sorted_percepts<G>(game: &G, cursor: &G::Cursor, role: RoleId) -> Vec<String>
where
    G: Describe,
    G::Cursor: Observe,
{
    let mut texts: Vec<String> =
        cursor.percepts(role).iter().map(|&id| game.percept_text(id)).collect();
    texts.sort();
    texts
}

/// Returns the first 16 hexadecimal digits of the SHA-256 of the texts, each followed by a newline.
pub fn hash_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.as_ref());
        hasher.update(b"\n");
    }
    hasher.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::Nim;

    #[test]
    fn hashes_match_the_published_convention() {
        // The published hash of a role whose one legal move is `noop`.
        assert_eq!(hash_texts(["noop"]), "f42479bb81279167");
    }

    #[test]
    fn both_lines_of_nim_end() {
        let game = Nim::new(&[2, 1]);
        let trace = trace(&game, &Deadline::never());
        assert_eq!(trace.roles, ["first", "second"]);
        assert_eq!(trace.initial, Some(vec!["(heaps 2 1)".into(), "(turn 0)".into()]));
        assert_eq!(trace.min.end, End::Terminal);
        let played: Vec<String> = trace
            .min
            .steps
            .iter()
            .filter_map(|step| step.joint.clone())
            .map(|joint| joint.join(" "))
            .collect();
        assert_eq!(played, ["(take 0 1) noop", "noop (take 0 1)", "(take 1 1) noop"]);
        assert_eq!(trace.mix.steps[0].n_legal, [3, 1]);
        assert_eq!(
            trace.min.steps.last().map(|step| step.goals.clone()),
            Some(vec![vec![100], vec![0]])
        );
    }

    #[test]
    fn a_line_stops_at_its_length() {
        let game = Nim::new(&[9, 9]);
        let line = play_line(&game, Choice::Mix, 2, &Deadline::never());
        assert_eq!((line.end, line.steps.len()), (End::MaxSteps, 3));
        assert!(line.steps[2].joint.is_none());
    }
}

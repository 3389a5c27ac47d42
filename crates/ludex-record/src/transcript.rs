//! A random play, written down in full for review when rules or engines change.

use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::trace::{hash_texts, sorted_moves, sorted_percepts};
use ludex_game::{Cursor, Describe, Observe, PlayEnd, PlayVisitor, RandomPlay, stop_if};
use serde::{Deserialize, Serialize};

/// Step limit of the transcripts in `games/`.
pub const RECORDED_STEPS: usize = 60;

/// One random play.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// The game.
    pub name: String,
    /// The seed of the random moves.
    pub seed: u64,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<String>,
    /// The states, from the initial one.
    pub states: Vec<TranscriptState>,
    /// Why the play ends with the last state.
    pub ending: TranscriptEnding,
    /// The goals of each role in a terminal state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Vec<Vec<u8>>>,
}

/// One state and the joint move played in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TranscriptState {
    /// The true fluents, sorted.
    pub fluents: Vec<String>,
    /// Hash of the fluents, as in traces.
    pub hash: String,
    /// The legal moves of each role, sorted; empty in a terminal state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub legal: Vec<Vec<String>>,
    /// The joint move played; empty in the last state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<String>,
    /// The percepts of each role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percepts: Vec<Vec<String>>,
}

/// Why a transcript ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TranscriptEnding {
    /// The last state is terminal.
    Terminal,
    /// The play reached the step limit, the deadline or a state that could not be evaluated.
    Cut,
    /// A role has no legal move.
    Stuck,
}

impl Transcript {
    /// Plays one random game of at most `max_steps` joint moves. The deadline is checked at every
    /// step.
    ///
    /// It draws moves from the texts in sorted order, so that every engine plays the same game.
    pub fn of_random_play<G>(
        game: &G,
        name: &str,
        seed: Seed,
        max_steps: usize,
        deadline: &Deadline,
    ) -> Self
    where
        G: Describe,
        G::Cursor: Observe,
    {
        let transcript = Self {
            name: name.into(),
            seed: seed.0,
            roles: game.roles().iter().map(|role| role.name.clone()).collect(),
            states: Vec::new(),
            ending: TranscriptEnding::Cut,
            goals: None,
        };
        let mut writer = Writer { game, transcript, legal: Vec::new(), deadline };
        let mut cursor = game.cursor();
        writer.add_state(&mut cursor);
        let mut play = RandomPlay::within(game.roles().len(), max_steps);
        let end = play.run(&mut cursor, &mut seed.rng(), &mut writer);
        let mut transcript = writer.transcript;
        match end {
            // A state that cannot be evaluated looks like the end of the game.
            _ if cursor.has_fault() => {}
            PlayEnd::Terminal(_) => {
                let goals = |role| cursor.goals(role).iter().map(|goal| goal.value()).collect();
                transcript.goals = Some(game.role_ids().map(goals).collect());
                transcript.ending = TranscriptEnding::Terminal;
            }
            PlayEnd::NoLegalMove(_) => transcript.ending = TranscriptEnding::Stuck,
            PlayEnd::TooLong | PlayEnd::Stopped => {}
        }
        transcript
    }
}

/// Writes the transcript during the play.
struct Writer<'a, G> {
    game: &'a G,
    transcript: Transcript,
    /// The legal moves of the state written last, by role, sorted by their texts.
    legal: Vec<Vec<(String, MoveId)>>,
    deadline: &'a Deadline,
}

impl<G> Writer<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn add_state(&mut self, cursor: &mut G::Cursor) {
        let game = self.game;
        let fluents = game.state_texts(cursor.state());
        let hash = hash_texts(&fluents);
        self.legal.clear();
        if !cursor.is_terminal() {
            self.legal.extend(game.role_ids().map(|role| sorted_moves(game, cursor, role)));
        }
        let texts = |moves: &Vec<(String, MoveId)>| moves.iter().map(|it| it.0.clone()).collect();
        self.transcript.states.push(TranscriptState {
            fluents,
            hash,
            legal: self.legal.iter().map(texts).collect(),
            joint: Vec::new(),
            percepts: Vec::new(),
        });
    }
}

impl<G> PlayVisitor<G::Cursor> for Writer<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn draw(&mut self, _: &mut G::Cursor, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        rng.choose(&self.legal[role.index()]).map(|&(_, id)| id)
    }

    fn after(&mut self, cursor: &mut G::Cursor, joint: &[MoveId], _: &mut Rng) -> ControlFlow<()> {
        let game = self.game;
        let state = self.transcript.states.last_mut().expect("the initial state was added");
        state.joint = joint.iter().map(|&id| game.move_text(id)).collect();
        state.percepts = game.role_ids().map(|role| sorted_percepts(game, cursor, role)).collect();
        self.add_state(cursor);
        stop_if(self.deadline.reached())
    }
}

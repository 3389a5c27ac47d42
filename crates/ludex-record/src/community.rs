//! Match records in the form that the viewers of the community read.
//!
//! Keys and values are those of the reference implementation; the key `ludex` holds what our
//! records add.

use std::time::Duration;

use ludex_base::Seed;
use ludex_game::{Cursor, Describe};
use ludex_protocol::{MoveFault, Term, shortened};
use ludex_referee::{Ending, Lapse, MatchRecord};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::lapses::{by_step, errors};
use crate::numbers::seconds;
use crate::thought::ThoughtReport;

/// Facts about a match that its record does not contain.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// The name of the match.
    pub match_id: String,
    /// An unguessable token of thirty-two letters and digits.
    pub random_token: String,
    /// Start time, in milliseconds since 1970.
    pub start_time: u64,
    /// Preview clock in whole seconds; `None` without a preview.
    pub preview_clock: Option<u64>,
    /// The tournament that the match belongs to.
    pub tournament: Option<String>,
    /// Whether each role was played by a person.
    pub is_person: Vec<bool>,
    /// Whether the players saw scrambled names.
    pub is_scrambled: bool,
    /// The seed of the series, which reproduces it.
    pub series_seed: Seed,
}

/// A match record of the community.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommunityRecord {
    /// The name of the match.
    pub match_id: String,
    /// An unguessable token of thirty-two letters and digits.
    pub random_token: String,
    /// Start time, in milliseconds since 1970.
    pub start_time: u64,
    /// Whether the match reached a terminal state.
    pub is_completed: bool,
    /// Whether the match ended before a terminal state.
    pub is_aborted: bool,
    /// The states, one term each.
    pub states: Vec<String>,
    /// The joint moves.
    pub moves: Vec<Vec<String>>,
    /// Time of each state, in milliseconds since 1970.
    pub state_times: Vec<u64>,
    /// One list for the start and one per step; an empty text stands for no error.
    pub errors: Vec<Vec<String>>,
    /// The goals, if the match was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_values: Option<Vec<u8>>,
    /// Preview clock in whole seconds; -1 without a preview.
    pub preview_clock: i64,
    /// Seconds before the first move.
    pub start_clock: Number,
    /// Seconds for each move.
    pub play_clock: Number,
    /// The players, in role order.
    pub player_names_from_host: Vec<String>,
    /// Whether each player is a person.
    pub is_player_human: Vec<bool>,
    /// The tournament that the match belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tournament_name_from_host: Option<String>,
    /// Whether the players saw scrambled names.
    pub scrambled: bool,
    /// Additions of Ludex; other hosts leave them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ludex: Option<LudexRecord>,
}

/// Additions of Ludex to the record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LudexRecord {
    /// The number of the match in its series.
    pub number: usize,
    /// The seed of the match.
    pub seed: u64,
    /// The seed of the series.
    pub series_seed: u64,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<String>,
    /// Why the match ended.
    pub ending: String,
    /// Duration of the match.
    pub seconds: f64,
    /// Messages of the connection errors that `errors` marks with `CE`.
    pub failures: Vec<String>,
    /// Time of each answer, step by step.
    pub move_times: Vec<Vec<Option<f64>>>,
    /// The players' accounts of their moves, step by step.
    pub reports: Vec<Vec<Option<ThoughtReport>>>,
}

impl CommunityRecord {
    /// Converts a record into the form of the community.
    pub fn of<G: Describe>(game: &G, record: &MatchRecord, about: &Circumstances) -> Self {
        let is_completed = record.ending == Ending::Terminal;
        let steps = || record.steps.iter();
        let moves = steps().map(|step| step.moves.iter().map(|text| spaced(text)).collect());
        let began = record.seats.iter().map(|seat| seat.start_time).max().unwrap_or_default();
        let times = std::iter::once(began).chain(steps().map(|step| step.at));
        Self {
            match_id: about.match_id.clone(),
            random_token: about.random_token.clone(),
            start_time: about.start_time,
            is_completed,
            is_aborted: !is_completed,
            states: states(game, record),
            moves: moves.collect(),
            state_times: times.map(|time| about.start_time + time.as_millis() as u64).collect(),
            errors: errors(record, fault),
            goal_values: is_completed
                .then(|| record.goals.iter().map(|goal| goal.value()).collect()),
            preview_clock: about.preview_clock.map_or(-1, |clock| clock as i64),
            start_clock: clock(record.clocks.start),
            play_clock: clock(record.clocks.play),
            player_names_from_host: (record.seats.iter())
                .map(|seat| shortened(seat.player.as_deref().unwrap_or("random"), MAX_SHOWN))
                .collect(),
            is_player_human: about.is_person.clone(),
            tournament_name_from_host: about.tournament.clone(),
            scrambled: about.is_scrambled,
            ludex: Some(LudexRecord {
                number: record.number,
                seed: record.seed.0,
                series_seed: about.series_seed.0,
                roles: record.seats.iter().map(|seat| seat.role.clone()).collect(),
                ending: record.ending.name().into(),
                seconds: seconds(record.time),
                failures: failures(record),
                move_times: by_step(record, |answer| Some(seconds(answer.time))),
                reports: by_step(record, |answer| answer.thought.as_ref().map(ThoughtReport::of)),
            }),
        }
    }
}

/// Characters of received text that a record keeps.
const MAX_SHOWN: usize = 200;

/// A clock in seconds; whole seconds are written as an integer, like the reference implementation
/// does.
fn clock(time: Duration) -> Number {
    match time.subsec_nanos() {
        0 => time.as_secs().into(),
        _ => Number::from_f64(time.as_secs_f64()).expect("a duration is finite"),
    }
}

/// Replays the moves and writes every state.
fn states<G: Describe>(game: &G, record: &MatchRecord) -> Vec<String> {
    let mut cursor = game.cursor();
    let text = |cursor: &G::Cursor| {
        let mut text = String::from("( ");
        for fluent in game.state_texts(cursor.state()) {
            text.push_str(&spaced(&fluent));
            text.push(' ');
        }
        text + ")"
    };
    let mut states = vec![text(&cursor)];
    for step in &record.steps {
        let moves = game.role_ids().zip(&step.moves);
        let joint: Option<Vec<_>> = moves.map(|(role, text)| game.find_move(role, text)).collect();
        cursor.play(&joint.expect("recorded moves are moves of the game"));
        states.push(text(&cursor));
    }
    states
}

fn fault(lapse: &Lapse) -> String {
    match lapse {
        Lapse::Illegal(text) => format!("IL {}", shortened(&spaced(text), MAX_SHOWN)),
        Lapse::Late => MoveFault::TimeOut.to_string(),
        Lapse::Failed(_) => MoveFault::Connection.to_string(),
    }
}

fn failures(record: &MatchRecord) -> Vec<String> {
    let lapses = record.seats.iter().map(|seat| seat.lapse.as_ref());
    let answers = record.steps.iter().flat_map(|step| step.answers.iter().flatten());
    let lapses = lapses.chain(answers.map(|answer| answer.lapse.as_ref()));
    let mut failures: Vec<String> = lapses
        .filter_map(|lapse| match lapse {
            Some(Lapse::Failed(reason)) => Some(shortened(reason, MAX_SHOWN)),
            _ => None,
        })
        .collect();
    failures.dedup();
    failures
}

/// Writes a term with the blanks of the protocol.
fn spaced(text: &str) -> String {
    Term::read(text).map_or_else(|| text.to_owned(), |term| term.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_whole_numbers_where_they_can_be() {
        let text = |ms: u64| clock(Duration::from_millis(ms)).to_string();
        assert_eq!((text(2000), text(500)), ("2".into(), "0.5".into()));
    }

    #[test]
    fn received_text_is_shortened() {
        let lapse = Lapse::Illegal("x".repeat(100_000));
        assert_eq!(fault(&lapse), format!("IL {}…", "x".repeat(MAX_SHOWN)));
        assert_eq!(fault(&Lapse::Illegal("(mark 1)".into())), "IL ( mark 1 )");
    }
}

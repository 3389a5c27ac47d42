//! Match records in the form that the viewers of the community read.
//!
//! Keys and values are those of the reference implementation; what else a record of ours has is
//! under the key `ludex`.

use std::time::Duration;

use ludex_base::Seed;
use ludex_game::{Cursor, Describe};
use ludex_protocol::{MoveFault, Term, shortened};
use ludex_referee::{AnswerRecord, Ending, Lapse, MatchRecord};
use serde::Serialize;
use serde_json::Number;

use crate::match_report::{ThoughtJson, thought_json};
use crate::output;

/// What a record does not know by itself.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// The name of the match.
    pub match_id: String,
    /// Thirty-two letters and digits that nobody can guess.
    pub random_token: String,
    /// When it began, in milliseconds since 1970.
    pub start_time: u64,
    /// Whole seconds; none if the rules were not shown before.
    pub preview_clock: Option<u64>,
    /// The tournament it belongs to.
    pub tournament: Option<String>,
    /// Which roles a person played.
    pub is_person: Vec<bool>,
    /// Whether names were replaced.
    pub is_scrambled: bool,
    /// The seed of the series, by which it can be repeated.
    pub series_seed: Seed,
}

/// A match record of the community.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordJson {
    match_id: String,
    random_token: String,
    start_time: u64,
    is_completed: bool,
    is_aborted: bool,
    states: Vec<String>,
    moves: Vec<Vec<String>>,
    state_times: Vec<u64>,
    errors: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_values: Option<Vec<u8>>,
    preview_clock: i64,
    start_clock: Number,
    play_clock: Number,
    player_names_from_host: Vec<String>,
    is_player_human: Vec<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament_name_from_host: Option<String>,
    scrambled: bool,
    ludex: ExtraJson,
}

impl RecordJson {
    /// The name of the match.
    pub fn match_id(&self) -> &str {
        &self.match_id
    }
}

/// What only our records have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtraJson {
    number: usize,
    seed: u64,
    series_seed: u64,
    roles: Vec<String>,
    ending: &'static str,
    seconds: f64,
    /// What was wrong with connections, in words, where `errors` has `CE`.
    failures: Vec<String>,
    move_times: Vec<Vec<Option<f64>>>,
    reports: Vec<Vec<Option<ThoughtJson>>>,
}

/// A record as the community has it.
pub fn record_json<G: Describe>(
    game: &G,
    record: &MatchRecord,
    about: &Circumstances,
) -> RecordJson {
    let is_completed = record.ending == Ending::Terminal;
    let steps = || record.steps.iter();
    let began = record.seats.iter().map(|seat| seat.start_time).max().unwrap_or_default();
    let times = std::iter::once(began).chain(steps().map(|step| step.at));
    RecordJson {
        match_id: about.match_id.clone(),
        random_token: about.random_token.clone(),
        start_time: about.start_time,
        is_completed,
        is_aborted: !is_completed,
        states: states(game, record),
        moves: steps().map(|step| step.moves.iter().map(|text| spaced(text)).collect()).collect(),
        state_times: times.map(|time| about.start_time + time.as_millis() as u64).collect(),
        errors: errors(record),
        goal_values: is_completed.then(|| record.goals.iter().map(|goal| goal.value()).collect()),
        preview_clock: about.preview_clock.map_or(-1, |clock| clock as i64),
        start_clock: clock(record.clocks.start),
        play_clock: clock(record.clocks.play),
        player_names_from_host: (record.seats.iter())
            .map(|seat| shortened(seat.player.as_deref().unwrap_or("random"), MAX_SHOWN))
            .collect(),
        is_player_human: about.is_person.clone(),
        tournament_name_from_host: about.tournament.clone(),
        scrambled: about.is_scrambled,
        ludex: ExtraJson {
            number: record.number,
            seed: record.seed.0,
            series_seed: about.series_seed.0,
            roles: record.seats.iter().map(|seat| seat.role.clone()).collect(),
            ending: record.ending.name(),
            seconds: output::seconds(record.time),
            failures: failures(record),
            move_times: by_step(record, |answer| Some(output::seconds(answer.time))),
            reports: by_step(record, thought_json),
        },
    }
}

/// Characters of what a stranger said that a record keeps.
const MAX_SHOWN: usize = 200;

/// A clock in seconds: a whole number where it is one, as the reference implementation has it.
fn clock(time: Duration) -> Number {
    match time.subsec_nanos() {
        0 => time.as_secs().into(),
        _ => Number::from_f64(time.as_secs_f64()).expect("a time is a number"),
    }
}

fn by_step<T>(record: &MatchRecord, take: fn(&AnswerRecord) -> Option<T>) -> Vec<Vec<Option<T>>> {
    let row = |answers: &Vec<Option<AnswerRecord>>| {
        answers.iter().map(|answer| answer.as_ref().and_then(take)).collect()
    };
    record.steps.iter().map(|step| row(&step.answers)).collect()
}

/// Every state, played again from the moves.
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
        cursor.play(&joint.expect("what was played is a move of the game"));
        states.push(text(&cursor));
    }
    states
}

/// One list for the start and one a step; an empty word where nothing was wrong.
fn errors(record: &MatchRecord) -> Vec<Vec<String>> {
    let start = record.seats.iter().map(|seat| fault(seat.lapse.as_ref())).collect();
    let steps = record.steps.iter().map(|step| {
        let lapse = |answer: &Option<AnswerRecord>| {
            fault(answer.as_ref().and_then(|answer| answer.lapse.as_ref()))
        };
        step.answers.iter().map(lapse).collect()
    });
    std::iter::once(start).chain(steps).collect()
}

fn fault(lapse: Option<&Lapse>) -> String {
    match lapse {
        None => String::new(),
        Some(Lapse::Illegal(text)) => format!("IL {}", shortened(&spaced(text), MAX_SHOWN)),
        Some(Lapse::Late) => MoveFault::TimeOut.to_string(),
        Some(Lapse::Failed(_)) => MoveFault::Connection.to_string(),
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

/// A term with the blanks of the wire.
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
    fn what_strangers_say_is_shortened() {
        let lapse = Lapse::Illegal("x".repeat(100_000));
        assert_eq!(fault(Some(&lapse)), format!("IL {}…", "x".repeat(MAX_SHOWN)));
        assert_eq!(fault(Some(&Lapse::Illegal("(mark 1)".into()))), "IL ( mark 1 )");
    }
}

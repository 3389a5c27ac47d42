//! A series of matches and its totals.

use std::time::Duration;

use ludex_base::{Goal, Seed};
use ludex_referee::{
    AnswerRecord, Clocks, Decision, Ending, Estimate, Lapse, MatchRecord, PlayerTally, SeatRecord,
    Series, SeriesEnd, StepRecord, Tally,
};
use serde::{Deserialize, Serialize};

use crate::lapses::{by_step, errors};
use crate::numbers::{duration, round, seconds};
use crate::thought::ThoughtReport;

/// The settings of a series that a report repeats.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The game.
    pub name: String,
    /// The engine.
    pub engine: String,
    /// The clocks.
    pub clocks: Clocks,
    /// Number of matches requested.
    pub count: usize,
    /// Whether all roles always get the same goal, so that nobody can win against another.
    pub is_cooperative: bool,
}

/// The report of a series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeriesReport {
    /// The game.
    pub name: String,
    /// The engine.
    pub machine: String,
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Number of matches requested.
    pub count: usize,
    /// Number of matches played.
    pub played: usize,
    /// Number of matches that did not reach a terminal state.
    pub unfinished: usize,
    /// Why fewer matches were played than requested: `known` or `stopped`.
    pub stopped: Option<String>,
    /// Whether all roles always get the same goal.
    pub cooperative: bool,
    /// The players, in the order in which they were named.
    pub players: Vec<PlayerReport>,
    /// The comparison of two players.
    pub share: Option<ShareReport>,
    /// The matches.
    pub matches: Vec<MatchReport>,
}

/// The results of one player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayerReport {
    /// The name of the player.
    pub name: String,
    /// Seats in matches that reached a terminal state.
    pub seats: usize,
    /// The mean goal.
    pub mean_goal: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Goals above every other role's.
    pub wins: usize,
    /// Goals that tie for the highest.
    pub draws: usize,
    /// All other goals.
    pub losses: usize,
    /// Illegal moves.
    pub illegal: usize,
    /// Answers after the deadline.
    pub late: usize,
    /// Missing answers.
    pub failed: usize,
    /// Moves chosen by a fallback instead of the search.
    pub fallbacks: usize,
    /// Moves asked for.
    pub moves: usize,
}

/// The comparison of two players.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShareReport {
    /// The first player, whose share it is.
    pub player: String,
    /// The share, in percent.
    pub percent: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Number of complete exchanges of seats.
    pub exchanges: usize,
    /// The mean goals of both in each exchange.
    pub goals: Vec<[f64; 2]>,
    /// The stronger player, if the sequential test decided.
    pub stronger: Option<String>,
}

/// One match of a series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    /// The name of the match among all matches, if its settings are known: see [`MatchKey`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The number of the match in its series.
    pub number: usize,
    /// The seed of the match.
    pub seed: u64,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<String>,
    /// The player of each role; `None` for `random`.
    pub players: Vec<Option<String>>,
    /// Why the match ended.
    pub ending: String,
    /// What went wrong, if the game panicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Goals at the end, in role order.
    pub goals: Vec<u8>,
    /// Duration of the match.
    pub seconds: f64,
    /// The joint moves.
    pub moves: Vec<Vec<String>>,
    /// Time of each answer, step by step.
    pub times: Vec<Vec<Option<f64>>>,
    /// Errors: one list for the start and one per step; an empty text stands for no error.
    pub errors: Vec<Vec<String>>,
    /// The players' accounts of their moves, step by step.
    pub reports: Vec<Vec<Option<ThoughtReport>>>,
}

impl SeriesReport {
    /// Builds the report of a series.
    pub fn of(heading: &Heading, series: &Series, tally: &Tally) -> Self {
        let stopped = match series.end {
            SeriesEnd::Complete => None,
            SeriesEnd::Known => Some("known"),
            SeriesEnd::Stopped => Some("stopped"),
        };
        Self {
            name: heading.name.clone(),
            machine: heading.engine.clone(),
            start_clock: heading.clocks.start.as_secs_f64(),
            play_clock: heading.clocks.play.as_secs_f64(),
            count: heading.count,
            played: series.records.len(),
            unfinished: tally.n_unfinished,
            stopped: stopped.map(Into::into),
            cooperative: heading.is_cooperative,
            players: tally.players.iter().map(PlayerReport::of).collect(),
            share: ShareReport::of(heading, series, tally),
            matches: series.records.iter().map(MatchReport::of).collect(),
        }
    }
}

impl PlayerReport {
    fn of(player: &PlayerTally) -> Self {
        Self {
            name: player.name.clone(),
            seats: player.n_seats,
            mean_goal: player.goal.map(|goal| round(goal.mean)),
            ci95: player.goal.map(ends),
            wins: player.n_wins,
            draws: player.n_draws,
            losses: player.n_losses,
            illegal: player.n_illegal,
            late: player.n_late,
            failed: player.n_failed,
            fallbacks: player.n_fallbacks,
            moves: player.n_asked,
        }
    }
}

fn ends(estimate: Estimate) -> [f64; 2] {
    [round(estimate.low), round(estimate.high)]
}

impl ShareReport {
    /// Returns the share of the first player; `None` if all roles always get the same goal.
    pub fn of(heading: &Heading, series: &Series, tally: &Tally) -> Option<Self> {
        let comparison = tally.comparison.as_ref().filter(|_| !heading.is_cooperative)?;
        let percent = comparison.share.scaled(100.0);
        let stronger = match series.decision {
            Decision::First => Some(tally.players[0].name.clone()),
            Decision::Second => Some(tally.players[1].name.clone()),
            Decision::Open => None,
        };
        Some(Self {
            player: tally.players[0].name.clone(),
            percent: round(percent.mean),
            ci95: ends(percent),
            exchanges: comparison.exchanges.len(),
            goals: comparison.exchanges.iter().map(|it| [it.first, it.second]).collect(),
            stronger,
        })
    }
}

impl MatchReport {
    /// Converts a record.
    pub fn of(record: &MatchRecord) -> Self {
        Self {
            id: None,
            number: record.number,
            seed: record.seed.0,
            roles: record.seats.iter().map(|seat| seat.role.clone()).collect(),
            players: record.seats.iter().map(|seat| seat.player.clone()).collect(),
            ending: record.ending.name().into(),
            fault: record.fault.clone(),
            goals: record.goals.iter().map(|goal| goal.value()).collect(),
            seconds: seconds(record.time),
            moves: record.steps.iter().map(|step| step.moves.clone()).collect(),
            times: by_step(record, |answer| Some(seconds(answer.time))),
            errors: errors(record, lapse_text),
            reports: by_step(record, |answer| answer.thought.as_ref().map(ThoughtReport::of)),
        }
    }
}

impl MatchReport {
    /// Converts back into the record of a match with these clocks. When each step was played, and
    /// how long players prepared, is not in the report.
    ///
    /// `None` if the parts of the report do not fit together.
    pub fn to_record(&self, clocks: Clocks) -> Option<MatchRecord> {
        let n_roles = self.roles.len();
        let n_steps = self.moves.len();
        let is_wide = |width: usize| width == n_roles;
        let fits = is_wide(self.players.len())
            && is_wide(self.goals.len())
            && self.errors.len() == n_steps + 1
            && self.times.len() == n_steps
            && self.reports.len() == n_steps
            && self.moves.iter().chain(&self.errors).all(|row| is_wide(row.len()))
            && self.times.iter().all(|row| is_wide(row.len()))
            && self.reports.iter().all(|row| is_wide(row.len()));
        if !fits {
            return None;
        }
        let answer = |step: usize, role: usize| {
            let thought = self.reports[step][role].as_ref().map(ThoughtReport::to_thought);
            Some(AnswerRecord {
                time: duration(self.times[step][role]?),
                lapse: lapse_of(&self.errors[step + 1][role]),
                thought: thought.flatten(),
            })
        };
        let seat = |role: usize| SeatRecord {
            role: self.roles[role].clone(),
            player: self.players[role].clone(),
            lapse: lapse_of(&self.errors[0][role]),
            start_time: Duration::ZERO,
        };
        let step = |step: usize| StepRecord {
            moves: self.moves[step].clone(),
            answers: (0..n_roles).map(|role| answer(step, role)).collect(),
            at: Duration::ZERO,
        };
        Some(MatchRecord {
            number: self.number,
            seed: Seed(self.seed),
            clocks,
            seats: (0..n_roles).map(seat).collect(),
            steps: (0..n_steps).map(step).collect(),
            ending: Ending::ALL.into_iter().find(|ending| ending.name() == self.ending)?,
            fault: self.fault.clone(),
            goals: self.goals.iter().map(|&goal| Goal::new(goal.into())).collect::<Option<_>>()?,
            time: duration(self.seconds),
        })
    }
}

/// Reads what [`lapse_text`] writes.
fn lapse_of(text: &str) -> Option<Lapse> {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("", _) => None,
        ("TO", _) => Some(Lapse::Late),
        ("IL", illegal) => Some(Lapse::Illegal(illegal.into())),
        (_, reason) => Some(Lapse::Failed(reason.into())),
    }
}

/// Writes a lapse as the community does, with the full reason of a failure.
fn lapse_text(lapse: &Lapse) -> String {
    match lapse {
        Lapse::Illegal(text) => format!("IL {text}"),
        Lapse::Late => "TO".into(),
        Lapse::Failed(reason) => format!("CE {reason}"),
    }
}

//! A series of matches and its sums.

use ludex_referee::{
    Clocks, Decision, Estimate, Lapse, MatchRecord, PlayerTally, Series, SeriesEnd, Tally,
};
use serde::{Deserialize, Serialize};

use crate::lapses::{by_step, errors};
use crate::numbers::{round, seconds};
use crate::thought::ThoughtReport;

/// What a series was about.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The game.
    pub name: String,
    /// The engine.
    pub engine: &'static str,
    /// The clocks.
    pub clocks: Clocks,
    /// Matches asked for.
    pub count: usize,
    /// Whether the roles have the same goals, so that nobody beats anybody.
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
    /// Matches asked for.
    pub count: usize,
    /// Matches played.
    pub played: usize,
    /// Matches that did not reach a terminal state.
    pub unfinished: usize,
    /// Why fewer matches were played than asked for: `known` or `stopped`.
    pub stopped: Option<String>,
    /// Whether the roles have the same goals.
    pub cooperative: bool,
    /// The players, in the order in which they were named.
    pub players: Vec<PlayerReport>,
    /// How two players compare.
    pub share: Option<ShareReport>,
    /// The matches.
    pub matches: Vec<MatchReport>,
}

/// The sums of one player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayerReport {
    /// Its name.
    pub name: String,
    /// Seats in matches that ended.
    pub seats: usize,
    /// Its mean goal.
    pub mean_goal: Option<f64>,
    /// The 95 % interval of that.
    pub ci95: Option<[f64; 2]>,
    /// Goals above every other role's.
    pub wins: usize,
    /// Goals that share the highest.
    pub draws: usize,
    /// All others.
    pub losses: usize,
    /// Illegal moves.
    pub illegal: usize,
    /// Answers after the clock.
    pub late: usize,
    /// No answers.
    pub failed: usize,
    /// Moves that were not chosen by the search that was meant to choose.
    pub fallbacks: usize,
    /// Moves asked for.
    pub moves: usize,
}

/// How two players compare.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShareReport {
    /// Whose share it is: the first player's.
    pub player: String,
    /// The share.
    pub percent: f64,
    /// The 95 % interval of that.
    pub ci95: [f64; 2],
    /// Exchanges of seats behind it.
    pub exchanges: usize,
    /// The mean goals of both in each exchange.
    pub goals: Vec<[f64; 2]>,
    /// Who is the stronger, if the sequential test is sure.
    pub stronger: Option<String>,
}

/// One match of a series.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    /// Its number in the series.
    pub number: usize,
    /// Its seed.
    pub seed: u64,
    /// The roles, in the order of the rulesheet.
    pub roles: Vec<String>,
    /// Who played each; `None` for `random`.
    pub players: Vec<Option<String>>,
    /// How it ended.
    pub ending: String,
    /// Goals at the end, in role order.
    pub goals: Vec<u8>,
    /// How long it took.
    pub seconds: f64,
    /// The joint moves.
    pub moves: Vec<Vec<String>>,
    /// How long each answer took, step by step.
    pub times: Vec<Vec<Option<f64>>>,
    /// What went wrong: one list for the start and one a step, empty texts where nothing did.
    pub errors: Vec<Vec<String>>,
    /// What the players say about their moves, step by step.
    pub reports: Vec<Vec<Option<ThoughtReport>>>,
}

impl SeriesReport {
    /// The report of a series with its sums.
    pub fn of(heading: &Heading, series: &Series, tally: &Tally) -> Self {
        let stopped = match series.end {
            SeriesEnd::Complete => None,
            SeriesEnd::Known => Some("known"),
            SeriesEnd::Stopped => Some("stopped"),
        };
        Self {
            name: heading.name.clone(),
            machine: heading.engine.into(),
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
    /// The share of the first player; nobody has one where all have the same goal.
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
    /// The counterpart of a record.
    pub fn of(record: &MatchRecord) -> Self {
        Self {
            number: record.number,
            seed: record.seed.0,
            roles: record.seats.iter().map(|seat| seat.role.clone()).collect(),
            players: record.seats.iter().map(|seat| seat.player.clone()).collect(),
            ending: record.ending.name().into(),
            goals: record.goals.iter().map(|goal| goal.value()).collect(),
            seconds: seconds(record.time),
            moves: record.steps.iter().map(|step| step.moves.clone()).collect(),
            times: by_step(record, |answer| Some(seconds(answer.time))),
            errors: errors(record, lapse_text),
            reports: by_step(record, |answer| answer.thought.as_ref().map(ThoughtReport::of)),
        }
    }
}

/// As match records of the community have it, with the reason of a failure in full.
fn lapse_text(lapse: &Lapse) -> String {
    match lapse {
        Lapse::Illegal(text) => format!("IL {text}"),
        Lapse::Late => "TO".into(),
        Lapse::Failed(reason) => format!("CE {reason}"),
    }
}

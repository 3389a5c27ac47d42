//! Matches as people and programs read them.

use std::fmt::Write as _;

use ludex_player::NetworkWork;
use ludex_referee::{
    AnswerRecord, Clocks, Estimate, Lapse, MatchRecord, PlayerTally, Series, SeriesEnd, Tally,
};
use serde::Serialize;

use crate::output;

/// What a series was about.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The game.
    pub name: String,
    /// The engine.
    pub machine: &'static str,
    /// The clocks.
    pub clocks: Clocks,
    /// Matches asked for.
    pub count: usize,
    /// Whether the roles have the same goals, so that nobody beats anybody.
    pub is_cooperative: bool,
}

/// The report of a series for programs.
#[derive(Serialize)]
pub struct SeriesJson {
    name: String,
    machine: &'static str,
    start_clock: f64,
    play_clock: f64,
    count: usize,
    played: usize,
    unfinished: usize,
    stopped: Option<&'static str>,
    cooperative: bool,
    players: Vec<PlayerJson>,
    share: Option<ShareJson>,
    matches: Vec<MatchJson>,
}

#[derive(Serialize)]
struct PlayerJson {
    name: String,
    seats: usize,
    mean_goal: Option<f64>,
    ci95: Option<[f64; 2]>,
    wins: usize,
    draws: usize,
    losses: usize,
    illegal: usize,
    late: usize,
    failed: usize,
    fallbacks: usize,
    moves: usize,
}

#[derive(Serialize)]
struct ShareJson {
    player: String,
    percent: f64,
    ci95: [f64; 2],
    exchanges: usize,
    /// The mean goals of both in each exchange.
    goals: Vec<[f64; 2]>,
    stronger: Option<String>,
}

#[derive(Serialize)]
struct MatchJson {
    number: usize,
    seed: u64,
    roles: Vec<String>,
    players: Vec<Option<String>>,
    ending: &'static str,
    goals: Vec<u8>,
    seconds: f64,
    moves: Vec<Vec<String>>,
    times: Vec<Vec<Option<f64>>>,
    errors: Vec<Vec<String>>,
    reports: Vec<Vec<Option<ThoughtJson>>>,
}

#[derive(Serialize)]
pub(crate) struct ThoughtJson {
    rung: &'static str,
    search: String,
    goal: Option<f64>,
    proven: bool,
    iterations: u64,
    playouts: u64,
    depth: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    line: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkJson>,
}

/// What a search did on constraint networks, times in seconds.
#[derive(Serialize)]
struct NetworkJson {
    solved: u64,
    closed: u64,
    injection: f64,
    resolution: f64,
    simulation: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    plan: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl NetworkJson {
    fn of(work: &NetworkWork) -> Self {
        Self {
            solved: work.n_solved,
            closed: work.n_closed,
            injection: output::seconds(work.injection),
            resolution: output::seconds(work.resolution),
            simulation: output::seconds(work.simulation),
            plan: work.plan.clone(),
            note: work.note.clone(),
        }
    }
}

/// The report for programs.
pub fn json(heading: &Heading, series: &Series, tally: &Tally) -> SeriesJson {
    SeriesJson {
        name: heading.name.clone(),
        machine: heading.machine,
        start_clock: heading.clocks.start.as_secs_f64(),
        play_clock: heading.clocks.play.as_secs_f64(),
        count: heading.count,
        played: series.records.len(),
        unfinished: tally.n_unfinished,
        stopped: match series.end {
            SeriesEnd::Complete => None,
            SeriesEnd::Known => Some("known"),
            SeriesEnd::Stopped => Some("stopped"),
        },
        cooperative: heading.is_cooperative,
        players: tally.players.iter().map(player_json).collect(),
        share: share_json(heading, series, tally),
        matches: series.records.iter().map(match_json).collect(),
    }
}

fn player_json(player: &PlayerTally) -> PlayerJson {
    PlayerJson {
        name: player.name.clone(),
        seats: player.n_seats,
        mean_goal: player.goal.map(|goal| output::round(goal.mean)),
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

fn ends(estimate: Estimate) -> [f64; 2] {
    [output::round(estimate.low), output::round(estimate.high)]
}

/// Nobody has a share where all have the same goal.
fn share_json(heading: &Heading, series: &Series, tally: &Tally) -> Option<ShareJson> {
    let comparison = tally.comparison.as_ref().filter(|_| !heading.is_cooperative)?;
    let percent = comparison.share.scaled(100.0);
    let stronger = match series.verdict {
        ludex_referee::Verdict::First => Some(tally.players[0].name.clone()),
        ludex_referee::Verdict::Second => Some(tally.players[1].name.clone()),
        ludex_referee::Verdict::Open => None,
    };
    Some(ShareJson {
        player: tally.players[0].name.clone(),
        percent: output::round(percent.mean),
        ci95: ends(percent),
        exchanges: comparison.exchanges.len(),
        goals: comparison.exchanges.iter().map(|it| [it.first, it.second]).collect(),
        stronger,
    })
}

fn match_json(record: &MatchRecord) -> MatchJson {
    let seconds = |time| output::seconds(time);
    let by_step = |take: &dyn Fn(&AnswerRecord) -> Option<ThoughtJson>| {
        let row = |step: &ludex_referee::StepRecord| {
            step.answers.iter().map(|answer| answer.as_ref().and_then(take)).collect()
        };
        record.steps.iter().map(row).collect()
    };
    MatchJson {
        number: record.number,
        seed: record.seed.0,
        roles: record.seats.iter().map(|seat| seat.role.clone()).collect(),
        players: record.seats.iter().map(|seat| seat.player.clone()).collect(),
        ending: record.ending.name(),
        goals: record.goals.iter().map(|goal| goal.value()).collect(),
        seconds: seconds(record.time),
        moves: record.steps.iter().map(|step| step.moves.clone()).collect(),
        times: (record.steps.iter())
            .map(|step| {
                let time =
                    |answer: &Option<AnswerRecord>| answer.as_ref().map(|it| seconds(it.time));
                step.answers.iter().map(time).collect()
            })
            .collect(),
        errors: errors(record),
        reports: by_step(&thought_json),
    }
}

/// As match records of the community have them: one list for the start and one a step, empty words
/// where nothing was wrong.
fn errors(record: &MatchRecord) -> Vec<Vec<String>> {
    let start = record.seats.iter().map(|seat| lapse_text(seat.lapse.as_ref())).collect();
    let steps = record.steps.iter().map(|step| {
        let lapse = |answer: &Option<AnswerRecord>| {
            lapse_text(answer.as_ref().and_then(|answer| answer.lapse.as_ref()))
        };
        step.answers.iter().map(lapse).collect()
    });
    std::iter::once(start).chain(steps).collect()
}

fn lapse_text(lapse: Option<&Lapse>) -> String {
    match lapse {
        None => String::new(),
        Some(Lapse::Illegal(text)) => format!("IL {text}"),
        Some(Lapse::Late) => "TO".into(),
        Some(Lapse::Failed(reason)) => format!("CE {reason}"),
    }
}

pub(crate) fn thought_json(answer: &AnswerRecord) -> Option<ThoughtJson> {
    let thought = answer.thought.as_ref()?;
    Some(ThoughtJson {
        rung: thought.rung.name(),
        search: thought.search.clone(),
        goal: thought.goal.map(output::round),
        proven: thought.is_proven,
        iterations: thought.n_iterations,
        playouts: thought.n_playouts,
        depth: thought.depth,
        line: thought.line.clone(),
        note: thought.note.clone(),
        network: thought.network.as_ref().map(NetworkJson::of),
    })
}

/// The report for people.
pub fn text(heading: &Heading, series: &Series, tally: &Tally) -> String {
    let mut text = format!(
        "{} on the {}, {} of {} matches, start clock {} s, play clock {} s\n",
        heading.name,
        heading.machine,
        series.records.len(),
        heading.count,
        heading.clocks.start.as_secs_f64(),
        heading.clocks.play.as_secs_f64(),
    );
    let width = tally.players.iter().map(|player| player.name.len()).max().unwrap_or(0).max(6);
    line(
        &mut text,
        format_args!(
            "{:width$}  mean goal  95 % interval  wins draws losses illegal late fallbacks",
            "player"
        ),
    );
    for player in &tally.players {
        let (mean, interval) = match player.goal {
            Some(goal) => {
                (format!("{:.1}", goal.mean), format!("{:.1} to {:.1}", goal.low, goal.high))
            }
            None => ("-".into(), "-".into()),
        };
        line(
            &mut text,
            format_args!(
                "{:width$}  {mean:>9}  {interval:>13}  {:>4} {:>5} {:>6} {:>7} {:>4} {:>9}",
                player.name,
                player.n_wins,
                player.n_draws,
                player.n_losses,
                player.n_illegal,
                player.n_late,
                player.n_fallbacks,
            ),
        );
    }
    if let Some(share) = share_json(heading, series, tally) {
        line(
            &mut text,
            format_args!(
                "share of {}: {:.1} %, 95 % interval {:.1} to {:.1}",
                share.player, share.percent, share.ci95[0], share.ci95[1]
            ),
        );
        if let Some(stronger) = share.stronger {
            line(
                &mut text,
                format_args!("{stronger} is the stronger: the sequential test is sure"),
            );
        }
    } else if heading.is_cooperative {
        line(
            &mut text,
            format_args!("a cooperative game: the goals are the team's, nobody has a share"),
        );
    }
    if tally.n_unfinished > 0 {
        let n = tally.n_unfinished;
        line(
            &mut text,
            format_args!("{n} matches did not reach a terminal state and do not count"),
        );
    }
    if series.end == SeriesEnd::Stopped {
        line(&mut text, format_args!("stopped before all matches were played"));
    }
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}

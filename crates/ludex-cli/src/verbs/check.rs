//! `ludex check`: checks a rulesheet, and with `--deep` how the game plays.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Goal, RoleId, Seed, StopReason};
use ludex_game::{
    Cursor, Describe, Evidence, Exploration, ExploreLimits, Finding, Role, StateOf, explore, sample,
};
use ludex_pipeline::{CheckReport, EngineChoice, LoadOptions, Unchecked, with_game};
use serde::Serialize;

use crate::args::Common;
use crate::diagnostics::{self, DiagnosticJson};
use crate::failure::{DONE, Failure, INVALID_INPUT, LIMIT};
use crate::load::{load_within, options};
use crate::{input, output};

/// Number of playouts if there are too many states to visit.
const N_PLAYOUTS: u64 = 1_000;
/// Step limit of a playout. It is higher than elsewhere, so that a long game is not reported as
/// endless.
const MAX_STEPS: usize = 10_000;
/// Default time limits for visiting states and for random play.
const EXPLORE_TIME: Duration = Duration::from_secs(30);
const SAMPLE_TIME: Duration = Duration::from_secs(5);
/// Parts of the time that is left which, with `--time`, the stages of a deep check may take:
/// checking, then loading, then visiting states; random play has the rest.
const CHECK_PART: f64 = 0.25;
const LOAD_PART: f64 = 0.5;
const EXPLORE_PART: f64 = 0.7;
/// Limit on the transitions kept, per allowed state.
const TRANSITIONS_PER_STATE: usize = 40;

#[derive(Serialize)]
struct CheckJson {
    name: String,
    ok: bool,
    playable: bool,
    errors: Vec<DiagnosticJson>,
    warnings: Vec<DiagnosticJson>,
    /// What a limit left unchecked, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deep: Option<DeepJson>,
}

#[derive(Serialize)]
struct DeepJson {
    terminating: &'static str,
    playable: &'static str,
    weakly_winnable: &'static str,
    strongly_winnable: &'static str,
    well_formed: &'static str,
    /// Why some findings are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether that is because of a limit; what roles do not see is another reason.
    #[serde(skip)]
    is_limited: bool,
    states: usize,
    terminal_states: usize,
    arcs: usize,
    transitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_play: Option<usize>,
    best_goals: Vec<Option<u8>>,
    forced_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceJson>,
    /// Findings as sentences, each with the state that proves it.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct EvidenceJson {
    playouts: u64,
    endless: u64,
    mean_length: f64,
    longest: usize,
}

/// Default time limit of the check. It is short, because most checks do not need grounding.
const GROUND_TIME: Duration = Duration::from_secs(10);

/// Checks a rulesheet; with `max_states`, also tests how the game plays.
pub fn run(rules: &str, max_states: Option<usize>, common: &Common) -> Result<u8, Failure> {
    // One deadline for the whole call; without one, each part has a time of its own.
    let deadline = common.deadline();
    let input = input::read(rules)?;
    let limits = options(EngineChoice::Auto, common).limits();
    let part = if max_states.is_some() { CHECK_PART } else { 1.0 };
    let check_limits = limits.clone().until(match common.time {
        Some(_) => deadline.part(part),
        None => Deadline::after(GROUND_TIME),
    });
    let bar = output::spinner(format!("checking {}", input.name));
    // Bytes that cannot be decoded have no further errors to find.
    let mut report = if input.is_fatal() {
        CheckReport { diagnostics: Vec::new(), is_playable: false, unchecked: None }
    } else {
        ludex_pipeline::check_within(&input.source, &check_limits)
            .map_err(|error| Failure::Limit(error.to_string()))?
    };
    report.diagnostics.splice(..0, input.diagnostics.iter().cloned());
    bar.finish_and_clear();
    let deep = match max_states {
        Some(max_states) if report.is_playable => {
            let limits = limits.until(match common.time {
                Some(_) => deadline.part(LOAD_PART),
                None => Deadline::after(LoadOptions::default().time),
            });
            let loaded = load_within(&input, EngineChoice::Auto, &limits)?;
            let mut deep = with_game!(&loaded.engine, |game| {
                test_deeply(game, max_states, common.seed(), &deadline)
            });
            if let Some(fault) = loaded.fault() {
                deep.notes.push(format!("the rules could not be evaluated in some state: {fault}"));
            }
            Some(deep)
        }
        _ => None,
    };
    let (errors, warnings) = diagnostics::split_json(&input.source, &report.diagnostics);
    let (n_errors, n_warnings) = (errors.len(), warnings.len());
    let (ok, playable) = (report.is_ok(), report.is_playable);
    let name = input.name;
    let limit = (deep.as_ref().and_then(unknown_by_limit))
        .or_else(|| report.unchecked.as_ref().filter(|it| it.may_have_errors).map(unchecked_text));
    let unchecked = report.unchecked.as_ref().map(unchecked_text);
    if common.json {
        output::json(&CheckJson { name, ok, playable, errors, warnings, unchecked, deep })?;
    } else {
        diagnostics::report(&input.source, &report.diagnostics, false);
        let verdict = match (ok, playable) {
            (true, _) => "is fine",
            (false, true) => "has errors but is playable",
            (false, false) => "is invalid",
        };
        output::text(&format!(
            "{name} {verdict}: {}, {}\n",
            count(n_errors, "error"),
            count(n_warnings, "warning")
        ))?;
        if let Some(text) = &unchecked {
            output::text(&format!("{text}\n"))?;
        }
        if let Some(deep) = &deep {
            output::text(&deep_text(deep))?;
        }
    }
    match limit {
        _ if !ok => Ok(INVALID_INPUT),
        Some(text) => {
            eprintln!("ludex: a limit left the check incomplete; {text}");
            Ok(LIMIT)
        }
        None => Ok(DONE),
    }
}

fn unchecked_text(unchecked: &Unchecked) -> String {
    format!("not checked: {}; {}", unchecked.what, unchecked.reason)
}

/// Returns which findings a limit left unknown, and why; `None` if a limit left none.
fn unknown_by_limit(deep: &DeepJson) -> Option<String> {
    let findings = [
        ("terminating", deep.terminating),
        ("playable", deep.playable),
        ("weakly winnable", deep.weakly_winnable),
        ("strongly winnable", deep.strongly_winnable),
        ("well-formed", deep.well_formed),
    ];
    let unknown: Vec<&str> =
        findings.iter().filter(|it| it.1 == "unknown").map(|it| it.0).collect();
    if unknown.is_empty() || !deep.is_limited {
        return None;
    }
    let reason = deep.reason.as_deref().unwrap_or("no reason is known");
    Some(format!("unknown: {}; {reason}", unknown.join(", ")))
}

/// Formats a count with its noun.
fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Visits states, and plays random games if there are too many. Both end at the deadline; without
/// one, each has its own limit.
fn test_deeply<G: Describe>(
    game: &G,
    max_states: usize,
    seed: Seed,
    deadline: &Deadline,
) -> DeepJson {
    let within = |time: Duration, part: f64| match deadline.remaining() {
        Some(_) => deadline.part(part),
        None => deadline.no_later_than(Instant::now() + time),
    };
    let limits = ExploreLimits {
        max_states,
        max_transitions: max_states.saturating_mul(TRANSITIONS_PER_STATE),
        deadline: within(EXPLORE_TIME, EXPLORE_PART),
    };
    let bar = output::spinner("visiting every state");
    let mut found = explore(game, &limits);
    let evidence = found.stopped.map(|_| {
        bar.set_message("playing random games");
        let deadline = within(SAMPLE_TIME, 1.0);
        sample(game, N_PLAYOUTS, MAX_STEPS, &mut seed.rng(), &deadline)
    });
    bar.finish_and_clear();
    let roles = game.roles();
    if let Some(evidence) = &evidence {
        learn(roles, &mut found, evidence);
    }
    DeepJson {
        terminating: word(found.is_terminating),
        playable: word(found.is_playable),
        weakly_winnable: word(found.is_weakly_winnable),
        strongly_winnable: word(found.is_strongly_winnable),
        well_formed: word(found.is_well_formed()),
        reason: reason(game, &found, &limits),
        is_limited: found.stopped.is_some() || !game.has_percepts(),
        states: found.n_states,
        terminal_states: found.n_terminal,
        arcs: found.n_arcs,
        transitions: found.n_transitions,
        longest_play: found.longest_play,
        best_goals: found.best_goals.iter().map(|goal| goal.map(Goal::value)).collect(),
        forced_by: match found.is_strongly_winnable {
            Finding::Yes => {
                found.forced_by.iter().map(|role| roles[role.index()].name.clone()).collect()
            }
            Finding::No | Finding::Unknown => Vec::new(),
        },
        evidence: evidence.as_ref().map(evidence_json),
        notes: notes(game, &found, evidence.as_ref()),
    }
}

/// Adds what playouts prove: stuck roles, unclear goals and reached goals.
fn learn<S: Clone>(roles: &[Role], found: &mut Exploration<S>, evidence: &Evidence<S>) {
    if let Some(stuck) = &evidence.stuck {
        found.stuck.get_or_insert_with(|| stuck.clone());
        found.is_playable = Finding::No;
    }
    if let Some(unclear) = &evidence.unclear_goal {
        found.unclear_goal.get_or_insert_with(|| unclear.clone());
    }
    for (best, &reached) in found.best_goals.iter_mut().zip(&evidence.best_goals) {
        *best = (*best).max(reached);
    }
    let wins = |(role, best): (&Role, &Option<Goal>)| role.is_random || *best == Some(Goal::MAX);
    if roles.iter().zip(&found.best_goals).all(wins) {
        found.is_weakly_winnable = Finding::Yes;
    }
}

fn word(verdict: Finding) -> &'static str {
    match verdict {
        Finding::Yes => "yes",
        Finding::No => "no",
        Finding::Unknown => "unknown",
    }
}

fn reason<G: Describe>(
    game: &G,
    found: &Exploration<StateOf<G>>,
    limits: &ExploreLimits,
) -> Option<String> {
    let n_states = found.n_states;
    match found.stopped {
        Some(StopReason::Time) => Some(format!("time ran out after {}", count(n_states, "state"))),
        Some(StopReason::Memory) => Some(format!(
            "memory ran out after {}; allow more with `--memory`",
            count(n_states, "state")
        )),
        Some(StopReason::Count) if n_states < limits.max_states => {
            let n_joints = limits.max_transitions;
            Some(format!("there are more than {n_joints} joint moves; allow more with `--states`"))
        }
        Some(StopReason::Count) => {
            Some(format!("there are more than {} states", limits.max_states))
        }
        Some(StopReason::Fault) => Some(format!(
            "the engine could not evaluate the rules in a state, after {}",
            count(n_states, "state")
        )),
        None if found.is_strongly_winnable == Finding::Unknown && game.has_percepts() => Some(
            "a role that sees every state could force a win, but roles see only part of it".into(),
        ),
        None if found.is_strongly_winnable == Finding::Unknown => {
            Some("time ran out before it was known which roles can force a win".into())
        }
        None => None,
    }
}

fn evidence_json<S>(evidence: &Evidence<S>) -> EvidenceJson {
    let mean_length = match evidence.n_finished {
        0 => 0.0,
        n_finished => output::round(evidence.n_steps as f64 / n_finished as f64),
    };
    EvidenceJson {
        playouts: evidence.n_finished + evidence.n_endless,
        endless: evidence.n_endless,
        mean_length,
        longest: evidence.longest,
    }
}

/// Number of fluents of a state that a note shows.
const MAX_FLUENTS: usize = 60;

fn notes<G: Describe>(
    game: &G,
    found: &Exploration<StateOf<G>>,
    evidence: Option<&Evidence<StateOf<G>>>,
) -> Vec<String> {
    let name = |role: RoleId| game.roles()[role.index()].name.as_str();
    let show = |state: &StateOf<G>| {
        let texts = game.state_texts(state);
        let more = if texts.len() > MAX_FLUENTS { " …" } else { "" };
        format!("{}{more}", texts[..texts.len().min(MAX_FLUENTS)].join(" "))
    };
    let mut notes = Vec::new();
    if let Some((role, state)) = &found.stuck {
        notes.push(format!(
            "`{}` has no legal move in a state that is not terminal: {}",
            name(*role),
            show(state)
        ));
    }
    if let Some(state) = &found.repeated {
        notes.push(format!("play can return to the state: {}", show(state)));
    }
    if let Some((role, state)) = &found.unclear_goal {
        let mut cursor = game.cursor();
        cursor.set_state(state);
        let n_goals = cursor.goals(*role).len();
        notes.push(format!(
            "`{}` has {n_goals} goal values instead of one in the terminal state: {}",
            name(*role),
            show(state)
        ));
    }
    for role in game.role_ids().filter(|role| !game.roles()[role.index()].is_random) {
        let best = found.best_goals[role.index()];
        if best != Some(Goal::MAX) && found.is_weakly_winnable == Finding::No {
            let best = best.map_or_else(|| "none".into(), |goal| goal.to_string());
            notes.push(format!("the best goal that `{}` can reach is {best}", name(role)));
        }
    }
    if let Some(evidence) = evidence {
        let n_all = evidence.n_finished + evidence.n_endless;
        notes.push(if evidence.n_endless == 0 {
            format!("all {n_all} random games ended")
        } else {
            format!(
                "{} of {n_all} random games did not end within {MAX_STEPS} steps",
                evidence.n_endless
            )
        });
    }
    notes
}

fn deep_text(deep: &DeepJson) -> String {
    let mut text = format!(
        "states             {} ({} terminal), {} arcs\nterminating        {}\nplayable           {}\n\
         weakly winnable    {}\nstrongly winnable  {}\nwell-formed        {}\n",
        deep.states,
        deep.terminal_states,
        deep.arcs,
        deep.terminating,
        deep.playable,
        deep.weakly_winnable,
        deep.strongly_winnable,
        deep.well_formed,
    );
    if let Some(longest) = deep.longest_play {
        text += &format!("longest play       {longest} steps\n");
    }
    if !deep.forced_by.is_empty() {
        text += &format!("can force 100      {}\n", deep.forced_by.join(", "));
    }
    if let Some(reason) = &deep.reason {
        text += &format!("unknown because    {reason}\n");
    }
    for note in &deep.notes {
        text += &format!("note: {note}\n");
    }
    text
}

//! `ludex trace`: the two fixed lines of play.

use ludex_base::{Deadline, StopReason};
use ludex_game::trace::{End, Line, Step, Trace, trace};
use ludex_pipeline::{EngineChoice, with_game};
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure};
use crate::input::{self, Input};
use crate::load::load;
use crate::output;

/// A golden-trace object, without the names of those who checked it.
#[derive(Serialize)]
pub struct TraceJson {
    name: String,
    sha256: String,
    roles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    init: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    legal0: Option<Vec<Vec<String>>>,
    lines: LinesJson,
}

#[derive(Serialize)]
struct LinesJson {
    min: LineJson,
    mix: LineJson,
}

#[derive(Serialize)]
struct LineJson {
    end: &'static str,
    steps: Vec<StepJson>,
}

#[derive(Serialize)]
struct StepJson {
    n: usize,
    h: String,
    l: Vec<usize>,
    lh: Vec<String>,
    t: u8,
    g: Vec<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<Vec<Vec<String>>>,
}

impl TraceJson {
    /// The counterpart of a trace.
    pub fn new(input: &Input, trace: Trace) -> Self {
        Self {
            name: input.name.clone(),
            sha256: input.sha256.clone(),
            roles: trace.roles,
            init: trace.initial,
            legal0: trace.initial_legal,
            lines: LinesJson { min: line_json(trace.min), mix: line_json(trace.mix) },
        }
    }
}

/// Prints the two lines.
pub fn run(rules: &str, engine: EngineChoice, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let loaded = load(&input, engine, common)?;
    let deadline = common.time.map_or_else(Deadline::never, Deadline::after);
    let bar = output::spinner("playing the two lines");
    let trace = with_game!(&loaded.engine, |game| trace(game, &deadline));
    bar.finish_and_clear();
    for line in [&trace.min, &trace.mix] {
        if let End::Stopped(reason) = line.end {
            let message = match reason {
                StopReason::Fault => "the rules could not be evaluated in some state",
                _ => "the time was over before both lines ended",
            };
            return Err(Failure::Limit(message.into()));
        }
    }
    if common.json {
        output::json(&TraceJson::new(&input, trace))?;
    } else {
        for (name, line) in [("min", &trace.min), ("mix", &trace.mix)] {
            output::text(&line_text(name, line))?;
        }
    }
    Ok(DONE)
}

fn line_json(line: Line) -> LineJson {
    LineJson { end: end_text(line.end), steps: line.steps.into_iter().map(step_json).collect() }
}

fn step_json(step: Step) -> StepJson {
    StepJson {
        n: step.n_fluents,
        h: step.state_hash,
        l: step.n_legal,
        lh: step.legal_hashes,
        t: u8::from(step.is_terminal),
        g: step.goals,
        m: step.joint,
        s: step.percepts,
    }
}

fn end_text(end: End) -> &'static str {
    match end {
        End::Terminal => "terminal",
        End::MaxSteps => "max_steps",
        End::NoLegalMove => "no_legal_move",
        End::Stopped(_) => "cut",
    }
}

fn line_text(name: &str, line: &Line) -> String {
    let mut text = format!("line {name}\n");
    for (step_idx, step) in line.steps.iter().enumerate() {
        let joint = step.joint.as_ref().map_or_else(String::new, |joint| joint.join("  "));
        text +=
            &format!("{step_idx:3}  {:5} fluents  {}  {joint}\n", step.n_fluents, step.state_hash);
    }
    let goals: Vec<String> = line
        .steps
        .last()
        .map(|step| step.goals.iter().map(|goals| format!("{goals:?}")).collect())
        .unwrap_or_default();
    text + &format!("end: {}, goals {}\n\n", end_text(line.end), goals.join(" "))
}

//! `ludex trace`: plays two fixed lines of a game.

use ludex_base::StopReason;
use ludex_game::trace::{End, Line, trace};
use ludex_pipeline::{EngineChoice, with_game};
use ludex_record::TraceRecord;
use ludex_record::trace::end_name;

use crate::args::Common;
use crate::failure::{DONE, Failure};
use crate::input;
use crate::load::load;
use crate::output;

/// Prints the two lines.
pub fn run(rules: &str, engine: EngineChoice, common: &Common) -> Result<u8, Failure> {
    let deadline = common.deadline();
    let input = input::read(rules)?;
    let loaded = load(&input, engine, common)?;
    let bar = output::spinner("playing the two lines");
    let trace = with_game!(&loaded.engine, |game| trace(game, &deadline));
    bar.finish_and_clear();
    for line in [&trace.min, &trace.mix] {
        if let End::Stopped(reason) = line.end {
            let message = match reason {
                StopReason::Fault => {
                    let reason = loaded.fault().unwrap_or_else(|| "no reason is known".into());
                    format!("the engine could not evaluate the rules in some state: {reason}")
                }
                StopReason::Memory => {
                    "memory ran out before both lines ended; allow more with `--memory`".into()
                }
                _ => "time ran out before both lines ended; allow more with `--time`".into(),
            };
            return Err(Failure::Limit(message));
        }
    }
    if common.json {
        output::json(&TraceRecord::of(&input.name, &input.sha256, trace))?;
    } else {
        for (name, line) in [("min", &trace.min), ("mix", &trace.mix)] {
            output::text(&line_text(name, line))?;
        }
    }
    Ok(DONE)
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
    text + &format!("end: {}, goals {}\n\n", end_name(line.end), goals.join(" "))
}

//! `ludex translate`: a game as a constraint network.

use std::path::Path;
use std::time::Instant;

use ludex_base::Deadline;
use ludex_csp::{Network, xcsp3};
use ludex_encode::{EncodeConfig, EncodeError, Sizes, Template, encode};
use ludex_pipeline::Engine;
use ludex_qcsp::lang::write_network;
use serde::Serialize;

use crate::args::{Common, EngineChoice, NetworkForm};
use crate::failure::{DONE, Failure};
use crate::load::load;
use crate::{input, output, resources};

#[derive(Serialize)]
struct TranslateJson {
    name: String,
    steps: Option<usize>,
    variables: usize,
    auxiliary: usize,
    max_domain: u64,
    constraints: usize,
    tuples: usize,
    /// From the circuit to the network, grounding not included.
    seconds: f64,
    /// The same of the processor.
    cpu_seconds: Option<f64>,
    groups: usize,
    /// What roles learn of a step: `complete`, `shared`, `private` or `unknown`.
    information: &'static str,
    percepts: usize,
    chance: usize,
    peak_mb: Option<f64>,
}

/// Translates a rulesheet.
pub fn run(
    rules: &str,
    form: NetworkForm,
    steps: Option<usize>,
    file: Option<&Path>,
    common: &Common,
) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let loaded = load(&input, EngineChoice::Circuit, common)?;
    let Engine::Machine(machine) = &loaded.engine else {
        return Err(Failure::Limit("only a game that can be grounded is translated".into()));
    };
    let (start, cpu_start) = (Instant::now(), resources::cpu_time());
    let default = EncodeConfig::default();
    let config = EncodeConfig {
        deadline: common.time.map_or_else(Deadline::never, Deadline::after),
        max_bytes: common.memory.unwrap_or(default.max_bytes),
        ..default
    };
    let limit = |error: EncodeError| Failure::Limit(error.to_string());
    let template = encode(machine.circuit(), &config).map_err(limit)?;
    let unrolled = match steps {
        Some(n_steps) => Some(template.unrolled_within(n_steps, &config).map_err(limit)?.network),
        None => None,
    };
    let network = unrolled.as_ref().unwrap_or(&template.network);
    let time = output::seconds(start.elapsed());
    let cpu_time = resources::cpu_time().zip(cpu_start).map(|(end, start)| end - start);
    if common.json {
        let report = report(input.name, &template, network, steps);
        let cpu_seconds = cpu_time.map(output::seconds);
        output::json(&TranslateJson { seconds: time, cpu_seconds, ..report })?;
    }
    if file.is_none() && common.json {
        return Ok(DONE);
    }
    let text = match form {
        NetworkForm::Xcsp3 => {
            xcsp3::write(network).map_err(|error| Failure::Limit(error.to_string()))?
        }
        NetworkForm::Text => {
            write_network(network).map_err(|error| Failure::Limit(error.to_string()))?
        }
    };
    match file {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))?,
        None => output::text(&text)?,
    }
    Ok(DONE)
}

fn report(
    name: String,
    template: &Template,
    network: &Network,
    steps: Option<usize>,
) -> TranslateJson {
    let sizes = Sizes::of(network);
    TranslateJson {
        name,
        steps,
        variables: sizes.n_variables,
        auxiliary: template.n_auxiliary * steps.map_or(1, |n_steps| n_steps + 1),
        max_domain: sizes.max_domain,
        constraints: sizes.n_constraints,
        tuples: sizes.n_tuples,
        seconds: 0.0,
        cpu_seconds: None,
        groups: template.state_vars.iter().filter(|it| it.fluents.len() > 1).count(),
        information: template.information.name(),
        percepts: template.percepts.len(),
        chance: template.chance.len(),
        peak_mb: resources::peak_mb(),
    }
}

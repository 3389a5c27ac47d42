//! `ludex translate`: a game as a constraint network.

use std::path::Path;
use std::time::Instant;

use ludex_base::{Deadline, RoleId};
use ludex_csp::{Network, xcsp3};
use ludex_encode::{EncodeConfig, Information, PlanLimits, Sizes, Template, Unrolled, encode};
use ludex_game::{Belief, BeliefLimits, Game as _};
use ludex_machine::Machine;
use ludex_pipeline::Engine;
use ludex_qcsp::lang::{write_network, write_stochastic};
use ludex_qcsp::stochastic::StochasticNetwork;
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
    let template = encode(machine.circuit(), &config).map_err(limit)?;
    let unrolled = match steps {
        Some(n_steps) => Some(template.unrolled_within(n_steps, &config).map_err(limit)?),
        None => None,
    };
    let network = unrolled.as_ref().map_or(&template.network, |it| &it.network);
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
    let has_chance = !template.chance.is_empty();
    let text = match form {
        NetworkForm::Xcsp3 => {
            let text = xcsp3::write(network).map_err(limit)?;
            if has_chance { with_remark(&text) } else { text }
        }
        NetworkForm::Text if has_chance => {
            let deadline = config.deadline.clone();
            let network = drawn(machine, &template, unrolled.as_ref(), deadline)?;
            write_stochastic(&network).map_err(limit)?
        }
        NetworkForm::Text => write_network(network).map_err(limit)?,
    };
    match file {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))?,
        None => output::text(&text)?,
    }
    Ok(DONE)
}

fn limit(error: impl std::fmt::Display) -> Failure {
    Failure::Limit(error.to_string())
}

/// Says in an instance what XCSP3 can't: probabilities that depend on earlier variables.
fn with_remark(text: &str) -> String {
    let remark = "<!-- The legal moves of random are equally likely. XCSP3 has no form for this, so \
                  that they are plain variables here; ludex translate with the option to text has. -->";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{first}\n{remark}\n{rest}")
}

/// The network with the moves of `random` drawn. Several steps of roles who do not know the state
/// are a plan over what they learn.
fn drawn(
    machine: &Machine,
    template: &Template,
    unrolled: Option<&Unrolled>,
    deadline: Deadline,
) -> Result<StochasticNetwork, Failure> {
    let Some(unrolled) = unrolled else { return Ok(template.stochastic()) };
    let is_chance = |role: RoleId| {
        let var = template.moves[role.index()].var;
        template.chance.iter().any(|chance| chance.var == var)
    };
    let roles = (0..machine.roles().len()).map(RoleId::new);
    let deciders: Vec<RoleId> = roles.filter(|&role| !is_chance(role)).collect();
    // Someone who decides for several roles plays for none of them.
    let player = (deciders.len() == 1).then(|| deciders[0]);
    match (template.information, player) {
        (Information::Complete, player) => Ok(unrolled.stochastic(template, player)),
        (_, Some(player)) => {
            let belief = Belief::initial(machine, &deciders);
            let belief_limits = BeliefLimits { deadline, ..BeliefLimits::default() };
            let limits = PlanLimits { belief: belief_limits, ..PlanLimits::default() };
            let n_steps = unrolled.steps.len() - 1;
            let plan = template.plan(machine, &belief, player, n_steps, &limits).map_err(limit)?;
            Ok(plan.network)
        }
        _ => Err(Failure::Limit(
            "several roles who do not see the state decide for themselves, which no one stochastic \
             network says: leave out --steps for the network of one step"
                .into(),
        )),
    }
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

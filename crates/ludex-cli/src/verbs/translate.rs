//! `ludex translate`: a game as a constraint network.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use ludex_base::{Deadline, Goal, MoveId, RoleId};
use ludex_csp::Variable;
use ludex_encode::{
    EncodeConfig, Information, LookaheadLimits, Sizes, Steps, Template, Unrolled, encode,
};
use ludex_formats::xcsp3;
use ludex_game::{Belief, BeliefLimits, Cursor as _, Describe as _, Game as _};
use ludex_machine::Machine;
use ludex_model::{write_network, write_stochastic};
use ludex_pipeline::{Engine, EngineChoice};
use ludex_scsp::StochasticNetwork;
use ludex_solve::Problem;
use ludex_solve::quantified::{NoModel, Question, write_question};
use serde::Serialize;

use crate::args::{Common, NetworkFormat};
use crate::failure::{DONE, Failure};
use crate::load::load;
use crate::state_file::StateFile;
use crate::verbs::play::find_person;
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
    /// The same in processor time.
    cpu_seconds: Option<f64>,
    groups: usize,
    /// The information the roles get from a step: `complete`, `shared`, `private` or `unknown`.
    information: &'static str,
    percepts: usize,
    chance: usize,
    peak_mb: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    legal: Option<LegalJson>,
}

/// The legal moves of the initial state according to the network.
#[derive(Serialize)]
struct LegalJson {
    /// The method that found them: `propagation`, `singleton consistency` or `search`.
    found_by: &'static str,
    /// By role.
    moves: BTreeMap<String, Vec<String>>,
}

impl TranslateJson {
    fn to_lines(&self) -> String {
        let mut text = format!(
            "{}: {} variables, {} of them auxiliary, the largest with {} values; {} constraints, \
             {} tuples ({:.3} s)\ninformation: {}\n",
            self.name,
            self.variables,
            self.auxiliary,
            self.max_domain,
            self.constraints,
            self.tuples,
            self.seconds,
            self.information,
        );
        if let Some(legal) = &self.legal {
            for (role, moves) in &legal.moves {
                text += &format!("legal for {role}: {}\n", moves.join(" "));
            }
            text += &format!("found by {}\n", legal.found_by);
        }
        text
    }
}

/// What to write, and where.
pub struct Task<'a> {
    /// The format of the network.
    pub form: NetworkFormat,
    /// The number of steps to unroll.
    pub steps: Option<usize>,
    /// Find the legal moves of the initial state instead of writing the network.
    pub legal: bool,
    /// The output file.
    pub file: Option<&'a Path>,
}

/// Translates a rulesheet.
pub fn run(rules: &str, task: &Task<'_>, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let loaded = load(&input, EngineChoice::Circuit, common)?;
    let Engine::Machine(machine) = &loaded.engine else {
        return Err(Failure::Limit("the game cannot be grounded within the limits, so it cannot be translated; allow more `--time` or `--memory`".into()));
    };
    let (start, cpu_start) = (Instant::now(), resources::cpu_time());
    let default = EncodeConfig::default();
    let config = EncodeConfig {
        deadline: common.time.map_or_else(Deadline::never, Deadline::after),
        max_bytes: common.memory.unwrap_or(default.max_bytes),
        ..default
    };
    let template = encode(machine.circuit(), &config).map_err(limit)?;
    let unrolled = match task.steps {
        Some(n_steps) => Some(template.unrolled_within(n_steps, &config).map_err(limit)?),
        None => None,
    };
    let network = unrolled.as_ref().map_or(&template.network, |it| &it.network);
    let has_chance = !template.chance.is_empty();
    let drawn = match task.form {
        NetworkFormat::Text if has_chance => {
            Some(drawn(machine, &template, unrolled.as_ref(), config.deadline.clone())?)
        }
        _ => None,
    };
    let (sizes, auxiliary) = match &drawn {
        Some(drawn) => {
            let variables = drawn.variables().iter().map(|it| &it.variable);
            (Sizes::of_stochastic(drawn), n_auxiliary(variables))
        }
        None => (Sizes::of(network), n_auxiliary(network.variables())),
    };
    let time = output::seconds(start.elapsed());
    let cpu_time = resources::cpu_time().zip(cpu_start).map(|(end, start)| end - start);
    let mut report = TranslateJson {
        seconds: time,
        cpu_seconds: cpu_time.map(output::seconds),
        auxiliary,
        ..report(input.name, &template, sizes, task.steps)
    };
    if task.legal {
        report.legal = Some(legal_moves(machine, &template, &config)?);
    }
    let text = match (task.form, &drawn) {
        _ if task.legal || task.file.is_none() && common.json => None,
        (NetworkFormat::Xcsp3, _) => {
            let text = xcsp3::write(network).map_err(limit)?;
            Some(if has_chance { with_remark(&text) } else { text })
        }
        (NetworkFormat::Text, Some(drawn)) => Some(write_stochastic(drawn).map_err(limit)?),
        (NetworkFormat::Text, None) => Some(write_network(network).map_err(limit)?),
        (NetworkFormat::Qcp, _) => None,
    };
    if let Some(text) = &text {
        write(text, task.file)?;
    }
    match (common.json, task.file) {
        (true, _) => output::json(&report)?,
        (false, None) if !task.legal => {}
        (false, _) => output::text(&report.to_lines())?,
    }
    Ok(DONE)
}

fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    match file {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::Call(format!("`{}`: {error}", path.display()))),
        None => Ok(output::text(text)?),
    }
}

/// What to ask in a quantified model.
pub struct Asked<'a> {
    /// The most steps of a play.
    pub steps: Option<usize>,
    /// The role, as given.
    pub role: Option<&'a str>,
    /// The goal to force.
    pub at_least: u8,
    /// The file of the first state.
    pub state: Option<&'a Path>,
    /// The output file.
    pub file: Option<&'a Path>,
}

/// Writes a game as a quantified model.
pub fn run_quantified(rules: &str, asked: &Asked<'_>, common: &Common) -> Result<u8, Failure> {
    let Some(n_steps) = asked.steps else {
        return Err(Failure::Call("a quantified model needs `--steps N`".into()));
    };
    let input = input::read(rules)?;
    let loaded = load(&input, EngineChoice::Circuit, common)?;
    let Engine::Machine(game) = &loaded.engine else {
        return Err(Failure::Limit(NoModel::NoCircuit.to_string()));
    };
    let role = find_person(game.roles(), asked.role)?.unwrap_or(RoleId::new(0));
    let mut problem = Problem::initial(game).with_circuit(game.circuit());
    if let Some(file) = asked.state {
        problem = problem.at(StateFile::read(file)?.for_machine(game)?);
    }
    let goal = Goal::new(asked.at_least.into()).expect("the option is at most 100");
    let text = write_question(&problem, Question { role, goal, n_steps });
    let text = text.map_err(|reason| match reason {
        NoModel::NotADuel | NoModel::NotInTurn => Failure::Call(reason.to_string()),
        _ => Failure::Limit(reason.to_string()),
    })?;
    write(&text, asked.file)?;
    Ok(DONE)
}

/// The legal moves of the initial state, from the network alone, and the method that found them.
fn legal_moves(
    machine: &Machine,
    template: &Template,
    config: &EncodeConfig,
) -> Result<LegalJson, Failure> {
    let steps = Steps::within(template, &config.deadline, config.max_bytes).map_err(limit)?;
    let found = steps.legal_moves_by(machine.cursor().state(), &config.deadline);
    let found = found.ok_or_else(|| {
        Failure::Limit("time ran out before the legal moves were found; allow more `--time`".into())
    })?;
    let texts = |moves: &Vec<MoveId>| moves.iter().map(|&id| machine.move_text(id)).collect();
    let names = machine.roles().iter().map(|role| role.name.clone());
    Ok(LegalJson {
        found_by: found.found_by.name(),
        moves: names.zip(found.moves.iter().map(texts)).collect(),
    })
}

/// The number of auxiliary variables, which cut rules into pieces. A fluent with a blank in its name
/// has parentheses around it; an auxiliary variable does not.
fn n_auxiliary<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> usize {
    variables.into_iter().filter(|it| it.name.starts_with("aux ")).count()
}

fn limit(error: impl std::fmt::Display) -> Failure {
    Failure::Limit(error.to_string())
}

/// Adds to an instance, as a comment, what XCSP3 cannot express: probabilities that depend on earlier
/// variables.
fn with_remark(text: &str) -> String {
    let remark = "<!-- The legal moves of random are equally likely. XCSP3 has no form for this, so \
                  that they are plain variables here; ludex translate with the option to text has. -->";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{first}\n{remark}\n{rest}")
}

/// The network in which chance draws the moves of `random`. If roles do not know the state, several
/// steps become a lookahead over their observations.
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
    // A decider for several roles plays for none of them.
    let player = (deciders.len() == 1).then(|| deciders[0]);
    match (template.information, player) {
        (Information::Complete, player) => Ok(unrolled.stochastic(template, player)),
        // All roles have the same information, so one decider plays for all of them.
        (Information::Shared, _) | (_, Some(_)) => {
            let belief = Belief::initial(machine, &deciders);
            let belief_limits = BeliefLimits { deadline, ..BeliefLimits::default() };
            let limits = LookaheadLimits { belief: belief_limits, ..LookaheadLimits::default() };
            let n_steps = unrolled.steps.len() - 1;
            let plan = template.lookahead(machine, &belief, player, n_steps, &limits).map_err(limit)?;
            Ok(plan.network)
        }
        _ => Err(Failure::Call(
            "several roles who do not see the state decide for themselves, which no one stochastic \
             network says: leave out --steps for the network of one step"
                .into(),
        )),
    }
}

fn report(name: String, template: &Template, sizes: Sizes, steps: Option<usize>) -> TranslateJson {
    TranslateJson {
        name,
        steps,
        variables: sizes.n_variables,
        auxiliary: template.n_auxiliary,
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
        legal: None,
    }
}

//! `ludex scsp solve`: policies of stochastic constraint networks.

mod policy;
mod two_parts;

use std::fs;
use std::time::Instant;

use ludex_base::{Deadline, StopReason};
use ludex_csp::Verdict;
use ludex_formats::xcsp3;
use ludex_pipeline::LoadOptions;
use ludex_scsp::{
    Aim, Arithmetic, Policy, Report, SolveConfig, StochasticNetwork, evaluate_policy_by,
    expand_scenarios_by, solve,
};
use serde::Serialize;

use self::policy::{FirstDecisions, PolicyJson};
use super::qcsp::input::read_stochastic;
use crate::args::{Common, ScspSolve};
use crate::failure::{DONE, Failure, INVALID_INPUT, LIMIT};
use crate::input::read_text;
use crate::output;

/// Largest policy in the report; `--policy` writes larger ones.
const MAX_REPORTED: usize = 10_000;

/// Solves the network in a file, or does the other job of the call.
pub fn run(args: &ScspSolve, common: &Common) -> Result<u8, Failure> {
    let start = Instant::now();
    if common.json && args.policy.as_deref() == Some("-") {
        let message = "`--policy -` and `--json` both write to standard output; \
                       the JSON has the policy";
        return Err(Failure::Call(message.into()));
    }
    let deadline = common.time.map_or_else(Deadline::never, Deadline::after);
    let network = read_stochastic(&args.file, common, &deadline)?;
    if let Some(file) = &args.xcsp3 {
        let text = xcsp3::stochastic::write(&network).map_err(wrong)?;
        return match file.as_str() {
            "-" => output::text(&text).map_err(Failure::from),
            file => {
                fs::write(file, text).map_err(|error| Failure::Call(format!("`{file}`: {error}")))
            }
        }
        .map(|()| DONE);
    }
    if let Some(file) = &args.check_policy {
        return check(&network, file, common, &deadline);
    }
    if args.scenarios {
        return scenarios(&network, common, &deadline, start);
    }
    if args.two_parts {
        return two_parts::run(&network, common, &deadline, start);
    }
    let default = SolveConfig::default();
    let config = SolveConfig {
        aim: if args.best { Aim::Best } else { Aim::Threshold },
        method: args.method,
        arithmetic: if args.exact { Arithmetic::Exact } else { Arithmetic::Floating },
        consistency: args.consistency,
        // One part each for policies, for lists of values and outcomes, and for the input.
        policy_bytes: common.memory.map_or(default.policy_bytes, |bytes| (bytes / 4) as usize),
        deadline,
        ..default
    };
    let bar = output::spinner(format!("solving {}", args.file.file));
    let report = solve(&network, &config);
    bar.finish_and_clear();
    let report = report.map_err(wrong)?;
    let answer = Answer::new(&network, &report, start);
    let to_policy = args.policy.as_deref() == Some("-") && report.policy.is_some();
    match common.json {
        true => output::json(&answer)?,
        false if to_policy => eprint!("{}", answer.to_lines()),
        false => output::text(&answer.to_lines())?,
    }
    match (&report.policy, &args.policy) {
        (Some(found), Some(file)) => policy::write(&network, found, file)?,
        (None, Some(file)) => eprintln!("ludex: there is no policy to write to `{file}`"),
        (_, None) => {}
    }
    Ok(report.stopped.map_or(DONE, stopped))
}

fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::Call(error.to_string())
}

/// Reports which limit was reached.
fn stopped(reason: StopReason) -> u8 {
    eprintln!("ludex: stopped by the limit of {}", reason.name());
    LIMIT
}

/// Evaluates the policy in a file.
fn check(
    network: &StochasticNetwork,
    file: &str,
    common: &Common,
    deadline: &Deadline,
) -> Result<u8, Failure> {
    let max_bytes = common.memory.unwrap_or(LoadOptions::default().memory);
    let found = policy::read(network, &read_text(file, max_bytes)?, file)?;
    let evaluation = evaluate_policy_by(network, &found, deadline).map_err(|error| {
        let (path, message) = (file.to_string(), error.to_string());
        Failure::File { path, code: "malformed-policy", line: None, message }
    })?;
    let Some(evaluation) = evaluation else {
        return Err(Failure::Limit(
            "time ran out before the policy was evaluated; allow more `--time`".into(),
        ));
    };
    let mut missed = Vec::new();
    if evaluation.satisfaction < *network.threshold() {
        missed.push(format!(
            "the constraints hold together with {}, not with {}",
            evaluation.satisfaction,
            network.threshold()
        ));
    }
    for (i, (constraint, p)) in
        network.constraints().iter().zip(&evaluation.by_constraint).enumerate()
    {
        if let Some(threshold) = constraint.threshold.as_ref().filter(|threshold| p < threshold) {
            missed.push(format!("constraint {} holds with {p}, not with {threshold}", i + 1));
        }
    }
    let utility = network.utility().map(|_| evaluation.utility.to_string());
    let satisfaction = evaluation.satisfaction.to_string();
    let code = if missed.is_empty() { DONE } else { INVALID_INPUT };
    if common.json {
        let (ok, policy_nodes) = (missed.is_empty(), found.n_nodes());
        output::json(&CheckJson { ok, satisfaction, utility, policy_nodes, missed })?;
        return Ok(code);
    }
    let utility = utility.map_or(String::new(), |utility| format!(", utility {utility}"));
    output::text(&format!("satisfaction {satisfaction}{utility}\n"))?;
    for problem in &missed {
        eprintln!("ludex: `{file}` misses a threshold: {problem}");
    }
    Ok(code)
}

#[derive(Serialize)]
struct CheckJson {
    /// Whether every threshold is reached.
    ok: bool,
    /// The probability that the goals hold together, as a fraction.
    satisfaction: String,
    /// The expected utility, as a fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    utility: Option<String>,
    policy_nodes: usize,
    /// The thresholds that are not reached, in words.
    missed: Vec<String>,
}

/// Solves all scenarios as one plain network, as a second opinion.
fn scenarios(
    network: &StochasticNetwork,
    common: &Common,
    deadline: &Deadline,
    start: Instant,
) -> Result<u8, Failure> {
    let max_bytes = common.memory.unwrap_or(LoadOptions::default().memory);
    let expansion = match expand_scenarios_by(network, max_bytes, deadline).map_err(wrong)? {
        Ok(expansion) => expansion,
        Err(reason) => {
            let name = reason.name();
            let message = format!("stopped by the limit of {name} while scenarios were expanded");
            return Err(Failure::Limit(message));
        }
    };
    let found = expansion.best(deadline).map_err(wrong)?;
    let is_reached = found.best.as_ref().is_some_and(|best| best >= network.threshold());
    let verdict = match found.stopped {
        Some(reason) if !is_reached => Verdict::Unknown(reason),
        _ => Verdict::from(is_reached),
    };
    let shown = found.best.as_ref().map(ToString::to_string);
    let seconds = output::seconds(start.elapsed());
    let status = verdict.name();
    if common.json {
        let n_scenarios = expansion.n_scenarios;
        let stopped = found.stopped.map(StopReason::name);
        output::json(&ScenariosJson {
            status,
            value: found.value(),
            exact: shown,
            scenarios: n_scenarios,
            nodes: found.n_nodes,
            seconds,
            stopped,
        })?;
    } else {
        let best = shown.unwrap_or_else(|| "none".into());
        let so_far = if found.stopped.is_some() { "so far" } else { "at best" };
        output::text(&format!(
            "{status}, satisfaction {best} {so_far} ({} scenarios, {seconds:.3} s)\n",
            expansion.n_scenarios
        ))?;
    }
    Ok(found.stopped.map_or(DONE, stopped))
}

#[derive(Serialize)]
struct ScenariosJson {
    status: &'static str,
    /// The greatest satisfaction; when stopped, the greatest so far.
    value: Option<f64>,
    /// The same as a fraction.
    exact: Option<String>,
    scenarios: usize,
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

/// The report.
#[derive(Serialize)]
struct Answer {
    status: &'static str,
    /// The satisfaction of the policy, or its expected utility where that was asked for; none
    /// without a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// The same as a fraction, with `--exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
    /// A bound on the error of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    nodes: u64,
    seconds: f64,
    /// The decisions of the policy before the first draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<FirstDecisions>,
    /// The policy, unless it is large.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<PolicyJson>,
    /// Nodes of the policy as a graph; 0 when there is none.
    policy_nodes: usize,
    removed: u64,
    variables: usize,
    stages: usize,
    /// Why the search may have missed a policy or a better one.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

impl Answer {
    fn new(network: &StochasticNetwork, report: &Report, start: Instant) -> Self {
        let policy = report.policy.as_ref();
        let is_small = |policy: &&Policy| policy.n_nodes() <= MAX_REPORTED;
        Self {
            status: report.verdict.name(),
            value: policy.map(|_| report.value),
            exact: policy.and(report.exact.as_ref()).map(ToString::to_string),
            error: policy.map(|_| report.error),
            nodes: report.statistics.n_nodes,
            seconds: output::seconds(start.elapsed()),
            first: policy.map(|policy| FirstDecisions::new(network, policy)),
            policy: policy.filter(is_small).map(|policy| PolicyJson::new(network, policy)),
            policy_nodes: policy.map_or(0, Policy::n_nodes),
            removed: report.statistics.n_removed,
            variables: network.variables().len(),
            stages: network.n_stages(),
            stopped: report.stopped.map(StopReason::name),
        }
    }

    fn to_lines(&self) -> String {
        let mut text = self.status.to_string();
        if let Some(value) = self.value {
            text += &match &self.exact {
                Some(exact) => format!(", value {exact}"),
                None => format!(", value {value:.6}"),
            };
            if self.stopped.is_some() {
                text += " so far";
            }
        }
        text += &format!(" ({} nodes, {:.3} s)\n", self.nodes, self.seconds);
        match &self.first {
            Some(first) if !first.0.is_empty() => text + &format!("first: {first}\n"),
            _ => text,
        }
    }
}

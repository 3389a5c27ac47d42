//! `ludex scsp solve`: policies of stochastic constraint networks.

use std::fs;
use std::time::Instant;

use ludex_base::Deadline;
use ludex_qcsp::Verdict;
use ludex_qcsp::stochastic::{
    Aim, Arithmetic, Policy, PolicyNode, StochasticConfig, StochasticNetwork, StochasticReport,
    expand_scenarios, solve_stochastic, xcsp3,
};
use serde::Serialize;

use super::qcsp::input::read_stochastic;
use crate::args::{Common, ScspSolve};
use crate::failure::{DONE, Failure, LIMIT};
use crate::output;

/// Solves the network in a file.
pub fn run(args: &ScspSolve, common: &Common) -> Result<u8, Failure> {
    let start = Instant::now();
    let deadline = common.time.map_or_else(Deadline::never, Deadline::after);
    let network = read_stochastic(&args.file, common, &deadline)?;
    if let Some(file) = &args.xcsp3 {
        let text = xcsp3::write(&network).map_err(|error| Failure::Call(error.to_string()))?;
        return match file.as_str() {
            "-" => output::text(&text),
            file => fs::write(file, text),
        }
        .map(|()| DONE)
        .map_err(Failure::from);
    }
    if args.scenarios {
        return scenarios(&network, common, &deadline, start);
    }
    let default = StochasticConfig::default();
    let config = StochasticConfig {
        aim: if args.best { Aim::Best } else { Aim::Threshold },
        method: args.method,
        arithmetic: if args.exact { Arithmetic::Exact } else { Arithmetic::Floating },
        consistency: args.consistency,
        policy_bytes: common.memory.map_or(default.policy_bytes, |bytes| (bytes / 2) as usize),
        deadline,
        ..default
    };
    let bar = output::spinner(format!("solving {}", args.file.file));
    let report = solve_stochastic(&network, &config);
    bar.finish_and_clear();
    let report = report.map_err(|error| Failure::Call(error.to_string()))?;
    if let (Some(policy), Some(file)) = (&report.policy, &args.policy) {
        let json = PolicyJson::new(&network, policy);
        fs::write(file, serde_json::to_string(&json).expect("a policy is JSON") + "\n")?;
    }
    let answer = Answer::new(&network, &report, start);
    match common.json {
        true => output::json(&answer)?,
        false => output::text(&answer.to_lines(&network, &report))?,
    }
    let Verdict::Unknown(reason) = report.verdict else { return Ok(DONE) };
    eprintln!("ludex: stopped by the limit of {}", reason.name());
    Ok(LIMIT)
}

/// The second opinion: all scenarios in one ordinary network.
fn scenarios(
    network: &StochasticNetwork,
    common: &Common,
    deadline: &Deadline,
    start: Instant,
) -> Result<u8, Failure> {
    let wrong = |error: ludex_qcsp::stochastic::StochasticError| Failure::Call(error.to_string());
    let expansion = expand_scenarios(network).map_err(wrong)?;
    let best = expansion.best(deadline).map_err(wrong)?;
    if best.is_none() && deadline.reached() {
        return Err(Failure::Limit("the time was up before the scenarios were solved".into()));
    }
    let is_reached = best.as_ref().is_some_and(|best| best >= network.threshold());
    let shown = best.as_ref().map(ToString::to_string);
    let seconds = output::seconds(start.elapsed());
    let status = if is_reached { "true" } else { "false" };
    if common.json {
        let n_scenarios = expansion.n_scenarios;
        output::json(&ScenariosJson { status, exact: shown, scenarios: n_scenarios, seconds })?;
    } else {
        let best = shown.unwrap_or_else(|| "none".into());
        output::text(&format!(
            "{status}, satisfaction {best} at best ({} scenarios, {seconds:.3} s)\n",
            expansion.n_scenarios
        ))?;
    }
    Ok(DONE)
}

#[derive(Serialize)]
struct ScenariosJson {
    status: &'static str,
    /// The greatest satisfaction, as a fraction.
    exact: Option<String>,
    scenarios: usize,
    seconds: f64,
}

/// What is reported.
#[derive(Serialize)]
struct Answer {
    status: &'static str,
    /// The satisfaction of the policy, or its expected utility where that was asked for.
    value: f64,
    /// The same as a fraction, with `--exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
    /// How far the value can be from the truth.
    error: f64,
    nodes: u64,
    seconds: f64,
    /// Nodes of the policy as a graph; 0 when there is none.
    policy_nodes: usize,
    removed: u64,
    variables: usize,
    stages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

impl Answer {
    fn new(network: &StochasticNetwork, report: &StochasticReport, start: Instant) -> Self {
        Self {
            status: report.verdict.name(),
            value: report.value,
            exact: report.exact.as_ref().map(ToString::to_string),
            error: report.error,
            nodes: report.statistics.n_nodes,
            seconds: output::seconds(start.elapsed()),
            policy_nodes: report.policy.as_ref().map_or(0, Policy::n_nodes),
            removed: report.statistics.n_removed,
            variables: network.variables().len(),
            stages: network.n_stages(),
            stopped: match report.verdict {
                Verdict::Unknown(reason) => Some(reason.name()),
                _ => None,
            },
        }
    }

    fn to_lines(&self, network: &StochasticNetwork, report: &StochasticReport) -> String {
        let mut text = self.status.to_string();
        if let Some(policy) = &report.policy {
            text += &match &self.exact {
                Some(exact) => format!(", value {exact}"),
                None => format!(", value {:.6}", self.value),
            };
            text += &format!(" ({} nodes, {:.3} s)\n", self.nodes, self.seconds);
            text += &first_decisions(network, policy);
        } else {
            text += &format!(" ({} nodes, {:.3} s)\n", self.nodes, self.seconds);
        }
        text
    }
}

/// What the policy decides before anything is drawn.
fn first_decisions(network: &StochasticNetwork, policy: &Policy) -> String {
    let mut decisions = Vec::new();
    let mut at = policy.root;
    while let PolicyNode::Decide { variable, value, next } = policy.node(at) {
        decisions.push(format!("{} = {value}", network.name(*variable)));
        at = *next;
    }
    if decisions.is_empty() {
        return String::new();
    }
    format!("first: {}\n", decisions.join(", "))
}

/// A policy on the wire: nodes by number, children before their parents.
#[derive(Serialize)]
struct PolicyJson<'a> {
    root: usize,
    nodes: Vec<NodeJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum NodeJson<'a> {
    End,
    GivenUp,
    Decide { variable: &'a str, value: i32, next: usize },
    Draw { variable: &'a str, branches: Vec<(i32, usize)> },
}

impl<'a> PolicyJson<'a> {
    fn new(network: &'a StochasticNetwork, policy: &Policy) -> Self {
        let node = |node: &PolicyNode| match node {
            PolicyNode::End => NodeJson::End,
            PolicyNode::GivenUp => NodeJson::GivenUp,
            PolicyNode::Decide { variable, value, next } => NodeJson::Decide {
                variable: network.name(*variable),
                value: *value,
                next: next.index(),
            },
            PolicyNode::Draw { variable, branches } => NodeJson::Draw {
                variable: network.name(*variable),
                branches: branches.iter().map(|(value, next)| (*value, next.index())).collect(),
            },
        };
        Self { root: policy.root.index(), nodes: policy.nodes.iter().map(node).collect() }
    }
}

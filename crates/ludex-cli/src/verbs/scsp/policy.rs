//! Policies as JSON.

use std::collections::HashMap;
use std::fs;

use ludex_csp::{Value, VarId};
use ludex_scsp::{Policy, PolicyId, PolicyNode, StochasticNetwork};
use serde::{Deserialize, Serialize, Serializer};

use crate::failure::Failure;
use crate::output;

/// A value: its name if it has one, else its number.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(untagged)]
pub enum Shown {
    Number(Value),
    Name(String),
}

impl Shown {
    pub fn new(network: &StochasticNetwork, x: VarId, value: Value) -> Self {
        let labels = network.variable(x).variable.labels.as_ref();
        let label = labels.and_then(|labels| labels.get(usize::try_from(value).ok()?));
        label.map_or(Shown::Number(value), |label| Shown::Name(label.clone()))
    }

    fn value(&self, network: &StochasticNetwork, x: VarId) -> Result<Value, String> {
        let name = match self {
            Shown::Number(value) => return Ok(*value),
            Shown::Name(name) => name,
        };
        let labels = network.variable(x).variable.labels.as_ref();
        let at = labels.and_then(|labels| labels.iter().position(|label| label == name));
        at.and_then(|at| Value::try_from(at).ok())
            .ok_or_else(|| format!("`{}` has no value `{name}`", network.name(x)))
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shown::Number(value) => value.fmt(f),
            Shown::Name(name) => name.fmt(f),
        }
    }
}

/// Variables with their values, in order: the decisions of a policy before the first draw.
pub struct FirstDecisions(pub Vec<(String, Shown)>);

impl FirstDecisions {
    pub fn new(network: &StochasticNetwork, policy: &Policy) -> Self {
        let mut decisions = Vec::new();
        let mut at = policy.root;
        while let PolicyNode::Decide { variable, value, next } = policy.node(at) {
            let name = network.name(*variable).to_string();
            decisions.push((name, Shown::new(network, *variable, *value)));
            at = *next;
        }
        Self(decisions)
    }
}

impl std::fmt::Display for FirstDecisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        f.write_str(&shown.join(", "))
    }
}

impl Serialize for FirstDecisions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Writes a policy to a file, or to standard output.
pub fn write(network: &StochasticNetwork, policy: &Policy, file: &str) -> Result<(), Failure> {
    let json = PolicyJson::new(network, policy);
    let text = serde_json::to_string(&json).expect("a policy is JSON") + "\n";
    match file {
        "-" => Ok(output::text(&text)?),
        file => fs::write(file, text).map_err(|error| Failure::Call(format!("`{file}`: {error}"))),
    }
}

/// Reads a policy from a file.
pub fn read(network: &StochasticNetwork, text: &str, file: &str) -> Result<Policy, Failure> {
    let wrong = |line, message| Failure::File {
        path: file.into(),
        code: "malformed-policy",
        line,
        message,
    };
    let json: PolicyJson =
        serde_json::from_str(text).map_err(|error| wrong(Some(error.line()), error.to_string()))?;
    json.policy(network).map_err(|message| wrong(None, message))
}

/// A policy on the wire: nodes by number, children before their parents.
#[derive(Serialize, Deserialize)]
pub struct PolicyJson {
    root: usize,
    nodes: Vec<NodeJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NodeJson {
    End,
    GivenUp,
    Decide { variable: String, value: Shown, next: usize },
    Draw { variable: String, branches: Vec<(Shown, usize)> },
}

impl PolicyJson {
    pub fn new(network: &StochasticNetwork, policy: &Policy) -> Self {
        let node = |node: &PolicyNode| match node {
            PolicyNode::End => NodeJson::End,
            PolicyNode::GivenUp => NodeJson::GivenUp,
            PolicyNode::Decide { variable, value, next } => NodeJson::Decide {
                variable: network.name(*variable).to_string(),
                value: Shown::new(network, *variable, *value),
                next: next.index(),
            },
            PolicyNode::Draw { variable, branches } => {
                let shown = |(value, next): &(Value, PolicyId)| {
                    (Shown::new(network, *variable, *value), next.index())
                };
                NodeJson::Draw {
                    variable: network.name(*variable).to_string(),
                    branches: branches.iter().map(shown).collect(),
                }
            }
        };
        Self { root: policy.root.index(), nodes: policy.nodes.iter().map(node).collect() }
    }

    fn policy(self, network: &StochasticNetwork) -> Result<Policy, String> {
        let by_name: HashMap<&str, VarId> = network.ids().map(|x| (network.name(x), x)).collect();
        let variable = |name: &str| {
            by_name.get(name).copied().ok_or_else(|| format!("there is no variable `{name}`"))
        };
        let n_nodes = self.nodes.len();
        let id = |at: usize| {
            if at < n_nodes {
                Ok(PolicyId::new(at))
            } else {
                Err(format!("node {at} does not exist"))
            }
        };
        let mut nodes = Vec::new();
        for node in self.nodes {
            nodes.push(match node {
                NodeJson::End => PolicyNode::End,
                NodeJson::GivenUp => PolicyNode::GivenUp,
                NodeJson::Decide { variable: name, value, next } => {
                    let variable = variable(&name)?;
                    let value = value.value(network, variable)?;
                    PolicyNode::Decide { variable, value, next: id(next)? }
                }
                NodeJson::Draw { variable: name, branches } => {
                    let variable = variable(&name)?;
                    let branch = |(value, next): (Shown, usize)| {
                        Ok::<_, String>((value.value(network, variable)?, id(next)?))
                    };
                    let branches = branches.into_iter().map(branch).collect::<Result<_, _>>()?;
                    PolicyNode::Draw { variable, branches }
                }
            });
        }
        Ok(Policy { nodes, root: id(self.root)? })
    }
}

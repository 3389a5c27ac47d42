//! Strategies as JSON, as Graphviz and as pictures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use ludex_csp::Value;
use ludex_qcsp::{Model, NodeId, Quantifier, ScopeId, Strategy, StrategyNode, strategy_dot};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Writes a strategy; the file extension decides the format.
pub fn write(model: &Model, strategy: &Strategy, file: &str) -> Result<(), Failure> {
    let text = match Path::new(file).extension().and_then(|end| end.to_str()) {
        Some("dot" | "gv") => strategy_dot(model, strategy),
        Some("svg") => to_svg(model, strategy)?,
        Some("json") | None => {
            let json = StrategyJson::new(model, strategy);
            serde_json::to_string(&json).expect("a strategy is JSON") + "\n"
        }
        Some(other) => {
            let message =
                format!("cannot write a strategy as `.{other}`; use `.json`, `.dot` or `.svg`");
            return Err(Failure::Call(message));
        }
    };
    fs::write(file, text).map_err(Failure::Io)
}

/// Reads a strategy that was written as JSON.
pub fn read(model: &Model, text: &str, file: &str) -> Result<Strategy, Failure> {
    let wrong = |line, message| Failure::File {
        path: file.into(),
        code: "malformed-strategy",
        line,
        message,
    };
    let json: StrategyJson =
        serde_json::from_str(text).map_err(|error| wrong(Some(error.line()), error.to_string()))?;
    json.strategy(model).map_err(|message| wrong(None, message))
}

/// A strategy on the wire: nodes by number, children before their parents.
#[derive(Serialize, Deserialize)]
struct StrategyJson {
    /// `exists` or `forall`.
    winner: String,
    root: usize,
    nodes: Vec<NodeJson>,
}

#[derive(Serialize, Deserialize)]
struct NodeJson {
    /// The index of the scope; `None` after the last scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<usize>,
    /// Who chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantifier: Option<String>,
    /// What is chosen.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    variables: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    branches: Vec<BranchJson>,
}

#[derive(Serialize, Deserialize)]
struct BranchJson {
    values: Vec<Value>,
    node: usize,
}

impl StrategyJson {
    fn new(model: &Model, strategy: &Strategy) -> Self {
        let node = |node: &StrategyNode| match node {
            StrategyNode::End => NodeJson {
                scope: None,
                quantifier: None,
                variables: Vec::new(),
                branches: Vec::new(),
            },
            StrategyNode::Play { scope, branches } => NodeJson {
                scope: Some(scope.index()),
                quantifier: Some(model.scope(*scope).quantifier.name().into()),
                variables: chosen(model, *scope),
                branches: branches
                    .iter()
                    .map(|(values, child)| BranchJson {
                        values: values.clone(),
                        node: child.index(),
                    })
                    .collect(),
            },
        };
        Self {
            winner: strategy.winner.name().into(),
            root: strategy.root.index(),
            nodes: strategy.nodes.iter().map(node).collect(),
        }
    }

    fn strategy(self, model: &Model) -> Result<Strategy, String> {
        let winner = match self.winner.as_str() {
            "exists" => Quantifier::Exists,
            "forall" => Quantifier::Forall,
            other => return Err(format!("the winner is `exists` or `forall`, not `{other}`")),
        };
        let n_nodes = self.nodes.len();
        if self.root >= n_nodes {
            return Err(format!("there is no node {}", self.root));
        }
        let mut nodes = Vec::new();
        for (i, node) in self.nodes.into_iter().enumerate() {
            let Some(scope) = node.scope else {
                nodes.push(StrategyNode::End);
                continue;
            };
            if scope >= model.scopes().len() {
                return Err(format!("node {i} names scope {scope}, which the model does not have"));
            }
            let scope = ScopeId::new(scope);
            let n_values = chosen(model, scope).len();
            let mut branches = Vec::new();
            for branch in node.branches {
                if branch.node >= i {
                    return Err(format!("node {i} comes before its child {}", branch.node));
                }
                if branch.values.len() != n_values {
                    return Err(format!(
                        "node {i} has a branch that does not have {n_values} values"
                    ));
                }
                branches.push((branch.values, NodeId::new(branch.node)));
            }
            nodes.push(StrategyNode::Play { scope, branches });
        }
        Ok(Strategy { winner, nodes, root: NodeId::new(self.root) })
    }
}

/// The names of the variables of a scope that are chosen.
fn chosen(model: &Model, scope: ScopeId) -> Vec<String> {
    let free = model.scope(scope).variables.iter();
    free.filter(|&&x| model.variable(x).definition.is_none())
        .map(|&x| model.name(x).to_string())
        .collect()
}

/// A choice as text: `x = 3, y = 1`.
pub fn shown_choice(model: &Model, scope: ScopeId, values: &[Value]) -> String {
    let free = model.scope(scope).variables.iter().copied();
    let free = free.filter(|&x| model.variable(x).definition.is_none());
    let parts: Vec<String> = free
        .zip(values)
        .map(|(x, &value)| format!("{} = {}", model.name(x), model.label(x, value)))
        .collect();
    parts.join(", ")
}

/// Values alone, for edges whose node names the variables.
fn shown_values(model: &Model, scope: ScopeId, values: &[Value]) -> String {
    let free = model.scope(scope).variables.iter().copied();
    let free = free.filter(|&x| model.variable(x).definition.is_none());
    let parts: Vec<String> = free.zip(values).map(|(x, &value)| model.label(x, value)).collect();
    parts.join(" ")
}

/// The label of a node: the scope, or how the play ends.
fn node_label(model: &Model, strategy: &Strategy, node: &StrategyNode) -> String {
    match node {
        StrategyNode::End => (strategy.winner == Quantifier::Exists).to_string(),
        StrategyNode::Play { scope, branches } => {
            let scope = model.scope(*scope);
            let sign = if scope.quantifier == Quantifier::Exists { '∃' } else { '∀' };
            let end = if branches.is_empty() { " blocked" } else { "" };
            format!("{sign} {}{end}", scope.name)
        }
    }
}

/// Most nodes of a picture.
const MAX_DRAWN: usize = 3000;

/// A picture with a row for each scope.
fn to_svg(model: &Model, strategy: &Strategy) -> Result<String, Failure> {
    if strategy.nodes.len() > MAX_DRAWN {
        let message = format!(
            "a strategy of {} nodes is too large for a picture; write it as .json or .dot",
            strategy.nodes.len()
        );
        return Err(Failure::Limit(message));
    }
    let n_scopes = model.scopes().len();
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, node) in strategy.nodes.iter().enumerate() {
        let row = match node {
            StrategyNode::End => n_scopes,
            StrategyNode::Play { scope, .. } => scope.index(),
        };
        rows.entry(row).or_default().push(i);
    }
    let widest = rows.values().map(Vec::len).max().unwrap_or(1);
    let (step_x, step_y) = (110.0, 90.0);
    let (width, height) = (step_x * widest as f64 + 20.0, step_y * rows.len() as f64);
    let mut places = vec![(0.0, 0.0); strategy.nodes.len()];
    for (y, row) in rows.values().enumerate() {
        let left = (width - step_x * row.len() as f64) / 2.0;
        for (x, &i) in row.iter().enumerate() {
            places[i] = (left + step_x * (x as f64 + 0.5), step_y * (y as f64 + 0.5));
        }
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n"
    );
    for (i, node) in strategy.nodes.iter().enumerate() {
        let StrategyNode::Play { scope, branches } = node else { continue };
        for (values, child) in branches {
            let ((x1, y1), (x2, y2)) = (places[i], places[child.index()]);
            let (from, to) = (y1 + 14.0, y2 - 14.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{x1}\" y1=\"{from}\" x2=\"{x2}\" y2=\"{to}\" stroke=\"#999\"/>\
                 <text x=\"{}\" y=\"{}\" fill=\"#555\">{}</text>",
                x1 + (x2 - x1) * 0.35,
                from + (to - from) * 0.35,
                escaped(&shown_values(model, *scope, values)),
            );
        }
    }
    for (i, node) in strategy.nodes.iter().enumerate() {
        let (x, y) = places[i];
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"100\" height=\"28\" rx=\"6\" fill=\"#fff\" \
             stroke=\"#333\"/><text x=\"{x}\" y=\"{}\">{}</text>",
            x - 50.0,
            y - 14.0,
            y + 4.0,
            escaped(&node_label(model, strategy, node)),
        );
    }
    Ok(svg + "</svg>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Model, Strategy) {
        let mut model = Model::new();
        model.exists("x");
        let x = model.int("x", 0..=1);
        model.forall("y");
        let y = model.int("y", 0..=1);
        model.goal(x.equals(1) | y.equals(0));
        let play = |scope, branches| StrategyNode::Play { scope: ScopeId::new(scope), branches };
        let nodes = vec![
            StrategyNode::End,
            play(1, vec![(vec![0], NodeId::new(0)), (vec![1], NodeId::new(0))]),
            play(0, vec![(vec![1], NodeId::new(1))]),
        ];
        (model, Strategy { winner: Quantifier::Exists, nodes, root: NodeId::new(2) })
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (model, strategy) = example();
        let json = serde_json::to_string(&StrategyJson::new(&model, &strategy)).unwrap();
        assert_eq!(read(&model, &json, "x.json").unwrap(), strategy);
        let broken = json.replace("\"node\":1", "\"node\":2");
        assert!(read(&model, &broken, "x.json").is_err());
        assert!(read(&model, "{", "x.json").is_err());
    }

    #[test]
    fn pictures_show_every_node() {
        let (model, strategy) = example();
        assert_eq!(to_svg(&model, &strategy).unwrap().matches("<rect").count(), 3);
    }
}

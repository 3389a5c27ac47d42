//! Strategies as Graphviz text.

use std::fmt::Write;

use super::{Strategy, StrategyNode};
use crate::model::Model;

/// Formats the strategy as a graph in the DOT language: boxes are nodes of the winner, ellipses
/// those of the opponent.
pub fn strategy_dot(model: &Model, strategy: &Strategy) -> String {
    let mut text = String::from("digraph strategy {\n");
    for (i, node) in strategy.nodes.iter().enumerate() {
        match node {
            StrategyNode::End => {
                let _ = writeln!(text, "  n{i} [shape=plaintext, label=\"end\"];");
            }
            StrategyNode::Play { scope, branches } => {
                let scope = model.scope(*scope);
                let shape = if scope.quantifier == strategy.winner { "box" } else { "ellipse" };
                let blocked = if branches.is_empty() { " blocked" } else { "" };
                let name = format!("{} {}{blocked}", scope.quantifier.name(), scope.name);
                let _ = writeln!(text, "  n{i} [shape={shape}, label=\"{}\"];", escaped(&name));
                let chosen: Vec<_> = scope
                    .variables
                    .iter()
                    .filter(|x| model.variable(**x).definition.is_none())
                    .collect();
                for (values, next) in branches {
                    let pairs = chosen.iter().zip(values);
                    let parts: Vec<String> = pairs
                        .map(|(x, value)| {
                            format!("{} = {}", model.name(**x), model.label(**x, *value))
                        })
                        .collect();
                    let label = escaped(&parts.join(", "));
                    let _ = writeln!(text, "  n{i} -> n{} [label=\"{label}\"];", next.index());
                }
            }
        }
    }
    text.push_str("}\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

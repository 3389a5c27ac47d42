//! Constraint models from visitors: solved within limits, with the strategy or policy as a tree.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Source};
use ludex_csp::{Value, VarId};
use ludex_model::{Data, ModelLimits, Problem, compile};
use ludex_qcsp::{Model, Quantifier, ScopeId, StrategyNode, StrategyRequest};
use ludex_scsp::{Aim, PolicyId, PolicyNode, StochasticNetwork};
use serde::Serialize;

use crate::sheet::{self, DiagnosticView};

/// Time for reading and solving a model.
const TIME: Duration = Duration::from_secs(10);
/// Memory for either, in bytes.
const MEMORY: u64 = 300_000_000;
/// Most nodes of a tree that are sent.
const MAX_NODES: usize = 5_000;

/// Models that come with the page.
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
    ("nim", include_str!("../../../models/nim.qcp")),
    ("tic-tac-toe", include_str!("../../../models/tictactoe.qcp")),
    ("matrix game", include_str!("../../../models/matrix-game.qcp")),
    ("scheduling", include_str!("../../../models/scheduling.qcp")),
    ("stock", include_str!("../../../models/stock.qcp")),
];

/// What the page shows of a model.
#[derive(Clone, Default, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelView {
    /// The mistakes and remarks, in order of place.
    pub diagnostics: Vec<DiagnosticView>,
    /// Why there is no answer, if it is not for a mistake in the model.
    pub message: Option<String>,
    /// `quantified` or `stochastic`; nothing if the model has mistakes.
    pub kind: Option<&'static str>,
    /// `true`, `false` or `unknown`.
    pub verdict: Option<&'static str>,
    /// The optimum, or the probability, as text.
    pub value: Option<String>,
    /// Nodes of the search.
    pub n_nodes: u64,
    /// Time taken.
    pub seconds: f64,
    /// The winner's strategy, or the policy.
    pub tree: Option<TreeView>,
}

/// A strategy or policy. Children come before their parents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeView {
    /// Whose it is.
    pub owner: String,
    /// The first node.
    pub root: usize,
    /// The nodes.
    pub nodes: Vec<TreeNode>,
}

/// A node of a strategy or policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeNode {
    /// Who chooses here, or how it ended.
    pub label: String,
    /// What can happen.
    pub branches: Vec<TreeBranch>,
}

/// What can happen at a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeBranch {
    /// The choice, or what chance draws.
    pub choice: String,
    /// The node that follows.
    pub next: usize,
}

/// Solves a model in the language of Ludex. The data are definitions, `name = value;` each.
pub(crate) fn solve(text: &str, data: &str, stopped: &Arc<AtomicBool>) -> ModelView {
    let start = Instant::now();
    let deadline = Deadline::after(TIME).or_when(Arc::clone(stopped));
    let mut view = ModelView::default();
    let source = Source::new("model", text);
    let data_source = Source::new("data", data);
    let data = match Data::read(&data_source) {
        Ok(data) => data,
        Err(found) => {
            view.message = Some("the data have mistakes".into());
            view.diagnostics = sheet::diagnostics(&data_source, &found);
            return view;
        }
    };
    match compile(&source, &data, &ModelLimits::within(MEMORY), &deadline) {
        Err(_) if deadline.reached() => {
            view.message = Some(format!("the model was not read within {} s", TIME.as_secs()));
        }
        Err(found) => view.diagnostics = sheet::diagnostics(&source, &found),
        Ok(compiled) => {
            view.diagnostics = sheet::diagnostics(&source, &compiled.warnings);
            match compiled.problem {
                Problem::Quantified(model) => quantified(&model, deadline, &mut view),
                other => match other.into_stochastic() {
                    Ok(network) => stochastic(&network, deadline, &mut view),
                    Err(message) => view.message = Some(message),
                },
            }
        }
    }
    view.seconds = start.elapsed().as_secs_f64();
    view
}

fn quantified(model: &Model, deadline: Deadline, view: &mut ModelView) {
    let config = ludex_qcsp::SolveConfig {
        strategy: StrategyRequest::One,
        memory_bytes: MEMORY as usize / 2,
        strategy_bytes: MEMORY as usize / 4,
        deadline,
        ..ludex_qcsp::SolveConfig::default()
    };
    view.kind = Some("quantified");
    let report = match ludex_qcsp::solve(model, &config) {
        Ok(report) => report,
        Err(error) => return view.message = Some(error.to_string()),
    };
    view.verdict = Some(report.verdict.name());
    view.value = report.value.map(|value| value.to_string());
    view.n_nodes = report.statistics.n_nodes;
    view.message = report.strategy_refused.map(|refused| refused.to_string());
    let Some(strategy) = report.strategy else { return };
    if strategy.nodes.len() > MAX_NODES {
        view.message = Some(too_large(strategy.nodes.len()));
        return;
    }
    let is_won = strategy.winner == Quantifier::Exists;
    let node = |node: &StrategyNode| match node {
        StrategyNode::End => TreeNode {
            label: format!("the end: {}", if is_won { "true" } else { "false" }),
            branches: Vec::new(),
        },
        StrategyNode::Play { scope, branches } => TreeNode {
            label: format!(
                "{} `{}`{}",
                model.scope(*scope).quantifier.name(),
                model.scope(*scope).name,
                if branches.is_empty() { " has no choice left" } else { "" }
            ),
            branches: (branches.iter())
                .map(|(values, next)| TreeBranch {
                    choice: choice(model, *scope, values),
                    next: next.index(),
                })
                .collect(),
        },
    };
    view.tree = Some(TreeView {
        owner: strategy.winner.name().into(),
        root: strategy.root.index(),
        nodes: strategy.nodes.iter().map(node).collect(),
    });
}

/// A choice of a scope: `x = 3, y = 1`.
fn choice(model: &Model, scope: ScopeId, values: &[Value]) -> String {
    let free = model.scope(scope).variables.iter().copied();
    let free = free.filter(|&x| model.variable(x).definition.is_none());
    let shown =
        free.zip(values).map(|(x, &it)| format!("{} = {}", model.name(x), model.label(x, it)));
    shown.collect::<Vec<_>>().join(", ")
}

fn stochastic(network: &StochasticNetwork, deadline: Deadline, view: &mut ModelView) {
    view.kind = Some("stochastic");
    if let Some(error) = network.check_by(&deadline).into_iter().next() {
        return view.message = Some(error.to_string());
    }
    let config = ludex_scsp::SolveConfig {
        aim: Aim::Best,
        policy_bytes: MEMORY as usize / 4,
        deadline,
        ..ludex_scsp::SolveConfig::default()
    };
    let report = match ludex_scsp::solve(network, &config) {
        Ok(report) => report,
        Err(error) => return view.message = Some(error.to_string()),
    };
    view.verdict = Some(report.verdict.name());
    view.n_nodes = report.statistics.n_nodes;
    let Some(policy) = report.policy else { return };
    view.value = Some(format!("{:.6}", report.value));
    let n_nodes = policy.n_nodes();
    if n_nodes > MAX_NODES {
        view.message = Some(too_large(n_nodes));
        return;
    }
    // Only what the root leads to, children first.
    let mut numbers = HashMap::new();
    let mut nodes = Vec::new();
    let mut open = vec![(policy.root, false)];
    while let Some((id, is_ready)) = open.pop() {
        if numbers.contains_key(&id) {
            continue;
        }
        let next = match policy.node(id) {
            PolicyNode::End | PolicyNode::GivenUp => Vec::new(),
            PolicyNode::Decide { next, .. } => vec![*next],
            PolicyNode::Draw { branches, .. } => branches.iter().map(|(_, next)| *next).collect(),
        };
        if !is_ready {
            open.push((id, true));
            open.extend(next.into_iter().map(|next| (next, false)));
            continue;
        }
        let branch = |x: VarId, value: Value, next: &PolicyId| TreeBranch {
            choice: format!("{} = {}", network.name(x), shown(network, x, value)),
            next: numbers[next],
        };
        let (label, branches) = match policy.node(id) {
            PolicyNode::End => ("the end".into(), Vec::new()),
            PolicyNode::GivenUp => ("given up".into(), Vec::new()),
            PolicyNode::Decide { variable, value, next } => {
                let label = format!("decide `{}`", network.name(*variable));
                (label, vec![branch(*variable, *value, next)])
            }
            PolicyNode::Draw { variable, branches } => {
                let label = format!("chance draws `{}`", network.name(*variable));
                let branches = branches.iter().map(|(value, next)| branch(*variable, *value, next));
                (label, branches.collect())
            }
        };
        numbers.insert(id, nodes.len());
        nodes.push(TreeNode { label, branches });
    }
    view.tree = Some(TreeView { owner: "the policy".into(), root: numbers[&policy.root], nodes });
}

fn shown(network: &StochasticNetwork, x: VarId, value: Value) -> String {
    let labels = network.variable(x).variable.labels.as_ref();
    let label = labels.and_then(|labels| labels.get(usize::try_from(value).ok()?));
    label.cloned().unwrap_or_else(|| value.to_string())
}

fn too_large(n_nodes: usize) -> String {
    format!(
        "the tree has {n_nodes} nodes; the page shows {MAX_NODES}: use `ludex qcsp solve --strategy`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(text: &str) -> ModelView {
        solve(text, "", &Arc::default())
    }

    #[test]
    fn a_quantified_model_has_a_strategy() {
        let view = solved(EXAMPLES[0].1);
        assert_eq!((view.kind, view.message), (Some("quantified"), None));
        let tree = view.tree.expect("a strategy");
        let root = &tree.nodes[tree.root];
        assert!(!root.branches.is_empty());
        for (at, node) in tree.nodes.iter().enumerate() {
            assert!(node.branches.iter().all(|it| it.next < at), "children come first");
        }
    }

    #[test]
    fn a_stochastic_model_has_a_policy() {
        let view = solved(EXAMPLES[4].1);
        assert_eq!((view.kind, view.message), (Some("stochastic"), None));
        assert!(view.value.is_some());
        let tree = view.tree.expect("a policy");
        assert!(tree.nodes.iter().any(|node| node.label.starts_with("chance draws")));
    }

    #[test]
    fn every_example_is_answered() {
        for (name, text) in EXAMPLES {
            let view = solved(text);
            assert!(view.verdict.is_some_and(|it| it != "unknown"), "{name}: {view:?}");
        }
    }

    #[test]
    fn mistakes_are_shown_with_their_place() {
        let view = solved("exists x: {0, 1};\n nonsense");
        assert_eq!(view.verdict, None);
        assert!(!view.diagnostics.is_empty());
        assert!(view.diagnostics[0].line >= 1);
    }
}

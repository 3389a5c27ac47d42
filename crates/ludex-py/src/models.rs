//! Constraint models: plain, quantified and stochastic.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ludex_base::{Deadline, Source};
use ludex_csp::{Network, SearchConfig, Value};
use ludex_formats::Format;
use ludex_model::{Data, Datum, ModelLimits, Problem};
use ludex_qcsp::{Quantifier, Strategy, StrategyNode, StrategyRequest};
use ludex_scsp::{Aim, Policy, PolicyNode, StochasticNetwork};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::errors::{LudexError, RulesError, interruptible, place};
use crate::game::{as_json, seconds};

/// Solves a constraint model: a text in the language of `.qcp` files, or the path of a `.qcp`, XCSP3 or
/// QDIMACS file. `data` gives values to the parameters of a `.qcp` model.
///
/// The answer has `kind`, `verdict` (`"true"`, `"false"` or `"unknown"`), `value` (the optimum, or the
/// satisfaction of a policy), `solution` (values by variable, or the first decisions of a policy) and
/// `complete` (whether nothing better can exist).
#[pyfunction]
#[pyo3(signature = (model, data = None, *, time = 3_600.0))]
pub fn solve_model<'py>(
    py: Python<'py>,
    model: &str,
    data: Option<&Bound<'py, PyDict>>,
    time: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let data = data.map_or_else(|| Ok(Data::default()), read_data)?;
    let stop = Arc::new(AtomicBool::new(false));
    let deadline = Deadline::after(seconds(time)?).or_when(Arc::clone(&stop));
    let (source, format) = find_model(model)?;
    let answer = interruptible(py, &stop, || -> PyResult<Answer> {
        answer(read_problem(&source, format, &data, &deadline)?, deadline)
    })??;
    let report = PyDict::new(py);
    report.set_item("kind", answer.kind)?;
    report.set_item("verdict", answer.verdict)?;
    report.set_item("value", answer.value)?;
    let solution = PyDict::new(py);
    for (name, shown) in &answer.solution {
        match shown {
            Shown::Number(number) => solution.set_item(name, number)?,
            Shown::Label(label) => solution.set_item(name, label)?,
        }
    }
    report.set_item("solution", (!answer.solution.is_empty()).then_some(solution))?;
    report.set_item("complete", answer.is_complete)?;
    report.set_item("strategy", answer.strategy.map(|it| as_json(&it)).transpose()?)?;
    report.set_item("nodes", answer.n_nodes)?;
    Ok(report)
}

/// A value as a person reads it.
enum Shown {
    Number(Value),
    Label(String),
}

struct Answer {
    kind: &'static str,
    verdict: &'static str,
    value: Option<f64>,
    solution: Vec<(String, Shown)>,
    is_complete: bool,
    n_nodes: u64,
    strategy: Option<Plan>,
}

/// A strategy or a policy: what is chosen, after everything that an opponent or chance did.
#[derive(serde::Serialize)]
struct Plan {
    /// Whose it is: `exists` or `forall`.
    winner: &'static str,
    root: usize,
    nodes: Vec<PlanNode>,
}

/// One place of a plan. Without branches, it is over.
#[derive(serde::Serialize)]
struct PlanNode {
    /// Who chooses here: `exists`, `forall` or `random`; `end`, or `given-up` where a policy ends early.
    by: &'static str,
    variables: Vec<String>,
    /// The values of the variables, and the node that follows.
    branches: Vec<(Vec<Value>, usize)>,
}

fn find_model(model: &str) -> PyResult<(Source, Option<Format>)> {
    if model.contains(';') || model.contains('\n') {
        return Ok((Source::new("model", model), None));
    }
    let text = std::fs::read_to_string(Path::new(model))?;
    Ok((Source::new(model, text), Format::of_file(model)))
}

fn read_problem(
    source: &Source,
    format: Option<Format>,
    data: &Data,
    deadline: &Deadline,
) -> PyResult<Problem> {
    if let Some(format) = format {
        return ludex_formats::read(source.text(), format, deadline)
            .map_err(|error| RulesError::new_err(format!("{}: {error}", source.name())));
    }
    let compiled = ludex_model::compile(source, data, &ModelLimits::default(), deadline);
    match compiled {
        Ok(compiled) => Ok(compiled.problem),
        Err(diagnostics) => {
            let line = |it: &ludex_base::Diagnostic| {
                format!("{}: {} [{}]", place(source, it.span), it.message, it.code)
            };
            let lines: Vec<String> = diagnostics.iter().map(line).collect();
            Err(RulesError::new_err(lines.join("\n")))
        }
    }
}

fn answer(problem: Problem, deadline: Deadline) -> PyResult<Answer> {
    let fault = |error: &dyn std::fmt::Display| LudexError::new_err(error.to_string());
    match problem {
        Problem::Plain(network) => plain(&network, deadline),
        Problem::Stochastic(network) => stochastic(&network, deadline),
        Problem::Quantified(model) => {
            // Without an opponent it is a plain network.
            if let Ok(network) = Problem::Quantified(model.clone()).into_network() {
                return plain(&network, deadline);
            }
            let strategy = StrategyRequest::One;
            let config = ludex_qcsp::SolveConfig { deadline, strategy, ..Default::default() };
            let report = ludex_qcsp::solve(&model, &config).map_err(|error| fault(&error))?;
            Ok(Answer {
                kind: "quantified",
                verdict: report.verdict.name(),
                value: report.value.map(|value| value as f64),
                solution: Vec::new(),
                is_complete: !matches!(report.verdict, ludex_csp::Verdict::Unknown(_)),
                n_nodes: report.statistics.n_nodes,
                strategy: report.strategy.map(|it| plan_of_strategy(&model, &it)),
            })
        }
    }
}

fn plan_of_strategy(model: &ludex_qcsp::Model, strategy: &Strategy) -> Plan {
    let by = |quantifier: Quantifier| match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::Forall => "forall",
    };
    let node = |node: &StrategyNode| match node {
        StrategyNode::End => PlanNode { by: "end", variables: Vec::new(), branches: Vec::new() },
        StrategyNode::Play { scope, branches } => {
            let scope = model.scope(*scope);
            let chosen =
                scope.variables.iter().filter(|&&x| model.variable(x).definition.is_none());
            PlanNode {
                by: by(scope.quantifier),
                variables: chosen.map(|&x| model.name(x).to_owned()).collect(),
                branches: branches.iter().map(|(it, next)| (it.clone(), next.index())).collect(),
            }
        }
    };
    Plan {
        winner: by(strategy.winner),
        root: strategy.root.index(),
        nodes: strategy.nodes.iter().map(node).collect(),
    }
}

fn plan_of_policy(network: &StochasticNetwork, policy: &Policy) -> Plan {
    let leaf = |by| PlanNode { by, variables: Vec::new(), branches: Vec::new() };
    let node = |node: &PolicyNode| match node {
        PolicyNode::End => leaf("end"),
        PolicyNode::GivenUp => leaf("given-up"),
        PolicyNode::Decide { variable, value, next } => PlanNode {
            by: "exists",
            variables: vec![network.name(*variable).to_string()],
            branches: vec![(vec![*value], next.index())],
        },
        PolicyNode::Draw { variable, branches } => PlanNode {
            by: "random",
            variables: vec![network.name(*variable).to_string()],
            branches: branches.iter().map(|(value, next)| (vec![*value], next.index())).collect(),
        },
    };
    Plan {
        winner: "exists",
        root: policy.root.index(),
        nodes: policy.nodes.iter().map(node).collect(),
    }
}

fn plain(network: &Network, deadline: Deadline) -> PyResult<Answer> {
    let config = SearchConfig { deadline, ..SearchConfig::default() };
    let report = ludex_csp::solve(network, &config)
        .map_err(|error| LudexError::new_err(error.to_string()))?;
    let solution = report.best().map_or_else(Vec::new, |values| {
        let shown = |x: ludex_csp::VarId| {
            let (variable, value) = (network.variable(x), values[x.index()]);
            let shown = match variable.labels {
                Some(_) => Shown::Label(network.label(x, value).to_string()),
                None => Shown::Number(value),
            };
            (variable.name.clone(), shown)
        };
        (0..network.variables().len()).map(|idx| shown(ludex_csp::VarId::new(idx))).collect()
    });
    Ok(Answer {
        kind: "plain",
        verdict: report.verdict().name(),
        value: report.value.map(|value| value as f64),
        solution,
        is_complete: report.is_complete(),
        n_nodes: report.statistics.n_nodes,
        strategy: None,
    })
}

fn stochastic(network: &StochasticNetwork, deadline: Deadline) -> PyResult<Answer> {
    let config = ludex_scsp::SolveConfig { deadline, aim: Aim::Best, ..Default::default() };
    let report = ludex_scsp::solve(network, &config)
        .map_err(|error| LudexError::new_err(error.to_string()))?;
    let mut solution = Vec::new();
    if let Some(policy) = &report.policy {
        let mut at = policy.root;
        while let PolicyNode::Decide { variable, value, next } = policy.node(at) {
            solution.push((network.name(*variable).to_string(), Shown::Number(*value)));
            at = *next;
        }
    }
    Ok(Answer {
        kind: "stochastic",
        verdict: report.verdict.name(),
        value: Some(report.value),
        solution,
        is_complete: report.stopped.is_none(),
        n_nodes: report.statistics.n_nodes,
        strategy: report.policy.map(|it| plan_of_policy(network, &it)),
    })
}

fn read_data(data: &Bound<'_, PyDict>) -> PyResult<Data> {
    let mut read = Data::default();
    for (name, value) in data {
        read.values.insert(name.extract()?, read_datum(&value)?);
    }
    Ok(read)
}

fn read_datum(value: &Bound<'_, PyAny>) -> PyResult<Datum> {
    // In Python a truth value is also a number.
    if value.is_instance_of::<PyBool>() {
        return Ok(Datum::Bool(value.extract()?));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Datum::Int(number));
    }
    if let Ok(name) = value.extract::<String>() {
        return Ok(Datum::Name(name));
    }
    if let Ok(list) = value.extract::<Vec<Bound<'_, PyAny>>>() {
        return Ok(Datum::List(list.iter().map(read_datum).collect::<PyResult<_>>()?));
    }
    if let Ok(set) = value.extract::<std::collections::BTreeSet<i64>>() {
        return Ok(Datum::Set(set.into_iter().map(|it| (it, it)).collect()));
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("a parameter cannot be of type {kind}")))
}

//! `ludex translate`: a game as a constraint network.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use ludex_csp::propagators::table::STAR;
use ludex_csp::{Constraint, Expr, Network, xcsp3};
use ludex_encode::{EncodeConfig, Sizes, Template, encode};
use ludex_pipeline::Engine;
use serde::Serialize;

use crate::args::{Common, EngineChoice, NetworkForm};
use crate::failure::{DONE, Failure};
use crate::load::load;
use crate::{input, output};

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
    groups: usize,
    /// What roles learn of a step: `complete`, `shared`, `private` or `unknown`.
    information: &'static str,
    percepts: usize,
    chance: usize,
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
    let start = Instant::now();
    let template = encode(machine.circuit(), &EncodeConfig::default())
        .map_err(|error| Failure::Limit(error.to_string()))?;
    let unrolled = steps.map(|n_steps| template.unrolled(n_steps).network);
    let network = unrolled.as_ref().unwrap_or(&template.network);
    let time = start.elapsed();
    if common.json {
        output::json(&report(input.name, &template, network, steps, output::seconds(time)))?;
    }
    if file.is_none() && common.json {
        return Ok(DONE);
    }
    let text = match form {
        NetworkForm::Xcsp3 => {
            xcsp3::write(network).map_err(|error| Failure::Limit(error.to_string()))?
        }
        NetworkForm::Text => listing(network),
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
    seconds: f64,
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
        seconds,
        groups: template.state_vars.iter().filter(|it| it.fluents.len() > 1).count(),
        information: template.information.name(),
        percepts: template.percepts.len(),
        chance: template.chance.len(),
    }
}

/// Variables with the names of their values, constraints with the names of their variables.
fn listing(network: &Network) -> String {
    let mut text = String::new();
    for variable in network.variables() {
        let values = match &variable.labels {
            Some(labels) => labels.join(", "),
            None => variable.domain.to_string(),
        };
        let _ = writeln!(text, "var {}: {values}", variable.name);
    }
    for constraint in network.constraints() {
        let names: Vec<&str> =
            constraint.scope().iter().map(|&x| &*network.variable(x).name).collect();
        let _ = writeln!(text, "{} on {}", constraint.name(), names.join(" | "));
        if let Constraint::Table { scope, table, .. } = constraint {
            for tuple in table.tuples() {
                let cell = |(&x, &value): (_, &i32)| match value {
                    STAR => "*".to_string(),
                    value => network.label(x, value),
                };
                let cells: Vec<String> = scope.iter().zip(tuple).map(cell).collect();
                let _ = writeln!(text, "  {}", cells.join(" | "));
            }
        } else if let Constraint::Intension(expr) = constraint {
            let _ = writeln!(text, "  {}", expression(network, expr));
        }
    }
    text
}

fn expression(network: &Network, expr: &Expr) -> String {
    let of = |e: &Expr| expression(network, e);
    let joined = |list: &[Expr], word: &str| {
        let parts: Vec<String> = list.iter().map(of).collect();
        format!("({})", parts.join(word))
    };
    match expr {
        Expr::Constant(value) => value.to_string(),
        Expr::Var(x) => network.variable(*x).name.clone(),
        Expr::Compare(op, left, right) => match (&**left, &**right) {
            (Expr::Var(x), Expr::Constant(value)) => {
                let value = i32::try_from(*value)
                    .map_or_else(|_| value.to_string(), |value| network.label(*x, value));
                format!("{} {} {value}", of(left), op.name())
            }
            _ => format!("{} {} {}", of(left), op.name(), of(right)),
        },
        Expr::In(inner, set) => match &**inner {
            Expr::Var(x) => {
                let labels: Vec<String> =
                    set.iter().map(|value| network.label(*x, value)).collect();
                format!("{} in {{{}}}", of(inner), labels.join(", "))
            }
            _ => format!("{} in {{{set}}}", of(inner)),
        },
        Expr::Not(inner) => format!("not {}", of(inner)),
        Expr::And(list) => joined(list, " and "),
        Expr::Or(list) => joined(list, " or "),
        Expr::Sum(list) => joined(list, " + "),
        other => format!("{other:?}"),
    }
}

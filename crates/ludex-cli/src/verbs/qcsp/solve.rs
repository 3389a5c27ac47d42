//! `ludex qcsp solve`: whether a quantified network is true, its optimum and its strategy.

use std::fs;
use std::time::Instant;

use ludex_base::Deadline;
use ludex_csp::Verdict;
use ludex_pipeline::LoadOptions;
use ludex_qcsp::{
    Model, Optimality, Quantifier, Report, SolveConfig, StrategyRequest, check_optimality,
    check_strategy, solve,
};
use serde::Serialize;

use super::{input, strategy};
use crate::args::{Common, QcspSolve};
use crate::failure::{DONE, Failure, INVALID_INPUT, LIMIT};
use crate::input::read_text;
use crate::output;

/// Solves the model in a file, or does the other job of the call.
pub fn run(args: &QcspSolve, common: &Common) -> Result<u8, Failure> {
    let start = Instant::now();
    let deadline = common.time.map_or_else(Deadline::never, Deadline::after);
    let mut model = input::read(&args.file, common, &deadline)?;
    if let Some(ties) = args.ties {
        let ids: Vec<_> = (0..model.scopes().len()).map(ludex_qcsp::ScopeId::new).collect();
        ids.into_iter().for_each(|id| model.ties(id, ties));
    }
    if let Some(file) = &args.xcsp3 {
        return export(&model, file, &args.file.file, ludex_formats::xcsp3::quantified::write);
    }
    if let Some(file) = &args.qdimacs {
        return export(&model, file, &args.file.file, ludex_formats::qdimacs::write);
    }
    if let Some(file) = &args.check_strategy {
        return check(&model, file, common);
    }
    let config = config(args, common, deadline);
    let bar = output::spinner(format!("solving {}", args.file.file));
    let report = solve(&model, &config).map_err(|error| Failure::Call(error.to_string()));
    bar.finish_and_clear();
    let report = report?;
    if let (Some(found), Some(file)) = (&report.strategy, &args.strategy) {
        strategy::write(&model, found, file)?;
    }
    let answer = Answer::new(&model, &report, args, start);
    if common.json {
        output::json(&answer)?
    } else {
        output::text(&answer.to_lines())?
    }
    if let Some(refused) = &report.strategy_refused {
        eprintln!("ludex: {refused}");
        return Ok(LIMIT);
    }
    let Verdict::Unknown(reason) = report.verdict else { return Ok(DONE) };
    eprintln!("ludex: stopped by the limit of {}", reason.name());
    Ok(LIMIT)
}

/// Writes a model in another format.
fn export(
    model: &Model,
    file: &str,
    of: &str,
    write: fn(&Model) -> Result<String, ludex_formats::FormatError>,
) -> Result<u8, Failure> {
    let text = write(model).map_err(|error| Failure::File {
        path: of.into(),
        code: "unsupported-element",
        line: None,
        message: error.to_string(),
    })?;
    match file {
        "-" => output::text(&text)?,
        file => fs::write(file, text)?,
    }
    Ok(DONE)
}

#[derive(Serialize)]
struct CheckJson {
    ok: bool,
    winner: &'static str,
    strategy_nodes: usize,
    /// Whether every choice of an optimizing scope is optimal; null if that is unknown or there is
    /// nothing to optimize.
    optimal: Option<bool>,
    optimality: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Most choices to try when checking whether a strategy is optimal.
const MAX_CHOICES: u64 = 5_000_000;

/// Accepts or refutes a strategy from a file.
fn check(model: &Model, file: &str, common: &Common) -> Result<u8, Failure> {
    let max_bytes = common.memory.unwrap_or(LoadOptions::default().memory);
    let text = read_text(file, max_bytes)?;
    let found = strategy::read(model, &text, file)?;
    let mut problem = check_strategy(model, &found).err().map(|refuted| refuted.to_string());
    let (optimal, optimality) = match &problem {
        None => optimality(&check_optimality(model, &found, MAX_CHOICES)),
        Some(_) => (None, "not checked: the strategy does not win".to_string()),
    };
    if optimal == Some(false) {
        problem = Some(optimality.clone());
    }
    let winner = found.winner.name();
    if common.json {
        let strategy_nodes = found.n_nodes();
        output::json(&CheckJson {
            ok: problem.is_none(),
            winner,
            strategy_nodes,
            optimal,
            optimality: optimality.clone(),
            problem: problem.clone(),
        })?;
    }
    match problem {
        None if common.json => Ok(DONE),
        None => {
            output::text(&format!(
                "`{file}` is a winning strategy of `{winner}`\noptimality: {optimality}\n"
            ))?;
            Ok(DONE)
        }
        Some(problem) => {
            eprintln!("ludex: `{file}` is refuted: {problem}");
            Ok(INVALID_INPUT)
        }
    }
}

/// Whether a strategy is optimal, if known, with an explanation.
fn optimality(found: &Optimality) -> (Option<bool>, String) {
    let shown = |value: &Option<i64>| value.map_or("none".into(), |value| value.to_string());
    match found {
        Optimality::Certified => (Some(true), "every choice is optimal in its scope".into()),
        Optimality::NothingToOptimize => (None, "there is nothing to optimize".into()),
        Optimality::Refuted { scope, found, best } => (
            Some(false),
            format!(
                "in scope `{scope}` a choice is worth {}, the best one {}",
                shown(found),
                shown(best)
            ),
        ),
        Optimality::AnyTies { scope } => {
            (None, format!("not certified: `{scope}` takes any of equally good choices"))
        }
        _ => (None, format!("not certified: it takes more than {MAX_CHOICES} choices to compare")),
    }
}

fn config(args: &QcspSolve, common: &Common, deadline: Deadline) -> SolveConfig {
    let default = SolveConfig::default();
    // Several threads find strategies in any order, but a seed promises a repeatable run.
    let n_threads = match (common.seed, common.threads) {
        (Some(_), None) => 1,
        _ => common.n_threads(),
    };
    let share = common.memory.map_or(default.memory_bytes, |bytes| (bytes / 2) as usize);
    SolveConfig {
        propagation: args.propagation,
        consistency: args.consistency,
        value_order: args.order,
        memory: !args.no_memory,
        symmetry: !args.no_symmetry,
        backjumping: args.backjumping,
        learning: args.learning,
        pure_values: args.pure_values,
        branch_and_bound: !args.no_bounds,
        deepening: args.deepening,
        strategy: match (args.all_strategies, &args.strategy) {
            (true, _) => StrategyRequest::All,
            (false, Some(_)) => StrategyRequest::One,
            (false, None) => StrategyRequest::None,
        },
        memory_bytes: share,
        strategy_bytes: common.memory.map_or(default.strategy_bytes, |bytes| (bytes / 4) as usize),
        n_threads,
        seed: common.seed(),
        deadline,
        ..default
    }
}

/// The report.
#[derive(Serialize)]
struct Answer {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    nodes: u64,
    seconds: f64,
    /// Nodes of the strategy; 0 if the call did not ask for one.
    strategy_nodes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    plays: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategies: Option<u64>,
    /// Nodes and branches of the strategy, scope by scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strategy_scopes: Vec<ScopeBranches>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy_refused: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    scopes: usize,
    variables: usize,
    memory_hits: u64,
    max_depth: usize,
    setup_seconds: f64,
}

#[derive(Serialize)]
struct ScopeBranches {
    scope: String,
    nodes: usize,
    branches: usize,
}

impl ScopeBranches {
    fn all(model: &Model, strategy: &ludex_qcsp::Strategy) -> Vec<Self> {
        let counts = strategy.branches_by_scope(model.scopes().len());
        let scopes = model.scopes().iter().zip(counts);
        scopes
            .map(|(scope, (nodes, branches))| Self { scope: scope.name.clone(), nodes, branches })
            .collect()
    }
}

impl Answer {
    fn new(model: &Model, report: &Report, args: &QcspSolve, start: Instant) -> Self {
        let count = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
        let owner = |scope| -> Quantifier { model.scope(scope).quantifier };
        let found = report.strategy.as_ref();
        let statistics = &report.statistics;
        let total = start.elapsed();
        Self {
            status: report.verdict.name(),
            value: report.value,
            nodes: statistics.n_nodes,
            seconds: output::seconds(total),
            strategy_nodes: found.map_or(0, ludex_qcsp::Strategy::n_nodes),
            plays: found.map(|strategy| count(strategy.n_plays())),
            strategies: found
                .filter(|_| args.all_strategies)
                .map(|strategy| count(strategy.n_strategies(owner))),
            strategy_scopes: found.map_or_else(Vec::new, |found| ScopeBranches::all(model, found)),
            strategy_refused: report.strategy_refused.map(|refused| refused.to_string()),
            stopped: match report.verdict {
                Verdict::Unknown(reason) => Some(reason.name()),
                _ => None,
            },
            scopes: model.scopes().len(),
            variables: model.variables().len(),
            memory_hits: statistics.n_memory_hits,
            max_depth: statistics.max_depth,
            setup_seconds: output::seconds(
                total.saturating_sub(statistics.time) + statistics.setup_time,
            ),
        }
    }

    fn to_lines(&self) -> String {
        let mut text = self.status.to_string();
        if let Some(value) = self.value {
            text += &format!(", value {value}");
        }
        text += &format!(" ({} nodes, {:.3} s)\n", self.nodes, self.seconds);
        if let Some(plays) = self.plays {
            text += &format!("strategy: {} nodes, {plays} plays\n", self.strategy_nodes);
        }
        if let Some(strategies) = self.strategies {
            text += &format!("winning strategies: {strategies}\n");
        }
        text
    }
}

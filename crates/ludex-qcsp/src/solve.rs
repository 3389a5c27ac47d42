//! The entry point: from a model to a report.

use std::sync::Arc;
use std::time::Instant;

use ludex_base::StopReason;
use ludex_csp::{Expr, Verdict};

use crate::config::{Report, SolveConfig, Statistics, StrategyRequest};
use crate::consistency::{enforce, pure_values};
use crate::error::ModelError;
use crate::model::Model;
use crate::schedule::{Schedule, schedule};
use crate::scope::Quantifier;
use crate::search::optimize::{NONE, Outcome};
use crate::search::{Memory, Searcher, Stopped, extract, parallel, share};

/// Solves a model.
///
/// # Errors
/// Returns an error if the model is invalid (see [`Model::check`]), or if an option does not apply.
pub fn solve(model: &Model, config: &SolveConfig) -> Result<Report, ModelError> {
    if let Some(error) = model.check().into_iter().next() {
        return Err(error);
    }
    const MAX_ON_THIS_STACK: usize = 200;
    if model.variables().len() + model.scopes().len() <= MAX_ON_THIS_STACK {
        return solve_here(model, config);
    }
    // The recursion is as deep as the prefix is long.
    let stack_bytes = stack_bytes(model);
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(stack_bytes);
        let worker = builder.spawn_scoped(scope, || solve_here(model, config));
        worker.expect("a thread can be started").join().expect("the search does not panic")
    })
}

fn solve_here(model: &Model, config: &SolveConfig) -> Result<Report, ModelError> {
    let start = Instant::now();
    if config.consistency.is_some() || config.pure_values {
        return solve_reduced(model, config, start);
    }
    // Measures of losing choices do not matter, but ties are broken among the remaining choices.
    let fuses_goal = !model.is_optimization();
    let schedule = schedule(model, config.symmetry, fuses_goal)?;
    let memory = Arc::new(Memory::new(config.memory_bytes));
    let mut searcher = Searcher::new(&schedule, config, memory)?;
    let setup_time = start.elapsed();
    let (verdict, value) = if is_parallel(&searcher) {
        let found = decide_by_threads(&mut searcher, stack_bytes(model))?;
        (found.map_or_else(|stopped| Verdict::Unknown(stopped.0), Verdict::from), None)
    } else if config.n_threads > 1 && model.is_optimization() && share::can_share(&schedule) {
        optimize_by_threads(&mut searcher, stack_bytes(model))?
    } else {
        answer(&schedule, &mut searcher)
    };
    let mut report = Report {
        verdict,
        value,
        strategy: None,
        strategy_refused: None,
        statistics: Statistics::default(),
    };
    if schedule.is_fused && verdict == Verdict::False && config.strategy != StrategyRequest::None {
        // The universal player also answers losing choices.
        let whole = crate::schedule::schedule(model, config.symmetry, false)?;
        let memory = Arc::new(Memory::new(config.memory_bytes));
        add_strategy(&mut report, &mut Searcher::new(&whole, config, memory)?);
    } else {
        add_strategy(&mut report, &mut searcher);
    }
    report.statistics = Statistics { setup_time, time: start.elapsed(), ..searcher.statistics };
    Ok(report)
}

/// Solves a model after reducing its domains. Strategies belong to the original model, in which
/// values that a consistency removed are still choices.
fn solve_reduced(
    model: &Model,
    config: &SolveConfig,
    start: Instant,
) -> Result<Report, ModelError> {
    let mut reduced = model.clone();
    if let Some(consistency) = config.consistency {
        match enforce(model, consistency)? {
            Some(domains) => reduced = model.with_domains(domains),
            None => reduced.goal(Expr::Constant(0)),
        }
    }
    if config.pure_values {
        reduced = reduced.with_domains(pure_values(&reduced)?);
    }
    let plain = SolveConfig { consistency: None, pure_values: false, ..config.clone() };
    let no_strategy = SolveConfig { strategy: StrategyRequest::None, ..plain.clone() };
    let mut report = solve_here(&reduced, &no_strategy)?;
    if config.strategy != StrategyRequest::None {
        let whole = crate::schedule::schedule(model, config.symmetry, false)?;
        let memory = Arc::new(Memory::new(config.memory_bytes));
        add_strategy(&mut report, &mut Searcher::new(&whole, &plain, memory)?);
    }
    report.statistics.time = start.elapsed();
    Ok(report)
}

/// Decides a model with one thread while it seems small, and then with all threads.
fn decide_by_threads(
    searcher: &mut Searcher<'_>,
    stack_bytes: usize,
) -> Result<Result<bool, Stopped>, ModelError> {
    let config = searcher.config;
    if config.nodes_alone > 0 {
        searcher.max_nodes = config.max_nodes.min(config.nodes_alone);
        let found = searcher.decide_all();
        if found != Err(Stopped(StopReason::Count)) || searcher.max_nodes == config.max_nodes {
            return Ok(found);
        }
        searcher.max_nodes = config.max_nodes;
    }
    if let Some(memory) = Arc::get_mut(&mut searcher.memory) {
        memory.grow_to_share();
    }
    let (found, statistics) = parallel::decide(searcher, stack_bytes)?;
    searcher.statistics.absorb(&statistics);
    Ok(found)
}

/// Whether several threads can share the search.
fn is_parallel(searcher: &Searcher<'_>) -> bool {
    let config = searcher.config;
    config.n_threads > 1
        && !searcher.schedule.model.is_optimization()
        && !(config.refinement && searcher.can_refine())
        && !(config.deepening || config.backjumping || config.learning)
}

fn stack_bytes(model: &Model) -> usize {
    (16 << 20) + (model.variables().len() + model.scopes().len()) * (8 << 10)
}

fn answer(schedule: &Schedule<'_>, searcher: &mut Searcher<'_>) -> (Verdict, Option<i64>) {
    let config = searcher.config;
    if schedule.model.is_optimization() {
        let outcome = searcher.optimize_all();
        return optimum(schedule, &outcome, searcher.incumbents[0]);
    }
    let verdict = if config.refinement && searcher.can_refine() {
        searcher.refine()
    } else if config.deepening {
        deepen(schedule, searcher)
    } else if config.backjumping || config.learning {
        searcher.decide_with_reasons()
    } else {
        searcher.decide_all()
    };
    match verdict {
        Ok(is_true) => (is_true.into(), None),
        Err(Stopped(reason)) => (Verdict::Unknown(reason), None),
    }
}

/// Returns the result of an optimization; if it was stopped, the best value so far.
fn optimum(
    schedule: &Schedule<'_>,
    outcome: &Result<Option<Outcome>, Stopped>,
    incumbent: Option<i64>,
) -> (Verdict, Option<i64>) {
    match outcome {
        Ok(None) => (Verdict::False, None),
        Ok(Some(outcome)) => {
            let value = schedule.measures.root.map(|root| outcome.measures[root]);
            (Verdict::True, value.filter(|&value| value != NONE))
        }
        Err(Stopped(reason)) => (Verdict::Unknown(*reason), incumbent),
    }
}

/// Optimizes with one thread while the model seems small, and then with all threads.
fn optimize_by_threads(
    searcher: &mut Searcher<'_>,
    stack_bytes: usize,
) -> Result<(Verdict, Option<i64>), ModelError> {
    let (schedule, config) = (searcher.schedule, searcher.config);
    if config.nodes_alone > 0 {
        searcher.max_nodes = config.max_nodes.min(config.nodes_alone);
        let outcome = searcher.optimize_all();
        let is_out = outcome == Err(Stopped(StopReason::Count));
        if !is_out || searcher.max_nodes == config.max_nodes {
            return Ok(optimum(schedule, &outcome, searcher.incumbents[0]));
        }
        searcher.max_nodes = config.max_nodes;
    }
    let shared = share::optimize(searcher, stack_bytes)?;
    searcher.statistics.absorb(&shared.statistics);
    Ok(optimum(schedule, &shared.outcome, shared.best))
}

/// Cuts the prefix after more and more scopes. If the model is true even if plays that reach the
/// cut count as lost, it is true; if it is false even if they count as won, it is false.
fn deepen(schedule: &Schedule<'_>, searcher: &mut Searcher<'_>) -> Result<bool, Stopped> {
    let n_scopes = schedule.model.scopes().len();
    for cut in (2..n_scopes).step_by(2) {
        for assumed in [false, true] {
            searcher.cut = Some((cut, assumed));
            searcher.forget();
            if searcher.decide_all()? != assumed {
                searcher.cut = None;
                searcher.forget();
                return Ok(!assumed);
            }
        }
    }
    searcher.cut = None;
    searcher.forget();
    searcher.decide_all()
}

fn add_strategy(report: &mut Report, searcher: &mut Searcher<'_>) {
    let winner = match report.verdict {
        Verdict::True => Quantifier::Exists,
        Verdict::False => Quantifier::Forall,
        Verdict::Unknown(_) => return,
    };
    let takes_all = match searcher.config.strategy {
        StrategyRequest::None => return,
        StrategyRequest::One => false,
        StrategyRequest::All => true,
    };
    match extract(searcher, winner, takes_all) {
        Ok(strategy) => report.strategy = Some(strategy),
        Err(refused) => report.strategy_refused = Some(refused),
    }
}

//! Search for solutions.
//!
//! [`solve`] is the entry point: it posts a network, prepares it and runs [`mac`], on several
//! threads if requested. [`study`] has the older tree searches and [`local`] has min-conflicts;
//! [`solve_by`] runs the search that its options name.

mod heuristics;
pub mod local;
mod mac;
mod nogoods;
mod options;
mod parallel;
mod restarts;
pub mod study;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Seed, StopReason, memory};

use crate::Value;
use crate::error::CspError;
use crate::network::Network;
use crate::post::{PostConfig, Posted};
use crate::preprocess::{preprocess, simplify};
use crate::propagators::ObjectiveBound;
use crate::sac::singleton_consistency;
use crate::verdict::Verdict;

pub use heuristics::{ValueOrder, VariableOrder};
pub use mac::Branching;
pub use options::{SearchMethod, SolveOptions, solve_by};
pub use restarts::Restarts;

/// The solutions to search for. With an objective, the search always looks for the best
/// solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// The first solutions, up to this number.
    First(u64),
    /// All solutions, kept.
    All,
    /// The number of solutions; only the last one is kept.
    Count,
}

/// The configuration of a search.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// How to post constraints.
    pub post: PostConfig,
    /// The solutions to search for.
    pub goal: Goal,
    /// Whether to make the network smaller first; see [`preprocess`](crate::preprocess()).
    pub preprocesses: bool,
    /// The variable to branch on.
    pub variable_order: VariableOrder,
    /// The value to try first.
    pub value_order: ValueOrder,
    /// The branching scheme.
    pub branching: Branching,
    /// When to restart from the root. A search for more than one solution never restarts.
    pub restarts: Restarts,
    /// Whether a restart records the explored part of the tree as nogoods.
    pub records_nogoods: bool,
    /// Whether to branch first on the variable of the last conflict.
    pub uses_last_conflict: bool,
    /// Whether to remove values that fail by propagation alone before the search.
    pub singleton_consistency: bool,
    /// The number of threads.
    pub n_threads: usize,
    /// Largest number of decisions of each thread.
    pub max_nodes: u64,
    /// The seed for ties and random orders.
    pub seed: Seed,
    /// When to stop. The search checks it at every node and, during propagation, every 4 to 256
    /// calls of propagators, depending on their cost.
    pub deadline: Deadline,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            post: PostConfig::default(),
            goal: Goal::First(1),
            preprocesses: true,
            variable_order: VariableOrder::DomWdeg,
            value_order: ValueOrder::LastSolution,
            branching: Branching::Binary,
            restarts: Restarts::Geometric { first: 10, percent: 110 },
            records_nogoods: true,
            uses_last_conflict: true,
            singleton_consistency: false,
            n_threads: 1,
            max_nodes: u64::MAX,
            seed: Seed(0),
            deadline: Deadline::never(),
        }
    }
}

/// Counts and times of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Number of decisions.
    pub n_nodes: u64,
    /// Number of decisions that failed at once or below.
    pub n_conflicts: u64,
    /// Number of restarts.
    pub n_restarts: u64,
    /// Number of nogoods recorded.
    pub n_nogoods: u64,
    /// Number of propagator calls.
    pub n_propagations: u64,
    /// Number of constraints that preprocessing removed.
    pub n_preprocessed: u64,
    /// Number of values removed by singleton consistency.
    pub n_singleton_removals: u64,
    /// Greatest number of decisions on one branch.
    pub max_depth: usize,
    /// Time to post and prepare the network.
    pub setup_time: Duration,
    /// Total time.
    pub time: Duration,
}

impl Statistics {
    fn absorb(&mut self, other: &Statistics) {
        self.n_nodes += other.n_nodes;
        self.n_conflicts += other.n_conflicts;
        self.n_restarts += other.n_restarts;
        self.n_nogoods += other.n_nogoods;
        self.n_propagations += other.n_propagations;
        self.max_depth = self.max_depth.max(other.max_depth);
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The solutions in the order found, with a value for each variable of the network. Only
    /// the last is kept when counting or optimizing.
    pub solutions: Vec<Vec<Value>>,
    /// The number of solutions found. When optimizing, each is better than the one before.
    pub n_solutions: u64,
    /// The value of the objective in the last solution.
    pub value: Option<i64>,
    /// Why the search stopped early; `None` when the answer is complete.
    pub stopped: Option<StopReason>,
    /// Counts and times.
    pub statistics: Statistics,
}

impl Report {
    /// Returns the last solution, which is the best one when there is an objective.
    pub fn best(&self) -> Option<&[Value]> {
        self.solutions.last().map(Vec::as_slice)
    }

    /// Returns whether there is a solution.
    pub fn verdict(&self) -> Verdict {
        match (self.best(), self.stopped) {
            (Some(_), _) => Verdict::True,
            (None, None) => Verdict::False,
            (None, Some(reason)) => Verdict::Unknown(reason),
        }
    }

    /// Whether the answer is proved: the last solution is the best, or there is none.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none()
    }
}

/// Solves a network.
///
/// ```
/// use ludex_csp::{Goal, Network, SearchConfig, solve};
/// let mut network = Network::new();
/// let queens = network.ints("q", 6, 0..6);
/// network.all_different(&queens);
/// network.all_different(queens.iter().enumerate().map(|(i, &q)| q + i as i32));
/// network.all_different(queens.iter().enumerate().map(|(i, &q)| q - i as i32));
/// let config = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
/// assert_eq!(solve(&network, &config)?.n_solutions, 4);
/// # Ok::<(), ludex_csp::CspError>(())
/// ```
///
/// # Errors
/// When the network can't be posted; see [`Network::post`].
pub fn solve(network: &Network, config: &SearchConfig) -> Result<Report, CspError> {
    solve_with(network, config, &mut |_, _| {})
}

/// Solves a network and calls `on_solution` with each solution and its objective.
///
/// # Errors
/// When the network can't be posted; see [`Network::post`].
pub fn solve_with(
    network: &Network,
    config: &SearchConfig,
    on_solution: &mut (dyn FnMut(&[Value], Option<i64>) + Send),
) -> Result<Report, CspError> {
    let start = Instant::now();
    network.check()?;
    let mut report = if config.preprocesses {
        solve_preprocessed(network, config, start, on_solution)?
    } else {
        solve_posted(network, config, start, on_solution)?
    };
    report.statistics.time = start.elapsed();
    Ok(report)
}

type OnSolution<'a> = dyn FnMut(&[Value], Option<i64>) + Send + 'a;

fn solve_preprocessed(
    network: &Network,
    config: &SearchConfig,
    start: Instant,
    on_solution: &mut OnSolution<'_>,
) -> Result<Report, CspError> {
    // Each value of a free variable gives another solution. The variable stays when all of
    // these are to be reported.
    let is_free_dropped =
        network.objective().is_some() || matches!(config.goal, Goal::First(..=1) | Goal::Count);
    let smaller = if is_free_dropped { preprocess(network) } else { simplify(network) };
    let n_preprocessed = (smaller.n_unary + smaller.n_merged + smaller.n_universal) as u64;
    let mut report = if smaller.is_refuted() {
        Report::default()
    } else {
        let mut tell = |solution: &[Value], value| on_solution(&smaller.expand(solution), value);
        solve_posted(&smaller.network, config, start, &mut tell)
            .map_err(|problem| smaller.place(network, problem))?
    };
    for solution in &mut report.solutions {
        *solution = smaller.expand(solution);
    }
    if config.goal == Goal::Count && report.value.is_none() {
        let n_solutions = u128::from(report.n_solutions).checked_mul(smaller.multiplicity());
        report.n_solutions = n_solutions.and_then(|n| n.try_into().ok()).unwrap_or_else(|| {
            // The count exceeds 64 bits.
            report.stopped = Some(StopReason::Count);
            u64::MAX
        });
    }
    report.statistics.n_preprocessed = n_preprocessed;
    Ok(report)
}

fn solve_posted(
    network: &Network,
    config: &SearchConfig,
    start: Instant,
    on_solution: &mut OnSolution<'_>,
) -> Result<Report, CspError> {
    match network.post_by(&config.post, &config.deadline) {
        Ok(posted) => Ok(search(posted, config, start, on_solution)),
        Err(CspError::Stopped(reason)) => Ok(Report { stopped: Some(reason), ..Report::default() }),
        Err(problem) => Err(problem),
    }
}

/// A posted network, ready to be searched.
#[derive(Clone)]
struct Problem {
    posted: Posted,
    bound: Option<Bound>,
}

/// The objective, with the best value that any thread has found.
#[derive(Clone)]
struct Bound {
    x: crate::VarId,
    is_minimized: bool,
    shared: Arc<AtomicI64>,
    propagator: crate::PropagatorId,
}

fn search(
    mut posted: Posted,
    config: &SearchConfig,
    start: Instant,
    on_solution: &mut OnSolution<'_>,
) -> Report {
    let mut report = Report::default();
    // Set when no further solution fits in memory.
    let is_full = Arc::new(AtomicBool::new(false));
    let deadline = config.deadline.clone().or_when(Arc::clone(&is_full));
    let config = &SearchConfig { deadline, ..config.clone() };
    posted.engine.set_deadline(&config.deadline);
    let mut is_consistent = posted.engine.propagate().is_ok();
    if is_consistent && config.singleton_consistency {
        match singleton_consistency(&mut posted.engine, &config.deadline) {
            Ok(n_removed) => report.statistics.n_singleton_removals = n_removed,
            Err(_) => is_consistent = false,
        }
    }
    report.statistics.setup_time = start.elapsed();
    report.statistics.n_propagations = posted.engine.n_propagations();
    if !is_consistent {
        report.stopped = posted.engine.is_stopped().then_some(StopReason::of_deadline());
        return report;
    }
    let bound = posted.objective.map(|(x, is_minimized)| {
        let worst = if is_minimized { i64::MAX } else { i64::MIN };
        let shared = Arc::new(AtomicI64::new(worst));
        let propagator = Box::new(ObjectiveBound::new(x, is_minimized, Arc::clone(&shared)));
        let propagator = posted.engine.post(propagator);
        posted.engine.propagate().expect("a bound that is not set prunes nothing");
        Bound { x, is_minimized, shared, propagator }
    });
    let problem = Problem { posted, bound };
    let mut report = if config.n_threads > 1 {
        parallel::search(problem, config, report, &is_full, on_solution)
    } else {
        let mut mac = mac::Mac::new(problem, config);
        let outcome = mac.run(&mut |solution, value| {
            keep(&mut report, config.goal, solution, value, &is_full);
            on_solution(solution, value);
        });
        report.stopped = outcome;
        report.statistics.absorb(&mac.statistics());
        report
    };
    if is_full.load(Ordering::Relaxed) {
        report.stopped = report.stopped.map(|_| StopReason::Memory);
    }
    report
}

/// Records a solution in the report, or sets `is_full` if there is no memory for it.
fn keep(
    report: &mut Report,
    goal: Goal,
    solution: &[Value],
    value: Option<i64>,
    is_full: &AtomicBool,
) {
    if value.is_some() || goal == Goal::Count {
        report.solutions.clear();
    }
    let n_kept = report.solutions.len();
    if n_kept == report.solutions.capacity() && !memory::has_room(bytes_to_double(n_kept, solution))
    {
        is_full.store(true, Ordering::Relaxed);
    }
    if is_full.load(Ordering::Relaxed) {
        return;
    }
    report.solutions.push(solution.to_vec());
    report.n_solutions += 1;
    report.value = value;
}

/// Bytes for keeping and then writing twice as many solutions: the solutions, the list of them while
/// it is copied, and as much again for a report of them all.
fn bytes_to_double(n_kept: usize, solution: &[Value]) -> u64 {
    let each = size_of_val(solution) + size_of::<Vec<Value>>();
    (n_kept * (each + 2 * size_of::<Vec<Value>>() + 2 * each)) as u64
}

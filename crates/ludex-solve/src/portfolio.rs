//! The choice of methods, and the entry point.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ludex_base::{Limits, StopReason};
use ludex_game::Describe;

use crate::decomposed;
use crate::duel;
use crate::duel::alphabeta::OpenQuestion;
use crate::method::{METHODS, Method};
use crate::problem::{Kind, Problem};
use crate::progress::Progress;
use crate::puzzle;
use crate::puzzle::best_first::Order;
use crate::puzzle::bound::Estimate;
use crate::solution::Solution;

/// The options of [`solve`].
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// The time and the memory of all methods together.
    pub limits: Limits,
    /// The methods to use, in this order; empty to choose by the kind of the game.
    pub methods: Vec<Method>,
    /// Whether to look for a shortest line, after the value of a puzzle is known.
    pub wants_shortest: bool,
    /// Largest number of nodes of each method. With one thread and no deadline, the result then
    /// depends on the rules alone.
    pub max_nodes: u64,
    /// Methods that run at the same time.
    pub n_threads: usize,
    /// Whether to make what a certificate needs.
    pub wants_proofs: bool,
    /// The lower bound of the steps to come, in searches for shortest lines.
    pub estimate: Estimate,
}

impl Default for SolveOptions {
    /// All methods that fit, one after the other, without a deadline.
    fn default() -> Self {
        let limits = Limits::usual();
        Self {
            limits,
            methods: Vec::new(),
            wants_shortest: false,
            max_nodes: u64::MAX,
            n_threads: 1,
            wants_proofs: false,
            estimate: Estimate::Best,
        }
    }
}

/// Solves a game from a state: runs the methods that fit until the value of every role is known, a
/// limit is reached, or no method is left.
///
/// Each thread runs one method after the other. A method that starts gets about twice an equal share
/// of the remaining time: the first are the most likely to succeed, and what one leaves is there for
/// the others. A thread that has no method left helps with the questions of alpha-beta.
pub fn solve<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Solution {
    progress.begin(problem.bounds());
    let usual = METHODS.iter().copied().filter(|method| method.is_usual());
    let mut methods: Vec<Method> =
        if options.methods.is_empty() { usual.collect() } else { options.methods.clone() };
    methods.retain(|method| method.fits(problem.kind()));
    // A thread without a method helps alpha-beta.
    let open_question = OpenQuestion::default();
    let has_help = methods.contains(&Method::AlphaBeta);
    let n_methods = methods.len().max(1);
    let n_threads = options.n_threads.clamp(1, if has_help { usize::MAX } else { n_methods });
    let n_running = n_threads.min(n_methods);
    let stopped: Mutex<Option<StopReason>> = Mutex::new(None);
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let idx = next.fetch_add(1, Relaxed);
            let Some(&method) = methods.get(idx) else { break };
            let part = (2.0 * n_running as f64 / (methods.len() - idx + 1) as f64).min(1.0);
            let deadline = progress.until_settled(&options.limits.deadline.part(part));
            if progress.is_settled() || deadline.reached() {
                break;
            }
            let max_bytes = options.limits.max_bytes / n_running as u64;
            let limits = Limits { deadline, max_bytes, ..options.limits.clone() };
            let options = SolveOptions { limits, ..options.clone() };
            let reason = run(method, problem, &options, progress, &open_question);
            let mut stopped = stopped.lock().expect("no method panics here");
            *stopped = reason.or(*stopped);
        }
        if has_help {
            let deadline = progress.until_settled(&options.limits.deadline);
            duel::alphabeta::help(problem, deadline, progress, &open_question);
        }
    };
    if n_threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            (0..n_threads).for_each(|_| drop(scope.spawn(work)));
        });
    }
    if options.wants_shortest && problem.kind() == Kind::Puzzle {
        run(Method::AStar, problem, options, progress, &open_question);
    }
    // A value that was refuted down to the smallest goal still needs a line.
    let solution = progress.solution();
    if problem.kind() == Kind::Puzzle
        && solution.is_solved()
        && solution.line.is_empty()
        && let Some(line) = puzzle::dive::some_end(problem, options)
        && let Some(goal) = puzzle::play_out(problem, &line)
    {
        let method = solution.method.unwrap_or(Method::Dive);
        progress.reached(method, puzzle::puzzle_role(), goal, &line);
    }
    let solution = progress.solution();
    let stopped = stopped.into_inner().expect("no method panics here");
    let stopped = options.limits.deadline.stop_reason().or(stopped);
    Solution { stopped: stopped.filter(|_| !solution.is_solved()), ..solution }
}

/// Runs one method; returns why it stopped early.
fn run<G: Describe>(
    method: Method,
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
    open_question: &OpenQuestion,
) -> Option<StopReason> {
    match method {
        Method::Placement => puzzle::placement::search(problem, options, progress),
        Method::Parts => decomposed::search(problem, options, progress),
        Method::BestFirst => puzzle::best_first::search(problem, Order::Nearest, options, progress),
        Method::Nested => puzzle::nested::search(problem, options, progress),
        Method::Sat => puzzle::satisfiable::search(problem, options, progress),
        Method::Unrolled => puzzle::unrolled::search(problem, options, progress),
        Method::AStar => puzzle::best_first::search(problem, Order::Shortest, options, progress),
        Method::Dijkstra => puzzle::best_first::search(problem, Order::Cheapest, options, progress),
        Method::IdaStar => puzzle::deepening::search(problem, options, progress),
        Method::Beam => puzzle::beam::search(problem, options, progress),
        Method::Dive => puzzle::dive::search(problem, options, progress),
        Method::Breadth => puzzle::breadth::search(problem, options, progress),
        Method::Graph => duel::enumeration::search(problem, options, progress),
        Method::AlphaBeta => duel::alphabeta::search(problem, options, progress, open_question),
        Method::ProofNumber => duel::proof_number::search(problem, options, progress),
        Method::Expectimax => duel::expectimax::search(problem, options, progress),
    }
}

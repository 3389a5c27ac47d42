//! The choice of methods, and the entry point.

use ludex_base::Limits;
use ludex_game::Game;

use crate::method::{METHODS, Method};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::puzzle;
use crate::solution::Solution;

/// The options of [`solve`].
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// The time and the memory of all methods together.
    pub limits: Limits,
    /// The methods to use, in this order; empty to choose by the kind of the game.
    pub methods: Vec<Method>,
}

impl Default for SolveOptions {
    /// All methods that fit, without a deadline.
    fn default() -> Self {
        Self { limits: Limits::usual(), methods: Vec::new() }
    }
}

/// Solves a game from a state: runs the methods that fit until the value of every role is known, a
/// limit is reached, or no method is left.
pub fn solve<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Solution {
    progress.begin(problem.bounds());
    let wanted = if options.methods.is_empty() { METHODS } else { &options.methods };
    let kind = problem.kind();
    let mut stopped = None;
    for &method in wanted.iter().filter(|method| method.fits(kind)) {
        if progress.is_settled() {
            break;
        }
        stopped = options.limits.deadline.stop_reason();
        if stopped.is_some() {
            break;
        }
        let limits = Limits {
            deadline: progress.until_settled(&options.limits.deadline),
            ..options.limits.clone()
        };
        stopped = match method {
            Method::Breadth => puzzle::breadth::search(problem, &limits, progress),
        };
    }
    let solution = progress.solution();
    Solution { stopped: stopped.filter(|_| !solution.is_solved()), ..solution }
}

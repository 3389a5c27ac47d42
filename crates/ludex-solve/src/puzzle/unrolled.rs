//! Puzzles as one network over all steps of a play.
//!
//! The network of [`ludex_encode::Template`] joins the steps, and its last state is terminal with the
//! goal wanted. The number of steps grows until a play is found. If a clock limits the length of
//! plays, a network of that length without a solution proves that the goal cannot be reached.

use ludex_base::{BitSet, Goal, MoveId, StopReason};
use ludex_csp::{SearchConfig, Value, solve};
use ludex_encode::{EncodeConfig, EncodeError, Template, encode};
use ludex_game::Game;

use super::clock::Clock;
use super::effects::autonomous_fluents;
use super::lanes::Groups;
use super::{goals_of, play_out, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// The largest number of steps if no clock limits it.
const MAX_STEPS: usize = 128;

/// Searches plays of growing length, for the largest goal first. Returns why it stopped early;
/// [`StopReason::Count`] if plays may be longer than it tried, and [`StopReason::Memory`] if the
/// rules are too large to unroll.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let Some(rules) = problem.rules else { return Some(StopReason::Count) };
    let circuit = rules.circuit();
    let state = rules.fluents(&problem.state);
    let config = EncodeConfig {
        deadline: options.limits.deadline.clone(),
        max_bytes: options.limits.max_bytes,
        ..EncodeConfig::default()
    };
    let template = match encode(circuit, &config) {
        Ok(template) => template,
        Err(error) => return Some(reason_of(&error)),
    };
    let limit = if circuit.loops.is_empty() {
        let groups = Groups::new(circuit, Vec::new());
        let clock = Clock::of(circuit, &groups, &autonomous_fluents(circuit), state);
        clock.filter(|it| it.is_limit).map(|it| it.ticks.len() - 1)
    } else {
        None
    };
    let role = puzzle_role();
    let mut goals = goals_of(circuit);
    let search = Search { problem, template: &template, state, config, options, progress };
    while let Some(goal) = goals.pop() {
        let bounds = progress.bounds(role);
        if goal > bounds.upper {
            continue;
        }
        if goal <= bounds.lower {
            return None;
        }
        let mut n_steps = 1;
        loop {
            n_steps = n_steps.min(limit.unwrap_or(MAX_STEPS));
            match search.within(n_steps, goal) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(reason) => return Some(reason),
            }
            if Some(n_steps) == limit {
                let below = goals.last().copied().unwrap_or(Goal::MIN).max(bounds.lower);
                progress.refuted_above(Method::Unrolled, role, below, Evidence::Constraints);
                break;
            }
            if n_steps == MAX_STEPS {
                return Some(StopReason::Count);
            }
            n_steps = n_steps + 1 + n_steps / 4;
        }
    }
    None
}

struct Search<'a, 'b, G: Game> {
    problem: &'a Problem<'b, G>,
    template: &'a Template,
    state: &'a BitSet,
    config: EncodeConfig,
    options: &'a SolveOptions,
    progress: &'a Progress,
}

impl<G: Game> Search<'_, '_, G> {
    /// Looks for a play of at most `n_steps` steps with at least this goal; reports it, and returns
    /// whether there is one.
    fn within(&self, n_steps: usize, goal: Goal) -> Result<bool, StopReason> {
        let Self { template, options, .. } = self;
        let unrolled =
            template.steps_in_a_row(n_steps, &self.config).map_err(|it| reason_of(&it))?;
        let (mut network, steps) = (unrolled.network, unrolled.steps);
        for (var, value) in template.now.iter().zip(template.values_of(self.state)) {
            network.require(steps[0][var.index()].equals(value));
        }
        network.require(steps[n_steps][template.terminal.index()].equals(1));
        let last_goal = steps[n_steps][template.goals[0].index()];
        network.require(last_goal.at_least(Value::from(goal.value())));
        let config = SearchConfig {
            deadline: options.limits.deadline.clone(),
            max_nodes: options.max_nodes,
            ..SearchConfig::default()
        };
        let report = solve(&network, &config).map_err(|_| StopReason::Count)?;
        self.progress.count(0, report.statistics.n_nodes);
        let Some(solution) = report.best() else {
            return report.stopped.map_or(Ok(false), Err);
        };
        let moves = template.moves[0];
        let line: Vec<Vec<MoveId>> = (steps[..n_steps].iter())
            .map_while(|step| moves.played(solution[step[moves.var.index()].index()]))
            .map(|played| vec![played])
            .collect();
        let reached = play_out(self.problem, &line).ok_or(StopReason::Fault)?;
        self.progress.reached(Method::Unrolled, puzzle_role(), reached, &line);
        Ok(true)
    }
}

fn reason_of(error: &EncodeError) -> StopReason {
    match error {
        EncodeError::TooLong { .. } => StopReason::of_deadline(),
        _ => StopReason::Memory,
    }
}

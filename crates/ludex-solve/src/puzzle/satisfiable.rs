//! Puzzles as clauses over all steps of a play, for a SAT solver.
//!
//! The clauses of [`steps`](super::steps) grow with the number of steps, and what the solver has
//! learned stays. If a clock limits the length of plays, clauses of that length that contradict the
//! goal prove that it cannot be reached.
//!
//! After Kautz and Selman, *Planning as Satisfiability*, ECAI 1992, and Eén and Sörensson,
//! *Temporal Induction by Incremental SAT Solving*, 2003. One move is played in a step.

use ludex_base::{Goal, MoveId, StopReason};
use ludex_game::Game;

use super::analysis::Analysis;
use super::clock::Clock;
use super::effects::autonomous_fluents;
use super::groups::find_more_groups;
use super::lanes::Groups;
use super::steps::Steps;
use super::{goals_of, play_out, puzzle_role};
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::solution::Evidence;

/// The largest number of steps if no clock limits it.
const MAX_STEPS: usize = 256;

/// Searches plays of growing length, for the largest goal first. Returns why it stopped early;
/// [`StopReason::Count`] if plays may be longer than it tried.
pub fn search<G: Game>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let limits = &options.limits;
    let Some(rules) = problem.rules else { return Some(StopReason::Count) };
    let Some(circuit) = Analysis::circuit(rules.circuit()) else { return Some(StopReason::Count) };
    let state = rules.fluents(&problem.state);
    let Some(groups) = find_more_groups(&circuit, state, &limits.deadline) else {
        return Some(StopReason::of_deadline());
    };
    let groups = Groups::new(&circuit, groups);
    let clock = Clock::of(&circuit, &groups, &autonomous_fluents(&circuit), state);
    let limit = clock.filter(|it| it.is_limit).map(|it| it.ticks.len() - 1);
    let role = puzzle_role();
    let mut steps = Steps::new(&circuit, &groups.list, state);
    let mut goals = goals_of(&circuit);
    while let Some(goal) = goals.pop() {
        let bounds = progress.bounds(role);
        if goal > bounds.upper {
            continue;
        }
        if goal <= bounds.lower {
            return None;
        }
        let wanted: Vec<usize> =
            (0..circuit.goals.len()).filter(|&idx| circuit.goals[idx].1 >= goal).collect();
        let mut n_steps = 0;
        loop {
            n_steps = n_steps.min(limit.unwrap_or(MAX_STEPS));
            while steps.n_steps() < n_steps {
                if let Some(reason) = limits.stop_reason(steps.n_bytes()) {
                    return Some(reason);
                }
                steps.add_step();
            }
            let n_before = steps.n_conflicts();
            let max_conflicts = options.max_nodes.saturating_sub(n_before);
            let found = steps.find_play(&wanted, &limits.deadline, max_conflicts);
            progress.count(0, steps.n_conflicts() - n_before);
            match found {
                Ok(Some(moves)) => {
                    let line: Vec<Vec<MoveId>> = moves.into_iter().map(|it| vec![it]).collect();
                    let Some(reached) = play_out(problem, &line) else {
                        return Some(StopReason::Fault);
                    };
                    progress.reached(Method::Sat, role, reached, &line);
                    return None;
                }
                Ok(None) => {}
                Err(reason) => return Some(reason),
            }
            n_steps = n_steps.max(steps.n_steps());
            if limit.is_some_and(|limit| n_steps >= limit) {
                let below = goals.last().copied().unwrap_or(Goal::MIN);
                let below = below.max(progress.bounds(role).lower);
                progress.refuted_above(Method::Sat, role, below, Evidence::Constraints);
                break;
            }
            if n_steps >= MAX_STEPS {
                return Some(StopReason::Count);
            }
            n_steps = n_steps + 1 + n_steps / 4;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::tests::{STAIRS, library_game, machine};
    use crate::solution::Solution;

    fn solved(game: &ludex_machine::Machine, method: Method) -> Solution {
        let problem = Problem::initial(game).with_circuit(game.circuit());
        let options = SolveOptions { methods: vec![method], ..SolveOptions::default() };
        crate::solve(&problem, &options, &Progress::new())
    }

    #[test]
    fn finds_a_play_in_a_game_that_has_no_clock() {
        let solution = solved(&machine(STAIRS), Method::Sat);
        assert_eq!(solution.value(puzzle_role()), Goal::new(60));
        assert_eq!(solution.n_states, 0);
    }

    /// Five steps up, one or two at a time, in a number of moves that a clock limits.
    fn stairs_with_limit(n_moves: usize) -> String {
        let limit = format!("(<= terminal (true (time {n_moves})))");
        let goals = "(<= (goal climber 100) (true (at 5)))
            (<= (goal climber 40) (true (at 4)))
            (<= (goal climber 10) (true (at ?x)) (distinct ?x 4) (distinct ?x 5))";
        let (rules, _) = STAIRS.split_once("(<= (goal").expect("the stairs have goals");
        format!("{rules} {limit} {goals}")
    }

    #[test]
    fn a_clock_makes_contradictions_proofs() {
        for (n_moves, value) in [(1, 10), (2, 40), (3, 100)] {
            let game = machine(&stairs_with_limit(n_moves));
            let solution = solved(&game, Method::Sat);
            assert_eq!(solution.value(puzzle_role()), Goal::new(value), "{n_moves} moves");
            assert_eq!(solution.bounds, solved(&game, Method::Breadth).bounds);
            let evidence = if value == 100 { Evidence::Rules } else { Evidence::Constraints };
            assert_eq!(solution.evidence, evidence);
        }
    }

    #[test]
    fn puzzles_of_the_library_are_solved() {
        for name in ["buttons", "four-lights", "hanoi", "lights-on", "maze", "wolf-goat-cabbage"] {
            let solution = solved(&library_game(name), Method::Sat);
            assert_eq!(solution.value(puzzle_role()), Some(Goal::MAX), "{name}");
        }
    }
}

//! Games solved by their parts.
//!
//! [`ludex_analysis::decompose`] finds the parts, and [`Split::prove`] joins them until the rules
//! prove that the transitions of each depend on nothing but itself, the clock and the moves. So a
//! play of the game is a play of every part, and what no part can reach, the game cannot reach.
//!
//! | games | value |
//! | --- | --- |
//! | one role | bounded above by the views that the parts can show the goals at the same time, and reached by a line in which the plans of the parts are woven together |
//! | two roles, impartial sums | by Sprague-Grundy values: the roles have the same moves in each part, a move is in one part, and who cannot move has lost |
//!
//! Whatever was assumed, a line is played in the game itself before it is reported.
//!
//! Read the modules in this order:
//!
//! 1. `part`: a part as a game, and its states.
//! 2. `weave`: one line from the plans of several parts.
//! 3. `plans`: puzzles.
//! 4. `impartial`: sums of impartial games.

mod impartial;
mod part;
mod plans;
mod weave;

use ludex_analysis::decompose::{DecomposeConfig, Split, Worth, decompose};
use ludex_base::{BitSet, Deadline, Seed, StopReason};
use ludex_circuit::Circuit;
use ludex_game::Describe;

use crate::portfolio::SolveOptions;
use crate::problem::{Kind, Problem};
use crate::progress::Progress;

/// Circuits with more gates are left to the other methods.
const MAX_GATES: usize = 200_000;
/// Fewer samples than an answer for people needs: a wrong part costs time and never a wrong value.
const CONFIG: DecomposeConfig =
    DecomposeConfig { n_playouts: 200, n_states: 200, max_work: 40_000_000, seed: Seed(1) };

/// Solves a game by its parts; returns why it stopped early. It does nothing if the game has one part
/// or is of another kind.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let rules = problem.rules?;
    let (circuit, start) = (rules.circuit(), rules.fluents(&problem.state));
    let split = split(circuit, start, &options.limits.deadline)?;
    match problem.kind() {
        Kind::Puzzle => plans::search(problem, circuit, &split, options, progress).err(),
        Kind::Duel => impartial::search(problem, circuit, &split, options, progress).err(),
        Kind::Many | Kind::Chance | Kind::Hidden => None,
    }
}

/// Takes a game apart; `None` if it has one part and nothing that can be left out.
fn split(circuit: &Circuit, start: &BitSet, deadline: &Deadline) -> Option<Split> {
    if circuit.n_gates() > MAX_GATES {
        return None;
    }
    let smallest = Split::smallest(circuit, start);
    if smallest.parts.len() < 2 && smallest.n_unread == 0 {
        return None;
    }
    let found = decompose(circuit, start, &CONFIG, deadline);
    let split = Split::prove(circuit, start, &found);
    let has_useless = found.subgames.iter().any(|it| it.worth == Worth::Useless);
    let is_apart = split.parts.len() > 1 || has_useless && split.n_unread > 0;
    (is_apart && !deadline.reached()).then_some(split)
}

#[cfg(test)]
mod tests {
    use ludex_base::{Goal, RoleId};
    use ludex_machine::Machine;

    use super::*;
    use crate::method::Method;
    use crate::portfolio::solve;
    use crate::puzzle::play_out;
    use crate::puzzle::tests::{library_game, machine};
    use crate::solution::Solution;

    fn solved(game: &Machine, method: Method) -> Solution {
        let problem = Problem::initial(game).with_circuit(game.circuit());
        let options = SolveOptions { methods: vec![method], ..SolveOptions::default() };
        let solution = solve(&problem, &options, &Progress::new());
        if problem.kind() == Kind::Puzzle && !solution.line.is_empty() {
            let reached = play_out(&problem, &solution.line);
            assert_eq!(reached, Some(solution.bounds[0].lower), "the line reaches its goal");
        }
        solution
    }

    #[test]
    fn parts_have_the_value_of_the_whole_and_fewer_states() {
        let whole = |name: &str| match name {
            "nim" => Method::Graph,
            _ => Method::Breadth,
        };
        // The maze is played freely, so its series saves nothing.
        let games =
            [("four-lights", 1), ("maze-then-lights", 0), ("lights-parallel", 10), ("nim", 10)];
        for (name, factor) in games {
            let game = library_game(name);
            let (one, other) = (solved(&game, Method::Parts), solved(&game, whole(name)));
            assert!(one.is_solved() && other.is_solved(), "{name}: {one:?}");
            assert_eq!(one.bounds, other.bounds, "{name}");
            assert!(one.n_states * factor <= other.n_states, "{name}: {} states", one.n_states);
        }
    }

    /// Counters that one move each raises, within some steps; the goal counts how many are full.
    fn counters(n_counters: usize, n_steps: usize) -> Machine {
        let mut rules = String::from(
            "(role r) (succ 0 1) (succ 1 2) (init (step 0))
            (<= (legal r (up ?c)) (counter ?c))
            (<= (next (at ?c ?n)) (does r (up ?c)) (true (at ?c ?m)) (succ ?m ?n))
            (<= (next (at ?c ?n)) (true (at ?c ?n)) (not (does r (up ?c))))
            (<= (next (at ?c 2)) (true (at ?c 2)))
            (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
            (<= (full ?c) (true (at ?c 2)))
            (<= (goal r 100) all) (<= (goal r 50) (not all) some) (<= (goal r 0) (not some))
            (<= some (full ?c))\n",
        );
        for counter in 0..n_counters {
            rules += &format!("(counter c{counter}) (init (at c{counter} 0))\n");
        }
        let full: Vec<String> = (0..n_counters).map(|it| format!("(full c{it})")).collect();
        rules += &format!("(<= all {})\n(<= terminal (true (step {n_steps})))\n", full.join(" "));
        for step in 0..n_steps {
            rules += &format!("(after {step} {})\n", step + 1);
        }
        machine(&rules)
    }

    #[test]
    fn parts_share_the_steps_that_there_are() {
        let role = RoleId::new(0);
        for (n_counters, n_steps) in [(2, 3), (2, 4), (2, 6), (3, 5), (3, 6), (3, 1)] {
            let game = counters(n_counters, n_steps);
            let (one, other) = (solved(&game, Method::Parts), solved(&game, Method::Breadth));
            let is_enough = n_steps >= 2 * n_counters;
            let expected = Goal::new(if is_enough {
                100
            } else if n_steps > 1 {
                50
            } else {
                0
            });
            assert_eq!(one.value(role), expected, "{n_counters} counters, {n_steps} steps");
            assert_eq!(other.value(role), expected);
        }
    }

    #[test]
    fn states_grow_with_the_number_of_parts_and_not_with_its_exponent() {
        let n_states = |n_counters: usize| {
            let game = counters(n_counters, 2 * n_counters);
            solved(&game, Method::Parts).n_states
        };
        assert!(n_states(8) <= 4 * n_states(4) + 100, "{} and {}", n_states(8), n_states(4));
    }

    #[test]
    fn sums_that_are_not_impartial_or_not_normal_get_no_claim() {
        let rules = ludex_testkit::library().into_iter().find(|rules| rules.name == "nim");
        let text = rules.expect("a game of the library").text();
        let is_claimed = |text: &str| {
            let solution = solved(&machine(text), Method::Parts);
            solution.is_solved()
        };
        assert!(is_claimed(&text));
        let changed = [
            // Who takes the last object loses.
            text.replace("(goal ?p 100)", "(goal ?p 1)").replace("(goal ?p 0)", "(goal ?p 100)"),
            // A role may pass.
            format!("{text}\n(<= (legal ?p noop) (role ?p))"),
            // One role may not take single objects.
            text.replace(
                "(taking ?n ?k ?m))\n(<= (legal ?p noop)",
                "(taking ?n ?k ?m) (may ?p ?k))\n(<= (legal ?p noop)",
            ) + "\n(<= (may first ?k) (succ ?j ?k)) (<= (may second ?k) (succ ?j ?k) (distinct ?j 0))",
        ];
        for text in changed {
            assert!(!is_claimed(&text), "{text}");
        }
    }
}

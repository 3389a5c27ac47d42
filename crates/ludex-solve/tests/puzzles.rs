//! The methods for puzzles against breadth-first search without tricks, on games of the library.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ludex_analysis::symmetry::{RoleExchange, find_symmetries};
use ludex_base::{BitSet, Deadline, Goal, MoveId, RoleId, Seed, Source};
use ludex_game::{Cursor, Game, play_checked};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_solve::{
    Folded, Kind, METHODS, Method, Problem, Progress, Solution, SolveOptions, solve,
};

/// Puzzles with at most some thousand states.
const SMALL: &[&str] =
    &["buttons", "four-lights", "hanoi", "lights-on", "maze", "sudoku-4x4", "wolf-goat-cabbage"];

fn machine(name: &str) -> Machine {
    let rules = ludex_testkit::library().into_iter().find(|rules| rules.name == name);
    machine_of(Source::new(name, rules.expect("a game of the library").text()))
}

fn machine_of(source: Source) -> Machine {
    match load(source, &LoadOptions::default()).expect("it loads").engine {
        Engine::Machine(machine) => machine,
        Engine::Reasoner(_) => panic!("games of the library are small"),
    }
}

fn solved(game: &Machine, options: &SolveOptions) -> Solution {
    let problem = Problem::initial(game).with_circuit(game.circuit());
    let solution = solve(&problem, options, &Progress::new());
    if !solution.line.is_empty() {
        assert_eq!(goal_of(game, &solution.line), solution.bounds[0].lower);
    }
    solution
}

/// Plays a line, every move of which is legal, to the end of the game.
fn goal_of(game: &Machine, line: &[Vec<MoveId>]) -> Goal {
    let mut cursor = game.cursor();
    for joint in line {
        assert!(!cursor.is_terminal(), "the line goes on after the end");
        play_checked(&mut cursor, 1, joint).expect("a legal move");
    }
    assert!(cursor.is_terminal(), "the line ends before the game");
    cursor.goal(RoleId::new(0))
}

/// Returns the largest goal and the fewest steps to it, by visiting every state.
fn by_definition(game: &Machine) -> (Goal, usize) {
    let role = RoleId::new(0);
    let mut cursor = game.cursor();
    let mut steps = HashMap::from([(cursor.state().clone(), 0)]);
    let mut open = VecDeque::from([cursor.state().clone()]);
    let mut best: Option<(Goal, usize)> = None;
    while let Some(state) = open.pop_front() {
        let n_steps = steps[&state];
        cursor.set_state(&state);
        if cursor.is_terminal() {
            let goal = cursor.goal(role);
            if best.is_none_or(|(known, _)| goal > known) {
                best = Some((goal, n_steps));
            }
            continue;
        }
        for chosen in cursor.legal_moves(role).to_vec() {
            cursor.set_state(&state);
            cursor.play(&[chosen]);
            if !steps.contains_key(cursor.state()) {
                steps.insert(cursor.state().clone(), n_steps + 1);
                open.push_back(cursor.state().clone());
            }
        }
    }
    best.expect("the puzzle ends")
}

fn puzzle_methods() -> impl Iterator<Item = Method> {
    METHODS.iter().copied().filter(|method| method.fits(Kind::Puzzle))
}

#[test]
fn every_method_agrees_with_the_definition() {
    for name in SMALL {
        let game = machine(name);
        let (value, n_steps) = by_definition(&game);
        for method in puzzle_methods() {
            let options = SolveOptions {
                methods: vec![method],
                max_nodes: 20_000,
                ..SolveOptions::default()
            };
            let solution = solved(&game, &options);
            let bounds = solution.bounds[0];
            assert!(bounds.contains(value), "{name} by {}: {bounds:?}", method.name());
            if matches!(method, Method::Breadth | Method::AStar | Method::Dijkstra) {
                assert_eq!(bounds.value(), Some(value), "{name} by {}", method.name());
                assert_eq!(solution.line.len(), n_steps, "{name} by {}", method.name());
            }
        }
    }
}

#[test]
fn lines_through_folded_states_are_played_in_the_game_itself() {
    let mut n_folded = 0;
    for name in SMALL {
        let game = machine(name);
        let never = Deadline::never();
        let found = find_symmetries(game.circuit(), RoleExchange::Forbidden, None, &never);
        let folding = Arc::new(found.folding());
        if folding.is_trivial() {
            continue;
        }
        let by_folding = folding.clone();
        let folded = Folded::new(game.folded_by(folding), move |state: &BitSet| {
            let mut canonical = state.clone();
            by_folding.canonical(state, &mut canonical);
            canonical
        });
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let options = SolveOptions { methods: vec![Method::Breadth], ..SolveOptions::default() };
        let plain = solve(&problem, &options, &Progress::new());
        let problem = problem.with_folded(Some(&folded));
        let solution = solve(&problem, &options, &Progress::new());
        assert_eq!(solution.bounds, plain.bounds, "{name}");
        assert_eq!(goal_of(&game, &solution.line), plain.bounds[0].lower, "{name}");
        assert!(solution.n_states <= plain.n_states, "{name}");
        n_folded += usize::from(solution.n_states < plain.n_states);
    }
    assert!(n_folded >= 2, "{n_folded}");
}

#[test]
fn deepening_finds_what_breadth_first_search_finds() {
    for name in ["buttons", "four-lights", "lights-on", "maze", "wolf-goat-cabbage"] {
        let game = machine(name);
        let (value, n_steps) = by_definition(&game);
        let options = SolveOptions { methods: vec![Method::IdaStar], ..SolveOptions::default() };
        let solution = solved(&game, &options);
        assert_eq!(solution.value(RoleId::new(0)), Some(value), "{name}");
        assert!(solution.is_shortest, "{name}");
        assert_eq!(solution.line.len(), n_steps, "{name}");
    }
}

#[test]
fn a_beam_that_leaves_nothing_out_finds_the_largest_goal() {
    for name in SMALL {
        let game = machine(name);
        let options = SolveOptions { methods: vec![Method::Beam], ..SolveOptions::default() };
        let solution = solved(&game, &options);
        assert_eq!(solution.bounds[0].lower, by_definition(&game).0, "{name}");
    }
}

/// A walk that may end at `b` if it arrives there after three steps, and always ends at `f`. Going
/// straight to `b` is too soon; the shortest way waits one round at the start.
const TIMED: &str = "(role you) (init (at s)) (init (time 0))
    (arc s a) (arc a s) (arc s b) (arc b c) (arc c d) (arc d e) (arc e f)
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
    (<= (legal you (go ?y)) (true (at ?x)) (arc ?x ?y))
    (<= (next (at ?y)) (does you (go ?y)))
    (<= (next (time ?y)) (true (time ?x)) (succ ?x ?y))
    (<= terminal (true (at f))) (<= terminal (true (at b)) (true (time 3)))
    (<= (goal you 100) (true (at f))) (<= (goal you 100) (true (at b)))";

#[test]
fn a_line_is_called_shortest_only_if_the_time_does_not_matter() {
    let game = machine_of(Source::new("timed", TIMED));
    assert_eq!(by_definition(&game), (Goal::MAX, 3));
    for method in [Method::AStar, Method::IdaStar, Method::Dijkstra] {
        let options = SolveOptions { methods: vec![method], ..SolveOptions::default() };
        let solution = solved(&game, &options);
        assert!(solution.is_shortest, "{method:?}");
        assert_eq!(solution.line.len(), 3, "{method:?}");
    }
}

#[test]
fn a_shortest_line_is_found_when_it_is_wanted() {
    for name in SMALL {
        let game = machine(name);
        let (value, n_steps) = by_definition(&game);
        let options = SolveOptions { wants_shortest: true, ..SolveOptions::default() };
        let solution = solved(&game, &options);
        assert_eq!(solution.value(RoleId::new(0)), Some(value), "{name}");
        assert!(solution.is_shortest, "{name}");
        assert_eq!(solution.line.len(), n_steps, "{name}");
    }
}

#[test]
fn stopped_anywhere_the_bounds_contain_the_value() {
    for name in SMALL {
        let game = machine(name);
        let (value, _) = by_definition(&game);
        for max_nodes in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 377, 987] {
            for method in puzzle_methods() {
                let options =
                    SolveOptions { methods: vec![method], max_nodes, ..SolveOptions::default() };
                let bounds = solved(&game, &options).bounds[0];
                let name_of = method.name();
                assert!(bounds.contains(value), "{name} by {name_of}, {max_nodes}: {bounds:?}");
            }
        }
    }
}

#[test]
fn a_hundred_random_stops_leave_bounds_that_contain_the_value() {
    let games: Vec<(&str, Machine)> = SMALL.iter().map(|name| (*name, machine(name))).collect();
    let values: Vec<Goal> = games.iter().map(|(_, game)| by_definition(game).0).collect();
    let mut rng = Seed(20).rng();
    for _ in 0..100 {
        let place = rng.below(games.len());
        // Half of the stops come early.
        let most = if rng.below(2) == 0 { 50 } else { 5_000 };
        let max_nodes = rng.below(most) as u64;
        let n_threads = 1 + rng.below(2);
        let options = SolveOptions { max_nodes, n_threads, ..SolveOptions::default() };
        let (name, game) = &games[place];
        let bounds = solved(game, &options).bounds[0];
        assert!(bounds.contains(values[place]), "{name} after {max_nodes} nodes: {bounds:?}");
    }
}

#[test]
fn placement_puzzles_are_solved_without_searching_states() {
    for name in ["sudoku", "sudoku-4x4", "futoshiki-small", "nonogram"] {
        let options = SolveOptions { methods: vec![Method::Placement], ..SolveOptions::default() };
        let solution = solved(&machine(name), &options);
        assert_eq!(solution.value(RoleId::new(0)), Some(Goal::MAX), "{name}");
        assert_eq!(solution.n_states, 0, "{name}");
    }
}

#[test]
fn several_threads_give_the_same_value() {
    for name in SMALL {
        let game = machine(name);
        let options = SolveOptions { n_threads: 3, ..SolveOptions::default() };
        let value = by_definition(&game).0;
        assert_eq!(solved(&game, &options).value(RoleId::new(0)), Some(value), "{name}");
    }
}

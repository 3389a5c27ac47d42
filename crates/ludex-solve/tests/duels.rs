//! Known values of games for two roles and more, each with a certificate that the checker accepts
//! and mutations of it that the checker refutes.

use std::sync::Arc;

use ludex_analysis::symmetry::{RoleExchange, find_symmetries};
use ludex_base::{BitSet, Deadline, Goal, Limits, RoleId, Seed, Source};
use ludex_game::{Cursor, Game, JointMoves};
use ludex_machine::Machine;
use ludex_model::{Data, ModelLimits, compile};
use ludex_pipeline::{Engine, LoadOptions, load};
use ludex_solve::duel::Table;
use ludex_solve::quantified::{Question, write_question};
use ludex_solve::{
    Bounds, Folded, Method, Problem, Progress, Solution, SolveOptions, points, solve,
};
use ludex_testkit::exact::Exact;
use ludex_testkit::formula::Formula;
use ludex_testkit::random_game::{RandomGame, RandomGameConfig};
use ludex_verify::{Certificate, Claim, Proof, Verdict, rules_hash, verify};

const DUELS: &[Method] = &[Method::Graph, Method::AlphaBeta, Method::ProofNumber];

fn machine(rules: &str) -> Machine {
    let loaded = load(Source::new("rules", rules), &LoadOptions::default()).expect("good rules");
    match loaded.engine {
        Engine::Machine(machine) => machine,
        Engine::Reasoner(_) => panic!("the game is small"),
    }
}

fn library(name: &str) -> String {
    let game = ludex_testkit::library().into_iter().find(|game| game.name == name);
    game.expect("the library has the game").text()
}

fn solved(rules: &str, methods: &[Method]) -> Solution {
    let game = machine(rules);
    let problem = Problem::initial(&game).with_circuit(game.circuit());
    let options =
        SolveOptions { methods: methods.to_vec(), wants_proofs: true, ..SolveOptions::default() };
    solve(&problem, &options, &Progress::new())
}

/// Returns a game folded by its symmetries.
fn folded(game: &Machine) -> Folded<Machine> {
    let never = Deadline::never();
    let found = find_symmetries(game.circuit(), RoleExchange::Forbidden, None, &never);
    let folding = Arc::new(found.folding());
    assert!(!folding.is_trivial(), "the game has symmetries");
    let game = game.folded_by(folding.clone());
    Folded::new(game, move |state: &BitSet| {
        let mut canonical = state.clone();
        folding.canonical(state, &mut canonical);
        canonical
    })
}

fn certificate(rules: &str, solution: &Solution) -> Certificate {
    let proofs = solution.proofs.to_vec();
    Certificate { rules_hash: rules_hash(rules), start: None, proofs }
}

fn judge(rules: &str, certificate: &Certificate) -> Verdict {
    verify(certificate, &Source::new("rules", rules), &Limits::usual())
}

#[track_caller]
fn check_values(solution: &Solution, values: &[u32]) {
    let found: Vec<Option<Goal>> = solution.bounds.iter().map(|it| it.value()).collect();
    let expected: Vec<Option<Goal>> = values.iter().map(|&it| Goal::new(it)).collect();
    assert_eq!(found, expected, "stopped by {:?}", solution.stopped);
}

/// Solves by each method, compares the values, and checks the certificates and mutations of them.
#[track_caller]
fn check(rules: &str, methods: &[Method], values: &[u32]) {
    for &method in methods {
        let solution = solved(rules, &[method]);
        check_values(&solution, values);
        let certificate = certificate(rules, &solution);
        assert_eq!(judge(rules, &certificate), Verdict::Accepted, "{method:?}");
        check_mutations(rules, &certificate);
    }
}

/// Each of at least five changes must make the certificate false.
#[track_caller]
fn check_mutations(rules: &str, certificate: &Certificate) {
    let text = certificate.to_string();
    let mut mutations = Vec::new();
    for (from, to) in [
        ("at-least", "at-most"),
        ("at-most", "at-least"),
        (" 50\n", " 75\n"),
        (" 100\n", " 99\n"),
        (" 0\n", " 1\n"),
        ("rules ", "rules 0"),
        ("ludex-certificate 1", "ludex-certificate 2"),
    ] {
        let mutate = |(at, _)| format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        mutations.extend(text.match_indices(from).map(mutate));
    }
    // Every strategy without its first line, and with one of a state that it never reaches.
    for (idx, proof) in certificate.proofs.iter().enumerate() {
        let Some((_, rest)) = proof.evidence.first().and_then(|it| it.split_once(' ')) else {
            continue;
        };
        let mut without = certificate.clone();
        without.proofs[idx].evidence.remove(0);
        let mut with = certificate.clone();
        with.proofs[idx].evidence.push(format!("0123456789abcdef {rest}"));
        mutations.extend([without.to_string(), with.to_string()]);
    }
    let mut n_refuted = 0;
    for mutation in &mutations {
        // A weaker claim is true; every other mutation must be refuted.
        let read = Certificate::read(mutation);
        if read.as_ref().is_ok_and(|read| is_weaker(read, certificate)) {
            continue;
        }
        n_refuted += 1;
        if let Ok(read) = read {
            let verdict = judge(rules, &read);
            assert!(matches!(verdict, Verdict::Refuted { .. }), "{verdict:?}");
        }
    }
    assert!(n_refuted >= 5, "only {n_refuted} mutations");
}

/// Whether two certificates differ only in bounds that are farther away.
fn is_weaker(one: &Certificate, other: &Certificate) -> bool {
    let is_weaker = |(one, other): (&Proof, &Proof)| {
        let is_weaker = match (&one.claim, &other.claim) {
            (Claim::AtLeast(a, low), Claim::AtLeast(b, high)) => a == b && low <= high,
            (Claim::AtMost(a, high), Claim::AtMost(b, low)) => a == b && low <= high,
            (one, other) => one == other,
        };
        is_weaker && one.evidence == other.evidence
    };
    one.rules_hash == other.rules_hash && one.proofs.iter().zip(&other.proofs).all(is_weaker)
}

#[test]
fn tic_tac_toe_is_a_draw() {
    let rules = library("tictactoe");
    check(&rules, DUELS, &[50, 50]);
    let solution = solved(&rules, &[Method::Graph]);
    assert_eq!(solution.n_states, 5_478);
    assert_eq!(solution.line.len(), 9);
}

/// Nim with heaps of these sizes; who takes the last object wins.
fn nim(heaps: &[usize]) -> String {
    let mut rules = String::from(
        "(role left) (role right) (init (control left)) (other left right) (other right left)
        (<= (legal ?r (take ?h ?n)) (true (control ?r)) (true (heap ?h ?x)) (left ?x ?n ?y))
        (<= (legal ?r wait) (true (control ?s)) (other ?s ?r))
        (<= (next (heap ?h ?y)) (true (heap ?h ?x)) (does ?r (take ?h ?n)) (left ?x ?n ?y))
        (<= (next (heap ?h ?x)) (true (heap ?h ?x)) (does ?r (take ?g ?n)) (distinct ?h ?g))
        (<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
        (<= more (true (heap ?h ?x)) (distinct ?x 0)) (<= terminal (not more))
        (<= (goal ?r 100) (true (control ?s)) (other ?s ?r))
        (<= (goal ?r 0) (true (control ?r)))\n",
    );
    for (idx, size) in heaps.iter().enumerate() {
        rules.push_str(&format!("(init (heap h{idx} {size}))\n"));
    }
    for all in 1..=*heaps.iter().max().expect("there is a heap") {
        for taken in 1..=all {
            rules.push_str(&format!("(left {all} {taken} {})\n", all - taken));
        }
    }
    rules
}

#[test]
fn nim_is_won_by_the_sum_without_carrying() {
    for heaps in [&[2][..], &[2, 2], &[1, 2], &[1, 2, 3], &[2, 3, 3], &[1, 3, 3, 1], &[3, 4, 5]] {
        let is_won = heaps.iter().fold(0, |sum, size| sum ^ size) != 0;
        let values = if is_won { [100, 0] } else { [0, 100] };
        check(&nim(heaps), DUELS, &values);
    }
}

#[test]
fn symmetric_states_count_as_one_and_certificates_are_about_all() {
    let games = [(library("tictactoe"), [50, 50]), (connect_four(4, 3), [50, 50])];
    for (rules, values) in games {
        let game = machine(&rules);
        let folded = folded(&game);
        let problem = || Problem::initial(&game).with_circuit(game.circuit());
        for &method in DUELS {
            let options = SolveOptions {
                methods: vec![method],
                wants_proofs: true,
                ..SolveOptions::default()
            };
            let plain = solve(&problem(), &options, &Progress::new());
            let problem = problem().with_folded(Some(&folded));
            let solution = solve(&problem, &options, &Progress::new());
            check_values(&plain, &values);
            check_values(&solution, &values);
            assert!(solution.n_nodes < plain.n_nodes * 3 / 4, "{method:?}");
            let certificate = certificate(&rules, &solution);
            assert_eq!(judge(&rules, &certificate), Verdict::Accepted, "{method:?}");
            check_mutations(&rules, &certificate);
        }
    }
}

/// Chomp on a board with this many columns and rows: who takes the first square loses.
fn chomp(n_columns: usize, n_rows: usize) -> String {
    let mut rules = String::from(
        "(role left) (role right) (init (control left)) (other left right) (other right left)
        (<= (legal ?r (bite ?x ?y)) (true (control ?r)) (true (square ?x ?y)))
        (<= (legal ?r wait) (true (control ?s)) (other ?s ?r))
        (<= (next (square ?x ?y)) (true (square ?x ?y)) (does ?r (bite ?a ?b)) (less ?x ?a))
        (<= (next (square ?x ?y)) (true (square ?x ?y)) (does ?r (bite ?a ?b)) (less ?y ?b))
        (<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
        (<= terminal (not (true (square 1 1))))
        (<= (goal ?r 100) (true (control ?r)))
        (<= (goal ?r 0) (true (control ?s)) (other ?s ?r))\n",
    );
    for column in 1..=n_columns {
        for row in 1..=n_rows {
            rules.push_str(&format!("(init (square {column} {row}))\n"));
        }
    }
    rules.push_str("(less 0 1)\n");
    for high in 2..=n_columns.max(n_rows) {
        for low in 1..high {
            rules.push_str(&format!("(less {low} {high})\n"));
        }
    }
    rules
}

#[test]
fn the_first_role_wins_chomp_unless_there_is_one_square() {
    for (n_columns, n_rows) in [(1, 2), (2, 2), (3, 2), (3, 3), (4, 3)] {
        check(&chomp(n_columns, n_rows), DUELS, &[100, 0]);
    }
    for method in DUELS {
        check_values(&solved(&chomp(1, 1), &[*method]), &[0, 100]);
    }
}

/// Connect Four on a smaller board.
fn connect_four(n_columns: usize, n_rows: usize) -> String {
    let list = |name: &str, n: usize| {
        (1..=n).map(|it| format!("({name} {it})")).collect::<Vec<_>>().join(" ")
    };
    library("connectfour")
        .replace(&list("column", 7), &list("column", n_columns))
        .replace(&list("row", 6), &list("row", n_rows))
        .replace("(filled ?x 6)", &format!("(filled ?x {n_rows})"))
}

#[test]
fn connect_four_on_four_columns_and_rows_is_a_draw() {
    let rules = connect_four(4, 4);
    for method in [Method::AlphaBeta, Method::ProofNumber] {
        let solution = solved(&rules, &[method]);
        check_values(&solution, &[50, 50]);
        assert_eq!(judge(&rules, &certificate(&rules, &solution)), Verdict::Accepted);
    }
    let solution = solved(&rules, &[Method::Graph]);
    check_values(&solution, &[50, 50]);
    assert_eq!(solution.n_states, 161_029);
}

#[test]
fn connect_four_on_small_boards_has_its_published_values() {
    for (n_columns, n_rows) in [(4, 5), (5, 4)] {
        let game = machine(&connect_four(n_columns, n_rows));
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let options = SolveOptions { methods: vec![Method::AlphaBeta], ..SolveOptions::default() };
        check_values(&solve(&problem, &options, &Progress::new()), &[50, 50]);
    }
}

#[test]
fn roles_who_move_at_the_same_time_mix() {
    for name in ["matching-pennies", "rock-paper-scissors"] {
        let rules = library(name);
        let solution = solved(&rules, &[Method::Graph]);
        assert!(solution.is_solved(), "{name}: {:?} {:?}", solution.bounds, solution.means);
        assert_eq!(judge(&rules, &certificate(&rules, &solution)), Verdict::Accepted, "{name}");
    }
    // Equal heads pay more than equal tails, so both sides show heads less often: 2 times in 5.
    let rules = "(role even) (role odd) (init start) (side head) (side tail)
        (<= (legal ?r ?s) (role ?r) (true start) (side ?s))
        (<= (next (shown ?s ?t)) (does even ?s) (does odd ?t))
        (<= terminal (not (true start)))
        (pay head head 90) (pay tail tail 60) (pay head tail 0) (pay tail head 0)
        (rest 90 10) (rest 60 40) (rest 0 100)
        (<= (goal even ?n) (true (shown ?s ?t)) (pay ?s ?t ?n))
        (<= (goal odd ?m) (true (shown ?s ?t)) (pay ?s ?t ?n) (rest ?n ?m))";
    let solution = solved(rules, &[Method::Graph]);
    assert!(solution.is_solved(), "{:?}", solution.means);
    assert!(solution.bounds[0].contains(Goal::new(36).expect("a goal")), "{:?}", solution.bounds);
    assert_eq!(judge(rules, &certificate(rules, &solution)), Verdict::Accepted);
}

#[test]
fn three_roles_play_each_for_itself() {
    let rules = library("three-player-nim");
    let solution = solved(&rules, &[Method::Graph]);
    assert!(solution.is_solved(), "{:?}", solution.stopped);
    assert_eq!(judge(&rules, &certificate(&rules, &solution)), Verdict::Accepted);
}

/// A role can walk round a circle for ever; the other would win if it could not.
const ROUND: &str = "(role walker) (role waiter) (init (at 0)) (init (turn walker))
    (step 0 1) (step 1 2) (step 2 0) (other walker waiter) (other waiter walker)
    (<= (legal walker on) (true (turn walker))) (<= (legal walker out) (true (turn walker)))
    (<= (legal waiter wait) (true (turn walker)))
    (<= (legal walker wait) (true (turn waiter)))
    (<= (legal waiter a) (true (turn waiter))) (<= (legal waiter b) (true (turn waiter)))
    (<= (next (at ?y)) (does walker on) (true (at ?x)) (step ?x ?y))
    (<= (next (at ?x)) (true (turn waiter)) (true (at ?x)))
    (<= (next (at out)) (does walker out))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (at out)))
    (<= (goal walker 0) (true (at out))) (<= (goal waiter 100) (true (at out)))
    (<= (goal walker 50) (true (at 1))) (<= (goal waiter 50) (true (at 1)))";

/// Two roles in turn may resign or go on. Each can force an end, but only by resigning, so neither
/// can hold the other to less than everything.
const RESIGN: &str = "(role left) (role right) (init (turn left))
    (other left right) (other right left)
    (<= (legal ?r on) (true (turn ?r))) (<= (legal ?r resign) (true (turn ?r)))
    (<= (legal ?r wait) (true (turn ?s)) (other ?s ?r))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (next (lost ?r)) (does ?r resign))
    (<= over (true (lost ?r))) (<= terminal over)
    (<= (goal ?r 0) (true (lost ?r))) (<= (goal ?s 100) (true (lost ?r)) (other ?r ?s))";

#[test]
fn play_that_never_ends_leaves_the_value_open() {
    for methods in [&DUELS[..1], &DUELS[1..2], &DUELS[2..], DUELS] {
        let solution = solved(ROUND, methods);
        assert!(!solution.is_solved(), "{:?}", solution.bounds);
        assert!(solution.proofs.is_empty());
        let solution = solved(RESIGN, methods);
        assert_eq!(solution.bounds, [Bounds::ANY; 2]);
        assert!(solution.proofs.is_empty() && solution.line.is_empty());
    }
}

#[test]
fn values_agree_with_the_plainest_algorithm() {
    let mut n_compared = 0;
    for (idx, has_chance) in (0..60).flat_map(|idx| [(idx, false), (idx, true)]) {
        let config = RandomGameConfig {
            n_roles: 2,
            has_chance,
            is_simultaneous: false,
            is_constant_sum: true,
            n_steps: 6,
            n_places: 8,
        };
        let game = RandomGame::new(config, Seed(idx));
        let exact = Exact::new(&game, RoleId::new(0), 10_000).values(game.cursor().state());
        let exact = exact.expect("the game is small");
        let methods = if has_chance { &[Method::Graph, Method::Expectimax] } else { DUELS };
        for &method in methods {
            let options = SolveOptions { methods: vec![method], ..SolveOptions::default() };
            let solution = solve(&Problem::initial(&game), &options, &Progress::new());
            for (role, value) in exact.iter().enumerate().take(2) {
                let whole = solution.bounds[role];
                let (lower, upper) = match solution.means.get(role) {
                    Some(&(lower, upper)) => (points(lower), points(upper)),
                    None => (whole.lower.value().into(), whole.upper.value().into()),
                };
                assert!(lower - 1e-6 <= *value && *value <= upper + 1e-6, "{idx} {method:?}");
                assert!(upper - lower < 1e-6, "{idx} {method:?}: {lower} {upper}");
            }
            n_compared += 1;
        }
    }
    assert!(n_compared > 250, "{n_compared}");
}

/// Whether the quantified solver finds a model true.
fn is_true(model: String) -> bool {
    let source = Source::new("model.qcp", model);
    let limits = ModelLimits::default();
    let compiled = compile(&source, &Data::default(), &limits, &Deadline::never());
    let ludex_model::Problem::Quantified(model) = compiled.expect("a good model").problem else {
        panic!("the model has no chance")
    };
    let report = ludex_qcsp::solve(&model, &ludex_qcsp::SolveConfig::default());
    match report.expect("a good model").verdict.name() {
        "true" => true,
        "false" => false,
        other => panic!("the solver answers {other}"),
    }
}

#[test]
fn the_quantified_solver_agrees_with_the_solvers_of_games() {
    let games = [(nim(&[1, 2]), 4), (nim(&[2, 2]), 5), (nim(&[1, 2, 3]), 7), (chomp(2, 3), 6)];
    for (rules, n_steps) in games {
        let game = machine(&rules);
        check_questions(&game, game.cursor().state(), n_steps, true);
        // Some plays are longer.
        check_questions(&game, game.cursor().state(), n_steps - 2, false);
    }
    // Late states of tic-tac-toe, and a small game of connect four.
    let game = machine(&library("tictactoe"));
    let mut rng = Seed(3).rng();
    for _ in 0..6 {
        let mut cursor = game.cursor();
        for _ in 0..4 {
            let drawn = game.role_ids().map(|role| cursor.draw_move(role, &mut rng));
            let joint: Vec<_> = drawn.map(|it| it.expect("a move")).collect();
            cursor.play(&joint);
        }
        check_questions(&game, cursor.state(), 5, true);
    }
    let game = machine(&connect_four(3, 2));
    check_questions(&game, game.cursor().state(), 6, true);
}

/// Asks the quantified solver about all goals of both roles within some steps. If that is enough for
/// all plays, the answers must follow from the values; if not, no answer may be better.
#[track_caller]
fn check_questions(game: &Machine, state: &BitSet, n_steps: usize, is_enough: bool) {
    let problem = Problem::initial(game).with_circuit(game.circuit()).at(state.clone());
    let options = SolveOptions { methods: vec![Method::Graph], ..SolveOptions::default() };
    let solution = solve(&problem, &options, &Progress::new());
    for role in game.role_ids() {
        let value = solution.value(role).expect("the game is small");
        for goal in [1, 50, 51, 100].into_iter().filter_map(Goal::new) {
            let model = write_question(&problem, Question { role, goal, n_steps });
            let answer = is_true(model.expect("the roles move in turn"));
            assert!(answer <= (value >= goal), "{role:?} {goal:?}");
            assert!(!is_enough || answer == (value >= goal), "{role:?} {goal:?}");
        }
    }
}

#[test]
fn a_formula_is_true_if_and_only_if_its_game_is_won() {
    let literal = |variable: usize, is| (variable, is);
    let known = [
        (
            2,
            vec![
                vec![literal(0, true), literal(1, true)],
                vec![literal(0, true), literal(1, false)],
            ],
            true,
        ),
        (
            2,
            vec![
                vec![literal(0, true), literal(1, true)],
                vec![literal(0, false), literal(1, false)],
            ],
            false,
        ),
        (
            4,
            vec![
                vec![literal(2, true), literal(1, true)],
                vec![literal(2, false), literal(1, false)],
            ],
            true,
        ),
    ];
    let known = known.map(|(n_variables, terms, is_true)| {
        let is_existential = (0..n_variables).map(|idx| idx % 2 == 0).collect();
        (Formula { is_existential, terms }, Some(is_true))
    });
    let random = (0..200).map(|seed| {
        let (n_variables, n_terms) = (2 + seed as usize % 6, 1 + seed as usize % 7);
        (Formula::random(n_variables, n_terms, Seed(seed)), None)
    });
    let (mut n_true, mut n_false) = (0, 0);
    for (idx, (formula, expected)) in known.into_iter().chain(random).enumerate() {
        let truth = formula.is_true();
        assert!(expected.is_none_or(|expected| truth == expected), "{idx}");
        assert_eq!(is_true(formula.to_model()), truth, "{idx}: {formula:?}");
        let method = DUELS[idx % DUELS.len()];
        let values = if truth { [100, 0] } else { [0, 100] };
        check_values(&solved(&formula.to_rules(), &[method]), &values);
        *(if truth { &mut n_true } else { &mut n_false }) += 1;
    }
    assert!(n_true > 40 && n_false > 40, "{n_true} {n_false}");
}

#[test]
fn a_stop_leaves_bounds_that_contain_the_value() {
    let draw = Goal::new(50).expect("a goal");
    let game = machine(&library("tictactoe"));
    let problem = Problem::initial(&game).with_circuit(game.circuit());
    // By memory: each limit stops the exploration elsewhere.
    let mut n_stopped = 0;
    for max_bytes in (1..=100).map(|idx| idx * 8_000) {
        let limits = Limits { max_bytes, ..Limits::usual() };
        let methods = vec![Method::Graph];
        let options = SolveOptions { limits, methods, ..SolveOptions::default() };
        let solution = solve(&problem, &options, &Progress::new());
        assert!(solution.bounds.iter().all(|it| it.contains(draw)));
        n_stopped += usize::from(!solution.is_solved());
    }
    assert!(n_stopped > 50, "{n_stopped}");
}

#[test]
fn a_stop_after_any_number_of_nodes_leaves_bounds_that_contain_the_value() {
    let mut rng = Seed(20).rng();
    let mut n_stopped = 0;
    for (rules, value) in [(library("tictactoe"), 50), (nim(&[3, 4, 5]), 100), (chomp(4, 3), 100)] {
        let game = machine(&rules);
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let value = Goal::new(value).expect("a goal");
        for &method in &DUELS[1..] {
            let whole = solved(&rules, &[method]).n_nodes;
            for _ in 0..20 {
                let max_nodes = 1 + rng.below(whole as usize) as u64;
                let options =
                    SolveOptions { methods: vec![method], max_nodes, ..SolveOptions::default() };
                let solution = solve(&problem, &options, &Progress::new());
                assert!(solution.bounds[0].contains(value), "{method:?} after {max_nodes}");
                let rest = Goal::new(100 - u32::from(value.value())).expect("a goal");
                assert!(solution.bounds[1].contains(rest), "{method:?} after {max_nodes}");
                n_stopped += usize::from(!solution.is_solved());
            }
        }
    }
    assert!(n_stopped > 50, "{n_stopped}");
}

/// A chase on a random graph: the hunter catches the fox, or the fox reaches its den, or they go on
/// for ever.
fn chase(seed: u64) -> String {
    let mut rng = Seed(seed).rng();
    let n_places = 4 + rng.below(5);
    let mut rules = String::from(
        "(role fox) (role hunter) (other fox hunter) (other hunter fox)
        (<= (legal ?r (go ?y)) (true (turn ?r)) (true (at ?r ?x)) (path ?x ?y))
        (<= (legal ?r wait) (true (turn ?s)) (other ?s ?r))
        (<= (next (at ?r ?y)) (does ?r (go ?y)))
        (<= (next (at ?r ?x)) (true (at ?r ?x)) (true (turn ?s)) (other ?s ?r))
        (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
        (<= caught (true (at fox ?x)) (true (at hunter ?x)))
        (<= home (true (at fox 0)) (not caught))
        (<= terminal caught) (<= terminal home)
        (<= (goal fox 100) home) (<= (goal hunter 0) home)
        (<= (goal fox 0) (not home)) (<= (goal hunter 100) (not home))
        (init (at fox 1)) (init (at hunter 2)) (init (turn fox))\n",
    );
    for from in 0..n_places {
        // A way on, and some others.
        rules.push_str(&format!("(path {from} {})\n", (from + 1) % n_places));
        for to in 0..n_places {
            if to != (from + 1) % n_places && rng.below(4) == 0 {
                rules.push_str(&format!("(path {from} {to})\n"));
            }
        }
    }
    rules
}

#[test]
fn proof_numbers_find_what_can_be_forced_where_play_may_return() {
    let (mut n_forced, mut n_endless) = (0, 0);
    for seed in 0..150 {
        let rules = chase(seed);
        let expected = solved(&rules, &[Method::Graph]);
        let found = solved(&rules, &[Method::ProofNumber]);
        // What can be forced is the same; what only endless play prevents stays open.
        for (found, expected) in found.bounds.iter().zip(&expected.bounds) {
            assert_eq!(found.lower, expected.lower, "{seed}");
            assert!(found.upper >= expected.upper, "{seed}");
        }
        let is_forced = expected.bounds.iter().any(|it| it.lower == Goal::MAX);
        assert_eq!(found.is_solved(), is_forced, "{seed}: {:?}", found.bounds);
        n_forced += usize::from(is_forced);
        n_endless += usize::from(!is_forced);
        assert_eq!(expected.proofs.is_empty(), !is_forced, "{seed}");
        for solution in [&found, &expected].into_iter().filter(|it| !it.proofs.is_empty()) {
            let certificate = certificate(&rules, solution);
            assert_eq!(judge(&rules, &certificate), Verdict::Accepted, "{seed}");
        }
    }
    assert!(n_forced > 20 && n_endless > 3, "{n_forced} {n_endless}");
}

#[test]
fn a_table_never_leaves_a_proved_win() {
    for (rules, winner) in [(nim(&[1, 2]), 0), (nim(&[2, 2]), 1), (chomp(3, 3), 0)] {
        let game = machine(&rules);
        let mut cursor = game.cursor();
        let table = Table::of(&game, cursor.state(), &Limits::usual()).expect("the game is small");
        let role = RoleId::new(winner);
        let mut open = vec![cursor.state().clone()];
        let mut n_ends = 0;
        while let Some(state) = open.pop() {
            cursor.set_state(&state);
            if cursor.is_terminal() {
                assert_eq!(cursor.goal(role), Goal::MAX);
                n_ends += 1;
                continue;
            }
            let mut joints = JointMoves::of(&mut cursor, 2);
            if let Some((goal, place)) = table.best(&state, role) {
                assert_eq!(goal, Goal::MAX);
                joints.keep_only(role, cursor.legal_moves(role)[place]);
            }
            while let Some(joint) = joints.next_joint() {
                cursor.set_state(&state);
                cursor.play(joint);
                open.push(cursor.state().clone());
            }
        }
        assert!(n_ends > 0);
    }
}

//! Tests of the reasoner on small rulesheets.

use std::time::Duration;

use ludex_base::{Deadline, Limits, RoleId, Sizes, Source};
use ludex_game::{Cursor, Describe, Game, Observe};
use ludex_gdl::Program;

use crate::vocabulary::Vocabulary;
use crate::{Reasoner, ReasonerCursor, ReasonerError, ReasonerState};

/// Makes a game with one role that may always wait, and these further rules.
fn reasoner_within(rules: &str, limits: &Limits) -> Result<Reasoner, ReasonerError> {
    Reasoner::new(&program(rules), limits)
}

fn with_game(rules: &str) -> String {
    format!("(role r) (legal r wait) {rules}")
}

fn program(rules: &str) -> Program {
    let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", with_game(rules)));
    ludex_gdl::lower(&sheet).0
}

fn reasoner(rules: &str) -> Reasoner {
    reasoner_within(rules, &Limits::usual()).expect("the rules have a meaning")
}

fn state(reasoner: &Reasoner, cursor: &ReasonerCursor) -> String {
    reasoner.state_texts(cursor.state()).join(" ")
}

/// Checks the fluents after `n_steps` steps in which the role plays its first move.
#[track_caller]
fn check_after(n_steps: usize, rules: &str, expected: &str) {
    let reasoner = reasoner(rules);
    let mut cursor = reasoner.cursor();
    for _ in 0..n_steps {
        let first = cursor.legal_moves(RoleId::new(0))[0];
        cursor.play(&[first]);
    }
    assert_eq!(cursor.fault(), None);
    assert_eq!(state(&reasoner, &cursor), expected);
}

#[track_caller]
fn check_init(rules: &str, expected: &str) {
    check_after(0, rules, expected);
}

#[test]
fn facts_and_rules_derive_the_initial_state() {
    check_init("(p b) (p a) (<= (init (f ?x)) (p ?x)) (init g)", "(f a) (f b) g");
}

#[test]
fn joins_agree_on_shared_variables() {
    check_init(
        "(e a b) (e b c) (e c c) (<= (init (two ?x ?z)) (e ?x ?y) (e ?y ?z))
         (<= (init (loop ?x)) (e ?x ?x))",
        "(loop c) (two a c) (two b c) (two c c)",
    );
}

#[test]
fn recursion_reaches_its_end() {
    check_init(
        "(e a b) (e b c) (e c a) (e c d)
         (<= (path ?x ?y) (e ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))
         (<= (init ?y) (path d ?y)) (<= (init ?x) (path ?x d))",
        "a b c",
    );
}

#[test]
fn negation_and_distinct_wait_for_their_variables() {
    check_init(
        "(p a) (p b) (p c) (q b)
         (<= (init (f ?x ?y)) (not (q ?x)) (distinct ?x ?y) (p ?x) (p ?y))",
        "(f a b) (f a c) (f c a) (f c b)",
    );
}

#[test]
fn distinct_compares_nested_terms() {
    check_init(
        "(p (s a)) (p (s (s a))) (d a) (<= (init ?x) (p ?x) (d ?y) (distinct ?x (s ?y)))",
        "(s (s a))",
    );
}

#[test]
fn nested_terms_are_taken_apart_and_put_together() {
    check_init(
        "(p (pair (s a) b)) (p (pair a b)) (p (other (s a) b))
         (<= (init (swap ?y (t ?x))) (p (pair (s ?x) ?y)))",
        "(swap b (t a))",
    );
}

#[test]
fn goals_may_depend_on_each_other_through_a_negation() {
    let reasoner = reasoner(
        "(init f) (<= (goal r 100) (true g)) (<= (goal r 0) (not (goal r 100)))
         (<= (goal r 50) (true f) (goal r 0) (not (goal r 100)))",
    );
    let mut cursor = reasoner.cursor();
    let values: Vec<u8> = cursor.goals(RoleId::new(0)).iter().map(|goal| goal.value()).collect();
    assert_eq!(values, [0, 50]);
}

#[test]
fn a_negative_cycle_is_an_error() {
    let error = reasoner_within(
        "(p a) (<= (init ?x) (q ?x)) (<= (q ?x) (p ?x) (not (q ?x)))",
        &Limits::usual(),
    );
    let error = error.unwrap_err();
    assert!(matches!(error, ReasonerError::NegativeCycle { name, .. } if name == "q"));
}

#[test]
fn a_negative_cycle_in_a_later_state_is_a_fault() {
    let reasoner = reasoner(
        "(<= (next f) (does r wait))
         (<= (goal r 1) (true f) (not (goal r 2))) (<= (goal r 2) (true f) (not (goal r 1)))",
    );
    let role = RoleId::new(0);
    let mut cursor = reasoner.cursor();
    let start = cursor.state().clone();
    let wait = cursor.legal_moves(role)[0];
    cursor.play(&[wait]);
    assert!(cursor.goals(role).is_empty());
    assert!(matches!(cursor.fault(), Some(ReasonerError::NegativeCycle { .. })));
    assert!(cursor.is_terminal() && cursor.legal_moves(role).is_empty());
    cursor.set_state(&start);
    assert!(!cursor.is_terminal() && cursor.fault().is_none());
}

#[test]
fn an_endless_rulesheet_reaches_the_limits() {
    let rules = "(<= (init z) (n z)) (n z) (<= (n (s ?x)) (n ?x))";
    let error = reasoner_within(rules, &Limits::usual()).unwrap_err();
    assert!(matches!(error, ReasonerError::TermTooDeep { limit: 500, .. }), "{error}");
    let rule = error.rule().expect("a rule is at fault");
    assert_eq!(rule.name, "n");
    assert!(with_game(rules)[rule.span.start as usize..].starts_with("(<= (n (s ?x))"));
    let error = reasoner_within(rules, &sizes(|sizes| sizes.atoms = 100)).unwrap_err();
    assert!(matches!(error, ReasonerError::TooManyAtoms { limit: 100, .. }), "{error}");
    let text = "the rules derive more than 100 atoms at once, the last by a rule of `n`; \
        allow more memory, or bound what the rule ranges over";
    assert_eq!(error.to_string(), text);
    let little_memory = Limits { max_bytes: 5_000, ..Limits::usual() };
    let error = reasoner_within(rules, &little_memory).unwrap_err();
    assert!(matches!(error, ReasonerError::TooManyAtoms { limit: 25, .. }), "{error}");
    let no_time = Limits::usual().until(Deadline::after(Duration::ZERO));
    let error = reasoner_within(rules, &no_time).unwrap_err();
    assert!(matches!(error, ReasonerError::OutOfTime { .. }), "{error}");
}

#[test]
fn terms_that_double_are_refused_by_their_written_size() {
    let doubling: String =
        (0..40).map(|n| format!("(<= (t{} (f ?x ?x)) (t{n} ?x))", n + 1)).collect();
    let rules = format!("(t0 z) {doubling} (<= (next ?x) (t40 ?x))");
    let error = reasoner_within(&rules, &Limits::usual()).unwrap_err();
    assert!(matches!(error, ReasonerError::TermTooLarge { limit: 100_000, .. }), "{error}");
    assert_eq!(error.rule().map(|rule| rule.name.as_str()), Some("t15"));
}

#[test]
fn more_roles_than_allowed_are_an_error() {
    let numbers: String = (0..40).map(|n| format!("(n {n})")).collect();
    let rules = format!("{numbers} (<= (role (q ?x ?y)) (n ?x) (n ?y))");
    let error = reasoner_within(&rules, &Limits::usual()).unwrap_err();
    assert_eq!(error, ReasonerError::TooManyRoles { n_roles: 1_601, limit: 1_000 });
}

/// With many roles, the numbers of moves end before the memory does.
#[test]
fn terms_are_bounded_by_the_numbers_of_moves() {
    let mut vocabulary = Vocabulary::new(&program("(p a) (p b)"), &Limits::usual());
    assert!(vocabulary.expect_roles(1_000).is_ok());
    let error = vocabulary.expect_roles(2_000_000_000).unwrap_err();
    assert!(matches!(error, ReasonerError::TooManyTerms { limit: 2, .. }), "{error}");
}

/// The usual limits with other sizes.
fn sizes(change: impl Fn(&mut Sizes)) -> Limits {
    let mut limits = Limits::usual();
    change(&mut limits.sizes);
    limits
}

#[test]
fn a_state_that_outgrows_the_limits_is_a_fault() {
    let limits = sizes(|sizes| sizes.term_depth = 30);
    let rules = "(init (n z)) (<= (next (n (s ?x))) (true (n ?x)))";
    let reasoner = reasoner_within(rules, &limits).expect("the first state is small");
    let mut cursor = reasoner.cursor();
    let mut n_steps = 0;
    while !cursor.is_terminal() {
        let wait = cursor.legal_moves(RoleId::new(0))[0];
        cursor.play(&[wait]);
        n_steps += 1;
    }
    // `z` is one level deep and `(n z)` two.
    assert_eq!(n_steps, 29);
    assert_eq!(reasoner.last_fault().as_ref(), cursor.fault());
    let fault = cursor.fault().expect("the state is too large");
    assert!(matches!(fault, ReasonerError::TermTooDeep { limit: 30, .. }), "{fault}");
}

#[test]
fn there_is_no_game_without_roles() {
    let (sheet, _) = ludex_gdl::parse_kif(&Source::new("test", "(init f)"));
    let (program, _) = ludex_gdl::lower(&sheet);
    let error = Reasoner::new(&program, &Limits::usual()).unwrap_err();
    assert_eq!(error, ReasonerError::NoRole);
}

#[test]
fn roles_are_the_facts_in_order_and_then_the_derived_ones() {
    let reasoner = reasoner("(role b) (p z) (p y) (p b) (role a) (<= (role ?x) (p ?x))");
    let names: Vec<&str> = reasoner.roles().iter().map(|role| role.name.as_str()).collect();
    assert_eq!(names, ["r", "b", "a", "y", "z"]);
}

#[test]
fn successors_hold_what_next_derives_and_nothing_else() {
    check_after(
        2,
        "(init (step 0)) (init gone) (succ 0 1) (succ 1 2)
         (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
         (<= (next (did ?m)) (does r ?m))",
        "(did wait) (step 2)",
    );
}

#[test]
fn next_can_be_read_by_percepts() {
    let reasoner = reasoner(
        "(<= (next f) (does r wait)) (<= (sees r (new ?x)) (next ?x)) (<= (sees no ?x) (next ?x))",
    );
    let role = RoleId::new(0);
    let mut cursor = reasoner.cursor();
    let wait = cursor.legal_moves(role)[0];
    cursor.play(&[wait]);
    let seen: Vec<String> =
        cursor.percepts(role).iter().map(|&id| reasoner.percept_text(id)).collect();
    assert_eq!(seen, ["(new f)"]);
    let state = cursor.state().clone();
    cursor.set_state(&state);
    assert!(cursor.percepts(role).is_empty());
}

#[test]
fn legal_moves_come_in_the_order_of_their_texts() {
    let reasoner = reasoner(
        "(p 2) (p 10) (p 1) (<= (legal r (go ?x)) (p ?x)) (<= (legal r (go ?x ?x)) (p ?x))",
    );
    let mut cursor = reasoner.cursor();
    let moves = cursor.legal_moves(RoleId::new(0)).to_vec();
    let texts: Vec<String> = moves.into_iter().map(|id| reasoner.move_text(id)).collect();
    assert_eq!(
        texts,
        ["(go 1 1)", "(go 1)", "(go 10 10)", "(go 10)", "(go 2 2)", "(go 2)", "wait"]
    );
    assert!(texts.is_sorted());
}

#[test]
fn invalid_goals_are_ignored() {
    let reasoner = reasoner("(goal r 70) (goal r 101) (goal r much) (goal r 5) (goal x 9)");
    let mut cursor = reasoner.cursor();
    let values: Vec<u8> = cursor.goals(RoleId::new(0)).iter().map(|goal| goal.value()).collect();
    assert_eq!(values, [5, 70]);
}

#[test]
fn threads_agree_on_states_found_separately() {
    let reasoner = reasoner(
        "(init (at 0 0)) (m a) (m b) (<= (legal r (go ?x)) (m ?x))
         (<= (next (at ?m (was ?x ?y))) (does r (go ?m)) (true (at ?x ?y)))",
    );
    let walk = |first: usize| {
        let mut cursor = reasoner.cursor();
        for step in 0..8 {
            let moves = cursor.legal_moves(RoleId::new(0));
            let chosen = moves[(first + step) % 2];
            cursor.play(&[chosen]);
        }
        cursor.state().clone()
    };
    let states: Vec<ReasonerState> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|idx| scope.spawn(move || walk(idx))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!((&states[0], &states[1]), (&states[2], &states[3]));
    assert_ne!(states[0], states[1]);
    let mut cursor = reasoner.cursor();
    cursor.set_state(&states[1]);
    assert!(!cursor.is_terminal());
}

/// Thirty numbers in a row, and for each three of them whether the first two are in order and the
/// third is not between them: too many to derive them all.
const LARGE: &str = "
    (init (at 0)) (<= (num ?x) (succ ?x ?y)) (<= (num ?y) (succ ?x ?y))
    (<= (less ?x ?y) (true go) (succ ?x ?y))
    (<= (less ?x ?z) (true go) (succ ?x ?y) (less ?y ?z))
    (<= (apart ?x ?y ?z) (less ?x ?y) (num ?z) (not (between ?x ?y ?z)))
    (<= (between ?x ?y ?z) (less ?x ?z) (less ?z ?y))
    (init go) (<= (next go) (true go))
    (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (apart 0 29 ?y))
    (<= (next (at ?x)) (true (at ?x)) (succ ?x ?y) (not (apart 0 29 ?y)))";

#[test]
fn large_relations_are_derived_for_what_is_asked() {
    let numbers: String = (0..30).map(|x| format!("(succ {x} {}) ", x + 1)).collect();
    let reasoner = reasoner(&format!("{LARGE} {numbers}"));
    assert!(reasoner.n_called() > 0, "no component runs on demand");
    check_after(1, &format!("{LARGE} {numbers}"), "(at 0) go");
}

#[test]
fn a_cursor_plays_moves_found_by_another_cursor() {
    let reasoner = reasoner(
        "(init (at 0)) (<= (legal r (go (s ?x))) (true (at ?x)))
         (<= (next (at ?x)) (does r (go ?x)))",
    );
    let role = RoleId::new(0);
    let (mut first, mut second) = (reasoner.cursor(), reasoner.cursor());
    for _ in 0..40 {
        let go = first.legal_moves(role)[0];
        second.set_state(first.state());
        first.play(&[go]);
        second.play(&[go]);
        assert_eq!(first.state(), second.state());
    }
}

/// Checks whether two nodes of a graph are connected, by a relation too large to derive in full.
#[track_caller]
fn check_connected(edges: impl Iterator<Item = (usize, usize)>, expected: [bool; 2]) {
    let edges: String = edges.map(|(x, y)| format!("(edge {x} {y}) ")).collect();
    let reasoner = reasoner(&format!(
        "{edges} (init go) (<= (arc ?x ?y) (true go) (edge ?x ?y))
         (<= (path ?x ?y) (arc ?x ?y)) (<= (path ?x ?z) (arc ?x ?y) (path ?y ?z))
         (<= (legal r there) (path 0 70)) (<= (legal r back) (path 70 0))"
    ));
    assert!(reasoner.n_called() > 0, "no component runs on demand");
    let mut cursor = reasoner.cursor();
    let moves = cursor.legal_moves(RoleId::new(0)).to_vec();
    let texts: Vec<String> = moves.into_iter().map(|id| reasoner.move_text(id)).collect();
    let has = |text: &str| texts.iter().any(|other| other == text);
    assert_eq!([has("there"), has("back")], expected);
}

#[test]
fn calls_follow_a_chain_to_its_end() {
    check_connected((0..70).map(|x| (x, x + 1)), [true, false]);
}

#[test]
fn calls_within_calls_go_deeper_than_the_stack_allows() {
    check_connected((0..700).map(|x| (x * 70 % 701, (x + 1) * 70 % 701)), [true, false]);
    check_connected((0..3000).map(|x| (x + 70, (x + 71) % 3070)), [false, true]);
}

#[test]
fn calls_terminate_on_cycles() {
    check_connected((0..71).map(|x| (x, (x + 1) % 71)), [true, true]);
    let both_ways = (0..71).flat_map(|x| [(x, x / 2), (x / 2, x), (x, (x + 7) % 71)]);
    check_connected(both_ways, [true, true]);
    let one_way = (0..71).flat_map(|x| [(x, x / 2), (x, x * 3 % 70)]);
    check_connected(one_way, [false, true]);
}

/// Two relations with different numbers of arguments depend on each other here. Before this was
/// fixed, calls for one also ran the rules of the other, and read arguments that its heads do not
/// have.
#[test]
fn a_call_ran_the_rules_of_another_relation_of_its_component() {
    let edges: String = (0..70).map(|x| format!("(edge {x} {}) ", x + 1)).collect();
    let reasoner = reasoner(&format!(
        "{edges} (init go) (<= (arc ?x ?y) (true go) (edge ?x ?y))
         (<= (path ?x ?y) (arc ?x ?y)) (<= (path ?x ?z) (arc ?x ?y) (onward ?y ?z go))
         (<= (onward ?x ?y ?f) (path ?x ?y) (true ?f))
         (<= (legal r there) (path 0 70)) (<= (legal r back) (path 70 0))"
    ));
    assert!(reasoner.n_called() > 0, "no component runs on demand");
    let mut cursor = reasoner.cursor();
    let moves = cursor.legal_moves(RoleId::new(0)).to_vec();
    let texts: Vec<String> = moves.into_iter().map(|id| reasoner.move_text(id)).collect();
    assert_eq!(texts, ["there", "wait"]);
}

/// A variable that nothing binds makes `has_liberties` a relation that runs on demand, in one
/// component with the relation that collects its keys. The rulesheet comes from a fuzzer; its keys
/// grow without end.
#[test]
fn an_unbound_variable_under_a_call_read_beyond_the_head() {
    let rules = "(init (cell 1 2 empty))
        (<= terminal (true (cell ?x ?y ?player)) (no_liberties ?x ?y))
        (<= (has_liberties ?x ?y ?list) (true (cell ?x ?y ?color))
            (and (adjacent ?x ?y ?u ?v)
                 (or (true (cell ?v)) (and (has_liberties ?u ?v (cons ?list))))))
        (<= (no_liberties ?x ?y) (not (has_liberties ?x ?y (nil))))
        (<= (adjacent ?x ?y ?x ?v))";
    let error = reasoner_within(rules, &Limits::usual()).unwrap_err();
    assert!(matches!(error, ReasonerError::TermTooDeep { limit: 500, .. }), "{error}");
}

/// Fuzzing found a join that derives nothing for minutes. Here it is a cycle of odd length in a graph
/// whose edges lead from one half to the other.
#[test]
fn one_state_takes_no_more_steps_than_allowed() {
    let halves: String = (0..20).map(|n| format!("(left l{n}) (right r{n})")).collect();
    let rules = format!(
        "(init go) {halves} (<= (e ?x ?y) (left ?x) (right ?y)) (<= (e ?x ?y) (right ?x) (left ?y))
         (<= (legal r odd) (true go) (e ?a ?b) (e ?b ?c) (e ?c ?d) (e ?d ?f) (e ?f ?a))"
    );
    // The first state is evaluated at the start.
    let start = |steps: u64| reasoner_within(&rules, &sizes(|sizes| sizes.steps = steps));
    let error = start(200_000).map(|_| ()).unwrap_err();
    assert!(matches!(error, ReasonerError::TooManySteps { limit: 200_000, .. }), "{error}");
    assert_eq!(error.rule().map(|rule| rule.name.as_str()), Some("legal"));
    assert!(start(Sizes::default().steps).is_ok());
}

/// Calls nested deeper than the engine answers at once; each is postponed, and answered once.
#[test]
fn long_recursion_is_complete() {
    let n = 3_000;
    let chain: String = (0..n).map(|x| format!("(succ {x} {})", x + 1)).collect();
    let rules = format!(
        "{chain} (init (at 0)) (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
        (<= (reached ?x) (true (at ?x))) (<= (reached ?y) (reached ?x) (succ ?x ?y))
        (<= (path ?x ?l) (distinct ?l nil) (succ ?x ?y) (path ?y ?l)) (<= (path {n} ?l))
        (<= (legal r up) (reached {n})) (<= (legal r down) (true (at ?x)) (path ?x k))
        (<= (legal r never) (true (at ?x)) (path ?x nil)) (<= (legal r back) (reached 0))"
    );
    let reasoner = reasoner(&rules);
    let mut cursor = reasoner.cursor();
    let role = RoleId::new(0);
    let texts = |cursor: &mut ReasonerCursor| -> Vec<String> {
        let legal = cursor.legal_moves(role).to_vec();
        legal.into_iter().map(|id| reasoner.move_text(id)).collect()
    };
    assert_eq!(texts(&mut cursor), ["back", "down", "up", "wait"]);
    let first = cursor.legal_moves(role)[0];
    cursor.play(&[first]);
    assert_eq!(texts(&mut cursor), ["down", "up", "wait"]);
    assert_eq!(cursor.fault(), None);
}

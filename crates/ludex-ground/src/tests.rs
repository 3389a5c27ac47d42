//! Tests of grounding on small rulesheets.

use std::time::Duration;

use expect_test::{Expect, expect};
use ludex_base::{Deadline, Source};

use crate::{GroundError, GroundLimits, GroundProgram, StaticPairs, ground};

fn try_ground(rules: &str, limits: &GroundLimits) -> Result<GroundProgram, GroundError> {
    let (sheet, diagnostics) = ludex_gdl::parse_kif(&Source::new("test", rules));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    ground(&ludex_gdl::lower(&sheet).0, limits)
}

/// Lists the remaining rules, one per line.
fn listing(program: &GroundProgram) -> String {
    let mut lines: Vec<String> = Vec::new();
    for atom in program.derived_atoms() {
        for rule in program.rules_of(atom) {
            let body = rule.body.iter().map(|literal| {
                let text = program.atom_text(literal.atom());
                if literal.is_positive() { text } else { format!("not {text}") }
            });
            let mut body: Vec<String> = body.collect();
            body.sort();
            let arrow = if body.is_empty() { "" } else { " :- " };
            lines.push(format!("{}{arrow}{}\n", program.atom_text(atom), body.join(", ")));
        }
    }
    lines.sort();
    lines.concat()
}

#[track_caller]
fn check(rules: &str, expected: Expect) {
    let program = try_ground(rules, &GroundLimits::default()).expect("it grounds");
    expected.assert_eq(&listing(&program));
}

const GAME: &str = "(role me) (init (at a)) (legal me stay) (<= terminal (true (at b)))
    (goal me 100) ";

#[test]
fn static_relations_leave_no_trace() {
    check(
        &format!("{GAME} (step a b) (step b c) (<= (next (at ?y)) (true (at ?x)) (step ?x ?y))"),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at b)) :- (true (at a))
            (next (at c)) :- (true (at b))
            terminal :- (true (at b))
        "#]],
    );
}

#[test]
fn static_relations_of_two_arguments_are_kept_beside_the_rules() {
    let rules = "(step a b) (step b c) (<= (far ?x ?z) (step ?x ?y) (step ?y ?z))
        (<= (next (at ?y)) (true (at ?x)) (step ?x ?y) (not (far ?x ?y)))";
    let program = try_ground(&format!("{GAME} {rules}"), &GroundLimits::default());
    let vocabulary = program.expect("it grounds").vocabulary;
    let terms = &vocabulary.terms;
    let text = |it: &StaticPairs| {
        let pair = |&(from, to): &_| format!(" {}-{}", terms.display(from), terms.display(to));
        terms.symbols().name(it.name).to_string() + &it.pairs.iter().map(pair).collect::<String>()
    };
    let found: Vec<String> = vocabulary.static_pairs.iter().map(text).collect();
    assert_eq!(found, ["step a-b b-c", "far a-c"]);
}

#[test]
fn distinct_prunes_equal_pairs() {
    check(
        &format!(
            "{GAME} (p a) (p b)
            (<= (next (pair ?x ?y)) (p ?x) (p ?y) (distinct ?x ?y) (true (at a)))"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (pair a b)) :- (true (at a))
            (next (pair b a)) :- (true (at a))
        "#]],
    );
}

#[test]
fn atoms_that_are_never_true_are_folded_away() {
    check(
        &format!(
            "{GAME} (<= (next (at b)) (true (at nowhere))) (<= (next (at c)) (not (true (at nowhere))))
            (<= (next (at d)) (true (at a)) (not (true (at c))))"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at c))
            (next (at d)) :- (true (at a)), not (true (at c))
        "#]],
    );
}

#[test]
fn static_negation_is_decided_at_once() {
    check(
        &format!(
            "{GAME} (cell a) (cell b) (wall b) (<= (free ?x) (cell ?x) (not (wall ?x)))
            (<= (next (at ?x)) (free ?x) (does me stay))"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at a)) :- (does me stay)
        "#]],
    );
}

#[test]
fn goals_may_depend_on_the_negation_of_other_goals() {
    check(
        "(role me) (init a) (init b) (legal me stay) (<= terminal (true a)) (<= (next a) (true b))
        (<= (goal me 100) (true b)) (<= (goal me 0) (not (goal me 100)))",
        expect![[r#"
            (goal me 0) :- not (goal me 100)
            (goal me 100) :- (true b)
            (legal me stay)
            (next a) :- (true b)
            terminal :- (true a)
        "#]],
    );
}

#[test]
fn long_joins_are_split() {
    // Unsplit, the frame axiom has 20 * 20 * 20 * 20 * 3 instances.
    let numbers: String = (0..20).map(|n| format!("(n {n})")).collect();
    let rules = format!(
        "(role me) {numbers} (<= (init (cell ?x ?y e)) (n ?x) (n ?y)) (<= terminal (true (cell 0 0 m)))
        (<= (legal me (mark ?x ?y)) (true (cell ?x ?y e))) (goal me 100)
        (<= (next (cell ?x ?y m)) (does me (mark ?x ?y)))
        (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does me (mark ?u ?v)) (distinct ?x ?u))
        (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (does me (mark ?u ?v)) (distinct ?y ?v))"
    );
    let program = try_ground(&rules, &GroundLimits::default()).expect("it grounds");
    assert!(program.sizes.n_instances < 20_000, "{:?}", program.sizes);
    assert_eq!((program.vocabulary.fluents.len(), program.vocabulary.moves.len()), (800, 400));
}

#[test]
fn a_negative_cycle_between_ground_atoms_is_refused() {
    let rules = format!(
        "{GAME} (<= (next (at b)) (win a)) (<= (win ?x) (pair ?x ?y) (not (win ?y)))
        (pair a b) (<= (pair b a) (true (at a)))"
    );
    let error = try_ground(&rules, &GroundLimits::default()).expect_err("it has no meaning");
    assert!(matches!(error, GroundError::NegativeCycle { .. }), "{error}");
    check_place(&rules, &error, "win", "(<= (win ?x)");
}

#[test]
fn a_negation_that_only_looks_circular_is_accepted() {
    check(
        &format!(
            "{GAME} (<= (next (at b)) (win b)) (<= (win ?x) (pair ?x ?y) (not (win ?y)))
            (pair a b) (pair b c)"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at b))
            terminal :- (true (at b))
        "#]],
    );
}

#[test]
fn terms_that_grow_without_end_are_refused() {
    let rules = format!("{GAME} (<= (next (at (s ?x))) (true (at ?x)))");
    let error = try_ground(&rules, &GroundLimits::default()).expect_err("it never ends");
    assert!(matches!(error, GroundError::Unbounded { .. }), "{error}");
    check_place(&rules, &error, "next", "(<= (next (at (s ?x)))");
}

/// Checks the rule that an error names: its relation, and its beginning.
#[track_caller]
fn check_place(rules: &str, error: &GroundError, name: &str, begin: &str) {
    let rule = error.rule().expect("a rule is at fault");
    assert_eq!(rule.name, name);
    assert!(rules[rule.span.start as usize..].starts_with(begin), "{:?}", rule.span);
}

#[test]
fn limits_stop_grounding() {
    let numbers: String = (0..60).map(|n| format!("(n {n})")).collect();
    let rules = format!(
        "{GAME} {numbers} (<= (next (t ?a ?b ?c ?d)) (n ?a) (n ?b) (n ?c) (n ?d) (true (at a)))"
    );
    let few_atoms = GroundLimits { max_atoms: 10_000, ..GroundLimits::default() };
    assert!(matches!(try_ground(&rules, &few_atoms), Err(GroundError::TooManyAtoms { .. })));
    let little_memory = GroundLimits { max_bytes: 1_000_000, ..GroundLimits::default() };
    assert!(matches!(try_ground(&rules, &little_memory), Err(GroundError::OutOfMemory { .. })));
    let no_time =
        GroundLimits { deadline: Deadline::after(Duration::ZERO), ..GroundLimits::default() };
    assert!(matches!(try_ground(&rules, &no_time), Err(GroundError::OutOfTime { .. })));
}

#[test]
fn an_initial_fluent_that_never_recurs_stays_a_fluent() {
    let program = try_ground(GAME, &GroundLimits::default()).expect("it grounds");
    let fluents: Vec<String> = program
        .vocabulary
        .fluents
        .iter()
        .map(|&f| program.vocabulary.terms.display(f).to_string())
        .collect();
    assert_eq!(fluents, ["(at a)"]);
    assert_eq!(program.rules_of(program.next[0]).count(), 0);
    assert_eq!(program.terminal, None);
}

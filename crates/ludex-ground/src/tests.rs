//! Tests of grounding on small rulesheets.

use std::time::Duration;

use expect_test::{Expect, expect};
use ludex_base::{Deadline, Limits, Sizes, Source};

use crate::{GroundError, GroundProgram, StaticPairs, ground};

fn try_ground(rules: &str, limits: &Limits) -> Result<GroundProgram, GroundError> {
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
    let program = try_ground(rules, &Limits::usual()).expect("it grounds");
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
    let program = try_ground(&format!("{GAME} {rules}"), &Limits::usual());
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
    let program = try_ground(&rules, &Limits::usual()).expect("it grounds");
    assert!(program.sizes.n_instances < 20_000, "{:?}", program.sizes);
    assert_eq!((program.vocabulary.fluents.len(), program.vocabulary.moves.len()), (800, 400));
}

#[test]
fn a_negative_cycle_between_ground_atoms_is_refused() {
    let rules = format!(
        "{GAME} (<= (next (at b)) (win a)) (<= (win ?x) (pair ?x ?y) (not (win ?y)))
        (pair a b) (<= (pair b a) (true (at a)))"
    );
    let error = try_ground(&rules, &Limits::usual()).expect_err("it has no meaning");
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
    let error = try_ground(&rules, &Limits::usual()).expect_err("it never ends");
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
    let refused = |limits: &Limits| {
        let error = try_ground(&rules, limits).expect_err("it is too large");
        check_place(&rules, &error, "next", "(<= (next (t ?a ?b ?c ?d))");
        error.to_string()
    };
    let few_atoms = sizes(|sizes| sizes.atoms = 10_000);
    let text = refused(&few_atoms);
    assert!(text.starts_with("grounding derived more than 10000 atoms: 10000 atoms"), "{text}");
    assert!(text.contains("atoms of `true`; the last by a rule of `next`)"), "{text}");
    let text = refused(&Limits { max_bytes: 1_000_000, ..Limits::usual() });
    assert!(text.starts_with("grounding ran out of memory: ") && text.contains("`next`"), "{text}");
    let text = refused(&Limits::usual().until(Deadline::after(Duration::ZERO)));
    assert!(text.starts_with("grounding ran out of time after ") && text.contains("`"), "{text}");
}

/// The usual limits with other sizes.
fn sizes(change: impl Fn(&mut Sizes)) -> Limits {
    let mut limits = Limits::usual();
    change(&mut limits.sizes);
    limits
}

#[test]
fn static_relations_count_towards_the_limits() {
    let numbers: String = (0..60).map(|n| format!("(n {n})")).collect();
    let rules = format!(
        "{GAME} {numbers} (<= (all ?a ?b ?c) (n ?a) (n ?b) (n ?c)) (<= (next b) (all ?y ?x ?x))"
    );
    let error = try_ground(&rules, &sizes(|sizes| sizes.atoms = 10_000)).expect_err("too large");
    assert!(error.to_string().contains("atoms of `all`"), "{error}");
    check_place(&rules, &error, "all", "(<= (all ?a ?b ?c)");
    let limits = Limits { max_bytes: 2_000_000, ..Limits::usual() };
    let error = try_ground(&rules, &limits).expect_err("too large");
    assert!(error.to_string().contains("atoms of `all`"), "{error}");
}

#[test]
fn terms_that_double_are_refused_by_their_written_size() {
    let doubling: String =
        (0..40).map(|n| format!("(<= (t{} (f ?x ?x)) (t{n} ?x))", n + 1)).collect();
    let rules = format!("{GAME} (t0 z) {doubling} (<= (next ?x) (t40 ?x))");
    let error = try_ground(&rules, &Limits::usual()).expect_err("it is huge");
    assert!(matches!(error, GroundError::HugeTerm { .. }), "{error}");
    // Each step writes two copies and five more bytes, from one byte on.
    check_place(&rules, &error, "t15", "(<= (t15 (f ?x ?x))");
    assert!(try_ground(&rules, &sizes(|sizes| sizes.term_size = usize::MAX)).is_ok());
}

#[test]
fn rules_for_single_names_start_where_their_names_are() {
    // The names are in different places: first or second argument, within a term, or nowhere.
    check(
        &format!(
            "{GAME} (<= (next (at b)) (p a (f c))) (<= (next (at c)) (p ?x (f d))) (<= (next x) (p b ?x))
            (<= (next (y ?x)) (p ?x (f ?x))) (<= (next z) (p ?x c)) (<= (next (at d)) (p (g a) b))
            (<= (p a (f c)) (true (at a))) (<= (p d (f d)) (true (at a))) (<= (p b a) (true (at a)))
            (<= (p (g a) b) (true (at b)))"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at b)) :- (p a (f c))
            (next (at c)) :- (p d (f d))
            (next (at d)) :- (p (g a) b)
            (next (y d)) :- (p d (f d))
            (next x) :- (p b a)
            (p (g a) b) :- (true (at b))
            (p a (f c)) :- (true (at a))
            (p b a) :- (true (at a))
            (p d (f d)) :- (true (at a))
            terminal :- (true (at b))
        "#]],
    );
}

#[test]
fn many_roles_and_many_moves_are_refused() {
    let numbers: String = (0..40).map(|n| format!("(n {n})")).collect();
    let roles = format!("{GAME} {numbers} (<= (role (r ?x ?y)) (n ?x) (n ?y))");
    let error = try_ground(&roles, &Limits::usual()).expect_err("there are too many roles");
    assert_eq!(error.to_string(), "the rules derive 1601 roles, more than 1000");
    check_place(&roles, &error, "role", "(<= (role (r ?x ?y))");
    let moves = format!("{GAME} {numbers} (<= (legal me (m ?x ?y ?z)) (n ?x) (n ?y) (n ?z))");
    let error = try_ground(&moves, &sizes(|sizes| sizes.moves = 1_000)).expect_err("too many");
    assert!(matches!(error, GroundError::TooManyMoves { .. }), "{error}");
}

#[test]
fn an_initial_fluent_that_never_recurs_stays_a_fluent() {
    let program = try_ground(GAME, &Limits::usual()).expect("it grounds");
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

#[test]
fn roles_are_the_facts_in_order_and_then_the_derived_ones() {
    let rules = "(p z) (role b) (p y) (p b) (<= (role ?x) (p ?x)) (role a) (legal a go)";
    let program = try_ground(rules, &Limits::usual()).expect("it grounds");
    let vocabulary = &program.vocabulary;
    let roles = vocabulary.roles.iter().map(|&role| vocabulary.terms.display(role).to_string());
    assert_eq!(roles.collect::<Vec<_>>(), ["b", "a", "y", "z"]);
}

#[test]
fn an_initial_state_that_may_need_its_own_negation_is_left_to_the_reasoner() {
    let rules = "(role me) (index 2) (<= (index ?x) (cell ?x) (not (index 7)))
         (<= (init (at ?x)) (index ?x)) (legal me go)";
    let error = try_ground(rules, &Limits::usual()).expect_err("no circuit");
    assert!(
        matches!(&error, GroundError::InitNeedsOpen { relation, .. } if relation == "index"),
        "{error}"
    );
    check_place(rules, &error, "init", "(<= (init (at ?x))");
}

#[test]
fn fluents_that_never_change_leave_no_condition() {
    check(
        &format!(
            "{GAME} (init (wall a)) (<= (next (wall ?x)) (true (wall ?x))) (step a b) (step b c)
            (<= (next (at ?y)) (true (at ?x)) (step ?x ?y) (not (true (wall ?y))) (true (wall ?z)))"
        ),
        expect![[r#"
            (goal me 100)
            (legal me stay)
            (next (at b)) :- (true (at a))
            (next (at c)) :- (true (at b))
            (next (wall a)) :- (true (wall a))
            terminal :- (true (at b))
        "#]],
    );
}

#[test]
fn fluents_that_may_change_stay_conditions() {
    let frame = "(<= (next (wall ?x)) (true (wall ?x)))";
    let one = "(<= (next (wall a)) (true (wall a)))";
    let twice = "(<= (next (pair ?x ?x)) (true (pair ?x ?x)))";
    for rules in [
        // Without a frame, with a further rule, by a rule for any fluent, by a frame with a condition.
        "(init (wall a)) (<= (next c) (true (wall a)))".to_owned(),
        format!("{frame} (init (wall a)) (<= (next (wall b)) (true (at a))) (<= (next c) (true (wall ?x)))"),
        format!("{frame} (init (wall a)) (<= (next ?f) (true (made ?f))) (<= (next c) (true (wall a)))"),
        "(init (wall a)) (<= (next (wall ?x)) (true (wall ?x)) (true (at ?x))) (<= (next c) (true (wall a)))"
            .to_owned(),
        // The frame keeps other fluents than the condition is about.
        format!("{one} (init (wall b)) (<= (next c) (true (wall ?x)))"),
        format!("{twice} (init (pair a b)) (<= (next c) (true (pair ?x ?y)))"),
    ] {
        let program = try_ground(&format!("{GAME} {rules}"), &Limits::usual()).expect("it grounds");
        let listing = listing(&program);
        assert!(listing.contains("(next c) :- (true ("), "{rules}\n{listing}");
    }
}

/// A relation over `n` numbers to the power of six, of which the rules ask for `n` atoms.
fn asked_in_part(n: usize) -> String {
    let numbers: String = (0..n).map(|n| format!("(n {n})")).collect();
    format!(
        "{GAME} {numbers} (init (on 0)) (<= (next (on ?x)) (n ?x) (does me stay))
        (<= (wide ?a ?b ?c ?d ?e ?f) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (n ?f) (true (on ?a)) (true (on ?f)))
        (<= (deep ?a ?b ?c ?d ?e ?f) (n ?a) (n ?b) (n ?c) (n ?d) (n ?e) (n ?f) (distinct ?a ?b))
        (<= (next (seen ?x)) (n ?x) (wide ?x ?x ?x ?x ?x ?x)) (<= (next (dark ?x)) (n ?x) (not (wide ?x ?x ?x ?x ?x 0)))
        (<= (next (low ?x)) (true (on ?x)) (deep ?x 0 ?x ?x ?x ?x))"
    )
}

#[test]
fn only_what_is_asked_for_is_grounded() {
    let program = try_ground(&asked_in_part(30), &sizes(|sizes| sizes.atoms = 2_000_000));
    let program = program.expect("729 million atoms are not asked for");
    assert!(program.sizes.n_atoms < 1_000, "{:?}", program.sizes);
    let fluents: Vec<String> = (program.vocabulary.fluents.iter())
        .map(|&term| program.vocabulary.terms.display(term).to_string())
        .collect();
    let count = |name: &str| fluents.iter().filter(|text| text.starts_with(name)).count();
    assert_eq!(["(on", "(seen", "(dark", "(low"].map(count), [30, 30, 30, 29]);
}

#[test]
fn limits_stop_what_is_asked_for_as_well() {
    // Every atom of the relation is asked for.
    let rules = format!(
        "{} (<= (next (all ?a ?f)) (wide ?a ?b ?c ?d ?e ?f) (deep ?a ?b ?c ?d ?e ?f)
        (not (wide ?f ?e ?d ?c ?b ?a)))",
        asked_in_part(30)
    );
    let error =
        try_ground(&rules, &sizes(|sizes| sizes.atoms = 3_000_000)).expect_err("it is large");
    assert!(matches!(error, GroundError::TooManyAtoms { .. }), "{error}");
    let limits = Limits { max_bytes: 60_000_000, ..Limits::usual() };
    let error = try_ground(&rules, &limits).expect_err("it is large");
    assert!(matches!(error, GroundError::OutOfMemory { .. }), "{error}");
}

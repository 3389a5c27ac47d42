//! What loading and checking say at their limits.

use std::time::Duration;

use ludex_base::{Deadline, Limits, Source};
use ludex_pipeline::{Engine, EngineChoice, LoadError, check_within, load_within};

const GAME: &str = "(role r) (init (at a)) (legal r wait) (<= terminal (true (at b))) (goal r 100)
(<= (next (at b)) (does r wait))
";

fn source(rules: &str) -> Source {
    Source::new("t.kif", format!("{GAME}{rules}"))
}

fn numbers(n: usize) -> String {
    (0..n).map(|n| format!("(n {n})")).collect()
}

#[track_caller]
fn limit(rules: &str, engine: EngineChoice, limits: &Limits) -> String {
    match load_within(source(rules), engine, limits) {
        Err(LoadError::Limit { reason }) => reason,
        other => panic!("{:?}", other.map(|_| "it was loaded")),
    }
}

/// Returns the place and code of each error.
#[track_caller]
fn errors(rules: &str, engine: EngineChoice) -> Vec<(usize, &'static str)> {
    let source = source(rules);
    match load_within(source.clone(), engine, &Limits::usual()) {
        Err(LoadError::Rules { diagnostics }) => diagnostics
            .iter()
            .filter(|it| it.severity.is_error())
            .map(|it| (source.line_column(it.span.start).0, it.code))
            .collect(),
        other => panic!("{:?}", other.map(|_| "it was loaded")),
    }
}

#[test]
fn a_stop_in_the_text_is_not_a_mistake_of_the_rules() {
    let over = Limits::usual().until(Deadline::after(Duration::ZERO));
    let facts = "(f a) ".repeat(3_000);
    let reason = limit(&facts, EngineChoice::Auto, &over);
    assert_eq!(reason, "reading the rules ran out of time; allow more time");
    let error = check_within(&source(&facts), &over).unwrap_err();
    assert_eq!(error.to_string(), "checking the rules ran out of time; allow more time");
}

#[test]
fn both_reasons_are_given_if_no_engine_can_play() {
    let rules = format!("{}\n(<= (init (p ?x ?y)) (n ?x) (n ?y))", numbers(300));
    let mut limits = Limits::usual();
    limits.sizes.atoms = 10_000;
    let reason = limit(&rules, EngineChoice::Auto, &limits);
    let (first, second) = reason.split_once("; and the reasoner can't play it: ").expect("two");
    assert!(first.starts_with("t.kif:4:1: grounding derived more than 10000 atoms"), "{first}");
    assert!(first.contains("atoms of `init`"), "{first}");
    assert!(second.starts_with("t.kif:4:1: the rules derive more than 10000 atoms"), "{second}");
}

#[test]
fn the_reasoner_plays_what_cannot_be_grounded() {
    // `a` and `b` are never true together, which grounding does not know.
    let rules = format!(
        "{}\n(<= (legal r (go ?x ?y)) (n ?x) (n ?y) (true (at c)))
        (<= (next (at c)) (true (at a)) (true (at b)))",
        numbers(300)
    );
    let mut limits = Limits::usual();
    limits.sizes.atoms = 50_000;
    let loaded = load_within(source(&rules), EngineChoice::Auto, &limits).expect("it is played");
    assert!(matches!(loaded.engine, Engine::Reasoner(_)));
    let reason = loaded.fallback.expect("grounding failed");
    assert!(reason.contains("more than 50000 atoms"), "{reason}");
    assert!(reason.contains("by a rule of `legal`"), "{reason}");
    assert_eq!(loaded.sizes, None);
}

/// A counter that would grow forever if play did not end.
#[test]
fn the_reasoner_plays_games_whose_terms_grow_in_grounding() {
    let rules = source("(init (count z)) (<= (next (count (s ?n))) (true (count ?n)))");
    let loaded = load_within(rules.clone(), EngineChoice::Auto, &Limits::usual());
    let loaded = loaded.expect("it is played");
    assert!(matches!(loaded.engine, Engine::Reasoner(_)));
    let reason = loaded.fallback.expect("grounding failed");
    assert!(reason.contains("seem to grow without end"), "{reason}");
    let report = check_within(&rules, &Limits::usual()).expect("it is read in time");
    assert!(report.is_ok() && report.is_playable);
    assert!(report.diagnostics.iter().any(|it| it.code == "endless-grounding"));
}

#[test]
fn roles_and_texts_beyond_the_sizes_are_mistakes_for_every_engine() {
    let roles = format!("{}\n(<= (role (q ?x ?y)) (n ?x) (n ?y))", numbers(40));
    let doubling: String =
        (0..40).map(|n| format!("(<= (t{} (f ?x ?x)) (t{n} ?x))\n", n + 1)).collect();
    let doubling = format!("(t0 z)\n{doubling}(<= (next ?x) (t40 ?x))");
    for engine in [EngineChoice::Auto, EngineChoice::Circuit, EngineChoice::Reasoner] {
        assert_eq!(errors(&roles, engine), [(4, "too-many-roles")]);
        assert_eq!(errors(&doubling, engine), [(18, "huge-term")]);
    }
}

#[test]
fn numbers_of_any_length_are_names() {
    let long = "7".repeat(5_000);
    let rules =
        format!("(init (x {long})) (<= (next (x {long})) (true (x {long}))) (goal r {long})");
    for engine in [EngineChoice::Auto, EngineChoice::Reasoner] {
        let loaded = load_within(source(&rules), engine, &Limits::usual()).expect("it is played");
        assert!(loaded.diagnostics.iter().any(|it| it.code == "goal-value"));
        assert!(loaded.diagnostics.iter().all(|it| it.message.len() < 2_100));
    }
}

#[test]
fn a_check_grounds_only_what_may_have_mistakes() {
    let rules = format!("{} (<= (legal r (m ?x ?y)) (n ?x) (n ?y))", numbers(300));
    let mut limits = Limits::usual();
    limits.sizes.atoms = 10_000;
    let unchecked =
        |rules: &str| check_within(&source(rules), &limits).expect("it is read in time").unchecked;
    assert_eq!(unchecked(&rules), None);
    let found = unchecked(&format!("{rules} (base (at a))")).expect("`base` is not compared");
    assert_eq!(found.what, "whether `base` and `input` are complete");
    assert!(!found.may_have_errors);
    let found = unchecked(&format!("{rules} (<= (next (s ?f)) (true ?f))")).expect("it grows");
    assert_eq!(found.what, "terms that grow without end");
    assert!(found.may_have_errors);
    assert!(found.reason.contains("more than 10000 atoms"), "{}", found.reason);
    let found = unchecked(&format!(
        "{rules} (<= (p ?x) (n ?x) (not (q ?x))) (<= (q ?x) (true (at ?x)) (not (p ?x)))"
    ));
    assert_eq!(found.expect("it is negated").what, "negative cycles between ground atoms");
}

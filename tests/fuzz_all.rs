//! A minute of fuzzing through all stages: a sample of `cargo experiment fuzz`.
//!
//! `LUDEX_CASES` multiplies the number of inputs.

use std::path::Path;

use ludex_base::Seed;
use ludex_tests::fuzzing::trial::{Depth, Trial};
use ludex_tests::fuzzing::{Campaign, Generator};

/// Tries inputs. They must go far enough to mean something: `n_accepted` of them must be accepted, and
/// `n_compared` answers compared.
fn check(generator: Generator, n_inputs: u64, n_accepted: usize, n_compared: usize) {
    let times = std::env::var("LUDEX_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let campaign = Campaign {
        program: Path::new(env!("CARGO_BIN_EXE_fuzz-cases")).into(),
        generator,
        seed: Seed(1),
        // Only an input that never ends takes so long, on any machine.
        seconds_per_case: 300,
    };
    let report = campaign.run(0..n_inputs * times).expect("the program runs");
    println!(
        "{}: {} inputs, {} bytes, {} accepted, {} answers compared",
        generator.name(),
        report.n_cases,
        report.n_bytes,
        report.depth.n_accepted,
        report.depth.n_compared
    );
    let found: Vec<String> = (report.kinds().into_values())
        .map(|(it, count)| format!("input {} and {} others: {}", it.number, count - 1, it.what))
        .collect();
    assert!(found.is_empty(), "`cargo experiment fuzz` shrinks these:\n{}", found.join("\n"));
    assert_eq!(report.n_cases, n_inputs * times);
    assert!(report.depth.n_accepted >= n_accepted, "{} were accepted", report.depth.n_accepted);
    assert!(report.depth.n_compared >= n_compared, "{} were compared", report.depth.n_compared);
}

/// Fuzzing found that each engine ordered derived roles in its own way.
#[test]
fn engines_agree_on_roles_by_rules() {
    for sheet in [
        "(d b) (d a) (role z) (<= (role ?x) (d ?x)) (role c) (<= (legal ?r go) (role ?r)) (init s)
         (<= terminal (not (true s))) (<= (goal ?r 1) (role ?r))",
        "(init (at 1)) (<= (role ?x) (init ?x)) (role two)",
    ] {
        let depth = Trial::default().try_input(Generator::Fresh, sheet.as_bytes());
        let depth = depth.unwrap_or_else(|difference| panic!("{difference}: {sheet}"));
        assert!(depth.n_compared > 0, "no engine plays {sheet}");
    }
}

/// Fuzzing found that the engines disagree on these. The language forbids them, so none plays them.
#[test]
fn no_engine_plays_roles_and_initial_states_that_depend_on_the_state() {
    for sheet in [
        "(role p) (init a) (<= (role two) (true a))",
        "(role p) (q a) (<= (q ?x) (true (f ?x))) (<= (init (f ?x)) (q ?x)) (legal p go)",
        "(role p) (init a) (<= (init b) (does p go)) (legal p go)",
    ] {
        let depth = Trial::default().try_input(Generator::Fresh, sheet.as_bytes());
        assert_eq!(depth, Ok(Depth::default()), "{sheet}");
    }
}

/// Fuzzing found that the circuit left out what these derive before the first state.
#[test]
fn initial_states_through_open_relations_are_not_lost() {
    for sheet in [
        "(role p) (index 2) (<= (index ?x) (cell ?x) (not (index ?y))) (<= (init (at ?x)) (index ?x))
         (legal p go)",
        "(role p) (<= (init (can ?x)) (legal p ?x)) (legal p go)",
        "(role p) (start a 1) (succ 1 2) (<= (taking ?n ?k) (succ ?k ?m)) (<= (size ?a ?n) (start ?a ?n))
         (<= (size ?a ?k) (start ?a ?n) (taking ?n ?k)) (<= (init (pile ?n)) (size ?a ?n))
         (<= (next (pile ?k)) (true (pile ?n)) (taking ?n ?k)) (legal p go)",
    ] {
        let depth = Trial::default().try_input(Generator::Fresh, sheet.as_bytes());
        depth.unwrap_or_else(|difference| panic!("{difference}: {sheet}"));
    }
}

#[test]
fn bytes_and_words_break_no_stage() {
    check(Generator::Bytes, 300, 0, 0);
    check(Generator::Tokens, 300, 0, 0);
}

#[test]
fn engines_agree_on_sheets_that_are_nearly_valid() {
    check(Generator::Nearly, 150, 50, 300);
}

#[test]
fn engines_agree_on_random_rules() {
    check(Generator::Fresh, 300, 100, 500);
    check(Generator::FreshChanged, 200, 50, 200);
}

#[test]
fn models_and_instances_break_no_stage() {
    check(Generator::Models, 400, 200, 200);
    check(Generator::Xcsp3, 300, 150, 75);
    check(Generator::Qdimacs, 500, 50, 50);
    check(Generator::Certificates, 1000, 200, 20);
}

#[test]
fn records_and_messages_break_no_stage() {
    check(Generator::Records, 1000, 20, 20);
    check(Generator::Messages, 2000, 200, 200);
    check(Generator::Http, 200, 20, 200);
}

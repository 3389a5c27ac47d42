//! A minute of fuzzing through all stages: a sample of `cargo experiment fuzz`.
//!
//! `LUDEX_CASES` multiplies the number of inputs.

use std::path::Path;

use ludex_base::Seed;
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
    check(Generator::Models, 200, 10, 10);
    check(Generator::Xcsp3, 200, 10, 10);
    check(Generator::Qdimacs, 500, 50, 50);
}

#[test]
fn records_and_messages_break_no_stage() {
    check(Generator::Records, 1000, 20, 20);
    check(Generator::Messages, 2000, 200, 200);
    check(Generator::Http, 200, 20, 200);
}

//! Machine and reasoner on the same random states, and what lanes play on both: a sample of what
//! `cargo xtask agree` does.

use std::time::Duration;

use ludex_base::{Deadline, Seed};
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::{RulesFile, agree, corpus, in_parallel, lanes_agree, library};
use ludex_tests::{LONG_FOR_MACHINE, machine, reasoner, wide};

/// States of a game of the library.
const N_LIBRARY_STATES: usize = 60;
/// States of a public rulesheet; there are many of them.
const N_CORPUS_STATES: usize = 10;
/// At least as many playouts as there are lanes, whatever the processor.
const N_LANES: usize = 512;
/// Time for one game, grounding not included. Whatever was compared by then counts.
const TIME: Duration = Duration::from_secs(2);

#[test]
fn on_the_library() {
    compare_all(&library(), N_LIBRARY_STATES);
}

#[test]
fn on_the_corpus() {
    let Some(shared) = shared_or_skip("agreement of the engines on public rulesheets") else {
        return;
    };
    // Every fourth, and none that is slow to ground: those belong to the full run.
    let sample: Vec<RulesFile> = corpus(&shared)
        .into_iter()
        .filter(|rules| !LONG_FOR_MACHINE.contains(&rules.name.as_str()))
        .step_by(4)
        .collect();
    compare_all(&sample, N_CORPUS_STATES);
}

#[test]
fn every_lane_on_the_corpus() {
    let Some(shared) = shared_or_skip("lanes on public rulesheets") else { return };
    let sample: Vec<RulesFile> = corpus(&shared)
        .into_iter()
        .filter(|rules| !LONG_FOR_MACHINE.contains(&rules.name.as_str()))
        .skip(2)
        .step_by(12)
        .collect();
    let results = in_parallel(&sample, |rules| {
        let (wide, machine, reasoner) = (wide(rules)?, machine(rules)?, reasoner(rules)?);
        let deadline = || Deadline::after(TIME);
        let on_machine = lanes_agree(&wide, &machine, N_LANES, Seed(6), &deadline());
        let on_reasoner = lanes_agree(&wide, &reasoner, N_LANES, Seed(6), &deadline());
        let first = on_machine.and(on_reasoner).err()?;
        Some(format!("{}: {first}", rules.name))
    });
    let wrong: Vec<String> = results.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare_all(games: &[RulesFile], n_states: usize) {
    let results = in_parallel(games, |rules| {
        let (Some(first), Some(second)) = (machine(rules), reasoner(rules)) else { return None };
        agree(&first, &second, n_states, Seed(5), &Deadline::after(TIME))
            .err()
            .map(|disagreement| format!("{}: {disagreement}", rules.name))
    });
    let wrong: Vec<String> = results.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "machine first, reasoner second:\n{}", wrong.join("\n"));
}

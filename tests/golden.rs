//! Replays the recorded lines of the public rulesheets step by step, with both engines.
//!
//! `cargo xtask golden` replays the few that are too long for a test.

use std::time::Duration;

use ludex_base::Deadline;
use ludex_game::{Describe, Observe};
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::golden::Mismatch;
use ludex_testkit::{Golden, RulesFile, assert_compared, compare, corpus, in_parallel};
use ludex_tests::{LONG_FOR_MACHINE, LONG_FOR_REASONER, machine, reasoner};

/// Time limit of a line, more than any of them takes.
const TIME: Duration = Duration::from_secs(100);

#[test]
fn the_reasoner_replays_the_recordings() {
    play_all("the reasoner", LONG_FOR_REASONER, 9_700, |rules, golden| {
        reasoner(rules).map(|game| play(&game, golden))
    });
}

#[test]
fn the_machine_replays_the_recordings() {
    play_all("the machine", LONG_FOR_MACHINE, 9_400, |rules, golden| {
        machine(rules).map(|game| play(&game, golden))
    });
}

fn play<G>(game: &G, golden: &Golden) -> Result<(), Mismatch>
where
    G: Describe,
    G::Cursor: Observe,
{
    compare(game, golden, &Deadline::after(TIME))
}

/// Replays every recorded game with one engine, at least `min_steps` steps in total. The engine is
/// `None` if the game is too large for it.
fn play_all(
    engine: &str,
    left_out: &[&str],
    min_steps: usize,
    play: impl Fn(&RulesFile, &Golden) -> Option<Result<(), Mismatch>> + Sync,
) {
    let Some(shared) = shared_or_skip("recorded lines of the public rulesheets") else { return };
    let mut games: Vec<(RulesFile, Golden)> = corpus(&shared)
        .into_iter()
        .filter(|rules| !left_out.contains(&rules.name.as_str()))
        .filter_map(|rules| Golden::read(&shared, &rules.name).map(|golden| (rules, golden)))
        .collect();
    // The largest first, so that no core works alone at the end.
    games.sort_by_key(|(rules, _)| std::cmp::Reverse(rules.text().len()));
    let results = in_parallel(&games, |(rules, golden)| match play(rules, golden) {
        Some(Ok(())) => Ok(golden.n_steps()),
        Some(Err(mismatch)) => Err(format!("{}: {mismatch}", rules.name)),
        None => Err(format!("{}: too large for {engine}", rules.name)),
    });
    println!("left out: {left_out:?}");
    assert_compared(&format!("recorded steps by {engine}"), results, min_steps);
}

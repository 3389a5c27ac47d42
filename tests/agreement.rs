//! Compares the machine with the reasoner on random states, and replays the games of lanes on both:
//! a sample of `cargo xtask agree`.

use std::path::Path;
use std::time::Duration;

use ludex_base::{Deadline, Seed};
use ludex_testkit::fixtures::shared_or_skip;
use ludex_testkit::{RulesFile, agree, assert_compared, corpus, in_parallel, lanes_agree, library};
use ludex_tests::{LONG_FOR_MACHINE, machine, reasoner, wide};

/// Number of states compared per game of the library.
const N_LIBRARY_STATES: usize = 60;
/// Number of states compared per public rulesheet, of which there are many.
const N_CORPUS_STATES: usize = 10;
/// Number of playouts: at least the number of lanes on any processor.
const N_LANES: usize = 512;
/// Time limit per game without grounding, many times what any game takes.
const TIME: Duration = Duration::from_secs(120);
/// Time limit for replaying the games of lanes on the reasoner. The games replayed by then count.
const REASONER_TIME: Duration = Duration::from_secs(2);

#[test]
fn engines_agree_on_the_library() {
    compare_all(&library(), N_LIBRARY_STATES, 65);
}

#[test]
fn engines_agree_on_the_corpus() {
    let Some(shared) = shared_or_skip("agreement of the engines on public rulesheets") else {
        return;
    };
    // Every fourth sheet, except those that are slow to ground, which belong to the full run.
    let sample: Vec<RulesFile> = groundable(&shared).step_by(4).collect();
    compare_all(&sample, N_CORPUS_STATES, 65);
}

#[test]
fn lanes_agree_with_both_engines_on_the_corpus() {
    let Some(shared) = shared_or_skip("lanes on public rulesheets") else { return };
    let sample: Vec<RulesFile> = groundable(&shared).skip(2).step_by(12).collect();
    let compare = |rules: &RulesFile| -> Result<[usize; 2], String> {
        let wide = wide(rules).ok_or("the game has no lanes")?;
        let machine = machine(rules).ok_or("too large for the machine")?;
        let (n_compared, n_played) =
            lanes_agree(&wide, &machine, N_LANES, Seed(6), &Deadline::after(TIME))?;
        if (n_compared, n_played) != (N_LANES, N_LANES) {
            return Err(format!("only {n_compared} of {n_played} games were replayed"));
        }
        let reasoner = reasoner(rules).ok_or("the reasoner cannot play the game")?;
        let deadline = Deadline::after(REASONER_TIME);
        let (n_by_reasoner, _) = lanes_agree(&wide, &reasoner, N_LANES, Seed(6), &deadline)?;
        Ok([n_compared, n_by_reasoner])
    };
    let results = in_parallel(&sample, |rules| {
        compare(rules).map_err(|words| format!("{}: {words}", rules.name))
    });
    let by =
        |which: usize| results.iter().map(move |it| Ok(it.as_ref().map_err(Clone::clone)?[which]));
    assert_compared("games of lanes on the machine", by(0), 22 * N_LANES);
    // The reasoner replays as many as it can in its time; the floor holds on a busy machine too.
    assert_compared("games of lanes on the reasoner", by(1), 22 * N_LANES / 64);
}

/// Returns the public rulesheets that are not slow to ground.
fn groundable(shared: &Path) -> impl Iterator<Item = RulesFile> {
    let is_long = |rules: &RulesFile| LONG_FOR_MACHINE.contains(&rules.name.as_str());
    corpus(shared).into_iter().filter(move |rules| !is_long(rules))
}

/// Compares both engines on `n_states` states of each of at least `n_games` games.
fn compare_all(games: &[RulesFile], n_states: usize, n_games: usize) {
    let results = in_parallel(games, |rules| {
        let (Some(first), Some(second)) = (machine(rules), reasoner(rules)) else {
            return Err(format!("{}: too large for the machine", rules.name));
        };
        agree(&first, &second, n_states, Seed(5), &Deadline::after(TIME))
            .map_err(|disagreement| format!("{}: {disagreement}", rules.name))
    });
    assert_compared("states by machine and reasoner", results, n_games * n_states);
}

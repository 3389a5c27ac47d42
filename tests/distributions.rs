//! Random games end alike whichever engine plays them: a small version of `cargo experiment
//! endings`.

use ludex_base::{Deadline, Seed};
use ludex_machine::PlayoutStyle;
use ludex_testkit::library;
use ludex_testkit::statistics::Endings;
use ludex_tests::{machine, reasoner};

const GAMES: &[&str] =
    &["tictactoe", "connectfour", "breakthrough-small", "pig", "tron", "kuhn-poker"];
const N_PLAYOUTS: u64 = 5_000;
const N_BY_REASONER: u64 = 300;

/// The probability of a false alarm in any comparison of this test is below 1 in 1000. The seeds
/// are fixed, so the test fails always or never.
const LEVEL: f64 = 0.001;

#[test]
fn lanes_cursors_and_the_reasoner_end_alike() {
    let level = LEVEL / (GAMES.len() * 4) as f64;
    let games = library();
    let mut n_free = 0;
    for &name in GAMES {
        let rules =
            games.iter().find(|rules| rules.name == name).expect("the library has the game");
        let machine = machine(rules).expect("the game is small");
        let reasoner = reasoner(rules).expect("the rules are valid");
        let wide = machine.clone().with_playouts(PlayoutStyle::Wide);
        let (never, seed) = (Deadline::never(), Seed(8));
        let by_lanes = Endings::of(&wide, N_PLAYOUTS, &never, &mut seed.child(0).rng());
        let by_cursor = Endings::of(&machine, N_PLAYOUTS, &never, &mut seed.child(1).rng());
        let by_reasoner = Endings::of(&reasoner, N_BY_REASONER, &never, &mut seed.child(2).rng());
        let n_playouts = [&by_lanes, &by_cursor, &by_reasoner].map(|it| it.n_playouts);
        assert_eq!(n_playouts, [N_PLAYOUTS, N_PLAYOUTS, N_BY_REASONER], "{name}");
        for (who, other) in [("cursor", by_cursor), ("reasoner", by_reasoner)] {
            let (goals, lengths) =
                (by_lanes.compare_goals(&other), by_lanes.compare_lengths(&other));
            assert!(goals.p > level, "{name}: goals in lanes and by the {who}: {goals:?}");
            assert!(lengths.p > level, "{name}: lengths in lanes and by the {who}: {lengths:?}");
            n_free += goals.n_free + lengths.n_free;
        }
    }
    // Number of categories that could have differed.
    assert!(n_free >= 140, "{n_free} categories are too few");
}

//! Equilibria with known values, found by regret minimization and measured by best responses.

use ludex_base::{Deadline, RoleId, Seed};
use ludex_game::{Cursor, Describe, Game};
use ludex_machine::Machine;
use ludex_search::cfr::{ExtensiveForm, ExtensiveFormLimits, Induction, Profile, Solver, Variant};
use ludex_search::information::{AllMoves, OwnPercepts};
use ludex_search::{SearchLimits, SearchSpec};

const VARIANTS: [Variant; 4] = [Variant::Cfr, Variant::Plus, Variant::External, Variant::Outcome];

fn game(name: &str) -> Machine {
    let library = ludex_testkit::library();
    let rules =
        library.iter().find(|rules| rules.name == name).expect("the game is in the library");
    ludex_tests::machine(rules).expect("the game is small enough")
}

/// Returns the extensive form of a game.
fn form(game: &Machine) -> ExtensiveForm {
    form_from(game, game.cursor())
}

/// Returns the extensive form from the state of a cursor.
fn form_from(game: &Machine, mut cursor: <Machine as Game>::Cursor) -> ExtensiveForm {
    let random = game.roles().iter().position(|role| role.is_random).map(RoleId::new);
    let starts = [(cursor.state().clone(), 1.0)];
    let limits =
        ExtensiveFormLimits { horizon: 100, max_nodes: 1_000_000, deadline: Deadline::never() };
    let n_roles = game.roles().len();
    let mut never = |_: &mut _, _: &mut Vec<f32>| panic!("no play is cut off");
    if game.has_percepts() {
        ExtensiveForm::new(n_roles, random, &mut cursor, &starts, &OwnPercepts, &limits, &mut never)
    } else {
        ExtensiveForm::new(n_roles, random, &mut cursor, &starts, &AllMoves, &limits, &mut never)
    }
    .expect("the game is small enough")
}

fn players(game: &Machine) -> impl Iterator<Item = RoleId> + '_ {
    game.role_ids().filter(|role| !game.roles()[role.index()].is_random)
}

fn solved(form: &ExtensiveForm, variant: Variant, n_iterations: usize) -> Solver {
    let mut solver = Solver::new(form, variant, Seed(1));
    (0..n_iterations).for_each(|_| solver.iterate(form));
    solver
}

#[test]
fn pennies_and_roshambo_are_mixed_evenly() {
    let even = |form: &ExtensiveForm, solver: &Solver, n_sets: usize| {
        for set in &form.sets()[..n_sets] {
            for part in solver.mean(set) {
                let even = 1.0 / set.moves.len() as f64;
                assert!((part - even).abs() < 0.04, "{set:?}: {part}");
            }
        }
    };
    let pennies = game("matching-pennies");
    let all = form(&pennies);
    for variant in VARIANTS {
        let n_iterations = if variant == Variant::Outcome { 100_000 } else { 5_000 };
        let solver = solved(&all, variant, n_iterations);
        even(&all, &solver, 2);
        let means = solver.means(&all);
        let gain = Profile::new(&all, &means).exploitability(players(&pennies));
        assert!(gain < 0.04, "{variant:?}: {gain}");
    }
    // Five rounds; the sets of the first round come first.
    let roshambo = game("rock-paper-scissors");
    let all = form(&roshambo);
    let solver = solved(&all, Variant::Plus, 100);
    even(&all, &solver, 2);
    let means = solver.means(&all);
    assert!(Profile::new(&all, &means).exploitability(players(&roshambo)) < 0.02);
}

/// Converts a goal of 50 + 25 per chip to chips.
fn chips(goal: f64) -> f64 {
    4.0 * goal - 2.0
}

#[test]
fn the_first_player_of_kuhn_poker_loses_an_eighteenth() {
    let game = game("kuhn-poker");
    let form = form(&game);
    // There are six deals, and each role has two sets per card.
    assert_eq!(form.sets().len(), 12);
    let first = players(&game).next().expect("the game has players");
    for variant in VARIANTS {
        let (few, many) = match variant {
            Variant::Cfr | Variant::Plus => (50, 5_000),
            Variant::External => (500, 100_000),
            Variant::Outcome => (5_000, 1_000_000),
        };
        let gain = |n_iterations| {
            let solver = solved(&form, variant, n_iterations);
            let means = solver.means(&form);
            let profile = Profile::new(&form, &means);
            (chips(profile.value(first)), 4.0 * profile.exploitability(players(&game)))
        };
        let (_, early) = gain(few);
        let (value, late) = gain(many);
        println!(
            "kuhn-poker {variant:?}: {early:.4} chips to gain after {few} iterations, {late:.4} after {many}; the first player gets {value:.4}"
        );
        assert!(late < 0.02 && late < early / 2.0, "{variant:?}: {early} then {late}");
        assert!((value + 1.0 / 18.0).abs() < 0.02, "{variant:?}: {value}");
    }
}

#[test]
fn known_strategies_of_kuhn_poker_have_their_known_values() {
    let game = game("kuhn-poker");
    let form = form(&game);
    let first = players(&game).next().expect("the game has players");
    // A player that never bets loses nothing to itself, but an eager first player takes every pot
    // from it.
    let never_bets: Vec<f64> = (form.sets().iter())
        .flat_map(|set| {
            set.moves.iter().map(|&id| f64::from(u8::from(game.move_text(id) == "pass")))
        })
        .collect();
    let profile = Profile::new(&form, &never_bets);
    assert!(chips(profile.value(first)).abs() < 1e-6);
    assert!((chips(profile.best_response(first)) - 1.0).abs() < 1e-6);
}

#[test]
fn single_players_do_as_well_as_their_information_allows() {
    for (name, value, deciding) in
        [("hidden-matching-pennies", 0.75, None), ("monty-hall", 2.0 / 3.0, Some("switch"))]
    {
        let game = game(name);
        let form = form(&game);
        let me = players(&game).next().expect("the game has a player");
        let mut n_deciding = 0;
        for variant in VARIANTS {
            let n_iterations = if variant == Variant::Outcome { 300_000 } else { 3_000 };
            let solver = solved(&form, variant, n_iterations);
            let means = solver.means(&form);
            let profile = Profile::new(&form, &means);
            assert!((profile.best_response(me) - value).abs() < 1e-6, "{name}");
            let found = profile.value(me);
            assert!((found - value).abs() < 0.01, "{name} {variant:?}: {found}");
            // Sampling leaves the sets open that play never reaches.
            if matches!(variant, Variant::External | Variant::Outcome) {
                continue;
            }
            for set in form.sets() {
                let texts: Vec<String> = set.moves.iter().map(|&id| game.move_text(id)).collect();
                let parts = solver.mean(set);
                if let Some(place) =
                    deciding.and_then(|it| texts.iter().position(|text| text == it))
                {
                    assert!(parts[place] > 0.95, "{name} {variant:?}: {texts:?} {parts:?}");
                    n_deciding += 1;
                }
            }
        }
        assert_eq!(n_deciding, if deciding.is_some() { 12 } else { 0 }, "{name}");
    }
}

#[test]
fn with_complete_information_regret_agrees_with_minimax() {
    let game = game("tictactoe");
    let mut cursor = game.cursor();
    for _ in 0..3 {
        let joint: Vec<_> = game.role_ids().map(|role| cursor.legal_moves(role)[0]).collect();
        cursor.play(&joint);
    }
    let form = form_from(&game, cursor.clone());
    let solver = solved(&form, Variant::Plus, 300);
    let means = solver.means(&form);
    let profile = Profile::new(&form, &means);
    let roles: Vec<RoleId> = players(&game).collect();
    let alphabeta = SearchSpec::parse("alphabeta").expect("alphabeta is registered");
    let limits = SearchLimits::iterations(10_000_000, Seed(1));
    let report = alphabeta.build(&game).search(&cursor, roles[1], &limits);
    assert!(report.is_proven);
    let (found, exact) = (profile.value(roles[1]), report.reward.expect("the result is proved"));
    assert!((found - exact).abs() < 0.01, "{found} for {exact}");
    assert!(profile.exploitability(roles.into_iter()) < 0.01);
}

/// Backward induction is exact with complete information: no role gains by another strategy, and
/// regret minimization finds the same values.
#[test]
fn induction_leaves_nothing_to_gain() {
    for (name, n_ahead) in [("matching-pennies", 0), ("rock-paper-scissors", 0), ("tictactoe", 3)] {
        let game = game(name);
        let mut cursor = game.cursor();
        for _ in 0..n_ahead {
            let joint: Vec<_> = game.role_ids().map(|role| cursor.legal_moves(role)[0]).collect();
            cursor.play(&joint);
        }
        let form = form_from(&game, cursor);
        let n_roles = game.roles().len();
        let found = Induction::new(&form, n_roles, &Deadline::never()).expect("there is time");
        let profile = Profile::new(&form, &found.parts);
        let gain = profile.exploitability(players(&game));
        assert!(gain < 1e-5, "{name}: {gain}");
        let solver = solved(&form, Variant::Plus, 200);
        let means = solver.means(&form);
        for role in players(&game) {
            let value = profile.value(role);
            assert!((value - found.values[role.index()]).abs() < 1e-6, "{name}: {value}");
            let by_regret = Profile::new(&form, &means).value(role);
            assert!((value - by_regret).abs() < 0.02, "{name}: {value} and {by_regret}");
        }
    }
}

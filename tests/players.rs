//! Checks that every player makes only legal moves on every kind of game, with long and with short
//! clocks.

use std::sync::Arc;
use std::time::Duration;

use ludex_base::{Deadline, Seed};
use ludex_game::Game;
use ludex_pipeline::{EngineChoice, with_game};
use ludex_player::{Playable, Player, PlayerConfig, PlayerSpec, players};
use ludex_referee::{
    Clocks, Ending, LocalSeat, Seat, Seating, SeriesConfig, Shard, Tally, play_series, replay,
};
use ludex_testkit::{in_parallel, library};

/// One game of each kind: two roles, one role, three roles, simultaneous moves, chance, hidden
/// information with and without chance.
const GAMES: &[&str] = &[
    "tictactoe",
    "eight-puzzle",
    "three-player-nim",
    "rock-paper-scissors",
    "pig",
    "kuhn-poker",
    "blind-tictactoe",
];

#[test]
fn every_player_plays_every_kind_of_game_to_its_end() {
    let clocks = [(20, 20), (1, 1)].map(|(start, play)| Clocks {
        start: Duration::from_millis(start),
        play: Duration::from_millis(play),
    });
    let names: Vec<&str> = players().iter().map(|info| info.name).collect();
    in_parallel(&names, |name| {
        for game in GAMES {
            for clocks in clocks {
                check(game, name, clocks);
            }
        }
    });
}

fn check(game: &str, player: &str, clocks: Clocks) {
    let rules = library().into_iter().find(|rules| rules.name == game).expect("a library game");
    let loaded = ludex_tests::load_for(&rules, EngineChoice::Auto).expect("it loads");
    with_game!(&loaded.engine, |engine| {
        let tally = play(engine, Arc::clone(&loaded.program), player, clocks);
        for seat in &tally.players {
            assert_eq!((seat.n_illegal, seat.n_failed), (0, 0), "{player} on {game}: {tally:?}");
            assert!(seat.n_seats > 0, "{player} on {game}: {tally:?}");
        }
    });
}

#[test]
fn the_flagship_never_loses_a_small_game() {
    // 200 matches in all, 50 against each opponent.
    let opponents = ["random", "alphabeta", "uct", "flat"];
    in_parallel(&opponents, |opponent| {
        let tally = series("tictactoe", &["ludex", opponent], 50);
        assert_eq!((tally.players[0].n_losses, tally.n_unfinished), (0, 0), "{tally:?}");
    });
}

#[test]
fn the_flagship_takes_the_best_goal() {
    for puzzle in ["buttons", "wolf-goat-cabbage", "four-lights"] {
        let tally = series(puzzle, &["ludex"], 2);
        assert_eq!(tally.players[0].goal.map(|goal| goal.mean), Some(100.0), "{puzzle}: {tally:?}");
    }
}

/// Plays matches between players with an iteration limit and long clocks.
fn series(game: &str, names: &[&str], count: usize) -> Tally {
    let rules = library().into_iter().find(|rules| rules.name == game).expect("a library game");
    let loaded = ludex_tests::load_for(&rules, EngineChoice::Auto).expect("it loads");
    let specs: Vec<PlayerSpec> =
        names.iter().map(|name| PlayerSpec::parse(name).expect("a registered player")).collect();
    with_game!(&loaded.engine, |engine| {
        let n_roles = engine.roles().iter().filter(|role| !role.is_random).count();
        let seating = Seating::new(names.len(), n_roles).expect("as many players as roles");
        let make = |player: usize, seed| -> Box<dyn Seat> {
            let config = PlayerConfig { iterations: Some(3_000), ..PlayerConfig::new(seed) };
            let program = Arc::clone(&loaded.program);
            Box::new(LocalSeat::new(Player::new(&specs[player], engine, program, config)))
        };
        let minute = Duration::from_secs(60);
        let config = SeriesConfig { count, ..config(Clocks { start: minute, play: minute }) };
        let series = play_series(engine, &seating, &make, &config, Vec::new(), &mut |_| {});
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        Tally::new(&names, &seating, &series.records)
    })
}

/// The configuration of a series of one match.
fn config(clocks: Clocks) -> SeriesConfig {
    SeriesConfig {
        count: 1,
        shard: Shard::WHOLE,
        clocks,
        seed: Seed(3),
        n_parallel: 1,
        test: None,
        max_steps: 500,
        stop: Deadline::never(),
        watcher: None,
    }
}

fn play<G: Playable>(
    game: &G,
    program: Arc<ludex_gdl::Program>,
    player: &str,
    clocks: Clocks,
) -> Tally {
    let n_roles = game.roles().iter().filter(|role| !role.is_random).count();
    let names = vec![player.to_string(); n_roles];
    let seating = Seating::new(n_roles, n_roles).expect("as many players as roles");
    let spec = PlayerSpec::parse(player).expect("a registered player");
    let make = |_, seed| -> Box<dyn Seat> {
        let program = Arc::clone(&program);
        Box::new(LocalSeat::new(Player::new(&spec, game, program, PlayerConfig::new(seed))))
    };
    let series = play_series(game, &seating, &make, &config(clocks), Vec::new(), &mut |_| {});
    for record in &series.records {
        assert_eq!(record.ending, Ending::Terminal, "{player}");
        assert_eq!(replay(game, record).as_ref(), Ok(&record.goals));
    }
    Tally::new(&names, &seating, &series.records)
}

//! Tests of the contract, with searches that break it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ludex_base::{RoleId, Source};
use ludex_game::{Cursor, Describe, Game, Observe};
use ludex_machine::Machine;
use ludex_pipeline::{Engine, LoadOptions, LoadedGame, load};
use ludex_testkit::library;

use crate::knowledge::Situation;
use crate::mind::{Mind, Opinion};
use crate::*;

pub(crate) fn loaded(name: &str) -> (LoadedGame, Machine) {
    let rules =
        library().into_iter().find(|rules| rules.name == name).expect("a game of the library");
    let loaded = load(Source::new(name, rules.text()), &LoadOptions::default()).expect("it loads");
    let Engine::Machine(machine) = &loaded.engine else { unreachable!("library games are small") };
    let machine = machine.clone();
    (loaded, machine)
}

/// How a search fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Panics,
    /// Ignores its deadline for that many milliseconds.
    Sleeps(u64),
    Illegal,
}

struct Faulty(Fault);

impl Mind<Machine> for Faulty {
    fn prepare(&mut self, _: RoleId, _: &ludex_search::SearchLimits) {}

    fn think(
        &mut self,
        _: &Situation<ludex_base::BitSet>,
        _: RoleId,
        _: &ludex_search::SearchLimits,
    ) -> Opinion {
        let mut report = ludex_search::SearchReport::default();
        match self.0 {
            Fault::Panics => panic!("this search panics on purpose, for a test"),
            Fault::Sleeps(ms) => std::thread::sleep(Duration::from_millis(ms)),
            Fault::Illegal => report.chosen = Some(ludex_base::MoveId::new(99_999)),
        }
        Opinion { report, search: "faulty".into() }
    }
}

fn faulty_player(fault: Fault) -> (Player<Machine>, Machine) {
    let (loaded, machine) = loaded("tictactoe");
    let spec = PlayerSpec::parse("random").expect("a registered player");
    // The clocks are long because the machine may be busy; few iterations keep the tests short.
    let config = PlayerConfig { iterations: Some(100), ..PlayerConfig::new(ludex_base::Seed(1)) };
    let player = Player::new(&spec, &machine, Arc::clone(&loaded.program), config)
        .thinking_with(Minds::by(move || Box::new(Faulty(fault))));
    (player, machine)
}

/// Plays the first role of tic-tac-toe to the end. Returns the rungs of its moves, and the longest time that
/// a move took.
fn play_through(fault: Fault, clock: Duration) -> (Vec<Rung>, Duration) {
    let (mut player, machine) = faulty_player(fault);
    let (me, other) = (RoleId::new(0), RoleId::new(1));
    player.start(me, Instant::now() + clock);
    let mut cursor = machine.cursor();
    let mut joint: Option<Vec<ludex_base::MoveId>> = None;
    let (mut rungs, mut longest) = (Vec::new(), Duration::ZERO);
    while !cursor.is_terminal() {
        let seen = joint.as_ref().map_or(Seen::Nothing, |joint| Seen::Joint(joint));
        let asked = Instant::now();
        let choice = player.choose(seen, asked + clock);
        longest = longest.max(asked.elapsed());
        let chosen = choice.chosen.expect("the engine did not panic");
        assert!(cursor.legal_moves(me).contains(&chosen), "{choice:?}");
        rungs.push(choice.thought.rung);
        let reply = cursor.legal_moves(other)[0];
        joint = Some(vec![chosen, reply]);
        cursor.play(&[chosen, reply]);
    }
    (rungs, longest)
}

#[test]
fn when_the_search_panics_the_reasoner_plays() {
    let (rungs, _) = play_through(Fault::Panics, Duration::from_secs(20));
    assert!(rungs.iter().all(|rung| matches!(rung, Rung::Reasoner | Rung::Forced)), "{rungs:?}");
    assert!(rungs.contains(&Rung::Reasoner));
}

#[test]
fn an_illegal_choice_is_not_passed_on() {
    let (rungs, _) = play_through(Fault::Illegal, Duration::from_secs(20));
    assert!(rungs.contains(&Rung::Reasoner) && !rungs.contains(&Rung::Search), "{rungs:?}");
}

#[test]
fn a_stuck_search_does_not_make_it_late() {
    // The search sleeps far longer than the clock; the clock is not short, because the machine may be busy.
    let clock = Duration::from_millis(300);
    let (rungs, longest) = play_through(Fault::Sleeps(3_000), clock);
    assert!(rungs.contains(&Rung::Random) && !rungs.contains(&Rung::Search), "{rungs:?}");
    assert!(longest < Duration::from_millis(2_500), "{longest:?}");
}

#[test]
fn legal_moves_are_right_when_the_state_is_hidden() {
    // The player receives only its own moves and percepts; its legal moves must still be the true ones.
    for name in ["blind-tictactoe", "kuhn-poker", "mastermind-small", "monty-hall"] {
        let (loaded, machine) = loaded(name);
        let me = machine
            .role_ids()
            .find(|role| !machine.roles()[role.index()].is_random)
            .expect("a role other than random");
        for seed in 0..4 {
            let spec = PlayerSpec::parse("random").expect("a registered player");
            let seed = ludex_base::Seed(seed);
            let program = Arc::clone(&loaded.program);
            let mut player = Player::new(&spec, &machine, program, PlayerConfig::new(seed));
            let clock = Duration::from_secs(20);
            player.start(me, Instant::now() + Duration::from_millis(50));
            let mut rng = seed.rng();
            let mut cursor = machine.cursor();
            let mut last: Option<(ludex_base::MoveId, Vec<ludex_base::PerceptId>)> = None;
            while !cursor.is_terminal() {
                let seen = match &last {
                    None => Seen::Nothing,
                    Some((own, percepts)) => Seen::Own { own: *own, percepts },
                };
                let choice = player.choose(seen, Instant::now() + clock);
                let legal = cursor.legal_moves(me).to_vec();
                let chosen = choice.chosen.expect("the engine did not panic");
                assert!(legal.contains(&chosen), "{name}: {choice:?}");
                assert!(choice.thought.rung <= Rung::Search, "{name}: {choice:?}");
                let joint: Vec<_> = machine
                    .role_ids()
                    .map(|role| {
                        if role == me {
                            chosen
                        } else {
                            *rng.choose(cursor.legal_moves(role)).expect("there is a move")
                        }
                    })
                    .collect();
                cursor.play(&joint);
                last = Some((chosen, cursor.percepts(me).to_vec()));
            }
        }
    }
}

#[test]
fn a_lost_observation_costs_little_time_and_no_legal_move() {
    let (loaded, machine) = loaded("kuhn-poker");
    let find = |role: usize, text: &str| {
        machine.find_move(RoleId::new(role), text).expect("a move of the game")
    };
    for (card, bet) in [("(deal king jack)", "bet"), ("(deal queen king)", "pass")] {
        let second = RoleId::new(1);
        let spec = PlayerSpec::parse("random").expect("a registered player");
        let config = PlayerConfig::new(ludex_base::Seed(1));
        let mut player = Player::new(&spec, &machine, Arc::clone(&loaded.program), config);
        let soon = || Instant::now() + Duration::from_secs(20);
        player.start(second, soon());
        player.choose(Seen::Nothing, soon());
        let mut cursor = machine.cursor();
        cursor.play(&[find(0, "noop"), find(1, "noop"), find(2, card)]);
        // The message that shows its card is lost; the next message shows the first player's reply.
        cursor.play(&[find(0, bet), find(1, "noop"), find(2, "noop")]);
        let percepts = cursor.percepts(second).to_vec();
        let asked = Instant::now();
        let choice = player.choose(Seen::Own { own: find(1, "noop"), percepts: &percepts }, soon());
        let legal = cursor.legal_moves(second).to_vec();
        assert!(choice.chosen.is_some_and(|chosen| legal.contains(&chosen)), "{choice:?}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    }
}

#[test]
fn a_survey_recognizes_kinds_of_games() {
    let look = |name: &str| {
        let (_, machine) = loaded(name);
        survey(&machine, 50, ludex_base::Seed(1), &ludex_base::Deadline::never())
    };
    let tictactoe = look("tictactoe");
    assert!(tictactoe.is_constant_sum && !tictactoe.features.simultaneous);
    assert!((5.0..=9.0).contains(&tictactoe.mean_length), "{tictactoe:?}");
    assert!(look("rock-paper-scissors").features.simultaneous);
    assert!(look("pig").features.chance);
    assert!(look("kuhn-poker").features.hidden_information);
    assert_eq!(look("eight-puzzle").features.n_roles, 1);
    assert!(!tictactoe.is_cooperative);
}

#[test]
fn a_survey_and_the_random_games_of_a_search_agree_on_duels() {
    let never = ludex_base::Deadline::never();
    for name in ["tictactoe", "nim", "breakthrough-small", "tron", "pig", "kuhn-poker", "hanoi"] {
        let (_, machine) = loaded(name);
        let found = survey(&machine, 50, ludex_base::Seed(1), &never);
        let by_games = ludex_search::duel::looks_like_duel(&machine, ludex_base::Seed(2), &never);
        assert_eq!(Some(found.is_duel()), by_games, "{name}");
    }
}

#[test]
fn puzzles_are_solved_by_a_line() {
    for name in ["eight-puzzle", "hanoi", "wolf-goat-cabbage", "maze"] {
        let (loaded, machine) = loaded(name);
        let spec = PlayerSpec::parse("ludex").expect("a registered player");
        let config =
            PlayerConfig { iterations: Some(300_000), ..PlayerConfig::new(ludex_base::Seed(1)) };
        let mut player = Player::new(&spec, &machine, Arc::clone(&loaded.program), config);
        let me = RoleId::new(0);
        let clock = Duration::from_secs(60);
        player.start(me, Instant::now() + clock);
        let mut cursor = machine.cursor();
        let mut joint: Option<Vec<ludex_base::MoveId>> = None;
        while !cursor.is_terminal() {
            let seen = joint.as_ref().map_or(Seen::Nothing, |joint| Seen::Joint(joint));
            let choice = player.choose(seen, Instant::now() + clock);
            joint = Some(vec![choice.chosen.expect("the engine did not panic")]);
            cursor.play(joint.as_ref().expect("it was just set"));
        }
        assert_eq!(cursor.goal(me).value(), 100, "{name}");
    }
}

#[test]
fn the_stop_flag_ends_every_search() {
    let (loaded, machine) = loaded("connectfour");
    let spec = PlayerSpec::parse("uct").expect("a registered player");
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let config = PlayerConfig { stop: Some(stop), ..PlayerConfig::new(ludex_base::Seed(1)) };
    let mut player = Player::new(&spec, &machine, Arc::clone(&loaded.program), config);
    let asked = Instant::now();
    player.start(RoleId::new(0), asked + Duration::from_secs(600));
    let choice = player.choose(Seen::Nothing, asked + Duration::from_secs(600));
    assert!(choice.chosen.is_some());
    // A move without any search is reported as a hint.
    assert_eq!(choice.thought.rung, Rung::Hint);
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
}

#[test]
fn an_interrupted_player_answers_at_once_with_a_legal_move() {
    let (loaded, machine) = loaded("connectfour");
    let spec = PlayerSpec::parse("uct").expect("a registered player");
    let config = PlayerConfig::new(ludex_base::Seed(1));
    let mut player = Player::new(&spec, &machine, Arc::clone(&loaded.program), config);
    player.start(RoleId::new(0), Instant::now() + Duration::from_millis(20));
    let interrupter = player.interrupter();
    let asked = Instant::now();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupter.interrupt();
    });
    for _ in 0..2 {
        let choice = player.choose(Seen::Nothing, asked + Duration::from_secs(600));
        let legal = machine.cursor().legal_moves(RoleId::new(0)).to_vec();
        assert!(legal.contains(&choice.chosen.expect("the engine did not panic")));
    }
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    thread.join().expect("the thread only sleeps");
}

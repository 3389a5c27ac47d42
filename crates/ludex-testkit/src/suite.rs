//! A conformance suite for every [`Game`](ludex_game::Game), whatever engine plays it.
//!
//! Each function takes one game and panics if it breaks the contract. The macro
//! [`game_suite!`](crate::game_suite) makes a test of each, over all games of the library.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::trace::sorted_moves;
use ludex_game::{
    Cursor, Describe, MAX_RANDOM_STEPS, Observe, PlayVisitor, PlayoutRequest, PlayoutResults,
    PlayoutRunner, Playouts, RandomPlay, play_checked,
};

/// Defines tests that check implementations of `Game` against its contract.
///
/// Each line has the name of an implementation, a function that returns the game of a rulesheet or
/// `None` if it cannot play it, and the minimal number of games it must play.
///
/// ```ignore
/// game_suite! {
///     reasoner: |rules| load_reasoner(rules), 65;
///     machine: |rules| load_machine(rules), 65;
/// }
/// ```
#[macro_export]
macro_rules! game_suite {
    ($($name:ident: $make:expr, $min_games:expr;)*) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::game_suite!(@tests $make, $min_games;
                starts_the_same_every_time,
                a_state_determines_all_answers,
                legal_moves_are_distinct_and_repeatable,
                playing_is_deterministic,
                equal_texts_are_equal_states,
                illegal_moves_are_rejected,
                percepts_are_of_the_last_step,
                texts_identify_moves_and_percepts,
                playouts_end,
                threads_agree,
            );
        }
    )*};
    (@tests $make:expr, $min_games:expr; $($test:ident),* $(,)?) => {$(
        #[test]
        fn $test() {
            let mut n_games = 0;
            for rules in $crate::library() {
                if let Some(game) = $make(&rules) {
                    eprintln!("{}", rules.name);
                    $crate::suite::$test(&game);
                    n_games += 1;
                }
            }
            assert!(n_games >= $min_games, "only {n_games} games are played");
        }
    )*};
}

/// Checks that two cursors of a game start in the same state and give the same answers.
pub fn starts_the_same_every_time<G: Describe>(game: &G) {
    let (mut a, mut b) = (game.cursor(), game.cursor());
    assert!(a.state() == b.state(), "two cursors start on different states");
    assert_eq!(answers(game, &mut a), answers(game, &mut b));
    let texts = game.state_texts(a.state());
    assert!(texts.is_sorted_by(|a, b| a < b), "fluents are sorted and distinct: {texts:?}");
}

/// Checks that a cursor set to a state gives the same answers as one that reached it by playing.
pub fn a_state_determines_all_answers<G: Describe>(game: &G) {
    let mut other = game.cursor();
    walk(game, Seed(11), |cursor, _| {
        let here = answers(game, cursor);
        other.set_state(cursor.state());
        assert!(other.state() == cursor.state(), "set_state sets another state");
        assert_eq!(answers(game, &mut other), here, "set_state differs from play");
        assert_eq!(answers(game, &mut cursor.clone()), here, "a clone differs");
    });
}

/// Checks that a role's legal moves are distinct, and the same if asked again.
pub fn legal_moves_are_distinct_and_repeatable<G: Describe>(game: &G) {
    walk(game, Seed(12), |cursor, _| {
        for role in game.role_ids() {
            let moves = cursor.legal_moves(role).to_vec();
            let distinct: HashSet<MoveId> = moves.iter().copied().collect();
            assert_eq!(distinct.len(), moves.len(), "a legal move comes twice");
            let texts: HashSet<String> = moves.iter().map(|&id| game.move_text(id)).collect();
            assert_eq!(texts.len(), moves.len(), "two moves of a role have one text");
            assert_eq!(cursor.legal_moves(role), moves, "asking again differs");
            let goals = cursor.goals(role);
            assert!(goals.is_sorted_by(|a, b| a < b), "goals ascend: {goals:?}");
        }
    });
}

/// Checks that the same joint move from the same state leads to the same state.
pub fn playing_is_deterministic<G: Describe>(game: &G) {
    let mut other = game.cursor();
    let mut before = other.state().clone();
    walk(game, Seed(13), |cursor, joint| {
        if let Some(joint) = joint {
            other.set_state(&before);
            other.play(joint);
            assert!(other.state() == cursor.state(), "the same move leads to two states");
        }
        before = cursor.state().clone();
    });
}

/// Checks that states with the same fluents are equal and have equal hashes, and that others
/// differ.
pub fn equal_texts_are_equal_states<G: Describe>(game: &G) {
    let hasher = RandomState::new();
    let mut seen = HashMap::new();
    for seed in 0..4 {
        walk(game, Seed(seed), |cursor, _| {
            let texts = game.state_texts(cursor.state());
            let state = cursor.state().clone();
            match seen.get(&texts) {
                Some(other) => {
                    assert!(state == *other, "one text, two states");
                    assert_eq!(hasher.hash_one(&state), hasher.hash_one(other));
                }
                None => {
                    assert!(!seen.values().any(|other| *other == state), "two texts, one state");
                    seen.insert(texts, state);
                }
            }
        });
    }
}

/// Checks that `play_checked` rejects illegal moves and leaves the state unchanged.
pub fn illegal_moves_are_rejected<G: Describe>(game: &G) {
    let n_roles = game.roles().len();
    let mut cursor = game.cursor();
    let start = cursor.state().clone();
    let legal: Vec<Vec<MoveId>> =
        game.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
    let Some(joint): Option<Vec<MoveId>> =
        legal.iter().map(|moves| moves.first().copied()).collect()
    else {
        return;
    };
    assert!(play_checked(&mut cursor, n_roles, &joint[..n_roles - 1]).is_err(), "a move missing");
    assert!(cursor.state() == &start, "a rejected move changed the state");
    for (place, moves) in legal.iter().enumerate() {
        let Some(foreign) = (0..10_000).map(MoveId::new).find(|id| !moves.contains(id)) else {
            continue;
        };
        let mut wrong = joint.clone();
        wrong[place] = foreign;
        let refused = play_checked(&mut cursor, n_roles, &wrong).unwrap_err();
        assert_eq!((refused.role.index(), refused.chosen), (place, Some(foreign)));
        assert!(cursor.state() == &start, "a rejected move changed the state");
    }
    if !cursor.is_terminal() {
        play_checked(&mut cursor, n_roles, &joint).expect("a legal joint move is played");
    }
}

/// Checks that percepts belong to the last joint move and are gone after `set_state`.
pub fn percepts_are_of_the_last_step<G>(game: &G)
where
    G: Describe,
    G::Cursor: Observe,
{
    let blind = |cursor: &G::Cursor| game.role_ids().all(|role| cursor.percepts(role).is_empty());
    assert!(blind(&game.cursor()), "percepts before the first move");
    walk(game, Seed(14), |cursor, _| {
        assert!(game.has_percepts() || blind(cursor), "percepts without a `sees` rule");
        for role in game.role_ids() {
            let percepts = cursor.percepts(role);
            let texts: HashSet<String> = percepts.iter().map(|&id| game.percept_text(id)).collect();
            assert_eq!(texts.len(), percepts.len(), "a percept comes twice");
        }
        let mut other = cursor.clone();
        other.set_state(cursor.state());
        assert!(blind(&other), "percepts after set_state");
    });
}

/// Checks that moves and percepts are found by their texts, and that other texts find nothing.
pub fn texts_identify_moves_and_percepts<G>(game: &G)
where
    G: Describe,
    G::Cursor: Observe,
{
    walk(game, Seed(15), |cursor, _| {
        for role in game.role_ids() {
            for &id in cursor.percepts(role) {
                assert_eq!(game.find_percept(role, &game.percept_text(id)), Some(id));
            }
            for &id in cursor.clone().legal_moves(role) {
                assert_eq!(game.find_move(role, &game.move_text(id)), Some(id));
            }
        }
    });
    for text in ["", "()", "(", ")", "no-such-word", "(no-such-word 1)", "1) (2"] {
        let first = RoleId::new(0);
        assert_eq!((game.find_move(first, text), game.find_percept(first, text)), (None, None));
    }
}

/// Checks that batches of playouts are complete and that their counts are right.
pub fn playouts_end<G: Playouts>(game: &G) {
    const N_PLAYOUTS: usize = 4;
    let start = game.cursor().state().clone();
    let starts = [start.clone(), start];
    let mut results = PlayoutResults::default();
    let deadline = Deadline::never();
    let request = PlayoutRequest {
        starts: &starts,
        n_per_start: N_PLAYOUTS,
        max_steps: MAX_RANDOM_STEPS,
        wants_moves: true,
        deadline: &deadline,
    };
    game.runner().run(&request, &mut Seed(15).rng(), &mut results);
    assert_eq!(results.starts.len(), starts.len());
    let total = results.total();
    assert_eq!(total.n_playouts + results.n_given_up, 2 * N_PLAYOUTS as u64);
    assert_eq!(results.games.len() as u64, total.n_playouts);
    let n_roles = game.roles().len();
    let mut n_steps = 0;
    let mut cursor = game.cursor();
    for played in &results.games {
        cursor.set_state(&starts[played.start_idx]);
        for joint in played.moves.chunks(n_roles) {
            assert!(!cursor.is_terminal(), "a playout goes on after the end");
            play_checked(&mut cursor, n_roles, joint).expect("a playout plays legal moves");
            n_steps += 1;
        }
        assert!(cursor.is_terminal(), "a playout that counts reaches the end");
        for role in game.role_ids() {
            assert_eq!(cursor.goal(role).value(), played.goals[role.index()], "goals of a playout");
        }
    }
    assert_eq!(total.n_steps, n_steps);
    for role in game.role_ids() {
        let sum: u64 = results.games.iter().map(|game| u64::from(game.goals[role.index()])).sum();
        assert_eq!(total.goal_sums.get(role.index()).copied().unwrap_or(0), sum);
    }
}

/// Checks that cursors in several threads give the same answers.
pub fn threads_agree<G: Describe>(game: &G) {
    let answers_by_thread: Vec<Vec<Vec<String>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = Vec::new();
                    walk(game, Seed(16), |cursor, _| seen.push(answers(game, cursor)));
                    seen
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert!(answers_by_thread.windows(2).all(|pair| pair[0] == pair[1]), "threads differ");
}

/// Steps of a walk: enough to leave the opening, few enough for the slowest engine.
const N_STEPS: usize = 12;

/// Plays at random, drawing among the sorted texts of the moves, and visits each state with the
/// joint move that led there.
fn walk<G: Describe>(
    game: &G,
    seed: Seed,
    mut visit: impl FnMut(&mut G::Cursor, Option<&[MoveId]>),
) {
    let mut cursor = game.cursor();
    visit(&mut cursor, None);
    let mut play = RandomPlay::within(game.roles().len(), N_STEPS);
    play.run(&mut cursor, &mut seed.rng(), &mut Walk { game, visit });
}

struct Walk<'a, G, F> {
    game: &'a G,
    visit: F,
}

impl<G, F> PlayVisitor<G::Cursor> for Walk<'_, G, F>
where
    G: Describe,
    F: FnMut(&mut G::Cursor, Option<&[MoveId]>),
{
    fn draw(&mut self, cursor: &mut G::Cursor, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        let moves = sorted_moves(self.game, cursor, role);
        rng.choose(&moves).map(|&(_, id)| id)
    }

    fn after(&mut self, cursor: &mut G::Cursor, joint: &[MoveId], _: &mut Rng) -> ControlFlow<()> {
        (self.visit)(cursor, Some(joint));
        ControlFlow::Continue(())
    }
}

/// Returns all answers of a cursor about its state, as texts.
fn answers<G: Describe>(game: &G, cursor: &mut G::Cursor) -> Vec<String> {
    let mut answers = game.state_texts(cursor.state());
    answers.push(format!("terminal: {}", cursor.is_terminal()));
    for role in game.role_ids() {
        answers.push(format!("{:?}", cursor.goals(role)));
        answers.push(format!("{:?}", cursor.goal(role)));
        answers.extend(cursor.legal_moves(role).iter().map(|&id| game.move_text(id)));
    }
    answers
}

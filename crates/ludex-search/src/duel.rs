//! Duels: two roles take turns for opposite goals, and nothing is hidden or left to chance.
//!
//! What is forced in a duel is seen by a short search in depth, better than by playouts. So whoever
//! grows a tree there lets [`forced_search`] look first, for [`FORCED_PART`] of the turn, and keeps
//! away from what it proved to be lost ([`SearchReport::respecting`](crate::SearchReport::respecting)).

use ludex_base::{Deadline, MoveId, Seed};
use ludex_game::{Cursor, Game};

use crate::playout::MAX_STEPS;
use crate::registry::{GameFeatures, SearchSpec};

/// The part of a turn in which forced lines are looked for.
pub const FORCED_PART: f64 = 0.12;

/// Looks for what is forced; a small table is one that the caches hold, and estimates matter little.
pub fn forced_search() -> SearchSpec {
    SearchSpec::parse("alphabeta:table=4,proximity=0").expect("the search is registered")
}

/// Whether a game is a duel, by what is known of it. The sum of goals is constant where goals are opposite.
pub fn is_duel(features: &GameFeatures, is_constant_sum: bool) -> bool {
    let GameFeatures { n_roles, simultaneous, chance, hidden_information } = *features;
    n_roles == 2 && is_constant_sum && !simultaneous && !chance && !hidden_information
}

/// Random games by which a duel is known, and the fewest that say so.
const N_GAMES: usize = 50;
const MIN_GAMES: usize = 5;

/// Whether a game looks like a duel in random games; `None` if there was no time to see. The clock is
/// looked at in every step.
pub fn looks_like_duel<G: Game>(game: &G, seed: Seed, deadline: &Deadline) -> Option<bool> {
    let features = GameFeatures {
        n_roles: game.roles().iter().filter(|role| !role.is_random).count(),
        simultaneous: false,
        chance: game.roles().iter().any(|role| role.is_random),
        hidden_information: game.has_percepts(),
    };
    if !is_duel(&features, true) {
        return Some(false);
    }
    let mut rng = seed.rng();
    let (mut sums, mut n_games) = (None, 0);
    for _ in 0..N_GAMES {
        let mut cursor = game.cursor();
        let mut n_steps = 0_usize;
        while !cursor.is_terminal() {
            n_steps += 1;
            if n_steps > MAX_STEPS {
                return Some(false);
            }
            if deadline.reached() {
                return (n_games >= MIN_GAMES).then_some(true);
            }
            let legal = game.role_ids().map(|role| cursor.legal_moves(role).to_vec());
            let legal: Vec<Vec<MoveId>> = legal.collect();
            if legal.iter().all(|moves| moves.len() > 1) {
                return Some(false);
            }
            let joint = legal.iter().map(|moves| rng.choose(moves).copied());
            let Some(joint) = joint.collect::<Option<Vec<MoveId>>>() else { return Some(false) };
            cursor.play(&joint);
        }
        let sum: u32 = game.role_ids().map(|role| u32::from(cursor.goal(role).value())).sum();
        if *sums.get_or_insert(sum) != sum {
            return Some(false);
        }
        n_games += 1;
    }
    Some(true)
}

//! Duels: two roles alternate with opposite goals, without chance or hidden information.
//!
//! A short depth-first search finds forced lines in a duel better than playouts do. So a tree
//! search there first runs [`FORCED_SEARCH`] for [`FORCED_PART`] of the turn, and avoids the moves
//! that it proved lost ([`SearchReport::respecting`](crate::SearchReport::respecting)).

use ludex_base::{Deadline, Seed};
use ludex_game::{Game, PlayEnd};

use crate::alphabeta::DepthFirstOptions;
use crate::claims::GameFeatures;
use crate::random_games::RandomGames;

/// The part of a turn spent on forced lines.
pub const FORCED_PART: f64 = 0.12;

/// The search for forced lines. Its table is small enough for the caches, and estimates matter
/// little.
pub const FORCED_SEARCH: DepthFirstOptions =
    DepthFirstOptions { table: 4, proximity: 0.0, ..DepthFirstOptions::DEFAULT };

/// Whether a game with these features is a duel. Opposite goals have a constant sum.
pub fn is_duel(features: &GameFeatures, is_constant_sum: bool) -> bool {
    let GameFeatures { n_roles, simultaneous, chance, hidden_information } = *features;
    n_roles == 2 && is_constant_sum && !simultaneous && !chance && !hidden_information
}

/// Random games that decide whether a game is a duel, and the fewest that suffice.
const N_GAMES: usize = 50;
const MIN_GAMES: usize = 5;

/// Whether random games suggest that a game is a duel; `None` if there was too little time.
///
/// It checks the clock in every step.
pub fn looks_like_duel<G: Game>(game: &G, seed: Seed, deadline: &Deadline) -> Option<bool> {
    let mut games = RandomGames::new(game, 1);
    if !is_duel(&games.features(), true) {
        return Some(false);
    }
    let mut rng = seed.rng();
    for n_games in 0..N_GAMES {
        let ended = games.play(&mut game.cursor(), &mut rng, deadline);
        let is_over = ended == PlayEnd::Stopped;
        if !is_duel(&games.features(), is_over || games.is_constant_sum()) {
            return Some(false);
        }
        match ended {
            PlayEnd::Terminal(_) => {}
            PlayEnd::Stopped => return (n_games >= MIN_GAMES).then_some(true),
            PlayEnd::TooLong | PlayEnd::NoLegalMove(_) => return Some(false),
        }
    }
    Some(true)
}

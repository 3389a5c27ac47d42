//! Duels: two roles take turns for opposite goals, and nothing is hidden or left to chance.
//!
//! What is forced in a duel is seen by a short search in depth, better than by playouts. So whoever
//! grows a tree there lets [`FORCED_SEARCH`] look first, for [`FORCED_PART`] of the turn, and keeps
//! away from what it proved to be lost ([`SearchReport::respecting`](crate::SearchReport::respecting)).

use ludex_base::{Deadline, Seed};
use ludex_game::{Game, PlayEnd};

use crate::alphabeta::DepthFirstOptions;
use crate::claims::GameFeatures;
use crate::random_games::RandomGames;

/// The part of a turn in which forced lines are looked for.
pub const FORCED_PART: f64 = 0.12;

/// Looks for what is forced; a small table is one that the caches hold, and estimates matter little.
pub const FORCED_SEARCH: DepthFirstOptions =
    DepthFirstOptions { table: 4, proximity: 0.0, ..DepthFirstOptions::DEFAULT };

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

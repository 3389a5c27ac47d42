//! Duels: two roles take turns for opposite goals, and nothing is hidden or left to chance.
//!
//! What is forced in a duel is seen by a short search in depth, better than by playouts. So whoever
//! grows a tree there lets [`FORCED_SEARCH`] look first, for [`FORCED_PART`] of the turn, and keeps
//! away from what it proved to be lost ([`SearchReport::respecting`](crate::SearchReport::respecting)).

use std::ops::ControlFlow;

use ludex_base::{Deadline, Rng, RoleId, Seed};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};

use crate::alphabeta::DepthFirstOptions;
use crate::claims::GameFeatures;

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
    let mut play = RandomPlay::new(game.roles().len());
    let (mut sums, mut n_games) = (None, 0);
    for _ in 0..N_GAMES {
        let mut cursor = game.cursor();
        let mut turns = Turns { n_roles: game.roles().len(), deadline, is_simultaneous: false };
        match play.run(&mut cursor, &mut rng, &mut turns) {
            PlayEnd::Terminal(_) => {}
            PlayEnd::Stopped if !turns.is_simultaneous => {
                return (n_games >= MIN_GAMES).then_some(true);
            }
            PlayEnd::Stopped | PlayEnd::TooLong | PlayEnd::NoLegalMove(_) => return Some(false),
        }
        let sum: u32 = game.role_ids().map(|role| u32::from(cursor.goal(role).value())).sum();
        if *sums.get_or_insert(sum) != sum {
            return Some(false);
        }
        n_games += 1;
    }
    Some(true)
}

/// Ends a game where all roles choose at once, or the time is up.
struct Turns<'a> {
    n_roles: usize,
    deadline: &'a Deadline,
    is_simultaneous: bool,
}

impl<C: Cursor> PlayVisitor<C> for Turns<'_> {
    fn before(&mut self, cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        if self.deadline.reached() {
            return ControlFlow::Break(());
        }
        let mut roles = (0..self.n_roles).map(RoleId::new);
        self.is_simultaneous = roles.all(|role| cursor.legal_moves(role).len() > 1);
        stop_if(self.is_simultaneous)
    }
}

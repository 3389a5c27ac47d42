//! Surveys: properties of a game estimated from a few random games, by which the flagship chooses searches.

use std::time::Instant;

use ludex_base::{Deadline, Seed};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf,
};
use ludex_search::GameFeatures;
use ludex_search::duel::is_duel;
use ludex_search::random_games::RandomGames;

/// Properties of a game estimated from random games. If no game finished, only roles, chance and hidden
/// information are known.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// Roles, chance, hidden information, and whether several roles moved simultaneously in a visited state.
    pub features: GameFeatures,
    /// Finished games.
    pub n_playouts: u64,
    /// Whether the goals of all roles but `random` had the same sum in every game.
    pub is_constant_sum: bool,
    /// Whether several roles had equal goals in every game, and not the same goals in all games.
    pub is_cooperative: bool,
    /// Mean number of steps of a game.
    pub mean_length: f64,
    /// Mean number of legal moves where a role had a choice.
    pub mean_choices: f64,
    /// Games per second, played one after the other.
    pub playouts_per_second: f64,
    /// Games per second in batches of [`BATCH`]; 0 if none finished in time.
    pub batched_per_second: f64,
}

impl Survey {
    /// Whether the game is a [duel](ludex_search::duel).
    pub fn is_duel(&self) -> bool {
        is_duel(&self.features, self.is_constant_sum)
    }
}

/// Games of a batch, which fill the lanes of most processors.
pub const BATCH: usize = 256;

/// Steps between two looks at the clock.
const STEPS_PER_CLOCK_CHECK: usize = 8;

/// Plays random games until the deadline, at most `max_playouts` one by one and then two batches.
pub fn survey<G: Playouts>(game: &G, max_playouts: u64, seed: Seed, deadline: &Deadline) -> Survey {
    let mut games = RandomGames::new(game, STEPS_PER_CLOCK_CHECK);
    let mut rng = seed.rng();
    let mut cursor = game.cursor();
    let initial = cursor.state().clone();
    // Single games get half of the time, because the first batch needs some to start.
    let half = deadline.part(0.5);
    let start = Instant::now();
    while games.n_finished + games.n_given_up < max_playouts && !half.reached() {
        cursor.set_state(&initial);
        games.play(&mut cursor, &mut rng, &half);
    }
    let took = start.elapsed();
    let batched_per_second = batched_per_second(game, &initial, seed, deadline);
    let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
    Survey {
        features: games.features(),
        n_playouts: games.n_finished,
        is_constant_sum: games.is_constant_sum(),
        is_cooperative: games.is_cooperative(),
        mean_length: mean(games.n_steps, games.n_finished),
        mean_choices: mean(games.n_moves, games.n_choices),
        playouts_per_second: games.n_finished as f64 / took.as_secs_f64().max(1e-9),
        batched_per_second,
    }
}

/// The speed of the faster of two batches, because a busy machine may interrupt one of them. A batch that
/// the deadline cuts off counts its finished games.
fn batched_per_second<G: Playouts>(
    game: &G,
    initial: &StateOf<G>,
    seed: Seed,
    end: &Deadline,
) -> f64 {
    let mut runner = game.runner();
    let mut rng = seed.child(1).rng();
    let mut best = 0.0_f64;
    for _ in 0..2 {
        let start = Instant::now();
        let mut results = PlayoutResults::default();
        let request = PlayoutRequest {
            starts: std::slice::from_ref(initial),
            n_per_start: BATCH,
            max_steps: MAX_RANDOM_STEPS,
            wants_moves: false,
            deadline: end,
        };
        runner.run(&request, &mut rng, &mut results);
        let n_done = results.total().n_playouts as f64;
        best = best.max(n_done / start.elapsed().as_secs_f64().max(1e-9));
    }
    best
}

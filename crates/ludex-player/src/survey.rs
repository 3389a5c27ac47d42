//! What a few random games tell about a game: enough to choose how to play it.

use std::time::Instant;

use ludex_base::{Deadline, Seed};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf,
};
use ludex_search::GameFeatures;
use ludex_search::duel::is_duel;
use ludex_search::random_games::RandomGames;

/// What was seen in random games. With no game finished, only what the rules say outright.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// Roles, chance, hidden information, and whether several roles chose at once in some state seen.
    pub features: GameFeatures,
    /// Games that were finished.
    pub n_playouts: u64,
    /// The goals of all roles but `random` had the same sum in every one of them.
    pub is_constant_sum: bool,
    /// There are several roles, and in each game they had the same goal, not always the same value.
    pub is_cooperative: bool,
    /// Steps of a game.
    pub mean_length: f64,
    /// Moves to choose from, where there was a choice.
    pub mean_choices: f64,
    /// Games a second, one after the other.
    pub playouts_per_second: f64,
    /// Games a second, [`BATCH`] side by side; 0 if none was finished in time.
    pub batched_per_second: f64,
}

impl Survey {
    /// Whether the game is a [duel](ludex_search::duel).
    pub fn is_duel(&self) -> bool {
        is_duel(&self.features, self.is_constant_sum)
    }
}

/// Games that are played side by side: as many as fill the lanes of most processors.
pub const BATCH: usize = 256;

/// Steps between two looks at the clock.
const STEPS_PER_CLOCK_CHECK: usize = 8;

/// Plays random games until the deadline, at most that many.
pub fn survey<G: Playouts>(game: &G, max_playouts: u64, seed: Seed, deadline: &Deadline) -> Survey {
    let mut games = RandomGames::new(game, STEPS_PER_CLOCK_CHECK);
    let mut rng = seed.rng();
    let mut cursor = game.cursor();
    let initial = cursor.state().clone();
    // Half of the time, because the first of many games side by side needs some to get ready.
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

/// The better of two batches: on a busy machine either may be interrupted. One that the deadline cuts off
/// counts for what was finished.
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

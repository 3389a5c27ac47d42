//! What a few random games tell about a game: enough to choose how to play it.

use std::ops::ControlFlow;
use std::time::Instant;

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, PlayEnd, PlayVisitor, PlayoutRequest, PlayoutResults, PlayoutRunner,
    Playouts, RandomPlay, StateOf, stop_if,
};
use ludex_search::GameFeatures;

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

/// Games that are played side by side: as many as fill the lanes of most processors.
pub const BATCH: usize = 256;

/// Plays random games until the deadline, at most that many.
pub fn survey<G: Playouts>(game: &G, max_playouts: u64, seed: Seed, deadline: &Deadline) -> Survey {
    let roles: Vec<RoleId> =
        game.role_ids().filter(|role| !game.roles()[role.index()].is_random).collect();
    let mut play = RandomPlay::new(game.roles().len());
    let mut seen = Sums::default();
    let mut rng = seed.rng();
    let mut cursor = game.cursor();
    let initial = cursor.state().clone();
    // Half of the time, because the first of many games side by side needs some to get ready.
    let half = deadline.part(0.5);
    let start = Instant::now();
    while seen.n_playouts + seen.n_given_up < max_playouts && !half.reached() {
        cursor.set_state(&initial);
        let mut counter =
            ChoiceCounter { sums: &mut seen, roles: &roles, deadline: &half, n_choosing: 0 };
        let end = play.run(&mut cursor, &mut rng, &mut counter);
        seen.note_end(end, &mut cursor, &roles);
    }
    let took = start.elapsed();
    let batched_per_second = batched_per_second(game, &initial, seed, deadline);
    let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
    let same_goals = roles.len() > 1 && seen.n_playouts > 0 && !seen.has_unlike_goals;
    Survey {
        features: GameFeatures {
            n_roles: roles.len(),
            simultaneous: seen.is_simultaneous,
            chance: roles.len() < game.roles().len(),
            hidden_information: game.has_percepts(),
        },
        n_playouts: seen.n_playouts,
        is_constant_sum: seen.n_playouts > 0 && seen.min_sum == seen.max_sum,
        is_cooperative: same_goals && seen.min_sum != seen.max_sum,
        mean_length: mean(seen.n_steps, seen.n_playouts),
        mean_choices: mean(seen.n_moves, seen.n_choices),
        playouts_per_second: seen.n_playouts as f64 / took.as_secs_f64().max(1e-9),
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

#[derive(Default)]
struct Sums {
    n_playouts: u64,
    n_given_up: u64,
    n_steps: u64,
    n_choices: u64,
    n_moves: u64,
    is_simultaneous: bool,
    has_unlike_goals: bool,
    min_sum: Option<u32>,
    max_sum: Option<u32>,
}

/// Counts the moves that roles choose from, until the time is up.
struct ChoiceCounter<'a> {
    sums: &'a mut Sums,
    roles: &'a [RoleId],
    deadline: &'a Deadline,
    n_choosing: u64,
}

impl<C: Cursor> PlayVisitor<C> for ChoiceCounter<'_> {
    fn before(&mut self, _cursor: &mut C, n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        self.n_choosing = 0;
        stop_if(n_steps % 8 == 7 && self.deadline.reached())
    }

    fn draw(&mut self, cursor: &mut C, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        let legal = cursor.legal_moves(role);
        if legal.len() > 1 && self.roles.contains(&role) {
            self.n_choosing += 1;
            self.sums.n_moves += legal.len() as u64;
        }
        rng.choose(legal).copied()
    }

    fn after(&mut self, _cursor: &mut C, _joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        self.sums.n_choices += self.n_choosing;
        self.sums.is_simultaneous |= self.n_choosing > 1;
        ControlFlow::Continue(())
    }
}

impl Sums {
    fn note_end<C: Cursor>(&mut self, end: PlayEnd, cursor: &mut C, roles: &[RoleId]) {
        let PlayEnd::Terminal(n_steps) = end else {
            self.n_given_up += 1;
            return;
        };
        self.n_steps += n_steps as u64;
        if cursor.has_fault() {
            self.n_given_up += 1;
        } else {
            self.note_goals(cursor, roles);
        }
    }

    fn note_goals<C: Cursor>(&mut self, cursor: &mut C, roles: &[RoleId]) {
        let goals: Vec<u32> =
            roles.iter().map(|&role| u32::from(cursor.goal(role).value())).collect();
        let sum = goals.iter().sum();
        self.n_playouts += 1;
        self.has_unlike_goals |= goals.iter().any(|&goal| goal != goals[0]);
        self.min_sum = Some(self.min_sum.map_or(sum, |min| min.min(sum)));
        self.max_sum = Some(self.max_sum.map_or(sum, |max| max.max(sum)));
    }
}

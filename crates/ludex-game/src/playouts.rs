//! Batches of random games.
//!
//! A search asks a [`PlayoutRunner`] for batches. Whether the runner plays them one after the other
//! ([`OneByOne`], for any cursor) or side by side in the bits of a word makes no difference to it.

use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng, RoleId};

use crate::game::{Cursor, Game, StateOf};
use crate::random_play::{PlayEnd, PlayVisitor, RandomPlay};

/// A game that can play many random games at once.
pub trait Playouts: Game {
    /// The runner type, which has its own working memory.
    type Runner: PlayoutRunner<State = StateOf<Self>>;

    /// Returns a runner for one thread.
    fn runner(&self) -> Self::Runner;
}

/// Plays batches of random games.
pub trait PlayoutRunner: Send {
    /// The states that playouts start from.
    type State;

    /// Plays the batch and adds its results to `results`.
    ///
    /// Every playout that was started counts, unless the deadline is reached: then the unfinished
    /// ones are dropped, and `results` says how many finished from each start. Every role draws
    /// uniformly from its legal moves.
    fn run(
        &mut self,
        request: &PlayoutRequest<'_, Self::State>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    );
}

/// A batch of playouts to play.
#[derive(Clone, Debug)]
pub struct PlayoutRequest<'a, S> {
    /// The states to start from; they may repeat.
    pub starts: &'a [S],
    /// How many playouts to play from each start.
    pub n_per_start: usize,
    /// Longest playout; longer ones are abandoned and counted as such. Use
    /// [`MAX_RANDOM_STEPS`](crate::MAX_RANDOM_STEPS) unless there is a reason for another bound.
    pub max_steps: usize,
    /// Whether to record the moves.
    pub wants_moves: bool,
    /// When to stop.
    pub deadline: &'a Deadline,
}

/// The results of playouts.
#[derive(Clone, Debug, Default)]
pub struct PlayoutResults {
    /// The results for each start of the request.
    pub starts: Vec<StartResults>,
    /// The moves of each finished playout, if the request wants them.
    pub games: Vec<PlayedGame>,
    /// Abandoned playouts: too long, a role without a legal move in a nonterminal state, or a fault
    /// of the engine.
    pub n_given_up: u64,
}

/// The results of the playouts from one state.
#[derive(Clone, Debug, Default)]
pub struct StartResults {
    /// Playouts that reached a terminal state.
    pub n_playouts: u64,
    /// Sum of the steps of those playouts.
    pub n_steps: u64,
    /// Sum of the final goals, by role.
    pub goal_sums: Vec<u64>,
}

/// The record of one playout.
#[derive(Clone, Debug, Default)]
pub struct PlayedGame {
    /// The index of its start in the request.
    pub start_idx: usize,
    /// The joint moves one after the other, each in role order.
    pub moves: Vec<MoveId>,
    /// The final goals, by role.
    pub goals: Vec<u8>,
}

impl PlayoutResults {
    /// Sums the results over all starts.
    pub fn total(&self) -> StartResults {
        let mut total = StartResults::default();
        for start in &self.starts {
            total.n_playouts += start.n_playouts;
            total.n_steps += start.n_steps;
            total.goal_sums.resize(total.goal_sums.len().max(start.goal_sums.len()), 0);
            for (sum, more) in total.goal_sums.iter_mut().zip(&start.goal_sums) {
                *sum += more;
            }
        }
        total
    }
}

/// Plays playouts one after the other on a cursor; works for any game.
#[derive(Clone, Debug)]
pub struct OneByOne<C> {
    cursor: C,
    n_roles: usize,
}

/// Records the moves if the request wants them.
struct Recorder(Option<Vec<MoveId>>);

impl<C: Cursor> PlayVisitor<C> for Recorder {
    fn after(&mut self, _cursor: &mut C, joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        if let Some(moves) = &mut self.0 {
            moves.extend_from_slice(joint);
        }
        ControlFlow::Continue(())
    }
}

impl<C: Cursor> OneByOne<C> {
    /// Creates a runner on the cursors of a game.
    pub fn new<G: Game<Cursor = C>>(game: &G) -> Self {
        Self { cursor: game.cursor(), n_roles: game.roles().len() }
    }
}

impl<C: Cursor> PlayoutRunner for OneByOne<C> {
    type State = C::State;

    fn run(
        &mut self,
        request: &PlayoutRequest<'_, C::State>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        let mut play = RandomPlay::within(self.n_roles, request.max_steps);
        results
            .starts
            .resize_with(results.starts.len().max(request.starts.len()), Default::default);
        for (start_idx, start) in request.starts.iter().enumerate() {
            for _ in 0..request.n_per_start {
                if request.deadline.reached() {
                    return;
                }
                self.cursor.set_state(start);
                let mut recorder = Recorder(request.wants_moves.then(Vec::new));
                let end = play.run(&mut self.cursor, rng, &mut recorder);
                let n_steps = match end {
                    PlayEnd::Terminal(n_steps) if !self.cursor.has_fault() => n_steps,
                    _ => {
                        results.n_given_up += 1;
                        continue;
                    }
                };
                let sums = &mut results.starts[start_idx];
                sums.n_playouts += 1;
                sums.n_steps += n_steps as u64;
                sums.goal_sums.resize(self.n_roles, 0);
                let mut goals = Vec::new();
                for role in (0..self.n_roles).map(RoleId::new) {
                    let goal = self.cursor.goal(role).value();
                    sums.goal_sums[role.index()] += u64::from(goal);
                    if request.wants_moves {
                        goals.push(goal);
                    }
                }
                if let Some(moves) = recorder.0 {
                    results.games.push(PlayedGame { start_idx, moves, goals });
                }
            }
        }
    }
}

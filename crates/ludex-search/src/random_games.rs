//! Properties of a game, estimated from random games: who moves when, and the sum of the goals.

use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng, RoleId};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};

use crate::claims::GameFeatures;

/// Statistics of random games. Before the first game ends it has only what the rules state
/// outright.
#[derive(Clone, Debug)]
pub struct RandomGames {
    play: RandomPlay,
    /// The roles without `random`.
    players: Vec<RoleId>,
    has_chance: bool,
    has_percepts: bool,
    steps_per_clock_check: usize,
    /// Finished games.
    pub n_finished: u64,
    /// Unfinished games.
    pub n_given_up: u64,
    /// Steps of finished games.
    pub n_steps: u64,
    /// Choices of players, counting only those among several moves.
    pub n_choices: u64,
    /// Moves that players had in these choices.
    pub n_moves: u64,
    is_simultaneous: bool,
    has_unlike_goals: bool,
    /// The smallest and the largest sum of the players' goals.
    goal_sums: Option<(u32, u32)>,
}

impl RandomGames {
    /// Starts without any games. The clock will be checked every `steps_per_clock_check` steps.
    pub fn new<G: Game>(game: &G, steps_per_clock_check: usize) -> Self {
        let is_player = |role: &RoleId| !game.roles()[role.index()].is_random;
        let players: Vec<RoleId> = game.role_ids().filter(is_player).collect();
        let n_roles = game.roles().len();
        Self {
            play: RandomPlay::new(n_roles),
            has_chance: players.len() < n_roles,
            players,
            has_percepts: game.has_percepts(),
            steps_per_clock_check,
            n_finished: 0,
            n_given_up: 0,
            n_steps: 0,
            n_choices: 0,
            n_moves: 0,
            is_simultaneous: false,
            has_unlike_goals: false,
            goal_sums: None,
        }
    }

    /// Plays one game from the state of the cursor.
    pub fn play<C: Cursor>(&mut self, cursor: &mut C, rng: &mut Rng, end: &Deadline) -> PlayEnd {
        let mut play = std::mem::replace(&mut self.play, RandomPlay::new(0));
        let ended = play.run(cursor, rng, &mut Counter { games: self, end, n_choosing: 0 });
        self.play = play;
        match ended {
            PlayEnd::Terminal(n_steps) => {
                self.n_steps += n_steps as u64;
                if cursor.has_fault() {
                    self.n_given_up += 1;
                } else {
                    self.note_goals(cursor);
                }
            }
            _ => self.n_given_up += 1,
        }
        ended
    }

    fn note_goals<C: Cursor>(&mut self, cursor: &mut C) {
        let goal = |role: &RoleId| u32::from(cursor.goal(*role).value());
        let goals: Vec<u32> = self.players.iter().map(goal).collect();
        let sum = goals.iter().sum();
        self.n_finished += 1;
        self.has_unlike_goals |= goals.iter().any(|&goal| goal != goals[0]);
        let (min, max) = self.goal_sums.unwrap_or((sum, sum));
        self.goal_sums = Some((min.min(sum), max.max(sum)));
    }

    /// Returns the features of the game as far as seen.
    pub fn features(&self) -> GameFeatures {
        GameFeatures {
            n_roles: self.players.len(),
            simultaneous: self.is_simultaneous,
            chance: self.has_chance,
            hidden_information: self.has_percepts,
        }
    }

    /// Whether the goals of the players had the same sum in every game; false if no game was
    /// finished.
    pub fn is_constant_sum(&self) -> bool {
        self.goal_sums.is_some_and(|(min, max)| min == max)
    }

    /// Whether there are several players who had the same goal in each game, with different values
    /// in different games.
    pub fn is_cooperative(&self) -> bool {
        let differs = self.goal_sums.is_some_and(|(min, max)| min != max);
        self.players.len() > 1 && !self.has_unlike_goals && differs
    }
}

/// Counts the moves that players choose from, until the deadline.
struct Counter<'a> {
    games: &'a mut RandomGames,
    end: &'a Deadline,
    n_choosing: u64,
}

impl<C: Cursor> PlayVisitor<C> for Counter<'_> {
    fn before(&mut self, _cursor: &mut C, n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        self.n_choosing = 0;
        let interval = self.games.steps_per_clock_check;
        stop_if((n_steps + 1).is_multiple_of(interval) && self.end.reached())
    }

    fn draw(&mut self, cursor: &mut C, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        let legal = cursor.legal_moves(role);
        if legal.len() > 1 && self.games.players.contains(&role) {
            self.n_choosing += 1;
            self.games.n_moves += legal.len() as u64;
        }
        rng.choose(legal).copied()
    }

    fn after(&mut self, _cursor: &mut C, _joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        self.games.n_choices += self.n_choosing;
        self.games.is_simultaneous |= self.n_choosing > 1;
        ControlFlow::Continue(())
    }
}

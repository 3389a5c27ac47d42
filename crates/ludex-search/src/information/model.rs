//! The opponent model: how likely the moves of other roles are assumed to be.
//!
//! `random` plays each legal move with equal probability, as GDL-II defines. Nothing is known about
//! the others. They are assumed to play any legal move half of the time, and otherwise what did
//! well for them in random games, by a Gibbs distribution over the mean rewards of their moves (the
//! statistics of MAST, after Björnsson and Finnsson, *CadiaPlayer: A Simulation-Based General Game
//! Player*, 2009). So every legal move keeps at least half of its uniform probability, and no state
//! is ever ruled out.

use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::roles::Roles;

/// The probabilities of the moves of other roles.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Gibbs weights of moves, from their mean rewards in random games. Moves that were played too
    /// rarely are not listed.
    weights: FxHashMap<MoveId, f64>,
}

/// Random games to learn from.
const N_GAMES: usize = 200;
/// The temperature of the Gibbs distribution: at 0.15, a move whose mean reward is 0.1 better is
/// about twice as likely.
const TEMPERATURE: f64 = 0.15;
/// Moves played less often are ignored.
const MIN_PLAYED: u32 = 5;
/// The part of the time in which others play any move.
const UNIFORM_SHARE: f64 = 0.5;

impl Model {
    /// A model in which others play all moves with equal probability.
    pub fn uniform() -> Self {
        Self::default()
    }

    /// Learns from random games what others may prefer.
    pub fn learned<G: Game>(game: &G, rng: &mut Rng, deadline: &Deadline) -> Self {
        let roles = Roles::of(game);
        let n_players = roles.n - usize::from(roles.random.is_some());
        if n_players < 2 {
            return Self::uniform();
        }
        let mut played: FxHashMap<MoveId, (u32, f64)> = FxHashMap::default();
        let mut sums = vec![(0_u32, 0.0); roles.n];
        let mut cursor = game.cursor();
        let initial = cursor.state().clone();
        let mut play = RandomPlay::new(roles.n);
        let mut recorder = Recorder { clock: Clock::new(deadline), moves: Vec::new() };
        for _ in 0..N_GAMES {
            cursor.set_state(&initial);
            recorder.moves.clear();
            match play.run(&mut cursor, rng, &mut recorder) {
                PlayEnd::Terminal(_) if !cursor.has_fault() => {}
                PlayEnd::Stopped => break,
                PlayEnd::Terminal(_) | PlayEnd::TooLong | PlayEnd::NoLegalMove(_) => continue,
            }
            for role in roles.ids().filter(|&role| Some(role) != roles.random) {
                let reward = f64::from(cursor.goal(role).value()) / 100.0;
                let (n, sum) = &mut sums[role.index()];
                (*n, *sum) = (*n + 1, *sum + reward);
                for joint in recorder.moves.chunks_exact(roles.n) {
                    let (n, sum) = played.entry(joint[role.index()]).or_default();
                    (*n, *sum) = (*n + 1, *sum + reward);
                }
            }
        }
        let known = played.into_iter().filter(|(_, (n, _))| *n >= MIN_PLAYED);
        let weights = known.map(|(id, (n, sum))| (id, (sum / f64::from(n) / TEMPERATURE).exp()));
        Self { weights: weights.collect() }
    }

    /// Computes the probabilities of a role's moves; there must be at least one.
    pub(super) fn parts(&self, moves: &[MoveId], is_random: bool, parts: &mut Vec<f64>) {
        parts.clear();
        let even = 1.0 / moves.len() as f64;
        if is_random || self.weights.is_empty() {
            parts.resize(moves.len(), even);
            return;
        }
        let known: f64 = moves.iter().filter_map(|id| self.weights.get(id)).sum();
        let n_known = moves.iter().filter(|id| self.weights.contains_key(id)).count();
        // Unknown moves count as much as the mean of the known ones.
        let unknown = if n_known == 0 { 1.0 } else { known / n_known as f64 };
        let of = |id: &MoveId| self.weights.get(id).copied().unwrap_or(unknown);
        let total: f64 = moves.iter().map(of).sum();
        let mixed = |id: &MoveId| UNIFORM_SHARE * even + (1.0 - UNIFORM_SHARE) * of(id) / total;
        parts.extend(moves.iter().map(mixed));
    }

    /// Returns the probability of one of a role's moves.
    pub(super) fn part(&self, moves: &[MoveId], idx: usize, is_random: bool) -> f64 {
        if is_random || self.weights.is_empty() || moves.len() < 2 {
            return 1.0 / moves.len() as f64;
        }
        let mut parts = Vec::with_capacity(moves.len());
        self.parts(moves, is_random, &mut parts);
        parts[idx]
    }

    /// Draws a move of a role and returns it with its probability; `None` if the role has none.
    pub(super) fn draw(
        &self,
        moves: &[MoveId],
        is_random: bool,
        rng: &mut Rng,
    ) -> Option<(MoveId, f64)> {
        if is_random || self.weights.is_empty() || moves.len() < 2 {
            return rng.choose(moves).map(|&id| (id, 1.0 / moves.len() as f64));
        }
        let mut parts = Vec::with_capacity(moves.len());
        self.parts(moves, is_random, &mut parts);
        let idx = rng.weighted(&parts);
        Some((moves[idx], parts[idx]))
    }
}

/// Records the joint moves one after another, until the deadline.
struct Recorder<'a> {
    clock: Clock<'a>,
    moves: Vec<MoveId>,
}

impl<C: Cursor> PlayVisitor<C> for Recorder<'_> {
    fn before(&mut self, _cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        stop_if(self.clock.tick())
    }

    fn after(&mut self, _cursor: &mut C, joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        self.moves.extend_from_slice(joint);
        ControlFlow::Continue(())
    }
}

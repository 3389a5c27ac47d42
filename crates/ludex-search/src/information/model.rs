//! How the roles that are not known about are taken to play.
//!
//! `random` plays each legal move equally likely: GDL-II says so. Of the others nothing is said.
//! They are taken to play half of the time any legal move, and half of the time what did well for
//! them in random games, by a Gibbs distribution over the mean rewards of their moves (the
//! statistics of MAST, after Björnsson and Finnsson, *CadiaPlayer: A Simulation-Based General Game
//! Player*, 2009). So no move that is legal counts for less than half of what it does if nothing is
//! assumed, and no state is ever ruled out.

use std::ops::ControlFlow;

use ludex_base::{Deadline, MoveId, Rng};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::roles::Roles;

/// How likely the moves of other roles are.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The weight of a move that did well or badly in random games, as a power of e; 1 is not
    /// listed.
    weights: FxHashMap<MoveId, f64>,
}

/// Random games that are played to learn from.
const N_GAMES: usize = 200;
/// The temperature of the Gibbs distribution: at 0.15 a move whose mean reward is 0.1 better is
/// about twice as likely.
const TEMPERATURE: f64 = 0.15;
/// A move that was played less often has said nothing.
const MIN_PLAYED: u32 = 5;
/// The part of the time in which others play anything.
const UNIFORM_SHARE: f64 = 0.5;

impl Model {
    /// Others play anything.
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

    /// How likely each of a role's moves is; there is one at least.
    pub(super) fn parts(&self, moves: &[MoveId], is_random: bool, parts: &mut Vec<f64>) {
        parts.clear();
        let even = 1.0 / moves.len() as f64;
        if is_random || self.weights.is_empty() {
            parts.resize(moves.len(), even);
            return;
        }
        let known: f64 = moves.iter().filter_map(|id| self.weights.get(id)).sum();
        let n_known = moves.iter().filter(|id| self.weights.contains_key(id)).count();
        // What nothing is known of is as good as the mean.
        let unknown = if n_known == 0 { 1.0 } else { known / n_known as f64 };
        let of = |id: &MoveId| self.weights.get(id).copied().unwrap_or(unknown);
        let total: f64 = moves.iter().map(of).sum();
        let mixed = |id: &MoveId| UNIFORM_SHARE * even + (1.0 - UNIFORM_SHARE) * of(id) / total;
        parts.extend(moves.iter().map(mixed));
    }

    /// How likely one of a role's moves is.
    pub(super) fn part(&self, moves: &[MoveId], idx: usize, is_random: bool) -> f64 {
        if is_random || self.weights.is_empty() || moves.len() < 2 {
            return 1.0 / moves.len() as f64;
        }
        let mut parts = Vec::with_capacity(moves.len());
        self.parts(moves, is_random, &mut parts);
        parts[idx]
    }

    /// A move of a role drawn by how likely it is, and how likely that was; `None` if it has none.
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

/// Writes down the joint moves one after the other, until the time is up.
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

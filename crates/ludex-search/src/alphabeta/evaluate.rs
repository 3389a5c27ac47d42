//! What a state at the horizon is worth, estimated.
//!
//! - *Mobility*: our moves among all moves, each role's as many as when it last could choose, so
//!   that it does not matter whose turn it is.
//! - *Goal proximity*: how much of what holds here also holds in final states that were good for
//!   us, against those that were bad; such states are sampled before the search. It needs a cursor
//!   that can compare states, see `Cursor::n_common_fluents`.
//! - *Playouts*: the mean of a few.
//! - *Learned*: what random games say of the fluents that hold, see `learn`.
//!
//! Estimates lie strictly between 0 and 100, so that a certain win beats every estimate.

use std::time::Instant;

use ludex_base::{MoveId, Rng, RoleId, Seed};
use ludex_game::Cursor;

use super::learn::Learner;
use super::walk::Walk;
use super::{DepthFirstOptions, Stopped};
use crate::clock::Clock;
use crate::mcts::playout::Uniform;
use crate::playout::{End, play_out};
use crate::roles::Roles;

/// The weights, and what was sampled.
pub(crate) struct Evaluation<S> {
    mobility: f64,
    proximity: f64,
    playouts: f64,
    learned: f64,
    /// What was learned, if anything.
    pub(crate) learner: Option<Learner>,
    count: usize,
    rng: Rng,
    good: Vec<S>,
    bad: Vec<S>,
    joint: Vec<MoveId>,
    pub(crate) n_playouts: u64,
}

/// Playouts to sample final states with, and how many to keep of each kind.
const N_SAMPLES: usize = 30;
/// The part of the time that sampling may take.
const SAMPLING_PART: f64 = 0.1;
const N_KEPT: usize = 8;
/// Games to learn from where time does not count.
const N_GAMES: usize = 200;

impl<S> Evaluation<S> {
    pub(crate) fn new(options: &DepthFirstOptions, rng: Rng) -> Self {
        Self {
            mobility: options.mobility,
            proximity: options.proximity,
            playouts: options.playouts,
            learned: options.learned,
            learner: None,
            count: options.count.max(1),
            rng,
            good: Vec::new(),
            bad: Vec::new(),
            joint: Vec::new(),
            n_playouts: 0,
        }
    }

    /// Knows nothing.
    pub(crate) fn none() -> Self {
        let options = DepthFirstOptions { mobility: 0.0, proximity: 0.0, ..Default::default() };
        Self::new(&options, Seed(0).rng())
    }

    /// Samples final states from where the cursor of the walk stands, in a small part of the time.
    pub(crate) fn prepare<C: Cursor<State = S>>(&mut self, walk: &mut Walk<'_, C>)
    where
        S: Clone,
    {
        let root = walk.cursor.state().clone();
        if self.proximity == 0.0 || walk.cursor.n_common_fluents(&root).is_none() {
            self.proximity = 0.0;
            return;
        }
        let me = walk.me;
        let mut ended: Vec<(u8, S)> = Vec::new();
        let time = walk.parts().2.remaining().map(|left| left.mul_f64(SAMPLING_PART));
        let start = Instant::now();
        for _ in 0..N_SAMPLES {
            if time.is_some_and(|time| start.elapsed() > time) {
                break;
            }
            walk.cursor.set_state(&root);
            let (cursor, roles, clock) = walk.parts();
            let end = self.play(cursor, roles, clock, |cursor| {
                ended.push((cursor.goal(me).value(), cursor.state().clone()));
            });
            if end == End::Time {
                break;
            }
        }
        walk.cursor.set_state(&root);
        ended.sort_by_key(|&(goal, _)| goal);
        let (Some(&(worst, _)), Some(&(best, _))) = (ended.first(), ended.last()) else { return };
        if worst == best {
            return;
        }
        let of_goal = |goal: u8| {
            let states = ended.iter().filter(move |it| it.0 == goal);
            states.map(|it| it.1.clone()).take(N_KEPT).collect()
        };
        self.good = of_goal(best);
        self.bad = of_goal(worst);
    }

    /// Learns from random games from where the cursor of the walk stands, in a part of the time; with a
    /// limit of nodes, from so many games.
    pub(crate) fn learn<C: Cursor<State = S>>(&mut self, walk: &mut Walk<'_, C>, part: f64)
    where
        S: Clone,
    {
        let Some(learner) = &mut self.learner else { return };
        let root = walk.cursor.state().clone();
        let (me, is_counted) = (walk.me, walk.is_counted());
        let (cursor, roles, clock) = walk.parts();
        let time = clock.remaining().map(|left| left.mul_f64(part));
        let start = Instant::now();
        let mut n_games = 0;
        let is_enough = || {
            n_games += 1;
            match time {
                Some(time) if !is_counted => start.elapsed() > time,
                _ => n_games >= N_GAMES,
            }
        };
        self.n_playouts += learner.work(cursor, roles, me, &mut self.rng, clock, is_enough);
        walk.cursor.set_state(&root);
    }

    /// An estimate of our goal in the state the cursor stands on.
    pub(crate) fn goal<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        me: RoleId,
        mobility: &[u32],
        clock: &mut Clock<'_>,
    ) -> Result<f32, Stopped>
    where
        S: Clone,
    {
        let (mut sum, mut weights) = (0.0, 0.0);
        if self.mobility > 0.0 {
            let all: u32 = roles
                .ids()
                .filter(|&role| Some(role) != roles.random)
                .map(|role| mobility[role.index()])
                .sum();
            sum += self.mobility * f64::from(mobility[me.index()]) / f64::from(all.max(1));
            weights += self.mobility;
        }
        if self.proximity > 0.0 && !self.good.is_empty() {
            let like = |states: &[S]| {
                let common = states.iter().filter_map(|state| cursor.n_common_fluents(state));
                common.max().unwrap_or(0) as f64
            };
            let (good, bad) = (like(&self.good), like(&self.bad));
            sum += self.proximity * (good + 1.0) / (good + bad + 2.0);
            weights += self.proximity;
        }
        if self.playouts > 0.0 {
            sum += self.playouts * self.mean_of_playouts(cursor, roles, me, clock)?;
            weights += self.playouts;
        }
        if self.learned > 0.0
            && let Some(learner) = self.learner.as_ref().filter(|it| it.is_of_use())
            && let Some(fluents) = cursor.fluents()
        {
            sum += self.learned * learner.predict(fluents);
            weights += self.learned;
        }
        let reward = if weights > 0.0 { sum / weights } else { 0.5 };
        Ok((reward * 100.0).clamp(1.0, 99.0) as f32)
    }

    fn mean_of_playouts<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        me: RoleId,
        clock: &mut Clock<'_>,
    ) -> Result<f64, Stopped>
    where
        S: Clone,
    {
        let mut sum = 0.0;
        let here = cursor.state().clone();
        for _ in 0..self.count {
            cursor.set_state(&here);
            let end = self.play(cursor, roles, clock, |cursor| {
                sum += f64::from(cursor.goal(me).value()) / 100.0;
            });
            if end == End::Time {
                return Err(Stopped);
            }
        }
        Ok(sum / self.count as f64)
    }

    /// Plays one random game, and shows the final state if there is one.
    fn play<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        clock: &mut Clock<'_>,
        show: impl FnOnce(&mut C),
    ) -> End {
        let Self { rng, joint, .. } = self;
        let end = play_out(cursor, roles.n, &mut Uniform, rng, clock, joint, None);
        if end == End::Terminal {
            self.n_playouts += 1;
            show(cursor);
        }
        end
    }
}

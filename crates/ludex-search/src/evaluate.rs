//! Estimated values of states before the end of the game.
//!
//! - *Mobility*: a role's share of all moves. Each role counts with its number of moves at its last
//!   choice, so that the value does not depend on whose turn it is.
//! - *Goal proximity*: how many fluents the state shares with final states that were good for the
//!   role, compared with bad ones. These states are sampled before the search. It needs a cursor
//!   that can compare states, see `Cursor::n_common_fluents`.
//! - *Playouts*: the mean of a few.
//! - *Learned*: values of fluents learned from random games, see `alphabeta::learn`; for one role.
//! - *Rules*: weights of features of the rules, learned from random games, see `alphabeta::judge`;
//!   for one role.
//!
//! Estimates lie strictly between 0 and 100, so that a certain win beats every estimate.
//! Depth-first searches use them at the horizon, Monte Carlo searches where they cut a playout.

use std::time::Instant;

use ludex_base::{Rng, RoleId};
use ludex_game::Cursor;

use crate::alphabeta::judge::{self, Judge, share};
use crate::alphabeta::learn::Learner;
use crate::clock::Clock;
use crate::playout::{Desk, End, play_uniform};
use crate::roles::Roles;

/// The weight of each part of an estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Weights {
    pub(crate) mobility: f64,
    pub(crate) proximity: f64,
    pub(crate) playouts: f64,
    pub(crate) learned: f64,
    pub(crate) rules: f64,
    /// Playouts for one estimate.
    pub(crate) count: usize,
}

/// The weights and samples of estimates.
pub(crate) struct Evaluation<S> {
    weights: Weights,
    rng: Rng,
    /// By role.
    samples: Vec<Samples<S>>,
    /// The learned values of fluents, if any.
    pub(crate) learner: Option<Learner>,
    pub(crate) judge: Option<Judge>,
    desk: Desk,
    pub(crate) n_playouts: u64,
}

/// Final states that were good and bad for a role.
struct Samples<S> {
    good: Vec<S>,
    bad: Vec<S>,
}

/// The deadline came before an estimate.
pub(crate) struct OutOfTime;

/// Playouts that sample final states, and how many states to keep of each kind.
const N_SAMPLES: usize = 30;
/// The part of the time that sampling may take.
const SAMPLING_PART: f64 = 0.1;
const N_KEPT: usize = 8;
/// Games to learn from if time does not count.
const N_GAMES: usize = 200;

impl<S: Clone> Evaluation<S> {
    pub(crate) fn new(weights: Weights, rng: Rng) -> Self {
        Self {
            weights,
            rng,
            samples: Vec::new(),
            learner: None,
            judge: None,
            desk: Desk::default(),
            n_playouts: 0,
        }
    }

    /// Samples final states from the state of the cursor in a small part of the time, for the roles
    /// whose goals will be estimated.
    pub(crate) fn prepare<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        asked: impl Fn(RoleId) -> bool,
        clock: &mut Clock<'_>,
    ) {
        let root = cursor.state().clone();
        self.samples.clear();
        if self.weights.proximity == 0.0 || cursor.n_common_fluents(&root).is_none() {
            self.weights.proximity = 0.0;
            return;
        }
        let mut ended: Vec<(Vec<u8>, S)> = Vec::new();
        let time = clock.remaining().map(|left| left.mul_f64(SAMPLING_PART));
        let start = Instant::now();
        for _ in 0..N_SAMPLES {
            if time.is_some_and(|time| start.elapsed() > time) {
                break;
            }
            cursor.set_state(&root);
            let end = self.play(cursor, roles, clock, |cursor| {
                let goals = roles.ids().map(|role| cursor.goal(role).value()).collect();
                ended.push((goals, cursor.state().clone()));
            });
            if end == End::Time {
                break;
            }
        }
        cursor.set_state(&root);
        self.samples = (roles.ids())
            .map(|role| if asked(role) { Samples::of(&ended, role) } else { Samples::none() })
            .collect();
    }

    /// Learns from random games from the state of the cursor, for a part of the time, or from
    /// [`N_GAMES`] games.
    pub(crate) fn learn<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        me: RoleId,
        part: Option<f64>,
        clock: &mut Clock<'_>,
    ) {
        let root = cursor.state().clone();
        let Self { learner, judge, rng, n_playouts, .. } = self;
        let n_learning = usize::from(learner.is_some()) + usize::from(judge.is_some());
        // The learners share the time.
        let part = part.map(|part| part / n_learning.max(1) as f64);
        let budget = |clock: &Clock<'_>| {
            let time = part.and_then(|part| Some(clock.remaining()?.mul_f64(part)));
            let (start, mut n_games) = (Instant::now(), 0);
            move || {
                n_games += 1;
                time.map_or(n_games >= N_GAMES, |time| start.elapsed() > time)
            }
        };
        if let Some(learner) = learner {
            let is_enough = budget(clock);
            *n_playouts += learner.work(cursor, roles, me, rng, clock, is_enough);
            cursor.set_state(&root);
        }
        if let Some(judge) = judge {
            let is_enough = budget(clock);
            let game = judge::Played { roles, me, learner: learner.as_ref() };
            *n_playouts += judge.work(cursor, &game, rng, clock, is_enough);
            cursor.set_state(&root);
        }
    }

    /// Estimates the goal of a role in the state of the cursor, which may be in another state
    /// afterwards.
    pub(crate) fn goal<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        me: RoleId,
        mobility: &[u32],
        clock: &mut Clock<'_>,
    ) -> Result<f32, OutOfTime> {
        let Weights { mobility: moving, proximity, playouts, learned, rules, .. } = self.weights;
        let (mut sum, mut weights) = (0.0, 0.0);
        if moving > 0.0 {
            sum += moving * share(mobility, roles, me);
            weights += moving;
        }
        if let Some(samples) = self.samples.get(me.index())
            && !samples.good.is_empty()
        {
            let like = |states: &[S]| {
                let common = states.iter().filter_map(|state| cursor.n_common_fluents(state));
                common.max().unwrap_or(0) as f64
            };
            let (good, bad) = (like(&samples.good), like(&samples.bad));
            sum += proximity * (good + 1.0) / (good + bad + 2.0);
            weights += proximity;
        }
        if playouts > 0.0 {
            sum += playouts * self.mean_of_playouts(cursor, roles, me, clock)?;
            weights += playouts;
        }
        if learned > 0.0
            && let Some(learner) = self.learner.as_ref().filter(|it| it.is_useful())
            && let Some(fluents) = cursor.fluents()
        {
            sum += learned * learner.predict(fluents);
            weights += learned;
        }
        if rules > 0.0
            && let Some(judge) = self.judge.as_mut().filter(|it| it.is_useful())
            && let Some(fluents) = cursor.fluents()
        {
            let learner = self.learner.as_ref();
            sum += rules * judge.predict(fluents, share(mobility, roles, me), learner);
            weights += rules;
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
    ) -> Result<f64, OutOfTime> {
        let mut sum = 0.0;
        let here = cursor.state().clone();
        for _ in 0..self.weights.count {
            cursor.set_state(&here);
            let end = self.play(cursor, roles, clock, |cursor| {
                sum += f64::from(cursor.goal(me).value()) / 100.0;
            });
            if end == End::Time {
                return Err(OutOfTime);
            }
        }
        Ok(sum / self.weights.count as f64)
    }

    /// Plays one random game and shows the final state if it reaches one.
    fn play<C: Cursor<State = S>>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        clock: &mut Clock<'_>,
        show: impl FnOnce(&mut C),
    ) -> End {
        let Self { rng, desk, .. } = self;
        let end = play_uniform(cursor, roles.n, rng, clock, desk);
        if end == End::Terminal {
            self.n_playouts += 1;
            show(cursor);
        }
        end
    }
}

impl<S: Clone> Samples<S> {
    fn none() -> Self {
        Self { good: Vec::new(), bad: Vec::new() }
    }

    /// Picks the best and the worst of some final states for a role; none if all are equally good.
    fn of(ended: &[(Vec<u8>, S)], role: RoleId) -> Self {
        let goals = ended.iter().map(|it| it.0[role.index()]);
        let (Some(worst), Some(best)) = (goals.clone().min(), goals.max()) else {
            return Self::none();
        };
        if worst == best {
            return Self::none();
        }
        let of_goal = |goal: u8| {
            let states = ended.iter().filter(move |it| it.0[role.index()] == goal);
            states.map(|it| it.1.clone()).take(N_KEPT).collect()
        };
        Self { good: of_goal(best), bad: of_goal(worst) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_the_best_and_the_worst_of_each_role() {
        let ended = [(vec![100, 0], 'a'), (vec![50, 50], 'b'), (vec![0, 100], 'c')];
        let first = Samples::of(&ended, RoleId::new(0));
        assert_eq!((first.good, first.bad), (vec!['a'], vec!['c']));
        let second = Samples::of(&ended, RoleId::new(1));
        assert_eq!((second.good, second.bad), (vec!['c'], vec!['a']));
        assert!(Samples::of(&ended[..1], RoleId::new(0)).good.is_empty());
        assert!(Samples::<char>::of(&[], RoleId::new(0)).good.is_empty());
    }
}

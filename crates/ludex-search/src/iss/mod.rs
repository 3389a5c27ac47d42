//! Information set search: exhaustive search to a horizon, over sets of states instead of states.
//!
//! Each move of the role advances the set of states that it considers possible, and the set splits
//! by what the role would see. The role's own moves are maximized and everything else is averaged:
//! `random` by the rules, and the others because they are assumed to play at random. That is the
//! overconfident of two assumptions; the paranoid one, that they know everything and do their
//! worst, plays worse if much is hidden. The horizon deepens as long as there is time, and random
//! games estimate the values there.
//!
//! For few states and short games, with chance, hidden information and any number of roles. Sets
//! that are too large are sampled, so only small ones give exact values.
//!
//! After Parker, Nau and Subrahmanian, *Overconfidence or Paranoia? Search in Imperfect-Information
//! Games*, 2006.

use std::collections::BTreeMap;

use ludex_base::{MoveId, PerceptId, Rng, RoleId, StopReason};
use ludex_game::{Cursor, JointMoves, Observe, Playouts, StateOf};
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::information::{AllMoves, Information, InformationSearcher, OwnPercepts, Sight, Weights};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::limits::SearchLimits;
use crate::playout::{Desk, End, play_uniform};
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`Iss`].
    pub struct IssOptions {
        /// maximum number of steps to look ahead
        depth: usize = 50,
        /// largest set of states to search in full; larger ones are sampled
        states: usize = 64,
        /// most joint moves of a state to search in full; more are sampled
        joints: usize = 32,
        /// random games per estimate at the horizon
        playouts: usize = 8,
    }
}

/// Expectimax over sets of states.
pub struct Iss<G: Playouts> {
    options: IssOptions,
    roles: Roles,
    cursor: G::Cursor,
}

/// The states of one set, with weights.
type Set<S> = Vec<(S, f64)>;

/// What a role sees of a step: the joint move or its percepts, as numbers.
type Seen = Vec<u32>;

/// One search to a horizon.
struct Look<'a, C: Cursor, V> {
    options: &'a IssOptions,
    roles: Roles,
    me: RoleId,
    sight: V,
    cursor: &'a mut C,
    rng: Rng,
    clock: Clock<'a>,
    desk: Desk,
    /// Steps and playouts.
    n_steps: u64,
    max_steps: u64,
    /// Whether something was estimated at the horizon or sampled.
    is_cut: bool,
}

/// Time or steps ran out.
struct Stopped;

impl<I: Ingredients> Search<I> for IssOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Iss::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        Box::new(Iss::new(from.game(), self.clone()))
    }
}

impl<G: Playouts> Iss<G> {
    /// Creates a search for a game.
    pub fn new(game: &G, options: IssOptions) -> Self {
        Self { options, roles: Roles::of(game), cursor: game.cursor() }
    }

    fn search_from(
        &mut self,
        starts: Set<StateOf<G>>,
        me: RoleId,
        legal: &[MoveId],
        sight: impl Sight<G::Cursor>,
        limits: &SearchLimits,
    ) -> SearchReport {
        let mut report = SearchReport::unsearched(legal);
        if legal.len() < 2 || starts.is_empty() {
            return report;
        }
        limits.hint.set(legal[0]);
        let mut look = Look {
            options: &self.options,
            roles: self.roles,
            me,
            sight,
            cursor: &mut self.cursor,
            rng: limits.seed.rng(),
            clock: Clock::new(&limits.deadline),
            desk: Desk::default(),
            n_steps: 0,
            max_steps: limits.iterations.unwrap_or(u64::MAX),
            is_cut: false,
        };
        let starts = look.sampled(starts);
        for horizon in 1..=self.options.depth.max(1) {
            look.is_cut = false;
            let before = report.moves.clone();
            let mut n_valued = 0;
            for (idx, &id) in legal.iter().enumerate() {
                let Ok(value) = look.after(&starts, id, horizon) else { break };
                let known = &mut report.moves[idx];
                (known.mean_reward, known.n_visits) = (Some(value), look.n_steps);
                n_valued += 1;
            }
            if n_valued < legal.len() {
                let is_time = look.n_steps <= look.max_steps;
                report.stopped =
                    Some(if is_time { StopReason::of_deadline() } else { StopReason::Count });
                // Values of different horizons are not comparable; keep them only if there is
                // nothing else.
                if horizon > 1 {
                    report.moves = before;
                }
                break;
            }
            report.depth = horizon as u32;
            choose(&mut report);
            report.chosen.into_iter().for_each(|best| limits.hint.set(best));
            if !look.is_cut {
                break;
            }
        }
        report.n_iterations = look.n_steps;
        report.n_nodes = 1;
        choose(&mut report);
        report
    }
}

/// Chooses the move with the highest value, the first of equal ones.
fn choose(report: &mut SearchReport) {
    let value = |it: &MoveReport| it.mean_reward.unwrap_or(f64::NEG_INFINITY);
    let best = report.moves.iter().rev().max_by(|a, b| value(a).total_cmp(&value(b))).copied();
    if let Some(best) = best.filter(|best| best.mean_reward.is_some()) {
        report.chosen = Some(best.id);
        report.reward = best.mean_reward;
    }
}

impl<C: Cursor, V: Sight<C>> Look<'_, C, V> {
    /// Returns the value of a set for the role, `n_left` steps before the horizon.
    fn value(&mut self, set: &Set<C::State>, n_left: usize) -> Result<f64, Stopped> {
        if n_left == 0 {
            self.is_cut = true;
            return self.estimate(set);
        }
        // Moves that are legal in the first state; in a valid rulesheet they are legal in all of
        // them.
        self.cursor.set_state(&set[0].0);
        let moves = self.cursor.legal_moves(self.me).to_vec();
        let mut best = f64::NEG_INFINITY;
        for id in moves {
            best = best.max(self.after(set, id, n_left)?);
        }
        Ok(best.max(0.0))
    }

    /// Returns the value of a set after a move of the role.
    fn after(&mut self, set: &Set<C::State>, id: MoveId, n_left: usize) -> Result<f64, Stopped> {
        let mut ended = 0.0;
        let mut by_observation: BTreeMap<Seen, FxHashMap<C::State, f64>> = BTreeMap::new();
        for (state, weight) in set {
            let joints = self.joints(state, id);
            let each = weight / joints.len().max(1) as f64;
            for joint in joints {
                self.tick()?;
                self.cursor.set_state(state);
                self.cursor.play(&joint);
                if self.cursor.is_terminal() {
                    ended += each * f64::from(self.cursor.goal(self.me).value()) / 100.0;
                    continue;
                }
                let seen = self.seen(&joint);
                let found = by_observation.entry(seen).or_default();
                *found.entry(self.cursor.state().clone()).or_insert(0.0) += each;
            }
        }
        let total: f64 = set.iter().map(|it| it.1).sum();
        let mut value = ended;
        for found in by_observation.into_values() {
            // The order of the map depends on the states alone.
            let next: Set<C::State> = found.into_iter().collect();
            let weight: f64 = next.iter().map(|it| it.1).sum();
            let next = self.sampled(next);
            value += weight * self.value(&next, n_left - 1)?;
        }
        Ok(value / total)
    }

    /// Counts a step.
    fn tick(&mut self) -> Result<(), Stopped> {
        self.n_steps += 1;
        if self.clock.tick() || self.n_steps > self.max_steps { Err(Stopped) } else { Ok(()) }
    }

    fn seen(&self, joint: &[MoveId]) -> Seen {
        match self.sight.percepts(&*self.cursor, self.me) {
            None => joint.iter().map(|id| id.index() as u32).collect(),
            Some(percepts) => {
                let mut percepts: Vec<PerceptId> = percepts.to_vec();
                percepts.sort_unstable();
                percepts.iter().map(|id| id.index() as u32).collect()
            }
        }
    }

    /// Returns the joint moves of a state in which the role plays this move, or a sample; none if
    /// the move is illegal.
    fn joints(&mut self, state: &C::State, id: MoveId) -> Vec<Vec<MoveId>> {
        self.cursor.set_state(state);
        let mut joints = JointMoves::of(self.cursor, self.roles.n);
        joints.keep_only(self.me, id);
        let n_joints = joints.sizes().fold(1, usize::saturating_mul);
        if n_joints <= self.options.joints.max(1) {
            let mut all = Vec::with_capacity(n_joints);
            while let Some(joint) = joints.next_joint() {
                all.push(joint.to_vec());
            }
            return all;
        }
        self.is_cut = true;
        let draw = |_| {
            let draw = |role| {
                if role == self.me { Some(id) } else { self.cursor.draw_move(role, &mut self.rng) }
            };
            self.roles.ids().map(draw).collect::<Option<Vec<MoveId>>>()
        };
        (0..self.options.joints.max(1)).filter_map(draw).collect()
    }

    /// Returns the set, or a sample of it drawn by weight if it is too large.
    fn sampled(&mut self, set: Set<C::State>) -> Set<C::State> {
        let max_states = self.options.states.max(1);
        if set.len() <= max_states {
            return set;
        }
        self.is_cut = true;
        let weights = Weights::new(set.iter().map(|it| it.1));
        let draw = |_| (set[weights.draw(&mut self.rng)].0.clone(), 1.0);
        (0..max_states).map(draw).collect()
    }

    /// Returns the mean reward of random games from a set.
    fn estimate(&mut self, set: &Set<C::State>) -> Result<f64, Stopped> {
        let weights = Weights::new(set.iter().map(|it| it.1));
        let (mut sum, mut n_ended) = (0.0, 0);
        for _ in 0..self.options.playouts.max(1) {
            self.tick()?;
            self.cursor.set_state(&set[weights.draw(&mut self.rng)].0);
            let Self { cursor, roles, rng, clock, desk, .. } = self;
            match play_uniform(&mut **cursor, roles.n, rng, clock, desk) {
                End::Terminal => {
                    n_ended += 1;
                    sum += f64::from(self.cursor.goal(self.me).value()) / 100.0;
                }
                End::GivenUp | End::Cut => {}
                End::Time => return Err(Stopped),
            }
        }
        Ok(if n_ended == 0 { 0.5 } else { sum / f64::from(n_ended) })
    }
}

impl<G: Playouts> Searcher<G::Cursor> for Iss<G> {
    fn name(&self) -> &'static str {
        "iss"
    }

    /// Searches a known state: sets have one state, and all roles see every move.
    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let legal = root.clone().legal_moves(role).to_vec();
        let starts = vec![(root.state().clone(), 1.0)];
        self.search_from(starts, role, &legal, AllMoves, limits)
    }
}

impl<G: Playouts> InformationSearcher<StateOf<G>> for Iss<G>
where
    G::Cursor: Observe,
{
    fn name(&self) -> &'static str {
        "iss"
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let starts = known.possible().iter().map(|it| (it.state.clone(), it.weight)).collect();
        self.search_from(starts, known.role(), known.legal_moves(), OwnPercepts, limits)
    }
}

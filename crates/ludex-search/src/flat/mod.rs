//! Flat Monte Carlo: chooses the move with the best playouts.
//!
//! The moves of one role are the arms of a bandit, and UCB1 chooses where the next playouts go. All
//! other roles, including `random`, play at random. For any game. There is no tree, so a move that
//! is good only against weak answers looks good.
//!
//! After Auer, Cesa-Bianchi and Fischer, *Finite-time Analysis of the Multiarmed Bandit Problem*,
//! 2002.

use ludex_base::{MoveId, Rng, RoleId, StopReason};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts,
};

use crate::clock::Clock;
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::mcts::selection::{EdgeStats, Selection, Ucb};
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`Flat`].
    pub struct FlatOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// moves picked for one batch of playouts
        picks: usize = 16,
        /// playouts for each pick
        playouts: usize = 4,
    }
}

/// Flat Monte Carlo with UCB over the moves of a role.
pub struct Flat<G: Playouts> {
    options: FlatOptions,
    roles: Roles,
    runner: G::Runner,
}

/// The moves to choose from, and their results.
struct Bandit<C: Cursor> {
    cursor: C,
    root: C::State,
    role: RoleId,
    /// The legal moves of every role at the root.
    legal: Vec<Vec<MoveId>>,
    arms: Vec<Arm>,
    rule: Ucb,
    rng: Rng,
}

#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    n_visits: u64,
    goal_sum: u64,
}

impl<I: Ingredients> Search<I> for FlatOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Flat::new(from.game(), self.clone()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts> Flat<G> {
    /// Creates a search for a game.
    pub fn new(game: &G, options: FlatOptions) -> Self {
        Self { options, roles: Roles::of(game), runner: game.runner() }
    }
}

impl<C: Cursor> Bandit<C> {
    /// Picks arms and plays one step for each: our move, and random moves of the others. Returns
    /// the arms whose games go on, with their states; games that end are counted at once.
    fn pick(&mut self, n_picks: usize, n_playouts: u64) -> (Vec<usize>, Vec<C::State>) {
        let (mut picked, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..n_picks {
            let stats: Vec<EdgeStats> = self.arms.iter().map(Arm::stats).collect();
            let n_visits: u64 = self.arms.iter().map(|arm| arm.n_visits).sum();
            let n_visits = u32::try_from(n_visits).unwrap_or(u32::MAX);
            let idx = self.rule.select(n_visits, &stats, &mut self.rng);
            let mut joint = Vec::with_capacity(self.legal.len());
            for (role_idx, moves) in self.legal.iter().enumerate() {
                let is_ours = role_idx == self.role.index();
                joint.push(moves[if is_ours { idx } else { self.rng.below(moves.len()) }]);
            }
            self.cursor.set_state(&self.root);
            self.cursor.play(&joint);
            let arm = &mut self.arms[idx];
            arm.n_visits += n_playouts;
            if self.cursor.is_terminal() {
                arm.goal_sum += u64::from(self.cursor.goal(self.role).value()) * n_playouts;
            } else {
                starts.push(self.cursor.state().clone());
                picked.push(idx);
            }
        }
        (picked, starts)
    }

    /// Returns our most tried move.
    fn favorite(&self) -> MoveId {
        let arms = self.arms.iter().enumerate();
        let idx = arms.max_by_key(|(_, arm)| arm.n_visits).map_or(0, |(idx, _)| idx);
        self.legal[self.role.index()][idx]
    }

    fn report(&self) -> Vec<MoveReport> {
        let ours = self.legal[self.role.index()].iter().zip(&self.arms);
        ours.map(|(&id, arm)| MoveReport {
            id,
            n_visits: arm.n_visits,
            mean_reward: arm.mean(),
            proven: None,
        })
        .collect()
    }
}

impl Arm {
    fn stats(&self) -> EdgeStats {
        let n_visits = u32::try_from(self.n_visits).unwrap_or(u32::MAX);
        EdgeStats { n_visits, mean: self.mean().unwrap_or(0.0) as f32, ..EdgeStats::NEW }
    }

    fn mean(&self) -> Option<f64> {
        (self.n_visits > 0).then(|| self.goal_sum as f64 / self.n_visits as f64 / 100.0)
    }
}

impl<G: Playouts> Searcher<G::Cursor> for Flat<G> {
    fn name(&self) -> &'static str {
        "flat"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let mut cursor = root.clone();
        let legal: Vec<Vec<MoveId>> =
            self.roles.ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
        let ours = &legal[role.index()];
        if legal.iter().any(Vec::is_empty) || cursor.has_fault() {
            let stopped = Some(StopReason::Fault);
            return SearchReport { stopped, ..SearchReport::unsearched(ours) };
        }
        let mut bandit = Bandit {
            cursor,
            root: root.state().clone(),
            role,
            arms: vec![Arm::default(); ours.len()],
            legal,
            rule: Ucb { c: self.options.c as f32, fpu: f32::MAX },
            rng: limits.seed.rng(),
        };
        let (n_picks, n_per_start) = (self.options.picks.max(1), self.options.playouts.max(1));
        let mut clock = Clock::new(&limits.deadline);
        let (mut n_iterations, mut n_playouts) = (0, 0);
        let stopped = loop {
            limits.hint.set(bandit.favorite());
            if clock.tick() {
                break StopReason::of_deadline();
            }
            if limits.iterations.is_some_and(|max| n_iterations >= max) {
                break StopReason::Count;
            }
            let (picked, starts) = bandit.pick(n_picks, n_per_start as u64);
            n_iterations += n_picks as u64;
            let mut results = PlayoutResults::default();
            let request = PlayoutRequest {
                starts: &starts,
                n_per_start,
                max_steps: MAX_RANDOM_STEPS,
                wants_moves: false,
                deadline: &limits.deadline,
            };
            self.runner.run(&request, &mut bandit.rng, &mut results);
            let is_cut = limits.deadline.reached();
            for (&idx, start) in picked.iter().zip(&results.starts) {
                n_playouts += start.n_playouts;
                let arm = &mut bandit.arms[idx];
                arm.goal_sum += start.goal_sums.get(role.index()).copied().unwrap_or(0);
                if is_cut {
                    // The deadline dropped some playouts, whose visits were counted in advance.
                    arm.n_visits -= n_per_start as u64 - start.n_playouts;
                }
            }
        };
        let moves = bandit.report();
        let chosen = crate::mcts::choose(&moves).map(|idx| &moves[idx]);
        SearchReport {
            chosen: chosen.map(|it| it.id),
            reward: chosen.and_then(|it| it.mean_reward),
            n_iterations,
            n_playouts,
            n_nodes: 1,
            depth: 1,
            stopped: Some(stopped),
            moves,
            ..SearchReport::default()
        }
    }
}

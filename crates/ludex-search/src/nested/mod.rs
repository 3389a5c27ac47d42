//! Nested searches for puzzles, in which a line that was found once can be followed to its end.
//!
//! - *Nested Monte Carlo search* (`nmcs`): at each step every move is tried with a search of the
//!   level below, down to playouts, and the best line found so far is followed. After Cazenave,
//!   *Nested Monte-Carlo Search*, 2009.
//! - *Nested rollout policy adaptation* (`nrpa`): playouts adapt to the best line found so far, at
//!   several levels. After Rosin, *Nested Rollout Policy Adaptation for Monte Carlo Tree Search*,
//!   2011.
//! - *UCT and nested Monte Carlo search* (`uct-nested`): see [`combined`].
//!
//! Searches are repeated until time is up, and the best line is kept from move to move. Among lines
//! with equal goals, longer and shorter ones are preferred in turn: if every goal is 0 until the
//! end, only the length is left to learn from. Many rulesheets give a state that can still be won a
//! goal above 0 before the end; among long lines, those that stay in such states longer are better.
//!
//! On several threads, the moves of each step of the highest level are jobs that free threads take
//! one after another (after Cazenave and Jouandeau, *Parallel Nested Monte-Carlo Search*, 2009);
//! policy adaptation runs once on each thread. Each job has its own seed, so the line does not
//! depend on the thread that ran it.
//!
//! Moves of other roles and of chance are drawn at random, so with them a line is only a hope.
//!
//! Read `line`, `policy`, `explore`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ludex_base::{RoleId, Seed, StopReason};
use ludex_game::{Cursor, Playouts, StateOf};

use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::report::SearchReport;
use crate::roles::Roles;
use crate::searcher::Searcher;

mod line;
mod policy;
mod explore;
pub mod combined;

pub use explore::Explorer;
pub use line::{Found, Line};

use explore::Walk;

crate::search_options! {
    /// Options of [`Nested`] by nested Monte Carlo.
    pub struct NmcsOptions {
        /// levels of nesting; 1 tries every move with one playout
        level: usize = 2,
        /// threads; 0 for as many as the limits allow
        threads: usize = 0,
    }
}

crate::search_options! {
    /// Options of [`Nested`] by policy adaptation.
    pub struct NrpaOptions {
        /// levels of nesting
        level: usize = 3,
        /// tries per level
        tries: usize = 60,
        /// threads; 0 for as many as the limits allow
        threads: usize = 0,
    }
}

/// The kind of nested search.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Nested Monte Carlo search.
    Nmcs(NmcsOptions),
    /// Nested rollout policy adaptation.
    Nrpa(NrpaOptions),
}

/// Finds the best line and follows it.
pub struct Nested<G: Playouts> {
    name: &'static str,
    rule: Rule,
    roles: Roles,
    best: Option<Line<StateOf<G>>>,
    wants_long: bool,
}

impl<I: Ingredients> Search<I> for NmcsOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Nested::new(name, from.game(), Rule::Nmcs(self.clone())))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<I: Ingredients> Search<I> for NrpaOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Nested::new(name, from.game(), Rule::Nrpa(self.clone())))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts> Nested<G> {
    /// Creates a search without knowledge.
    pub fn new(name: &'static str, game: &G, rule: Rule) -> Self {
        Self { name, rule, roles: Roles::of(game), best: None, wants_long: true }
    }

    /// Runs one nested search from the cursor's state; also returns the number of playouts.
    fn run(
        &self,
        root: &G::Cursor,
        me: RoleId,
        limits: &SearchLimits,
        seed: Seed,
        max_playouts: u64,
    ) -> (Option<Found>, u64) {
        let (n_roles, wants_long) = (self.roles.n, self.wants_long);
        let explorer = |cursor, seed: Seed, max_playouts| {
            let mut explorer =
                Explorer::new(cursor, n_roles, me, seed.rng(), &limits.deadline, max_playouts);
            explorer.wants_long = wants_long;
            explorer
        };
        let mut guide = explorer(root.clone(), seed, max_playouts);
        let (mut best, mut n_playouts) = (None, 0);
        let n_threads = match (&self.rule, limits.threads) {
            (Rule::Nmcs(NmcsOptions { threads: 0, .. }), n) => n.max(1),
            (Rule::Nrpa(NrpaOptions { threads: 0, .. }), n) => n.max(1),
            (Rule::Nmcs(options), _) => options.threads,
            (Rule::Nrpa(options), _) => options.threads,
        };
        let from = root.state().clone();
        match &self.rule {
            Rule::Nrpa(options) => {
                let part = max_playouts.div_ceil(n_threads as u64);
                let jobs = in_parallel(root, n_threads, n_threads, |cursor, job| {
                    let mut explorer = explorer(cursor, seed.child(job as u64), part);
                    let found = explorer.adapt_policy(&from, options.level, options.tries.max(1));
                    (found, explorer.n_playouts)
                });
                n_playouts += jobs.iter().map(|job| job.1).sum::<u64>();
                jobs.into_iter().for_each(|job| guide.take_better(&mut best, job.0));
            }
            Rule::Nmcs(options) => {
                let mut walk = Walk::new(&from);
                for step_idx in 0_u64.. {
                    let Some(tries) = guide.open(&mut walk) else { break };
                    let n_jobs = tries.len() / n_roles;
                    // With a limit, each job gets its share, so that their order does not matter.
                    let part = (max_playouts - n_playouts).div_ceil(n_jobs.max(1) as u64);
                    let jobs = in_parallel(root, n_threads, n_jobs, |cursor, job| {
                        let seed = seed.child(step_idx).child(job as u64);
                        let mut explorer = explorer(cursor, seed, part);
                        let joint = &tries[job * n_roles..][..n_roles];
                        let found = explorer.try_step(&walk, joint, options.level.max(1) - 1);
                        (found, explorer.n_playouts)
                    });
                    n_playouts += jobs.iter().map(|job| job.1).sum::<u64>();
                    jobs.into_iter().for_each(|job| guide.take_better(&mut best, job.0));
                    let is_over = n_playouts >= max_playouts || limits.deadline.reached();
                    if is_over || !guide.advance(&mut walk, &best) {
                        break;
                    }
                }
            }
        }
        (best, n_playouts)
    }
}

/// Runs `n_jobs`, each on the first free thread with its own cursor. Returns the results in job
/// order.
fn in_parallel<C: Clone + Send, T: Send>(
    cursor: &C,
    n_threads: usize,
    n_jobs: usize,
    job: impl Fn(C, usize) -> T + Sync,
) -> Vec<T> {
    if n_threads <= 1 || n_jobs <= 1 {
        return (0..n_jobs).map(|idx| job(cursor.clone(), idx)).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..n_threads.min(n_jobs) {
            let (cursor, next, done, job) = (cursor.clone(), &next, &done, &job);
            scope.spawn(move || {
                loop {
                    let idx = next.fetch_add(1, Relaxed);
                    if idx >= n_jobs {
                        return;
                    }
                    let result = job(cursor.clone(), idx);
                    done.lock().expect("no job panics while holding the lock").push((idx, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("all jobs are done");
    done.sort_by_key(|it| it.0);
    done.into_iter().map(|it| it.1).collect()
}

impl<G: Playouts> Searcher<G::Cursor> for Nested<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let mut cursor = root.clone();
        let legal = cursor.legal_moves(role).to_vec();
        self.best = self.best.take().and_then(|line| line.from_here(root.state()));
        if let Some(best) = &self.best {
            best.note(role, &limits.hint);
        }
        let mut n_playouts = 0;
        let max_playouts = limits.iterations.unwrap_or(u64::MAX);
        let mut stopped = None;
        for run_idx in 0_u64.. {
            stopped = limits.deadline.stop_reason();
            if self.best.as_ref().is_some_and(Line::is_settled) || stopped.is_some() {
                break;
            }
            if n_playouts >= max_playouts {
                stopped = Some(StopReason::Count);
                break;
            }
            let left = max_playouts - n_playouts;
            let (found, n) = self.run(root, role, limits, limits.seed.child(run_idx), left);
            if n == 0 {
                // Play cannot go on.
                stopped = Some(StopReason::Fault);
                break;
            }
            n_playouts += n;
            self.wants_long = !self.wants_long;
            if let Some(found) = found
                && self.best.as_ref().is_none_or(|best| found.goal > best.goal())
            {
                let line = Line::new(&mut cursor, self.roles.n, root.state(), &found);
                line.note(role, &limits.hint);
                self.best = Some(line);
            }
        }
        let report = match &self.best {
            Some(best) => best.report(&legal, role),
            None => SearchReport::unsearched(&legal),
        };
        let stopped = stopped.unwrap_or_else(StopReason::of_deadline);
        let stopped = (!report.is_proven).then_some(stopped);
        SearchReport { n_playouts, n_iterations: n_playouts, stopped, ..report }
    }
}

//! Parallel search: several threads share one tree.
//!
//! An idle thread waits at the pool. A busy thread that sees an idle one gives away the other
//! half of its decision nearest to the root, which is its largest piece of work. Each thread
//! has its own copy of the engine; the bound of the objective is shared.
//!
//! Restarts happen in rounds. When the threads together have met a number of conflicts, each
//! leaves its subproblem, and the last to reach the pool starts again from the root, with the
//! scores that each thread has learned. A thread that leaves adds nogoods to the pool for the
//! decisions it has refuted and the subproblems it has finished. All threads take these nogoods
//! before their next subproblem.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use ludex_base::StopReason;
use rustc_hash::FxHashSet;

use super::mac::{Below, Decision, Mac};
use super::nogoods::Literal;
use super::restarts::Restarts;
use super::{Goal, Problem, Report, SearchConfig, keep};
use crate::Value;

/// Subproblems waiting for a thread, and threads waiting for a subproblem.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// Waiting threads less offered subproblems; may lag behind the state.
    n_hungry: AtomicUsize,
    is_over: AtomicBool,
    restarts: Restarts,
    nogoods: Mutex<Nogoods>,
    /// Conflicts left in this round; zero or less when the round is over.
    n_left: AtomicI64,
    n_rounds: AtomicU64,
}

/// The nogoods of all threads, in the order found and each once.
#[derive(Default)]
struct Nogoods {
    list: Vec<Vec<Literal>>,
    known: FxHashSet<Vec<Literal>>,
}

struct State {
    /// Whether some subproblem of this round was left unfinished.
    is_cut: bool,
    offered: VecDeque<Vec<Decision>>,
    n_waiting: usize,
    n_threads: usize,
}

impl Pool {
    fn new(n_threads: usize, restarts: Restarts) -> Self {
        Self {
            restarts,
            nogoods: Mutex::default(),
            n_left: AtomicI64::new(round_length(restarts, 0, n_threads)),
            n_rounds: AtomicU64::new(0),
            state: Mutex::new(State {
                is_cut: false,
                offered: VecDeque::from([Vec::new()]),
                n_waiting: 0,
                n_threads,
            }),
            changed: Condvar::new(),
            n_hungry: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the pool")
    }

    /// Adds nogoods.
    pub fn add_nogoods(&self, nogoods: Vec<Vec<Literal>>) {
        let mut all = self.nogoods.lock().expect("no thread panics with the nogoods");
        for nogood in nogoods {
            if all.known.insert(nogood.clone()) {
                all.list.push(nogood);
            }
        }
    }

    /// Returns all nogoods after the first `n`.
    pub fn nogoods_after(&self, n: usize) -> Vec<Vec<Literal>> {
        self.nogoods.lock().expect("no thread panics with the nogoods").list[n..].to_vec()
    }

    /// Whether a thread is waiting for work.
    pub fn is_hungry(&self) -> bool {
        self.n_hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether all threads must stop.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Counts conflicts; returns true when the round is over.
    pub fn count_conflicts(&self, n_conflicts: u64) -> bool {
        let n = i64::try_from(n_conflicts).unwrap_or(i64::MAX);
        self.restarts != Restarts::Never && self.n_left.fetch_sub(n, Ordering::Relaxed) <= n
    }

    /// Records that a subproblem was left unfinished.
    fn cut(&self) {
        let mut state = self.lock();
        state.is_cut = true;
        state.offered.clear();
    }

    /// Offers a subproblem.
    pub fn offer(&self, subproblem: Vec<Decision>) {
        let mut state = self.lock();
        state.offered.push_back(subproblem);
        self.count(&state);
        self.changed.notify_one();
    }

    fn count(&self, state: &State) {
        let n_hungry = state.n_waiting.saturating_sub(state.offered.len());
        self.n_hungry.store(n_hungry, Ordering::Relaxed);
    }

    /// Takes a subproblem, waiting if necessary; `None` when there will be none.
    fn take(&self) -> Option<Vec<Decision>> {
        let mut state = self.lock();
        state.n_waiting += 1;
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(subproblem) = state.offered.pop_front() {
                state.n_waiting -= 1;
                self.count(&state);
                return Some(subproblem);
            }
            if state.n_waiting == state.n_threads && state.is_cut {
                state.is_cut = false;
                let round = self.n_rounds.fetch_add(1, Ordering::Relaxed) + 1;
                let n_left = round_length(self.restarts, round, state.n_threads);
                self.n_left.store(n_left, Ordering::Relaxed);
                state.offered.push_back(Vec::new());
                continue;
            }
            if state.n_waiting == state.n_threads {
                self.end();
                return None;
            }
            self.count(&state);
            state = self.changed.wait(state).expect("no thread panics while it holds the pool");
        }
    }

    /// Tells all threads to stop. The caller holds the lock on the state.
    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Tells the other threads to stop when one of them panics, so that none waits for it.
struct EndOnPanic<'a>(&'a Pool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _state = self.0.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.0.end();
        }
    }
}

/// Returns the number of conflicts that all threads together may meet in a round. Geometric
/// rounds grow faster than the runs of one thread, because each round costs a synchronization.
fn round_length(restarts: Restarts, round: u64, n_threads: usize) -> i64 {
    let run = match restarts {
        Restarts::Geometric { .. } => round.saturating_mul(2),
        _ => round,
    };
    let cutoff = restarts.cutoff(run).saturating_mul(n_threads as u64);
    i64::try_from(cutoff).unwrap_or(i64::MAX)
}

pub(super) fn search(
    problem: Problem,
    config: &SearchConfig,
    report: Report,
    is_full: &AtomicBool,
    on_solution: &mut (dyn FnMut(&[Value], Option<i64>) + Send),
) -> Report {
    // A restart would find earlier solutions again, so a search for several does not restart.
    let restarts = if problem.bound.is_some() || config.goal == Goal::First(1) {
        config.restarts
    } else {
        Restarts::Never
    };
    let pool = Arc::new(Pool::new(config.n_threads, restarts));
    let sink = Mutex::new((report, on_solution, None::<StopReason>, false));
    let is_minimized = problem.bound.as_ref().map(|bound| bound.is_minimized);
    std::thread::scope(|scope| {
        for thread_idx in 0..config.n_threads {
            let (pool, sink, problem) = (&pool, &sink, problem.clone());
            let mut config = config.clone();
            config.seed = config.seed.child(thread_idx as u64);
            scope.spawn(move || {
                let _guard = EndOnPanic(pool);
                let mut mac = Mac::new(problem, &config);
                mac.pool = Some(Arc::clone(pool));
                while let Some(subproblem) = pool.take() {
                    let outcome = mac.run_below(&subproblem, &mut |solution, value| {
                        let mut sink = sink.lock().expect("no thread panics with the report");
                        let (report, on_solution, _, is_enough) = &mut *sink;
                        // Another thread may already have found enough solutions, or a better
                        // one.
                        let is_worse = match (value, report.value) {
                            (Some(new), Some(old)) if is_minimized == Some(true) => new >= old,
                            (Some(new), Some(old)) => new <= old,
                            _ => false,
                        };
                        if *is_enough || is_worse {
                            return;
                        }
                        keep(report, config.goal, solution, value, is_full);
                        on_solution(solution, value);
                        if is_minimized.is_none()
                            && matches!(config.goal, Goal::First(n) if report.n_solutions >= n)
                        {
                            *is_enough = true;
                            // Without the lock, a thread about to wait would miss the
                            // notification.
                            let _state = pool.lock();
                            pool.end();
                        }
                    });
                    if let Below::Cut = outcome {
                        pool.cut();
                    }
                    if let Below::Stopped(reason) = outcome {
                        let mut sink = sink.lock().expect("no thread panics with the report");
                        if !pool.is_over() {
                            sink.2 = Some(reason);
                            drop(sink);
                            let _state = pool.lock();
                            pool.end();
                        }
                        break;
                    }
                }
                let mut sink = sink.lock().expect("no thread panics with the report");
                sink.0.statistics.absorb(&mac.statistics());
            });
        }
    });
    let (mut report, _, stopped, is_enough) =
        sink.into_inner().expect("no thread panics with the report");
    report.stopped = if is_enough { None } else { stopped };
    report.statistics.n_restarts += pool.n_rounds.load(Ordering::Relaxed);
    report
}

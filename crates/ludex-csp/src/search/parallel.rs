//! Several threads that share one tree.
//!
//! A thread without work waits at the pool. A busy one that sees somebody wait gives away
//! the other half of its decision nearest to the root, which is the largest piece it has.
//! Each thread has its own copy of the engine; the bound of the objective is shared.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use ludex_base::StopReason;

use super::mac::{Decision, Mac};
use super::{Goal, Problem, Report, SearchConfig, keep};
use crate::Value;

/// Subproblems that wait for a thread, and threads that wait for a subproblem.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    /// Threads that wait, less subproblems offered; may be a moment late.
    n_hungry: AtomicUsize,
    is_over: AtomicBool,
}

struct State {
    offered: VecDeque<Vec<Decision>>,
    n_waiting: usize,
    n_threads: usize,
}

impl Pool {
    fn new(n_threads: usize) -> Self {
        Self {
            state: Mutex::new(State {
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

    /// Whether a thread waits for work.
    pub fn is_hungry(&self) -> bool {
        self.n_hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether everybody is to stop.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
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

    /// Takes a subproblem; `None` when there will be none.
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
            if state.n_waiting == state.n_threads {
                self.end();
                return None;
            }
            self.count(&state);
            state = self.changed.wait(state).expect("no thread panics while it holds the pool");
        }
    }

    /// Tells everybody to stop. The caller has locked the state.
    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

pub(super) fn search(
    problem: Problem,
    config: &SearchConfig,
    report: Report,
    on_solution: &mut (dyn FnMut(&[Value], Option<i64>) + Send),
) -> Report {
    let pool = Arc::new(Pool::new(config.n_threads));
    let sink = Mutex::new((report, on_solution, None::<StopReason>, false));
    let is_minimized = problem.bound.as_ref().map(|bound| bound.is_minimized);
    std::thread::scope(|scope| {
        for thread_idx in 0..config.n_threads {
            let (pool, sink, problem) = (&pool, &sink, problem.clone());
            let mut config = config.clone();
            config.seed = config.seed.child(thread_idx as u64);
            scope.spawn(move || {
                let mut mac = Mac::new(problem, &config);
                mac.pool = Some(Arc::clone(pool));
                while let Some(subproblem) = pool.take() {
                    let stopped = mac.run_below(&subproblem, &mut |solution, value| {
                        let mut sink = sink.lock().expect("no thread panics with the report");
                        let (report, on_solution, _, is_enough) = &mut *sink;
                        // Solutions that come after enough, or after a better one, are late.
                        let is_worse = match (value, report.value) {
                            (Some(new), Some(old)) if is_minimized == Some(true) => new >= old,
                            (Some(new), Some(old)) => new <= old,
                            _ => false,
                        };
                        if *is_enough || is_worse {
                            return;
                        }
                        keep(report, config.goal, solution, value);
                        on_solution(solution, value);
                        if is_minimized.is_none()
                            && matches!(config.goal, Goal::First(n) if report.n_solutions >= n)
                        {
                            *is_enough = true;
                            // Without the lock a thread about to wait would miss the news.
                            let _state = pool.lock();
                            pool.end();
                        }
                    });
                    if let Some(reason) = stopped {
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
    report
}

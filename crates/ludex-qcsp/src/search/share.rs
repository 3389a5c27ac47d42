//! Parallel search of an optimizing first scope.
//!
//! The tasks are the choices of the first variables of the scope, best bound first; an idle thread
//! takes the next one. The threads share the best value so far, so a bound found by one saves work
//! for all. Each thread has its own memory of later scopes.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::optimize::{NONE, Outcome, better, is_preferred, own_wish};
use super::{Memory, Searcher, Stopped};
use crate::config::Statistics;
use crate::error::ModelError;
use crate::schedule::Schedule;
use crate::schedule::measures::Wish;
use crate::scope::Quantifier;

/// The best value of the first criterion known to any thread.
pub(crate) struct SharedBest {
    value: AtomicI64,
    wish: Wish,
}

impl SharedBest {
    /// Returns the value, or `None` before the first is found.
    #[inline]
    pub fn get(&self) -> Option<i64> {
        Some(self.value.load(Ordering::Relaxed)).filter(|&value| value != NONE)
    }

    /// Reports a value.
    pub fn offer(&self, value: i64) {
        let _ = self.value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |best| {
            let is_better = best == NONE || better(&self.wish, value, best).is_gt();
            (value != NONE && is_better).then_some(value)
        });
    }
}

/// Choices of the first variables, by place, with the bound on what follows.
type Task = (Vec<usize>, Option<Option<i64>>);

/// Number of tasks per thread: enough that no long task is left for the end.
const TASKS_PER_THREAD: usize = 64;

/// Whether threads can share the first scope of a schedule.
pub(crate) fn can_share(schedule: &Schedule<'_>) -> bool {
    let first = schedule.levels.first();
    first.is_some_and(|level| level.quantifier == Quantifier::Exists)
        && own_wish(&schedule.measures.scopes[0]).is_some()
}

/// The combined result of the threads.
pub(crate) struct Shared {
    /// The outcome of the whole model.
    pub outcome: Result<Option<Outcome>, Stopped>,
    /// The best value of the first criterion, even if the search was stopped.
    pub best: Option<i64>,
    pub statistics: Statistics,
}

/// Optimizes a model whose first scope threads can share.
pub(crate) fn optimize(first: &Searcher<'_>, stack_bytes: usize) -> Result<Shared, ModelError> {
    let (schedule, n_threads) = (first.schedule, first.config.n_threads);
    let measures = &schedule.measures.scopes[0];
    let wish = *own_wish(measures).expect("the first scope has a criterion");
    let best = SharedBest { value: AtomicI64::new(NONE), wish };
    // The tables of all threads together have the size of one.
    let config = crate::SolveConfig {
        memory_bytes: first.config.memory_bytes / n_threads,
        ..first.config.clone()
    };
    let mut searchers = Vec::new();
    for _ in 0..n_threads {
        let memory = Arc::new(Memory::new(config.memory_bytes));
        let mut searcher = Searcher::new(schedule, &config, memory)?;
        searcher.best_elsewhere = Some(&best);
        searchers.push(searcher);
    }
    let mut tasks: Vec<Task> = Vec::new();
    if searchers[0].open(0) {
        tasks = searchers[0].tasks(n_threads * TASKS_PER_THREAD);
    }
    let found: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    let stopped: Mutex<Option<Stopped>> = Mutex::new(None);
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = &|searcher: &mut Searcher<'_>| {
        while !is_over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(number) else { break };
            match searcher.work_off(task) {
                Ok(None) => {}
                Ok(Some(outcome)) => {
                    found.lock().expect("no thread panics here").push((number, outcome));
                }
                Err(reason) => {
                    *stopped.lock().expect("no thread panics here") = Some(reason);
                    is_over.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    let mut statistics = Statistics::default();
    let mut main = searchers.pop().expect("there is a thread");
    std::thread::scope(|scope| {
        let helpers: Vec<_> = searchers
            .into_iter()
            .map(|mut searcher| {
                let builder = std::thread::Builder::new().stack_size(stack_bytes);
                let help = move || {
                    work(&mut searcher);
                    searcher.statistics
                };
                builder.spawn_scoped(scope, help).expect("a thread can be started")
            })
            .collect();
        work(&mut main);
        for helper in helpers {
            statistics.absorb(&helper.join().expect("a search does not panic"));
        }
    });
    statistics.absorb(&main.statistics);
    if let Some(reason) = *stopped.lock().expect("no thread panics here") {
        return Ok(Shared { outcome: Err(reason), best: best.get(), statistics });
    }
    // In the order of the tasks, so that the outcome does not depend on timing.
    let mut found = found.into_inner().expect("no thread panics here");
    found.sort_by_key(|(number, _)| *number);
    let outcome = found.into_iter().map(|(_, outcome)| outcome).reduce(|best, outcome| {
        if is_preferred(measures, &outcome, &best) { outcome } else { best }
    });
    Ok(Shared { outcome: Ok(outcome), best: best.get(), statistics })
}

impl Searcher<'_> {
    /// Returns choices of as many of the first variables as give at least `n_wanted` tasks.
    fn tasks(&mut self, n_wanted: usize) -> Vec<Task> {
        let n_levels = self.schedule.first_level[1];
        let mut tasks: Vec<Task> = vec![(Vec::new(), None)];
        for level in 0..n_levels {
            if tasks.len() >= n_wanted {
                break;
            }
            let mut longer = Vec::new();
            for (places, _) in tasks {
                if !self.replay_all(&places) {
                    continue;
                }
                for (place, bound) in self.ordered(level) {
                    longer.push(([&places[..], &[place]].concat(), bound));
                }
            }
            tasks = longer;
        }
        // Without a bound, tasks keep the order of the values.
        let wish = own_wish(&self.schedule.measures.scopes[0]).copied();
        if let Some(wish) = wish {
            let value = |task: &Task| task.1.map_or(NONE, |bound| bound.unwrap_or(NONE));
            tasks.sort_by(|a, b| better(&wish, value(b), value(a)));
        }
        tasks
    }

    /// Repeats choices of the first levels, and returns whether they are legal.
    fn replay_all(&mut self, places: &[usize]) -> bool {
        let mut levels = places.iter().enumerate();
        levels.all(|(level, &place)| self.choose(level, place) && self.goal_holds(level))
    }

    /// Returns the best outcome with the choices of a task.
    fn work_off(&mut self, (places, bound): &Task) -> Result<Option<Outcome>, Stopped> {
        if bound.is_some_and(|bound| !self.can_improve(0, bound)) {
            self.statistics.n_bounded += 1;
            return Ok(None);
        }
        // The thread's engine still has the state of its last task.
        if !self.open(0) || !self.replay_all(places) {
            return Ok(None);
        }
        let last = places.len() - 1;
        self.count_node(last)?;
        let outcome = if self.schedule.levels[last].is_last_of_scope {
            let outcome = self.optimize_scope(1)?;
            outcome.map(|outcome| self.own(0, outcome))
        } else {
            self.best_choice(last + 1)?
        };
        if let Some(outcome) = &outcome {
            self.note_incumbent(0, outcome);
        }
        Ok(outcome)
    }
}

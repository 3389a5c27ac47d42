//! Parallel search in one tree.
//!
//! If a thread is idle, a busy thread that has searched the first choice of a node without a
//! decision offers the other choices (*young brothers wait*). An idle thread takes a choice from
//! the offer nearest to the root. A choice that decides its node stops all work below it. The
//! threads share the memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ludex_csp::Value;

use super::decide::Opened;
use super::{Searcher, Stopped};
use crate::config::Statistics;
use crate::error::ModelError;

/// The shared state of the threads.
#[derive(Default)]
pub(crate) struct Pool {
    offers: Mutex<Vec<Arc<Offer>>>,
    n_waiting: AtomicUsize,
    is_over: AtomicBool,
    /// The reason why a thread stopped early.
    stopped: Mutex<Option<Stopped>>,
}

/// Choices of a node that other threads may search.
pub(crate) struct Offer {
    /// The values of all variables decided before.
    values: Vec<Value>,
    level: usize,
    wanted: bool,
    places: Mutex<Vec<usize>>,
    n_running: AtomicUsize,
    is_decided: AtomicBool,
    /// The offers that contain this one.
    above: Vec<Arc<Offer>>,
}

impl Offer {
    fn is_void(&self) -> bool {
        self.is_decided.load(Ordering::Relaxed)
            || self.above.iter().any(|offer| offer.is_decided.load(Ordering::Relaxed))
    }

    /// Takes the next choice; the taker must report when it is done.
    fn take(&self) -> Option<usize> {
        let mut places = self.places.lock().expect("no thread panics here");
        if self.is_void() {
            return None;
        }
        let place = places.pop()?;
        self.n_running.fetch_add(1, Ordering::AcqRel);
        Some(place)
    }

    fn is_done(&self) -> bool {
        let places = self.places.lock().expect("no thread panics here");
        (places.is_empty() || self.is_void()) && self.n_running.load(Ordering::Acquire) == 0
    }
}

/// Decides with several threads whether the existential player wins, starting from what one thread
/// has learned.
pub(crate) fn decide(
    first: &Searcher<'_>,
    stack_bytes: usize,
) -> Result<(Result<bool, Stopped>, Statistics), ModelError> {
    let pool = Pool::default();
    let mut searchers = Vec::new();
    for _ in 0..first.config.n_threads {
        let mut searcher = Searcher::new(first.schedule, first.config, Arc::clone(&first.memory))?;
        searcher.pool = Some(&pool);
        searcher.history.clone_from(&first.history);
        searchers.push(searcher);
    }
    let mut main = searchers.pop().expect("there is a thread");
    let mut statistics = Statistics::default();
    let verdict = std::thread::scope(|scope| {
        let helpers: Vec<_> = searchers
            .into_iter()
            .map(|mut searcher| {
                let builder = std::thread::Builder::new().stack_size(stack_bytes);
                let help = move || {
                    searcher.help_until(&|| false);
                    searcher.statistics
                };
                builder.spawn_scoped(scope, help).expect("a thread can be started")
            })
            .collect();
        let verdict = main.decide_all();
        pool.is_over.store(true, Ordering::Release);
        for helper in helpers {
            statistics.absorb(&helper.join().expect("a search does not panic"));
        }
        verdict
    });
    statistics.absorb(&main.statistics);
    let stopped = *pool.stopped.lock().expect("no thread panics here");
    Ok((stopped.map_or(verdict, Err), statistics))
}

impl Searcher<'_> {
    /// Whether to drop the current work, because it is decided elsewhere or everybody stops.
    #[inline]
    pub(super) fn is_void(&self) -> bool {
        self.pool.is_some_and(|pool| pool.is_over.load(Ordering::Relaxed))
            || self.offers.last().is_some_and(|offer| offer.is_void())
    }

    /// Whether to offer the choices of a level to other threads.
    #[inline]
    pub(super) fn should_offer(&self, level: usize) -> bool {
        let Some(pool) = self.pool else { return false };
        pool.n_waiting.load(Ordering::Relaxed) > 0
            && self.schedule.levels.len() - level >= self.config.sizes.min_shared_levels
            // Another thread's engine does not know the choices made so far in this scope, and
            // this thread's engines of earlier scopes would be lost when it helps elsewhere.
            && !(0..=self.schedule.levels[level].scope).any(|scope| self.engines.filters(scope))
    }

    /// Searches choices of a level together with idle threads, and returns whether one decides.
    pub(super) fn decide_together(
        &mut self,
        level: usize,
        mut places: Vec<usize>,
        wanted: bool,
    ) -> Result<bool, Stopped> {
        let pool = self.pool.expect("there is a pool when work is shared");
        places.reverse();
        let offer = Arc::new(Offer {
            values: self.values.clone(),
            level,
            wanted,
            places: Mutex::new(places),
            n_running: AtomicUsize::new(0),
            is_decided: AtomicBool::new(false),
            above: self.offers.clone(),
        });
        pool.offers.lock().expect("no thread panics here").push(Arc::clone(&offer));
        let mut failed = None;
        while let Some(place) = offer.take() {
            if let Err(stopped) = self.work_on(&offer, place) {
                failed = Some(stopped);
                break;
            }
        }
        pool.offers.lock().expect("no thread panics here").retain(|o| !Arc::ptr_eq(o, &offer));
        if failed.is_some() {
            offer.is_decided.store(true, Ordering::Release);
        }
        // Other threads may still work on it, so this one helps elsewhere meanwhile.
        let values = self.values.clone();
        let offers = std::mem::take(&mut self.offers);
        self.help_until(&|| offer.is_done());
        self.values = values;
        self.offers = offers;
        match failed {
            Some(stopped) => Err(stopped),
            None if self.is_void() => Err(Stopped(ludex_base::StopReason::Fault)),
            None => Ok(offer.is_decided.load(Ordering::Acquire)),
        }
    }

    /// Searches one choice of an offer. An error that only means that the offer is decided is
    /// dropped.
    fn work_on(&mut self, offer: &Arc<Offer>, place: usize) -> Result<(), Stopped> {
        self.values.copy_from_slice(&offer.values);
        self.offers.push(Arc::clone(offer));
        let verdict = self.try_place(offer.level, place);
        self.offers.pop();
        let result = match verdict {
            Ok(Some(verdict)) if verdict == offer.wanted => {
                offer.is_decided.store(true, Ordering::Release);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(_) if offer.is_decided.load(Ordering::Acquire) => Ok(()),
            Err(stopped) => Err(stopped),
        };
        offer.n_running.fetch_sub(1, Ordering::AcqRel);
        result
    }

    /// Returns the verdict after a choice, or `None` if it is illegal.
    fn try_place(&mut self, level: usize, place: usize) -> Result<Option<bool>, Stopped> {
        if !self.choose(level, place) {
            return Ok(None);
        }
        self.count_node(level)?;
        Ok(Some(match self.look_after(level) {
            Opened::Decided(verdict) => verdict,
            Opened::Open(key) => self.search_after(level, key)?,
        }))
    }

    /// Takes work from other threads until there is no more, or until `is_enough`.
    fn help_until(&mut self, is_enough: &dyn Fn() -> bool) {
        let Some(pool) = self.pool else { return };
        let mut is_waiting = false;
        loop {
            if is_enough() || pool.is_over.load(Ordering::Acquire) {
                break;
            }
            let taken = {
                let offers = pool.offers.lock().expect("no thread panics here");
                offers.iter().find_map(|offer| Some((Arc::clone(offer), offer.take()?)))
            };
            let Some((offer, place)) = taken else {
                if !is_waiting {
                    is_waiting = true;
                    pool.n_waiting.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(std::time::Duration::from_micros(50));
                continue;
            };
            if is_waiting {
                is_waiting = false;
                pool.n_waiting.fetch_sub(1, Ordering::Relaxed);
            }
            self.offers = offer.above.clone();
            let result = self.work_on(&offer, place);
            let is_cancelled = offer.is_void();
            self.offers.clear();
            if let Err(stopped) = result
                && !is_cancelled
                && !pool.is_over.load(Ordering::Acquire)
            {
                *pool.stopped.lock().expect("no thread panics here") = Some(stopped);
                pool.is_over.store(true, Ordering::Release);
            }
        }
        if is_waiting {
            pool.n_waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

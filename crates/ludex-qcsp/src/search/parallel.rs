//! Several threads that share one tree.
//!
//! When a thread waits for work, a busy one that has searched the first choice of a node
//! without a decision offers the others (*young brothers wait*). Whoever has nothing to do takes a choice from
//! the offer made nearest to the root. A choice that decides its node stops all who work below
//! it. The memory is shared.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ludex_csp::Value;

use super::decide::Opened;
use super::{Searcher, Stopped};
use crate::config::Statistics;
use crate::error::ModelError;

/// What the threads have in common.
#[derive(Default)]
pub(crate) struct Pool {
    offers: Mutex<Vec<Arc<Offer>>>,
    n_waiting: AtomicUsize,
    is_over: AtomicBool,
    /// Why a thread stopped before it was done.
    stopped: Mutex<Option<Stopped>>,
}

/// Choices of a node that others may search.
pub(crate) struct Offer {
    /// The values of all variables decided before.
    values: Vec<Value>,
    level: usize,
    wanted: bool,
    places: Mutex<Vec<usize>>,
    n_running: AtomicUsize,
    is_decided: AtomicBool,
    /// The offers that this one is part of.
    above: Vec<Arc<Offer>>,
}

impl Offer {
    fn is_void(&self) -> bool {
        self.is_decided.load(Ordering::Relaxed)
            || self.above.iter().any(|offer| offer.is_decided.load(Ordering::Relaxed))
    }

    /// Takes the next choice; whoever takes one gives notice when it is done.
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

/// Whether the existential player wins, found by several threads that know what one of them
/// has learnt before.
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
    /// Whether work is to be dropped: it is decided elsewhere, or everybody stops.
    #[inline]
    pub(super) fn is_void(&self) -> bool {
        self.pool.is_some_and(|pool| pool.is_over.load(Ordering::Relaxed))
            || self.offers.last().is_some_and(|offer| offer.is_void())
    }

    /// Whether choices of a level should be offered to others.
    #[inline]
    pub(super) fn should_offer(&self, level: usize) -> bool {
        let Some(pool) = self.pool else { return false };
        pool.n_waiting.load(Ordering::Relaxed) > 0
            && self.schedule.levels.len() - level >= self.config.sizes.min_shared_levels
            // Another thread's engine does not know the choices made so far in this scope, and
            // this thread's engines of earlier scopes would be lost when it helps elsewhere.
            && !(0..=self.schedule.levels[level].scope).any(|scope| self.engines.filters(scope))
    }

    /// Searches choices of a level together with whoever is free; says whether one decides.
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
        // Others may still work on it; there may be something else to do meanwhile.
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

    /// Searches one choice of an offer. An error that only says that the offer is decided
    /// is none.
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

    /// The verdict after a choice; `None` when it is not there.
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

    /// Takes work from others until there is no more to do, or `is_enough`.
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

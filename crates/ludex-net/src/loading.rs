//! Loads the game of a match within its clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use ludex_base::Source;
use ludex_pipeline::{EngineChoice, LoadOptions, LoadedGame, load_unless};

use crate::table::STACK_BYTES;

/// Counts the matches that are loading. A load notices only at its next check of the clock that its
/// match is over, so it may outlive it; without a bound, a peer that starts and aborts matches could
/// fill the machine with loads.
#[derive(Debug)]
pub(crate) struct Loaders {
    n_loading: AtomicUsize,
    max_loading: usize,
}

/// Loads that may go on after their matches were aborted.
const MAX_LEFT: usize = 2;
/// Time that a load may take beyond the clock: a game that loads late can still be played.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval at which a loading match checks whether it was stopped.
const POLL: Duration = Duration::from_millis(50);

impl Loaders {
    pub fn new(max_matches: usize) -> Arc<Self> {
        Arc::new(Self { n_loading: AtomicUsize::new(0), max_loading: max_matches + MAX_LEFT })
    }

    /// Whether one more match may load.
    pub fn has_room(&self) -> bool {
        self.n_loading.load(Ordering::SeqCst) < self.max_loading
    }

    /// Lets one more match load.
    pub fn enter(self: &Arc<Self>) -> Permit {
        self.n_loading.fetch_add(1, Ordering::SeqCst);
        Arc::new(Loading(Arc::clone(self)))
    }
}

/// A match counts as loading as long as any of its threads holds a permit.
pub(crate) type Permit = Arc<Loading>;

pub(crate) struct Loading(Arc<Loaders>);

impl Drop for Loading {
    fn drop(&mut self) {
        self.0.n_loading.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Loads the rules within half of the clock if possible, so that the player can prepare in the other
/// half.
///
/// All stages of a load share that half: grounding and compiling may take three quarters of it, and
/// the reasoner has the rest if they fail. If the load fails, or has not ended soon after, a second
/// thread builds a reasoner with a time of its own, and the engine that is ready first plays.
pub(crate) fn load_in_time(
    rules: &str,
    clock: Duration,
    memory: u64,
    permit: Permit,
    stopped: &AtomicBool,
) -> Result<LoadedGame, String> {
    let options = LoadOptions {
        engine: EngineChoice::Auto,
        time: (clock / 2).min(LoadOptions::default().time),
        memory,
    };
    let (sender, results) = mpsc::channel();
    let is_enough = Arc::new(AtomicBool::new(false));
    let begin = |engine: EngineChoice| {
        let options = LoadOptions { engine, ..options.clone() };
        begin(rules, options, Arc::clone(&permit), &is_enough, &sender)
    };
    let race = Race { results, stopped };
    let result = race.run(clock, &begin);
    is_enough.store(true, Ordering::Relaxed);
    result
}

type Loaded = Result<LoadedGame, String>;

/// Starts a load in its own thread.
fn begin(
    rules: &str,
    options: LoadOptions,
    permit: Permit,
    is_enough: &Arc<AtomicBool>,
    sender: &Sender<Loaded>,
) -> Result<(), String> {
    let (rules, is_enough, sender) = (rules.to_owned(), Arc::clone(is_enough), sender.clone());
    let work = move || {
        let load = || load_unless(Source::new("rules", rules), &options, &is_enough);
        let result = match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(loaded)) => Ok(loaded),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("loading panicked".into()),
        };
        drop(permit);
        // The receiver is gone if the other load was faster.
        let _ = sender.send(result);
    };
    let thread = std::thread::Builder::new().name("ludex-load".into());
    let spawned = thread.stack_size(STACK_BYTES).spawn(work);
    spawned.map(|_| ()).map_err(|error| error.to_string())
}

/// Waits for loads.
struct Race<'a> {
    results: Receiver<Loaded>,
    stopped: &'a AtomicBool,
}

const TOO_LONG: &str = "compiling takes longer than the clock allows";

impl Race<'_> {
    fn run(&self, clock: Duration, begin: &dyn Fn(EngineChoice) -> Result<(), String>) -> Loaded {
        let begun = Instant::now();
        begin(EngineChoice::Auto)?;
        let is_running = match self.next(begun + clock / 2 + clock / 10)? {
            Some(Ok(loaded)) => return Ok(loaded),
            Some(Err(_)) => false,
            None => true,
        };
        begin(EngineChoice::Reasoner)?;
        let last = begun + clock + PATIENCE;
        let result = match self.next(last)?.ok_or(TOO_LONG)? {
            // The remaining load may still succeed.
            Err(_) if is_running => self.next(last)?.ok_or(TOO_LONG)?,
            result => result,
        };
        result.map(|mut loaded| {
            if loaded.engine.name() == "reasoner" {
                loaded.fallback.get_or_insert_with(|| TOO_LONG.into());
            }
            loaded
        })
    }

    /// Returns the next result, `None` at the deadline, or an error if the match was stopped.
    fn next(&self, until: Instant) -> Result<Option<Loaded>, String> {
        while !self.stopped.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            match self.results.recv_timeout(left.min(POLL)) {
                Ok(result) => return Ok(Some(result)),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(_) => return Ok(None),
            }
        }
        Err("the match was aborted while loading".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules whose grounding never ends in practice: a million fluents and their pairs.
    const ENDLESS: &str = "(role me) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7)
        (init (at 0 0 0 0 0 0 0 0)) (legal me wait)
        (<= (legal me (go ?a ?b ?c ?e ?f ?g ?h ?i))
            (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))
        (<= (next (at ?a ?b ?c ?e ?f ?g ?h ?i)) (does me (go ?a ?b ?c ?e ?f ?g ?h ?i)))
        (<= terminal (true (at 7 7 7 7 7 7 7 7))) (goal me 100)";

    #[test]
    fn an_aborted_load_ends_soon() {
        let loaders = Loaders::new(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
        });
        let begun = Instant::now();
        let clock = Duration::from_secs(100);
        let error =
            load_in_time(ENDLESS, clock, 1 << 32, loaders.enter(), &stopped).expect_err("stopped");
        assert!(error.contains("aborted"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        stopper.join().expect("it only sleeps");
        let n_loading = || loaders.n_loading.load(Ordering::SeqCst);
        while n_loading() > 0 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(n_loading(), 0, "the loading thread ended as well");
    }

    #[test]
    fn the_number_of_loads_is_bounded() {
        let loaders = Loaders::new(1);
        let permits: Vec<Permit> = (0..3).map(|_| loaders.enter()).collect();
        let of_threads = permits.clone();
        assert!(!loaders.has_room());
        drop(permits);
        assert!(!loaders.has_room(), "a match counts until its last thread is gone");
        drop(of_threads);
        assert!(loaders.has_room());
    }
}

//! The game of a match, loaded within its clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use ludex_base::Source;
use ludex_pipeline::{EngineChoice, LoadOptions, LoadedGame, load_unless};

use crate::table::STACK_BYTES;

/// How many matches are loading. Compiling a large circuit can't be stopped, so that a load may
/// outlive its match; without a bound, a peer that starts and aborts matches could fill the machine
/// with them.
#[derive(Debug)]
pub(crate) struct Loaders {
    n_loading: AtomicUsize,
    max_loading: usize,
}

/// Loads that may go on for matches that nobody wants any more.
const MAX_LEFT: usize = 2;
/// How long a load may take beyond the clock: a game that is late can still be played.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a waiting match looks whether anybody wants it.
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

/// A match counts as loading as long as any of its threads has this.
pub(crate) type Permit = Arc<Loading>;

pub(crate) struct Loading(Arc<Loaders>);

impl Drop for Loading {
    fn drop(&mut self) {
        self.0.n_loading.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Loads the rules within half of the clock where that can be had.
///
/// Grounding keeps its bound, but compiling a large circuit has none: when it takes too long, a
/// reasoner is built beside it, and whichever is ready first plays.
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

/// Loads in a thread of its own.
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
            Err(_) => Err("loading broke down".into()),
        };
        drop(permit);
        // Whoever was faster is heard; the other one ends here.
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

const TOO_LONG: &str = "compiling takes too long for the clock";

impl Race<'_> {
    fn run(&self, clock: Duration, begin: &dyn Fn(EngineChoice) -> Result<(), String>) -> Loaded {
        let begun = Instant::now();
        begin(EngineChoice::Auto)?;
        if let Some(result) = self.next(begun + clock / 2 + clock / 10)? {
            return result;
        }
        begin(EngineChoice::Reasoner)?;
        let last = begun + clock + PATIENCE;
        let result = match self.next(last)?.ok_or(TOO_LONG)? {
            Ok(loaded) => Ok(loaded),
            // The one that is left may do better.
            Err(_) => self.next(last)?.ok_or(TOO_LONG)?,
        };
        result.map(|mut loaded| {
            if loaded.engine.name() == "reasoner" {
                loaded.fallback.get_or_insert_with(|| TOO_LONG.into());
            }
            loaded
        })
    }

    /// The next result, if there is one by then; an error if nobody wants one.
    fn next(&self, until: Instant) -> Result<Option<Loaded>, String> {
        while !self.stopped.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            match self.results.recv_timeout(left.min(POLL)) {
                Ok(result) => return Ok(Some(result)),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(_) => return Ok(None),
            }
        }
        Err("the match was broken off while it was loading".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grounding these rules takes longer than anybody waits: a million fluents and their pairs.
    const ENDLESS: &str = "(role me) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7)
        (init (at 0 0 0 0 0 0 0 0)) (legal me wait)
        (<= (legal me (go ?a ?b ?c ?e ?f ?g ?h ?i))
            (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))
        (<= (next (at ?a ?b ?c ?e ?f ?g ?h ?i)) (does me (go ?a ?b ?c ?e ?f ?g ?h ?i)))
        (<= terminal (true (at 7 7 7 7 7 7 7 7))) (goal me 100)";

    #[test]
    fn a_load_that_nobody_wants_ends_soon() {
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
        assert!(error.contains("broken off"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        stopper.join().expect("it only sleeps");
        let n_loading = || loaders.n_loading.load(Ordering::SeqCst);
        while n_loading() > 0 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(n_loading(), 0, "the thread left off as well");
    }

    #[test]
    fn there_is_room_for_so_many_loads() {
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

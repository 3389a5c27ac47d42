//! Loads the game of a match within its clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
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
    /// Holds circuits back.
    #[cfg(test)]
    pub latch: latch::Latch,
}

/// Loads that may go on after their matches were aborted.
const MAX_LEFT: usize = 2;
/// Time that a load may take beyond the clock: a game that loads late can still be played.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval at which a loading match checks whether it was stopped.
const POLL: Duration = Duration::from_millis(50);

impl Loaders {
    pub fn new(max_matches: usize) -> Arc<Self> {
        Arc::new(Self {
            n_loading: AtomicUsize::new(0),
            max_loading: max_matches + MAX_LEFT,
            #[cfg(test)]
            latch: latch::Latch::default(),
        })
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

/// Time that the circuit has alone before the reasoner is built beside it: most games are ready by then.
const HEAD_START: Duration = Duration::from_millis(250);

/// Loads the rules within half of the clock if possible, so that the player can prepare in the other
/// half.
///
/// A circuit is built from the first instant, and after a moment a reasoner beside it. If the circuit is
/// not ready in that half, the reasoner begins to play, and the circuit takes over when it is ready: see
/// [`Later`].
pub(crate) fn load_in_time(
    rules: &str,
    clock: Duration,
    memory: u64,
    permit: Permit,
    stopped: &AtomicBool,
) -> Result<(LoadedGame, Option<Later>), String> {
    let time = LoadOptions::default().time.max(clock / 2);
    let options = LoadOptions { engine: EngineChoice::Auto, time, memory };
    let (sender, results) = mpsc::channel();
    let is_enough = Arc::new(AtomicBool::new(false));
    let begin = |engine: EngineChoice| {
        let options = LoadOptions { engine, ..options.clone() };
        begin(rules, options, Arc::clone(&permit), &is_enough, &sender)
    };
    let mut race = Race { later: Later { results, is_enough: Arc::clone(&is_enough) }, stopped };
    let (loaded, is_running) = race.run(clock, &begin)?;
    let has_more = is_running && loaded.engine.name() == "reasoner";
    Ok((loaded, has_more.then_some(race.later)))
}

/// A circuit that is still being built while the reasoner plays. Dropping it stops the work.
pub(crate) struct Later {
    results: Receiver<Loaded>,
    is_enough: Arc<AtomicBool>,
}

impl Later {
    /// Returns the game with its circuit once that is ready, and whether to ask again.
    pub fn look(&self) -> (Option<LoadedGame>, bool) {
        match self.results.try_recv() {
            Ok(Ok(loaded)) if loaded.engine.name() != "reasoner" => (Some(loaded), false),
            // The load has ended without a circuit.
            Ok(_) | Err(TryRecvError::Disconnected) => (None, false),
            Err(TryRecvError::Empty) => (None, true),
        }
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.is_enough.store(true, Ordering::Relaxed);
    }
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
        #[cfg(test)]
        let loaders = Arc::clone(&permit.0);
        #[cfg(test)]
        if options.engine == EngineChoice::Auto {
            loaders.latch.wait();
        }
        drop(permit);
        // The receiver is gone if the other load was faster.
        let _ = sender.send(result);
        #[cfg(test)]
        loaders.latch.deliver();
    };
    let thread = std::thread::Builder::new().name("ludex-load".into());
    let spawned = thread.stack_size(STACK_BYTES).spawn(work);
    spawned.map(|_| ()).map_err(|error| error.to_string())
}

/// Waits for loads.
struct Race<'a> {
    later: Later,
    stopped: &'a AtomicBool,
}

const TOO_LONG: &str = "compiling takes longer than the clock allows";

impl Race<'_> {
    /// Returns the game to begin with, and whether the other load still runs.
    fn run(
        &mut self,
        clock: Duration,
        begin: &dyn Fn(EngineChoice) -> Result<(), String>,
    ) -> Result<(LoadedGame, bool), String> {
        let begun = Instant::now();
        begin(EngineChoice::Auto)?;
        let mut n_running = 1;
        match self.next(begun + HEAD_START.min(clock / 8))? {
            Some(Ok(loaded)) => return Ok((loaded, false)),
            // Its time is longer than that, so this is a mistake in the rules, or a limit of memory.
            Some(Err(_)) => n_running = 0,
            None => {}
        }
        begin(EngineChoice::Reasoner)?;
        n_running += 1;
        // A circuit that is ready in time is better than a reasoner that is ready earlier.
        let mut reasoner = None;
        let mut until = begun + clock / 2;
        let mut failed = TOO_LONG.to_owned();
        while n_running > 0 {
            match self.next(until)? {
                Some(Ok(loaded)) if loaded.engine.name() != "reasoner" => {
                    return Ok((loaded, false));
                }
                Some(Ok(loaded)) => {
                    n_running -= 1;
                    reasoner.get_or_insert(loaded);
                }
                Some(Err(error)) => {
                    n_running -= 1;
                    failed = error;
                }
                None if reasoner.is_some() || until > begun + clock => break,
                None => until = begun + clock + PATIENCE,
            }
            if reasoner.is_some() && until > begun + clock / 2 {
                break;
            }
        }
        let mut loaded: LoadedGame = reasoner.ok_or(failed)?;
        loaded.fallback.get_or_insert_with(|| TOO_LONG.into());
        Ok((loaded, n_running > 0))
    }

    /// Returns the next result, `None` at the deadline, or an error if the match was stopped.
    fn next(&self, until: Instant) -> Result<Option<Loaded>, String> {
        while !self.stopped.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            match self.later.results.recv_timeout(left.min(POLL)) {
                Ok(result) => return Ok(Some(result)),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(_) => return Ok(None),
            }
        }
        Err("the match was aborted while loading".into())
    }
}

/// Holds circuits back until a test wants them, so that no test depends on how long a load takes.
#[cfg(test)]
pub(crate) mod latch {
    use std::sync::{Condvar, Mutex};

    #[derive(Debug, Default)]
    pub(crate) struct Latch {
        /// Whether circuits are held back, and how many loads have handed over their result.
        state: Mutex<(bool, usize)>,
        has_changed: Condvar,
    }

    impl Latch {
        /// Holds circuits back from now on, or lets them go.
        pub fn hold(&self, is_held: bool) {
            self.state.lock().expect("nobody panics").0 = is_held;
            self.has_changed.notify_all();
        }

        /// Waits until circuits are not held back.
        pub fn wait(&self) {
            let state = self.state.lock().expect("nobody panics");
            drop(self.has_changed.wait_while(state, |it| it.0).expect("nobody panics"));
        }

        /// Counts a result that was handed over.
        pub fn deliver(&self) {
            self.state.lock().expect("nobody panics").1 += 1;
            self.has_changed.notify_all();
        }

        /// Waits until so many results were handed over.
        pub fn wait_for(&self, n_results: usize) {
            let state = self.state.lock().expect("nobody panics");
            drop(self.has_changed.wait_while(state, |it| it.1 < n_results).expect("nobody panics"));
        }
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
        let Err(error) = load_in_time(ENDLESS, clock, 1 << 32, loaders.enter(), &stopped) else {
            unreachable!("it was stopped")
        };
        assert!(error.contains("aborted"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        stopper.join().expect("it only sleeps");
        let n_loading = || loaders.n_loading.load(Ordering::SeqCst);
        while n_loading() > 0 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(n_loading(), 0, "the loading thread ended as well");
    }

    /// Rules that the reasoner evaluates at once, and that grounding takes minutes for: the goal holds if
    /// twelve values can be arranged in a row, in any of 479,001,600 ways.
    fn many_ways() -> String {
        let all = || (1..=12).flat_map(|a| (1..a).map(move |b| format!("(distinct ?{a} ?{b})")));
        let values: String = (1..=12).map(|a| format!("(d {a})")).collect();
        let conditions: String = (1..=12).map(|a| format!("(d ?{a})")).chain(all()).collect();
        format!(
            "(role me) {values} (init a) (legal me wait) (<= (next b) (true a)) (<= (next c) (true b))
            (<= terminal (true c)) (<= (goal me 100) {conditions})"
        )
    }

    #[test]
    fn the_reasoner_begins_where_the_circuit_does_not_end() {
        let loaders = Loaders::new(1);
        let stopped = AtomicBool::new(false);
        let clock = Duration::from_millis(1_200);
        let (loaded, later) = load_in_time(&many_ways(), clock, 1 << 32, loaders.enter(), &stopped)
            .expect("the reasoner plays it");
        assert_eq!(loaded.engine.name(), "reasoner");
        assert!(loaded.fallback.is_some());
        let later = later.expect("the circuit is still being built");
        assert!(matches!(later.look(), (None, true)));
        drop(later);
        let begun = Instant::now();
        while loaders.n_loading.load(Ordering::SeqCst) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the load stops with its match");
            std::thread::sleep(Duration::from_millis(10));
        }
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

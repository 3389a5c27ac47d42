//! The way to the thread of a match.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{io, thread};

use ludex_base::panics::panic_message;
use ludex_pipeline::with_game;
use tokio::sync::{oneshot, watch};

use crate::play::{Command, Play, Reply, Shared, Views};
use crate::sheet;
use crate::store::{MatchPlan, StoredStep};
use crate::view::Status;

/// A match whose thread runs.
#[derive(Clone)]
pub(crate) struct Room {
    commands: mpsc::Sender<Command>,
    views: watch::Receiver<Arc<Views>>,
    /// The secret key of each seat.
    keys: Arc<[String]>,
    /// When the thread started, so that views of different threads are told apart.
    stamp: u128,
    /// Stops loading when the last handle is gone.
    _stop: Arc<StopOnDrop>,
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Room {
    /// Starts the thread of a match.
    pub(crate) fn open(
        stored: (MatchPlan, Vec<StoredStep>),
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let loading = Views::without_board(&stored.0, Status::Loading, "");
        let (sender, views) = watch::channel(Arc::new(loading));
        let (commands, receiver) = mpsc::channel();
        let keys = stored.0.keys.clone().into();
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::new(StopOnDrop(Arc::clone(&stopped)));
        let work = move || run(stored, &shared, &receiver, &sender, &stopped);
        thread::Builder::new().name("match".into()).spawn(work)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self { commands, views, keys, stamp: now.as_nanos(), _stop: stop })
    }

    /// Whether the thread still runs.
    pub(crate) fn is_open(&self) -> bool {
        self.views.has_changed().is_ok()
    }

    /// Whether somebody watches.
    pub(crate) fn is_watched(&self) -> bool {
        // One handle is that of the list of rooms.
        Arc::strong_count(&self._stop) > 1
    }

    /// Tells this thread of the match apart from earlier ones.
    pub(crate) fn stamp(&self) -> u128 {
        self.stamp
    }

    /// The role whose key this is.
    pub(crate) fn role_of(&self, key: &str) -> Option<usize> {
        self.keys.iter().position(|it| !key.is_empty() && it == key)
    }

    /// Follows the match.
    pub(crate) fn views(&self) -> watch::Receiver<Arc<Views>> {
        self.views.clone()
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, String> {
        let (reply, answer) = oneshot::channel();
        let closed = || "the match has just closed; try again".to_string();
        self.commands.send(command(reply)).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

/// The work of the thread: loads the game and plays the match.
fn run(
    stored: (MatchPlan, Vec<StoredStep>),
    shared: &Shared,
    commands: &mpsc::Receiver<Command>,
    views: &watch::Sender<Arc<Views>>,
    stopped: &Arc<AtomicBool>,
) {
    let plan = stored.0.clone();
    let play = || -> Result<(), String> {
        let load = || sheet::load(&plan.title, &plan.rules, stopped);
        let loaded = shared.loaders.run(load).map_err(|error| error.to_string())?;
        with_game!(&loaded.engine, |game| {
            Play::new(game, &loaded, stored, shared, views).run(commands)
        });
        Ok(())
    };
    let failure = match catch_unwind(AssertUnwindSafe(play)) {
        Ok(Ok(())) => return,
        Ok(Err(message)) => message,
        Err(panic) => format!("a mistake of Ludex ended this match: {}", panic_message(&*panic)),
    };
    views.send_replace(Arc::new(Views::without_board(&plan, Status::Failed, &failure)));
    // Whoever looks at the match shall see why it failed.
    while views.receiver_count() > 1 {
        let waited = commands.recv_timeout(Duration::from_secs(10));
        if matches!(waited, Err(mpsc::RecvTimeoutError::Disconnected)) {
            return;
        }
    }
}

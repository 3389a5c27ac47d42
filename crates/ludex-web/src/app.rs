//! All matches of a server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_player::{PlayerSpec, memory_of_each};
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::play::{Shared, Slots};
use crate::room::Room;
use crate::sheet::{self, MAX_SHEET, SheetView};
use crate::store::{MatchPlan, SeatPlan, Store, StoreError};
use crate::study::{self, StudyView};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct AppConfig {
    /// The secret that visitors need; `None` if only this machine can connect.
    pub token: Option<String>,
    /// Searches that may run at a time.
    pub n_searches: usize,
    /// New matches that may begin at once.
    pub new_matches: f64,
    /// How many more may begin each second.
    pub new_matches_per_second: f64,
}

impl AppConfig {
    /// A server for this machine alone.
    pub fn local() -> Self {
        Self { token: None, n_searches: 2, new_matches: 100.0, new_matches_per_second: 2.0 }
    }
}

/// A server without its socket.
pub struct App {
    pub(crate) config: AppConfig,
    shared: Arc<Shared>,
    rooms: Mutex<BTreeMap<String, Room>>,
    /// What was read of the built-in games.
    sheets: Mutex<BTreeMap<&'static str, Arc<SheetView>>>,
    /// Rulesheets that may be read at a time.
    readers: Semaphore,
    /// Pages that may listen for events at a time.
    pub(crate) listeners: Arc<Semaphore>,
    /// New matches that are still allowed, and since when.
    allowance: Mutex<(f64, Instant)>,
}

/// Matches whose threads may run at a time.
pub const MAX_ROOMS: usize = 64;
/// Games that may be loaded at a time.
const MAX_LOADERS: usize = 2;
/// Pages that may listen for events at a time.
pub const MAX_LISTENERS: usize = 1_000;
/// Matches that the database may hold.
const MAX_MATCHES: usize = 100_000;
/// Most bytes for the trees of one player.
const PLAYER_MEMORY: usize = 64 << 20;
/// The longest time of players for a move, in milliseconds.
const MAX_MOVE_TIME: u64 = 60_000;
/// The longest title, in characters.
const MAX_TITLE: usize = 80;

/// A request for a new match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMatch {
    /// The name of a built-in game.
    pub game: Option<String>,
    /// The rules of any other game.
    pub rules: Option<String>,
    /// The title of that game.
    pub title: Option<String>,
    /// Who sits where, in the order of the roles.
    pub seats: Vec<SeatPlan>,
    /// Thinking time of players, in milliseconds.
    pub move_time: u64,
}

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such thing.
    Missing(String),
    /// The request is wrong.
    Wrong(String),
    /// Too much is asked at once.
    Busy(String),
    /// The server failed.
    Failed(String),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Refusal::Failed(error.to_string())
    }
}

impl App {
    /// Sets up a server on a database.
    pub fn new(store: Store, config: AppConfig) -> Self {
        let shared = Shared {
            store,
            slots: Slots::new(config.n_searches.max(1)),
            loaders: Slots::new(MAX_LOADERS),
            player_memory: memory_of_each(2 * MAX_ROOMS, PLAYER_MEMORY),
        };
        Self {
            shared: Arc::new(shared),
            rooms: Mutex::default(),
            sheets: Mutex::default(),
            readers: Semaphore::new(2),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
            allowance: Mutex::new((config.new_matches, Instant::now())),
            config,
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Returns the room of a match, and opens it if its thread has ended.
    pub(crate) fn room(&self, id: &str) -> Result<Room, Refusal> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(id).filter(|room| room.is_open()) {
            return Ok(room.clone());
        }
        let missing = || Refusal::Missing(format!("there is no match `{id}`"));
        let stored = self.store().find_match(id)?.ok_or_else(missing)?;
        rooms.retain(|_, room| room.is_open());
        if rooms.len() >= MAX_ROOMS {
            // Its thread ends with its last handle, and the match stays in the database.
            let unwatched = rooms.iter().find(|(_, room)| !room.is_watched());
            let unwatched = unwatched.map(|(id, _)| id.clone());
            let full = || Refusal::Busy(format!("{MAX_ROOMS} matches are being watched; wait"));
            rooms.remove(&unwatched.ok_or_else(full)?);
        }
        let room = Room::open(stored, Arc::clone(&self.shared))
            .map_err(|error| Refusal::Failed(format!("the system has no thread left: {error}")))?;
        rooms.insert(id.into(), room.clone());
        Ok(room)
    }

    /// Starts a match; returns its plan.
    pub(crate) async fn start(self: &Arc<Self>, wanted: NewMatch) -> Result<MatchPlan, Refusal> {
        let (title, rules, sheet) = match (&wanted.game, &wanted.rules) {
            (Some(name), None) => {
                let game = find_game(name)?;
                (game.about().title, game.rules.to_string(), self.game_sheet(game.name).await?)
            }
            (None, Some(rules)) => {
                let title = wanted.title.clone().unwrap_or_default();
                let title: String = title.chars().take(MAX_TITLE).collect();
                let title = if title.trim().is_empty() { "pasted rules".into() } else { title };
                (title, rules.clone(), Arc::new(self.read(rules.clone()).await?))
            }
            _ => return Err(Refusal::Wrong("give either `game` or `rules`".into())),
        };
        if !sheet.is_playable {
            let message = sheet.message.clone().or_else(|| {
                let first = sheet.diagnostics.iter().find(|it| it.severity == "error")?;
                Some(format!("line {}: {}", first.line, first.message))
            });
            return Err(Refusal::Wrong(
                message.unwrap_or_else(|| "the rules have mistakes".into()),
            ));
        }
        if wanted.seats.len() != sheet.roles.len() {
            let (n_seats, n_roles) = (wanted.seats.len(), sheet.roles.len());
            return Err(Refusal::Wrong(format!("{n_seats} seats for {n_roles} roles")));
        }
        for seat in &wanted.seats {
            if let SeatPlan::Player { player } = seat {
                PlayerSpec::parse(player).map_err(|error| Refusal::Wrong(error.to_string()))?;
            }
        }
        self.allow_one()?;
        if self.store().n_matches()? >= MAX_MATCHES {
            let remedy = "start the server with another --database";
            return Err(Refusal::Busy(format!(
                "the database holds {MAX_MATCHES} matches; {remedy}"
            )));
        }
        let secret = |n_bytes| self.store().secret(n_bytes);
        let keys = wanted.seats.iter().map(|_| secret(16)).collect::<Result<_, _>>()?;
        let seed = u64::from_str_radix(&secret(8)?, 16).expect("sixteen hexadecimal digits");
        let plan = MatchPlan {
            id: secret(8)?,
            title,
            rules,
            seats: wanted.seats,
            keys,
            move_time: wanted.move_time.clamp(10, MAX_MOVE_TIME),
            seed,
        };
        // Waiting for the disk must not keep other requests waiting.
        let (shared, added) = (Arc::clone(&self.shared), plan.clone());
        let adding = tokio::task::spawn_blocking(move || shared.store.add_match(&added));
        adding.await.map_err(|error| Refusal::Failed(format!("a mistake of Ludex: {error}")))??;
        Ok(plan)
    }

    fn allow_one(&self) -> Result<(), Refusal> {
        let mut allowance = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        let earned = allowance.1.elapsed().as_secs_f64() * self.config.new_matches_per_second;
        *allowance = ((allowance.0 + earned).min(self.config.new_matches), Instant::now());
        if allowance.0 < 1.0 {
            return Err(Refusal::Busy("too many new matches; wait a second".into()));
        }
        allowance.0 -= 1.0;
        Ok(())
    }

    /// Reads a rulesheet on a thread for that; it stops when nobody waits for it any more.
    pub(crate) async fn read(&self, rules: String) -> Result<SheetView, Refusal> {
        check_size(&rules)?;
        self.work(move |stopped| sheet::read(&rules, stopped)).await
    }

    /// Plays random games on a thread for that.
    pub(crate) async fn study(&self, rules: String) -> Result<StudyView, Refusal> {
        check_size(&rules)?;
        self.work(move |stopped| study::study(&rules, stopped)).await?.map_err(Refusal::Wrong)
    }

    /// Returns what was read of a built-in game.
    pub(crate) async fn game_sheet(&self, name: &str) -> Result<Arc<SheetView>, Refusal> {
        let game = find_game(name)?;
        let lock = || self.sheets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sheet) = lock().get(game.name) {
            return Ok(Arc::clone(sheet));
        }
        let sheet = Arc::new(self.read(game.rules.to_string()).await?);
        lock().insert(game.name, Arc::clone(&sheet));
        Ok(sheet)
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let closed = |_| Refusal::Failed("the server is closing".into());
        let _permit = self.readers.acquire().await.map_err(closed)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let _guard = SetOnDrop(Arc::clone(&stopped));
        let done = tokio::task::spawn_blocking(move || work(&stopped)).await;
        done.map_err(|error| Refusal::Failed(format!("a mistake of Ludex: {error}")))
    }
}

/// Sets a flag when a request is dropped.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn check_size(rules: &str) -> Result<(), Refusal> {
    if rules.len() > MAX_SHEET {
        let n_bytes = rules.len();
        let message = format!("the rulesheet has {n_bytes} bytes; the page takes {MAX_SHEET}");
        return Err(Refusal::Wrong(message));
    }
    Ok(())
}

/// Finds a built-in game.
pub(crate) fn find_game(name: &str) -> Result<&'static ludex_library::LibraryGame, Refusal> {
    ludex_library::find(name).ok_or_else(|| Refusal::Missing(format!("there is no game `{name}`")))
}

//! All matches of a server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_player::{PlayerSpec, memory_of_each};
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::analysis::{self, AnalysisView};
use crate::models::{self, ModelView};
use crate::play::{Shared, Slots};
use crate::room::Room;
use crate::sheet::{self, MAX_SHEET, SheetView};
use crate::store::{AddedGame, MatchPlan, SeatPlan, Store, StoreError};
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
    /// What was read of the games of the library.
    sheets: Mutex<BTreeMap<String, Arc<SheetView>>>,
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
/// The shortest and the longest time of people for a move, in milliseconds.
const PERSON_TIMES: (u64, u64) = (1_000, 24 * 3_600_000);
/// Games that may be added to the library of the page.
const MAX_GAMES: usize = 1_000;
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
    /// Time of people for a move, in milliseconds; as long as they like if it is missing.
    #[serde(default)]
    pub person_time: Option<u64>,
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
                let game = self.find_game(name)?;
                (game.title, game.rules, self.game_sheet(name).await?)
            }
            (None, Some(rules)) => {
                let title = title_of(wanted.title.as_deref().unwrap_or_default());
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
        self.check_seats(&wanted.seats, sheet.roles.len())?;
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
            person_time: wanted.person_time.map(|time| time.clamp(PERSON_TIMES.0, PERSON_TIMES.1)),
            resigned: None,
            seed,
        };
        let added = plan.clone();
        self.on_disk(move |store| store.add_match(&added)).await?;
        Ok(plan)
    }

    /// Whether these seats are for so many roles, and everybody can be had.
    fn check_seats(&self, seats: &[SeatPlan], n_roles: usize) -> Result<(), Refusal> {
        let wrong = |message: String| Err(Refusal::Wrong(message));
        if seats.len() != n_roles {
            return wrong(format!("{} seats for {n_roles} roles", seats.len()));
        }
        let is_elsewhere = |seat: &SeatPlan| matches!(seat, SeatPlan::Elsewhere { .. });
        if seats.iter().any(is_elsewhere) && !seats.iter().all(is_elsewhere) {
            return wrong("a match that another program hosts has all its seats elsewhere".into());
        }
        for seat in seats {
            match seat {
                SeatPlan::Person => {}
                SeatPlan::Player { player } => {
                    PlayerSpec::parse(player).map_err(|error| Refusal::Wrong(error.to_string()))?;
                }
                SeatPlan::Remote { .. } if self.config.token.is_some() => {
                    return wrong(
                        "programs elsewhere can play only on a server for this machine alone, \
                         because visitors could make it call others; start it without --listen"
                            .into(),
                    );
                }
                SeatPlan::Remote { url: text } | SeatPlan::Elsewhere { name: text } => {
                    if text.is_empty() || text.len() > 4 * MAX_TITLE {
                        return wrong("an address or a name is empty or too long".into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds a game of the library: a built-in one, or one that was added.
    pub(crate) fn find_game(&self, name: &str) -> Result<AddedGame, Refusal> {
        if let Some(game) = ludex_library::find(name) {
            let title = game.about().title;
            return Ok(AddedGame { name: game.name.into(), title, rules: game.rules.into() });
        }
        let missing = || Refusal::Missing(format!("there is no game `{name}`"));
        self.store().find_game(name)?.ok_or_else(missing)
    }

    /// Adds a game to the library; returns its name.
    pub(crate) async fn add_game(&self, title: &str, rules: String) -> Result<String, Refusal> {
        let sheet = self.read(rules.clone()).await?;
        if !sheet.is_playable {
            return Err(Refusal::Wrong("the rules have mistakes; repair them first".into()));
        }
        if self.store().games()?.len() >= MAX_GAMES {
            return Err(Refusal::Busy(format!("{MAX_GAMES} games were added; remove some")));
        }
        let title = title_of(title);
        let name = name_of(&title);
        if ludex_library::find(&name).is_some() {
            return Err(Refusal::Wrong(format!(
                "there is a built-in game `{name}`; choose another title"
            )));
        }
        let game = AddedGame { name: name.clone(), title, rules };
        self.on_disk(move |store| store.add_game(&game)).await?;
        self.forget_sheet(&name);
        Ok(name)
    }

    /// Removes a game that was added.
    pub(crate) async fn remove_game(&self, name: &str) -> Result<(), Refusal> {
        if ludex_library::find(name).is_some() {
            return Err(Refusal::Wrong("built-in games stay".into()));
        }
        let game = self.find_game(name)?;
        self.forget_sheet(name);
        self.on_disk(move |store| store.remove_game(&game.name)).await
    }

    /// Writes to the database. Waiting for the disk must not keep other requests waiting.
    async fn on_disk(
        &self,
        write: impl FnOnce(&Store) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), Refusal> {
        let shared = Arc::clone(&self.shared);
        let writing = tokio::task::spawn_blocking(move || write(&shared.store));
        Ok(writing
            .await
            .map_err(|error| Refusal::Failed(format!("a mistake of Ludex: {error}")))??)
    }

    fn forget_sheet(&self, name: &str) {
        self.sheets.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
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

    /// Looks into the rules on a thread for that.
    pub(crate) async fn analyze(&self, rules: String) -> Result<AnalysisView, Refusal> {
        check_size(&rules)?;
        self.work(move |stopped| analysis::analyze(&rules, stopped)).await?.map_err(Refusal::Wrong)
    }

    /// Returns the same game under other names.
    pub(crate) async fn scramble(&self, rules: String, seed: u64) -> Result<String, Refusal> {
        check_size(&rules)?;
        self.work(move |_| sheet::scramble(&rules, seed)).await?.map_err(Refusal::Wrong)
    }

    /// Solves a constraint model on a thread for that.
    pub(crate) async fn solve_model(
        &self,
        text: String,
        data: String,
    ) -> Result<ModelView, Refusal> {
        check_size(&text)?;
        check_size(&data)?;
        self.work(move |stopped| models::solve(&text, &data, stopped)).await
    }

    /// Returns what was read of a game of the library.
    pub(crate) async fn game_sheet(&self, name: &str) -> Result<Arc<SheetView>, Refusal> {
        let lock = || self.sheets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sheet) = lock().get(name) {
            return Ok(Arc::clone(sheet));
        }
        let game = self.find_game(name)?;
        let sheet = Arc::new(self.read(game.rules).await?);
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
        let message = format!("the text has {n_bytes} bytes; the page takes {MAX_SHEET}");
        return Err(Refusal::Wrong(message));
    }
    Ok(())
}

/// A title of bounded length.
fn title_of(text: &str) -> String {
    let title: String = text.trim().chars().take(MAX_TITLE).collect();
    if title.is_empty() { "pasted rules".into() } else { title }
}

/// The name of a game in links, from its title: small letters, digits and dashes.
fn name_of(title: &str) -> String {
    let letters = title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let name: String = letters.collect::<String>().to_ascii_lowercase();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "game".into() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_titles() {
        assert_eq!(name_of("My  Game: 3x3!"), "my-game-3x3");
        assert_eq!(name_of("  "), "game");
        assert_eq!(name_of("Spiel ä"), "spiel");
        assert_eq!(title_of(" "), "pasted rules");
        assert_eq!(title_of(&"x".repeat(500)).len(), MAX_TITLE);
    }
}

//! Matches in an SQLite database.
//!
//! One thread writes. It commits all changes that wait for it together, because a commit waits for the
//! disk: with fifty matches at a time, fifty commits in a row would keep the last one waiting for
//! all others. Reading has a connection of its own, so that it never waits for the disk.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{iter, thread};

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// The database of a server.
pub struct Store {
    reader: Arc<Mutex<Connection>>,
    writes: Sender<Write>,
}

/// A change that waits to be written.
struct Write {
    change: Change,
    reply: Sender<Result<(), StoreError>>,
}

type Change = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

/// Most changes in one commit.
const MAX_BATCH: usize = 256;

/// Why the database does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite failed.
    #[error("the database failed: {0}; check the disk, or name another file with --database")]
    Database(#[from] rusqlite::Error),
    /// A newer version of Ludex wrote the database.
    #[error(
        "the database has version {found}, and this program knows {known}; use a newer Ludex, or \
         name another file with --database"
    )]
    Newer {
        /// Its version.
        found: usize,
        /// The newest version that this program knows.
        known: usize,
    },
    /// A row holds something that this program did not write.
    #[error("the database has a damaged row in `{table}`: {message}")]
    Damaged {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The thread that writes could not start, or has ended.
    #[error("the thread that writes the database does not run; start the server again")]
    NoWriter,
}

/// Who sits on a seat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SeatPlan {
    /// A person with the key of the seat.
    Person,
    /// A player of this program, with its options as `ludex players` explains them.
    Player {
        /// The player.
        player: String,
    },
    /// A program elsewhere that plays by the protocol of general game playing.
    Remote {
        /// Its address, `http://HOST:PORT`.
        url: String,
    },
    /// Somebody in a match that another program hosts and tells the page about.
    Elsewhere {
        /// Who it is.
        name: String,
    },
}

/// What a match begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchPlan {
    /// Its name in links.
    pub id: String,
    /// The title of its game.
    pub title: String,
    /// The rules.
    pub rules: String,
    /// The seats, in the order of the roles.
    pub seats: Vec<SeatPlan>,
    /// The secret key of each seat.
    pub keys: Vec<String>,
    /// Thinking time of players, in milliseconds.
    pub move_time: u64,
    /// Time of people for a move, in milliseconds; `None` lets them think as long as they like.
    pub person_time: Option<u64>,
    /// The role that gave up, if one has.
    pub resigned: Option<usize>,
    /// The seed of random moves and players.
    pub seed: u64,
}

/// A finished step of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StoredStep {
    /// The move of each role, as the rulesheet writes it.
    pub moves: Vec<String>,
    /// What the player of each role expected.
    pub thoughts: Vec<Option<StoredThought>>,
}

/// What a player reported about its move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StoredThought {
    /// The search.
    pub search: String,
    /// The goal it expects, 0 to 100.
    pub goal: Option<f64>,
    /// Whether that goal is proved.
    pub is_proven: bool,
    /// Playouts.
    pub n_playouts: u64,
    /// Depth of the search, in steps.
    pub depth: u32,
    /// The line of play it expects: joint moves.
    pub line: Vec<Vec<String>>,
}

/// A match in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MatchRow {
    /// Its name in links.
    pub id: String,
    /// The title of its game.
    pub title: String,
    /// Who plays, in the order of the roles.
    pub seats: Vec<SeatPlan>,
    /// Steps so far.
    pub n_steps: usize,
    /// The goals of the roles, if it is over.
    pub goals: Option<Vec<u8>>,
    /// The role that gave up, if one has.
    pub resigned: Option<usize>,
    /// When it began, in seconds since 1970.
    pub began: i64,
}

/// A game that a visitor added to the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddedGame {
    /// Its name in links.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its rules.
    pub rules: String,
}

/// The changes that make the database what it is, oldest first. Only append to this list.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE matches (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        rules TEXT NOT NULL,
        seats TEXT NOT NULL,
        keys TEXT NOT NULL,
        move_time INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        goals TEXT,
        began INTEGER NOT NULL DEFAULT (unixepoch())
    ) STRICT;
    CREATE TABLE steps (
        match TEXT NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        step TEXT NOT NULL,
        PRIMARY KEY (match, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX matches_by_time ON matches (began);
",
    "
    ALTER TABLE matches ADD COLUMN person_time INTEGER;
    ALTER TABLE matches ADD COLUMN resigned INTEGER;
    CREATE TABLE games (
        name TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        rules TEXT NOT NULL,
        added INTEGER NOT NULL DEFAULT (unixepoch())
    ) STRICT;
",
];

impl Store {
    /// Opens the database in a file, and creates it if there is none.
    ///
    /// # Errors
    /// When the file is no database, cannot be written, or is too new.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let writer = prepare(Connection::open(path)?)?;
        let reader = Connection::open(path)?;
        reader.busy_timeout(BUSY_TIME)?;
        Self::start(Arc::new(Mutex::new(writer)), Arc::new(Mutex::new(reader)))
    }

    /// Creates a database in memory.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        // A database in memory has one connection.
        let connection = Arc::new(Mutex::new(prepare(Connection::open_in_memory()?)?));
        Self::start(Arc::clone(&connection), connection)
    }

    fn start(
        writer: Arc<Mutex<Connection>>,
        reader: Arc<Mutex<Connection>>,
    ) -> Result<Self, StoreError> {
        let (writes, receiver) = mpsc::channel();
        let work = move || write_all(&writer, &receiver);
        let started = thread::Builder::new().name("database".into()).spawn(work);
        started.map_err(|_| StoreError::NoWriter)?;
        Ok(Self { reader, writes })
    }

    /// Returns a random name that nobody can guess, of this many bytes in hexadecimal digits.
    ///
    /// # Errors
    /// When the database fails.
    pub fn secret(&self, n_bytes: usize) -> Result<String, StoreError> {
        let sql = "SELECT lower(hex(randomblob(?1)))";
        Ok(self.lock().query_row(sql, [n_bytes], |row| row.get(0))?)
    }

    /// Adds a match.
    ///
    /// # Errors
    /// When the database fails.
    pub fn add_match(&self, plan: &MatchPlan) -> Result<(), StoreError> {
        let (seats, keys, plan) = (to_json(&plan.seats), to_json(&plan.keys), plan.clone());
        self.write(move |connection| {
            let sql = "INSERT INTO matches
                         (id, title, rules, seats, keys, move_time, seed, person_time, resigned)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let MatchPlan { id, title, rules, move_time, seed, person_time, resigned, .. } = plan;
            let seed = seed as i64;
            let row =
                params![id, title, rules, seats, keys, move_time, seed, person_time, resigned];
            connection.execute(sql, row).map(drop)
        })
    }

    /// Finds a match and its steps.
    ///
    /// # Errors
    /// When the database fails or is damaged.
    pub fn find_match(&self, id: &str) -> Result<Option<(MatchPlan, Vec<StoredStep>)>, StoreError> {
        let connection = self.lock();
        let sql = "SELECT title, rules, move_time, seed, person_time, resigned, seats, keys
                   FROM matches WHERE id = ?1";
        let row = connection.query_row(sql, [id], |row| {
            let plan = MatchPlan {
                id: id.into(),
                title: row.get(0)?,
                rules: row.get(1)?,
                move_time: row.get(2)?,
                seed: row.get::<_, i64>(3)? as u64,
                person_time: row.get(4)?,
                resigned: row.get(5)?,
                seats: Vec::new(),
                keys: Vec::new(),
            };
            Ok((plan, row.get::<_, String>(6)?, row.get::<_, String>(7)?))
        });
        let Some((mut plan, seats, keys)) = row.optional()? else { return Ok(None) };
        plan.seats = from_json("matches", &seats)?;
        plan.keys = from_json("matches", &keys)?;
        let mut query =
            connection.prepare("SELECT step FROM steps WHERE match = ?1 ORDER BY number")?;
        let texts = query.query_map([id], |row| row.get::<_, String>(0))?;
        let mut steps = Vec::new();
        for text in texts {
            steps.push(from_json("steps", &text?)?);
        }
        Ok(Some((plan, steps)))
    }

    /// Returns the latest matches whose title or seats have these words; all have no words.
    ///
    /// # Errors
    /// When the database fails or is damaged.
    pub fn latest(&self, words: &str, n_matches: usize) -> Result<Vec<MatchRow>, StoreError> {
        let connection = self.lock();
        let mut query = connection.prepare(
            "SELECT id, title, (SELECT count(*) FROM steps WHERE match = id), goals, began, seats,
                    resigned
             FROM matches WHERE NOT EXISTS (
                SELECT 1 FROM json_each(?1) WHERE instr(lower(title || ' ' || seats), value) = 0)
             ORDER BY began DESC, rowid DESC LIMIT ?2",
        )?;
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let rows = query.query_map(params![to_json(&words), n_matches], |row| {
            let found = MatchRow {
                id: row.get(0)?,
                title: row.get(1)?,
                n_steps: row.get(2)?,
                began: row.get(4)?,
                resigned: row.get(6)?,
                goals: None,
                seats: Vec::new(),
            };
            Ok((found, row.get::<_, Option<String>>(3)?, row.get::<_, String>(5)?))
        })?;
        let mut matches = Vec::new();
        for row in rows {
            let (mut found, goals, seats) = row?;
            found.goals = goals.map(|goals| from_json("matches", &goals)).transpose()?;
            found.seats = from_json("matches", &seats)?;
            matches.push(found);
        }
        Ok(matches)
    }

    /// Returns the number of matches.
    ///
    /// # Errors
    /// When the database fails.
    pub fn n_matches(&self) -> Result<usize, StoreError> {
        Ok(self.lock().query_row("SELECT count(*) FROM matches", [], |row| row.get(0))?)
    }

    /// Adds a step to a match, with the goals of the roles if it is the last one. It is on disk when
    /// this returns.
    ///
    /// # Errors
    /// When the database fails, or the match has a step of this number.
    pub fn add_step(
        &self,
        id: &str,
        number: usize,
        step: &StoredStep,
        goals: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let (id, step) = (id.to_string(), to_json(step));
        let goals = goals.map(|goals| to_json(&goals));
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO steps (match, number, step) VALUES (?1, ?2, ?3)",
                params![id, number, step],
            )?;
            let sql = "UPDATE matches SET goals = ?2 WHERE id = ?1";
            connection.execute(sql, params![id, goals]).map(drop)
        })
    }

    /// Takes back all steps of a match from this number on.
    ///
    /// # Errors
    /// When the database fails.
    pub fn take_back(&self, id: &str, number: usize) -> Result<(), StoreError> {
        let id = id.to_string();
        self.write(move |connection| {
            let sql = "DELETE FROM steps WHERE match = ?1 AND number >= ?2";
            connection.execute(sql, params![id, number])?;
            let sql = "UPDATE matches SET goals = NULL, resigned = NULL WHERE id = ?1";
            connection.execute(sql, params![id]).map(drop)
        })
    }

    /// Changes who sits where.
    ///
    /// # Errors
    /// When the database fails.
    pub fn set_seats(&self, id: &str, seats: &[SeatPlan]) -> Result<(), StoreError> {
        let (id, seats) = (id.to_string(), to_json(&seats));
        self.write(move |connection| {
            let sql = "UPDATE matches SET seats = ?2 WHERE id = ?1";
            connection.execute(sql, params![id, seats]).map(drop)
        })
    }

    /// Lets a role give up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn resign(&self, id: &str, role: usize) -> Result<(), StoreError> {
        let id = id.to_string();
        self.write(move |connection| {
            let sql = "UPDATE matches SET resigned = ?2 WHERE id = ?1";
            connection.execute(sql, params![id, role]).map(drop)
        })
    }

    /// Adds a game to the library of the page, or replaces one that was added under this name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn add_game(&self, game: &AddedGame) -> Result<(), StoreError> {
        let AddedGame { name, title, rules } = game.clone();
        self.write(move |connection| {
            let sql = "INSERT OR REPLACE INTO games (name, title, rules) VALUES (?1, ?2, ?3)";
            connection.execute(sql, params![name, title, rules]).map(drop)
        })
    }

    /// Removes a game that was added; nothing happens if there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub fn remove_game(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_string();
        self.write(move |connection| {
            connection.execute("DELETE FROM games WHERE name = ?1", params![name]).map(drop)
        })
    }

    /// Finds a game that was added.
    ///
    /// # Errors
    /// When the database fails.
    pub fn find_game(&self, name: &str) -> Result<Option<AddedGame>, StoreError> {
        let sql = "SELECT title, rules FROM games WHERE name = ?1";
        let found = self.lock().query_row(sql, [name], |row| {
            Ok(AddedGame { name: name.into(), title: row.get(0)?, rules: row.get(1)? })
        });
        Ok(found.optional()?)
    }

    /// Returns the names and titles of the games that were added, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn games(&self) -> Result<Vec<(String, String)>, StoreError> {
        let connection = self.lock();
        let mut query = connection.prepare("SELECT name, title FROM games ORDER BY name")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes a change, whole or not at all; it is on disk when this returns.
    fn write(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (reply, answer) = mpsc::channel();
        let write = Write { change: Box::new(change), reply };
        self.writes.send(write).map_err(|_| StoreError::NoWriter)?;
        answer.recv().map_err(|_| StoreError::NoWriter)?
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.reader)
    }
}

const BUSY_TIME: std::time::Duration = std::time::Duration::from_secs(5);

/// Sets a connection up for writing, and brings the database up to date.
fn prepare(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.busy_timeout(BUSY_TIME)?;
    let change = connection.transaction()?;
    let found: usize = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > MIGRATIONS.len() {
        return Err(StoreError::Newer { found, known: MIGRATIONS.len() });
    }
    for migration in &MIGRATIONS[found..] {
        change.execute_batch(migration)?;
    }
    change.pragma_update(None, "user_version", MIGRATIONS.len())?;
    change.commit()?;
    Ok(connection)
}

/// The work of the thread that writes; it ends with the store.
fn write_all(connection: &Mutex<Connection>, writes: &Receiver<Write>) {
    while let Ok(first) = writes.recv() {
        let batch = iter::once(first).chain(writes.try_iter().take(MAX_BATCH - 1));
        let (changes, replies): (Vec<Change>, Vec<_>) =
            batch.map(|write| (write.change, write.reply)).unzip();
        let n_changes = changes.len();
        let committed = commit(&mut lock(connection), changes);
        let results = committed
            .unwrap_or_else(|error| (0..n_changes).map(|_| Err(same_failure(&error))).collect());
        for (reply, result) in replies.into_iter().zip(results) {
            // Nobody may be waiting for it any more.
            let _ = reply.send(result.map_err(StoreError::from));
        }
    }
}

/// Commits several changes together. One that fails is undone alone.
fn commit(
    connection: &mut Connection,
    changes: Vec<Change>,
) -> rusqlite::Result<Vec<rusqlite::Result<()>>> {
    let mut transaction = connection.transaction()?;
    let mut results = Vec::new();
    for change in changes {
        let savepoint = transaction.savepoint()?;
        // A savepoint that is dropped without a commit is rolled back.
        results.push(change(&savepoint).and_then(|()| savepoint.commit()));
    }
    transaction.commit()?;
    Ok(results)
}

/// The error of a commit, once for each of its changes.
fn same_failure(error: &rusqlite::Error) -> rusqlite::Error {
    let code = error.sqlite_error().copied();
    let code = code.unwrap_or_else(|| rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR));
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A panic between two statements leaves the connection usable: SQLite rolls back.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("lists and texts have a JSON form")
}

fn from_json<T: for<'a> Deserialize<'a>>(table: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Damaged { table, message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(id: &str) -> MatchPlan {
        MatchPlan {
            id: id.into(),
            title: "a game".into(),
            rules: "(role me)".into(),
            seats: vec![SeatPlan::Person, SeatPlan::Player { player: "uct".into() }],
            keys: vec!["one".into(), "two".into()],
            move_time: 100,
            person_time: Some(60_000),
            resigned: None,
            seed: u64::MAX,
        }
    }

    fn step(chosen: &str) -> StoredStep {
        StoredStep { moves: vec![chosen.into()], thoughts: vec![None] }
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let store = Store::in_memory().expect("a database");
        store.add_match(&plan("m")).expect("stored");
        store.add_step("m", 0, &step("left"), None).expect("stored");
        store.add_step("m", 1, &step("right"), Some(&[100])).expect("stored");
        let found = store.find_match("m").expect("readable").expect("there");
        assert_eq!(found, (plan("m"), vec![step("left"), step("right")]));
        assert_eq!(store.latest("", 9).expect("readable")[0].goals, Some(vec![100]));
        store.take_back("m", 1).expect("stored");
        let row = store.latest("", 9).expect("readable").remove(0);
        assert_eq!((row.n_steps, row.goals), (1, None));
        assert_eq!(store.find_match("n").expect("readable"), None);
    }

    #[test]
    fn matches_are_found_by_title_and_player() {
        let store = Store::in_memory().expect("a database");
        store.add_match(&plan("m")).expect("stored");
        let n_found = |words: &str| store.latest(words, 9).expect("readable").len();
        assert_eq!([n_found("A game"), n_found("game UCT"), n_found("game grave")], [1, 1, 0]);
        assert_eq!(n_found("' OR 1=1 --"), 0);
    }

    #[test]
    fn a_resignation_is_taken_back_with_a_step() {
        let store = Store::in_memory().expect("a database");
        store.add_match(&plan("m")).expect("stored");
        store.add_step("m", 0, &step("left"), None).expect("stored");
        store.resign("m", 1).expect("stored");
        let resigned = || store.find_match("m").expect("readable").expect("there").0.resigned;
        assert_eq!(resigned(), Some(1));
        store.take_back("m", 0).expect("stored");
        assert_eq!(resigned(), None);
    }

    #[test]
    fn games_are_added_replaced_and_removed() {
        let store = Store::in_memory().expect("a database");
        let game = |rules: &str| AddedGame {
            name: "mine".into(),
            title: "Mine".into(),
            rules: rules.into(),
        };
        store.add_game(&game("(role a)")).expect("stored");
        store.add_game(&game("(role b)")).expect("stored");
        assert_eq!(store.find_game("mine").expect("readable"), Some(game("(role b)")));
        assert_eq!(store.games().expect("readable"), [("mine".into(), "Mine".into())]);
        store.remove_game("mine").expect("stored");
        assert_eq!(store.find_game("mine").expect("readable"), None);
    }

    #[test]
    fn a_step_is_stored_once() {
        let store = Store::in_memory().expect("a database");
        store.add_match(&plan("m")).expect("stored");
        store.add_step("m", 0, &step("left"), None).expect("stored");
        assert!(store.add_step("m", 0, &step("right"), None).is_err());
        assert!(store.add_step("nobody", 0, &step("right"), None).is_err());
    }

    #[test]
    fn changes_of_one_commit_fail_one_by_one() {
        let mut connection = prepare(Connection::open_in_memory().expect("memory")).expect("new");
        let insert = |id: &'static str| -> Change {
            Box::new(move |connection| {
                let sql = "INSERT INTO matches (id, title, rules, seats, keys, move_time, seed)
                           VALUES (?1, '', '', '', '', 0, 0)";
                connection.execute(sql, [id]).map(drop)
            })
        };
        let done = commit(&mut connection, vec![insert("a"), insert("a"), insert("b")]);
        let done: Vec<bool> = done.expect("a commit").iter().map(Result::is_ok).collect();
        assert_eq!(done, [true, false, true]);
        let sql = "SELECT group_concat(id) FROM matches";
        let ids: String = connection.query_row(sql, [], |row| row.get(0)).expect("readable");
        assert_eq!(ids, "a,b");
    }

    #[test]
    fn many_threads_write_and_read_one_file() {
        let name = format!("ludex-store-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let store = Store::open(&path).expect("a database");
        let n_threads = 8;
        for number in 0..n_threads {
            store.add_match(&plan(&number.to_string())).expect("stored");
        }
        thread::scope(|scope| {
            for number in 0..n_threads {
                let (store, id) = (&store, number.to_string());
                scope.spawn(move || {
                    for number in 0..20 {
                        store.add_step(&id, number, &step("left"), None).expect("stored");
                        let found = store.find_match(&id).expect("readable").expect("there");
                        assert_eq!(found.1.len(), number + 1, "a stored step is found at once");
                    }
                });
            }
        });
        drop(store);
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }

    #[test]
    fn a_newer_database_is_refused() {
        let connection = Connection::open_in_memory().expect("a database");
        connection.pragma_update(None, "user_version", 99).expect("set");
        assert!(matches!(prepare(connection), Err(StoreError::Newer { found: 99, .. })));
    }

    #[test]
    fn secrets_differ() {
        let store = Store::in_memory().expect("a database");
        let (one, two) = (store.secret(16).expect("one"), store.secret(16).expect("one"));
        assert!(one.len() == 32 && one != two);
    }
}

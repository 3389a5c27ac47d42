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
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SeatPlan {
    /// A person with the key of the seat.
    Person,
    /// A player of this program, with its options as `ludex players` explains them.
    Player {
        /// The player.
        player: String,
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
    /// The seed of random moves and players.
    pub seed: u64,
}

/// A finished step of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoredStep {
    /// The move of each role, as the rulesheet writes it.
    pub moves: Vec<String>,
    /// What the player of each role expected.
    pub thoughts: Vec<Option<StoredThought>>,
}

/// What a player reported about its move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
pub struct MatchRow {
    /// Its name in links.
    pub id: String,
    /// The title of its game.
    pub title: String,
    /// Steps so far.
    pub n_steps: usize,
    /// The goals of the roles, if it is over.
    pub goals: Option<Vec<u8>>,
    /// When it began, in seconds since 1970.
    pub began: i64,
}

/// The changes that make the database what it is, oldest first. Only append to this list.
const MIGRATIONS: &[&str] = &["
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
"];

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
            let sql = "INSERT INTO matches (id, title, rules, seats, keys, move_time, seed)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let MatchPlan { id, title, rules, move_time, seed, .. } = plan;
            let row = params![id, title, rules, seats, keys, move_time, seed as i64];
            connection.execute(sql, row).map(drop)
        })
    }

    /// Finds a match and its steps.
    ///
    /// # Errors
    /// When the database fails or is damaged.
    pub fn find_match(&self, id: &str) -> Result<Option<(MatchPlan, Vec<StoredStep>)>, StoreError> {
        let connection = self.lock();
        let sql = "SELECT title, rules, seats, keys, move_time, seed FROM matches WHERE id = ?1";
        type Row = (String, String, String, String, u64, i64);
        let row: Option<Row> = connection
            .query_row(sql, [id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })
            .optional()?;
        let Some((title, rules, seats, keys, move_time, seed)) = row else { return Ok(None) };
        let plan = MatchPlan {
            id: id.into(),
            title,
            rules,
            seats: from_json("matches", &seats)?,
            keys: from_json("matches", &keys)?,
            move_time,
            seed: seed as u64,
        };
        let mut query =
            connection.prepare("SELECT step FROM steps WHERE match = ?1 ORDER BY number")?;
        let texts = query.query_map([id], |row| row.get::<_, String>(0))?;
        let mut steps = Vec::new();
        for text in texts {
            steps.push(from_json("steps", &text?)?);
        }
        Ok(Some((plan, steps)))
    }

    /// Returns the latest matches.
    ///
    /// # Errors
    /// When the database fails or is damaged.
    pub fn latest(&self, n_matches: usize) -> Result<Vec<MatchRow>, StoreError> {
        let connection = self.lock();
        let mut query = connection.prepare(
            "SELECT id, title, (SELECT count(*) FROM steps WHERE match = id), goals, began
             FROM matches ORDER BY began DESC, rowid DESC LIMIT ?1",
        )?;
        let rows = query.query_map([n_matches], |row| {
            let goals: Option<String> = row.get(3)?;
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, goals, row.get(4)?))
        })?;
        let mut matches = Vec::new();
        for row in rows {
            let (id, title, n_steps, goals, began) = row?;
            let goals = goals.map(|goals| from_json("matches", &goals)).transpose()?;
            matches.push(MatchRow { id, title, n_steps, goals, began });
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
            let sql = "UPDATE matches SET goals = NULL WHERE id = ?1";
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
        assert_eq!(store.latest(9).expect("readable")[0].goals, Some(vec![100]));
        store.take_back("m", 1).expect("stored");
        let row = store.latest(9).expect("readable").remove(0);
        assert_eq!((row.n_steps, row.goals), (1, None));
        assert_eq!(store.find_match("n").expect("readable"), None);
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

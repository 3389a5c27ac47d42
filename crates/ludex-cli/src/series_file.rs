//! The file of a series: it keeps every finished match, so that `--resume` can go on with the rest.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ludex_record::journal::Contents;
use ludex_record::{Journal, JournalError, MatchKey};
use ludex_referee::{Clocks, Shard};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;
use crate::net_args::FileArgs;
use crate::output::say;
use crate::verbs::matches::split_names;

/// What all matches of a file have in common; the first line of the file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The verb that plays the matches.
    pub series: String,
    /// The game.
    pub game: String,
    /// SHA-256 of the rulesheet.
    pub rules_hash: String,
    /// The engine.
    pub engine: String,
    /// The players, as the call names them.
    pub players: String,
    /// The seed of the series.
    pub seed: u64,
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Limit of each search.
    pub iterations: Option<u64>,
    /// Other options that change how matches are played.
    pub options: Vec<String>,
    /// The part of the series that the file is for; `None` for all of it.
    #[serde(default)]
    pub shard: Option<Part>,
}

/// A part of a series in a file of its own, with what `ludex merge` cannot know without the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Which part, from 1.
    pub part: usize,
    /// Number of parts.
    pub of: usize,
    /// Number of matches of the whole series.
    pub count: usize,
    /// Whether all roles got the same goal in a sample of random games.
    pub cooperative: bool,
}

impl Part {
    /// Returns the matches that belong to the part.
    pub fn shard(&self) -> Shard {
        Shard { index: self.part - 1, of: self.of }
    }
}

impl Settings {
    /// Returns the names of the players.
    pub fn names(&self) -> Vec<String> {
        split_names(&self.players)
    }

    /// Returns the clocks, unless the file makes no sense.
    pub fn clocks(&self) -> Option<Clocks> {
        let time = |seconds| Duration::try_from_secs_f64(seconds).ok();
        Some(Clocks { start: time(self.start_clock)?, play: time(self.play_clock)? })
    }

    /// Calls with what names the matches.
    pub fn with_key<T>(&self, call: impl FnOnce(&MatchKey<'_>) -> T) -> T {
        let players = self.names();
        call(&MatchKey {
            rules_hash: &self.rules_hash,
            engine: &self.engine,
            players: &players,
            start_clock: self.start_clock,
            play_clock: self.play_clock,
            iterations: self.iterations,
            options: &self.options,
            seed: self.seed,
        })
    }
}

/// The file of a series. Without `--output` it keeps nothing.
pub struct SeriesFile {
    open: Option<(PathBuf, Journal<File>)>,
    n_lost: usize,
}

impl SeriesFile {
    /// Opens the file of the call and returns the matches in it.
    ///
    /// A new file gets the settings as its header. A file with matches needs `--resume` and the same
    /// settings; only a call without a seed takes over that of the file.
    pub fn open<R: DeserializeOwned>(
        args: &FileArgs,
        settings: &mut Settings,
        has_seed: bool,
    ) -> Result<(Self, Vec<R>), Failure> {
        let Some(path) = &args.output else {
            return Ok((Self { open: None, n_lost: 0 }, Vec::new()));
        };
        let wrong = |message: String| wrong_file(path, message);
        let file = open_file(path).map_err(|error| wrong(format!("cannot open it: {error}")))?;
        let (mut journal, contents) = match Journal::open::<Settings, R>(file) {
            Ok(opened) => opened,
            Err(error @ JournalError::Io(_)) => {
                return Err(wrong(format!("cannot read it: {error}")));
            }
            Err(error) => return Err(wrong(error.to_string())),
        };
        let rows = match contents {
            None => {
                let written = journal.append(settings).and_then(|()| sync_folder(path));
                written.map_err(|error| wrong(format!("cannot write to it: {error}")))?;
                Vec::new()
            }
            Some(_) if !args.resume => {
                let message = "it holds a series already; go on with it by `--resume`, or name \
                               another file";
                return Err(wrong(message.into()));
            }
            Some(Contents { header, rows }) => {
                if !has_seed {
                    settings.seed = header.seed;
                }
                // It comes from a sample, and a busy machine takes a smaller one.
                if let (Some(here), Some(there)) = (&mut settings.shard, &header.shard) {
                    here.cooperative = there.cooperative;
                }
                if let Some(difference) = difference(&header, settings) {
                    return Err(wrong(format!(
                        "it holds a series with another setting: {difference}; repeat the call that \
                         began it, or name another file"
                    )));
                }
                rows
            }
        };
        Ok((Self { open: Some((path.clone(), journal)), n_lost: 0 }, rows))
    }

    /// Writes a finished match. If that fails, it says so and the series goes on.
    pub fn add(&mut self, row: &impl Serialize) {
        let Some((path, journal)) = &mut self.open else { return };
        if let Err(error) = journal.append(row) {
            if self.n_lost == 0 {
                say(&format!(
                    "ludex: cannot write a match to `{}`: {error}; the series goes on",
                    path.display()
                ));
            }
            self.n_lost += 1;
        }
    }

    /// Fails if a match could not be written.
    pub fn finish(self) -> Result<(), Failure> {
        match (self.open, self.n_lost) {
            (Some((path, _)), n_lost @ 1..) => {
                let s = if n_lost == 1 { "" } else { "es" };
                let message = format!(
                    "{n_lost} match{s} could not be written; `--resume` plays what is missing"
                );
                Err(wrong_file(&path, message))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a file for this process alone; creates it if it does not exist.
fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process writes to it")),
        // A file system without locks has files all the same.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Waits until the folder of a new file is on the disk, without which the file would be lost.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    #[cfg(unix)]
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Describes the first setting that differs.
pub fn difference(there: &Settings, here: &Settings) -> Option<String> {
    let fields = |settings: &Settings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("settings have named fields"),
    };
    let (there, here) = (fields(there), fields(here));
    let (name, value) = there.iter().find(|(name, value)| here.get(*name) != Some(value))?;
    Some(format!("`{name}` is {value} there and {} here", here[name]))
}

pub fn wrong_file(path: &Path, message: String) -> Failure {
    Failure::File { path: path.display().to_string(), code: "series-file", line: None, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            series: "match".into(),
            game: "nim".into(),
            rules_hash: "00".into(),
            engine: "circuit".into(),
            players: "random,random".into(),
            seed: 1,
            start_clock: 1.0,
            play_clock: 0.5,
            iterations: None,
            options: Vec::new(),
            shard: None,
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(difference(&settings(), &settings()), None);
        let other = Settings { iterations: Some(7), ..settings() };
        let said = difference(&settings(), &other).expect("they differ");
        assert!(said.contains("`iterations` is null there and 7 here"), "{said}");
    }
}

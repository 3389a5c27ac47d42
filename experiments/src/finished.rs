//! The finished parts of a run that writes its table at the end.
//!
//! Each part is on the disk as soon as it is finished. A run that was stopped goes on with `--resume`, and a
//! complete run removes the file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use ludex_record::Journal;
use ludex_record::journal::Contents;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The parts of one experiment, by name.
pub struct Finished {
    path: PathBuf,
    journal: Mutex<Journal<File>>,
    parts: BTreeMap<String, Value>,
}

/// A line of the file: the name of a part and its result.
type Part = (String, Value);

impl Finished {
    /// Opens the file of a run. `settings` are the options that change results, and a file with others is
    /// refused; so is any file with parts unless `resumes` is set.
    pub(crate) fn open(folder: &Path, name: &str, settings: &str, resumes: bool) -> Result<Self> {
        let path = folder.join(format!("{name}.unfinished"));
        let place = || path.display().to_string();
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let opened = Journal::open::<String, Part>(file.with_context(place)?);
        let (mut journal, contents) = opened.with_context(place)?;
        let parts = match contents {
            None => {
                journal.append(&settings).with_context(place)?;
                // Without this the file itself could be lost.
                File::open(folder).and_then(|folder| folder.sync_all()).with_context(place)?;
                BTreeMap::new()
            }
            Some(_) if !resumes => {
                bail!("{} holds parts of a stopped run; use `--resume`, or remove it", place())
            }
            Some(Contents { header, .. }) if header != settings => {
                bail!("{} belongs to `{header}`, not to `{settings}`; remove it", place())
            }
            Some(Contents { rows, .. }) => rows.into_iter().collect(),
        };
        Ok(Self { path, journal: Mutex::new(journal), parts })
    }

    /// Returns the stored result of a part, if there is one.
    ///
    /// # Errors
    /// When the result has another form.
    pub fn stored<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let read = |stored: &Value| serde_json::from_value(stored.clone());
        self.parts.get(name).map(read).transpose().with_context(|| self.place(name))
    }

    /// Returns the result of a part: the stored one, or that of `work`, once it is on the disk.
    ///
    /// # Errors
    /// When `work` fails or the result cannot be stored.
    pub fn part<T>(&self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
    {
        if let Some(stored) = self.stored(name)? {
            return Ok(stored);
        }
        let result = work()?;
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.append(&(name, &result)).with_context(|| self.place(name))?;
        Ok(result)
    }

    fn place(&self, name: &str) -> String {
        format!("{}: {name}", self.path.display())
    }

    /// Removes the file: the table is written.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).with_context(|| self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_run_goes_on_and_repeats_nothing() {
        let folder = std::env::temp_dir().join(format!("ludex-finished-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        let open = |settings, resumes| Finished::open(&folder, "test", settings, resumes);
        let first = open("seconds 1", false).expect("a new file");
        assert_eq!(first.part("nim", || Ok(7)).expect("it is stored"), 7);
        assert!(first.part::<u32>("hex", || bail!("stopped")).is_err());
        drop(first);
        assert!(open("seconds 1", false).is_err(), "the parts are not thrown away");
        assert!(open("seconds 2", true).is_err(), "the parts belong to other settings");
        let second = open("seconds 1", true).expect("the same run");
        assert_eq!(second.stored::<u32>("nim").ok(), Some(Some(7)));
        assert_eq!(second.stored::<u32>("hex").ok(), Some(None));
        assert!(second.stored::<String>("nim").is_err(), "a number is no text");
        assert_eq!(
            second.part("nim", || -> Result<u32> { panic!("repeated") }).expect("stored"),
            7
        );
        assert_eq!(second.part("hex", || Ok(8)).expect("it is stored"), 8);
        second.remove().expect("it is there");
        assert!(open("seconds 2", false).is_ok(), "nothing is left");
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
}

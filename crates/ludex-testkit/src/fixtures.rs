//! Locates the rulesheets that tests use.

use std::fs;
use std::path::{Path, PathBuf};

/// A rulesheet on disk.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RulesFile {
    /// The name of its folder or the stem of its file.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
}

impl RulesFile {
    /// Reads the rulesheet.
    ///
    /// # Panics
    /// Panics if the file cannot be read: fixtures must exist.
    pub fn text(&self) -> String {
        fs::read_to_string(&self.path)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }
}

/// Returns the root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder with the corpus and the recorded traces, which lies beside the project and is
/// not part of it, or `None` if it is missing.
pub fn shared() -> Option<PathBuf> {
    let folder = workspace().join("../shared");
    folder.join("golden").is_dir().then_some(folder)
}

/// Returns [`shared`], or prints to standard error what is skipped without it.
///
/// # Panics
/// Panics if the folder is missing and `CI` is set.
pub fn shared_or_skip(what: &str) -> Option<PathBuf> {
    let found = shared();
    if found.is_none() {
        let missing = "there is no folder `shared` beside the project";
        assert!(!is_ci(), "{missing}, but `CI` is set: it is needed for {what}");
        eprintln!("skipped: {what} ({missing})");
    }
    found
}

/// Whether the environment variable `CI` is set to something other than `0` or `false`.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !["", "0", "false"].map(Into::into).contains(&value))
}

/// Returns the games of the library, by name.
pub fn library() -> Vec<RulesFile> {
    let mut games: Vec<RulesFile> = entries(&workspace().join("games"))
        .into_iter()
        .map(|folder| RulesFile { name: stem(&folder), path: folder.join("rules.kif") })
        .filter(|game| game.path.is_file())
        .collect();
    games.sort();
    games
}

/// Returns the rulesheets of the corpus, by name.
pub fn corpus(shared: &Path) -> Vec<RulesFile> {
    let mut games: Vec<RulesFile> = entries(&shared.join("games"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "kif"))
        .map(|path| RulesFile { name: stem(&path), path })
        .collect();
    games.sort();
    games
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

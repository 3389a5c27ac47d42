//! Matches between players, played by the command `ludex`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ludex_testkit::{corpus, library};
use serde_json::Value;
use xtask::tools::shared_folder;

use crate::command::ask;

/// Plays the matches of a round and returns the report, if there is one. The number of the round is the seed.
pub(crate) fn play(
    ludex: &Path,
    rules: &Path,
    players: &str,
    n_matches: usize,
    round: usize,
    [start_clock, play_clock]: [&str; 2],
) -> Result<Option<Value>> {
    let (path, count) = (rules.display().to_string(), n_matches.to_string());
    let seed = (round + 1).to_string();
    let what = ["match", &path, "--players", players, "--count", &count, "--seed", &seed];
    let clocks = ["--start-clock", start_clock, "--play-clock", play_clock, "--json"];
    ask(ludex, &[&what[..], &clocks].concat())
}

/// The number of roles of a game besides `random`.
pub(crate) fn n_roles(ludex: &Path, path: &str) -> Result<usize> {
    let args = ["bench", path, "--seconds", "0.01", "--threads", "1", "--json"];
    let report = ask(ludex, &args)?.context("the game can't be played")?;
    let roles = report["roles"].as_array().cloned().unwrap_or_default();
    Ok(roles.iter().filter(|role| *role != "random").count())
}

/// A count of a series, such as late moves, summed over all players.
pub(crate) fn sum(report: &Value, key: &str) -> u64 {
    let players = report["players"].as_array();
    players.map_or(0, |players| players.iter().filter_map(|player| player[key].as_u64()).sum())
}

/// The rulesheet of a game in the corpus, or else in the library.
pub(crate) fn find_game(name: &str) -> Result<PathBuf> {
    let all = corpus(&shared_folder()?).into_iter().chain(library());
    let found = all.into_iter().find(|rules| rules.name == name);
    Ok(found.with_context(|| format!("no game `{name}` in the corpus or the library"))?.path)
}

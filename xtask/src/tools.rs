//! Access to games, `cargo` and the command `ludex`, for tasks and experiments.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use ludex_testkit::{RulesFile, corpus, shared, workspace};

/// The folder `shared` beside the project, which contains the corpus.
pub fn shared_folder() -> Result<PathBuf> {
    shared().context("no folder `shared` with the public rulesheets beside the project")
}

/// The games with these names, or all if there are no names.
pub fn select(all: Vec<RulesFile>, names: &[String]) -> Result<Vec<RulesFile>> {
    if names.is_empty() {
        return Ok(all);
    }
    let selected: Vec<RulesFile> =
        all.into_iter().filter(|rules| names.contains(&rules.name)).collect();
    if selected.len() < names.len() {
        bail!("found only {} of the {} named games", selected.len(), names.len());
    }
    Ok(selected)
}

/// The public rulesheets with these names, or all; the largest first, so that no long one is left for the end
/// when the other cores are idle.
pub fn select_corpus(names: &[String]) -> Result<Vec<RulesFile>> {
    let mut games = select(corpus(&shared_folder()?), names)?;
    games.sort_by_key(|rules| std::cmp::Reverse(rules.text().len()));
    Ok(games)
}

/// Builds the command and returns the path of the binary.
pub fn build_ludex() -> Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--package", "ludex-cli", "--bin", "ludex"]);
    run(&mut cargo)?;
    // Tasks and the command are built into the same folder.
    let own = std::env::current_exe().context("the path of this task")?;
    Ok(own.with_file_name(format!("ludex{}", std::env::consts::EXE_SUFFIX)))
}

/// The `cargo` that runs this task, at the root of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}

/// Prints a command and runs it.
///
/// # Errors
/// The command can't be started, or fails.
pub fn run(command: &mut Command) -> Result<()> {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let name = words[0].rsplit('/').next().unwrap_or(&words[0]).to_string();
    let line = [vec![name], words[1..].to_vec()].concat().join(" ");
    eprintln!("\n$ {line}");
    let status = command.status().with_context(|| format!("`{line}` does not start"))?;
    if !status.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}

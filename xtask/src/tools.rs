//! What several tasks need.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use ludex_testkit::{RulesFile, corpus, shared, workspace};

/// The folder beside the project with the corpus.
pub fn shared_folder() -> Result<PathBuf> {
    shared().context("there is no folder `shared` with the public rulesheets beside the project")
}

/// The games of a list that were named, or all if none was.
pub fn select(all: Vec<RulesFile>, names: &[String]) -> Result<Vec<RulesFile>> {
    if names.is_empty() {
        return Ok(all);
    }
    let selected: Vec<RulesFile> =
        all.into_iter().filter(|rules| names.contains(&rules.name)).collect();
    if selected.len() < names.len() {
        bail!("only {} of the games named are there", selected.len());
    }
    Ok(selected)
}

/// The public rulesheets that were named, or all, the largest first, so that no core is left
/// alone with one at the end.
pub fn select_corpus(names: &[String]) -> Result<Vec<RulesFile>> {
    let mut games = select(corpus(&shared_folder()?), names)?;
    games.sort_by_key(|rules| std::cmp::Reverse(rules.text().len()));
    Ok(games)
}

/// Builds the command and gives the path of the binary.
pub fn build_ludex() -> Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--package", "ludex-cli", "--bin", "ludex"]);
    run(&mut cargo)?;
    // Tasks are built into the folder that the command is built into.
    let own = std::env::current_exe().context("the path of this task")?;
    Ok(own.with_file_name(format!("ludex{}", std::env::consts::EXE_SUFFIX)))
}

/// `cargo`, the one that runs us, at the root of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}

/// Runs a command and shows it; an error if it fails.
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

/// A new folder `benches/runs/<date>-<machine>`, or the one there is.
pub fn runs_folder() -> Result<PathBuf> {
    let folder = workspace().join("benches/runs").join(format!("{}-{}", today(), machine()));
    std::fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    Ok(folder.canonicalize()?)
}

/// The machine in a few letters: architecture and number of cores, `LUDEX_MACHINE` if it is set.
pub fn machine() -> String {
    std::env::var("LUDEX_MACHINE").unwrap_or_else(|_| {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        format!("{}-{n_cores}cores", std::env::consts::ARCH)
    })
}

/// The processor in the words of the system.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown processor").to_string()
}

/// Today's date in UTC, `2026-11-15`.
pub fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let (year, month, day) = civil(now.map_or(0, |time| time.as_secs() / 86_400) as i64);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970, after Hinnant's calendar algorithms:
/// the year begins in March, so that the leap day is its last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_772), (2026, 11, 15));
    }
}

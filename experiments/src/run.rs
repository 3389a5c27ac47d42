//! One run of an experiment: the folder of its tables and the commit that makes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use ludex_testkit::workspace;

use crate::finished::Finished;
use crate::tables::{Form, Rows};

/// The folder and the commit that all tables of a run share.
pub struct Run {
    folder: PathBuf,
    commit: String,
    resumes: bool,
}

impl Run {
    /// A run that writes to a folder of `benches/runs`; by default that of today and this machine. It may go
    /// on with one that was stopped there.
    pub fn new(folder: Option<&Path>, resumes: bool) -> Self {
        let today = format!("{}-{}", today(), machine());
        let folder = workspace().join("benches/runs").join(folder.unwrap_or(Path::new(&today)));
        Self { folder, commit: commit().unwrap_or_else(|| "unknown".into()), resumes }
    }

    /// The folder, created if it does not exist.
    pub fn folder(&self) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        Ok(self.folder.canonicalize()?)
    }

    /// The short commit hash; a `+` at its end marks a changed working tree.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The beginning of a report: its command, commit and processor.
    pub fn made_by(&self, experiment: &str) -> String {
        let (commit, processor) = (&self.commit, processor());
        format!("Made by `cargo experiment {experiment}` at commit `{commit}` on {processor}")
    }

    /// The finished parts of an experiment, whose results depend on these options and the commit.
    pub fn finished(&self, experiment: &str, options: &str) -> Result<Finished> {
        let settings = format!("{experiment} {options} at commit {}", self.commit);
        Finished::open(&self.folder()?, experiment, &settings, self.resumes)
    }

    /// A table whose last column is the commit of this run.
    pub fn rows(&self, form: Form, columns: &[&str]) -> Rows {
        Rows::new(form, columns, &self.commit)
    }

    /// Writes a table and its report.
    pub fn write(&self, name: &str, tsv: &Rows, report: &str) -> Result<()> {
        self.write_file(&format!("{name}.tsv"), tsv.text())?;
        self.write_file(&format!("{name}.md"), report)
    }

    /// Writes a file to the folder.
    pub fn write_file(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder()?.join(file);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        eprintln!("written to {}", path.display());
        Ok(())
    }
}

/// The commit of the working tree. Tables and pictures do not count as changes, because runs write them.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(workspace()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let hash = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", ".", ":!benches/runs", ":!docs/*.svg"])?;
    Some(if changed.is_empty() { hash } else { hash + "+" })
}

/// A short name of the machine: `LUDEX_MACHINE` if it is set, otherwise architecture and number of cores.
fn machine() -> String {
    std::env::var("LUDEX_MACHINE").unwrap_or_else(|_| {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        format!("{}-{n_cores}cores", std::env::consts::ARCH)
    })
}

/// The name of the processor.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown processor").to_string()
}

/// Today's date in UTC, `2026-11-15`.
fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let (year, month, day) = civil(now.map_or(0, |time| time.as_secs() / 86_400) as i64);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970, after Hinnant's calendar algorithms: the year begins
/// in March, so that the leap day is its last day.
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
    fn known_dates_are_right() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_772), (2026, 11, 15));
    }
}

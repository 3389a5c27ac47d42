//! Tables of measurements. Every row ends with the commit that made it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use ludex_record::journal::Lines;

use crate::run::Run;

/// The format of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Tsv,
    Markdown,
}

/// A table that a single run writes.
pub struct Rows {
    form: Form,
    commit: String,
    text: String,
}

impl Rows {
    pub(crate) fn new(form: Form, columns: &[&str], commit: &str) -> Self {
        let mut rows = Self { form, commit: "commit".into(), text: String::new() };
        rows.push(columns);
        if form == Form::Markdown {
            rows.text += &format!("|{}\n", " --- |".repeat(columns.len() + 1));
        }
        rows.commit = commit.into();
        rows
    }

    /// Adds a row, and appends the commit to its cells.
    pub fn push(&mut self, cells: &[impl AsRef<str>]) {
        let mut cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
        cells.push(&self.commit);
        self.text += &match self.form {
            Form::Tsv => cells.join("\t") + "\n",
            Form::Markdown => format!("| {} |\n", cells.join(" | ")),
        };
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A table that grows over many runs. Existing rows are not measured again, so a stopped run can continue. Rows
/// may come from several commits, which the report lists.
///
/// Each row is on the disk when it is appended, and a row that was cut by a kill is removed.
pub(crate) struct Table {
    path: PathBuf,
    lines: Mutex<Lines<File>>,
    n_columns: usize,
    commit: String,
    done: BTreeSet<String>,
}

impl Table {
    /// Opens a table with these columns, separated by tabs, and the commit after them.
    pub(crate) fn open(run: &Run, name: &str, columns: &str) -> Result<Self> {
        let path = run.folder()?.join(format!("{name}.tsv"));
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        let with_header = with_header(&text, &format!("{columns}\tcommit"));
        let with_header = with_header.with_context(|| path.display().to_string())?;
        if with_header != text {
            // The old rows stay until the new file is whole.
            let unfinished = path.with_extension("unfinished");
            fs::write(&unfinished, with_header)
                .and_then(|()| fs::rename(&unfinished, &path))
                .with_context(|| path.display().to_string())?;
        }
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let opened = file.and_then(|file| Lines::open(file, |_| true));
        let (lines, _) = opened.with_context(|| path.display().to_string())?;
        let n_columns = columns.split('\t').count();
        let mut table = Self {
            path,
            lines: Mutex::new(lines),
            n_columns,
            commit: run.commit().into(),
            done: BTreeSet::new(),
        };
        for row in table.rows()? {
            for n_cells in 1..=2.min(row.len()) {
                table.done.insert(row[..n_cells].join("\t"));
            }
        }
        Ok(table)
    }

    /// Whether there is a row that begins with these cells.
    pub(crate) fn has(&self, cells: &[&str]) -> bool {
        self.done.contains(&cells.join("\t"))
    }

    /// Adds a row, and appends the commit to its cells.
    pub(crate) fn append(&self, cells: &[impl AsRef<str>]) -> Result<()> {
        let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
        let line = format!("{}\t{}", cells.join("\t"), self.commit);
        println!("{line}");
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.append(&line).with_context(|| self.path.display().to_string())
    }

    /// All rows, without their commits. Rows from before a column was added have fewer cells.
    pub(crate) fn rows(&self) -> Result<Vec<Vec<String>>> {
        let cells = |line: &str| line.split('\t').take(self.n_columns).map(String::from).collect();
        Ok(self.text()?.lines().skip(1).map(cells).collect())
    }

    /// How many rows each commit has made, as a sentence.
    pub(crate) fn commits_in_words(&self) -> Result<String> {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(commits_in_words(&file, &self.text()?, self.n_columns))
    }

    /// Writes and prints the report on the table.
    pub(crate) fn describe(&self, report: &str) -> Result<()> {
        let path = self.path.with_extension("md");
        fs::write(&path, report).with_context(|| path.display().to_string())?;
        println!("{report}");
        Ok(())
    }

    fn text(&self) -> Result<String> {
        fs::read_to_string(&self.path).with_context(|| self.path.display().to_string())
    }
}

/// The text of a table with a new header, which may only add columns at the end of the old one.
fn with_header(text: &str, header: &str) -> Result<String> {
    let (first, rows) = text.split_once('\n').unwrap_or((text, ""));
    let is_beginning = header
        .strip_prefix(first)
        .is_some_and(|rest| first.is_empty() || rest.is_empty() || rest.starts_with('\t'));
    if !is_beginning {
        bail!("the table has the columns `{first}` and needs `{header}`");
    }
    Ok(format!("{header}\n{rows}"))
}

fn commits_in_words(file: &str, text: &str, n_columns: usize) -> String {
    let mut n_rows: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines().skip(1) {
        *n_rows.entry(line.split('\t').nth(n_columns).unwrap_or("unknown")).or_default() += 1;
    }
    let counts: Vec<String> = n_rows.iter().map(|(commit, n)| format!("{commit} {n}")).collect();
    format!("Rows of `{file}` by commit: {}.", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_header_replaces_the_old_one_and_rows_stay() {
        let with = |text: &str| with_header(text, "a\tb").ok();
        assert_eq!(with("").as_deref(), Some("a\tb\n"));
        assert_eq!(with("a\n1\n2\n").as_deref(), Some("a\tb\n1\n2\n"));
        assert_eq!(with("a\tb\n1\t2\n").as_deref(), Some("a\tb\n1\t2\n"));
        assert_eq!(with("other\n1\n"), None);
        assert_eq!(with_header("a\n", "ab").ok(), None);
    }

    #[test]
    fn rows_without_a_commit_count_as_unknown() {
        let text = "game\tgoal\tcommit\nnim\t1\nnim\t2\thash+\nhex\t3\thash+\n";
        let words = commits_in_words("nim.tsv", text, 2);
        assert_eq!(words, "Rows of `nim.tsv` by commit: hash+ 2, unknown 1.");
    }

    #[test]
    fn every_row_names_its_commit() {
        let mut tsv = Rows::new(Form::Tsv, &["game", "goal"], "hash");
        tsv.push(&["nim", "1"]);
        assert_eq!(tsv.text(), "game\tgoal\tcommit\nnim\t1\thash\n");
        let mut markdown = Rows::new(Form::Markdown, &["game"], "hash");
        markdown.push(&["nim"]);
        assert_eq!(markdown.text(), "| game | commit |\n| --- | --- |\n| nim | hash |\n");
    }
}

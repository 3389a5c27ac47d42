//! Published figures of other systems, from the folder `shared` beside the project.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result};
use xtask::tools::shared_folder;

/// A published table. The first column of each row is the name of a game.
pub(crate) struct Published {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Published {
    /// Reads a table of the folder `shared`.
    pub(crate) fn read(file: &str) -> Result<Self> {
        let text =
            fs::read_to_string(shared_folder()?.join(file)).with_context(|| file.to_string())?;
        let cells = |line: &str| line.split('\t').map(String::from).collect::<Vec<_>>();
        let mut rows = text.lines().map(cells);
        let columns = rows.next().with_context(|| format!("{file} is empty"))?;
        Ok(Self { columns, rows: rows.collect() })
    }

    /// Reads one of the published tables about MAC-UCB and translation.
    pub(crate) fn thesis(file: &str) -> Result<Self> {
        Self::read(&format!("reference/tables/{file}"))
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The cells after the name, by name.
    pub(crate) fn by_name(&self) -> BTreeMap<&str, &[String]> {
        self.rows.iter().map(|row| (row[0].as_str(), &row[1..])).collect()
    }

    /// The cell of a row of [`Self::by_name`] in a column.
    pub(crate) fn cell<'a>(&self, row: &'a [String], column: &str) -> Option<&'a str> {
        let place = self.columns.iter().skip(1).position(|own| own == column)?;
        row.get(place).map(String::as_str)
    }

    /// The numbers of a column, by name, without rows that have none.
    pub(crate) fn numbers(&self, column: &str) -> Result<BTreeMap<&str, f64>> {
        let is_there = self.columns.iter().any(|own| own == column);
        is_there.then_some(()).with_context(|| format!("no column `{column}`"))?;
        let number = |row: &[String]| self.cell(row, column)?.parse().ok();
        let rows = self.by_name().into_iter();
        Ok(rows.filter_map(|(name, row)| Some((name, number(row)?))).collect())
    }
}

/// A public rulesheet and the names of its game in published tables.
pub(crate) struct Indexed {
    pub(crate) game: String,
    names: String,
}

impl Indexed {
    /// The name in the table with this mark, such as `T3.4:`.
    pub(crate) fn name_in(&self, mark: &str) -> Option<&str> {
        self.names.split("; ").find_map(|name| name.strip_prefix(mark))
    }
}

/// All public rulesheets.
pub(crate) fn index() -> Result<Vec<Indexed>> {
    let table = Published::read("games/INDEX.tsv")?;
    let names = |row: &[String]| row.get(7).cloned().unwrap_or_default();
    Ok(table.rows.iter().map(|row| Indexed { game: row[0].clone(), names: names(row) }).collect())
}

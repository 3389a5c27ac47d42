//! Tables: the atoms of one relation as rows of terms in one flat array.
//!
//! Rows are only added, until the table is cleared. The body of a rule reads the rows that existed
//! when the round began ([`Table::advance`]), so rules may add to tables they read.
//!
//! Indexes and the set of rows are filled on first use: in most states most of them are not needed,
//! and a few rows are scanned faster than hashed.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use ludex_base::define_id;
use ludex_gdl::TermId;

define_id! {
    /// A table of the engine.
    pub(crate) struct TableId;
}

/// Tables of up to this many rows are scanned instead of indexed.
const MAX_SCANNED_ROWS: u32 = 8;

/// The end of a chain of rows.
const NO_ROW: u32 = u32::MAX;

/// The rows that a literal reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// All rows that existed when the round began.
    All,
    /// The rows that the previous round added.
    Delta,
    /// All rows but those.
    Old,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    n_columns: usize,
    values: Vec<TermId>,
    n_rows: u32,
    delta_start: u32,
    visible_end: u32,
    /// The first `n_in_set` rows, found by their values.
    set: HashTable<u32>,
    n_in_set: u32,
    indexes: Vec<Index>,
}

/// Finds rows by the values of some columns.
#[derive(Clone, Debug)]
struct Index {
    columns: Box<[usize]>,
    /// The latest row of each key; `previous` leads to the others.
    latest: HashTable<u32>,
    previous: Vec<u32>,
}

impl Table {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self {
            n_columns,
            values: Vec::new(),
            n_rows: 0,
            delta_start: 0,
            visible_end: 0,
            set: HashTable::new(),
            n_in_set: 0,
            indexes: Vec::new(),
        }
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.n_columns
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows as usize
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[TermId] {
        row_of(&self.values, self.n_columns, row)
    }

    /// Returns the numbers of all rows.
    pub(crate) fn row_ids(&self) -> Range<u32> {
        0..self.n_rows
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[TermId]> {
        (0..self.n_rows).map(|row| self.row(row))
    }

    #[inline]
    pub(crate) fn range(&self, rows: Rows) -> Range<u32> {
        match rows {
            Rows::All => 0..self.visible_end,
            Rows::Delta => self.delta_start..self.visible_end,
            Rows::Old => 0..self.delta_start,
        }
    }

    /// Adds a row; returns whether it is new.
    pub(crate) fn insert(&mut self, values: &[TermId]) -> bool {
        self.fill_set();
        let is_new = self.find(values).is_none();
        if is_new {
            self.push(values);
        }
        is_new
    }

    /// Returns the row with these values, after [`Table::fill_set`].
    #[inline]
    pub(crate) fn find(&self, values: &[TermId]) -> Option<u32> {
        if self.n_rows <= MAX_SCANNED_ROWS {
            return (0..self.n_rows).find(|&row| self.row(row) == values);
        }
        self.set.find(hash_terms(values), |&row| self.row(row) == values).copied()
    }

    /// Adds a row that is known to be new.
    #[inline]
    pub(crate) fn push(&mut self, values: &[TermId]) {
        self.values.extend_from_slice(values);
        self.n_rows += 1;
    }

    /// Makes the rows added since the last round visible; returns whether there are any.
    pub(crate) fn advance(&mut self) -> bool {
        self.delta_start = self.visible_end;
        self.visible_end = self.n_rows;
        self.delta_start < self.visible_end
    }

    pub(crate) fn clear(&mut self) {
        if self.n_rows > 0 {
            self.values.clear();
            self.set.clear();
            for index in &mut self.indexes {
                index.clear();
            }
        }
        (self.n_rows, self.n_in_set, self.delta_start, self.visible_end) = (0, 0, 0, 0);
    }

    /// Returns the index on these columns, creating it if there is none.
    pub(crate) fn index_on(&mut self, columns: &[usize]) -> usize {
        let position = self.indexes.iter().position(|index| *index.columns == *columns);
        position.unwrap_or_else(|| {
            self.indexes.push(Index {
                columns: columns.into(),
                latest: HashTable::new(),
                previous: Vec::new(),
            });
            self.indexes.len() - 1
        })
    }

    /// Prepares all searches, for a table that will not change again.
    pub(crate) fn fill(&mut self) {
        self.fill_set();
        (0..self.indexes.len()).for_each(|index| self.fill_index(index));
    }

    /// Prepares [`Table::find`].
    #[inline]
    pub(crate) fn fill_set(&mut self) {
        if self.n_in_set < self.n_rows && self.n_rows > MAX_SCANNED_ROWS {
            self.fill_set_now();
        }
    }

    /// Prepares [`Table::latest`].
    #[inline]
    pub(crate) fn fill_index(&mut self, index: usize) {
        let is_behind = self.indexes[index].previous.len() < self.visible_end as usize;
        if is_behind && self.visible_end > MAX_SCANNED_ROWS {
            self.indexes[index].fill(&self.values, self.n_columns, self.visible_end);
        }
    }

    /// Returns whether to scan the table, because its indexes are not filled.
    #[inline]
    pub(crate) fn has_few_rows(&self) -> bool {
        self.visible_end <= MAX_SCANNED_ROWS
    }

    /// Returns the last row with these values in the columns of the index, after
    /// [`Table::fill_index`].
    #[inline]
    pub(crate) fn latest(&self, index: usize, key: &[TermId]) -> Option<u32> {
        let index = &self.indexes[index];
        let is_match = |&row: &u32| {
            let row = self.row(row);
            index.columns.iter().zip(key).all(|(&column, &value)| row[column] == value)
        };
        index.latest.find(hash_terms(key), is_match).copied()
    }

    /// Returns the row before this one with the same values in the columns of the index.
    #[inline]
    pub(crate) fn previous(&self, index: usize, row: u32) -> Option<u32> {
        let previous = self.indexes[index].previous[row as usize];
        (previous != NO_ROW).then_some(previous)
    }

    fn fill_set_now(&mut self) {
        let Self { set, values, n_columns, .. } = self;
        let hash = |row: u32| hash_terms(row_of(values, *n_columns, row));
        for row in self.n_in_set..self.n_rows {
            set.insert_unique(hash(row), row, |&row| hash(row));
        }
        self.n_in_set = self.n_rows;
    }
}

impl Index {
    fn fill(&mut self, values: &[TermId], n_columns: usize, end: u32) {
        let Self { columns, latest, previous } = self;
        let key = |row: u32| {
            let row = row_of(values, n_columns, row);
            columns.iter().map(move |&column| row[column])
        };
        let start = u32::try_from(previous.len()).expect("the number of rows must fit in 32 bits");
        for row in start..end {
            let hash = hash_each(key(row));
            let entry = latest.entry(
                hash,
                |&other| key(other).eq(key(row)),
                |&other| hash_each(key(other)),
            );
            match entry {
                Entry::Occupied(mut entry) => {
                    previous.push(std::mem::replace(entry.get_mut(), row));
                }
                Entry::Vacant(entry) => {
                    previous.push(NO_ROW);
                    entry.insert(row);
                }
            }
        }
    }

    fn clear(&mut self) {
        if !self.previous.is_empty() {
            self.latest.clear();
            self.previous.clear();
        }
    }
}

#[inline]
fn row_of(values: &[TermId], n_columns: usize, row: u32) -> &[TermId] {
    &values[row as usize * n_columns..][..n_columns]
}

#[inline]
fn hash_terms(terms: &[TermId]) -> u64 {
    hash_each(terms.iter().copied())
}

/// A multiplicative hash, rotated so that its best bits are those that the hash table uses first.
#[inline]
fn hash_each(terms: impl Iterator<Item = TermId>) -> u64 {
    let mut hash = 0_u64;
    for term in terms {
        hash = (hash.rotate_left(5) ^ term.index() as u64).wrapping_mul(0xF135_7AEA_2E62_A9C5);
    }
    hash.rotate_left(26)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: [usize; 2]) -> [TermId; 2] {
        values.map(TermId::new)
    }

    #[test]
    fn a_row_is_kept_once() {
        let mut table = Table::new(2);
        for round in 0..2 {
            for value in 0..100 {
                assert_eq!(table.insert(&row([value, value / 7])), round == 0);
            }
        }
        assert_eq!(table.n_rows(), 100);
    }

    #[test]
    fn rows_added_in_a_round_are_seen_in_the_next() {
        let mut table = Table::new(2);
        table.insert(&row([1, 2]));
        assert_eq!(table.range(Rows::All), 0..0);
        assert!(table.advance());
        table.insert(&row([3, 4]));
        assert_eq!((table.range(Rows::All), table.range(Rows::Old)), (0..1, 0..0));
        assert!(table.advance());
        assert_eq!((table.range(Rows::Delta), table.range(Rows::Old)), (1..2, 0..1));
        assert!(!table.advance());
    }

    #[test]
    fn an_index_leads_through_all_rows_of_a_key() {
        let mut table = Table::new(2);
        let index = table.index_on(&[1]);
        for round in 0..3 {
            (0..20).for_each(|value| table.push(&row([round * 20 + value, value % 3])));
            table.advance();
            table.fill_index(index);
        }
        let mut found = Vec::new();
        let mut next = table.latest(index, &[TermId::new(1)]);
        while let Some(row) = next {
            found.push(row);
            next = table.previous(index, row);
        }
        let expected: Vec<u32> = (0..60).rev().filter(|row| row % 20 % 3 == 1).collect();
        assert_eq!(found, expected);
        assert_eq!(table.latest(index, &[TermId::new(7)]), None);
    }
}

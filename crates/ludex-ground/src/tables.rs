//! Ground atoms by relation, with indexes that look inside terms.
//!
//! Most atoms of a game have the form `true(cell(X,Y,P))`: one argument, and rules join on its
//! parts. So an index is made for the *shape* of a literal: the names it decomposes, and the leaves
//! that are known at the time of the query.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use ludex_base::Symbol;
use ludex_base::ids::narrow;
use ludex_gdl::{TermId, Terms};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The ground atoms of one relation. The engine bounds their number before it adds one.
#[derive(Default)]
pub(crate) struct Table {
    arity: usize,
    /// All rows, one after the other.
    data: Vec<TermId>,
    status: Vec<Status>,
    by_tuple: HashTable<u32>,
    indexes: Vec<Index>,
}

/// The progress of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It only occurs negated so far; it may never be derived.
    Mentioned,
    /// Derived, but not yet joined.
    Queued,
    /// Derived, and joined with everything before it.
    Done,
}

/// The pattern of a literal, as far as an index uses it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A leaf whose value is given by the query.
    Key,
    /// A leaf whose value is unknown at the time of the query.
    Free,
    /// A term with this name, decomposed.
    Compound(Symbol, Box<[Shape]>),
}

/// Rows of one shape, chained by the hash of their keys. Different keys may share a chain, because
/// every walk compares the values anyway.
struct Index {
    shapes: Box<[Shape]>,
    heads: FxHashMap<u64, u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub row: u32,
    /// The next entry of the chain, or [`END`].
    pub next: u32,
}

/// The end of a chain.
pub(crate) const END: u32 = u32::MAX;

/// The hash of a key, from its parts in order.
#[derive(Default)]
pub(crate) struct KeyHash(<FxBuildHasher as BuildHasher>::Hasher);

impl KeyHash {
    #[inline]
    pub fn add(&mut self, term: TermId) {
        self.0.write_usize(term.index());
    }

    #[inline]
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Table {
    pub fn new(arity: usize) -> Self {
        Self { arity, ..Self::default() }
    }

    pub fn n_rows(&self) -> usize {
        self.status.len()
    }

    /// Returns the numbers of all rows.
    pub fn row_ids(&self) -> std::ops::Range<u32> {
        0..narrow(self.n_rows())
    }

    /// Iterates over all rows.
    pub fn rows(&self) -> impl Iterator<Item = &[TermId]> {
        self.row_ids().map(|row| self.row(row))
    }

    #[inline]
    pub fn row(&self, row: u32) -> &[TermId] {
        &self.data[row as usize * self.arity..][..self.arity]
    }

    pub fn status(&self, row: u32) -> Status {
        self.status[row as usize]
    }

    /// Returns the row of a tuple, if it exists.
    #[inline]
    pub fn find(&self, tuple: &[TermId]) -> Option<u32> {
        self.by_tuple.find(hash_tuple(tuple), |&row| self.row(row) == tuple).copied()
    }

    /// Returns the row of a tuple, adding it if it is new, with its previous status.
    pub fn insert(&mut self, tuple: &[TermId], status: Status) -> (u32, Option<Status>) {
        let hash = hash_tuple(tuple);
        if let Some(row) = self.by_tuple.find(hash, |&row| self.row(row) == tuple).copied() {
            let before = self.status[row as usize];
            if before == Status::Mentioned {
                self.status[row as usize] = status;
            }
            return (row, Some(before));
        }
        let row = narrow(self.status.len());
        self.data.extend_from_slice(tuple);
        self.status.push(status);
        let Self { data, by_tuple, arity, .. } = self;
        by_tuple.insert_unique(hash, row, |&other| {
            hash_tuple(&data[other as usize * *arity..][..*arity])
        });
        (row, None)
    }

    /// Makes a row visible to joins.
    pub fn finish(&mut self, row: u32, terms: &Terms) {
        self.status[row as usize] = Status::Done;
        let tuple = &self.data[row as usize * self.arity..][..self.arity];
        self.indexes.iter_mut().for_each(|index| index.add(row, tuple, terms));
    }

    /// Returns the index for literals of these shapes, creating it if it is new.
    pub fn index(&mut self, shapes: &[Shape], terms: &Terms) -> usize {
        if let Some(found) = self.indexes.iter().position(|index| *index.shapes == *shapes) {
            return found;
        }
        let mut index =
            Index { shapes: shapes.into(), heads: FxHashMap::default(), entries: Vec::new() };
        for row in self.row_ids() {
            if self.status(row) == Status::Done {
                index.add(row, self.row(row), terms);
            }
        }
        self.indexes.push(index);
        self.indexes.len() - 1
    }

    /// Returns the first entry of the chain with this key.
    #[inline]
    pub fn chain(&self, index: usize, key: u64) -> u32 {
        self.indexes[index].heads.get(&key).copied().unwrap_or(END)
    }

    #[inline]
    pub fn entry(&self, index: usize, entry: u32) -> Entry {
        self.indexes[index].entries[entry as usize]
    }

    /// Returns the number of different values of each argument.
    pub fn n_distinct(&self) -> Vec<usize> {
        (0..self.arity)
            .map(|column| {
                let mut values: Vec<TermId> =
                    self.data.iter().skip(column).step_by(self.arity).copied().collect();
                values.sort_unstable();
                values.dedup();
                values.len()
            })
            .collect()
    }

    /// Estimates how many bytes the table takes.
    pub fn n_bytes(&self) -> usize {
        self.blocks().sum()
    }

    /// Estimates the bytes of its largest block of memory, which doubles when it is full.
    pub fn largest_block(&self) -> usize {
        self.blocks().max().unwrap_or(0)
    }

    fn blocks(&self) -> impl Iterator<Item = usize> {
        let indexes = self.indexes.iter();
        [self.data.capacity() * 4, self.status.capacity(), self.by_tuple.capacity() * 6]
            .into_iter()
            .chain(indexes.flat_map(|it| [it.entries.capacity() * 8, it.heads.capacity() * 20]))
    }
}

impl Index {
    fn add(&mut self, row: u32, tuple: &[TermId], terms: &Terms) {
        let mut key = KeyHash::default();
        let fits =
            self.shapes.iter().zip(tuple).all(|(s, &term)| hash_keys(s, term, terms, &mut key));
        if fits {
            let entry = narrow(self.entries.len());
            let next = self.heads.insert(key.finish(), entry).unwrap_or(END);
            self.entries.push(Entry { row, next });
        }
    }
}

/// Adds the keys of a term to the hash; returns whether the term has the shape.
fn hash_keys(shape: &Shape, term: TermId, terms: &Terms, key: &mut KeyHash) -> bool {
    match shape {
        Shape::Key => {
            key.add(term);
            true
        }
        Shape::Free => true,
        Shape::Compound(name, parts) => {
            let args = terms.args(term);
            terms.name(term) == *name
                && args.len() == parts.len()
                && parts.iter().zip(args).all(|(part, &arg)| hash_keys(part, arg, terms, key))
        }
    }
}

fn hash_tuple(tuple: &[TermId]) -> u64 {
    let mut hash = KeyHash::default();
    tuple.iter().for_each(|&term| hash.add(term));
    hash.finish()
}

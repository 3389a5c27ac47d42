//! Constraints given by tables of tuples.
//!
//! | algorithm | tuples | for |
//! | --- | --- | --- |
//! | [`CompactTable`] | allowed, also short | the default |
//! | [`SmallTable`] | allowed, also short, up to 64 | the default for few tuples |
//! | [`NegativeTable`] | forbidden | the default |
//! | [`ForbiddenShort`] | forbidden, also short | short tuples; tables whose bit sets would not fit |
//! | [`BitTable`] | binary, either | the default for two variables |
//! | [`Ac2001`] | binary, either | comparison |
//! | [`Str2`] | allowed, also short | tables whose bit sets would not fit; comparison |
//! | [`Str`] | allowed, also short | comparison |

/// Implements the scope and the meaning of a propagator with the fields `scope` and `table`:
/// the variables take one of the tuples, or none of them.
macro_rules! scope_and_meaning {
    ($self:ident => $is_positive:expr) => {
        fn scope(&$self) -> &[VarId] {
            &$self.scope
        }

        fn holds(&$self, tuple: &[Value]) -> bool {
            $self.table.matches(tuple) == $is_positive
        }
    };
}

mod ac2001;
mod bit_table;
mod compact;
mod forbidden_short;
mod negative;
mod small;
mod str1;
mod str2;

use std::sync::Arc;

pub use ac2001::Ac2001;
pub use bit_table::BitTable;
pub use compact::CompactTable;
pub use forbidden_short::ForbiddenShort;
pub use negative::NegativeTable;
pub use small::SmallTable;
pub use str1::Str;
pub use str2::Str2;

use crate::domains::{Conflict, Domains, VarId};
use crate::{Cost, Propagator, Value};

/// Matches any value in a tuple.
pub const STAR: Value = Value::MIN;

/// Tuples of values, all of one length.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    arity: usize,
    values: Vec<Value>,
    has_stars: bool,
}

impl Table {
    /// Creates a table from its tuples, concatenated in one list.
    ///
    /// # Panics
    /// When the length of the list is not a multiple of `arity`.
    pub fn new(arity: usize, values: Vec<Value>) -> Self {
        assert!(
            arity > 0 && values.len().is_multiple_of(arity),
            "the length is not a multiple of the arity"
        );
        let has_stars = values.contains(&STAR);
        Self { arity, values, has_stars }
    }

    /// Creates a table from its tuples.
    ///
    /// # Panics
    /// When the length of a tuple is not `arity`.
    pub fn from_tuples<T: AsRef<[Value]>>(
        arity: usize,
        tuples: impl IntoIterator<Item = T>,
    ) -> Self {
        let mut values = Vec::new();
        for tuple in tuples {
            assert_eq!(tuple.as_ref().len(), arity, "a tuple has a wrong length");
            values.extend_from_slice(tuple.as_ref());
        }
        Self::new(arity, values)
    }

    /// Returns the length of the tuples.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Returns the number of tuples.
    pub fn len(&self) -> usize {
        self.values.len() / self.arity
    }

    /// Whether the table has no tuples.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether some tuple has a [`STAR`].
    pub fn has_stars(&self) -> bool {
        self.has_stars
    }

    /// Returns the tuples.
    pub fn tuples(&self) -> impl ExactSizeIterator<Item = &[Value]> {
        self.values.chunks_exact(self.arity)
    }

    /// Whether some tuple matches.
    pub fn matches(&self, tuple: &[Value]) -> bool {
        self.tuples()
            .any(|row| row.iter().zip(tuple).all(|(&cell, value)| cell == STAR || cell == *value))
    }
}

/// The algorithm that enforces a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableAlgorithm {
    /// Bit sets where they fit in [`MAX_BIT_TABLE_WORDS`], else [`Str2`].
    #[default]
    Auto,
    /// [`CompactTable`], also for two variables.
    CompactTable,
    /// [`BitTable`] for two variables, else as `Auto`.
    BitTable,
    /// [`Ac2001`] for two variables, else as `Auto`.
    Ac2001,
    /// [`Str2`].
    Str2,
    /// [`Str`].
    Str,
}

impl TableAlgorithm {
    /// All algorithms with their names in options.
    pub const ALL: [(&'static str, TableAlgorithm); 6] = [
        ("auto", TableAlgorithm::Auto),
        ("ct", TableAlgorithm::CompactTable),
        ("bit", TableAlgorithm::BitTable),
        ("ac2001", TableAlgorithm::Ac2001),
        ("str2", TableAlgorithm::Str2),
        ("str", TableAlgorithm::Str),
    ];
}

/// Largest size of the bit sets of one table in words (256 MiB); larger tables use [`Str2`].
pub const MAX_BIT_TABLE_WORDS: usize = 1 << 25;

/// Creates the propagator for a table over variables whose domains are bit sets.
///
/// An algorithm that does not support forbidden tuples is replaced by one that does.
pub fn table_propagator(
    scope: &[VarId],
    table: &Arc<Table>,
    is_positive: bool,
    algorithm: TableAlgorithm,
    domains: &Domains,
) -> Box<dyn Propagator> {
    let (scope, table) = (scope.to_vec(), Arc::clone(table));
    let n_values: usize = scope.iter().map(|&x| domains.n_indexes(x)).sum();
    let n_row_words = table.len().div_ceil(64).saturating_mul(n_values);
    let fits = n_row_words.saturating_mul(1 + usize::from(table.has_stars)) <= MAX_BIT_TABLE_WORDS;
    let n_pairs = scope.iter().fold(1_usize, |n, &x| n.saturating_mul(domains.n_indexes(x)));
    let is_binary = scope.len() == 2
        && scope[0] != scope[1]
        && !table.has_stars
        && n_pairs / 32 <= MAX_BIT_TABLE_WORDS;
    match algorithm {
        TableAlgorithm::Ac2001 if is_binary => {
            Box::new(Ac2001::new([scope[0], scope[1]], table, is_positive))
        }
        TableAlgorithm::Auto | TableAlgorithm::BitTable | TableAlgorithm::Ac2001 if is_binary => {
            Box::new(BitTable::new([scope[0], scope[1]], table, is_positive))
        }
        _ if !is_positive && (table.has_stars || !fits) => {
            Box::new(ForbiddenShort::new(scope, table))
        }
        _ if !is_positive => Box::new(NegativeTable::new(scope, table)),
        TableAlgorithm::Str => Box::new(Str::new(scope, table)),
        TableAlgorithm::Str2 => Box::new(Str2::new(scope, table)),
        TableAlgorithm::CompactTable => Box::new(CompactTable::new(scope, table)),
        _ if !fits => Box::new(Str2::new(scope, table)),
        _ if SmallTable::fits(&scope, &table, domains) => Box::new(SmallTable::new(scope, table)),
        _ => Box::new(CompactTable::new(scope, table)),
    }
}

/// The index of [`STAR`] in an [`indexed`] table.
const STAR_INDEX: u32 = u32::MAX;

/// Returns the tuples that the domains still allow, as indexes of values in one list.
fn indexed(scope: &[VarId], table: &Table, domains: &Domains) -> Vec<u32> {
    let mut indexes = Vec::new();
    let mut row_indexes = vec![0; scope.len()];
    for row in table.tuples() {
        let is_valid = scope.iter().zip(row).zip(&mut row_indexes).all(|((&x, &value), index)| {
            if value == STAR {
                *index = STAR_INDEX;
                return true;
            }
            match domains.index_of(x, value) {
                Some(i) if domains.contains_index(x, i) => {
                    *index = i;
                    true
                }
                _ => false,
            }
        });
        if is_valid {
            indexes.extend_from_slice(&row_indexes);
        }
    }
    indexes
}

/// The tuples of a table in an order in which the valid ones come first, for propagators that
/// visit tuples one by one.
#[derive(Clone, Default)]
struct Permutation {
    arity: usize,
    /// The tuples as in [`indexed`].
    tuples: Arc<[u32]>,
    /// The numbers of the tuples in this order.
    position: Vec<u32>,
}

impl Permutation {
    /// Creates the permutation of the tuples that the domains still allow, in their order.
    fn new(scope: &[VarId], table: &Table, domains: &Domains) -> Self {
        let tuples: Arc<[u32]> = indexed(scope, table, domains).into();
        let n_tuples = tuples.len() / scope.len();
        Self { arity: scope.len(), tuples, position: (0..n_tuples as u32).collect() }
    }

    fn len(&self) -> usize {
        self.position.len()
    }

    /// Keeps those of the first tuples that the function accepts, in their order, and swaps the
    /// others to the end. Returns the number of kept tuples.
    #[inline]
    fn retain(
        &mut self,
        n_valid: usize,
        mut is_kept: impl FnMut(&[u32]) -> Result<bool, Conflict>,
    ) -> Result<usize, Conflict> {
        let (mut place, mut n_valid) = (0, n_valid);
        while place < n_valid {
            let start = self.position[place] as usize * self.arity;
            if is_kept(&self.tuples[start..start + self.arity])? {
                place += 1;
            } else {
                n_valid -= 1;
                self.position.swap(place, n_valid);
            }
        }
        Ok(n_valid)
    }
}

/// Returns the cost of visiting this many tuples one by one.
fn scan_cost(n_tuples: usize) -> Cost {
    if n_tuples <= 1 << 16 { Cost::Quadratic } else { Cost::Heavy }
}

/// Returns the pairs of indexes of a binary table, with variable `which` first.
fn indexed_pairs<'a>(
    scope: [VarId; 2],
    table: &'a Table,
    which: usize,
    domains: &'a Domains,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let index = move |at: usize, pair: &[Value]| domains.index_of(scope[at], pair[at]);
    table.tuples().filter_map(move |pair| {
        Some((index(which, pair)? as usize, index(1 - which, pair)? as usize))
    })
}

/// Returns, by position, empty bit sets as long as the domain.
fn no_values(scope: &[VarId], domains: &Domains) -> Vec<Vec<u64>> {
    let n_words = |&x: &VarId| domains.bits(x).expect("tables have bit sets").len();
    scope.iter().map(|x| vec![0; n_words(x)]).collect()
}

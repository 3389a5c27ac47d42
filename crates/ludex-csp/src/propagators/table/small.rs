//! Tables of up to 64 tuples: the valid ones are the bits of one word.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{STAR_INDEX, Table, indexed};
use crate::domains::{Cell, Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A positive table of few tuples, possibly short, over small domains.
#[derive(Clone)]
pub struct SmallTable {
    scope: Vec<VarId>,
    table: Arc<Table>,
    /// By position and index of a value: the tuples that allow it.
    rows: Arc<[u64]>,
    /// By position: its first row.
    first: SmallVec<[u32; 8]>,
    valid: Option<Cell>,
}

/// Largest number of tuples.
const MAX_TUPLES: usize = 64;
/// Largest total number of values, which are tested one by one.
const MAX_VALUES: usize = 256;

impl SmallTable {
    /// Creates the constraint that the variables take one of the tuples.
    pub fn new(scope: Vec<VarId>, table: Arc<Table>) -> Self {
        Self { scope, table, rows: Arc::default(), first: SmallVec::new(), valid: None }
    }

    /// Whether this algorithm suits the table.
    pub fn fits(scope: &[VarId], table: &Table, domains: &Domains) -> bool {
        table.len() <= MAX_TUPLES
            && scope.iter().all(|&x| domains.n_indexes(x) <= 64)
            && scope.iter().map(|&x| domains.n_indexes(x)).sum::<usize>() <= MAX_VALUES
    }

    /// Returns the tuples that allow some value of a variable.
    #[inline]
    fn allowed(&self, position: usize, domains: &Domains) -> u64 {
        let rows = &self.rows[self.first[position] as usize..];
        let mut rest = domains.bits(self.scope[position]).expect("tables have bit sets")[0];
        let mut allowed = 0;
        while rest != 0 {
            allowed |= rows[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        allowed
    }
}

impl Propagator for SmallTable {
    fn name(&self) -> &'static str {
        "small table"
    }

    scope_and_meaning!(self => true);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        let tuples = indexed(&self.scope, &self.table, domains);
        let mut rows = Vec::new();
        for (position, &x) in self.scope.iter().enumerate() {
            let first = rows.len();
            self.first.push(first as u32);
            rows.resize(first + domains.n_indexes(x), 0);
            for (number, tuple) in tuples.chunks_exact(self.scope.len()).enumerate() {
                match tuple[position] {
                    STAR_INDEX => rows[first..].iter_mut().for_each(|row| *row |= 1 << number),
                    index => rows[first + index as usize] |= 1 << number,
                }
            }
        }
        self.rows = rows.into();
        let n_tuples = tuples.len() / self.scope.len();
        let all = if n_tuples == 64 { !0 } else { (1 << n_tuples) - 1 };
        self.valid = Some(domains.new_cell(all));
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let cell = self.valid.expect("a propagator is posted before it propagates");
        let old = domains.get(cell);
        let valid = (0..self.scope.len()).fold(old, |valid, at| valid & self.allowed(at, domains));
        if valid == 0 {
            return Err(Conflict);
        }
        if valid != old {
            domains.set(cell, valid);
        }
        let mut n_open = 0;
        for (position, &x) in self.scope.iter().enumerate() {
            if domains.is_fixed(x) {
                continue;
            }
            let rows = &self.rows[self.first[position] as usize..];
            let bits = domains.bits(x).expect("tables have bit sets")[0];
            let (mut rest, mut kept) = (bits, bits);
            while rest != 0 {
                let index = rest.trailing_zeros();
                rest &= rest - 1;
                if rows[index as usize] & valid == 0 {
                    kept &= !(1 << index);
                }
            }
            if kept != bits {
                domains.restrict_bits(x, &[kept])?;
            }
            n_open += usize::from(kept & (kept - 1) != 0);
        }
        // The remaining values of the last open variable all fit the fixed ones.
        Ok(if n_open <= 1 { Pruning::Entailed } else { Pruning::Fixpoint })
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    fn n_bytes(&self) -> usize {
        size_of_val(self) + 8 * self.rows.len() + 16 * self.scope.len()
    }

    duplicate_by_clone!();
}

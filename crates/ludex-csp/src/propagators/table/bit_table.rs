//! Binary constraints as bit matrices, with residues.
//!
//! A value of one variable is supported while its row intersects the domain of the other. The
//! word that last proved this is tested first.
//!
//! After Lecoutre and Vion, *Enforcing Arc Consistency Using Bitwise Operations*, 2008
//! (AC3^bit+rm).

use std::sync::Arc;

use super::{Table, indexed_pairs};
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A binary table, positive or negative.
#[derive(Clone)]
pub struct BitTable {
    scope: [VarId; 2],
    table: Arc<Table>,
    is_positive: bool,
    sides: [Side; 2],
    mask: Vec<u64>,
}

/// The values of one variable, with the values of the other that each allows.
#[derive(Clone, Default)]
struct Side {
    n_words: usize,
    rows: Arc<[u64]>,
    residues: Vec<u16>,
}

impl BitTable {
    /// Creates the constraint that the pair of variables is, or is not, in the table.
    pub fn new(scope: [VarId; 2], table: Arc<Table>, is_positive: bool) -> Self {
        assert!(
            !table.has_stars() && table.arity() == 2,
            "a binary table must have pairs without stars"
        );
        Self { scope, table, is_positive, sides: Default::default(), mask: Vec::new() }
    }

    fn revise(&mut self, which: usize, domains: &mut Domains) -> Result<bool, Conflict> {
        let (x, y) = (self.scope[which], self.scope[1 - which]);
        let side = &mut self.sides[which];
        let n_words = side.n_words;
        let bits = domains.bits(x).expect("tables have bit sets");
        let others = domains.bits(y).expect("tables have bit sets");
        if domains.is_fixed(y) {
            // The row of the value is the new domain.
            let index = domains.index_bounds(y).0 as usize;
            let row_words = bits.len();
            let row = &self.sides[1 - which].rows[index * row_words..(index + 1) * row_words];
            return domains.restrict_bits(x, row);
        }
        let (lo, hi) = domains.index_bounds(x);
        let mut is_reduced = false;
        let n_skipped = lo as usize / 64;
        for (word_idx, &word) in bits[..=hi as usize / 64].iter().enumerate().skip(n_skipped) {
            let (mut rest, mut kept) = (word, word);
            while rest != 0 {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let index = word_idx * 64 + bit;
                let row = &side.rows[index * n_words..(index + 1) * n_words];
                let residue = side.residues[index] as usize;
                if row[residue] & others[residue] != 0 {
                    continue;
                }
                match row.iter().zip(others).position(|(a, b)| a & b != 0) {
                    Some(found) => side.residues[index] = found as u16,
                    None => kept &= !(1 << bit),
                }
            }
            is_reduced |= kept != word;
            self.mask[word_idx] = kept;
        }
        if is_reduced { domains.restrict_bits(x, &self.mask) } else { Ok(false) }
    }
}

impl Propagator for BitTable {
    fn name(&self) -> &'static str {
        "binary table"
    }

    scope_and_meaning!(self => self.is_positive);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        let n_indexes = self.scope.map(|x| domains.n_indexes(x));
        for which in 0..2 {
            let n_words = n_indexes[1 - which].div_ceil(64);
            let start = if self.is_positive { 0 } else { !0_u64 };
            let mut rows = vec![start; n_indexes[which] * n_words];
            for (index, other) in indexed_pairs(self.scope, &self.table, which, domains) {
                let word = &mut rows[index * n_words + other / 64];
                let bit = 1 << (other % 64);
                *word = if self.is_positive { *word | bit } else { *word & !bit };
            }
            let residues = vec![0; n_indexes[which]];
            self.sides[which] = Side { n_words, rows: rows.into(), residues };
        }
        self.mask = vec![0; n_indexes[0].max(n_indexes[1]).div_ceil(64)];
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        // Values of the second variable that the first keeps are supports of values of the
        // first, so one pass in each direction is enough.
        self.revise(0, domains)?;
        self.revise(1, domains)?;
        let is_fixed = self.scope.iter().any(|&x| domains.is_fixed(x));
        Ok(if is_fixed { Pruning::Entailed } else { Pruning::Fixpoint })
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    fn n_bytes(&self) -> usize {
        let of_side = |side: &Side| 8 * side.rows.len() + 2 * side.residues.len();
        size_of_val(self) + 8 * self.mask.len() + self.sides.iter().map(of_side).sum::<usize>()
    }

    duplicate_by_clone!();
}

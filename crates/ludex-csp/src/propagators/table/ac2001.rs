//! Binary constraints by AC2001: the search for a support resumes at the last one found.
//!
//! After Bessière, Régin, Yap and Zhang, *An optimal coarse-grained arc consistency
//! algorithm*, 2005. Resuming is correct only while domains shrink, so the last supports are
//! reversible.

use std::sync::Arc;

use super::{Table, indexed_pairs};
use crate::domains::{Cells, Conflict, Domains, Events, VarId};
use crate::propagator::{Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// A binary table, positive or negative, kept for comparison with
/// [`BitTable`](super::BitTable).
#[derive(Clone)]
pub struct Ac2001 {
    scope: [VarId; 2],
    table: Arc<Table>,
    is_positive: bool,
    /// By side: which pairs of indexes are allowed, row by row.
    allowed: [Arc<[bool]>; 2],
    last: Option<[Cells; 2]>,
}

impl Ac2001 {
    /// Creates the constraint that the pair of variables is, or is not, in the table.
    pub fn new(scope: [VarId; 2], table: Arc<Table>, is_positive: bool) -> Self {
        assert!(
            !table.has_stars() && table.arity() == 2,
            "a binary table must have pairs without stars"
        );
        let empty = || Arc::<[bool]>::from([]);
        Self { scope, table, is_positive, allowed: [empty(), empty()], last: None }
    }

    fn revise(&mut self, which: usize, domains: &mut Domains) -> Result<(), Conflict> {
        let (x, y) = (self.scope[which], self.scope[1 - which]);
        let last = self.last.expect("a propagator is posted before it propagates")[which];
        let n_others = domains.n_indexes(y);
        let mut next = Some(domains.index_bounds(x).0);
        while let Some(index) = next {
            next = domains.next_index(x, index + 1);
            let from = domains.get(last.at(index as usize)) as u32;
            let row =
                &self.allowed[which][index as usize * n_others..(index as usize + 1) * n_others];
            let mut support = domains.next_index(y, from);
            while let Some(other) = support {
                if row[other as usize] {
                    break;
                }
                support = domains.next_index(y, other + 1);
            }
            match support {
                Some(other) if other != from => {
                    domains.set(last.at(index as usize), u64::from(other))
                }
                Some(_) => {}
                None => {
                    domains.remove_index(x, index)?;
                }
            }
        }
        Ok(())
    }
}

impl Propagator for Ac2001 {
    fn name(&self) -> &'static str {
        "binary table by AC2001"
    }

    scope_and_meaning!(self => self.is_positive);

    fn post(&mut self, setup: &mut Setup<'_>) {
        let domains = setup.domains();
        let n_indexes = self.scope.map(|x| domains.n_indexes(x));
        for which in 0..2 {
            let mut allowed = vec![!self.is_positive; n_indexes[0] * n_indexes[1]];
            for (index, other) in indexed_pairs(self.scope, &self.table, which, domains) {
                allowed[index * n_indexes[1 - which] + other] = self.is_positive;
            }
            self.allowed[which] = allowed.into();
        }
        self.last = Some(n_indexes.map(|n| domains.new_cells(n, 0)));
        setup.subscribe_all(&self.scope, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        self.revise(0, domains)?;
        self.revise(1, domains)?;
        Ok(Pruning::Fixpoint)
    }

    duplicate_by_clone!();
}

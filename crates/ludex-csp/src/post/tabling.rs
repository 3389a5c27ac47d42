//! Tables for small expressions.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{BYTES_EACH, Poster};
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::Expr;
use crate::propagators::table::Table;
use crate::{Value, ValueSet};

impl Poster<'_> {
    /// Whether a table is small and prunes more than the decomposed expression.
    pub(super) fn is_worth_tabling(&self, e: &Expr, scope: &[VarId]) -> bool {
        let is_flat = |e: &Expr| {
            e.linear_form().is_some_and(|(terms, _)| {
                terms.iter().all(|(_, term)| matches!(term, Expr::Var(_)))
            })
        };
        let is_simple = match e {
            Expr::Compare(_, a, b) => is_flat(a) && is_flat(b),
            Expr::Or(list) => list.iter().all(|e| self.literal(e).is_some()),
            _ => false,
        };
        !is_simple && self.is_small(scope)
    }

    pub(super) fn is_small(&self, scope: &[VarId]) -> bool {
        let limit = match scope.len() {
            0..=2 => 5 * self.config.max_tabled,
            3..=8 => self.config.max_tabled,
            _ => 0,
        };
        let domains = self.domains();
        scope.iter().all(|&x| domains.bits(x).is_some())
            && scope.iter().fold(1, |n: u64, &x| n.saturating_mul(domains.size(x))) <= limit
    }

    pub(super) fn require_table(&mut self, e: &Expr, scope: &[VarId]) -> Result<(), CspError> {
        let table = self.tabled(e, scope);
        self.table(scope, &table, true)
    }

    /// Whether the table allows so much that it rarely prunes before all but one of its
    /// variables are fixed. A clause prunes as much at lower cost.
    pub(super) fn is_loose(&self, table: &Table, scope: &[VarId]) -> bool {
        let n_all: u64 = scope.iter().map(|&x| self.domains().size(x)).product();
        table.len() as u64 * 10 > n_all * 8
    }

    /// Returns the table of the tuples for which an expression is true.
    pub(super) fn tabled(&mut self, e: &Expr, scope: &[VarId]) -> Arc<Table> {
        let place: FxHashMap<VarId, usize> =
            scope.iter().enumerate().map(|(at, &x)| (x, at)).collect();
        let form = e.rename(&|x| Expr::Var(VarId::new(place[&x])));
        let sets: Vec<ValueSet> = scope.iter().map(|&x| self.domains().value_set(x)).collect();
        let key = (form, sets);
        if let Some(table) = self.tabled.get(&key) {
            return Arc::clone(table);
        }
        let (form, sets) = &key;
        let mut values = Vec::new();
        for_each_tuple(sets, &mut |tuple| {
            if form.holds(&|x| i64::from(tuple[x.index()])) {
                values.extend_from_slice(tuple);
            }
        });
        let table = Arc::new(Table::new(scope.len(), values));
        self.n_bytes += BYTES_EACH + key.0.n_bytes() + 4 * (table.len() * table.arity()) as u64;
        self.tabled.insert(key, Arc::clone(&table));
        table
    }
}

/// Calls `see` with every combination of values.
pub(super) fn for_each_tuple(sets: &[ValueSet], see: &mut dyn FnMut(&[Value])) {
    let lists: Vec<Vec<Value>> = sets.iter().map(|set| set.iter().collect()).collect();
    let mut places = vec![0; lists.len()];
    let mut tuple: Vec<Value> = match lists.iter().map(|list| list.first().copied()).collect() {
        Some(tuple) => tuple,
        None => return,
    };
    loop {
        see(&tuple);
        let mut at = lists.len();
        loop {
            if at == 0 {
                return;
            }
            at -= 1;
            places[at] += 1;
            if places[at] < lists[at].len() {
                tuple[at] = lists[at][places[at]];
                break;
            }
            places[at] = 0;
            tuple[at] = lists[at][0];
        }
    }
}

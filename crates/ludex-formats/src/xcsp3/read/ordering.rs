//! Constraints on the difference and the order of terms.

use std::sync::Arc;

use ludex_csp::propagators::Automaton;
use ludex_csp::{Comparison, Constraint, Expr, Value, ValueSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::text;
use super::super::xml::Node;
use super::pieces::transposed;
use super::{Reader, operator, required_flag};
use crate::FormatError;

impl Reader {
    pub(super) fn except(&self, node: &Node) -> Result<ValueSet, FormatError> {
        match node.child("except") {
            Some(except) => text::value_set(&except.text, &self.symbols)
                .map_err(|problem| except.error(problem)),
            None => Ok(ValueSet::default()),
        }
    }

    pub(super) fn all_different(&mut self, node: &Node) -> Result<(), FormatError> {
        let lists: Vec<&Node> = node.children_named("list").collect();
        if lists.len() > 1 {
            return self.different_lists(node, &lists);
        }
        let except = self.except(node)?;
        if let Some(matrix) = node.child("matrix") {
            let rows = self.matrix(matrix)?;
            for list in rows.iter().cloned().chain(transposed(&rows)) {
                self.add(Constraint::AllDifferent { list, except: except.clone() });
            }
            return Ok(());
        }
        let list = self.direct_list(node)?;
        self.add(Constraint::AllDifferent { list, except });
        Ok(())
    }

    /// Reads lists that are pairwise different, except for tuples that may be repeated.
    fn different_lists(&mut self, node: &Node, lists: &[&Node]) -> Result<(), FormatError> {
        let lists: Vec<Vec<Expr>> =
            lists.iter().map(|list| self.list(list)).collect::<Result<_, _>>()?;
        let Some(except) = node.child("except") else {
            self.add(Constraint::AllDifferentLists { lists });
            return Ok(());
        };
        let n = lists[0].len();
        if lists.iter().any(|list| list.len() != n) {
            return Err(node.error("the lists have different lengths"));
        }
        if n == 0 {
            return Err(node.error("the lists are empty"));
        }
        let table = self.tuples_of(except, n)?;
        for (i, first) in lists.iter().enumerate() {
            let is_excepted = |tuple: &[Value]| {
                Expr::And(first.iter().zip(tuple).map(|(e, &v)| e.clone().equals(v)).collect())
            };
            for second in &lists[..i] {
                let differs = first.iter().zip(second).map(|(a, b)| a.clone().differs(b));
                let e = Expr::Or(differs.chain(table.tuples().map(is_excepted)).collect());
                self.add(Constraint::Intension(e));
            }
        }
        Ok(())
    }

    pub(super) fn ordered(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let op = operator(node)?;
        let lengths = match node.child("lengths") {
            Some(lengths) => self.list(lengths)?,
            None => vec![Expr::from(0); list.len().saturating_sub(1)],
        };
        if lengths.len() + 1 < list.len() {
            return Err(node.error("`lengths` has too few values"));
        }
        for (pair, length) in list.windows(2).zip(lengths) {
            let left = Expr::Sum(vec![pair[0].clone(), length]);
            let e = Expr::Compare(op, Box::new(left), Box::new(pair[1].clone()));
            self.add(Constraint::Intension(e));
        }
        Ok(())
    }

    pub(super) fn lex(&mut self, node: &Node) -> Result<(), FormatError> {
        let op = operator(node)?;
        let mut orders: Vec<Vec<Vec<Expr>>> = Vec::new();
        if let Some(matrix) = node.child("matrix") {
            let rows = self.matrix(matrix)?;
            orders.push(transposed(&rows).collect());
            orders.push(rows);
        } else {
            let lists = node.children_named("list").map(|list| self.list(list));
            orders.push(lists.collect::<Result<_, _>>()?);
        }
        for mut lists in orders {
            let is_strict = matches!(op, Comparison::Lt | Comparison::Gt);
            match op {
                Comparison::Lt | Comparison::Le => {}
                Comparison::Gt | Comparison::Ge => lists.reverse(),
                _ => return Err(node.error("the operator of `lex` is not lt, le, ge or gt")),
            }
            self.add(Constraint::Lex { lists, is_strict });
        }
        Ok(())
    }

    /// Each value first occurs after the value before it in `values`, if it occurs. The
    /// constraint becomes an automaton that counts the values seen so far.
    pub(super) fn precedence(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.direct_list(node)?;
        let values = match node.child("values") {
            Some(_) => self.child_integers(node, "values")?,
            None => {
                let mut all: Vec<Value> = Vec::new();
                for e in &list {
                    if let Expr::Var(x) = e {
                        all.extend(self.network.variable(*x).domain.iter().take(1 << 16));
                    }
                }
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        let covered = required_flag(node.child("values"), "covered");
        let mut letters: FxHashSet<Value> = values.iter().copied().collect();
        for e in &list {
            let bounds = e.bounds(&|x| {
                let domain = &self.network.variable(x).domain;
                (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
            });
            if bounds.1.saturating_sub(bounds.0) > 1 << 16 {
                return Err(node.unsupported("`precedence` over very large domains"));
            }
            letters.extend((bounds.0..=bounds.1).filter_map(|v| Value::try_from(v).ok()));
        }
        const MAX_TRANSITIONS: usize = 1 << 22;
        if letters.len().saturating_mul(values.len() + 1) > MAX_TRANSITIONS {
            return Err(node.unsupported("`precedence` over very many values"));
        }
        let mut transitions = Vec::new();
        let mut letters: Vec<Value> = letters.into_iter().collect();
        letters.sort_unstable();
        let mut places: FxHashMap<Value, usize> = FxHashMap::default();
        for (at, &value) in values.iter().enumerate() {
            places.entry(value).or_insert(at);
        }
        for n_seen in 0..=values.len() {
            for &letter in &letters {
                match places.get(&letter).copied() {
                    Some(at) if at > n_seen => {}
                    Some(at) if at == n_seen => transitions.push((n_seen, letter, n_seen + 1)),
                    _ => transitions.push((n_seen, letter, n_seen)),
                }
            }
        }
        let n_states = values.len() + 1;
        let accepting = if covered { vec![values.len()] } else { (0..n_states).collect() };
        let automaton = Arc::new(Automaton { n_states, start: 0, accepting, transitions });
        self.add(Constraint::Regular { list, automaton });
        Ok(())
    }
}

//! Tables and automata.

use std::sync::Arc;

use ludex_base::StopReason;
use ludex_csp::propagators::Automaton;
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Value};
use rustc_hash::FxHashMap;

use super::super::text::{self, Problem};
use super::super::xml::Node;
use super::{Reader, problem_at, required};
use crate::FormatError;

impl Reader {
    pub(super) fn extension(&mut self, node: &Node) -> Result<(), FormatError> {
        let scope = self.scope(required(node, "list")?)?;
        let (tuples, is_positive) = match (node.child("supports"), node.child("conflicts")) {
            (Some(supports), None) => (supports, true),
            (None, Some(conflicts)) => (conflicts, false),
            _ => return Err(node.error("a table needs either `supports` or `conflicts`")),
        };
        if scope.is_empty() {
            return Err(node.error("a table without variables"));
        }
        let key = (tuples.text.as_ptr() as usize, scope.len());
        let table = match self.tables.get(&key) {
            Some(table) => Arc::clone(table),
            None => {
                let table = Arc::new(self.tuples_of(tuples, scope.len())?);
                self.tables.insert(key, Arc::clone(&table));
                self.table_texts.push(Arc::clone(&tuples.text));
                table
            }
        };
        self.add(Constraint::Table { scope, table, is_positive });
        Ok(())
    }

    /// Reads the tuples of an element.
    pub(super) fn tuples_of(&self, node: &Node, arity: usize) -> Result<Table, FormatError> {
        text::table(&node.text, arity, &self.symbols, &self.deadline)
            .map_err(|problem| problem_at(node, problem))?
            .ok_or(FormatError::Stopped(StopReason::of_deadline()))
    }

    pub(super) fn transitions(
        &self,
        node: &Node,
    ) -> Result<Vec<(String, Value, String)>, FormatError> {
        let source = required(node, "transitions")?;
        let tuples = text::tuples(&source.text).map_err(|problem| source.error(problem))?;
        let transition = |parts: Vec<&str>| match parts[..] {
            [from, value, to] => Ok((from.to_string(), self.symbols.value(value)?, to.to_string())),
            _ => Err("a transition needs three parts".to_string()),
        };
        let all: Result<Vec<_>, Problem> = tuples.into_iter().map(transition).collect();
        all.map_err(|problem| source.error(problem))
    }

    pub(super) fn regular(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut number = |name: &str| {
            let next = numbers.len();
            *numbers.entry(name.to_string()).or_insert(next)
        };
        let start = number(required(node, "start")?.text.trim());
        let accepting: Vec<usize> =
            required(node, "final")?.text.split_whitespace().map(&mut number).collect();
        let transitions: Vec<(usize, Value, usize)> = self
            .transitions(node)?
            .iter()
            .map(|(from, value, to)| (number(from), *value, number(to)))
            .collect();
        let n_states = numbers.len();
        let automaton = Arc::new(Automaton { n_states, start, accepting, transitions });
        self.add(Constraint::Regular { list, automaton });
        Ok(())
    }
}

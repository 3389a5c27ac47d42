//! Constraints that count occurrences and constraints that index or connect lists.

use ludex_csp::{Comparison, Condition, Constraint, Expr, Value};

use super::super::text;
use super::super::xml::Node;
use super::{Reader, problem_at, required, required_flag, start_index};
use crate::FormatError;

impl Reader {
    pub(super) fn count(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let values = self.child_list(node, "values")?;
        let condition = self.child_condition(node)?;
        let constraint = match constants(&values) {
            Some(constants) => Constraint::Count { list, values: constants.into(), condition },
            // Values given as variables are compared one by one.
            None => {
                let is_one =
                    |e: &Expr| Expr::Or(values.iter().map(|v| e.clone().equals(v)).collect());
                Constraint::Intension(condition.on(Expr::Sum(list.iter().map(is_one).collect())))
            }
        };
        self.add(constraint);
        Ok(())
    }

    pub(super) fn cardinality(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let values_node = required(node, "values")?;
        let values = self.list(values_node)?;
        let occurs = required(node, "occurs")?;
        let mut occurrences = Vec::new();
        for token in text::tokens(&occurs.text) {
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if is_number && token.contains("..") {
                let set = text::value_set(token, &self.symbols)
                    .map_err(|problem| occurs.error(problem))?;
                occurrences.push(Condition::In(set));
            } else {
                let terms = self.list_of(token).map_err(|problem| problem_at(occurs, problem))?;
                occurrences.extend(terms.into_iter().map(Condition::equals));
            }
        }
        let is_closed = required_flag(Some(values_node), "closed");
        if let Some(values) = constants(&values) {
            self.add(Constraint::Cardinality { list, values, occurrences, is_closed });
            return Ok(());
        }
        if values.len() != occurrences.len() {
            return Err(node.error("the numbers of values and occurrences differ"));
        }
        // Values given as variables are compared one by one.
        for (value, condition) in values.iter().zip(&occurrences) {
            let n = Expr::Sum(list.iter().map(|e| e.clone().equals(value)).collect());
            self.add(Constraint::Intension(condition.on(n)));
        }
        if is_closed {
            for e in &list {
                let is_covered = values.iter().map(|value| e.clone().equals(value)).collect();
                self.add(Constraint::Intension(Expr::Or(is_covered)));
            }
        }
        Ok(())
    }

    pub(super) fn extremum_place(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        if list.is_empty() {
            return Err(node.error("the list is empty"));
        }
        let is_maximum = node.name == "maximumArg";
        let start = start_index(required(node, "list")?)?;
        let end = start + list.len() as Value - 1;
        let place = match self.child_condition(node)? {
            Condition::Compare(Comparison::Eq, place) => place,
            condition => {
                // The index becomes an auxiliary variable; with a rank, the list determines its
                // value.
                let rank = node.attribute("rank").unwrap_or("any");
                if rank == "any" {
                    return Err(
                        node.unsupported("a condition other than `eq` on an index of rank `any`")
                    );
                }
                let name = format!("_place{}", self.network.variables().len());
                let place = self.add_variable(name, (start..=end).into());
                self.add(Constraint::Intension(condition.on(Expr::Var(place))));
                Expr::Var(place)
            }
        };
        let extremum = if is_maximum { Expr::Max(list.clone()) } else { Expr::Min(list.clone()) };
        self.add(Constraint::Element {
            list: list.clone(),
            start,
            index: place.clone(),
            condition: Condition::equals(extremum.clone()),
        });
        let rank = node.attribute("rank").unwrap_or("any");
        if rank == "any" {
            return Ok(());
        }
        for (at, e) in list.into_iter().enumerate() {
            let number = Expr::from(start + at as Value);
            let is_passed = match rank {
                "first" => number.less_than(&place),
                "last" => number.greater_than(&place),
                other => return Err(node.unsupported(format!("the rank {other}"))),
            };
            self.add(Constraint::Intension(is_passed.implies(e.differs(&extremum))));
        }
        Ok(())
    }

    pub(super) fn element(&mut self, node: &Node) -> Result<(), FormatError> {
        let condition = match (node.child("value"), node.child("condition")) {
            (Some(value), None) => Condition::equals(self.expr(value, &value.text)?),
            (None, Some(condition)) => self.condition(condition)?,
            _ => return Err(node.error("`element` needs either a value or a condition")),
        };
        if let Some(matrix_node) = node.child("matrix") {
            let rows = self.matrix(matrix_node)?;
            let index_node = required(node, "index")?;
            let [i, j]: [Expr; 2] = self
                .list(index_node)?
                .try_into()
                .map_err(|_| index_node.error("a matrix needs two indexes"))?;
            let n_columns = rows.first().map_or(0, Vec::len);
            if n_columns == 0 || rows.iter().any(|row| row.len() != n_columns) {
                return Err(matrix_node.error("the rows of the matrix differ in length"));
            }
            let start = |name: &str| match matrix_node.attribute(name) {
                Some(start) => text::integer(start).map_err(|problem| matrix_node.error(problem)),
                None => Ok(0),
            };
            let (start_row, start_column) = (start("startRowIndex")?, start("startColIndex")?);
            let in_range = |e: &Expr, start: Value, n: usize| {
                e.clone().at_least(start) & e.clone().at_most(start + n as Value - 1)
            };
            self.add(Constraint::Intension(in_range(&i, start_row, rows.len())));
            self.add(Constraint::Intension(in_range(&j, start_column, n_columns)));
            let index = (i - start_row) * n_columns as Value + (j - start_column);
            let list = rows.concat();
            self.add(Constraint::Element { list, start: 0, index, condition });
            return Ok(());
        }
        let list_node = required(node, "list")?;
        let list = self.list(list_node)?;
        match node.child("index") {
            Some(index_node) => {
                if index_node.attribute("rank").is_some_and(|rank| rank != "any") {
                    return Err(index_node.unsupported("`element` with a rank"));
                }
                let index = self.expr(index_node, &index_node.text)?;
                let start = start_index(list_node)?;
                self.add(Constraint::Element { list, start, index, condition });
            }
            None => {
                let some = list.into_iter().map(|e| condition.on(e)).collect();
                self.add(Constraint::Intension(Expr::Or(some)));
            }
        }
        Ok(())
    }

    pub(super) fn channel(&mut self, node: &Node) -> Result<(), FormatError> {
        let lists: Vec<&Node> = node.children_named("list").collect();
        if let Some(value) = node.child("value") {
            let list_node = required(node, "list")?;
            let start = start_index(list_node)?;
            let list = self.list(list_node)?;
            let value = self.expr(value, &value.text)?;
            let last = start + list.len() as Value - 1;
            self.add(Constraint::Intension(
                value.clone().at_least(start) & value.clone().at_most(last),
            ));
            for (at, e) in list.into_iter().enumerate() {
                let is_here = value.clone().equals(start + at as Value);
                self.add(Constraint::Intension(e.equals(is_here)));
            }
            return Ok(());
        }
        let (first, second) = match lists[..] {
            [] => (node, node),
            [list] => (list, list),
            [first, second] => (first, second),
            _ => return Err(node.unsupported("`channel` of more than two lists")),
        };
        let (mut start_first, mut start_second) = (start_index(first)?, start_index(second)?);
        let (mut first, mut second) = (self.list(first)?, self.list(second)?);
        if first.len() > second.len() {
            std::mem::swap(&mut first, &mut second);
            std::mem::swap(&mut start_first, &mut start_second);
        }
        self.add(Constraint::Channel { first, start_first, second, start_second });
        Ok(())
    }
}

/// Returns the numbers of a list, if it contains only numbers.
fn constants(list: &[Expr]) -> Option<Vec<Value>> {
    let constant = |e: &Expr| match e {
        Expr::Constant(value) => Value::try_from(*value).ok(),
        _ => None,
    };
    list.iter().map(constant).collect()
}

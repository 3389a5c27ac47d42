//! The pieces of constraints: lists, matrices, conditions.

use ludex_csp::{Condition, Expr, Operation, Value, VarId};

use super::super::text::{self, Problem};
use super::super::xml::Node;
use super::{Reader, comparison, problem_at, required};
use crate::FormatError;

impl Reader {
    pub(super) fn expr(&self, node: &Node, text: &str) -> Result<Expr, FormatError> {
        self.expr_of(text).map_err(|problem| problem_at(node, problem))
    }

    pub(super) fn expr_of(&self, text: &str) -> Result<Expr, Problem> {
        text::expression(text, &self.symbols, &|name| match self.vars(name) {
            Ok(vars) if vars.len() == 1 => Ok(Expr::Var(vars[0])),
            Ok(_) => Err(format!("`{name}` is not a single variable")),
            Err(problem) => self.symbols.get(name).map(Expr::from).ok_or(problem),
        })
    }

    /// Reads a list of variables, numbers and expressions.
    pub(super) fn list(&self, node: &Node) -> Result<Vec<Expr>, FormatError> {
        self.list_of(&node.text).map_err(|problem| problem_at(node, problem))
    }

    pub(super) fn list_of(&self, text: &str) -> Result<Vec<Expr>, Problem> {
        const MAX_TERMS: usize = 4_000_000;
        let mut list = Vec::new();
        for token in text::tokens(text) {
            if list.len() > MAX_TERMS {
                return Err(format!("a list has at most {MAX_TERMS} terms"));
            }
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
            if is_number {
                list.extend(text::integers(token, &self.symbols)?.into_iter().map(Expr::from));
            } else if token.contains('(') {
                list.push(self.expr_of(token)?);
            } else {
                match self.vars(token) {
                    Ok(vars) => list.extend(vars.into_iter().map(Expr::Var)),
                    Err(problem) => {
                        list.push(self.symbols.get(token).map(Expr::from).ok_or(problem)?);
                    }
                }
            }
        }
        Ok(list)
    }

    pub(super) fn child_list(&self, node: &Node, name: &str) -> Result<Vec<Expr>, FormatError> {
        self.list(required(node, name)?)
    }

    /// Reads the list of a constraint, which may be written without an element of its own.
    pub(super) fn direct_list(&self, node: &Node) -> Result<Vec<Expr>, FormatError> {
        self.list(node.child("list").unwrap_or(node))
    }

    pub(super) fn child_integers(
        &self,
        node: &Node,
        name: &str,
    ) -> Result<Vec<Value>, FormatError> {
        let child = required(node, name)?;
        text::integers(&child.text, &self.symbols).map_err(|problem| child.error(problem))
    }

    /// Reads a list that contains only variables.
    pub(super) fn scope(&self, node: &Node) -> Result<Vec<VarId>, FormatError> {
        let as_var = |e: Expr| match e {
            Expr::Var(x) => Ok(x),
            _ => Err(node.unsupported("a term other than a variable in a scope")),
        };
        self.list(node)?.into_iter().map(as_var).collect()
    }

    /// Reads the rows of a matrix: tuples, or an array of two dimensions.
    pub(super) fn matrix(&self, node: &Node) -> Result<Vec<Vec<Expr>>, FormatError> {
        let text = node.text.trim();
        if text.starts_with('(') {
            let rows = text::tuples(text).map_err(|problem| node.error(problem))?;
            let row = |row: Vec<&str>| {
                let cells: Result<Vec<Vec<Expr>>, Problem> =
                    row.into_iter().map(|cell| self.list_of(cell)).collect();
                cells.map(|cells| cells.concat()).map_err(|problem| problem_at(node, problem))
            };
            return rows.into_iter().map(row).collect();
        }
        let name = text.split('[').next().unwrap_or_default();
        let array = self.arrays.get(name).filter(|array| array.sizes.len() == 2);
        let array = array.ok_or_else(|| node.error(format!("`{text}` is not a matrix")))?;
        let places = array.indexes(&text[name.len()..]).map_err(|problem| node.error(problem))?;
        let [rows, columns] = &places[..] else {
            return Err(node.error(format!("`{text}` is not a matrix")));
        };
        let cell = |row: usize, column: usize| {
            let x = array.cells[row * array.sizes[1] + column];
            x.map(Expr::Var).ok_or_else(|| node.error(format!("`{text}` has missing cells")))
        };
        rows.clone().map(|row| columns.clone().map(|column| cell(row, column)).collect()).collect()
    }

    pub(super) fn condition(&self, node: &Node) -> Result<Condition, FormatError> {
        let text = node.text.trim();
        let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let (op, right) = inside
            .and_then(|inside| inside.split_once(','))
            .ok_or_else(|| node.error(format!("`{text}` is not a condition")))?;
        let right = right.trim();
        let op = match op.trim() {
            "in" | "notin" => {
                let set = right.trim_start_matches('{').trim_end_matches('}').replace(',', " ");
                let set =
                    text::value_set(&set, &self.symbols).map_err(|problem| node.error(problem))?;
                let is_in = op.trim() == "in";
                return Ok(Condition::In(if is_in { set } else { set.complement() }));
            }
            op => comparison(op).ok_or_else(|| node.unsupported(format!("`{op}`")))?,
        };
        Ok(Condition::Compare(op, self.expr(node, right)?))
    }

    pub(super) fn child_condition(&self, node: &Node) -> Result<Condition, FormatError> {
        self.condition(required(node, "condition")?)
    }

    /// Reads a list and multiplies it by its coefficients, if it has any.
    pub(super) fn weighted_sum(&self, node: &Node) -> Result<Expr, FormatError> {
        let list = self.direct_list(node)?;
        let Some(coefficients) = node.child("coeffs") else {
            return Ok(Expr::Sum(list));
        };
        let factors = self.list(coefficients)?;
        if factors.len() != list.len() {
            return Err(node.error("the numbers of terms and coefficients differ"));
        }
        let product = |(a, b): (Expr, Expr)| Expr::Binary(Operation::Mul, Box::new(a), Box::new(b));
        Ok(Expr::Sum(factors.into_iter().zip(list).map(product).collect()))
    }
}

pub(super) fn transposed(rows: &[Vec<Expr>]) -> impl Iterator<Item = Vec<Expr>> {
    let n_columns = rows.first().map_or(0, Vec::len);
    (0..n_columns).map(|j| rows.iter().filter_map(|row| row.get(j).cloned()).collect())
}

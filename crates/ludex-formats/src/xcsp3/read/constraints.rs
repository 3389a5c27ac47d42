//! Reads each constraint by the name of its element.

use std::sync::Arc;

use ludex_csp::propagators::Mdd;
use ludex_csp::{Condition, Constraint, Expr};

use super::super::xml::Node;
use super::{Reader, required, start_index};
use crate::FormatError;

impl Reader {
    pub(super) fn constraints(&mut self, node: &Node) -> Result<(), FormatError> {
        node.children.iter().try_for_each(|child| self.constraint(child))
    }

    pub(super) fn constraint(&mut self, node: &Node) -> Result<(), FormatError> {
        self.check_deadline()?;
        self.line = node.line;
        if let Some(id) = node.attribute("id") {
            self.known.insert(id.to_string(), node.clone());
        }
        if let Some(other) = node.attribute("as") {
            let mut like =
                self.known.get(other).cloned().ok_or_else(|| {
                    node.error(format!("there is no `{other}` to copy with `as`"))
                })?;
            // The children given here replace those of the copied element.
            for child in &node.children {
                like.children.retain(|own| own.name != child.name);
            }
            like.children.extend(node.children.iter().cloned());
            like.attributes.retain(|(key, _)| key != "id" && key != "as");
            return self.constraint(&like);
        }
        let n_before = self.network.constraints().len();
        match &*node.name {
            "block" => self.constraints(node)?,
            "group" => self.group(node)?,
            "slide" => self.slide(node)?,
            "intension" => {
                let source = node.child("function").unwrap_or(node);
                let e = self.expr(source, &source.text)?;
                self.add(Constraint::Intension(e));
            }
            "extension" => self.extension(node)?,
            "regular" => self.regular(node)?,
            "mdd" => {
                let list = self.child_list(node, "list")?;
                let transitions = self.transitions(node)?;
                let arcs = transitions.iter().map(|(a, v, b)| (a.as_str(), *v, b.as_str()));
                let mdd = Mdd::from_transitions(list.len(), arcs).ok_or_else(|| {
                    node.error("the diagram does not have one layer for each term of the list")
                })?;
                self.add(Constraint::Mdd { list, mdd: Arc::new(mdd) });
            }
            "allDifferent" => self.all_different(node)?,
            "allEqual" => {
                let list = self.direct_list(node)?;
                self.add(Constraint::Intension(Expr::AllEqual(list)));
            }
            "ordered" => self.ordered(node)?,
            "lex" => self.lex(node)?,
            "precedence" => self.precedence(node)?,
            "sum" => {
                let sum = self.weighted_sum(node)?;
                let condition = self.child_condition(node)?;
                self.add(Constraint::Intension(condition.on(sum)));
            }
            "count" => self.count(node)?,
            "nValues" => {
                let list = self.child_list(node, "list")?;
                let except = self.except(node)?;
                let condition = self.child_condition(node)?;
                self.add(Constraint::NValues { list, except, condition });
            }
            "cardinality" => self.cardinality(node)?,
            "minimum" | "maximum" => {
                let list = self.child_list(node, "list")?;
                if node.child("index").is_some() {
                    return Err(node.unsupported(format!("`{}` with an index", node.name)));
                }
                if list.is_empty() {
                    return Err(node.error(format!("`{}` of an empty list", node.name)));
                }
                let condition = self.child_condition(node)?;
                let extremum =
                    if node.name == "minimum" { Expr::Min(list) } else { Expr::Max(list) };
                self.add(Constraint::Intension(condition.on(extremum)));
            }
            "minimumArg" | "maximumArg" => self.extremum_place(node)?,
            "element" => self.element(node)?,
            "channel" => self.channel(node)?,
            "noOverlap" => self.no_overlap(node)?,
            "cumulative" => self.cumulative(node)?,
            "binPacking" => self.bin_packing(node)?,
            "knapsack" => self.knapsack(node)?,
            "circuit" => {
                let start = start_index(node.child("list").unwrap_or(node))?;
                let list = self.direct_list(node)?;
                let size = match node.child("size") {
                    Some(size) => Some(Condition::equals(self.expr(size, &size.text)?)),
                    None => None,
                };
                self.add(Constraint::Circuit { list, start, size });
            }
            "instantiation" => {
                let scope = self.scope(required(node, "list")?)?;
                let values = self.child_integers(node, "values")?;
                if scope.len() != values.len() {
                    return Err(node.error("the numbers of terms and values differ"));
                }
                for (x, value) in scope.into_iter().zip(values) {
                    self.add(Constraint::Intension(x.equals(value)));
                }
            }
            "clause" => {
                let list = self.direct_list(node)?;
                self.add(Constraint::Intension(Expr::Or(list)));
            }
            other => return Err(node.unsupported(format!("`{other}`"))),
        }
        self.threshold(node, n_before)
    }
}

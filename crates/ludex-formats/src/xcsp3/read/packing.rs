//! Constraints on tasks, boxes, bins and knapsacks.

use ludex_csp::{Comparison, Condition, Constraint, Expr, Value};

use super::super::xml::Node;
use super::{Reader, required, start_index};
use crate::FormatError;

impl Reader {
    pub(super) fn no_overlap(&mut self, node: &Node) -> Result<(), FormatError> {
        let boxes = |name: &str| -> Result<Vec<Vec<Expr>>, FormatError> {
            let child = required(node, name)?;
            if child.text.trim().starts_with('(') {
                return self.matrix(child);
            }
            Ok(self.list(child)?.into_iter().map(|e| vec![e]).collect())
        };
        let (origins, lengths) = (boxes("origins")?, boxes("lengths")?);
        let ignores_zeros = node.attribute("zeroIgnored") != Some("false");
        self.add(Constraint::NoOverlap { origins, lengths, ignores_zeros });
        Ok(())
    }

    pub(super) fn cumulative(&mut self, node: &Node) -> Result<(), FormatError> {
        let origins = self.child_list(node, "origins")?;
        let lengths = self.child_list(node, "lengths")?;
        let heights = self.child_list(node, "heights")?;
        if origins.len() != lengths.len() || origins.len() != heights.len() {
            return Err(node.error("the numbers of origins, lengths and heights differ"));
        }
        if node.child("ends").is_some() {
            let ends = self.child_list(node, "ends")?;
            if origins.len() != ends.len() {
                return Err(node.error("the numbers of origins and ends differ"));
            }
            for ((origin, length), end) in origins.iter().zip(&lengths).zip(ends) {
                let e = (origin.clone() + length).equals(end);
                self.add(Constraint::Intension(e));
            }
        }
        let limit = match self.child_condition(node)? {
            Condition::Compare(Comparison::Le, limit) => limit,
            Condition::Compare(Comparison::Lt, limit) => limit - 1,
            // A set without gaps that begins at or below zero is an upper limit.
            Condition::In(set) if matches!(set.ranges(), [(lo, _)] if *lo <= 0) => {
                Expr::from(set.max().expect("the set has a range"))
            }
            _ => {
                return Err(
                    node.unsupported("`cumulative` with a condition other than an upper limit")
                );
            }
        };
        self.add(Constraint::Cumulative { origins, lengths, heights, limit });
        Ok(())
    }

    pub(super) fn bin_packing(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let sizes = self.child_integers(node, "sizes")?;
        if list.len() != sizes.len() {
            return Err(node.error("the numbers of terms and sizes differ"));
        }
        let load = |bin: Value| {
            let part = |(e, &size): (&Expr, &Value)| e.clone().equals(bin) * size;
            Expr::Sum(list.iter().zip(&sizes).map(part).collect())
        };
        let mut total = Vec::new();
        let numbered = match (node.child("limits"), node.child("loads")) {
            (Some(child), None) | (None, Some(child)) => Some(child),
            (None, None) => None,
            _ => return Err(node.error("`binPacking` needs either limits or loads")),
        };
        if let Some(child) = numbered {
            let terms = self.list(child)?;
            let start = start_index(child)?;
            let last = start + terms.len() as Value - 1;
            for e in &list {
                let is_inside = e.clone().at_least(start) & e.clone().at_most(last);
                self.add(Constraint::Intension(is_inside));
            }
            for (at, term) in terms.into_iter().enumerate() {
                let load = load(start + at as Value);
                let e = if child.name == "loads" {
                    total.push(term.clone());
                    load.equals(term)
                } else {
                    load.at_most(term)
                };
                self.add(Constraint::Intension(e));
            }
        } else {
            let condition = self.child_condition(node)?;
            let mut bins: Vec<Value> = Vec::new();
            for e in &list {
                let Expr::Var(x) = e else {
                    return Err(node.unsupported("`binPacking` of terms other than variables"));
                };
                let domain = &self.network.variable(*x).domain;
                if domain.len() > 1 << 16 {
                    return Err(node.unsupported("`binPacking` with very many bins"));
                }
                bins.extend(domain.iter());
            }
            bins.sort_unstable();
            bins.dedup();
            for bin in bins {
                self.add(Constraint::Intension(condition.on(load(bin))));
            }
        }
        if !total.is_empty() {
            let all: i64 = sizes.iter().map(|&size| i64::from(size)).sum();
            let e = Expr::Sum(total).equals(Expr::Constant(all));
            self.add(Constraint::Intension(e));
        }
        Ok(())
    }

    pub(super) fn knapsack(&mut self, node: &Node) -> Result<(), FormatError> {
        let list = self.child_list(node, "list")?;
        let conditions: Vec<&Node> = node.children_named("condition").collect();
        let mut conditions = conditions.into_iter();
        for name in ["weights", "profits"] {
            let factors = self.child_integers(node, name)?;
            if factors.len() != list.len() {
                return Err(node.error(format!("the numbers of terms and {name} differ")));
            }
            let condition = match (name, node.child("limit")) {
                ("weights", Some(limit)) => Condition::at_most(self.expr(limit, &limit.text)?),
                _ => {
                    let next = conditions.next();
                    self.condition(next.ok_or_else(|| node.error("a condition is missing"))?)?
                }
            };
            let products = list.iter().zip(factors).map(|(e, factor)| e.clone() * factor);
            let sum = Expr::Sum(products.collect());
            self.add(Constraint::Intension(condition.on(sum)));
        }
        Ok(())
    }
}

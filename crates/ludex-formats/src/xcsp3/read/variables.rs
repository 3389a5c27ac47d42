//! Variables and arrays of variables.

use std::sync::Arc;

use ludex_csp::{ValueSet, VarId};

use super::super::text::{self, Problem};
use super::super::xml::Node;
use super::Reader;
use super::stochastic::{Drawn, Probabilities, probabilities, values_text};
use crate::FormatError;

pub(super) struct Array {
    pub sizes: Vec<usize>,
    starts: Vec<i64>,
    pub cells: Vec<Option<VarId>>,
}

/// The values of a variable, with their probabilities if it is random.
struct Domain {
    values: ValueSet,
    probabilities: Option<Probabilities>,
}

/// Largest number of cells of an array.
const MAX_CELLS: usize = 10_000_000;

impl Reader {
    pub(super) fn variables(&mut self, node: &Node) -> Result<(), FormatError> {
        self.collect_symbols(node)?;
        for child in &node.children {
            self.check_deadline()?;
            self.line = child.line;
            let id = child.attribute("id").ok_or_else(|| child.error("a variable has no `id`"))?;
            if self.singles.contains_key(id) || self.arrays.contains_key(id) {
                return Err(child.error(format!("the name `{id}` is used twice")));
            }
            match &*child.name {
                "var" => {
                    let source = self.source(child)?;
                    let is_symbolic = is_symbolic(source);
                    let domain = self.domain(child, is_drawn(source), &source.text)?;
                    let x = self.add_variable(id, domain.values);
                    self.label(x, is_symbolic);
                    self.draw(x, domain.probabilities);
                    self.singles.insert(id.to_string(), x);
                    self.declared.push((id.to_string(), vec![Some(x)]));
                }
                "array" => self.array(child, id)?,
                other => return Err(child.unsupported(format!("`{other}`"))),
            }
            self.known.insert(id.to_string(), child.clone());
        }
        Ok(())
    }

    /// Numbers the symbols in the domains of all variables: equal symbols are equal values.
    fn collect_symbols(&mut self, node: &Node) -> Result<(), FormatError> {
        for child in &node.children {
            match child.attribute("type") {
                None | Some("integer") => {}
                Some("symbolic") => {
                    let parts = std::iter::once(child).chain(child.children_named("domain"));
                    parts.for_each(|part| self.symbols.collect(&part.text));
                }
                Some("stochastic" | "integer stochastic") if self.is_stochastic => {}
                Some("symbolic stochastic") if self.is_stochastic => {
                    let parts = std::iter::once(child).chain(child.children_named("domain"));
                    parts.for_each(|part| self.symbols.collect(&values_text(&part.text)));
                }
                Some(kind) => {
                    return Err(child.unsupported(format!("a variable of type {kind}")));
                }
            }
        }
        Ok(())
    }

    fn label(&mut self, x: VarId, is_symbolic: bool) {
        if is_symbolic {
            let labels = self.symbols.labels();
            self.network.variable_mut(x).labels = Some(labels);
        }
    }

    /// Returns the element that a variable copies with `as`, or its own.
    fn source<'a>(&'a self, node: &'a Node) -> Result<&'a Node, FormatError> {
        match node.attribute("as") {
            Some(other) => self
                .known
                .get(other)
                .ok_or_else(|| node.error(format!("there is no `{other}` to copy with `as`"))),
            None => Ok(node),
        }
    }

    /// Records the probabilities of a variable if it is random.
    fn draw(&mut self, variable: VarId, probabilities: Option<Probabilities>) {
        self.drawn.extend(probabilities.map(|probabilities| Drawn { variable, probabilities }));
    }

    fn domain(&self, node: &Node, is_drawn: bool, text: &str) -> Result<Domain, FormatError> {
        if is_drawn {
            let values = self.domain(node, false, &values_text(text))?.values;
            let probabilities = Some(probabilities(node, text, &self.symbols)?);
            return Ok(Domain { values, probabilities });
        }
        let set = text::value_set(text, &self.symbols).map_err(|problem| node.error(problem))?;
        if set.is_empty() {
            Err(node.error(match node.attribute("id") {
                Some(id) => format!("variable `{id}` has an empty domain"),
                None => "a domain is empty".to_string(),
            }))
        } else {
            Ok(Domain { values: set, probabilities: None })
        }
    }

    pub(super) fn array(&mut self, node: &Node, id: &str) -> Result<(), FormatError> {
        let sizes = node.attribute("size").ok_or_else(|| node.error("an array has no `size`"))?;
        let sizes = brackets(sizes).map_err(|problem| node.error(problem))?;
        let sizes: Vec<usize> = sizes
            .iter()
            .map(|size| size.parse().ok().filter(|&size| size > 0))
            .collect::<Option<_>>()
            .ok_or_else(|| node.error(format!("the size of `{id}` is not a positive integer")))?;
        let starts = match node.attribute("startIndex") {
            Some(starts) => brackets(starts)
                .ok()
                .and_then(|s| {
                    s.iter().map(|start| start.parse().ok()).collect::<Option<Vec<i64>>>()
                })
                .filter(|starts| starts.len() == sizes.len())
                .ok_or_else(|| node.error(format!("the `startIndex` of `{id}` is invalid")))?,
            None => vec![0; sizes.len()],
        };
        let n_cells = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size));
        let n_cells = n_cells
            .filter(|&n| n <= MAX_CELLS && !sizes.is_empty())
            .ok_or_else(|| node.error(format!("the array `{id}` is too large")))?;
        let source = self.source(node)?.clone();
        let mut array = Array { sizes, starts, cells: vec![None; n_cells] };
        let mut domains: Vec<Option<Arc<Domain>>> = vec![None; n_cells];
        if source.child("domain").is_none() {
            let domain = Arc::new(self.domain(node, is_drawn(&source), &source.text)?);
            domains.fill(Some(domain));
        }
        for part in source.children_named("domain") {
            let domain = Arc::new(self.domain(part, is_drawn(&source), &part.text)?);
            let which = part.attribute("for").ok_or_else(|| part.error("a domain has no `for`"))?;
            if which.trim() == "others" {
                domains.iter_mut().filter(|d| d.is_none()).for_each(|d| *d = Some(domain.clone()));
                continue;
            }
            for token in which.split_whitespace() {
                let own_name = token.split('[').next().unwrap_or_default();
                if Some(own_name) != source.attribute("id") {
                    return Err(part.error(format!("`{token}` is not a cell of `{id}`")));
                }
                let cells = array.places(&token[own_name.len()..]);
                for cell in cells.map_err(|problem| part.error(problem))? {
                    domains[cell] = Some(Arc::clone(&domain));
                }
            }
        }
        for (cell, domain) in domains.into_iter().enumerate() {
            if let Some(domain) = domain {
                let name = format!("{id}{}", array.suffix(cell));
                let x = self.add_variable(name, domain.values.clone());
                self.label(x, is_symbolic(&source));
                self.draw(x, domain.probabilities.clone());
                array.cells[cell] = Some(x);
            }
        }
        let printed = format!("{id}{}", "[]".repeat(array.sizes.len()));
        self.declared.push((printed, array.cells.clone()));
        self.arrays.insert(id.to_string(), array);
        Ok(())
    }

    /// Returns the variables of a token: several when it has open or ranged indexes.
    pub(super) fn vars(&self, token: &str) -> Result<Vec<VarId>, Problem> {
        if let Some(&x) = self.singles.get(token) {
            return Ok(vec![x]);
        }
        let name = token.split('[').next().unwrap_or_default();
        let unknown = || format!("there is no variable `{token}`");
        let array =
            self.arrays.get(name).filter(|_| token.len() > name.len()).ok_or_else(unknown)?;
        let is_one = !token.contains("[]") && !token.contains("..");
        let mut vars = Vec::new();
        for place in array.places(&token[name.len()..])? {
            match array.cells[place] {
                Some(x) => vars.push(x),
                // Ranges skip cells that don't exist.
                None if is_one => return Err(unknown()),
                None => {}
            }
        }
        Ok(vars)
    }
}

impl Array {
    /// Returns the indexes selected by `[..]` in each dimension, counted from 0.
    pub(super) fn indexes(&self, suffix: &str) -> Result<Vec<std::ops::Range<usize>>, Problem> {
        let parts = brackets(suffix)?;
        if parts.len() != self.sizes.len() {
            return Err(format!(
                "`{suffix}` has {} indexes, not {}",
                parts.len(),
                self.sizes.len()
            ));
        }
        let outside = || format!("an index of `{suffix}` is outside the array");
        let number = |text: &str, dimension: usize| -> Result<usize, Problem> {
            let index: i64 =
                text.trim().parse().map_err(|_| format!("`{text}` is not an index"))?;
            let place = index.checked_sub(self.starts[dimension]);
            place
                .and_then(|place| usize::try_from(place).ok())
                .filter(|&index| index < self.sizes[dimension])
                .ok_or_else(outside)
        };
        let mut ranges = Vec::new();
        for (dimension, part) in parts.iter().enumerate() {
            ranges.push(if part.trim().is_empty() {
                0..self.sizes[dimension]
            } else if let Some((lo, hi)) = part.split_once("..") {
                let (lo, hi) = (number(lo, dimension)?, number(hi, dimension)?);
                lo..hi + 1
            } else {
                let index = number(part, dimension)?;
                index..index + 1
            });
        }
        Ok(ranges)
    }

    /// Returns the positions of the cells selected by `[..]…`, in order.
    pub(super) fn places(&self, suffix: &str) -> Result<Vec<usize>, Problem> {
        let mut places = vec![0];
        for (range, size) in self.indexes(suffix)?.into_iter().zip(&self.sizes) {
            places = places
                .into_iter()
                .flat_map(|place| range.clone().map(move |index| place * size + index))
                .collect();
        }
        Ok(places)
    }

    /// Returns the indexes of a cell as they follow the name of the array.
    pub(super) fn suffix(&self, mut cell: usize) -> String {
        let mut indexes = Vec::new();
        for (size, start) in self.sizes.iter().zip(&self.starts).rev() {
            indexes.push(format!("[{}]", ((cell % size) as i64).saturating_add(*start)));
            cell /= size;
        }
        indexes.reverse();
        indexes.concat()
    }
}

fn is_symbolic(node: &Node) -> bool {
    node.attribute("type").is_some_and(|kind| kind.starts_with("symbolic"))
}

fn is_drawn(node: &Node) -> bool {
    node.attribute("type").is_some_and(|kind| kind.ends_with("stochastic"))
}

/// Returns the insides of `[a][b]…`.
pub(super) fn brackets(text: &str) -> Result<Vec<&str>, Problem> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (part, after) = inside.ok_or_else(|| format!("`{text}` is not a list of indexes"))?;
        parts.push(part);
        rest = after.trim_start();
    }
    Ok(parts)
}

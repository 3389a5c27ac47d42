//! Orders of constants, and constants that name a cell of a grid.
//!
//! Besides the orders that the rules state, names with an obvious order count: numbers, letters, a
//! word with numbers.

use std::collections::{BTreeMap, BTreeSet};

use ludex_gdl::{Program, TermId};

use crate::orders::{Order, ground_facts, stated_orders};

/// The two coordinates of each constant that names a cell.
pub(super) type CellNames = BTreeMap<String, (String, String)>;

/// The orders of constants, and the constants that name cells, as the rules state them.
pub(super) struct Axes {
    /// For each order, the index of each constant.
    orders: Vec<BTreeMap<String, usize>>,
    /// For each relation of three arguments that ties a cell to two coordinates, its cells.
    grids: Vec<CellNames>,
}

impl Axes {
    /// Collects the orders and grids in a program's facts.
    pub(super) fn of(program: &Program) -> Self {
        let text = |term| program.terms.display(term).to_string();
        let indices = |order: &Order| {
            order.terms.iter().enumerate().map(|(index, &term)| (text(term), index)).collect()
        };
        let orders = stated_orders(program).iter().map(indices).collect();
        let mut axes = Self { orders, grids: Vec::new() };
        let triples = ground_facts::<3>(program);
        let cells = |triples: &Vec<[TermId; 3]>| triples.iter().map(|it| it.map(text)).collect();
        let triples: Vec<Vec<[String; 3]>> = triples.values().map(cells).collect();
        axes.grids = triples.iter().filter_map(|triples| axes.grid_of(triples)).collect();
        axes
    }

    /// Returns the cells of a relation that gives each cell its own pair of ordered coordinates.
    fn grid_of(&self, triples: &[[String; 3]]) -> Option<CellNames> {
        let mut grid = CellNames::new();
        let mut taken = BTreeSet::new();
        for [cell, column, row] in triples {
            let coordinates = (column.clone(), row.clone());
            let before = grid.insert(cell.clone(), coordinates.clone());
            if before.is_some_and(|before| before != coordinates) {
                return None;
            }
            taken.insert(coordinates);
        }
        (taken.len() == grid.len() && self.is_grid(&grid)).then_some(grid)
    }

    /// Returns the coordinates of constants that are all cells of one grid.
    pub(super) fn cells(&self, names: &BTreeSet<String>) -> Option<CellNames> {
        // A number is a coordinate and never a cell, whatever relations it occurs in.
        if names.len() < 4 || names.iter().all(|name| name.parse::<i64>().is_ok()) {
            return None;
        }
        let is_in = |grid: &&CellNames| names.iter().all(|name| grid.contains_key(name));
        let read = || -> Option<CellNames> {
            names.iter().map(|name| Some((name.clone(), read_cell(name)?))).collect()
        };
        self.grids.iter().find(is_in).cloned().or_else(|| read().filter(|grid| self.is_grid(grid)))
    }

    /// Whether the coordinates are ordered and their cells fill a good part of the grid.
    fn is_grid(&self, grid: &CellNames) -> bool {
        let columns: BTreeSet<String> = grid.values().map(|(column, _)| column.clone()).collect();
        let rows: BTreeSet<String> = grid.values().map(|(_, row)| row.clone()).collect();
        columns.len() >= 2
            && rows.len() >= 2
            && grid.len() * 4 >= columns.len() * rows.len()
            && self.sort(&columns).is_some()
            && self.sort(&rows).is_some()
    }

    /// Sorts the constants, if they share an order.
    pub(super) fn sort(&self, names: &BTreeSet<String>) -> Option<Vec<String>> {
        if names.is_empty() {
            return None;
        }
        let mut sorted: Vec<String> = names.iter().cloned().collect();
        if let Some(keys) = natural_keys(&sorted) {
            sorted.sort_by_key(|name| keys[name]);
            return Some(sorted);
        }
        let has_all =
            |order: &&BTreeMap<String, usize>| names.iter().all(|it| order.contains_key(it));
        let order = self.orders.iter().find(has_all)?;
        sorted.sort_by_key(|name| order[name]);
        Some(sorted)
    }
}

/// Reads the coordinates of a cell with a name like `a1` or `c33`: a letter and a number, or a word
/// and two digits.
fn read_cell(name: &str) -> Option<(String, String)> {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &name[word.len()..];
    match (word.chars().count(), number.len()) {
        (0, _) | (_, 0) => None,
        (_, 2) if word == "c" || word.chars().count() > 1 => {
            Some((number[..1].to_string(), number[1..].to_string()))
        }
        (1, _) => Some((word.to_string(), number.to_string())),
        _ => None,
    }
}

/// Returns sort keys for names with an obvious order: whole numbers, letters in sequence without a
/// gap, or one word with different numbers.
fn natural_keys(names: &[String]) -> Option<BTreeMap<String, i64>> {
    let keyed = |key: &dyn Fn(&str) -> Option<i64>| -> Option<BTreeMap<String, i64>> {
        names.iter().map(|name| Some((name.clone(), key(name)?))).collect()
    };
    if let Some(keys) = keyed(&|name| name.parse().ok()) {
        return Some(keys);
    }
    let letter = |name: &str| {
        let mut chars = name.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none()).map(|c| c as i64)
    };
    if let Some(keys) = keyed(&letter) {
        let (low, high) = (keys.values().min()?, keys.values().max()?);
        return (high - low + 1 == keys.len() as i64).then_some(keys);
    }
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let word = &names.first()?[..stem(names.first()?)];
    keyed(&|name| name.strip_prefix(word).and_then(|number| number.parse().ok()))
}

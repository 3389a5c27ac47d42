//! Which constants come one after the other, and which are cells of a grid.
//!
//! `ludex_analysis::find_orders` finds successor relations too, but in the vocabulary of a ground program,
//! and two terms are no order there. A drawing has to do without grounding, for the reasoner's games as
//! well, and a side of a board may have two cells; so the facts of the rules are read here.

use std::collections::{BTreeMap, BTreeSet};

use ludex_gdl::{Pattern, Program, Stage, TermId};

/// The two coordinates of each constant that names a cell.
pub(crate) type Split = BTreeMap<String, (String, String)>;

/// Orders of constants, and constants that are cells, as relations of the rules have them.
pub(crate) struct Orders {
    /// For each chain of a binary relation, the position of each constant.
    chains: Vec<BTreeMap<String, usize>>,
    /// For each relation of three arguments that ties a cell to two coordinates, its cells.
    grids: Vec<Split>,
}

impl Orders {
    /// The orders and grids of a program's facts.
    pub(crate) fn of(program: &Program) -> Self {
        let mut pairs: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
        let mut triples: BTreeMap<usize, Vec<[String; 3]>> = BTreeMap::new();
        let text = |&term: &TermId| program.terms.display(term).to_string();
        for rule in program.rules.iter().filter(|rule| rule.body.is_empty()) {
            let relation = rule.head.relation;
            if program.relation(relation).stage != Stage::Static {
                continue;
            }
            match &rule.head.args[..] {
                [Pattern::Ground(from), Pattern::Ground(to)] => {
                    pairs.entry(relation.index()).or_default().push((text(from), text(to)));
                }
                [Pattern::Ground(cell), Pattern::Ground(column), Pattern::Ground(row)] => {
                    let triple = [text(cell), text(column), text(row)];
                    triples.entry(relation.index()).or_default().push(triple);
                }
                _ => {}
            }
        }
        let chains = pairs.values().flat_map(|pairs| chains_of(pairs)).collect();
        let mut orders = Self { chains, grids: Vec::new() };
        orders.grids = triples.values().filter_map(|triples| orders.grid_of(triples)).collect();
        orders
    }

    /// The cells of a relation in which each has its own pair of ordered coordinates.
    fn grid_of(&self, triples: &[[String; 3]]) -> Option<Split> {
        let mut grid = Split::new();
        let mut taken = BTreeSet::new();
        for [cell, column, row] in triples {
            let place = (column.clone(), row.clone());
            let is_new = grid.insert(cell.clone(), place.clone()).is_none_or(|old| old == place);
            if !is_new {
                return None;
            }
            taken.insert(place);
        }
        (taken.len() == grid.len() && self.is_grid(&grid)).then_some(grid)
    }

    /// The coordinates of constants that are all cells of one grid.
    pub(crate) fn split(&self, names: &BTreeSet<String>) -> Option<Split> {
        // A number is a coordinate and no cell, whatever relations it stands in.
        if names.len() < 4 || names.iter().all(|name| name.parse::<i64>().is_ok()) {
            return None;
        }
        let is_in = |grid: &&Split| names.iter().all(|name| grid.contains_key(name));
        let read = || -> Option<Split> {
            names.iter().map(|name| Some((name.clone(), read_cell(name)?))).collect()
        };
        self.grids.iter().find(is_in).cloned().or_else(|| read().filter(|grid| self.is_grid(grid)))
    }

    /// Whether the coordinates are ordered and their cells fill a good part of the grid.
    fn is_grid(&self, grid: &Split) -> bool {
        let columns: BTreeSet<String> = grid.values().map(|(column, _)| column.clone()).collect();
        let rows: BTreeSet<String> = grid.values().map(|(_, row)| row.clone()).collect();
        columns.len() >= 2
            && rows.len() >= 2
            && grid.len() * 4 >= columns.len() * rows.len()
            && self.sort(&columns).is_some()
            && self.sort(&rows).is_some()
    }

    /// The constants in order, if there is one that all share.
    pub(crate) fn sort(&self, names: &BTreeSet<String>) -> Option<Vec<String>> {
        if names.is_empty() {
            return None;
        }
        let mut sorted: Vec<String> = names.iter().cloned().collect();
        if let Some(keys) = natural_keys(&sorted) {
            sorted.sort_by_key(|name| keys[name]);
            return Some(sorted);
        }
        let chain =
            self.chains.iter().find(|chain| names.iter().all(|name| chain.contains_key(name)))?;
        sorted.sort_by_key(|name| chain[name]);
        Some(sorted)
    }
}

/// The coordinates of a cell that is named like `a1` or `c33`: a letter and a number, or a word
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

/// The chains of a relation in which everything has at most one successor and one predecessor.
fn chains_of(pairs: &[(String, String)]) -> Vec<BTreeMap<String, usize>> {
    let mut next: BTreeMap<&str, &str> = BTreeMap::new();
    let mut followed = BTreeSet::new();
    for (from, to) in pairs {
        let is_new = next.insert(from, to).is_none_or(|before| before == to);
        if !is_new {
            return Vec::new();
        }
    }
    if !next.values().all(|&to| followed.insert(to)) {
        return Vec::new();
    }
    let starts = next.keys().filter(|&from| !followed.contains(from));
    starts
        .map(|&start| {
            let links = std::iter::successors(Some(start), |&name| next.get(name).copied());
            links.enumerate().map(|(position, name)| (name.to_string(), position)).collect()
        })
        .collect()
}

/// Sort keys of names whose order anyone knows: whole numbers, letters in sequence without a
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

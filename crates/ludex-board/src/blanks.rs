//! The piece that means an empty cell, by structure: it fills most of the initial board.

use std::collections::BTreeMap;

use ludex_analysis::layout::{FluentShape, LeafMeaning};
use ludex_gdl::{Keyword, Program};

use crate::patterns::{Leaf, flatten, text};

/// A rule of `init` with variables fills a good part of the board; it counts as this many cells.
const CELLS_OF_A_RULE: usize = 8;

/// Returns the name that fills at least half of the initial cells of each board, if the fluents of
/// the board name one piece each.
pub(crate) fn find_blanks(program: &Program, shapes: &[FluentShape]) -> BTreeMap<usize, String> {
    let mut counts: BTreeMap<usize, BTreeMap<String, usize>> = BTreeMap::new();
    for rule in program.rules.iter().filter(|it| it.head.relation == Keyword::Init.into()) {
        let Some(flat) = rule.head.args.first().and_then(|arg| flatten(program, arg)) else {
            continue;
        };
        let name = text(program, flat.name);
        let is_its =
            |shape: &&FluentShape| shape.name == name && shape.leaves.len() == flat.leaves.len();
        let Some(shape) = shapes.iter().find(is_its) else { continue };
        let pieces = shape.leaves.iter().zip(&flat.leaves);
        let pieces: Vec<&Leaf> =
            pieces.filter(|(it, _)| **it == LeafMeaning::Piece).map(|(_, leaf)| leaf).collect();
        if let [Leaf::Constant(piece)] = pieces[..] {
            let n_cells = if rule.body.is_empty() { 1 } else { CELLS_OF_A_RULE };
            let counts = counts.entry(shape.board).or_default();
            *counts.entry(text(program, *piece)).or_default() += n_cells;
        }
    }
    let most = |counts: BTreeMap<String, usize>| {
        let n_all: usize = counts.values().sum();
        let (name, n) = counts.into_iter().max_by_key(|(_, n)| *n)?;
        (2 * n >= n_all && n >= 4).then_some(name)
    };
    counts.into_iter().filter_map(|(board, counts)| Some((board, most(counts)?))).collect()
}

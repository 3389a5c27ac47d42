//! The piece that means an empty cell, by structure.
//!
//! It belongs to no role. Either it fills the whole initial board, or at least half of a board on
//! which roles have pieces. Where all pieces are nobody's, as in peg solitaire, frequency alone says
//! nothing.

use std::collections::BTreeMap;

use ludex_analysis::layout::{FluentShape, LeafMeaning};
use ludex_gdl::{Keyword, Program};

use crate::patterns::{Leaf, flatten, text};

/// A rule of `init` with variables fills a good part of the board; it counts as this many cells.
const CELLS_OF_A_RULE: usize = 8;

/// Returns the name that means an empty cell on each board whose fluents name one piece each.
pub(crate) fn find_blanks(
    program: &Program,
    shapes: &[FluentShape],
    owners: &BTreeMap<String, usize>,
) -> BTreeMap<usize, String> {
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
        let has_owned = counts.keys().any(|name| owners.contains_key(name));
        let free = counts.into_iter().filter(|(name, _)| !owners.contains_key(name));
        let (name, n) = free.max_by_key(|(_, n)| *n)?;
        (n >= 4 && (n == n_all || 2 * n >= n_all && has_owned)).then_some(name)
    };
    counts.into_iter().filter_map(|(board, counts)| Some((board, most(counts)?))).collect()
}

#[cfg(test)]
mod tests {
    use ludex_analysis::Layout;
    use ludex_base::Source;

    use super::*;

    /// The blank of a board of four columns and two rows that begins with these pieces.
    fn blank(pieces: [&str; 8]) -> Option<String> {
        let facts = pieces
            .iter()
            .enumerate()
            .map(|(idx, piece)| format!("(init (cell {} {} {piece}))", idx % 4 + 1, idx / 4 + 1));
        let rules = facts.collect::<String>() + "(<= (next ?x) (true ?x))";
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (program, _) = ludex_gdl::lower(&sheet);
        let owners = [("w".to_string(), 0), ("k".to_string(), 1)].into();
        find_blanks(&program, &Layout::of(&program).shapes(), &owners).remove(&0)
    }

    #[test]
    fn a_blank_is_frequent_and_nobodys() {
        assert_eq!(blank(["e"; 8]), Some("e".into()));
        assert_eq!(blank(["w", "e", "e", "k", "w", "e", "e", "k"]), Some("e".into()));
        assert_eq!(blank(["w", "w", "w", "w", "k", "k", "k", "k"]), None);
        assert_eq!(blank(["peg", "peg", "peg", "hole", "peg", "peg", "peg", "peg"]), None);
    }
}

//! Lays out the states of any game as boards, from the rules alone.
//!
//! A family of fluents is a board if two of its arguments step along ordered constants: whole
//! numbers, letters in sequence, a word with numbers (`c1 c2 c3`), or constants that a binary
//! relation of the rules orders, as `(succ one two)` does. The other arguments name the
//! piece; if there are none, the fluents only mark cells. More than two ordered
//! arguments beside a piece make several grids.
//!
//! One argument can be both coordinates at once: a constant that a relation of three arguments
//! ties to two ordered ones, as `(cell a1 a 1)` does, or one that reads like `a1`.
//!
//! The first coordinate runs to the right and the second one up, as most rulesheets mean `(cell ?x
//! ?y ?piece)`; the labels help if a rulesheet means it otherwise.
//!
//! [`find_facts`](crate::find_facts) finds boards too, for searches, from the behavior of fluents
//! in play and never from names. A layout is for people: it needs neither grounding nor play, so it
//! also works for games that only the reasoner plays, and it reads names as a person does.

mod axes; // 1. orders of constants
mod domains; // 2. constants by argument
mod picture; // the result

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::Symbol;
use ludex_gdl::Program;

use axes::{Axes, CellNames};
use domains::{Domains, Position, Value};
pub use picture::{BoardPicture, Cell, Grid, Occupant, Picture};

/// The layout of the states of one game.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    boards: Vec<Board>,
}

/// What each constant of the fluents of one function means on a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FluentShape {
    /// The function of the fluents.
    pub name: String,
    /// The number of the board in its layout.
    pub board: usize,
    /// The meaning of each constant, in order of writing.
    pub leaves: Vec<LeafMeaning>,
}

/// What a constant of a fluent means on a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeafMeaning {
    /// The column.
    Column,
    /// The row.
    Row,
    /// Both coordinates: the column and the row of each constant.
    Cell(BTreeMap<String, (String, String)>),
    /// The grid of a board with several, or a part of its name.
    Selector,
    /// The piece, or a part of its name.
    Piece,
}

/// One family of fluents, or several that only mark cells of the same grid.
#[derive(Clone, Debug)]
struct Board {
    families: Vec<Family>,
    columns: Vec<String>,
    rows: Vec<String>,
    /// For each leaf that selects a grid, its names.
    selector_names: Vec<Vec<String>>,
    /// Short forms of the names of pieces, if they are shortened.
    short: BTreeMap<String, String>,
    /// The names that mean an empty cell.
    blanks: BTreeSet<String>,
}

/// The fluents of one function and the meaning of their leaves.
///
/// Leaves are the constants of a fluent in order of writing: `(cell (at 1 2) x)` has three.
#[derive(Clone, Debug)]
struct Family {
    name: String,
    /// Number of leaves as written, before splitting those that are two coordinates at once.
    n_leaves: usize,
    /// For each leaf as written, its two coordinates if it has them.
    cell_names: Vec<Option<CellNames>>,
    column: usize,
    row: usize,
    selectors: Vec<usize>,
    pieces: Vec<usize>,
}

/// Most columns or rows of a board that a person can read.
const MAX_SIDE: usize = 40;
/// Empty grids are drawn if a board has at most this many grids.
const MAX_GRIDS: usize = 16;

impl Layout {
    /// Reads the boards off the rules.
    pub fn of(program: &Program) -> Self {
        let domains = Domains::of(program);
        let axes = Axes::of(program);
        let mut boards: Vec<Board> = Vec::new();
        for fluent in domains.fluents() {
            let Value::Function(name, arity) = fluent else { continue };
            let Some(board) = find_board(program, &domains, &axes, name, arity) else { continue };
            boards.push(board);
        }
        share_axes(&mut boards);
        let mut merged: Vec<Board> = Vec::new();
        for board in boards {
            match merged.iter_mut().find(|other| other.merges_with(&board)) {
                Some(other) => other.families.extend(board.families),
                None => merged.push(board),
            }
        }
        Self { boards: merged }
    }

    /// Returns what the constants of the fluents on boards mean, for each family of fluents.
    pub fn shapes(&self) -> Vec<FluentShape> {
        let shapes = self.boards.iter().enumerate().flat_map(|(board_idx, board)| {
            board.families.iter().map(move |family| family.shape(board_idx))
        });
        shapes.collect()
    }

    /// Lays out the state with these fluents.
    pub fn picture(&self, fluents: &[String]) -> Picture {
        let mut others = Vec::new();
        let mut occupied: Vec<Occupied> = vec![Occupied::new(); self.boards.len()];
        let mut placed: Vec<Vec<String>> = vec![Vec::new(); self.boards.len()];
        for fluent in fluents {
            match self.place(fluent, &mut occupied) {
                Some(board_idx) => placed[board_idx].push(fluent.clone()),
                None => others.push(fluent.clone()),
            }
        }
        // An empty board, or one with a single mark, is not worth its space next to another one.
        let most =
            (0..self.boards.len()).max_by_key(|&board| (placed[board].len(), usize::MAX - board));
        let mut boards = Vec::new();
        for (board_idx, board) in self.boards.iter().enumerate() {
            let n_needed = if board.is_plain() { 2 } else { 1 };
            if Some(board_idx) == most || placed[board_idx].len() >= n_needed {
                boards.push(board.picture(board_idx, &occupied[board_idx]));
            } else {
                others.append(&mut placed[board_idx]);
            }
        }
        others.sort_unstable();
        Picture { boards, others }
    }

    /// Puts a fluent on its board and returns the index of the board; `None` if it has none.
    fn place(&self, fluent: &str, occupied: &mut [Occupied]) -> Option<usize> {
        let (name, leaves) = leaves_of(fluent)?;
        for (board_idx, (board, occupied)) in self.boards.iter().zip(occupied).enumerate() {
            let Some(family) = board
                .families
                .iter()
                .find(|family| family.name == name && family.n_leaves == leaves.len())
            else {
                continue;
            };
            let leaves = family.split(&leaves)?;
            let column = board.columns.iter().position(|label| label == leaves[family.column])?;
            let row = board.rows.iter().position(|label| label == leaves[family.row])?;
            let selector: Vec<String> =
                family.selectors.iter().map(|&leaf| leaves[leaf].into()).collect();
            let occupant = board.occupant(family, &leaves);
            occupied
                .entry(selector)
                .or_default()
                .entry((column, row))
                .or_default()
                .extend(occupant);
            return Some(board_idx);
        }
        None
    }
}

impl Family {
    /// Returns the meaning of each leaf as written.
    fn shape(&self, board: usize) -> FluentShape {
        // Leaves before this one, where a leaf that is two coordinates counts twice.
        let mut split_idx = 0;
        let mut leaves = Vec::new();
        for cell_names in &self.cell_names {
            leaves.push(match cell_names {
                Some(names) if split_idx == self.column => LeafMeaning::Cell(names.clone()),
                None if split_idx == self.column => LeafMeaning::Column,
                None if split_idx == self.row => LeafMeaning::Row,
                None if self.selectors.contains(&split_idx) => LeafMeaning::Selector,
                _ => LeafMeaning::Piece,
            });
            split_idx += if cell_names.is_some() { 2 } else { 1 };
        }
        FluentShape { name: self.name.clone(), board, leaves }
    }

    /// Replaces each leaf that is two coordinates at once by the two; returns `None` if a leaf is
    /// not a cell of the grid.
    fn split<'a>(&'a self, leaves: &[&'a str]) -> Option<Vec<&'a str>> {
        let mut all = Vec::new();
        for (&leaf, cell_names) in leaves.iter().zip(&self.cell_names) {
            match cell_names {
                None => all.push(leaf),
                Some(cell_names) => {
                    let (column, row) = cell_names.get(leaf)?;
                    all.extend([column.as_str(), row.as_str()]);
                }
            }
        }
        Some(all)
    }
}

/// Gives boards the axes of a larger board that contains theirs.
fn share_axes(boards: &mut [Board]) {
    let axes: Vec<(Vec<String>, Vec<String>)> =
        boards.iter().map(|board| (board.columns.clone(), board.rows.clone())).collect();
    let is_part = |part: &[String], whole: &[String]| part.iter().all(|name| whole.contains(name));
    for board in boards {
        let larger = axes
            .iter()
            .filter(|(columns, rows)| {
                is_part(&board.columns, columns) && is_part(&board.rows, rows)
            })
            .max_by_key(|(columns, rows)| columns.len() * rows.len());
        if let Some((columns, rows)) = larger {
            board.columns.clone_from(columns);
            board.rows.clone_from(rows);
        }
    }
}

/// For each grid of a board, the occupants of the cells that fluents mention, by column and row.
type Occupied = BTreeMap<Vec<String>, BTreeMap<(usize, usize), Vec<Occupant>>>;

impl Board {
    /// Whether both only mark cells of one grid, so that one drawing shows both.
    fn merges_with(&self, other: &Board) -> bool {
        self.is_plain()
            && other.is_plain()
            && self.columns == other.columns
            && self.rows == other.rows
    }

    /// Whether the fluents only mark cells.
    fn is_plain(&self) -> bool {
        self.families.iter().all(|family| family.pieces.is_empty() && family.selectors.is_empty())
    }

    /// Returns the occupant that a fluent puts on its cell; `None` for a piece that means an empty
    /// cell.
    fn occupant(&self, family: &Family, leaves: &[&str]) -> Option<Occupant> {
        if family.pieces.is_empty() {
            let label = if self.families.len() == 1 { "#".into() } else { initial(&family.name) };
            return Some(Occupant { names: vec![family.name.clone()], label });
        }
        if let [leaf] = family.pieces[..]
            && self.blanks.contains(leaves[leaf])
        {
            return None;
        }
        let names: Vec<String> = family.pieces.iter().map(|&leaf| leaves[leaf].into()).collect();
        let labels = names.iter().map(|name| self.short.get(name).unwrap_or(name).as_str());
        let between = if self.short.is_empty() { "/" } else { "" };
        let label = labels.collect::<Vec<_>>().join(between);
        Some(Occupant { names, label })
    }

    fn picture(&self, index: usize, occupied: &Occupied) -> BoardPicture {
        let nothing = BTreeMap::new();
        let grid = |selector: Vec<String>| {
            let occupied = occupied.get(&selector).unwrap_or(&nothing);
            let cell = |column, row| self.cell(occupied.get(&(column, row)));
            let row = |row| (0..self.columns.len()).map(|column| cell(column, row)).collect();
            Grid { selector, cells: (0..self.rows.len()).map(row).collect() }
        };
        BoardPicture {
            index,
            name: self.name(),
            columns: self.columns.clone(),
            rows: self.rows.clone(),
            grids: self.selectors(occupied).into_iter().map(grid).collect(),
            legend: self.legend(),
        }
    }

    /// Returns a cell with these occupants, `None` if no fluent mentions it.
    fn cell(&self, occupants: Option<&Vec<Occupant>>) -> Cell {
        match occupants {
            None if !self.blanks.is_empty() => Cell::Outside,
            Some(occupants) if !occupants.is_empty() => Cell::Occupied(occupants.clone()),
            _ => Cell::Empty,
        }
    }

    /// Returns the grids to show: all possible ones, or only the occupied ones if there are too
    /// many.
    fn selectors(&self, occupied: &Occupied) -> Vec<Vec<String>> {
        let n_grids: usize = self.selector_names.iter().map(Vec::len).product();
        if n_grids > MAX_GRIDS {
            return occupied.keys().cloned().collect();
        }
        let mut selectors = vec![Vec::new()];
        for names in &self.selector_names {
            selectors = selectors
                .iter()
                .flat_map(|before| {
                    names.iter().map(|name| [before.clone(), vec![name.clone()]].concat())
                })
                .collect();
        }
        selectors
    }

    fn name(&self) -> String {
        self.families.iter().map(|family| family.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn legend(&self) -> Vec<(String, String)> {
        let pieces = self.short.iter().map(|(name, label)| (label.clone(), name.clone()));
        let marks = self.families.iter().map(|family| (initial(&family.name), family.name.clone()));
        let n_marks = if self.families.len() > 1 { self.families.len() } else { 0 };
        pieces.chain(marks.take(n_marks)).collect()
    }
}

/// Finds the board of the fluents `name(…)` with `arity` arguments, if they form one.
fn find_board(
    program: &Program,
    domains: &Domains,
    axes: &Axes,
    name: Symbol,
    arity: usize,
) -> Option<Board> {
    let mut leaves = Vec::new();
    for argument in 0..arity {
        collect_leaves(domains, Position::Function(name, arity, argument), 0, &mut leaves);
    }
    let text = |symbol: &Symbol| program.terms.symbols().name(*symbol).to_string();
    let texts = |symbols: &BTreeSet<Symbol>| symbols.iter().map(text).collect::<BTreeSet<String>>();
    let mut cell_names: Vec<Option<CellNames>> = Vec::new();
    let mut names: Vec<BTreeSet<String>> = Vec::new();
    let mut ordered: Vec<Option<Vec<String>>> = Vec::new();
    for leaf in &leaves {
        let (all, initial) = (texts(&leaf.all), texts(&leaf.initial));
        let cells = if leaf.is_plain { axes.cells(&all) } else { None };
        match &cells {
            Some(cells) => {
                let columns = cells.values().map(|(column, _)| column.clone()).collect();
                let rows = cells.values().map(|(_, row)| row.clone()).collect();
                ordered.extend([axes.sort(&columns), axes.sort(&rows)]);
                names.extend([columns, rows]);
            }
            // Constants that the rules mix may still be distinct in the initial state.
            None => {
                let sorted = axes.sort(&all).or_else(|| axes.sort(&initial));
                ordered.push(sorted.filter(|sorted| leaf.is_plain && sorted.len() > 1));
                names.push(all);
            }
        }
        cell_names.push(cells);
    }
    let roles = assign(&ordered)?;
    let [columns, rows] = [roles.column, roles.row]
        .map(|leaf| ordered[leaf].clone().expect("a coordinate is ordered"));
    let family = Family {
        name: text(&name),
        n_leaves: leaves.len(),
        cell_names,
        column: roles.column,
        row: roles.row,
        selectors: roles.selectors,
        pieces: roles.pieces,
    };
    let mut blanks = BTreeSet::new();
    let mut short = BTreeMap::new();
    for &leaf in &family.pieces {
        let names = &names[leaf];
        blanks.extend(names.iter().filter(|piece| is_blank(piece, names)).cloned());
        let pieces: BTreeSet<String> = names.difference(&blanks).cloned().collect();
        short.extend(shorten(&pieces));
    }
    if family.pieces.len() > 1 {
        blanks.clear();
    }
    let selector_names = family
        .selectors
        .iter()
        .map(|&leaf| ordered[leaf].clone().unwrap_or_else(|| names[leaf].iter().cloned().collect()))
        .collect();
    Some(Board { families: vec![family], columns, rows, selector_names, short, blanks })
}

/// The values of one leaf of a family.
#[derive(Default)]
struct Leaf {
    /// All possible constants.
    all: BTreeSet<Symbol>,
    /// The constants in the initial state.
    initial: BTreeSet<Symbol>,
    /// Whether only constants are possible.
    is_plain: bool,
}

/// Collects the leaves below a position, in order of writing. A position that can hold several
/// functions is one leaf.
fn collect_leaves(domains: &Domains, position: Position, depth: usize, leaves: &mut Vec<Leaf>) {
    let mut functions = Vec::new();
    let mut constants = |values: BTreeSet<Value>| {
        let mut constants = BTreeSet::new();
        for value in values {
            match value {
                Value::Constant(name) => _ = constants.insert(name),
                Value::Function(name, arity) => functions.push((name, arity)),
            }
        }
        constants
    };
    let initial = constants(domains.initial(position));
    let all = constants(domains.values(position));
    functions.sort_unstable();
    functions.dedup();
    match functions[..] {
        [(name, arity)] if all.is_empty() && depth < 3 => {
            for argument in 0..arity {
                collect_leaves(
                    domains,
                    Position::Function(name, arity, argument),
                    depth + 1,
                    leaves,
                );
            }
        }
        _ => leaves.push(Leaf { all, initial, is_plain: functions.is_empty() }),
    }
}

/// The purpose of each leaf of a family.
struct LeafRoles {
    column: usize,
    row: usize,
    selectors: Vec<usize>,
    pieces: Vec<usize>,
}

/// Takes the longest run of adjacent ordered leaves as coordinates. Its last two are the cell and
/// those before select a board, unless all leaves are in the run: then its first two are the cell
/// and the others the piece, as in `(cell ?row ?column ?digit)`. With leaves on both sides of the
/// run, those before it select a board, too: `(cell left 1 2 x)`.
fn assign(ordered: &[Option<Vec<String>>]) -> Option<LeafRoles> {
    let mut best = 0..0;
    let mut start = 0;
    for end in 0..=ordered.len() {
        if end == ordered.len() || ordered[end].is_none() {
            if end - start > best.len() {
                best = start..end;
            }
            start = end + 1;
        }
    }
    if best.len() < 2 {
        return None;
    }
    let side = |leaf: usize| ordered[leaf].as_ref().map_or(0, Vec::len);
    // Three ordered leaves, the first two alike and the third different, are a cell and its
    // content, as in `(cell ?x ?y ?height ?owner)`.
    if best.len() == 3
        && side(best.start) == side(best.start + 1)
        && side(best.start) != side(best.end - 1)
    {
        best.end -= 1;
    }
    let outside: Vec<usize> = (0..ordered.len()).filter(|leaf| !best.contains(leaf)).collect();
    let (column, selectors, pieces) = if outside.is_empty() {
        (0, Vec::new(), (2..ordered.len()).collect())
    } else if best.start > 0 && best.end < ordered.len() {
        (best.end - 2, (0..best.end - 2).collect(), (best.end..ordered.len()).collect())
    } else {
        (best.end - 2, (best.start..best.end - 2).collect(), outside)
    };
    let is_grid = |leaf| (2..=MAX_SIDE).contains(&side(leaf));
    (is_grid(column) && is_grid(column + 1)).then_some(LeafRoles {
        column,
        row: column + 1,
        selectors,
        pieces,
    })
}

/// Whether a piece means an empty cell. `b` does unless there is a `w`: then it means black.
fn is_blank(piece: &str, pieces: &BTreeSet<String>) -> bool {
    let has = |name: &str| pieces.contains(name);
    match piece.to_ascii_lowercase().as_str() {
        "blank" | "empty" | "none" | "nothing" | "free" => true,
        "b" => !has("w") && !has("blank") && !has("empty"),
        _ => false,
    }
}

/// Shortens names if some are too long for a cell: to the first letter if that tells them apart,
/// else to their shortest distinct prefixes.
fn shorten(names: &BTreeSet<String>) -> BTreeMap<String, String> {
    if names.iter().all(|name| name.chars().count() <= 2) {
        return BTreeMap::new();
    }
    let prefix = |name: &str, length: usize| name.chars().take(length).collect::<String>();
    let is_taken = |name: &String, length: usize| {
        names.iter().any(|other| other != name && prefix(other, length) == prefix(name, length))
    };
    names
        .iter()
        .map(|name| {
            let n_chars = name.chars().count();
            let length = (1..n_chars).find(|&length| !is_taken(name, length)).unwrap_or(n_chars);
            (name.clone(), prefix(name, length))
        })
        .filter(|(name, short)| name != short)
        .collect()
}

fn initial(name: &str) -> String {
    name.chars().take(1).collect()
}

/// Returns the function of a fluent or move and its leaves, the constants in order of writing;
/// `None` for a constant.
pub fn leaves_of(fluent: &str) -> Option<(&str, Vec<&str>)> {
    let mut function = None;
    let mut leaves = Vec::new();
    // The name of a function follows its parenthesis and is not a leaf.
    let mut is_name = false;
    for token in tokens(fluent) {
        match token {
            "(" => is_name = true,
            ")" => {}
            name if std::mem::take(&mut is_name) => function = function.or(Some(name)),
            leaf => leaves.push(leaf),
        }
    }
    Some((function?, leaves))
}

/// Splits text into parentheses and words.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['(', ')', ' ']).flat_map(|piece| {
        let word = piece.trim_end_matches(['(', ')', ' ']);
        let mark = piece[word.len()..].trim();
        [word, mark].into_iter().filter(|token| !token.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    use super::*;

    fn picture(rules: &str, fluents: &[&str]) -> Picture {
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (program, _) = ludex_gdl::lower(&sheet);
        let fluents: Vec<String> = fluents.iter().map(ToString::to_string).collect();
        Layout::of(&program).picture(&fluents)
    }

    #[test]
    fn a_picture_has_cells_occupants_and_what_is_on_no_board() {
        let Picture { boards, others } = picture(
            "(index 1) (index 2) (index 3) (mark white king) (mark black king) (mark black pawn)
             (<= (next (cell ?x ?y ?c ?p)) (index ?x) (index ?y) (mark ?c ?p))
             (init (control white))",
            &["(cell 1 2 white king)", "(cell 3 1 black pawn)", "(control white)"],
        );
        assert_eq!(others, ["(control white)"]);
        let [BoardPicture { name, columns, rows, grids, legend, .. }] = &boards[..] else {
            panic!("{boards:?}")
        };
        assert_eq!((name.as_str(), columns.len(), rows.len()), ("cell", 3, 3));
        let [Grid { selector, cells }] = &grids[..] else { panic!("{grids:?}") };
        assert!(selector.is_empty());
        assert_eq!(cells[0][0], Cell::Empty);
        let king = Occupant { names: vec!["white".into(), "king".into()], label: "wk".into() };
        assert_eq!(cells[1][0], Cell::Occupied(vec![king]));
        assert!(legend.contains(&("w".into(), "white".into())), "{legend:?}");
    }

    #[test]
    fn cells_that_no_fluent_mentions_are_outside_where_empty_ones_have_fluents() {
        let Picture { boards, .. } = picture(
            "(n 1) (n 2) (mark x) (mark blank)
             (<= (next (cell ?x ?y ?m)) (n ?x) (n ?y) (mark ?m))",
            &["(cell 1 1 x)", "(cell 2 1 blank)"],
        );
        let cells = &boards[0].grids[0].cells;
        assert_eq!((&cells[0][1], &cells[1][1]), (&Cell::Empty, &Cell::Outside));
    }

    #[test]
    fn shapes_say_what_each_constant_means() {
        let rules = "(side left) (side right) (n 1) (n 2) (mark x) (mark o)
            (<= (next (cell ?s ?x ?y ?m)) (side ?s) (n ?x) (n ?y) (mark ?m))
            (<= (next (on ?c ?m)) (true (on ?c ?m))) (init (on a1 x)) (init (on a2 x))
            (init (on b1 x)) (init (on b2 o))";
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let shapes = Layout::of(&ludex_gdl::lower(&sheet).0).shapes();
        use LeafMeaning::{Column, Piece, Row, Selector};
        let cell = shapes.iter().find(|shape| shape.name == "cell").expect("a board");
        assert_eq!(cell.leaves, [Selector, Column, Row, Piece]);
        let on = shapes.iter().find(|shape| shape.name == "on").expect("a board");
        let [LeafMeaning::Cell(names), Piece] = &on.leaves[..] else { panic!("{on:?}") };
        assert_eq!(names["b1"], ("b".into(), "1".into()));
    }

    #[test]
    fn leaves_are_constants_in_order_of_writing() {
        assert_eq!(leaves_of("(cell (at 1 2) x)"), Some(("cell", vec!["1", "2", "x"])));
        assert_eq!(leaves_of("open"), None);
    }

    #[test]
    fn names_are_shortened_as_far_as_they_differ() {
        let names: BTreeSet<String> = ["king", "knight", "pawn"].map(String::from).into();
        let short: Vec<String> = shorten(&names).into_values().collect();
        assert_eq!(short, ["ki", "kn", "p"]);
    }
}

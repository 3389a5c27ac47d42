//! Drawing a state as boards, for any rulesheet, from the rules alone.
//!
//! A family of fluents is a board if two of its arguments step along ordered constants: whole
//! numbers, letters in sequence, a word with numbers (`c1 c2 c3`), or constants that a binary
//! relation of the rules puts in a row, as `(succ one two)` does. The other arguments name the
//! piece; if there are none, being there is all there is to see. More than two ordered
//! arguments beside a piece make several boards.
//!
//! One argument can be both coordinates at once: a constant that a relation of three arguments
//! ties to two ordered ones, as `(cell a1 a 1)` does, or one that reads like `a1`.
//!
//! The first coordinate runs to the right and the second one up, which is how most sheets mean
//! `(cell ?x ?y ?piece)`; the labels tell where it is meant otherwise. What is on no board is
//! listed below.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ludex_base::Symbol;
use ludex_gdl::Program;

use crate::domains::{Domains, Filler, Place};
use crate::orders::{Orders, Split};

/// How the states of one game are drawn.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    boards: Vec<Board>,
}

/// One family of fluents, or several that only mark cells of the same grid.
#[derive(Clone, Debug)]
struct Board {
    families: Vec<Family>,
    columns: Vec<String>,
    rows: Vec<String>,
    /// For each leaf that selects a grid, its names.
    selector_names: Vec<Vec<String>>,
    /// How each name of a piece is shortened, where it is.
    short: BTreeMap<String, String>,
    /// The names that mean an empty cell.
    blanks: BTreeSet<String>,
}

/// The fluents of one function and what their leaves mean.
///
/// Leaves are the constants of a fluent in order of writing: `(cell (at 1 2) x)` has three.
#[derive(Clone, Debug)]
struct Family {
    name: String,
    /// Leaves as they are written, before those that are two coordinates at once are split.
    n_leaves: usize,
    /// For each leaf as written, its two coordinates if it has them.
    splits: Vec<Option<Split>>,
    column: usize,
    row: usize,
    selectors: Vec<usize>,
    pieces: Vec<usize>,
}

/// A grid with more columns or rows than this is no board a person reads.
const MAX_SIDE: usize = 40;
/// Grids without anything on are drawn if there are no more than this.
const MAX_GRIDS: usize = 16;

impl Layout {
    /// Reads the boards off the rules.
    pub fn of(program: &Program) -> Self {
        let domains = Domains::of(program);
        let orders = Orders::of(program);
        let mut boards: Vec<Board> = Vec::new();
        for fluent in domains.fluents() {
            let Filler::Function(name, arity) = fluent else { continue };
            let Some(board) = find_board(program, &domains, &orders, name, arity) else { continue };
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

    /// Whether there is no board to draw.
    pub fn is_empty(&self) -> bool {
        self.boards.is_empty()
    }

    /// The state of these fluents as text, in lines of about `width` characters.
    pub fn draw(&self, fluents: &[String], width: usize) -> String {
        let mut rest = Vec::new();
        let mut cells: Vec<Cells> = vec![Cells::new(); self.boards.len()];
        let mut placed: Vec<Vec<&str>> = vec![Vec::new(); self.boards.len()];
        for fluent in fluents {
            match self.place(fluent, &mut cells) {
                Some(board_idx) => placed[board_idx].push(fluent),
                None => rest.push(fluent.as_str()),
            }
        }
        // A board without anything on it, or with a single mark, is not worth its room beside
        // another one.
        let most =
            (0..self.boards.len()).max_by_key(|&board| (placed[board].len(), usize::MAX - board));
        let is_shown = |board_idx: usize| {
            let n_needed = if self.boards[board_idx].is_plain() { 2 } else { 1 };
            Some(board_idx) == most || placed[board_idx].len() >= n_needed
        };
        let shown: Vec<usize> = (0..self.boards.len()).filter(|&board| is_shown(board)).collect();
        let mut blocks = Vec::new();
        for (board_idx, board) in self.boards.iter().enumerate() {
            if is_shown(board_idx) {
                board.draw(&cells[board_idx], shown.len() > 1, &mut blocks);
            } else {
                rest.append(&mut placed[board_idx].clone());
            }
        }
        rest.sort_unstable();
        let mut text = side_by_side(&blocks, width);
        for &board_idx in &shown {
            if let Some(legend) = self.boards[board_idx].legend() {
                writeln!(text, "{legend}").expect("writing to a string");
            }
        }
        text.push_str(&in_columns(&rest, width));
        text
    }

    /// Puts a fluent on its board and gives the board; `None` if it has none.
    fn place(&self, fluent: &str, cells: &mut [Cells]) -> Option<usize> {
        let (name, leaves) = leaves_of(fluent)?;
        for (board_idx, (board, cells)) in self.boards.iter().zip(cells).enumerate() {
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
            let piece = board.piece(family, &leaves);
            cells.entry(selector).or_default().entry((column, row)).or_default().push(piece);
            return Some(board_idx);
        }
        None
    }
}

impl Family {
    /// The leaves with those that are two coordinates at once replaced by the two; `None` if
    /// one of them is no cell of the grid.
    fn split<'a>(&'a self, leaves: &[&'a str]) -> Option<Vec<&'a str>> {
        let mut all = Vec::new();
        for (&leaf, split) in leaves.iter().zip(&self.splits) {
            match split {
                None => all.push(leaf),
                Some(split) => {
                    let (column, row) = split.get(leaf)?;
                    all.extend([column.as_str(), row.as_str()]);
                }
            }
        }
        Some(all)
    }
}

/// Boards whose axes are part of a larger board's are drawn on that one's.
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

/// For each grid of a board, what is on its cells.
type Cells = BTreeMap<Vec<String>, BTreeMap<(usize, usize), Vec<Option<String>>>>;

impl Board {
    /// Whether both only mark cells of one grid, so that one drawing shows both.
    fn merges_with(&self, other: &Board) -> bool {
        self.is_plain()
            && other.is_plain()
            && self.columns == other.columns
            && self.rows == other.rows
    }

    /// Whether being on a cell is all there is to see.
    fn is_plain(&self) -> bool {
        self.families.iter().all(|family| family.pieces.is_empty() && family.selectors.is_empty())
    }

    /// What to write on a cell; `None` for a piece that means an empty cell.
    fn piece(&self, family: &Family, leaves: &[&str]) -> Option<String> {
        if family.pieces.is_empty() {
            let mark = if self.families.len() == 1 { "#".into() } else { shortest(&family.name) };
            return Some(mark);
        }
        if let [leaf] = family.pieces[..]
            && self.blanks.contains(leaves[leaf])
        {
            return None;
        }
        let names = family
            .pieces
            .iter()
            .map(|&leaf| self.short.get(leaves[leaf]).map_or(leaves[leaf], String::as_str));
        Some(names.collect::<Vec<_>>().join(if self.short.is_empty() { "/" } else { "" }))
    }

    /// Draws every grid of the board as a block of lines.
    fn draw(&self, cells: &Cells, has_titles: bool, blocks: &mut Vec<Vec<String>>) {
        let empty = BTreeMap::new();
        let n_selectors = self.families[0].selectors.len();
        if n_selectors == 0 {
            let grid = cells.values().next().unwrap_or(&empty);
            let title = has_titles.then(|| self.name());
            blocks.push(self.draw_grid(title, grid));
            return;
        }
        for selector in self.selectors(cells) {
            let grid = cells.get(&selector).unwrap_or(&empty);
            blocks.push(
                self.draw_grid(Some(format!("{} {}", self.name(), selector.join(" "))), grid),
            );
        }
    }

    /// The grids to draw: all there can be, unless they are many; then those with something on.
    fn selectors(&self, cells: &Cells) -> Vec<Vec<String>> {
        let n_grids: usize = self.selector_names.iter().map(Vec::len).product();
        if n_grids > MAX_GRIDS {
            return cells.keys().cloned().collect();
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

    fn draw_grid(
        &self,
        title: Option<String>,
        grid: &BTreeMap<(usize, usize), Vec<Option<String>>>,
    ) -> Vec<String> {
        let has_blanks = !self.blanks.is_empty();
        let text_at = |column: usize, row: usize| match grid.get(&(column, row)) {
            None => String::from(if has_blanks { " " } else { "." }),
            Some(pieces) => {
                let names: Vec<&str> = pieces.iter().flatten().map(String::as_str).collect();
                if names.is_empty() { String::from(".") } else { names.join("+") }
            }
        };
        let texts: Vec<Vec<String>> = (0..self.rows.len())
            .map(|row| (0..self.columns.len()).map(|column| text_at(column, row)).collect())
            .collect();
        let width_of = |text: &str| text.chars().count();
        let cell_width = texts
            .iter()
            .flatten()
            .chain(&self.columns)
            .map(|text| width_of(text))
            .max()
            .unwrap_or(1);
        let label_width = self.rows.iter().map(|label| width_of(label)).max().unwrap_or(1);
        let mut lines: Vec<String> = title.into_iter().collect();
        for (label, texts) in self.rows.iter().zip(&texts).rev() {
            let cells: Vec<String> =
                texts.iter().map(|text| format!("{text:>cell_width$}")).collect();
            lines.push(format!(" {label:>label_width$}  {}", cells.join(" ")).trim_end().into());
        }
        let labels: Vec<String> =
            self.columns.iter().map(|label| format!("{label:>cell_width$}")).collect();
        lines.push(format!(" {:label_width$}  {}", "", labels.join(" ")));
        lines
    }

    fn legend(&self) -> Option<String> {
        let mut entries: Vec<String> =
            self.short.iter().map(|(long, short)| format!("{short} {long}")).collect();
        if self.families.len() > 1 {
            let marks = self.families.iter().map(|f| format!("{} {}", shortest(&f.name), f.name));
            entries.extend(marks);
        }
        (!entries.is_empty()).then(|| format!(" ({})", entries.join(", ")))
    }
}

/// The board of the fluents `name(…)` with `arity` arguments, if they form one.
fn find_board(
    program: &Program,
    domains: &Domains,
    orders: &Orders,
    name: Symbol,
    arity: usize,
) -> Option<Board> {
    let mut leaves = Vec::new();
    for argument in 0..arity {
        collect_leaves(domains, Place::Function(name, arity, argument), 0, &mut leaves);
    }
    let text = |symbol: &Symbol| program.terms.symbols().name(*symbol).to_string();
    let texts = |symbols: &BTreeSet<Symbol>| symbols.iter().map(text).collect::<BTreeSet<String>>();
    let mut splits: Vec<Option<Split>> = Vec::new();
    let mut names: Vec<BTreeSet<String>> = Vec::new();
    let mut ordered: Vec<Option<Vec<String>>> = Vec::new();
    for leaf in &leaves {
        let (all, initial) = (texts(&leaf.all), texts(&leaf.initial));
        let split = if leaf.is_plain { orders.split(&all) } else { None };
        match &split {
            Some(split) => {
                let columns = split.values().map(|(column, _)| column.clone()).collect();
                let rows = split.values().map(|(_, row)| row.clone()).collect();
                ordered.extend([orders.sort(&columns), orders.sort(&rows)]);
                names.extend([columns, rows]);
            }
            // Constants that rules mix up may still stand apart at the beginning.
            None => {
                let sorted = orders.sort(&all).or_else(|| orders.sort(&initial));
                ordered.push(sorted.filter(|sorted| leaf.is_plain && sorted.len() > 1));
                names.push(all);
            }
        }
        splits.push(split);
    }
    let roles = assign(&ordered)?;
    let [columns, rows] = [roles.column, roles.row]
        .map(|leaf| ordered[leaf].clone().expect("a coordinate is ordered"));
    let family = Family {
        name: text(&name),
        n_leaves: leaves.len(),
        splits,
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

/// What can stand in one leaf of a family.
#[derive(Default)]
struct Leaf {
    /// The constants that ever can.
    all: BTreeSet<Symbol>,
    /// Those that do at the beginning.
    initial: BTreeSet<Symbol>,
    /// Whether constants are all that can.
    is_plain: bool,
}

/// The leaves below a place, in order of writing. A place that can hold functions of several
/// kinds is one leaf.
fn collect_leaves(domains: &Domains, place: Place, depth: usize, leaves: &mut Vec<Leaf>) {
    let mut functions = Vec::new();
    let mut constants = |fillers: BTreeSet<Filler>| {
        let mut constants = BTreeSet::new();
        for filler in fillers {
            match filler {
                Filler::Constant(name) => _ = constants.insert(name),
                Filler::Function(name, arity) => functions.push((name, arity)),
            }
        }
        constants
    };
    let initial = constants(domains.initial(place));
    let all = constants(domains.fillers(place));
    functions.sort_unstable();
    functions.dedup();
    match functions[..] {
        [(name, arity)] if all.is_empty() && depth < 3 => {
            for argument in 0..arity {
                collect_leaves(domains, Place::Function(name, arity, argument), depth + 1, leaves);
            }
        }
        _ => leaves.push(Leaf { all, initial, is_plain: functions.is_empty() }),
    }
}

/// What each leaf of a family is for.
struct LeafRoles {
    column: usize,
    row: usize,
    selectors: Vec<usize>,
    pieces: Vec<usize>,
}

/// Takes the longest run of ordered leaves side by side as coordinates. Its last two are the
/// cell and those before select a board, unless the run is all there is: then its first two
/// are the cell and the others the piece, as in `(cell ?row ?column ?digit)`. With leaves on
/// both sides of the run, those before it select a board, too: `(cell left 1 2 x)`.
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
    // Three ordered leaves of which the first two are alike and the third is not: a cell and
    // what is on it, as in `(cell ?x ?y ?height ?owner)`.
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

/// Whether a piece means that nothing is there. `b` does unless there is a `w`: then it is
/// black.
fn is_blank(piece: &str, pieces: &BTreeSet<String>) -> bool {
    let has = |name: &str| pieces.contains(name);
    match piece.to_ascii_lowercase().as_str() {
        "blank" | "empty" | "none" | "nothing" | "free" => true,
        "b" => !has("w") && !has("blank") && !has("empty"),
        _ => false,
    }
}

/// Short forms of names, where some are too long for a cell: the first letter where that is
/// enough to tell them apart, else the shortest beginnings that are.
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

fn shortest(name: &str) -> String {
    name.chars().take(1).collect()
}

/// The function of a fluent and its leaves; `None` for a constant.
fn leaves_of(fluent: &str) -> Option<(&str, Vec<&str>)> {
    let mut function = None;
    let mut leaves = Vec::new();
    // The name of a function follows its parenthesis and is no leaf.
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

/// Parentheses and words.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['(', ')', ' ']).flat_map(|piece| {
        let word = piece.trim_end_matches(['(', ')', ' ']);
        let mark = piece[word.len()..].trim();
        [word, mark].into_iter().filter(|token| !token.is_empty())
    })
}

/// Blocks of lines next to each other, as many as fit.
fn side_by_side(blocks: &[Vec<String>], width: usize) -> String {
    let width_of =
        |block: &[String]| block.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut start = 0;
    while start < blocks.len() {
        let mut used = width_of(&blocks[start]);
        let mut end = start + 1;
        while end < blocks.len() && used + 3 + width_of(&blocks[end]) <= width {
            used += 3 + width_of(&blocks[end]);
            end += 1;
        }
        let height = blocks[start..end].iter().map(Vec::len).max().unwrap_or(0);
        for line_idx in 0..height {
            let mut line = String::new();
            for block in &blocks[start..end] {
                // Titles may be missing: blocks are aligned at their last line.
                let text = (line_idx + block.len())
                    .checked_sub(height)
                    .map_or("", |place| block[place].as_str());
                write!(line, "{text:<0$}   ", width_of(block)).expect("writing to a string");
            }
            writeln!(text, "{}", line.trim_end()).expect("writing to a string");
        }
        start = end;
    }
    text
}

/// Words in columns of equal width, filled line by line.
pub fn in_columns<T: AsRef<str>>(words: &[T], width: usize) -> String {
    let column = words.iter().map(|word| word.as_ref().chars().count()).max().unwrap_or(0) + 2;
    let n_columns = (width.saturating_sub(1) / column).max(1);
    let mut text = String::new();
    for line in words.chunks(n_columns) {
        let cells: String = line.iter().map(|word| format!("{:<column$}", word.as_ref())).collect();
        writeln!(text, " {}", cells.trim_end()).expect("writing to a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use ludex_base::Source;

    use super::*;

    #[track_caller]
    fn check(rules: &str, fluents: &[&str], expected: Expect) {
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (program, _) = ludex_gdl::lower(&sheet);
        let fluents: Vec<String> = fluents.iter().map(ToString::to_string).collect();
        // The first line holds the margin, which expectations do not keep of themselves.
        expected.assert_eq(&format!("drawn:\n{}", Layout::of(&program).draw(&fluents, 60)));
    }

    #[test]
    fn numbers_make_a_board_and_the_rest_is_listed() {
        check(
            "(index 1) (index 2) (index 10) (mark x) (mark o) (mark b)
             (<= (next (cell ?x ?y ?m)) (index ?x) (index ?y) (mark ?m))
             (init (control x))",
            &["(cell 1 2 x)", "(cell 10 1 b)", "(control x)"],
            expect![[r#"
                drawn:
                 10
                  2   x
                  1         .
                      1  2 10
                 (control x)
            "#]],
        );
    }

    #[test]
    fn names_in_a_row_are_ordered_by_the_relation_that_says_so() {
        check(
            "(after low mid) (after mid high)
             (<= (init (stone ?x ?y)) (after ?x ?u) (after ?y ?v))
             (<= (next (stone ?u ?v)) (after ?x ?u) (after ?y ?v))",
            &["(stone high low)", "(stone low high)"],
            expect![[r#"
                drawn:
                 high     #    .    .
                  mid     .    .    .
                  low     .    .    #
                        low  mid high
            "#]],
        );
    }

    #[test]
    fn a_cell_can_be_one_constant() {
        let rules = "(square p u 1) (square q v 1) (square r u 2) (square s v 2)
             (init (on p king)) (init (on s pawn))
             (<= (next (on ?c ?p)) (square ?c ?x ?y) (true (on ?d ?p)))";
        check(
            rules,
            &["(on p king)", "(on s pawn)"],
            expect![[r#"
                drawn:
                 2  . p
                 1  k .
                    u v
                 (k king, p pawn)
            "#]],
        );
    }

    #[test]
    fn boards_stand_side_by_side() {
        check(
            "(side left) (side right) (n 1) (n 2) (mark x) (mark o)
             (<= (next (cell ?s ?x ?y ?m)) (side ?s) (n ?x) (n ?y) (mark ?m))",
            &["(cell left 1 1 x)", "(cell right 2 2 o)"],
            expect![[r#"
                drawn:
                cell left   cell right
                 2  . .      2  . o
                 1  x .      1  . .
                    1 2         1 2
            "#]],
        );
    }

    #[test]
    fn without_a_board_there_is_a_list() {
        check(
            "(init (heap a 3)) (init (control you))",
            &["(heap a 3)"],
            expect![[r#"
                drawn:
                 (heap a 3)
            "#]],
        );
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

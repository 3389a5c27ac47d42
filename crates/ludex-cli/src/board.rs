//! Draws states as text for a terminal.

use std::fmt::Write as _;

use ludex_analysis::layout::{BoardPicture, Cell, Grid, Occupant, Picture};

/// Draws a picture in lines of about `width` characters.
pub fn draw(picture: &Picture, width: usize) -> String {
    let has_titles = picture.boards.len() > 1;
    let blocks: Vec<Vec<String>> = (picture.boards.iter())
        .flat_map(|board| board.grids.iter().map(move |grid| draw_grid(board, grid, has_titles)))
        .collect();
    let mut text = side_by_side(&blocks, width);
    for board in picture.boards.iter().filter(|board| !board.legend.is_empty()) {
        let entries = board.legend.iter().map(|(label, name)| format!("{label} {name}"));
        let entries: Vec<String> = entries.collect();
        writeln!(text, " ({})", entries.join(", ")).expect("writing to a string");
    }
    text.push_str(&in_columns(&picture.others, width));
    text
}

/// Draws a grid as a block of lines, with a title if needed.
fn draw_grid(board: &BoardPicture, grid: &Grid, has_title: bool) -> Vec<String> {
    let texts: Vec<Vec<String>> =
        grid.cells.iter().map(|row| row.iter().map(cell_text).collect()).collect();
    let width_of = |text: &String| text.chars().count();
    let cell_width = texts.iter().flatten().chain(&board.columns).map(width_of).max().unwrap_or(1);
    let label_width = board.rows.iter().map(width_of).max().unwrap_or(1);
    let mut lines = Vec::new();
    if has_title || !grid.selector.is_empty() {
        let words: Vec<&str> =
            std::iter::once(&board.name).chain(&grid.selector).map(String::as_str).collect();
        lines.push(words.join(" "));
    }
    for (label, texts) in board.rows.iter().zip(&texts).rev() {
        let cells: Vec<String> = texts.iter().map(|text| format!("{text:>cell_width$}")).collect();
        lines.push(format!(" {label:>label_width$}  {}", cells.join(" ")).trim_end().into());
    }
    let labels: Vec<String> =
        board.columns.iter().map(|label| format!("{label:>cell_width$}")).collect();
    lines.push(format!(" {:label_width$}  {}", "", labels.join(" ")));
    lines
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Outside => " ".into(),
        Cell::Empty => ".".into(),
        Cell::Occupied(occupants) => {
            let label = |occupant: &Occupant| occupant.label.clone();
            occupants.iter().map(label).collect::<Vec<_>>().join("+")
        }
    }
}

/// Puts blocks of lines next to each other, as many as fit.
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
                // Some blocks have no title, so align blocks at their last line.
                let text = (line_idx + block.len())
                    .checked_sub(height)
                    .map_or("", |line_idx| block[line_idx].as_str());
                write!(line, "{text:<0$}   ", width_of(block)).expect("writing to a string");
            }
            writeln!(text, "{}", line.trim_end()).expect("writing to a string");
        }
        start = end;
    }
    text
}

/// Arranges words in columns of equal width, line by line.
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
    use ludex_analysis::Layout;
    use ludex_base::Source;

    use super::*;

    #[track_caller]
    fn check(rules: &str, fluents: &[&str], expected: Expect) {
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (program, _) = ludex_gdl::lower(&sheet);
        let fluents: Vec<String> = fluents.iter().map(ToString::to_string).collect();
        // The first line keeps the indentation, which `expect!` would strip.
        expected
            .assert_eq(&format!("drawn:\n{}", draw(&Layout::of(&program).picture(&fluents), 60)));
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
}

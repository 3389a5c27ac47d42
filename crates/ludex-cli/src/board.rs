//! Draws states as text for a terminal.
//!
//! Names in a rulesheet may have any length, and states any number of fluents: what is drawn is cut
//! to a fixed number of characters and lines, with a count of what is missing.

use std::borrow::Cow;
use std::fmt::Write as _;

use ludex_analysis::layout::{BoardPicture, Cell, Grid, Occupant, Picture};

/// Longest label of a row, column or cell, in characters.
const MAX_LABEL: usize = 40;
/// Longest fluent, move or name, in characters.
const MAX_WORD: usize = 1_000;
/// Most fluents and legend entries that are listed.
const MAX_LISTED: usize = 2_000;

/// Cuts a text to this many characters; what is missing is counted.
pub fn cut(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => {
            let n_more = text[end..].chars().count();
            Cow::Owned(format!("{}… ({n_more} more characters)", &text[..end]))
        }
        None => Cow::Borrowed(text),
    }
}

/// Cuts a word of a list.
pub fn cut_word(text: &str) -> Cow<'_, str> {
    cut(text, MAX_WORD)
}

/// Cuts a label, without a count because there is no room for it.
fn cut_label(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_LABEL) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Draws a picture in lines of about `width` characters.
pub fn draw(picture: &Picture, width: usize) -> String {
    let has_titles = picture.boards.len() > 1;
    let blocks: Vec<Vec<String>> = (picture.boards.iter())
        .flat_map(|board| board.grids.iter().map(move |grid| draw_grid(board, grid, has_titles)))
        .collect();
    let mut text = side_by_side(&blocks, width);
    for board in picture.boards.iter().filter(|board| !board.legend.is_empty()) {
        let entries = board.legend.iter().take(MAX_LISTED);
        let entries =
            entries.map(|(label, name)| format!("{} {}", cut_label(label), cut_word(name)));
        let entries: Vec<String> = entries.collect();
        let n_more = board.legend.len() - entries.len();
        let more = if n_more > 0 { format!(", and {n_more} more") } else { String::new() };
        writeln!(text, " ({}{more})", entries.join(", ")).expect("writing to a string");
    }
    let n_listed = picture.others.len().min(MAX_LISTED);
    text.push_str(&in_columns(&picture.others[..n_listed], width));
    if n_listed < picture.others.len() {
        let n_more = picture.others.len() - n_listed;
        writeln!(text, " … and {n_more} more fluents").expect("writing to a string");
    }
    text
}

/// Draws a grid as a block of lines, with a title if needed.
fn draw_grid(board: &BoardPicture, grid: &Grid, has_title: bool) -> Vec<String> {
    let texts: Vec<Vec<String>> =
        grid.cells.iter().map(|row| row.iter().map(cell_text).collect()).collect();
    let labels = |texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| cut_label(text).into_owned()).collect()
    };
    let (columns, rows) = (labels(&board.columns), labels(&board.rows));
    let width_of = |text: &String| text.chars().count();
    let cell_width = texts.iter().flatten().chain(&columns).map(width_of).max().unwrap_or(1);
    let label_width = rows.iter().map(width_of).max().unwrap_or(1);
    let mut lines = Vec::new();
    if has_title || !grid.selector.is_empty() {
        let words = std::iter::once(&board.name).chain(&grid.selector);
        let words: Vec<Cow<'_, str>> = words.map(|word| cut_label(word)).collect();
        lines.push(words.join(" "));
    }
    for (label, texts) in rows.iter().zip(&texts).rev() {
        let cells: Vec<String> = texts.iter().map(|text| format!("{text:>cell_width$}")).collect();
        lines.push(format!(" {label:>label_width$}  {}", cells.join(" ")).trim_end().into());
    }
    let labels: Vec<String> = columns.iter().map(|label| format!("{label:>cell_width$}")).collect();
    lines.push(format!(" {:label_width$}  {}", "", labels.join(" ")));
    lines
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Outside => " ".into(),
        Cell::Empty => ".".into(),
        Cell::Occupied(occupants) => {
            // More occupants than characters would be cut anyway.
            let shown = occupants.iter().take(MAX_LABEL);
            let labels: Vec<Cow<'_, str>> =
                shown.map(|occupant: &Occupant| cut_label(&occupant.label)).collect();
            let more = if occupants.len() > MAX_LABEL { "+…" } else { "" };
            cut_label(&(labels.join("+") + more)).into_owned()
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
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| cut_word(word.as_ref())).collect();
    let column = words.iter().map(|word| word.chars().count()).max().unwrap_or(0) + 2;
    let n_columns = (width.saturating_sub(1) / column).max(1);
    let mut text = String::new();
    for line in words.chunks(n_columns) {
        let cells: String = line.iter().map(|word| format!("{word:<column$}")).collect();
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
    fn names_of_any_length_are_cut() {
        let long = "n".repeat(70_000);
        let rules = format!(
            "(after low mid) (after mid {long})
             (<= (init (stone ?x ?y)) (after ?x ?u) (after ?y ?v))
             (<= (next (stone ?u ?v)) (after ?x ?u) (after ?y ?v))"
        );
        let fluents = [format!("(stone {long} low)"), format!("(heap {long})")];
        let (sheet, _) = ludex_gdl::parse(&Source::new("test", rules));
        let (program, _) = ludex_gdl::lower(&sheet);
        let text = draw(&Layout::of(&program).picture(&fluents), 60);
        let label = format!("{}…", "n".repeat(MAX_LABEL));
        assert!(text.lines().any(|line| line.trim_start().starts_with(&label)), "{text}");
        assert!(text.contains(&format!("(heap {}… (", "n".repeat(MAX_WORD - "(heap ".len()))));
        assert!(text.lines().all(|line| line.chars().count() < 3 * MAX_WORD), "{text}");
    }

    #[test]
    fn a_long_list_ends_with_a_count() {
        let others: Vec<String> = (0..MAX_LISTED + 5).map(|n| format!("(at {n})")).collect();
        let text = draw(&Picture { boards: Vec::new(), others }, 60);
        assert!(text.ends_with(" … and 5 more fluents\n"), "{text}");
        assert_eq!(cut("abcdef", 4), "abcd… (2 more characters)");
        assert_eq!(cut("abcd", 4), "abcd");
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

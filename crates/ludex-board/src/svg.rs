//! Scenes as SVG.
//!
//! Colors are those of Okabe and Ito, which people with any kind of color vision tell apart; owners
//! also differ in shape, and pieces have letters or glyphs. Every cell has a `data-cell` with its
//! number, so that a page can make it touchable. All text from rulesheets is escaped.

use std::fmt::Write as _;

use crate::scene::{Board, BoardKind, Cell, Piece, Scene};

/// The side of a cell in the units of the drawing.
const UNIT: f64 = 40.0;
/// Free space around a board.
const MARGIN: f64 = 1.3;
/// Width at which the next board starts a new line, in cells.
const LINE_WIDTH: f64 = 24.0;
/// Most pieces that are drawn on one cell.
const MAX_PIECES: usize = 4;

/// The colors of roles, by number.
const OWNERS: [&str; 7] =
    ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2"];

/// Draws a scene.
pub fn render(scene: &Scene) -> String {
    render_groups(scene, |_| None)
}

/// Returns the color of a group of cells; colors repeat if there are many groups.
pub fn group_color(group: usize) -> &'static str {
    OWNERS[group % OWNERS.len()]
}

/// Draws a scene whose cells are colored by group: `group_of` gets the number of a cell.
pub fn render_groups(scene: &Scene, group_of: impl Fn(usize) -> Option<usize>) -> String {
    let mut body = String::new();
    let (mut x, mut y, mut line_height, mut width) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for board in &scene.boards {
        let size = size_of(board);
        if x > 0.0 && x + size.0 > LINE_WIDTH {
            (x, y, line_height) = (0.0, y + line_height, 0.0);
        }
        let top = if board.title.is_empty() { 0.0 } else { 0.6 };
        draw_board(&mut body, board, x, y + top, &group_of);
        x += size.0;
        line_height = line_height.max(size.1 + top);
        width = width.max(x);
    }
    y += line_height;
    width = width.max(if scene.counters.is_empty() { 4.0 } else { 12.0 });
    for counter in &scene.counters {
        let (left, middle) = (0.4 * UNIT, (y + 0.5) * UNIT);
        write!(
            body,
            "<text class=\"counter\" data-cell=\"{}\" x=\"{left}\" y=\"{middle}\" \
             font-size=\"15\" fill=\"#333\">{}</text>",
            counter.id,
            escape(&counter.text)
        )
        .expect("writing to a string");
        y += 0.6;
    }
    let (width, height) = (width * UNIT, (y.max(1.0) + 0.2) * UNIT);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\">{body}</svg>\n"
    )
}

/// Columns of a contact sheet, and the width and height of one of its pictures.
const SHEET_COLUMNS: usize = 9;
const SHEET_WIDTH: usize = 150;
const SHEET_HEIGHT: usize = 170;

/// Puts many drawings on one sheet, each with its title.
pub fn contact_sheet(drawings: &[(String, String)]) -> String {
    let columns = SHEET_COLUMNS.min(drawings.len().max(1));
    let (width, height) = (columns * SHEET_WIDTH, drawings.len().div_ceil(columns) * SHEET_HEIGHT);
    let mut sheet = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\"><rect width=\"{width}\" height=\"{height}\" \
         fill=\"#fbfaf6\"/>"
    );
    for (number, (title, drawing)) in drawings.iter().enumerate() {
        let (x, y) = (number % columns * SHEET_WIDTH + 8, number / columns * SHEET_HEIGHT + 4);
        let (inner, side) = (SHEET_WIDTH - 16, SHEET_HEIGHT - 36);
        let box_of = drawing.split_once("viewBox=\"").and_then(|(_, rest)| rest.split('"').next());
        let box_of = box_of.unwrap_or("0 0 1 1");
        let body = drawing.split_once('>').map_or("", |(_, rest)| rest);
        let body = body.trim_end().strip_suffix("</svg>").unwrap_or("");
        let (middle, line) = (x + inner / 2, y + side + 18);
        let title = escape(title);
        write!(
            sheet,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{inner}\" height=\"{side}\" viewBox=\"{box_of}\">{body}\
             </svg><text x=\"{middle}\" y=\"{line}\" font-size=\"12\" fill=\"#333\" \
             text-anchor=\"middle\">{title}</text>"
        )
        .expect("writing to a string");
    }
    sheet + "</svg>\n"
}

/// The width and height of a board with its margin, in cells.
fn size_of(board: &Board) -> (f64, f64) {
    let most = |of: fn(&Cell) -> f64| board.cells.iter().map(of).fold(0.0, f64::max);
    (most(|it| it.x) + 2.0 * MARGIN, most(|it| it.y) + 2.0 * MARGIN)
}

fn draw_board(
    body: &mut String,
    board: &Board,
    left: f64,
    top: f64,
    group_of: &impl Fn(usize) -> Option<usize>,
) {
    let at = |x: f64, y: f64| ((left + x + MARGIN) * UNIT, (top + y + MARGIN) * UNIT);
    let mut add = |text: String| body.push_str(&text);
    if !board.title.is_empty() {
        let (x, y) = at(-0.5, -0.85);
        let title = escape(&board.title);
        add(format!(
            "<text class=\"title\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"15\" fill=\"#555\">{title}</text>"
        ));
    }
    for (x, y, text) in &board.labels {
        let ((x, y), text) = (at(*x, *y), escape(text));
        add(format!(
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"13\" fill=\"#777\" \
             text-anchor=\"middle\" dominant-baseline=\"central\">{text}</text>"
        ));
    }
    for &(from, to) in &board.lines {
        let (a, b) = (&board.cells[from], &board.cells[to]);
        let ((x1, y1), (x2, y2)) = (at(a.x, a.y), at(b.x, b.y));
        add(format!(
            "<line class=\"line\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" \
             stroke=\"#888\" stroke-width=\"3\"/>"
        ));
    }
    for cell in &board.cells {
        let (x, y) = at(cell.x, cell.y);
        add(format!("<g class=\"cell\" data-cell=\"{}\">", cell.id));
        let in_words = |piece: &Piece| match piece.percent {
            Some(percent) => format!("{} ({percent} %)", piece.names.join(" ")),
            None => piece.names.join(" "),
        };
        let content = cell.pieces.iter().map(in_words).collect::<Vec<_>>();
        let separator = if content.is_empty() { "" } else { ": " };
        add(format!(
            "<title>{}{separator}{}</title>",
            escape(&cell.name),
            escape(&content.join(", "))
        ));
        add(ground(board.kind, cell, x, y, group_of(cell.id)));
        add(draw_pieces(&cell.pieces, x, y));
        add("</g>".into());
    }
}

/// The ground of a cell.
fn ground(kind: BoardKind, cell: &Cell, x: f64, y: f64, group: Option<usize>) -> String {
    let is_dark = (cell.x.round() as i64 + cell.y.round() as i64) % 2 == 1;
    let (class, fill) = match (cell.is_changed, is_dark && kind == BoardKind::Grid) {
        (true, _) => ("ground changed", "#fff2b3"),
        (false, true) => ("ground dark", "#e4e0d5"),
        (false, false) => ("ground", "#f4f1e8"),
    };
    let style = match group {
        Some(group) => format!(
            "class=\"ground group\" fill=\"{}\" fill-opacity=\"0.45\" stroke=\"#9a958a\"",
            group_color(group)
        ),
        None => format!("class=\"{class}\" fill=\"{fill}\" stroke=\"#9a958a\""),
    };
    match kind {
        BoardKind::Grid | BoardKind::Row => {
            let (left, top) = (x - UNIT / 2.0, y - UNIT / 2.0);
            format!(
                "<rect {style} x=\"{left:.1}\" y=\"{top:.1}\" width=\"{UNIT}\" height=\"{UNIT}\"/>"
            )
        }
        BoardKind::Hexagonal => {
            let radius = UNIT / f64::sqrt(3.0);
            let corner = |idx: i32| {
                let angle = (60.0 * f64::from(idx) + 30.0).to_radians();
                format!("{:.1},{:.1}", x + radius * angle.cos(), y + radius * angle.sin())
            };
            let corners: Vec<String> = (0..6).map(corner).collect();
            format!("<polygon {style} points=\"{}\"/>", corners.join(" "))
        }
        BoardKind::Graph => {
            format!("<circle {style} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>", UNIT * 0.42)
        }
    }
}

/// Draws the pieces of a cell: one in the middle, or up to four in the corners.
fn draw_pieces(pieces: &[Piece], x: f64, y: f64) -> String {
    if let [piece] = pieces {
        return draw_piece(piece, x, y, UNIT * 0.38);
    }
    let corners = [(-0.23, -0.23), (0.23, -0.23), (-0.23, 0.23), (0.23, 0.23)];
    let drawn = pieces.iter().zip(corners).take(MAX_PIECES);
    drawn.map(|(it, (dx, dy))| draw_piece(it, x + dx * UNIT, y + dy * UNIT, UNIT * 0.2)).collect()
}

/// Draws a piece within a radius: the shape and color of its owner, then its glyph or label.
fn draw_piece(piece: &Piece, x: f64, y: f64, radius: f64) -> String {
    let is_number = piece.label.parse::<i64>().is_ok();
    let mut text = piece.label.as_str();
    let glyph = piece.glyph.map(String::from);
    if let Some(glyph) = &glyph {
        text = glyph;
    }
    let shape = match piece.owner {
        Some(owner) => {
            let fill = OWNERS[owner % OWNERS.len()];
            let style = format!(
                "class=\"piece owner{owner}\" fill=\"{fill}\" stroke=\"#222\" stroke-width=\"1.5\""
            );
            owned_shape(owner, &style, x, y, radius)
        }
        None if piece.is_mark => {
            let (left, top, side) = (x - radius, y - radius, 2.0 * radius);
            // A mark of the only family on its board needs no letter.
            if text == "#" {
                text = "";
            }
            format!(
                "<rect class=\"mark\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{side:.1}\" \
                 height=\"{side:.1}\" rx=\"3\" fill=\"#8a8578\"/>"
            )
        }
        None if is_number => String::new(),
        None => format!(
            "<circle class=\"neutral\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" \
             fill=\"#d9d4c7\" stroke=\"#555\"/>"
        ),
    };
    let n_chars = text.chars().count().max(1) as f64;
    let size = match glyph {
        Some(_) => radius * 1.7,
        None => (radius * 1.25).min(radius * 3.2 / n_chars),
    };
    let text = escape(text);
    let drawn = format!(
        "{shape}<text class=\"letter\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.1}\" \
         fill=\"#111\" text-anchor=\"middle\" dominant-baseline=\"central\">{text}</text>"
    );
    match piece.percent {
        // Even an unlikely piece can be seen.
        Some(percent) => {
            let opacity = 0.15 + 0.75 * f64::from(percent) / 100.0;
            format!("<g class=\"maybe\" opacity=\"{opacity:.2}\">{drawn}</g>")
        }
        None => drawn,
    }
}

/// The shape of an owner's pieces.
fn owned_shape(owner: usize, style: &str, x: f64, y: f64, radius: f64) -> String {
    let polygon = |n_corners: u32, turn: f64, radius: f64| {
        let corner = |idx: u32| {
            let angle = (360.0 * f64::from(idx) / f64::from(n_corners) + turn).to_radians();
            format!("{:.1},{:.1}", x + radius * angle.cos(), y + radius * angle.sin())
        };
        let corners: Vec<String> = (0..n_corners).map(corner).collect();
        format!("<polygon {style} points=\"{}\"/>", corners.join(" "))
    };
    match owner % 5 {
        0 => format!("<circle {style} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"),
        1 => polygon(4, 45.0, radius * 1.2),
        2 => polygon(3, -90.0, radius * 1.2),
        3 => polygon(6, 0.0, radius * 1.05),
        _ => polygon(4, 0.0, radius * 1.15),
    }
}

/// Escapes text for SVG. Characters that XML forbids become question marks.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_rulesheets_cannot_become_elements() {
        let evil = "<script>alert('1')</script>&\"\u{1}";
        let piece = Piece {
            names: vec![evil.into()],
            label: evil.into(),
            owner: None,
            glyph: None,
            is_mark: false,
            percent: None,
        };
        let cell = Cell {
            id: 0,
            x: 0.0,
            y: 0.0,
            name: evil.into(),
            pieces: vec![piece],
            is_changed: false,
        };
        let board = Board {
            kind: BoardKind::Grid,
            title: evil.into(),
            cells: vec![cell],
            lines: Vec::new(),
            labels: vec![(0.0, 0.0, evil.into())],
        };
        let text = render(&Scene { boards: vec![board], ..Scene::default() });
        assert!(!text.contains("<script") && !text.contains('\u{1}'), "{text}");
        assert_eq!(text.matches("&lt;script&gt;").count(), 5);
    }

    #[test]
    fn a_contact_sheet_holds_every_drawing() {
        let drawing = render(&Scene::default());
        let drawings: Vec<_> = (0..11).map(|n| (format!("<{n}>"), drawing.clone())).collect();
        let sheet = contact_sheet(&drawings);
        assert_eq!(sheet.matches("<svg").count(), 12);
        assert_eq!(sheet.matches("</svg>").count(), 12);
        assert!(sheet.contains("&lt;10&gt;") && sheet.contains("height=\"340\""));
    }
}

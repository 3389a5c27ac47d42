//! `cargo xtask picture`: draws the picture of the front page as SVG, with a rulesheet and the game that Ludex
//! plays by it.
//!
//! Every line of the picture is a line of the rulesheet or of the output of `ludex play`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use ludex_testkit::workspace;

use crate::tools;

/// The path of the picture.
const PICTURE: &str = "docs/pictures/connectfour.svg";

/// The command to run. The opponent is `random`, so the position does not depend on a clock.
const COMMAND: &str = "play connectfour --player random --seed 4 --threads 1";

/// The input of the person: the columns into which red drops its discs.
const MOVES: [&str; 8] = ["4", "4", "3", "5", "5", "3", "4", "6"];

/// The clauses to show: the beginning of each, and whether to show the clauses that follow without a blank line
/// too.
const CLAUSES: [(&str, bool); 4] = [
    ("(<= (legal ?p (drop ?x))", true),
    ("(<= (next (disc ?x ?y ?p))", true),
    ("(<= (connected ?p)", false),
    ("(<= (goal ?p 100)", false),
];

/// Keywords of the Game Description Language.
const KEYWORDS: [&str; 7] = ["legal", "next", "true", "does", "goal", "not", "role"];

const BACKGROUND: &str = "#0d1117";
const BAR: &str = "#161b22";
const FRAME: &str = "#3d444d";
const PLAIN: &str = "#d1d7e0";
const FAINT: &str = "#8b949e";
const KEYWORD: &str = "#79c0ff";
const VARIABLE: &str = "#d2a8ff";
const NUMBER: &str = "#7ee787";
const RED: &str = "#f85149";
const YELLOW: &str = "#f2cc60";
const HOLE: &str = "#21262d";

/// Writes the picture.
pub fn run() -> Result<()> {
    let rules = std::fs::read_to_string(workspace().join("games/connectfour/rules.kif"))?;
    let picture = picture(&excerpt(&rules)?, &last_position(&play()?)?);
    let path = workspace().join(PICTURE);
    std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    std::fs::write(&path, picture).with_context(|| format!("{}", path.display()))?;
    eprintln!("written to {PICTURE}");
    Ok(())
}

/// Plays the moves and returns the output of the command.
fn play() -> Result<String> {
    let mut child = Command::new(tools::build_ludex()?)
        .args(COMMAND.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("`ludex` does not start")?;
    let mut input = child.stdin.take().context("standard input is piped")?;
    input.write_all(MOVES.join("\n").as_bytes())?;
    drop(input);
    Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
}

/// The last position of a game: the move that led to it, the board and the prompt, without the list of moves.
fn last_position(printed: &str) -> Result<Vec<String>> {
    let lines: Vec<&str> = printed.lines().collect();
    let prompt = lines.iter().rposition(|line| line.contains("> ")).context("no prompt")?;
    let board = lines[..prompt].iter().rposition(|line| line.is_empty()).context("no board")?;
    let mut shown = vec!["$ ludex play connectfour", "…", lines[board - 1]];
    shown.extend(lines[board..prompt].iter().filter(|line| !line.contains("(drop")));
    shown.push(lines[prompt].split_inclusive("> ").next().unwrap_or_default());
    Ok(shown.into_iter().map(String::from).collect())
}

/// The lines of the clauses to show.
fn excerpt(rules: &str) -> Result<Vec<String>> {
    let mut shown = Vec::new();
    for (first, takes_block) in CLAUSES {
        let from = rules.find(first).with_context(|| format!("no clause `{first}`"))?;
        let mut clause = Vec::new();
        for line in rules[from..].lines().take_while(|line| !line.is_empty()) {
            if !takes_block && !clause.is_empty() && line.starts_with('(') {
                break;
            }
            clause.push(line.to_string());
        }
        if !shown.is_empty() {
            shown.push(String::new());
        }
        shown.append(&mut clause);
    }
    Ok(shown)
}

const HEIGHT: f64 = 492.0;
const BAR_HEIGHT: f64 = 34.0;

/// The width of a character divided by its height, in most monospaced fonts.
const ASPECT: f64 = 0.6;

/// A window with lines of text of one size.
struct Window {
    left: f64,
    width: f64,
    font: f64,
}

const EDITOR: Window = Window { left: 8.0, width: 392.0, font: 14.0 };
const TERMINAL: Window = Window { left: 448.0, width: 432.0, font: 16.5 };

/// The width of a character of the board, which is drawn larger than other text.
const CELL: f64 = 17.5;
/// The height of a row of the board.
const ROW: f64 = 35.0;

impl Window {
    /// The left edge of a column of text.
    fn x(&self, column: usize) -> f64 {
        self.left + 20.0 + column as f64 * self.font * ASPECT
    }

    /// The baseline of the first line.
    fn top(&self) -> f64 {
        8.0 + BAR_HEIGHT + 29.0
    }

    fn frame(&self, title: &str) -> String {
        let Window { left, width, .. } = self;
        let (height, bar) = (HEIGHT - 16.0, BAR_HEIGHT);
        let mut svg = format!(
            "<rect x=\"{left}\" y=\"8\" width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"{BACKGROUND}\" stroke=\"{FRAME}\"/>\n\
             <path d=\"M{left} {0}v-{1}a10 10 0 0 1 10-10h{2}a10 10 0 0 1 10 10v{1}z\" fill=\"{BAR}\" stroke=\"{FRAME}\"/>\n",
            8.0 + bar,
            bar - 10.0,
            width - 20.0
        );
        for (i, color) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
            let (x, y) = (left + 20.0 + 18.0 * i as f64, 8.0 + bar / 2.0);
            svg += &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"5.5\" fill=\"{color}\"/>\n");
        }
        let (x, y) = (left + width / 2.0, 8.0 + bar / 2.0 + 4.5);
        svg += &format!(
            "<text x=\"{x}\" y=\"{y}\" fill=\"{FAINT}\" font-size=\"13\" text-anchor=\"middle\">{title}</text>\n"
        );
        svg
    }

    /// A line in pieces, each with its column and color. Every piece has its own position and width, so that the
    /// columns stay aligned in every font.
    fn text(&self, y: f64, pieces: &[(usize, &str, &str)]) -> String {
        let spans = pieces.iter().map(|(column, piece, color)| {
            let (x, width) = (self.x(*column), piece.chars().count() as f64 * self.font * ASPECT);
            let piece = escaped(piece);
            format!(
                "<tspan x=\"{x:.1}\" textLength=\"{width:.1}\" fill=\"{color}\">{piece}</tspan>"
            )
        });
        format!(
            "<text y=\"{y:.1}\" font-size=\"{}\">{}</text>\n",
            self.font,
            spans.collect::<String>()
        )
    }
}

fn picture(rules: &[String], session: &[String]) -> String {
    let width = TERMINAL.left + TERMINAL.width + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" height=\"{HEIGHT}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" xml:space=\"preserve\">\n\
         <title>Connect four: its rules, and the board that Ludex draws from them</title>\n\
         <desc>ludex {COMMAND} | {}</desc>\n",
        MOVES.join(" ")
    );
    svg += &EDITOR.frame("games/connectfour/rules.kif");
    for (i, line) in rules.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        svg += &EDITOR.text(EDITOR.top() + 20.0 * i as f64, &highlighted(line));
    }
    let middle = HEIGHT / 2.0;
    svg += &format!(
        "<path d=\"M414 {middle}h20m-7 -7l7 7l-7 7\" fill=\"none\" stroke=\"{FAINT}\" stroke-width=\"3\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n"
    );
    svg += &TERMINAL.frame("terminal");
    svg += &terminal(session);
    svg + "</svg>\n"
}

/// The lines of the terminal; rows of the board are higher than other lines.
fn terminal(session: &[String]) -> String {
    let mut svg = String::new();
    let mut y = TERMINAL.top();
    for line in session {
        let label = line.trim_start().chars().next().filter(char::is_ascii_digit);
        let is_axis = line.starts_with("   ");
        match label {
            Some(_) => {
                svg += &board_row(y + 4.0, line);
                y += if is_axis { 31.0 } else { ROW };
            }
            _ if line.is_empty() => y += 18.0,
            _ => {
                svg += &terminal_line(y, line);
                y += 24.0;
            }
        }
    }
    svg
}

/// A line of the terminal outside the board.
fn terminal_line(y: f64, line: &str) -> String {
    if let Some(command) = line.strip_prefix("$ ") {
        return TERMINAL.text(y, &[(0, "$ ", NUMBER), (2, command, PLAIN)]);
    }
    if !line.ends_with("> ") {
        let color = if line.starts_with(' ') { FAINT } else { PLAIN };
        return TERMINAL.text(y, &[(0, line, color)]);
    }
    let (x, top) = (TERMINAL.x(line.len()), y - 14.5);
    let cursor = format!(
        "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"10\" height=\"19\" fill=\"{PLAIN}\"/>\n"
    );
    TERMINAL.text(y, &[(0, line, FAINT)]) + &cursor
}

/// A row of the board: a disc behind every letter, a hole behind every dot.
fn board_row(y: f64, line: &str) -> String {
    let mut discs = String::new();
    let mut letters = String::new();
    for (column, c) in line.chars().enumerate().filter(|(_, c)| *c != ' ') {
        let x = TERMINAL.left + 26.0 + column as f64 * CELL;
        let (disc, letter) = match c {
            'r' => (Some(RED), "#67060c"),
            'y' => (Some(YELLOW), "#5a4600"),
            '.' => (Some(HOLE), "#57606a"),
            _ => (None, FAINT),
        };
        if let Some(fill) = disc {
            let middle = y - 5.5;
            discs +=
                &format!("<circle cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"14.5\" fill=\"{fill}\"/>\n");
        }
        letters += &format!("<tspan x=\"{x:.1}\" fill=\"{letter}\">{c}</tspan>");
    }
    discs
        + &format!(
            "<text y=\"{y:.1}\" font-size=\"{}\" text-anchor=\"middle\">{letters}</text>\n",
            TERMINAL.font
        )
}

/// A line of a rulesheet with syntax highlighting.
fn highlighted(line: &str) -> Vec<(usize, &str, &'static str)> {
    let is_word = |c: char| c.is_alphanumeric() || "?<=".contains(c);
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(first) = line[from..].chars().next() {
        let rest = &line[from..];
        let n = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let piece = &rest[..n];
        let color = match first {
            _ if KEYWORDS.contains(&piece) => KEYWORD,
            '?' => VARIABLE,
            '0'..='9' => NUMBER,
            'a'..='z' => PLAIN,
            _ => FAINT,
        };
        let blanks = piece.len() - piece.trim_start().len();
        if blanks < n {
            pieces.push((from + blanks, piece.trim(), color));
        }
        from += n;
    }
    pieces
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

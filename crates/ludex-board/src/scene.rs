//! The model of a drawn state.

/// A state, ready to draw.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// The boards, in order.
    pub boards: Vec<Board>,
    /// What is on no board, such as scores and the number of the step.
    pub counters: Vec<Counter>,
    /// The numbers of the roles that a fluent names alone, as `(control white)` does.
    pub turn: Vec<usize>,
}

/// One board of a scene.
#[derive(Clone, PartialEq, Debug)]
pub struct Board {
    /// How its cells are arranged.
    pub kind: BoardKind,
    /// Its name; empty if it needs none.
    pub title: String,
    /// The cells. The place of a cell is the center, in units of one cell, from the top left.
    pub cells: Vec<Cell>,
    /// Pairs of joined cells, as indices into `cells`.
    pub lines: Vec<(usize, usize)>,
    /// Labels of rows and columns with their places.
    pub labels: Vec<(f64, f64, String)>,
}

/// How the cells of a board are arranged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BoardKind {
    /// Squares in rows and columns.
    Grid,
    /// Hexagons, because each inner cell has six neighbors.
    Hexagonal,
    /// Points joined by lines.
    Graph,
    /// A row of named boxes, each with its content.
    Row,
}

impl BoardKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            BoardKind::Grid => "grid",
            BoardKind::Hexagonal => "hexagonal",
            BoardKind::Graph => "graph",
            BoardKind::Row => "row",
        }
    }
}

/// One cell of a board.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Its number in the scene. Touches name cells by it.
    pub id: usize,
    /// Its center, to the right.
    pub x: f64,
    /// Its center, downwards.
    pub y: f64,
    /// Its name for people, such as `a 3`.
    pub name: String,
    /// The pieces on it.
    pub pieces: Vec<Piece>,
    /// Whether the last step changed it.
    pub is_changed: bool,
}

/// A piece on a cell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Piece {
    /// Its names in the rules, such as `white` and `king`.
    pub names: Vec<String>,
    /// A short form of the names.
    pub label: String,
    /// The number of the role it belongs to, if the rules say so.
    pub owner: Option<usize>,
    /// A glyph that shows what the names say.
    pub glyph: Option<char>,
    /// Whether it only marks its cell.
    pub is_mark: bool,
    /// How likely it is there, in percent, for somebody who does not know.
    pub percent: Option<u8>,
}

/// A fluent beside the boards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Its number in the scene, in one sequence with the cells.
    pub id: usize,
    /// The fluent, in words.
    pub text: String,
}

impl Scene {
    /// Returns all cells, board by board.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.boards.iter().flat_map(|board| &board.cells)
    }

    /// Returns the kind of the main board: the one with the most cells.
    pub fn kind(&self) -> Option<BoardKind> {
        self.boards.iter().max_by_key(|board| board.cells.len()).map(|board| board.kind)
    }
}

//! A state as boards, for rendering on a terminal, a page or an image.

/// A state, laid out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// The boards that are worth showing.
    pub boards: Vec<BoardPicture>,
    /// The fluents on none of the boards, sorted.
    pub others: Vec<String>,
}

/// One board: a grid, or several of the same size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoardPicture {
    /// The number of the board in its layout.
    pub index: usize,
    /// The names of the board's fluents.
    pub name: String,
    /// Labels of the columns, from left to right.
    pub columns: Vec<String>,
    /// Labels of the rows, from the bottom up.
    pub rows: Vec<String>,
    /// The grids, in order.
    pub grids: Vec<Grid>,
    /// Shortened labels of occupants, each with the full name.
    pub legend: Vec<(String, String)>,
}

/// One grid of a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The values that select this grid of the board; empty if it is the only one.
    pub selector: Vec<String>,
    /// The cells, row by row from the bottom up, each row from left to right.
    pub cells: Vec<Vec<Cell>>,
}

/// One cell of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Not part of the board: no fluent mentions it, although empty cells have fluents.
    Outside,
    /// An empty cell.
    Empty,
    /// A cell with occupants, usually one.
    Occupied(Vec<Occupant>),
}

/// An occupant of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occupant {
    /// The names in the fluent, such as `white` and `king`. A mark has the name of its fluent.
    pub names: Vec<String>,
    /// A short form of the names.
    pub label: String,
}

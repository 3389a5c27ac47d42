//! A state as boards: what a terminal, a page or an image renders.

/// A state, laid out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// The boards that are worth showing.
    pub boards: Vec<BoardPicture>,
    /// The fluents that are on none of them, sorted.
    pub others: Vec<String>,
}

/// One board: a grid, or several of the same size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoardPicture {
    /// The names of its fluents.
    pub name: String,
    /// Labels of the columns, from left to right.
    pub columns: Vec<String>,
    /// Labels of the rows, from the bottom up.
    pub rows: Vec<String>,
    /// The grids, in order.
    pub grids: Vec<Grid>,
    /// Labels of occupants that stand for a longer name, each with that name.
    pub legend: Vec<(String, String)>,
}

/// One grid of a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The values that tell it from the other grids of its board; none if it is the only one.
    pub selector: Vec<String>,
    /// The cells, row by row from the bottom up, each row from left to right.
    pub cells: Vec<Vec<Cell>>,
}

/// One cell of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// No fluent mentions it, on a board whose empty cells have fluents: it is no part of the board.
    Outside,
    /// Nothing is there.
    Empty,
    /// Something is there, and seldom more than one thing.
    Occupied(Vec<Occupant>),
}

/// What is on a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Occupant {
    /// Its names, as the fluent has them: `white` and `king`. A mark has the name of its fluent.
    pub names: Vec<String>,
    /// The names in a few letters.
    pub label: String,
}

//! Draws the states of any game from its rules.
//!
//! [`Table::of`] reads the rules once. [`Table::scene`] then arranges a state as a [`Scene`]:
//! boards with cells, pieces and their owners, and counters beside them. [`svg::render`] draws a
//! scene, and [`Table::touches`] says which cells of the scene a move names.
//!
//! Read the modules in this order:
//!
//! 1. [`scene`]: the result.
//! 2. [`table`]: from a state to a scene; grids come from [`ludex_analysis::Layout`].
//! 3. `owners`, `blanks`, `hexagons`, `graph`: what the rules say about pieces and neighbors.
//! 4. `moves`: which arguments of a move are coordinates.
//! 5. [`svg`]: the drawing.
//!
//! Structure decides: relations of the rules order coordinates, join neighbors and tie pieces to
//! roles. Names only add to this what a person would read, such as the glyph of a `knight`.

pub mod scene;
pub mod table;
mod owners;
mod blanks;
mod hexagons;
mod graph;
mod moves;
mod patterns;
mod glyphs;
pub mod svg;

pub use scene::{Board, BoardKind, Cell, Counter, Piece, Scene};
pub use table::{Table, Touches};

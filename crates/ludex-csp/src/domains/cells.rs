//! Reversible words for propagators, in the same trail as the domains.

use super::Domains;
use crate::trail::Trail;

/// A reversible 64-bit word of a propagator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell(u32);

/// A run of reversible words of a propagator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cells {
    first: u32,
    n: u32,
}

impl Cells {
    /// Returns the number of words.
    pub fn len(self) -> usize {
        self.n as usize
    }

    /// Whether the run is empty.
    pub fn is_empty(self) -> bool {
        self.n == 0
    }

    /// Returns word number `index`.
    #[inline]
    pub fn at(self, index: usize) -> Cell {
        debug_assert!(index < self.n as usize);
        Cell(self.first + index as u32)
    }
}

impl Domains {
    /// Allocates a reversible word.
    pub fn new_cell(&mut self, value: u64) -> Cell {
        Cell(self.trail.allocate(1, value) as u32)
    }

    /// Allocates reversible words, all with the same value.
    pub fn new_cells(&mut self, n: usize, value: u64) -> Cells {
        Cells { first: self.trail.allocate(n, value) as u32, n: n as u32 }
    }

    /// Returns the value of a reversible word.
    #[inline]
    pub fn get(&self, cell: Cell) -> u64 {
        self.trail.get(cell.0 as usize)
    }

    /// Sets a reversible word.
    #[inline]
    pub fn set(&mut self, cell: Cell, value: u64) {
        self.trail.set(cell.0 as usize, value);
    }

    /// Returns the values of a run of reversible words.
    #[inline]
    pub fn cells(&self, cells: Cells) -> &[u64] {
        self.trail.slice(cells.first as usize, cells.n as usize)
    }

    /// Returns the trail that holds a run of reversible words, and the index of its first word.
    #[inline]
    pub(crate) fn in_trail(&mut self, cells: Cells) -> (&mut Trail, usize) {
        (&mut self.trail, cells.first as usize)
    }

    /// Returns the value of a reversible word before level `level` (counted from 1) changed it,
    /// if it did.
    pub fn saved(&self, cell: Cell, level: usize) -> Option<u64> {
        self.trail.saved(cell.0 as usize, level)
    }
}

//! Ordered partitions of the vertices that can be refined and taken back.
//!
//! The vertices of a cell are neighbors in one array, and a cell is named by the place of its
//! first vertex. Refinement cuts the tail of a cell off; taking the last cut back joins the two
//! again. What is left of a cell keeps its name, so a cut costs only as much as its tail is long.
//!
//! Invariant: `elements[spots[v].position] == v`, and `spots[v]` names the place where the cell of
//! `v` starts, marked if `v` is alone in it.

/// An ordered partition of the vertices of a graph into cells.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    elements: Vec<u32>,
    spots: Vec<Spot>,
    /// By the place where a cell starts; elsewhere without meaning.
    cell_len: Vec<u32>,
    cuts: Vec<Cut>,
    n_first_cells: usize,
}

/// Where a vertex is. Refinement jumps from vertex to vertex, so what it needs of one is together.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// The cell, with the bit [`ALONE`] if it has no other vertex.
    cell: u32,
    position: u32,
}

const ALONE: u32 = 1 << 31;

/// A cell was shortened, and its tail became a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    pub(crate) cell: u32,
    pub(crate) tail: u32,
}

impl Partition {
    /// A cell for each color, in the order of colors.
    pub(crate) fn by_colors(colors: &[u32]) -> Self {
        let n_vertices = colors.len();
        let mut elements: Vec<u32> = (0..n_vertices as u32).collect();
        elements.sort_by_key(|&v| colors[v as usize]);
        let mut partition = Self {
            spots: vec![Spot { cell: 0, position: 0 }; n_vertices],
            cell_len: vec![0; n_vertices],
            cuts: Vec::new(),
            n_first_cells: 0,
            elements,
        };
        let mut start = 0;
        for place in 0..n_vertices {
            let color = |place: usize| colors[partition.elements[place] as usize];
            if place > 0 && color(place) != color(place - 1) {
                partition.add_first_cell(start, place);
                start = place;
            }
        }
        partition.add_first_cell(start, n_vertices);
        partition
    }

    fn add_first_cell(&mut self, start: usize, end: usize) {
        if start == end {
            return;
        }
        self.n_first_cells += 1;
        self.cell_len[start] = (end - start) as u32;
        let cell = start as u32 | alone_if(end - start == 1);
        for place in start..end {
            let v = self.elements[place] as usize;
            self.spots[v] = Spot { cell, position: place as u32 };
        }
    }

    #[inline]
    pub(crate) fn n_vertices(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    pub(crate) fn is_discrete(&self) -> bool {
        self.n_first_cells + self.cuts.len() == self.elements.len()
    }

    #[inline]
    pub(crate) fn element(&self, place: u32) -> u32 {
        self.elements[place as usize]
    }

    #[inline]
    pub(crate) fn cell_of(&self, vertex: u32) -> u32 {
        self.spots[vertex as usize].cell & !ALONE
    }

    /// Whether the cell of a vertex has no other vertex.
    #[inline]
    pub(crate) fn is_alone(&self, vertex: u32) -> bool {
        self.spots[vertex as usize].cell & ALONE != 0
    }

    #[inline]
    pub(crate) fn len(&self, cell: u32) -> u32 {
        self.cell_len[cell as usize]
    }

    #[inline]
    pub(crate) fn is_singleton(&self, cell: u32) -> bool {
        self.cell_len[cell as usize] == 1
    }

    /// The vertices of a cell.
    #[inline]
    pub(crate) fn cell(&self, cell: u32) -> &[u32] {
        self.range(cell, self.len(cell))
    }

    /// The vertices at these places.
    #[inline]
    pub(crate) fn range(&self, start: u32, len: u32) -> &[u32] {
        &self.elements[start as usize..(start + len) as usize]
    }

    /// All cuts since the partition by colors.
    pub(crate) fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Exchanges a vertex with the one at a place of the same cell.
    #[inline]
    pub(crate) fn move_to(&mut self, vertex: u32, place: u32) {
        let from = std::mem::replace(&mut self.spots[vertex as usize].position, place);
        if from != place {
            let other = std::mem::replace(&mut self.elements[place as usize], vertex);
            self.elements[from as usize] = other;
            self.spots[other as usize].position = from;
        }
    }

    /// Puts vertices of a cell into another order, given with the place of the first.
    pub(crate) fn reorder(&mut self, start: u32, vertices: impl Iterator<Item = u32>) {
        for (place, vertex) in (start..).zip(vertices) {
            self.elements[place as usize] = vertex;
            self.spots[vertex as usize].position = place;
        }
    }

    /// Sorts the vertices at these places, all of one cell, by a key.
    pub(crate) fn sort_by_key(&mut self, start: u32, len: u32, key: impl Fn(u32) -> u32) {
        let places = start as usize..(start + len) as usize;
        self.elements[places.clone()].sort_unstable_by_key(|&v| key(v));
        for place in places {
            self.spots[self.elements[place] as usize].position = place as u32;
        }
    }

    /// Cuts a cell before the place `tail`.
    #[inline]
    pub(crate) fn cut(&mut self, cell: u32, tail: u32) {
        let end = cell + self.cell_len[cell as usize];
        debug_assert!(cell < tail && tail < end, "both parts have vertices");
        self.cell_len[cell as usize] = tail - cell;
        self.cell_len[tail as usize] = end - tail;
        let name = tail | alone_if(end - tail == 1);
        for &vertex in &self.elements[tail as usize..end as usize] {
            self.spots[vertex as usize].cell = name;
        }
        if tail - cell == 1 {
            self.spots[self.elements[cell as usize] as usize].cell |= ALONE;
        }
        self.cuts.push(Cut { cell, tail });
    }

    /// Makes a vertex a cell of its own and gives that cell.
    pub(crate) fn individualize(&mut self, vertex: u32) -> u32 {
        let cell = self.cell_of(vertex);
        let last = cell + self.len(cell) - 1;
        self.move_to(vertex, last);
        self.cut(cell, last);
        last
    }

    /// Takes cuts back until `n_cuts` are left.
    pub(crate) fn rewind(&mut self, n_cuts: usize) {
        while self.cuts.len() > n_cuts {
            let Cut { cell, tail } = self.cuts.pop().expect("there are more cuts");
            let len = self.cell_len[tail as usize];
            for &vertex in &self.elements[tail as usize..(tail + len) as usize] {
                self.spots[vertex as usize].cell = cell;
            }
            // The first may have been alone.
            self.spots[self.elements[cell as usize] as usize].cell = cell;
            self.cell_len[cell as usize] += len;
        }
    }

    /// The first cell from this one on that has two vertices or more.
    pub(crate) fn first_unfinished(&self, mut cell: u32) -> Option<u32> {
        while (cell as usize) < self.elements.len() {
            if !self.is_singleton(cell) {
                return Some(cell);
            }
            cell += 1;
        }
        None
    }
}

#[inline]
fn alone_if(is_alone: bool) -> u32 {
    if is_alone { ALONE } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewinding_joins_what_was_cut() {
        let mut partition = Partition::by_colors(&[1, 0, 1, 0, 1]);
        assert_eq!((partition.cell(0), partition.cell(2)), (&[1, 3][..], &[0, 2, 4][..]));
        let first = partition.individualize(0);
        let second = partition.individualize(3);
        assert_eq!((first, second), (4, 1));
        assert_eq!((partition.cell_of(0), partition.cell_of(1)), (4, 0));
        assert_eq!([0, 1, 2, 3].map(|v| partition.is_alone(v)), [true, true, false, true]);
        assert_eq!(partition.first_unfinished(0), Some(2));
        partition.rewind(0);
        assert_eq!((partition.cell_of(0), partition.len(2), partition.len(0)), (2, 3, 2));
        assert!((0..5).all(|v| !partition.is_alone(v)));
        let mut cell = partition.cell(2).to_vec();
        cell.sort_unstable();
        assert_eq!(cell, [0, 2, 4]);
    }
}

//! Ordered partitions of the vertices that can be refined and taken back.
//!
//! The vertices of a cell are neighbors in one array, and a cell is named by the place of its
//! first vertex. Refinement cuts the tail of a cell off; taking the last cut back joins the two
//! again. What is left of a cell keeps its name, so a cut costs only as much as its tail is long.
//!
//! Invariant: `elements[position[v]] == v`, and `cell_of[v]` is the place where the cell of `v`
//! starts.

/// An ordered partition of the vertices of a graph into cells.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    elements: Vec<u32>,
    position: Vec<u32>,
    cell_of: Vec<u32>,
    /// By the place where a cell starts; elsewhere without meaning.
    cell_len: Vec<u32>,
    cuts: Vec<Cut>,
    n_first_cells: usize,
}

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
            position: vec![0; n_vertices],
            cell_of: vec![0; n_vertices],
            cell_len: vec![0; n_vertices],
            cuts: Vec::new(),
            n_first_cells: 0,
            elements,
        };
        let mut start = 0;
        for place in 0..n_vertices {
            let v = partition.elements[place] as usize;
            if place == 0 || colors[v] != colors[partition.elements[place - 1] as usize] {
                start = place;
                partition.n_first_cells += 1;
            }
            partition.position[v] = place as u32;
            partition.cell_of[v] = start as u32;
            partition.cell_len[start] += 1;
        }
        partition
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
        self.cell_of[vertex as usize]
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
        let from = self.position[vertex as usize];
        let other = self.elements[place as usize];
        self.elements[from as usize] = other;
        self.position[other as usize] = from;
        self.elements[place as usize] = vertex;
        self.position[vertex as usize] = place;
    }

    /// Puts vertices of a cell into another order, given with the place of the first.
    pub(crate) fn reorder(&mut self, start: u32, vertices: impl Iterator<Item = u32>) {
        for (place, vertex) in (start..).zip(vertices) {
            self.elements[place as usize] = vertex;
            self.position[vertex as usize] = place;
        }
    }

    /// Sorts the vertices at these places, all of one cell, by a key.
    pub(crate) fn sort_by_key(&mut self, start: u32, len: u32, key: impl Fn(u32) -> u32) {
        let places = start as usize..(start + len) as usize;
        self.elements[places.clone()].sort_unstable_by_key(|&v| key(v));
        for place in places {
            self.position[self.elements[place] as usize] = place as u32;
        }
    }

    /// Cuts a cell before the place `tail`.
    #[inline]
    pub(crate) fn cut(&mut self, cell: u32, tail: u32) {
        let end = cell + self.cell_len[cell as usize];
        debug_assert!(cell < tail && tail < end, "both parts have vertices");
        for place in tail..end {
            self.cell_of[self.elements[place as usize] as usize] = tail;
        }
        self.cell_len[cell as usize] = tail - cell;
        self.cell_len[tail as usize] = end - tail;
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
            for place in tail..tail + len {
                self.cell_of[self.elements[place as usize] as usize] = cell;
            }
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
        assert_eq!(partition.first_unfinished(0), Some(2));
        partition.rewind(0);
        assert_eq!((partition.cell_of(0), partition.len(2), partition.len(0)), (2, 3, 2));
        let mut cell = partition.cell(2).to_vec();
        cell.sort_unstable();
        assert_eq!(cell, [0, 2, 4]);
    }
}

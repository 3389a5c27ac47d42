//! Color refinement: cuts cells until the vertices of a cell agree in how many neighbors they
//! have in each cell.
//!
//! A list of work holds the cells by which others are still to be cut. If a cell is cut and it
//! was not in the list, its largest part need not be: counts into it follow from the counts into
//! the whole and into the other parts (Hopcroft's rule). A cell costs as much as it has edges;
//! vertices that no edge reaches are not looked at, as they stay at the front of their cells.
//! Nothing is allocated once the work space has its size.
//!
//! All decisions depend on places and counts alone, so partitions that an automorphism exchanges
//! are refined in the same way, cut by cut. The [`Trace`] makes use of it: as soon as a cut
//! differs from the recorded one, refinement ends.
//!
//! Invariant: when a call returns, the work space is clean, however it ended.
//!
//! After Darga, Sakallah and Markov, *Faster Symmetry Discovery Using Sparsity of Symmetries*,
//! DAC 2008, and McKay and Piperno, *Practical Graph Isomorphism, II*, 2014.

use ludex_base::Deadline;

use crate::graph::{Adjacency, ColoredGraph};
use crate::partition::Partition;
use crate::trace::Trace;

/// How a refinement ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refined {
    /// Nothing is left to cut.
    Equitable,
    /// The trace differs from the recorded one.
    Differs,
    /// The deadline was reached.
    Stopped,
}

/// Refines partitions of one graph.
pub(crate) struct Refiner<'a> {
    graph: &'a ColoredGraph,
    deadline: &'a Deadline,
    /// Edges that may be followed until the clock is looked at again.
    credit: usize,
    worklist: Worklist,
    /// By vertex: its neighbors in the splitter, while that is counted.
    counts: Vec<u32>,
    /// The vertices with a count.
    counted: Vec<u32>,
    /// By cell: how many vertices at its end the splitter reaches.
    n_reached: Vec<u32>,
    /// The cells of which vertices are reached.
    reached_cells: Vec<u32>,
    sorter: Sorter,
    /// The places where parts of a cell start, from its end.
    tails: Vec<u32>,
}

impl<'a> Refiner<'a> {
    pub(crate) fn new(graph: &'a ColoredGraph, deadline: &'a Deadline) -> Self {
        let n_vertices = graph.n_vertices();
        Self {
            graph,
            deadline,
            credit: CREDIT,
            worklist: Worklist::new(n_vertices),
            counts: vec![0; n_vertices],
            counted: Vec::new(),
            n_reached: vec![0; n_vertices],
            reached_cells: Vec::new(),
            sorter: Sorter::default(),
            tails: Vec::new(),
        }
    }

    /// Refines the partition by colors.
    pub(crate) fn refine_all(&mut self, partition: &mut Partition, trace: &mut Trace) -> Refined {
        let mut cell = 0;
        while (cell as usize) < partition.n_vertices() {
            self.worklist.push(cell, partition.len(cell));
            cell += partition.len(cell);
        }
        self.refine(partition, trace)
    }

    /// Makes a vertex a cell of its own and refines what was equitable before.
    pub(crate) fn individualize(
        &mut self,
        vertex: u32,
        partition: &mut Partition,
        trace: &mut Trace,
    ) -> Refined {
        let cell = partition.individualize(vertex);
        self.worklist.push(cell, 1);
        self.refine(partition, trace)
    }

    fn refine(&mut self, partition: &mut Partition, trace: &mut Trace) -> Refined {
        let graph = self.graph;
        while let Some(splitter) = self.worklist.pop() {
            // With one vertex a cell there is nothing to cut; edges are checked at the leaf.
            if partition.is_discrete() {
                break;
            }
            let len = partition.len(splitter);
            for side in graph.sides() {
                let is_same = if len == 1 {
                    self.split_by_vertex(partition.element(splitter), side, partition, trace)
                } else {
                    self.split_by_cell(splitter, len, side, partition, trace)
                };
                if !is_same {
                    self.worklist.clear();
                    return Refined::Differs;
                }
            }
            if self.credit == 0 {
                self.credit = CREDIT;
                if self.deadline.reached() {
                    self.worklist.clear();
                    return Refined::Stopped;
                }
            }
        }
        self.worklist.clear();
        if trace.finish() { Refined::Equitable } else { Refined::Differs }
    }

    /// Cuts cells into vertices that are neighbors of a vertex and those that are not.
    fn split_by_vertex(
        &mut self,
        vertex: u32,
        side: &Adjacency,
        partition: &mut Partition,
        trace: &mut Trace,
    ) -> bool {
        // Step 1. Gather the neighbors at the ends of their cells.
        let neighbors = side.of(vertex);
        self.credit = self.credit.saturating_sub(neighbors.len() + 1);
        for &neighbor in neighbors {
            let cell = partition.cell_of(neighbor);
            if partition.is_alone(neighbor) {
                trace.note(cell, 1);
            } else {
                self.gather(neighbor, cell, partition);
            }
        }
        // Step 2. Cut them off, in the order of cells and not of edges.
        self.reached_cells.sort_unstable();
        let mut is_same = true;
        for place in 0..self.reached_cells.len() {
            let cell = self.reached_cells[place];
            let n_reached = std::mem::take(&mut self.n_reached[cell as usize]);
            let len = partition.len(cell);
            if !is_same {
                continue;
            }
            if n_reached == len {
                trace.note(cell, 1);
                continue;
            }
            let tail = cell + len - n_reached;
            partition.cut(cell, tail);
            self.worklist.push_parts(cell, tail, partition);
            is_same = trace.cut(cell, tail, 1);
        }
        self.reached_cells.clear();
        is_same
    }

    /// Cuts cells by how many neighbors their vertices have among those at the given places.
    fn split_by_cell(
        &mut self,
        start: u32,
        len: u32,
        side: &Adjacency,
        partition: &mut Partition,
        trace: &mut Trace,
    ) -> bool {
        // Step 1. Count.
        for &vertex in partition.range(start, len) {
            let neighbors = side.of(vertex);
            self.credit = self.credit.saturating_sub(neighbors.len() + 1);
            for &neighbor in neighbors {
                let count = &mut self.counts[neighbor as usize];
                if *count == 0 {
                    self.counted.push(neighbor);
                }
                *count += 1;
            }
        }
        // Step 2. Gather what has a count at the ends of the cells.
        for place in 0..self.counted.len() {
            let vertex = self.counted[place];
            let cell = partition.cell_of(vertex);
            if partition.is_alone(vertex) {
                trace.note(cell, std::mem::take(&mut self.counts[vertex as usize]));
            } else {
                self.gather(vertex, cell, partition);
            }
        }
        self.counted.clear();
        // Step 3. Sort the ends by count and cut where it changes, in the order of cells.
        self.reached_cells.sort_unstable();
        let mut is_same = true;
        for place in 0..self.reached_cells.len() {
            let cell = self.reached_cells[place];
            is_same = self.cut_by_counts(cell, is_same, partition, trace);
        }
        self.reached_cells.clear();
        is_same
    }

    #[inline]
    fn gather(&mut self, vertex: u32, cell: u32, partition: &mut Partition) {
        let n_reached = &mut self.n_reached[cell as usize];
        if *n_reached == 0 {
            self.reached_cells.push(cell);
        }
        *n_reached += 1;
        partition.move_to(vertex, cell + partition.len(cell) - *n_reached);
    }

    /// Cuts one cell by the counts at its end and forgets them; only the latter if the trace
    /// differs already.
    fn cut_by_counts(
        &mut self,
        cell: u32,
        is_same: bool,
        partition: &mut Partition,
        trace: &mut Trace,
    ) -> bool {
        let n_reached = std::mem::take(&mut self.n_reached[cell as usize]);
        let len = partition.len(cell);
        let start = cell + len - n_reached;
        let (mut least, mut most) = (u32::MAX, 0);
        for &vertex in partition.range(start, n_reached) {
            let count = self.counts[vertex as usize];
            (least, most) = (least.min(count), most.max(count));
        }
        if is_same && least < most {
            self.sorter.sort(partition, start, n_reached, &self.counts, least, most);
        }
        // The tails, from the end of the cell.
        for place in (start..cell + len).rev() {
            let vertex = partition.element(place) as usize;
            let count = std::mem::take(&mut self.counts[vertex]);
            let starts_part = place > cell
                && (place == start || self.counts[partition.element(place - 1) as usize] != count);
            if is_same && starts_part {
                self.tails.push(place);
                self.tails.push(count);
            }
        }
        if !is_same {
            self.tails.clear();
            return false;
        }
        if n_reached == len {
            trace.note(cell, least);
        }
        self.cut_at_tails(cell, partition, trace)
    }

    fn cut_at_tails(&mut self, cell: u32, partition: &mut Partition, trace: &mut Trace) -> bool {
        let mut is_same = true;
        for tail_and_count in self.tails.chunks_exact(2) {
            let (tail, count) = (tail_and_count[0], tail_and_count[1]);
            partition.cut(cell, tail);
            is_same = is_same && trace.cut(cell, tail, count);
        }
        if self.tails.len() == 2 {
            self.worklist.push_parts(cell, self.tails[0], partition);
        } else if self.tails.len() > 2 {
            self.worklist.push_many_parts(cell, &self.tails, partition);
        }
        self.tails.clear();
        is_same
    }
}

/// Edges that are followed between two looks at the clock.
const CREDIT: usize = 1 << 15;

/// The cells by which others are still to be cut.
struct Worklist {
    is_listed: Vec<bool>,
    /// Cells of one vertex come first: they cost least, and what they cut off makes others
    /// cheaper.
    singletons: Vec<u32>,
    others: Vec<u32>,
}

impl Worklist {
    fn new(n_vertices: usize) -> Self {
        Self { is_listed: vec![false; n_vertices], singletons: Vec::new(), others: Vec::new() }
    }

    #[inline]
    fn push(&mut self, cell: u32, len: u32) {
        self.is_listed[cell as usize] = true;
        if len == 1 { self.singletons.push(cell) } else { self.others.push(cell) }
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        let cell = self.singletons.pop().or_else(|| self.others.pop())?;
        self.is_listed[cell as usize] = false;
        Some(cell)
    }

    fn clear(&mut self) {
        for cell in self.singletons.drain(..).chain(self.others.drain(..)) {
            self.is_listed[cell as usize] = false;
        }
    }

    /// Adds what is needed after a cell was cut in two.
    #[inline]
    fn push_parts(&mut self, cell: u32, tail: u32, partition: &Partition) {
        let (cell_len, tail_len) = (partition.len(cell), partition.len(tail));
        if self.is_listed[cell as usize] || tail_len <= cell_len {
            self.push(tail, tail_len);
        } else {
            self.push(cell, cell_len);
        }
    }

    /// Adds what is needed after a cell was cut at many places, each followed by its count.
    fn push_many_parts(&mut self, cell: u32, tails: &[u32], partition: &Partition) {
        let parts = || tails.chunks_exact(2).map(|tail| tail[0]);
        let mut left_out = cell;
        if !self.is_listed[cell as usize] {
            for tail in parts() {
                if partition.len(tail) > partition.len(left_out) {
                    left_out = tail;
                }
            }
            if left_out != cell {
                self.push(cell, partition.len(cell));
            }
        }
        for tail in parts().filter(|&tail| tail != left_out) {
            self.push(tail, partition.len(tail));
        }
    }
}

/// Sorts vertices by counts, with the cheaper of two ways.
#[derive(Default)]
struct Sorter {
    /// By count: the place of the next vertex that has it.
    places: Vec<u32>,
    vertices: Vec<u32>,
}

impl Sorter {
    fn sort(
        &mut self,
        partition: &mut Partition,
        start: u32,
        len: u32,
        counts: &[u32],
        least: u32,
        most: u32,
    ) {
        let n_counts = (most - least + 1) as usize;
        if len <= 16 || n_counts > 2 * len as usize {
            return partition.sort_by_key(start, len, |v| counts[v as usize]);
        }
        self.places.clear();
        self.places.resize(n_counts, 0);
        for &vertex in partition.range(start, len) {
            self.places[(counts[vertex as usize] - least) as usize] += 1;
        }
        let mut next = 0;
        for place in &mut self.places {
            next += std::mem::replace(place, next);
        }
        if self.vertices.len() < len as usize {
            self.vertices.resize(len as usize, 0);
        }
        for &vertex in partition.range(start, len) {
            let place = &mut self.places[(counts[vertex as usize] - least) as usize];
            self.vertices[*place as usize] = vertex;
            *place += 1;
        }
        partition.reorder(start, self.vertices[..len as usize].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells after refinement, each sorted, in the order of the partition.
    fn cells(graph: &ColoredGraph, individualized: &[u32]) -> Vec<Vec<u32>> {
        let deadline = Deadline::never();
        let mut refiner = Refiner::new(graph, &deadline);
        let mut partition = Partition::by_colors(graph.colors());
        let mut trace = Trace::default();
        trace.record();
        assert_eq!(refiner.refine_all(&mut partition, &mut trace), Refined::Equitable);
        for &vertex in individualized {
            trace.record();
            refiner.individualize(vertex, &mut partition, &mut trace);
        }
        assert!(refiner.counts.iter().chain(&refiner.n_reached).all(|&count| count == 0));
        assert!(refiner.worklist.is_listed.iter().all(|&is_listed| !is_listed));
        let mut cells = Vec::new();
        let mut cell = 0;
        while (cell as usize) < graph.n_vertices() {
            let mut vertices = partition.cell(cell).to_vec();
            vertices.sort_unstable();
            cells.push(vertices);
            cell += partition.len(cell);
        }
        cells
    }

    #[test]
    fn a_path_is_cut_by_the_distance_from_its_ends() {
        let path = ColoredGraph::from_edges(vec![0; 5], (0..4).map(|v| (v, v + 1)));
        let mut found = cells(&path, &[]);
        found.sort();
        assert_eq!(found, [vec![0, 4], vec![1, 3], vec![2]]);
        assert_eq!(cells(&path, &[4]).len(), 5);
    }

    #[test]
    fn a_cycle_is_cut_only_after_a_vertex_is_chosen() {
        let cycle = ColoredGraph::from_edges(vec![0; 6], (0..6).map(|v| (v, (v + 1) % 6)));
        assert_eq!(cells(&cycle, &[]).len(), 1);
        let mut found = cells(&cycle, &[0]);
        found.sort();
        assert_eq!(found, [vec![0], vec![1, 5], vec![2, 4], vec![3]]);
    }

    #[test]
    fn equivalent_vertices_leave_the_same_trace() {
        let graph = ColoredGraph::from_edges(
            vec![0; 8],
            (0..8).map(|v| (v, (v + 1) % 8)).chain([(0, 4), (2, 6)]),
        );
        let deadline = Deadline::never();
        let mut refiner = Refiner::new(&graph, &deadline);
        let mut partition = Partition::by_colors(graph.colors());
        let mut trace = Trace::default();
        refiner.refine_all(&mut partition, &mut trace);
        let (n_cuts, start) = (partition.cuts().len(), trace.len());
        trace.record();
        refiner.individualize(0, &mut partition, &mut trace);
        let mut compare = |vertex| {
            partition.rewind(n_cuts);
            trace.compare(start);
            refiner.individualize(vertex, &mut partition, &mut trace)
        };
        assert_eq!([2, 4, 6].map(&mut compare), [Refined::Equitable; 3]);
        assert_eq!(compare(1), Refined::Differs);
    }
}

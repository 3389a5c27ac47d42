//! Looks for an automorphism that takes one vertex to another: two partitions, refined side by
//! side.
//!
//! The left partition has one vertex of a cell individualized, the right one another, and from
//! there on each is refined as the other. While they differ, a cell in which they do is chosen, a
//! vertex of it is individualized on the left, and each vertex of the same cell is tried on the
//! right: first the one that closes a cycle of the permutation found so far, as most
//! automorphisms of sparse graphs are products of short cycles. When no difference is left, the
//! permutation is read off and checked edge by edge.
//!
//! Invariant: both partitions have the same cuts below those of the cell that is being tried;
//! what they do not agree on is in `difference`.
//!
//! After Darga, Sakallah and Markov, *Faster Symmetry Discovery Using Sparsity of Symmetries*,
//! DAC 2008. Unlike there, the left side needs not follow the first path: cells are chosen by the
//! difference at hand, and the left side is refined and recorded anew.

use ludex_base::Deadline;

use crate::difference::Difference;
use crate::graph::ColoredGraph;
use crate::partition::Partition;
use crate::permutation::SparsePermutation;
use crate::refine::{Refined, Refiner};
use crate::trace::Trace;

/// The deadline was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stopped;

/// A pair of partitions and what is needed to search for a permutation that maps one to the other.
pub(crate) struct Matcher<'a> {
    graph: &'a ColoredGraph,
    refiner: Refiner<'a>,
    left: Partition,
    right: Partition,
    trace: Trace,
    difference: Difference,
    /// The choices that are open, from the first to the last.
    choices: Vec<Choice>,
    /// By vertex: its image; outside [`Matcher::read_off`] that is itself.
    images: Vec<u32>,
    n_nodes: u64,
}

/// How far the cuts and the trace had come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    n_cuts: usize,
    n_events: usize,
}

/// A vertex individualized on the left, and those tried for it on the right.
struct Choice {
    before: Mark,
    difference_mark: usize,
    cell: u32,
    /// What is tried first; the others follow in ascending order.
    guess: u32,
    last: Last,
}

#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Guess,
    Vertex(u32),
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(graph: &'a ColoredGraph, deadline: &'a Deadline) -> Self {
        let left = Partition::by_colors(graph.colors());
        Self {
            graph,
            refiner: Refiner::new(graph, deadline),
            right: left.clone(),
            left,
            trace: Trace::default(),
            difference: Difference::new(graph.n_vertices()),
            choices: Vec::new(),
            images: (0..graph.n_vertices() as u32).collect(),
            n_nodes: 0,
        }
    }

    /// How often a vertex was individualized.
    pub(crate) fn n_nodes(&self) -> u64 {
        self.n_nodes
    }

    /// Refines the colors.
    pub(crate) fn refine_colors(&mut self) -> Result<(), Stopped> {
        self.trace.record();
        match self.refiner.refine_all(&mut self.left, &mut self.trace) {
            Refined::Equitable => Ok(()),
            Refined::Differs => unreachable!("nothing differs from what is being recorded"),
            Refined::Stopped => Err(Stopped),
        }
    }

    /// The first cell of two or more vertices on the left, from this one on.
    pub(crate) fn first_unfinished(&self, cell: u32) -> Option<u32> {
        self.left.first_unfinished(cell)
    }

    /// Some vertex of a cell on the left.
    pub(crate) fn some_vertex(&self, cell: u32) -> u32 {
        self.left.element(cell)
    }

    /// Individualizes a vertex on the left, and gives where that was.
    pub(crate) fn descend(&mut self, vertex: u32) -> Result<Mark, Stopped> {
        let before = Mark { n_cuts: self.left.cuts().len(), n_events: self.trace.len() };
        self.n_nodes += 1;
        self.trace.record();
        match self.refiner.individualize(vertex, &mut self.left, &mut self.trace) {
            Refined::Equitable => Ok(before),
            Refined::Differs => unreachable!("nothing differs from what is being recorded"),
            Refined::Stopped => Err(Stopped),
        }
    }

    /// Makes the right side equal to the left one.
    pub(crate) fn copy_left(&mut self) {
        self.right.clone_from(&self.left);
    }

    /// Takes the left side back.
    pub(crate) fn ascend(&mut self, before: Mark) {
        self.left.rewind(before.n_cuts);
        self.trace.truncate(before.n_events);
    }

    /// Takes the right side back to where the left one was, and gives a cell of it.
    pub(crate) fn right_cell(&mut self, before: Mark, cell: u32) -> &[u32] {
        self.right.rewind(before.n_cuts);
        self.right.cell(cell)
    }

    /// An automorphism that takes the vertex individualized last on the left to this vertex and
    /// keeps what was individualized before; `None` if there is none.
    pub(crate) fn find(
        &mut self,
        before: Mark,
        vertex: u32,
    ) -> Result<Option<SparsePermutation>, Stopped> {
        self.right.rewind(before.n_cuts);
        let after = Mark { n_cuts: self.left.cuts().len(), n_events: self.trace.len() };
        let found = self.search(before, vertex);
        self.ascend(after);
        self.right.rewind(before.n_cuts);
        self.difference.clear();
        self.choices.clear();
        found
    }

    fn search(&mut self, before: Mark, vertex: u32) -> Result<Option<SparsePermutation>, Stopped> {
        if !self.follow(vertex, before)? {
            return Ok(None);
        }
        loop {
            if let Some((vertex, cell)) = self.choose() {
                self.open(vertex, cell)?;
            } else if let Some(permutation) = self.read_off(before) {
                return Ok(Some(permutation));
            } else if let Some(cell) = self.left.first_unfinished(0) {
                // Only if hashes of different traces are equal: nothing says where to look.
                self.open(self.left.element(cell), cell)?;
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    /// Does on the right what was done on the left since a mark; `false` if that is not possible.
    fn follow(&mut self, vertex: u32, before: Mark) -> Result<bool, Stopped> {
        self.n_nodes += 1;
        self.trace.compare(before.n_events);
        match self.refiner.individualize(vertex, &mut self.right, &mut self.trace) {
            Refined::Equitable => {}
            Refined::Differs => return Ok(false),
            Refined::Stopped => return Err(Stopped),
        }
        // Equal hashes mean equal cuts, but for collisions.
        if self.left.cuts()[before.n_cuts..] != self.right.cuts()[before.n_cuts..] {
            return Ok(false);
        }
        self.difference.update(&self.left, &self.right, before.n_cuts);
        Ok(true)
    }

    /// A vertex in which the partitions differ, with its cell on the left: of some of the newest
    /// the one in the smallest cell.
    fn choose(&self) -> Option<(u32, u32)> {
        let newest = self.difference.members().iter().rev().take(8);
        let with_cells = newest.map(|&vertex| (vertex, self.left.cell_of(vertex)));
        with_cells.min_by_key(|&(_, cell)| self.left.len(cell))
    }

    /// Individualizes a vertex on the left and opens the choice of its image.
    fn open(&mut self, vertex: u32, cell: u32) -> Result<(), Stopped> {
        let guess = self.guess(vertex, cell);
        let difference_mark = self.difference.mark();
        let before = self.descend(vertex)?;
        self.choices.push(Choice { before, difference_mark, cell, guess, last: Last::Nothing });
        Ok(())
    }

    /// A likely image of a vertex among those of its cell.
    fn guess(&self, vertex: u32, cell: u32) -> u32 {
        // What goes to `vertex`, what goes to that, and so on: the end of the chain closes a cycle.
        let mut end = vertex;
        for _ in 0..LONGEST_CHAIN {
            let place = self.right.cell_of(end);
            if place == cell {
                return end;
            }
            if !self.right.is_singleton(place) {
                break;
            }
            end = self.left.element(place);
        }
        let newest = self.difference.members().iter().rev().take(LONGEST_CHAIN);
        let in_cell = newest.copied().find(|&other| self.right.cell_of(other) == cell);
        in_cell.unwrap_or_else(|| self.right.element(cell))
    }

    /// Tries the next images of the last choices until one can be followed; `false` if none can.
    fn advance(&mut self) -> Result<bool, Stopped> {
        while let Some(choice) = self.choices.last_mut() {
            let before = choice.before;
            self.right.rewind(before.n_cuts);
            self.difference.rewind(choice.difference_mark);
            let Some(vertex) = choice.next(self.right.cell(choice.cell)) else {
                self.ascend(before);
                self.choices.pop();
                continue;
            };
            if self.follow(vertex, before)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The permutation that takes single vertices on the left to those on the right and keeps the
    /// others, if it is an automorphism.
    fn read_off(&mut self, before: Mark) -> Option<SparsePermutation> {
        let mut moved: Vec<u32> = Vec::new();
        for cut in &self.left.cuts()[before.n_cuts..] {
            for cell in [cut.cell, cut.tail] {
                let (from, to) = (self.left.element(cell), self.right.element(cell));
                let image = &mut self.images[from as usize];
                if from != to && self.left.is_singleton(cell) && *image == from {
                    *image = to;
                    moved.push(from);
                }
            }
        }
        let moves = moved.iter().map(|&v| (v, self.images[v as usize]));
        let is_found = self.graph.preserved_by(moves, |v| self.images[v as usize]);
        let permutation = is_found.then(|| {
            moved.sort_unstable();
            let moves = moved.iter().map(|&v| (v, self.images[v as usize]));
            SparsePermutation::from_sorted(moves.collect())
        });
        for vertex in moved {
            self.images[vertex as usize] = vertex;
        }
        permutation
    }
}

/// How far back, and among how many differences, a likely image is looked for.
const LONGEST_CHAIN: usize = 64;

impl Choice {
    /// The next vertex to try, of those in the cell.
    fn next(&mut self, cell: &[u32]) -> Option<u32> {
        let above = match self.last {
            Last::Nothing => {
                self.last = Last::Guess;
                return Some(self.guess);
            }
            Last::Guess => None,
            Last::Vertex(vertex) => Some(vertex),
        };
        let untried = cell.iter().copied().filter(|&v| Some(v) > above && v != self.guess);
        let vertex = untried.min()?;
        self.last = Last::Vertex(vertex);
        Some(vertex)
    }
}

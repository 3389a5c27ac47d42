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
//! What is known of the left side limits the work on the right: if known automorphisms take a
//! vertex chosen on the left to `m` vertices of its cell and keep all chosen before, then an
//! automorphism that goes on from here has `m` good images for it. As soon as fewer than `m` are
//! left untried, there is none.
//!
//! Invariant: when a choice is to be made, both partitions have the same cuts, and `difference`
//! has the vertices in which they differ.
//!
//! After Darga, Sakallah and Markov, *Faster Symmetry Discovery Using Sparsity of Symmetries*,
//! DAC 2008. Unlike there, the left side follows the first path only while that helps; elsewhere
//! cells are chosen by the difference at hand, and the left side is refined and recorded anew.

use ludex_base::Deadline;
use rustc_hash::FxHashSet;

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
    /// How many images failed in this search.
    n_failed: u64,
}

/// How the left side is chosen.
#[derive(Clone, Copy)]
enum Manner<'k> {
    /// Where the partitions differ, in small cells: best where images are easy to find.
    Local,
    /// Along the first path, with known automorphisms to limit what is tried: best where most
    /// images fail.
    Guided(Known<'k>),
}

/// How a search ended.
#[derive(PartialEq, Eq)]
enum Found {
    Automorphism(SparsePermutation),
    None,
    /// Too many images failed.
    TooHard,
}

/// What was found out before.
#[derive(Clone, Copy)]
pub(crate) struct Known<'k> {
    /// Automorphisms that keep everything individualized on the left.
    pub(crate) generators: &'k [SparsePermutation],
    /// The vertices of the first path below the one that is to be mapped.
    pub(crate) path: &'k [u32],
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
    /// Individualized on the left.
    vertex: u32,
    cell: u32,
    /// The first path is followed up to here.
    n_on_path: usize,
    n_failed: u32,
    /// How many images can fail before none is left; `None` until it is worth finding out.
    most_failed: Option<u32>,
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
            n_failed: 0,
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

    /// Whether a cell on the left has one vertex.
    pub(crate) fn is_singleton(&self, cell: u32) -> bool {
        self.left.is_singleton(cell)
    }

    /// The cells that were cut off on the left since a mark, the last one last.
    pub(crate) fn cut_off_since(&self, before: Mark) -> impl Iterator<Item = u32> {
        self.left.cuts()[before.n_cuts..].iter().map(|cut| cut.tail)
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
        known: Known<'_>,
    ) -> Result<Option<SparsePermutation>, Stopped> {
        let after = Mark { n_cuts: self.left.cuts().len(), n_events: self.trace.len() };
        let mut found = self.search(before, vertex, Manner::Local)?;
        if found == Found::TooHard {
            self.start_again(before, after);
            found = self.search(before, vertex, Manner::Guided(known))?;
        }
        self.start_again(before, after);
        Ok(match found {
            Found::Automorphism(permutation) => Some(permutation),
            Found::None | Found::TooHard => None,
        })
    }

    fn start_again(&mut self, before: Mark, after: Mark) {
        self.ascend(after);
        self.right.rewind(before.n_cuts);
        self.difference.clear();
        self.choices.clear();
        self.n_failed = 0;
    }

    fn search(&mut self, before: Mark, vertex: u32, manner: Manner<'_>) -> Result<Found, Stopped> {
        self.right.rewind(before.n_cuts);
        if !self.follow(vertex, before)? {
            return Ok(Found::None);
        }
        loop {
            if let Some(target) = self.choose(manner) {
                self.open(target)?;
            } else if let Some(permutation) = self.read_off(before) {
                return Ok(Found::Automorphism(permutation));
            } else if let Some(cell) = self.left.first_unfinished(0) {
                // Only if hashes of different traces are equal: nothing says where to look.
                self.open(Target { vertex: self.left.element(cell), cell, n_on_path: 0 })?;
            } else {
                self.note_failure();
            }
            if !self.advance(manner)? {
                return Ok(Found::None);
            }
            if matches!(manner, Manner::Local) && self.n_failed > MOST_FAILED_LOCALLY {
                return Ok(Found::TooHard);
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

    /// The next vertex to individualize on the left; `None` if the partitions do not differ.
    fn choose(&self, manner: Manner<'_>) -> Option<Target> {
        if self.difference.members().is_empty() {
            return None;
        }
        let n_on_path = self.choices.last().map_or(0, |choice| choice.n_on_path);
        let on_path = match manner {
            Manner::Local => None,
            Manner::Guided(known) => self.choose_on_path(known.path, n_on_path),
        };
        on_path.or_else(|| {
            let (vertex, cell) = self.choose_in_smallest_cell()?;
            Some(Target { vertex, cell, n_on_path })
        })
    }

    /// A vertex of the first path: what keeps it is known best.
    fn choose_on_path(&self, path: &[u32], n_on_path: usize) -> Option<Target> {
        for (place, &vertex) in path.iter().enumerate().skip(n_on_path).take(MOST_ON_PATH) {
            let cell = self.left.cell_of(vertex);
            let mut some = self.left.cell(cell).iter().take(MOST_IN_CELL);
            if self.difference.contains(vertex) || some.any(|&v| self.difference.contains(v)) {
                return Some(Target { vertex, cell, n_on_path: place + 1 });
            }
        }
        None
    }

    /// A vertex in which the partitions differ, with its cell on the left: of the newest the one
    /// in the smallest cell.
    ///
    /// Small cells belong to the part of the graph that is being mapped. Choosing in another part
    /// before that one is done would repeat its refutation for every choice.
    fn choose_in_smallest_cell(&self) -> Option<(u32, u32)> {
        let mut best = None;
        let mut best_len = u32::MAX;
        for &vertex in self.difference.members().iter().rev().take(MOST_COMPARED) {
            let cell = self.left.cell_of(vertex);
            let len = self.left.len(cell);
            if len < best_len {
                (best, best_len) = (Some((vertex, cell)), len);
            }
            if len == 2 {
                break;
            }
        }
        best
    }

    /// Individualizes a vertex on the left and opens the choice of its image.
    fn open(&mut self, target: Target) -> Result<(), Stopped> {
        let Target { vertex, cell, n_on_path } = target;
        let guess = self.guess(vertex, cell);
        let difference_mark = self.difference.mark();
        let before = self.descend(vertex)?;
        self.choices.push(Choice {
            before,
            difference_mark,
            vertex,
            cell,
            n_on_path,
            n_failed: 0,
            most_failed: None,
            guess,
            last: Last::Nothing,
        });
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
    fn advance(&mut self, manner: Manner<'_>) -> Result<bool, Stopped> {
        while let Some(choice) = self.choices.last() {
            let before = choice.before;
            self.right.rewind(before.n_cuts);
            self.difference.rewind(choice.difference_mark);
            let next = match manner {
                Manner::Guided(known) if self.is_last_refuted(known.generators) => None,
                _ => {
                    let choice = self.choices.last_mut().expect("a choice is open");
                    choice.next(self.right.cell(choice.cell))
                }
            };
            match next {
                Some(vertex) if self.follow(vertex, before)? => return Ok(true),
                Some(_) => {}
                None => {
                    self.ascend(before);
                    self.choices.pop();
                }
            }
            self.note_failure();
        }
        Ok(false)
    }

    /// Notes that the image tried last fails, whatever is chosen below.
    fn note_failure(&mut self) {
        self.n_failed += 1;
        if let Some(choice) = self.choices.last_mut() {
            choice.n_failed += 1;
        }
    }

    /// Whether so many images of the last choice failed that none can be left.
    fn is_last_refuted(&mut self, generators: &[SparsePermutation]) -> bool {
        let (choice, above) = self.choices.split_last().expect("a choice is open");
        if choice.n_failed == 0 {
            return false;
        }
        let most_failed = choice.most_failed.unwrap_or_else(|| {
            let keeps_chosen = |generator: &&SparsePermutation| {
                above.iter().all(|choice| generator.image(choice.vertex) == choice.vertex)
            };
            let keeping: Vec<_> = generators.iter().filter(keeps_chosen).collect();
            self.right.len(choice.cell) - orbit_size(choice.vertex, &keeping)
        });
        let n_failed = choice.n_failed;
        self.choices.last_mut().expect("a choice is open").most_failed = Some(most_failed);
        n_failed > most_failed
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

/// Images that may fail before the search starts again, guided.
const MOST_FAILED_LOCALLY: u64 = 16;

/// How many vertices of the first path are looked at for one in which the partitions differ.
const MOST_ON_PATH: usize = 8;

/// How many vertices of a cell are looked at for a difference.
const MOST_IN_CELL: usize = 16;

/// Among how many differences a cell is chosen.
const MOST_COMPARED: usize = 1000;

/// How far back, and among how many differences, a likely image is looked for.
const LONGEST_CHAIN: usize = 64;

/// A vertex to individualize.
struct Target {
    vertex: u32,
    cell: u32,
    n_on_path: usize,
}

/// How many images a vertex has under the group of the generators.
fn orbit_size(vertex: u32, generators: &[&SparsePermutation]) -> u32 {
    let mut orbit = vec![vertex];
    let mut is_in_orbit: FxHashSet<u32> = orbit.iter().copied().collect();
    let mut place = 0;
    while let Some(&point) = orbit.get(place) {
        place += 1;
        let images = generators.iter().map(|generator| generator.image(point));
        orbit.extend(images.filter(|&image| is_in_orbit.insert(image)));
    }
    orbit.len() as u32
}

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

//! The search for generators: a first path to a leaf, then images of its vertices, from the last
//! to the first.
//!
//! When level `k` of the path is worked on, all generators found so far keep the vertices of the
//! levels above, and those below `k` generate everything that also keeps the vertex of level `k`.
//! So one automorphism for each other vertex of its orbit is enough, and vertices that are in the
//! orbit already need none. A vertex that turned out not to be in it takes its own orbit along.
//!
//! Invariant: the generators found on levels `k` and below are a strong generating set of the
//! group that keeps the vertices of the levels above `k`, so its order is the product of the
//! sizes of the orbits of the path's vertices.
//!
//! After McKay, *Practical Graph Isomorphism*, 1981, and Darga, Sakallah and Markov, DAC 2008.

use ludex_base::Deadline;
use num_bigint::BigUint;

use crate::graph::ColoredGraph;
use crate::matcher::{Known, Mark, Matcher, Stopped};
use crate::orbits::Orbits;
use crate::order::product;
use crate::permutation::SparsePermutation;

/// The automorphisms of a graph: all permutations of its vertices that keep colors and edges.
#[derive(Clone, Debug)]
pub struct Automorphisms {
    /// Generate the group; each was checked against the graph.
    pub generators: Vec<SparsePermutation>,
    /// The orbits of the generators.
    pub orbits: Orbits,
    /// How many automorphisms there are; at least so many if the search is not complete.
    pub order: BigUint,
    /// Whether the generators are all that are needed: the deadline did not end the search.
    pub is_complete: bool,
    /// Of a complete search: vertices of which only the identity keeps all, and for which the
    /// generators are strong; see [`crate::PermutationGroup::from_strong_generators`].
    pub base: Vec<u32>,
    /// How often a vertex was individualized.
    pub n_nodes: u64,
}

/// Finds the automorphisms of a graph.
///
/// The memory needed is linear in the size of the graph and of the generators. The deadline is
/// asked about every 32,768 edges; when it is reached, the result has the generators found until
/// then.
///
/// ```
/// use ludex_automorphism::{ColoredGraph, automorphisms};
/// use ludex_base::Deadline;
///
/// let square = ColoredGraph::from_edges(vec![0; 4], [(0, 1), (1, 2), (2, 3), (3, 0)]);
/// let group = automorphisms(&square, &Deadline::never());
/// assert_eq!(group.order, 8_u32.into());
/// assert_eq!(group.orbits.n_orbits(), 1);
/// ```
pub fn automorphisms(graph: &ColoredGraph, deadline: &Deadline) -> Automorphisms {
    let mut search = Search::new(graph, deadline);
    let is_complete = search.run().is_ok();
    Automorphisms {
        generators: search.generators,
        orbits: search.orbits,
        order: product(search.orbit_sizes),
        is_complete,
        base: search.path,
        n_nodes: search.matcher.n_nodes(),
    }
}

struct Search<'a> {
    matcher: Matcher<'a>,
    /// The vertices of the first path.
    path: Vec<u32>,
    levels: Vec<Level>,
    /// How many generators there were when the level began.
    n_below: usize,
    generators: Vec<SparsePermutation>,
    orbits: Orbits,
    /// Of the vertices of the path, from the last.
    orbit_sizes: Vec<usize>,
    /// By vertex: the level on which it represented an orbit without any image of the level's
    /// vertex.
    refuted_on: Vec<u32>,
    candidates: Vec<u32>,
}

/// A step of the first path.
struct Level {
    before: Mark,
    cell: u32,
}

impl<'a> Search<'a> {
    fn new(graph: &'a ColoredGraph, deadline: &'a Deadline) -> Self {
        Self {
            matcher: Matcher::new(graph, deadline),
            path: Vec::new(),
            levels: Vec::new(),
            n_below: 0,
            generators: Vec::new(),
            orbits: Orbits::new(graph.n_vertices()),
            orbit_sizes: Vec::new(),
            refuted_on: vec![u32::MAX; graph.n_vertices()],
            candidates: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Stopped> {
        self.walk_to_leaf()?;
        self.matcher.copy_left();
        for level_idx in (0..self.path.len()).rev() {
            self.n_below = self.generators.len();
            let found = self.find_orbit(level_idx);
            self.orbit_sizes.push(self.orbits.size(self.path[level_idx]));
            self.matcher.ascend(self.levels[level_idx].before);
            found?;
        }
        Ok(())
    }

    fn walk_to_leaf(&mut self) -> Result<(), Stopped> {
        self.matcher.refine_colors()?;
        // Cells that were cut off last come first: so the path stays in one part of the graph
        // until that is done, and what maps this part needs no vertices elsewhere.
        let mut recent: Vec<u32> = Vec::new();
        let mut first = 0;
        loop {
            while recent.last().is_some_and(|&cell| self.matcher.is_singleton(cell)) {
                recent.pop();
            }
            let cell = if let Some(&cell) = recent.last() {
                cell
            } else if let Some(cell) = self.matcher.first_unfinished(first) {
                first = cell;
                cell
            } else {
                return Ok(());
            };
            let vertex = self.matcher.some_vertex(cell);
            let before = self.matcher.descend(vertex)?;
            self.path.push(vertex);
            self.levels.push(Level { before, cell });
            recent.extend(self.matcher.cut_off_since(before));
        }
    }

    /// Finds the orbit of a level's vertex among those of its cell.
    fn find_orbit(&mut self, level_idx: usize) -> Result<(), Stopped> {
        let &Level { before, cell } = &self.levels[level_idx];
        let vertex = self.path[level_idx];
        let candidates = self.matcher.right_cell(before, cell);
        let n_candidates = candidates.len();
        if self.orbits.size(vertex) == n_candidates {
            return Ok(());
        }
        // If the first that is not in the orbit can be joined, then mostly all can, as levels
        // below joined the others. Only if not is there a need to list them.
        let first = candidates.iter().copied().find(|&other| !self.orbits.same(vertex, other));
        self.try_image(level_idx, first.expect("the orbit is smaller than the cell"))?;
        if self.orbits.size(vertex) == n_candidates {
            return Ok(());
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend_from_slice(self.matcher.right_cell(before, cell));
        for &candidate in &candidates {
            let orbit = self.orbits.representative(candidate);
            let is_refuted = self.refuted_on[orbit as usize] == level_idx as u32;
            if !is_refuted && orbit != self.orbits.representative(vertex) {
                self.try_image(level_idx, candidate)?;
                if self.orbits.size(vertex) == n_candidates {
                    break;
                }
            }
        }
        self.candidates = candidates;
        Ok(())
    }

    /// Joins the orbits of a level's vertex and of a candidate, or notes that this cannot be.
    fn try_image(&mut self, level_idx: usize, candidate: u32) -> Result<(), Stopped> {
        let known = Known {
            generators: &self.generators[..self.n_below],
            path: &self.path[level_idx + 1..],
        };
        let before = self.levels[level_idx].before;
        let Some(permutation) = self.matcher.find(before, candidate, known)? else {
            let orbit = self.orbits.representative(candidate);
            self.refuted_on[orbit as usize] = level_idx as u32;
            return Ok(());
        };
        for &(point, image) in permutation.moves() {
            if let Some((kept, dropped)) = self.orbits.join(point, image)
                && self.refuted_on[dropped as usize] == level_idx as u32
            {
                self.refuted_on[kept as usize] = level_idx as u32;
            }
        }
        self.generators.push(permutation);
        Ok(())
    }
}

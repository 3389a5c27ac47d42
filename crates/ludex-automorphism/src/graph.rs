//! Colored graphs as flat arrays.
//!
//! Invariant: every list of neighbors is sorted and has no vertex twice.

use crate::SparsePermutation;

/// A graph whose vertices have colors, never changed once it is built.
///
/// Vertices are numbered from 0 in the order in which they were added.
/// Edges may have a direction, and a vertex may be its own neighbor.
/// Parallel edges are one edge; different kinds of edges need a vertex in the middle of each,
/// colored by its kind.
#[derive(Clone, Debug)]
pub struct ColoredGraph {
    colors: Vec<u32>,
    outgoing: Adjacency,
    /// The reverse of `outgoing`; `None` if that is the same.
    incoming: Option<Adjacency>,
}

impl ColoredGraph {
    /// An undirected graph from the colors of its vertices and its edges.
    ///
    /// # Panics
    /// When an edge names a vertex that has no color.
    pub fn from_edges(colors: Vec<u32>, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut builder = GraphBuilder { colors, arcs: Vec::new() };
        for (a, b) in edges {
            builder.add_edge(a, b);
        }
        builder.build()
    }

    /// How many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.colors.len()
    }

    /// How many edges there are: edges without direction and loops count once.
    pub fn n_edges(&self) -> usize {
        if self.is_directed() {
            return self.outgoing.targets.len();
        }
        let n_loops = (0..self.colors.len() as u32).filter(|&v| self.has_arc(v, v)).count();
        (self.outgoing.targets.len() + n_loops) / 2
    }

    /// Whether some edge has no edge in the opposite direction.
    pub fn is_directed(&self) -> bool {
        self.incoming.is_some()
    }

    /// The color of each vertex.
    pub fn colors(&self) -> &[u32] {
        &self.colors
    }

    /// The vertices to which an edge goes from this one, sorted.
    pub fn neighbors(&self, vertex: u32) -> &[u32] {
        self.outgoing.of(vertex)
    }

    /// Whether an edge goes from `source` to `target`.
    pub fn has_arc(&self, source: u32, target: u32) -> bool {
        self.neighbors(source).binary_search(&target).is_ok()
    }

    /// Whether a permutation of the vertices keeps all colors and edges.
    ///
    /// ```
    /// use ludex_automorphism::{ColoredGraph, SparsePermutation};
    ///
    /// let path = ColoredGraph::from_edges(vec![0; 3], [(0, 1), (1, 2)]);
    /// let swap = |a, b| SparsePermutation::new(vec![(a, b), (b, a)]).expect("a permutation");
    /// assert!(path.is_automorphism(&swap(0, 2)));
    /// assert!(!path.is_automorphism(&swap(0, 1)));
    /// ```
    pub fn is_automorphism(&self, permutation: &SparsePermutation) -> bool {
        let moved = permutation.moves();
        moved.iter().all(|&(v, _)| (v as usize) < self.n_vertices())
            && self.preserved_by(moved.iter().copied(), |v| permutation.image(v))
    }

    /// Whether a permutation, given by the vertices it moves and its images, is an automorphism.
    ///
    /// Edges between vertices that do not move are kept in any case. All others have an end
    /// that moves; if each goes to an edge, then edges go to edges one to one, so it is enough
    /// to look in one direction.
    pub(crate) fn preserved_by(
        &self,
        mut moved: impl Iterator<Item = (u32, u32)>,
        image: impl Fn(u32) -> u32,
    ) -> bool {
        moved.all(|(v, w)| {
            self.colors[v as usize] == self.colors[w as usize]
                && self.sides().all(|side| {
                    side.of(v).len() == side.of(w).len()
                        && side.of(v).iter().all(|&x| side.has(w, image(x)))
                })
        })
    }

    /// Edges by their source and, if that is something else, by their target.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &Adjacency> {
        std::iter::once(&self.outgoing).chain(&self.incoming)
    }
}

/// Collects vertices and edges of a [`ColoredGraph`].
///
/// ```
/// use ludex_automorphism::GraphBuilder;
///
/// let mut builder = GraphBuilder::new();
/// let gate = builder.add_vertex(1);
/// let inputs = [builder.add_vertex(0), builder.add_vertex(0)];
/// for input in inputs {
///     builder.add_arc(input, gate);
/// }
/// assert!(builder.build().is_directed());
/// ```
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    colors: Vec<u32>,
    arcs: Vec<(u32, u32)>,
}

impl GraphBuilder {
    /// A graph without vertices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex and gives its number.
    pub fn add_vertex(&mut self, color: u32) -> u32 {
        self.colors.push(color);
        self.colors.len() as u32 - 1
    }

    /// Adds an edge without direction.
    pub fn add_edge(&mut self, a: u32, b: u32) {
        self.add_arc(a, b);
        if a != b {
            self.add_arc(b, a);
        }
    }

    /// Adds an edge with a direction.
    pub fn add_arc(&mut self, source: u32, target: u32) {
        self.arcs.push((source, target));
    }

    /// The graph.
    ///
    /// # Panics
    /// When an edge names a vertex that was not added, or there are two billion vertices or four
    /// billion edges.
    pub fn build(self) -> ColoredGraph {
        let n_vertices = self.colors.len();
        assert!(n_vertices < i32::MAX as usize, "vertices fit in 31 bits");
        assert!(self.arcs.len() < u32::MAX as usize, "edges fit in 32 bits");
        // Reversing sorts: sources are visited in order. Two times reversed is the graph itself.
        let reversed = Adjacency::collect(n_vertices, || {
            self.arcs.iter().map(|&(source, target)| (target, source))
        });
        let mut outgoing = reversed.reversed();
        outgoing.remove_duplicates();
        let incoming = outgoing.reversed();
        let incoming = (incoming != outgoing).then_some(incoming);
        ColoredGraph { colors: self.colors, outgoing, incoming }
    }
}

/// Lists of neighbors, one after the other in one array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Adjacency {
    /// Where the list of each vertex starts, and at last where the lists end.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Adjacency {
    #[inline]
    pub(crate) fn of(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.targets[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    fn has(&self, source: u32, target: u32) -> bool {
        self.of(source).binary_search(&target).is_ok()
    }

    /// Sorts arcs by their source, keeping their order otherwise.
    fn collect<I: Iterator<Item = (u32, u32)>>(n_vertices: usize, arcs: impl Fn() -> I) -> Self {
        let mut starts = vec![0; n_vertices + 1];
        for (source, target) in arcs() {
            assert!((target as usize) < n_vertices, "an edge joins vertices of the graph");
            starts[source as usize + 1] += 1;
        }
        for v in 0..n_vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[n_vertices] as usize];
        for (source, target) in arcs() {
            let place = &mut next[source as usize];
            targets[*place as usize] = target;
            *place += 1;
        }
        Self { starts, targets }
    }

    fn reversed(&self) -> Self {
        let n_vertices = self.starts.len() - 1;
        Self::collect(n_vertices, || {
            (0..n_vertices as u32).flat_map(|v| self.of(v).iter().map(move |&w| (w, v)))
        })
    }

    /// Keeps each neighbor once, in sorted lists.
    fn remove_duplicates(&mut self) {
        let mut n_kept = 0;
        let mut start = 0;
        for v in 0..self.starts.len() - 1 {
            let end = self.starts[v + 1] as usize;
            let first_kept = n_kept;
            for place in start..end {
                let target = self.targets[place];
                if n_kept == first_kept || self.targets[n_kept - 1] != target {
                    self.targets[n_kept] = target;
                    n_kept += 1;
                }
            }
            start = end;
            self.starts[v + 1] = n_kept as u32;
        }
        self.targets.truncate(n_kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_are_one_edge() {
        let graph = ColoredGraph::from_edges(vec![0; 3], [(0, 1), (1, 0), (0, 1), (2, 2), (1, 2)]);
        assert_eq!(graph.n_edges(), 3);
        assert_eq!(graph.neighbors(1), [0, 2]);
        assert_eq!(graph.neighbors(2), [1, 2]);
        assert!(!graph.is_directed());
    }

    #[test]
    fn arcs_in_both_directions_are_an_edge() {
        let mut builder = GraphBuilder::new();
        let [a, b] = [0, 0].map(|color| builder.add_vertex(color));
        builder.add_arc(a, b);
        assert!(builder.clone().build().is_directed());
        builder.add_arc(b, a);
        let graph = builder.build();
        assert!(!graph.is_directed());
        assert_eq!(graph.n_edges(), 1);
    }

    #[test]
    fn a_cycle_with_directions_does_not_reflect() {
        let mut builder = GraphBuilder::new();
        for v in 0..4 {
            assert_eq!(builder.add_vertex(0), v);
        }
        (0..4).for_each(|v| builder.add_arc(v, (v + 1) % 4));
        let graph = builder.build();
        let permutation = |images: &[u32]| SparsePermutation::from_images(images).expect("is one");
        assert!(graph.is_automorphism(&permutation(&[1, 2, 3, 0])));
        assert!(!graph.is_automorphism(&permutation(&[0, 3, 2, 1])));
    }
}

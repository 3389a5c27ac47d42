//! A graph in the making: vertices that stand for equal things are one vertex.

use ludex_automorphism::{ColoredGraph, GraphBuilder};
use rustc_hash::FxHashMap;

/// What a vertex is, with up to two numbers.
pub(super) type Kind = (&'static str, i64, i64);

/// A vertex by its color and its children, each with a place.
type Built = (u32, Box<[(i64, u32)]>);

/// Vertices and arcs. Literals come first.
pub(super) struct Nodes {
    kinds: FxHashMap<Kind, u32>,
    colors: Vec<u32>,
    arcs: Vec<(u32, u32)>,
    known: FxHashMap<Built, u32>,
}

impl Nodes {
    /// The literals, all of one color.
    pub fn new(n_literals: usize) -> Self {
        let mut nodes = Self {
            kinds: FxHashMap::default(),
            colors: Vec::new(),
            arcs: Vec::new(),
            known: FxHashMap::default(),
        };
        let color = nodes.color(("literal", 0, 0));
        nodes.colors = vec![color; n_literals];
        nodes
    }

    /// How many arcs there are.
    pub fn n_arcs(&self) -> usize {
        self.arcs.len()
    }

    pub fn color(&mut self, kind: Kind) -> u32 {
        let next = self.kinds.len() as u32;
        *self.kinds.entry(kind).or_insert(next)
    }

    /// Gives a vertex another color.
    pub fn paint(&mut self, vertex: u32, kind: Kind) {
        let color = self.color(kind);
        self.colors[vertex as usize] = color;
    }

    /// The vertex of this kind with these children, each in its slot; children in slot 0 need no
    /// vertex in between. The order of children does not matter, but how often one occurs does.
    pub fn node(&mut self, kind: Kind, mut children: Vec<(i64, u32)>) -> u32 {
        children.sort_unstable();
        let color = self.color(kind);
        let key = (color, children.into_boxed_slice());
        if let Some(&vertex) = self.known.get(&key) {
            return vertex;
        }
        let vertex = self.vertex(color);
        for group in key.1.chunk_by(|a, b| a == b) {
            let (slot, child) = group[0];
            if slot == 0 && group.len() == 1 {
                self.arcs.push((child, vertex));
            } else {
                let color = self.color(("slot", slot, group.len() as i64));
                let between = self.vertex(color);
                self.arcs.push((child, between));
                self.arcs.push((between, vertex));
            }
        }
        self.known.insert(key, vertex);
        vertex
    }

    /// Joins two vertices.
    pub fn join(&mut self, a: u32, b: u32) {
        self.arcs.push((a, b));
        self.arcs.push((b, a));
    }

    pub fn build(self) -> ColoredGraph {
        let mut builder = GraphBuilder::new();
        for color in self.colors {
            builder.add_vertex(color);
        }
        for (source, target) in self.arcs {
            builder.add_arc(source, target);
        }
        builder.build()
    }

    fn vertex(&mut self, color: u32) -> u32 {
        self.colors.push(color);
        self.colors.len() as u32 - 1
    }
}

//! Graphs for tests and measurements, most of them with known groups.

#![allow(dead_code, reason = "every test uses some of these")]

use ludex_automorphism::ColoredGraph;
use ludex_base::{Rng, Seed};

/// A graph that can still be changed.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    pub colors: Vec<u32>,
    pub edges: Vec<(u32, u32)>,
}

impl Sketch {
    pub fn new(n_vertices: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        Self { colors: vec![0; n_vertices], edges: edges.into_iter().collect() }
    }

    pub fn graph(&self) -> ColoredGraph {
        ColoredGraph::from_edges(self.colors.clone(), self.edges.iter().copied())
    }

    pub fn n_vertices(&self) -> u32 {
        self.colors.len() as u32
    }

    /// Gives a vertex another color.
    pub fn colored(mut self, vertex: u32, color: u32) -> Self {
        self.colors[vertex as usize] = color;
        self
    }

    /// The same graph with its vertices in another order.
    pub fn relabeled(&self, rng: &mut Rng) -> Self {
        let order = shuffled(self.n_vertices(), rng);
        let mut colors = self.colors.clone();
        for (v, &place) in order.iter().enumerate() {
            colors[place as usize] = self.colors[v];
        }
        let edges = self.edges.iter().map(|&(a, b)| (order[a as usize], order[b as usize]));
        let mut edges: Vec<(u32, u32)> = edges.collect();
        for place in (1..edges.len()).rev() {
            edges.swap(place, rng.below(place + 1));
        }
        Self { colors, edges }
    }

    /// This graph and another one beside it.
    pub fn beside(mut self, other: &Self) -> Self {
        let offset = self.n_vertices();
        self.colors.extend(&other.colors);
        self.edges.extend(other.edges.iter().map(|&(a, b)| (a + offset, b + offset)));
        self
    }

    pub fn copies(&self, n_copies: usize) -> Self {
        (0..n_copies).fold(Self::default(), |all, _| all.beside(self))
    }

    /// All edges that are missing, and none that were there.
    pub fn complement(&self) -> Self {
        let graph = self.graph();
        let pairs = pairs(self.n_vertices()).filter(|&(a, b)| !graph.has_arc(a, b));
        Self { colors: self.colors.clone(), edges: pairs.collect() }
    }
}

pub fn shuffled(n: u32, rng: &mut Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, rng.below(place + 1));
    }
    order
}

pub fn pairs(n: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// The graph in which two vertices are joined if the function says so.
pub fn joined_if(n: u32, is_edge: impl Fn(u32, u32) -> bool) -> Sketch {
    Sketch::new(n as usize, pairs(n).filter(|&(a, b)| is_edge(a, b)))
}

pub fn complete(n: u32) -> Sketch {
    joined_if(n, |_, _| true)
}

pub fn complete_bipartite(a: u32, b: u32) -> Sketch {
    joined_if(a + b, |x, y| x < a && y >= a)
}

pub fn cycle(n: u32) -> Sketch {
    Sketch::new(n as usize, (0..n).map(|v| (v, (v + 1) % n)))
}

pub fn path(n: u32) -> Sketch {
    Sketch::new(n as usize, (1..n).map(|v| (v - 1, v)))
}

pub fn star(n_leaves: u32) -> Sketch {
    Sketch::new(n_leaves as usize + 1, (1..=n_leaves).map(|v| (0, v)))
}

pub fn petersen() -> Sketch {
    kneser(5)
}

/// Pairs of `n` things, joined if they are disjoint: order n! from 5 on.
pub fn kneser(n: u32) -> Sketch {
    let sets: Vec<(u32, u32)> = pairs(n).collect();
    joined_if(sets.len() as u32, |x, y| {
        let ((a, b), (c, d)) = (sets[x as usize], sets[y as usize]);
        a != c && a != d && b != c && b != d
    })
}

pub fn hypercube(dimension: u32) -> Sketch {
    let edges = (0..1 << dimension).flat_map(|v: u32| {
        (0..dimension).map(move |bit| (v, v ^ (1 << bit))).filter(|&(a, b)| a < b)
    });
    Sketch::new(1 << dimension, edges)
}

pub fn grid(width: u32, height: u32) -> Sketch {
    let at = move |x: u32, y: u32| y * width + x;
    let right = (0..height).flat_map(move |y| (1..width).map(move |x| (at(x - 1, y), at(x, y))));
    let down = (1..height).flat_map(move |y| (0..width).map(move |x| (at(x, y - 1), at(x, y))));
    Sketch::new((width * height) as usize, right.chain(down))
}

/// A grid that is closed at its borders.
pub fn torus(width: u32, height: u32) -> Sketch {
    let at = move |x: u32, y: u32| (y % height) * width + x % width;
    let edges = (0..height).flat_map(move |y| {
        (0..width).flat_map(move |x| [(at(x, y), at(x + 1, y)), (at(x, y), at(x, y + 1))])
    });
    Sketch::new((width * height) as usize, edges)
}

/// Places of a board, joined if a rook can go from one to the other.
pub fn rook(n: u32) -> Sketch {
    joined_if(n * n, |a, b| a / n == b / n || a % n == b % n)
}

/// Strongly regular like the rook's graph on 4 by 4 places, but another graph.
pub fn shrikhande() -> Sketch {
    joined_if(16, |a, b| {
        let difference = ((b / 4 + 4 - a / 4) % 4, (b % 4 + 4 - a % 4) % 4);
        matches!(difference, (0, 1) | (0, 3) | (1, 0) | (3, 0) | (1, 1) | (3, 3))
    })
}

/// Numbers modulo a prime, joined if their difference is a square: order p (p - 1) / 2.
pub fn paley(prime: u32) -> Sketch {
    let is_square = |d: u32| (1..prime).any(|x| x * x % prime == d);
    joined_if(prime, |a, b| is_square(b - a))
}

/// Arithmetic of small fields: numbers modulo a prime, or the field with four elements.
#[derive(Clone, Copy)]
pub struct Field(pub u32);

impl Field {
    fn add(self, a: u32, b: u32) -> u32 {
        if self.0 == 4 { a ^ b } else { (a + b) % self.0 }
    }

    fn multiply(self, a: u32, b: u32) -> u32 {
        match (self.0, a, b) {
            (4, 0, _) | (4, _, 0) => 0,
            // 1, x and x + 1 are the powers of x.
            (4, a, b) => (a + b - 2) % 3 + 1,
            _ => a * b % self.0,
        }
    }
}

/// Points and lines of the projective plane over a field of `q` elements, a point and the lines
/// through it joined.
pub fn projective_plane(field: Field) -> Sketch {
    let q = field.0;
    // Coordinates whose first number that is not 0 is 1.
    let points: Vec<[u32; 3]> = (0..q * q * q)
        .map(|code| [code / (q * q), code / q % q, code % q])
        .filter(|point| point.iter().find(|&&x| x != 0) == Some(&1))
        .collect();
    let n_points = points.len() as u32;
    joined_if(2 * n_points, |a, b| {
        if a >= n_points || b < n_points {
            return false;
        }
        let (point, line) = (points[a as usize], points[(b - n_points) as usize]);
        let products = (0..3).map(|i| field.multiply(point[i], line[i]));
        products.fold(0, |sum, product| field.add(sum, product)) == 0
    })
}

/// The construction of Cai, Fürer and Immerman on a graph: each vertex becomes its even sets of
/// edges, each edge two vertices for being in the set or not. Twisted at one edge if wanted.
pub fn cfi(of: &Sketch, is_twisted: bool) -> Sketch {
    let n_edges = of.edges.len();
    // Vertices 2e and 2e + 1 belong to the first end of an edge, those after to the second.
    let mut colors: Vec<u32> = (0..4 * n_edges as u32).map(|v| 1 + v / 4).collect();
    let mut edges = Vec::new();
    for e in 0..n_edges as u32 {
        let twist = u32::from(is_twisted && e == 0);
        edges.extend([(4 * e, 4 * e + 2 + twist), (4 * e + 1, 4 * e + 3 - twist)]);
    }
    for v in 0..of.n_vertices() {
        let ends: Vec<u32> = (0_u32..)
            .zip(&of.edges)
            .flat_map(|(e, &(a, b))| {
                [(a == v).then_some(4 * e), (b == v).then_some(4 * e + 2)].into_iter().flatten()
            })
            .collect();
        for set in (0_u32..1 << ends.len()).filter(|set| set.count_ones() % 2 == 0) {
            let inner = colors.len() as u32;
            colors.push(1 + n_edges as u32 + v);
            edges.extend((0..).zip(&ends).map(|(bit, end)| (inner, end + (set >> bit & 1))));
        }
    }
    Sketch { colors, edges }
}

/// A tree in which each vertex hangs on a random one before it.
pub fn random_tree(n: u32, rng: &mut Rng) -> Sketch {
    Sketch::new(n as usize, (1..n).map(|v| (rng.below(v as usize) as u32, v)))
}

pub fn random_graph(n: u32, n_edges: usize, rng: &mut Rng) -> Sketch {
    let mut vertex = || rng.below(n as usize) as u32;
    Sketch::new(n as usize, (0..n_edges).map(|_| (vertex(), vertex())).filter(|(a, b)| a != b))
}

/// The sum of random perfect matchings: nearly regular.
pub fn random_regular(n: u32, degree: u32, rng: &mut Rng) -> Sketch {
    let mut edges = Vec::new();
    for _ in 0..degree {
        let order = shuffled(n, rng);
        edges.extend(order.chunks_exact(2).map(|pair| (pair[0], pair[1])));
    }
    Sketch::new(n as usize, edges)
}

/// A random graph in which every vertex has three neighbors: a cycle and a matching of what is not
/// next to each other on it.
pub fn cubic(n: u32, rng: &mut Rng) -> Sketch {
    loop {
        let order = shuffled(n, rng);
        let pairs = order.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let is_new = |&(a, b): &(u32, u32)| a.abs_diff(b) != 1 && a.abs_diff(b) != n - 1;
        let mut matching: Vec<(u32, u32)> = pairs.filter(is_new).collect();
        if matching.len() == n as usize / 2 {
            matching.extend((0..n).map(|v| (v, (v + 1) % n)));
            return Sketch::new(n as usize, matching);
        }
    }
}

/// A random graph of gates, with symmetric gadgets hung on every tenth.
///
/// Gates have one of three colors and two to four inputs among the vertices before them. A gadget
/// is a gate over two to four interchangeable chains of three vertices.
pub fn circuit(n: u32, rng: &mut Rng) -> Sketch {
    let n_inputs = n / 20 + 2;
    let mut sketch = Sketch::default();
    for v in 0..n {
        let is_input = v < n_inputs;
        sketch.colors.push(if is_input { 0 } else { 1 + rng.below(3) as u32 });
        if !is_input {
            let window = v.min(n / 4 + 4) as usize;
            let inputs = (0..2 + rng.below(3)).map(|_| (v - 1 - rng.below(window) as u32, v));
            sketch.edges.extend(inputs);
        }
    }
    for root in (0..n).step_by(10) {
        for _ in 0..2 + rng.below(3) {
            let first = sketch.n_vertices();
            sketch.colors.extend([4, 5, 6]);
            sketch.edges.extend([(root, first), (first, first + 1), (first + 1, first + 2)]);
        }
    }
    sketch
}

/// Copies of one random graph of gates whose outputs meet in one gate.
pub fn repeated_circuit(n_copies: u32, n: u32, rng: &mut Rng) -> Sketch {
    let copy = circuit(n, rng);
    let mut sketch = copy.copies(n_copies as usize);
    let root = sketch.n_vertices();
    sketch.colors.push(7);
    let last_gate = |copy_idx: u32| copy_idx * copy.n_vertices() + n - 1;
    sketch.edges.extend((0..n_copies).map(|copy_idx| (last_gate(copy_idx), root)));
    sketch
}

/// A generator of random numbers for one test.
pub fn rng(seed: u64) -> Rng {
    Seed(seed).rng()
}

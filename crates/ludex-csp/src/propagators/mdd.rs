//! Decision diagrams and automata.
//!
//! A diagram has one layer of nodes before each variable and one after the last. A value stays
//! while some path from the first to the last layer uses an arc with it. Automata are unrolled
//! into diagrams, so one propagator serves both.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domains::{Conflict, Domains, VarId};
use crate::propagator::{Cost, Propagator, Pruning};
use crate::{Value, duplicate_by_clone};

/// A layered diagram: the words it accepts are its paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mdd {
    /// By layer, its arcs: node of this layer, value, node of the next.
    layers: Vec<Vec<(u32, Value, u32)>>,
    /// The number of nodes by layer of nodes, one more than there are layers of arcs.
    n_nodes: Vec<u32>,
}

impl Mdd {
    /// Creates a diagram from arcs between named nodes. The root is the only node without an
    /// incoming arc, and paths end at nodes without an outgoing arc.
    ///
    /// Returns `None` when there is not exactly one root, when paths from it have different
    /// lengths, or when that length is not `n_layers`.
    pub fn from_transitions<'a>(
        n_layers: usize,
        transitions: impl IntoIterator<Item = (&'a str, Value, &'a str)>,
    ) -> Option<Self> {
        let transitions: Vec<_> = transitions.into_iter().collect();
        let mut outgoing: FxHashMap<&str, Vec<(Value, &str)>> = FxHashMap::default();
        let mut has_incoming = rustc_hash::FxHashSet::default();
        for &(from, value, to) in &transitions {
            outgoing.entry(from).or_default().push((value, to));
            has_incoming.insert(to);
        }
        let mut roots: Vec<&str> =
            outgoing.keys().copied().filter(|node| !has_incoming.contains(node)).collect();
        let root = roots.pop().filter(|_| roots.is_empty())?;
        let mut layer = vec![root];
        let mut layers = Vec::new();
        let mut n_nodes = vec![1];
        let mut seen = rustc_hash::FxHashSet::default();
        while outgoing.contains_key(layer[0]) {
            let mut next: Vec<&str> = Vec::new();
            let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
            let mut arcs = Vec::new();
            for (from, node) in layer.iter().enumerate() {
                if !seen.insert(*node) {
                    return None;
                }
                for &(value, to) in outgoing.get(node)? {
                    let id = *ids.entry(to).or_insert_with(|| {
                        next.push(to);
                        next.len() as u32 - 1
                    });
                    arcs.push((from as u32, value, id));
                }
            }
            n_nodes.push(next.len() as u32);
            layers.push(arcs);
            layer = next;
        }
        let ends_together = layer.iter().all(|node| !outgoing.contains_key(node));
        (ends_together && layers.len() == n_layers).then_some(Self { layers, n_nodes })
    }

    /// Whether the word is a path of the diagram.
    pub fn accepts(&self, word: &[Value]) -> bool {
        let mut nodes = rustc_hash::FxHashSet::from_iter([0_u32]);
        for (layer, value) in self.layers.iter().zip(word) {
            nodes = layer
                .iter()
                .filter(|(from, label, _)| label == value && nodes.contains(from))
                .map(|arc| arc.2)
                .collect();
        }
        !nodes.is_empty() && word.len() == self.layers.len()
    }

    /// Returns the arcs by layer, each as node, value, node.
    pub fn layers(&self) -> &[Vec<(u32, Value, u32)>] {
        &self.layers
    }
}

/// A finite automaton, deterministic or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// The number of states.
    pub n_states: usize,
    /// The initial state.
    pub start: usize,
    /// The accepting states.
    pub accepting: Vec<usize>,
    /// The transitions: state, value read, next state.
    pub transitions: Vec<(usize, Value, usize)>,
}

impl Automaton {
    /// Returns the diagram of the accepted words of a length, with only the values that
    /// `allows` accepts.
    ///
    /// Returns `None` when no word is accepted.
    pub fn unroll(&self, length: usize, allows: impl Fn(usize, Value) -> bool) -> Option<Mdd> {
        let mut forward = vec![vec![false; self.n_states]; length + 1];
        forward[0][self.start] = true;
        for at in 0..length {
            for &(from, value, to) in &self.transitions {
                if forward[at][from] && allows(at, value) {
                    forward[at + 1][to] = true;
                }
            }
        }
        let mut useful = forward;
        for (state, is_useful) in useful[length].iter_mut().enumerate() {
            *is_useful &= self.accepting.contains(&state);
        }
        let mut layers = vec![Vec::new(); length];
        for at in (0..length).rev() {
            let mut leads_on = vec![false; self.n_states];
            for &(from, value, to) in &self.transitions {
                if useful[at][from] && useful[at + 1][to] && allows(at, value) {
                    leads_on[from] = true;
                    layers[at].push((from as u32, value, to as u32));
                }
            }
            useful[at] = leads_on;
        }
        if length > 0 && layers[0].is_empty() || length == 0 && !useful[0][self.start] {
            return None;
        }
        // Nodes are the states in use, numbered from 0 in each layer.
        let mut n_nodes = Vec::new();
        let numbers: Vec<Vec<u32>> = useful
            .iter()
            .map(|layer| {
                let mut n = 0;
                let numbers = layer.iter().map(|&is_useful| {
                    n += u32::from(is_useful);
                    n.wrapping_sub(1)
                });
                let numbers = numbers.collect();
                n_nodes.push(n);
                numbers
            })
            .collect();
        for (at, layer) in layers.iter_mut().enumerate() {
            for arc in layer.iter_mut() {
                arc.0 = numbers[at][arc.0 as usize];
                arc.2 = numbers[at + 1][arc.2 as usize];
            }
        }
        Some(Mdd { layers, n_nodes })
    }
}

/// The variables spell a path of the diagram; domain consistent.
#[derive(Clone)]
pub struct MddPropagator {
    scope: Vec<VarId>,
    mdd: Arc<Mdd>,
    /// By layer and node: whether this call has reached it from the root.
    reached: Vec<Vec<bool>>,
}

impl MddPropagator {
    /// Creates the constraint that the variables spell a path.
    ///
    /// # Panics
    /// When the numbers of layers and variables differ.
    pub fn new(scope: &[VarId], mdd: Arc<Mdd>) -> Self {
        assert_eq!(scope.len(), mdd.layers.len(), "the numbers of layers and variables differ");
        let reached = mdd.n_nodes.iter().map(|&n| vec![false; n as usize]).collect();
        Self { scope: scope.to_vec(), mdd, reached }
    }
}

impl Propagator for MddPropagator {
    fn name(&self) -> &'static str {
        "decision diagram"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        self.mdd.accepts(tuple)
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        for layer in &mut self.reached[1..] {
            layer.fill(false);
        }
        self.reached[0][0] = true;
        for (at, &x) in self.scope.iter().enumerate() {
            let (here, next) = self.reached.split_at_mut(at + 1);
            for &(from, value, to) in &self.mdd.layers[at] {
                if here[at][from as usize] && domains.contains(x, value) {
                    next[0][to as usize] = true;
                }
            }
        }
        // The backward pass turns `reached` into "on a path" and collects the values of its
        // arcs.
        let mut kept: Vec<Value> = Vec::new();
        for (at, &x) in self.scope.iter().enumerate().rev() {
            kept.clear();
            let (here, next) = self.reached.split_at_mut(at + 1);
            let mut on_path = vec![false; here[at].len()];
            for &(from, value, to) in &self.mdd.layers[at] {
                if here[at][from as usize] && next[0][to as usize] && domains.contains(x, value) {
                    on_path[from as usize] = true;
                    kept.push(value);
                }
            }
            here[at] = on_path;
            kept.sort_unstable();
            kept.dedup();
            if kept.is_empty() {
                return Err(Conflict);
            }
            if kept.len() as u64 != domains.size(x) {
                domains.retain(x, |value| kept.binary_search(&value).is_ok())?;
            }
        }
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}

//! Symmetric networks: a table of all images of the states whose networks were solved.
//!
//! The symmetries are those of the network of a step, found once for a game. Before a network is
//! solved, the table is asked whether the state is the image of one that was: then the value is
//! known, and nothing is solved or played.
//!
//! Keys are those of Zobrist: a random word for each fluent, joined by exclusive or. An image is
//! compared with the state before it is believed, so keys that meet by accident do no harm.

use ludex_base::{BitSet, Deadline, FluentId, Seed};
use ludex_encode::{StepSymmetry, SymmetryRequest, Template};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::NodeId;

/// The most symmetries that are used; of a larger group some.
const MAX_ELEMENTS: usize = 64;

/// The symmetries of a game, and the states whose values are known by them.
pub(crate) struct Symmetric {
    /// By symmetry, without the identity: the image of each fluent.
    elements: Vec<Box<[u32]>>,
    words: Vec<u64>,
    /// By key of an image: the node, and the symmetry that leads from its state to the image.
    table: FxHashMap<u64, (NodeId, u32)>,
}

impl Symmetric {
    /// Finds the symmetries of the network of a step; `None` if there are none.
    pub fn find(template: &Template, n_fluents: usize, deadline: &Deadline) -> Option<Self> {
        let found = template.symmetries(&SymmetryRequest::default(), deadline).ok()?;
        let elements = elements(&found.generators, n_fluents);
        let rng = &mut Seed(0x5e7).rng();
        let words = (0..n_fluents).map(|_| rng.next_u64()).collect();
        (!elements.is_empty()).then(|| Self { elements, words, table: FxHashMap::default() })
    }

    /// Forgets all states, because nodes have new numbers.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Stores all images of the state of a node, unless they are known.
    pub fn store(&mut self, state: &BitSet, node: NodeId) {
        for (number, element) in (0..).zip(&self.elements) {
            let key =
                state.iter().fold(0, |key, fluent| key ^ self.words[element[fluent] as usize]);
            self.table.entry(key).or_insert((node, number));
        }
    }

    /// A node whose state has this state as its image.
    pub fn look_up<'a>(
        &self,
        state: &BitSet,
        state_of: impl FnOnce(NodeId) -> &'a BitSet,
    ) -> Option<NodeId> {
        let key = state.iter().fold(0, |key, fluent| key ^ self.words[fluent]);
        let &(node, number) = self.table.get(&key)?;
        let element = &self.elements[number as usize];
        let other = state_of(node);
        let is_image = other.iter().count() == state.iter().count()
            && other.iter().all(|fluent| state.contains(element[fluent] as usize));
        is_image.then_some(node)
    }

    /// How many bytes the table takes, about.
    pub fn n_bytes(&self) -> usize {
        self.table.len() * 32
    }
}

/// The products of generators, without the identity, those of few generators first.
fn elements(generators: &[StepSymmetry], n_fluents: usize) -> Vec<Box<[u32]>> {
    let steps: Vec<Vec<u32>> = generators
        .iter()
        .map(|generator| {
            let mut images: Vec<u32> = (0..n_fluents as u32).collect();
            let place = |fluent: FluentId| fluent.index();
            generator.fluents.iter().for_each(|&(a, b)| images[place(a)] = place(b) as u32);
            images
        })
        .collect();
    let identity: Box<[u32]> = (0..n_fluents as u32).collect();
    let mut known: FxHashSet<Box<[u32]>> = FxHashSet::default();
    known.insert(identity.clone());
    let mut all = vec![identity];
    let mut next = 0;
    while next < all.len() && all.len() <= MAX_ELEMENTS {
        for step in &steps {
            let product: Box<[u32]> = all[next].iter().map(|&it| step[it as usize]).collect();
            if all.len() <= MAX_ELEMENTS && known.insert(product.clone()) {
                all.push(product);
            }
        }
        next += 1;
    }
    all.swap_remove(0);
    all
}

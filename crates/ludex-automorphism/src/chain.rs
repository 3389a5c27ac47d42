//! Chains of stabilizers by the algorithm of Schreier and Sims.
//!
//! Level `i` of a chain has a point of the base, generators that keep the points of the levels
//! before, and the orbit of its point under them as a tree: an edge is a generator, and the way
//! from a point to the root is an element that takes it there. Sifting an element goes down the
//! levels and takes the image of each base point back to it; what is left is the identity exactly
//! if the element is in the group that the chain describes.
//!
//! Random elements of the group fill the chain: one that does not sift to the identity leaves a
//! new strong generator. When many in a row do, the chain is checked level by level with
//! Schreier's generators, so the result does not depend on luck.
//!
//! Invariant: the product of the sizes of the orbits is at most the order of the group, and it is
//! the order once the chain is complete.
//!
//! After Seress, *Permutation Group Algorithms*, 2003; random elements after Celler,
//! Leedham-Green, Murray, Niemeyer and O'Brien, *Generating Random Elements of a Finite Group*,
//! 1995.

use ludex_base::{Deadline, Rng, StopReason};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use crate::dense::DensePermutation;
use crate::order::product;
use crate::permutation::SparsePermutation;

/// A chain of stabilizers of a group on the points below its degree.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    degree: usize,
    /// The strong generators, each with its inverse.
    generators: Vec<[SparsePermutation; 2]>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    point: u32,
    /// Numbers of the strong generators that keep the points of the levels before.
    generators: Vec<u32>,
    orbit: Vec<u32>,
    /// By point of the orbit but the first: the generator that leads to it, and from where.
    tree: FxHashMap<u32, (u32, u32)>,
}

impl Chain {
    /// A chain whose base starts with the given points, complete for no group but the trivial one.
    pub(crate) fn trivial(degree: usize, base: &[u32]) -> Self {
        let levels = base.iter().map(|&point| Level::new(point)).collect();
        Self { degree, generators: Vec::new(), levels }
    }

    /// The chain of strong generators for a base.
    pub(crate) fn from_strong<'a>(
        degree: usize,
        base: &[u32],
        generators: impl IntoIterator<Item = &'a SparsePermutation>,
    ) -> Self {
        let mut chain = Self::trivial(degree, base);
        for generator in generators {
            let first_moved = base.iter().position(|&point| generator.image(point) != point);
            chain.add(generator.clone(), first_moved.expect("only the identity keeps a base"));
        }
        chain
    }

    /// Completes the chain to the group that the generators generate. If its order is known, the
    /// chain is complete when it has this order.
    pub(crate) fn complete(
        &mut self,
        generators: &[SparsePermutation],
        order: Option<&BigUint>,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Result<(), StopReason> {
        for generator in generators {
            self.include(DensePermutation::from_sparse(self.degree, generator));
        }
        let mut random = ProductReplacement::new(self.degree, generators, rng);
        loop {
            let mut n_sifted = 0;
            while n_sifted < ENOUGH_SIFTED {
                if order.is_some_and(|order| self.order() == *order) {
                    return Ok(());
                }
                if deadline.reached() {
                    return Err(StopReason::of_deadline());
                }
                n_sifted = if self.include(random.next(rng).clone()) { 0 } else { n_sifted + 1 };
            }
            let Some(missing) = self.missing_element(deadline)? else { return Ok(()) };
            self.include(missing);
        }
    }

    pub(crate) fn order(&self) -> BigUint {
        product(self.levels.iter().map(|level| level.orbit.len()))
    }

    /// The points of the base that the group moves, given those before.
    pub(crate) fn base(&self) -> impl Iterator<Item = u32> {
        self.levels.iter().filter(|level| level.orbit.len() > 1).map(|level| level.point)
    }

    pub(crate) fn generators(&self) -> impl Iterator<Item = &SparsePermutation> {
        self.generators.iter().map(|[generator, _]| generator)
    }

    /// The strong generators that keep the first `n_levels` points of the base.
    pub(crate) fn generators_below(&self, n_levels: usize) -> Vec<SparsePermutation> {
        let Some(level) = self.levels.get(n_levels) else { return Vec::new() };
        level.generators.iter().map(|&g| self.generators[g as usize][0].clone()).collect()
    }

    /// Adds the generators of another chain to the first level.
    pub(crate) fn add_generators_of(&mut self, other: &Self) {
        for [generator, inverse] in &other.generators {
            self.generators.push([generator.clone(), inverse.clone()]);
            self.levels[0].generators.push(self.generators.len() as u32 - 1);
            self.levels[0].grow(&self.generators);
        }
    }

    /// An element that takes the first point of the base to this one.
    pub(crate) fn element_to(&self, point: u32) -> Option<SparsePermutation> {
        let level = &self.levels[0];
        level.tree.contains_key(&point).then(|| {
            let mut back = DensePermutation::identity(self.degree);
            self.take_back(&mut back, level, point);
            back.inverse().to_sparse()
        })
    }

    /// Whether a permutation is in the group.
    pub(crate) fn contains(&self, permutation: &SparsePermutation) -> bool {
        let mut permutation = DensePermutation::from_sparse(self.degree, permutation);
        self.sift(&mut permutation, 0);
        permutation.is_identity()
    }

    /// An element of the group, each equally likely: a product of one of each level.
    pub(crate) fn random(&self, rng: &mut Rng) -> DensePermutation {
        let mut element = DensePermutation::identity(self.degree);
        for level in self.levels.iter().rev() {
            let point = level.orbit[rng.below(level.orbit.len())];
            let mut to_point = DensePermutation::identity(self.degree);
            self.take_back(&mut to_point, level, point);
            element.then_inverse_of(&to_point);
        }
        element
    }

    /// Sifts an element from a level on, and gives the level at which it got stuck.
    fn sift(&self, element: &mut DensePermutation, from_level: usize) -> usize {
        for (level_idx, level) in self.levels.iter().enumerate().skip(from_level) {
            if element.is_identity() {
                return level_idx;
            }
            let image = element.image(level.point);
            if image != level.point && !level.tree.contains_key(&image) {
                return level_idx;
            }
            self.take_back(element, level, image);
        }
        self.levels.len()
    }

    /// Appends the element that takes a point of a level's orbit to the level's point.
    fn take_back(&self, element: &mut DensePermutation, level: &Level, mut point: u32) {
        while let Some(&(generator, from)) = level.tree.get(&point) {
            element.then(self.generators[generator as usize][1].moves());
            point = from;
        }
    }

    /// Makes an element a part of the group; `false` if it was one.
    fn include(&mut self, mut element: DensePermutation) -> bool {
        let stuck = self.sift(&mut element, 0);
        if element.is_identity() {
            return false;
        }
        self.add(element.to_sparse(), stuck);
        true
    }

    /// Adds a strong generator that keeps the base points before a level, and moves that one's.
    fn add(&mut self, generator: SparsePermutation, level_idx: usize) {
        if level_idx == self.levels.len() {
            self.levels.push(Level::new(generator.moves()[0].0));
        }
        let inverse = generator.inverse();
        self.generators.push([generator, inverse]);
        for level in &mut self.levels[..=level_idx] {
            level.generators.push(self.generators.len() as u32 - 1);
            level.grow(&self.generators);
        }
    }

    /// An element of the group that does not sift to the identity: one of Schreier's generators.
    /// If there is none, the chain is complete.
    fn missing_element(&self, deadline: &Deadline) -> Result<Option<DensePermutation>, StopReason> {
        for (level_idx, level) in self.levels.iter().enumerate().rev() {
            for &point in &level.orbit {
                if deadline.reached() {
                    return Err(StopReason::of_deadline());
                }
                let mut back = DensePermutation::identity(self.degree);
                self.take_back(&mut back, level, point);
                for &generator in &level.generators {
                    let moves = &self.generators[generator as usize][0];
                    let image = moves.image(point);
                    if level.tree.get(&image) == Some(&(generator, point)) {
                        continue;
                    }
                    let mut element = back.inverse();
                    element.then(moves.moves());
                    self.take_back(&mut element, level, image);
                    self.sift(&mut element, level_idx + 1);
                    if !element.is_identity() {
                        return Ok(Some(element));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Elements in a row that sift to the identity before the chain is checked. If half of the group
/// or more were missing, one in a million would get so far.
const ENOUGH_SIFTED: u32 = 20;

impl Level {
    fn new(point: u32) -> Self {
        Self { point, generators: Vec::new(), orbit: vec![point], tree: FxHashMap::default() }
    }

    /// Closes the orbit under the generators, of which only the last is new.
    fn grow(&mut self, all: &[[SparsePermutation; 2]]) {
        let n_old = self.orbit.len();
        let mut place = 0;
        while let Some(&point) = self.orbit.get(place) {
            // Old points are closed under the old generators.
            let first = if place < n_old { self.generators.len() - 1 } else { 0 };
            for &generator in &self.generators[first..] {
                let image = all[generator as usize][0].image(point);
                if image != self.point && !self.tree.contains_key(&image) {
                    self.tree.insert(image, (generator, point));
                    self.orbit.push(image);
                }
            }
            place += 1;
        }
    }
}

/// Random elements of a group: products of random products.
struct ProductReplacement {
    slots: Vec<DensePermutation>,
    product: DensePermutation,
}

impl ProductReplacement {
    fn new(degree: usize, generators: &[SparsePermutation], rng: &mut Rng) -> Self {
        let n_slots = if generators.is_empty() { 0 } else { generators.len().max(10) };
        let slots = generators.iter().cycle().take(n_slots);
        let mut this = Self {
            slots: slots.map(|g| DensePermutation::from_sparse(degree, g)).collect(),
            product: DensePermutation::identity(degree),
        };
        for _ in 0..5 * n_slots {
            this.next(rng);
        }
        this
    }

    fn next(&mut self, rng: &mut Rng) -> &DensePermutation {
        if self.slots.len() > 1 {
            let slot = rng.below(self.slots.len());
            let other = (slot + 1 + rng.below(self.slots.len() - 1)) % self.slots.len();
            let [slot, other] =
                self.slots.get_disjoint_mut([slot, other]).expect("the two slots differ");
            if rng.below(2) == 0 {
                slot.then_all_of(other);
            } else {
                slot.then_inverse_of(other);
            }
            self.product.then_all_of(slot);
        }
        &self.product
    }
}

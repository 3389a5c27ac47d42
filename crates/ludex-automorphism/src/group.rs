//! Permutation groups: orders, membership, orbits, stabilizers, random elements.
//!
//! Generators that move points in common belong together; groups of generators that do not are
//! independent, so the whole is a direct product of factors, each with a chain of its own on its
//! own points. Symmetries of large graphs are mostly such products of many small groups.
//!
//! Invariant: every point that some element moves belongs to one factor.

use ludex_base::{Deadline, Rng, Seed, StopReason};
use num_bigint::BigUint;

use crate::chain::Chain;
use crate::orbits::Orbits;
use crate::permutation::SparsePermutation;

/// A group of permutations of the points below its degree, with a base and strong generators.
///
/// ```
/// use ludex_automorphism::{PermutationGroup, SparsePermutation};
/// use ludex_base::{Deadline, Seed};
///
/// let permutation = |images: &[u32]| SparsePermutation::from_images(images).expect("is one");
/// let generators = [permutation(&[1, 2, 3, 4, 0]), permutation(&[1, 0, 2, 3, 4])];
/// let group = PermutationGroup::new(5, &generators, Seed(1), &Deadline::never())?;
/// assert_eq!(group.order(), 120_u32.into());
/// let keeping_0 = group.stabilizer(&[0], Seed(1), &Deadline::never())?;
/// assert_eq!(keeping_0.order(), 24_u32.into());
/// assert!(!keeping_0.contains(&generators[0]));
/// # Ok::<(), ludex_base::StopReason>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermutationGroup {
    degree: usize,
    factors: Vec<Factor>,
    /// By point: the factor that moves it, or [`NONE`], and its number there.
    places: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

/// A factor of the product.
#[derive(Clone, Debug)]
struct Factor {
    /// The points that it moves, sorted. The chain knows them by their places here.
    points: Vec<u32>,
    chain: Chain,
}

impl PermutationGroup {
    /// The group that permutations generate, by the randomized algorithm of Schreier and Sims
    /// with a check.
    ///
    /// # Errors
    /// When the deadline is reached.
    ///
    /// # Panics
    /// When a generator moves a point that is not below the degree.
    pub fn new(
        degree: usize,
        generators: &[SparsePermutation],
        seed: Seed,
        deadline: &Deadline,
    ) -> Result<Self, StopReason> {
        let mut group = Self::split(degree, generators);
        let rng = &mut seed.rng();
        let local = group.local(generators);
        for (factor, generators) in group.factors.iter_mut().zip(local) {
            factor.chain.complete(&generators, None, rng, deadline)?;
        }
        Ok(group)
    }

    /// The group of strong generators for a base: those that keep the first points of the base
    /// generate everything that keeps these points, and only the identity keeps all.
    ///
    /// The promise is not checked; [`crate::Automorphisms`] of a complete search keep it.
    ///
    /// # Panics
    /// When a generator keeps the base, or moves a point that is not below the degree.
    pub fn from_strong_generators(
        degree: usize,
        base: &[u32],
        generators: &[SparsePermutation],
    ) -> Self {
        let mut group = Self::split(degree, generators);
        let bases = group.local_points(base);
        let local = group.local(generators);
        for ((factor, base), generators) in group.factors.iter_mut().zip(bases).zip(local) {
            factor.chain = Chain::from_strong(factor.points.len(), &base, &generators);
        }
        group
    }

    /// Points are numbered from 0 to below this.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// How many elements the group has.
    pub fn order(&self) -> BigUint {
        self.factors.iter().map(|factor| factor.chain.order()).product()
    }

    /// The base, factor by factor: points of which only the identity keeps all.
    pub fn base(&self) -> Vec<u32> {
        let in_factor = |factor: &Factor| -> Vec<u32> {
            factor.chain.base().map(|local| factor.points[local as usize]).collect()
        };
        self.factors.iter().flat_map(in_factor).collect()
    }

    /// Strong generators for the base.
    pub fn generators(&self) -> Vec<SparsePermutation> {
        let in_factor = |factor: &Factor| -> Vec<SparsePermutation> {
            factor.chain.generators().map(|generator| factor.globalize(generator)).collect()
        };
        self.factors.iter().flat_map(in_factor).collect()
    }

    /// Whether a permutation is an element.
    pub fn contains(&self, permutation: &SparsePermutation) -> bool {
        let mut moves = vec![Vec::new(); self.factors.len()];
        for &(point, image) in permutation.moves() {
            let place = |point: u32| self.places.get(point as usize).copied().unwrap_or((NONE, 0));
            let ((factor, point), (other, image)) = (place(point), place(image));
            if factor == NONE || factor != other {
                return false;
            }
            moves[factor as usize].push((point, image));
        }
        self.factors
            .iter()
            .zip(moves)
            .all(|(factor, moves)| factor.chain.contains(&SparsePermutation::from_sorted(moves)))
    }

    /// The orbits of the points.
    pub fn orbits(&self) -> Orbits {
        Orbits::of(self.degree, &self.generators())
    }

    /// An element that takes one point to another; `None` if there is none.
    pub fn element_that_takes(&self, from: u32, to: u32) -> Option<SparsePermutation> {
        if from == to {
            return Some(SparsePermutation::identity());
        }
        let (factor, local) = self.places[from as usize];
        let (other, target) = self.places[to as usize];
        if factor == NONE || factor != other {
            return None;
        }
        let factor = &self.factors[factor as usize];
        let mut chain = Chain::trivial(factor.points.len(), &[local]);
        chain.add_generators_of(&factor.chain);
        chain.element_to(target).map(|element| factor.globalize(&element))
    }

    /// A random element, each equally likely.
    pub fn random(&self, rng: &mut Rng) -> SparsePermutation {
        let mut moves: Vec<(u32, u32)> = Vec::new();
        for factor in &self.factors {
            let element = factor.globalize(&factor.chain.random(rng).to_sparse());
            moves.extend_from_slice(element.moves());
        }
        moves.sort_unstable();
        SparsePermutation::from_sorted(moves)
    }

    /// The subgroup that keeps each of these points.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn stabilizer(
        &self,
        points: &[u32],
        seed: Seed,
        deadline: &Deadline,
    ) -> Result<Self, StopReason> {
        let rng = &mut seed.rng();
        let (mut base, mut generators) = (Vec::new(), Vec::new());
        for (factor, points) in self.factors.iter().zip(self.local_points(points)) {
            // The same group with another base: its order is known, so nothing needs a check.
            let strong: Vec<SparsePermutation> = factor.chain.generators().cloned().collect();
            let mut chain = Chain::trivial(factor.points.len(), &points);
            chain.complete(&strong, Some(&factor.chain.order()), rng, deadline)?;
            let kept = chain.generators_below(points.len());
            generators.extend(kept.iter().map(|generator| factor.globalize(generator)));
            base.extend(chain.base().map(|local| factor.points[local as usize]));
        }
        Ok(Self::from_strong_generators(self.degree, &base, &generators))
    }

    /// The factors, with chains that are still empty.
    fn split(degree: usize, generators: &[SparsePermutation]) -> Self {
        let mut together = Orbits::new(degree);
        for moves in generators.iter().map(SparsePermutation::moves) {
            for &(point, _) in moves {
                together.join(moves[0].0, point);
            }
        }
        let supports = together.to_lists().into_iter().filter(|points| points.len() > 1);
        let mut places = vec![(NONE, 0); degree];
        let mut factors = Vec::new();
        for points in supports {
            for (local, &point) in (0..).zip(&points) {
                places[point as usize] = (factors.len() as u32, local);
            }
            factors.push(Factor { chain: Chain::trivial(points.len(), &[]), points });
        }
        Self { degree, factors, places }
    }

    /// The generators of each factor, in its own numbers.
    fn local(&self, generators: &[SparsePermutation]) -> Vec<Vec<SparsePermutation>> {
        let mut local = vec![Vec::new(); self.factors.len()];
        for moves in generators.iter().map(SparsePermutation::moves) {
            let Some(&(first, _)) = moves.first() else { continue };
            let place = |point: u32| self.places[point as usize].1;
            let moves = moves.iter().map(|&(a, b)| (place(a), place(b))).collect();
            local[self.places[first as usize].0 as usize]
                .push(SparsePermutation::from_sorted(moves));
        }
        local
    }

    /// The points that belong to each factor, in its own numbers.
    fn local_points(&self, points: &[u32]) -> Vec<Vec<u32>> {
        let mut local = vec![Vec::new(); self.factors.len()];
        for &point in points {
            let (factor, place) = self.places[point as usize];
            if factor != NONE {
                local[factor as usize].push(place);
            }
        }
        local
    }
}

impl Factor {
    /// A permutation of the factor in the numbers of the group.
    fn globalize(&self, permutation: &SparsePermutation) -> SparsePermutation {
        let global = |local: u32| self.points[local as usize];
        let moves = permutation.moves().iter().map(|&(a, b)| (global(a), global(b)));
        SparsePermutation::from_sorted(moves.collect())
    }
}

//! Canonical states: one state for all that symmetries take to each other.
//!
//! A group of symmetries is mostly a product of small groups that move different fluents; each of
//! these factors is folded alone. For every element of a factor and every fluent there is a random
//! word, the word of the fluent's image. The sum of the words of the true fluents is the key of
//! the state's image under the element, and the element with the smallest key gives the canonical
//! state. The keys of all elements are one sum of rows, so they cost little more than one key, and
//! they follow the state incrementally.
//!
//! The canonical state is the same for all states of an orbit, unless two different images have
//! one key of 64 bits: then states of one orbit may be taken for different ones. Never is a state
//! taken for one of another orbit.

use ludex_automorphism::{Orbits, SparsePermutation};
use ludex_base::{BitSet, FluentId, MoveId, Seed};
use ludex_game::Fold;
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use super::points::{Point, Points, Symmetry};

/// A group of symmetries that keep roles, ready to find canonical states.
#[derive(Clone, Debug)]
pub struct Folding {
    n_fluents: usize,
    factors: Vec<Factor>,
    /// By fluent: its factor and its number there, or [`NONE`].
    place_of_fluent: Vec<(u32, u32)>,
    /// By move: its factor and its number there, or [`NONE`].
    place_of_move: Vec<(u32, u32)>,
    order: BigUint,
    is_whole: bool,
}

const NONE: u32 = u32::MAX;

/// Elements that move the same points, and no others.
#[derive(Clone, Debug)]
struct Factor {
    n_elements: usize,
    fluents: Vec<FluentId>,
    moves: Vec<MoveId>,
    /// By fluent and element: the word of the image.
    words: Vec<u64>,
    /// By element and fluent: the image. The identity is the first element.
    fluent_images: Vec<FluentId>,
    /// By element and move: the image.
    move_images: Vec<MoveId>,
    /// By element: its inverse.
    inverses: Vec<u32>,
}

/// A symmetry of a folding: by factor, the number of an element.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoldingElement {
    elements: Vec<u32>,
}

impl Folding {
    /// Words of all factors together that are allowed.
    pub const USUAL_WORDS: usize = 1 << 20;

    /// Prepares the group that symmetries generate. Those that exchange roles are left out. A
    /// factor whose elements need more than `max_words` words is replaced by a subgroup.
    pub fn new(points: Points, generators: &[Symmetry], max_words: usize) -> Self {
        let generators: Vec<&SparsePermutation> =
            (generators.iter()).filter(|it| it.keeps_roles()).map(Symmetry::permutation).collect();
        let mut folding = Self {
            n_fluents: points.n_fluents(),
            factors: Vec::new(),
            place_of_fluent: vec![(NONE, 0); points.n_fluents()],
            place_of_move: vec![(NONE, 0); points.n_moves()],
            order: BigUint::from(1_u32),
            is_whole: true,
        };
        for generators in independent(points.n_points(), &generators) {
            folding.add_factor(points, &generators, max_words);
        }
        folding
    }

    /// How many symmetries the folding uses, the identity included.
    pub fn order(&self) -> &BigUint {
        &self.order
    }

    /// Whether these are all symmetries it was given, not a subgroup.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether there is nothing to fold.
    pub fn is_trivial(&self) -> bool {
        self.factors.is_empty()
    }

    fn add_factor(&mut self, points: Points, generators: &[&SparsePermutation], max_words: usize) {
        let mut support: Vec<u32> =
            generators.iter().flat_map(|it| it.moves()).map(|&(point, _)| point).collect();
        support.sort_unstable();
        support.dedup();
        let max_elements = (max_words / support.len().max(1)).max(1);
        let (elements, is_whole) = closure_within(generators, &support, max_elements);
        self.is_whole &= is_whole;
        if elements.len() == 1 {
            return;
        }
        self.order *= elements.len();
        let factor_idx = self.factors.len() as u32;
        let factor = Factor::new(points, &support, &elements);
        for (local, fluent) in factor.fluents.iter().enumerate() {
            self.place_of_fluent[fluent.index()] = (factor_idx, local as u32);
        }
        for (local, played) in factor.moves.iter().enumerate() {
            self.place_of_move[played.index()] = (factor_idx, local as u32);
        }
        self.factors.push(factor);
    }

    /// Finds the canonical state, and a symmetry that takes the state to it.
    pub fn canonical(&self, state: &BitSet, canonical: &mut BitSet) -> FoldingElement {
        let mut element = FoldingElement { elements: vec![0; self.factors.len()] };
        self.choose(state, &mut element);
        self.image(state, &element, canonical);
        element
    }

    /// Chooses for each factor the element with the smallest key.
    fn choose(&self, state: &BitSet, element: &mut FoldingElement) {
        let mut keys: Vec<u64> = Vec::new();
        for (factor_idx, factor) in self.factors.iter().enumerate() {
            factor.keys(state, &mut keys);
            let smallest = (0..keys.len()).min_by_key(|&idx| keys[idx]);
            element.elements[factor_idx] = smallest.expect("a group has an element") as u32;
        }
    }

    /// The image of a state.
    pub fn image(&self, state: &BitSet, element: &FoldingElement, image: &mut BitSet) {
        if element.elements.iter().all(|&it| it == 0) {
            // The first element of a factor is the identity.
            image.copy_from(state);
            return;
        }
        image.clear();
        for idx in state.iter() {
            let (factor_idx, local) = self.place_of_fluent[idx];
            if factor_idx == NONE {
                image.insert(idx);
                continue;
            }
            let factor = &self.factors[factor_idx as usize];
            let chosen = element.elements[factor_idx as usize] as usize;
            let to = factor.fluent_images[chosen * factor.fluents.len() + local as usize];
            image.insert(to.index());
        }
    }

    /// The image of a move.
    pub fn played(&self, played: MoveId, element: &FoldingElement) -> MoveId {
        let (factor_idx, local) = self.place_of_move[played.index()];
        if factor_idx == NONE {
            return played;
        }
        let factor = &self.factors[factor_idx as usize];
        let chosen = element.elements[factor_idx as usize] as usize;
        factor.move_images[chosen * factor.moves.len() + local as usize]
    }

    /// The symmetry that undoes another.
    pub fn inverse(&self, element: &FoldingElement) -> FoldingElement {
        let inverses = self.factors.iter().zip(&element.elements);
        FoldingElement {
            elements: inverses.map(|(factor, &idx)| factor.inverses[idx as usize]).collect(),
        }
    }

    /// Returns for each of some moves the first of them in the same orbit under the symmetries that
    /// keep the state.
    ///
    /// Moves of an orbit lead to states of one orbit, provided that the other roles have no choice.
    pub fn representatives(&self, state: &BitSet, moves: &[MoveId]) -> Vec<MoveId> {
        let mut keys = Vec::new();
        let mut keeping: Vec<Option<Vec<u32>>> = vec![None; self.factors.len()];
        let mut first_of: FxHashMap<MoveId, MoveId> = FxHashMap::default();
        for &played in moves {
            let (factor_idx, local) = self.place_of_move[played.index()];
            if factor_idx == NONE || first_of.contains_key(&played) {
                continue;
            }
            let factor = &self.factors[factor_idx as usize];
            let keeping = keeping[factor_idx as usize]
                .get_or_insert_with(|| factor.elements_keeping(state, &mut keys));
            for &element in keeping.iter() {
                let at = element as usize * factor.moves.len() + local as usize;
                first_of.insert(factor.move_images[at], played);
            }
        }
        moves.iter().map(|played| first_of.get(played).copied().unwrap_or(*played)).collect()
    }

    /// All images of a state, the state itself first, each with the symmetry that leads to it, as
    /// far as there are no more than `max_images`.
    pub fn images(&self, state: &BitSet, max_images: usize) -> Vec<(FoldingElement, BitSet)> {
        let identity = FoldingElement { elements: vec![0; self.factors.len()] };
        let mut images = vec![(identity, state.clone())];
        let mut seen: FxHashSet<BitSet> = images.iter().map(|(_, image)| image.clone()).collect();
        for (factor_idx, factor) in self.factors.iter().enumerate() {
            for known in 0..images.len() {
                for element_idx in 1..factor.n_elements {
                    let mut element = images[known].0.clone();
                    element.elements[factor_idx] = element_idx as u32;
                    let mut image = BitSet::new(self.n_fluents);
                    self.image(state, &element, &mut image);
                    if images.len() < max_images && seen.insert(image.clone()) {
                        images.push((element, image));
                    }
                }
            }
        }
        images
    }
}

impl Folding {
    /// All images of a state, the state itself first, each with the images of these moves in their
    /// order: one example for training becomes as many as the state has images.
    ///
    /// ```
    /// use ludex_analysis::symmetry::{RoleExchange, find_symmetries};
    /// use ludex_base::{Deadline, FluentId, Limits, RoleId, Source};
    ///
    /// // Two lamps that are alike.
    /// let rules = "(role r) (lamp a) (lamp b) (init (dark a)) (init (dark b))
    ///     (<= (legal r (light ?x)) (lamp ?x))
    ///     (<= (next (dark ?x)) (true (dark ?x)) (not (does r (light ?x))))
    ///     (<= terminal (not (true (dark a))) (not (true (dark b))))
    ///     (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))";
    /// let program = ludex_gdl::check_source(&Source::new("lamps", rules)).program.unwrap();
    /// let ground = ludex_ground::ground(&program, &Limits::usual()).unwrap();
    /// let circuit = ludex_circuit::compile(&ground).optimized();
    /// let found = find_symmetries(&circuit, RoleExchange::Forbidden, None, &Deadline::never());
    /// let vocabulary = &circuit.vocabulary;
    /// let mut only_a = circuit.init.clone();
    /// only_a.clear();
    /// let is_dark_a = |it: &usize| vocabulary.fluent_text(FluentId::new(*it)) == "(dark a)";
    /// only_a.insert((0..2).find(is_dark_a).unwrap());
    /// let best = vocabulary.find_move(RoleId::new(0), "(light a)").unwrap();
    /// let examples = found.folding().symmetric_images(&only_a, &[best], 100);
    /// assert_eq!(examples.len(), 2);
    /// assert_eq!(vocabulary.move_text(examples[1].1[0]), "(light b)");
    /// ```
    pub fn symmetric_images(
        &self,
        state: &BitSet,
        moves: &[MoveId],
        max_images: usize,
    ) -> Vec<(BitSet, Vec<MoveId>)> {
        let images = self.images(state, max_images).into_iter();
        let of = |(element, image): (FoldingElement, BitSet)| {
            let moves = moves.iter().map(|&played| self.played(played, &element)).collect();
            (image, moves)
        };
        images.map(of).collect()
    }
}

impl Fold for Folding {
    fn fold_state(&self, state: &BitSet, canonical: &mut BitSet) {
        self.canonical(state, canonical);
    }

    fn fold_moves(&self, state: &BitSet, moves: &mut Vec<MoveId>) {
        let representatives = self.representatives(state, moves);
        let mut representative = representatives.iter();
        moves.retain(|played| representative.next() == Some(played));
    }
}

impl Factor {
    fn new(points: Points, support: &[u32], elements: &[Images]) -> Self {
        let mut rng = Seed(0x05_1e_f0_1d).rng();
        // By place of the support: what the point is.
        let what: Vec<Point> = support.iter().map(|&point| points.point(point)).collect();
        let words: Vec<u64> = support.iter().map(|_| rng.next_u64()).collect();
        let fluent_at = |place: u32| match what[place as usize] {
            Point::Fluent(fluent) => Some(fluent),
            _ => None,
        };
        let move_at = |place: u32| match what[place as usize] {
            Point::Move(played) => Some(played),
            _ => None,
        };
        let places = 0..support.len() as u32;
        let fluent_places: Vec<u32> =
            places.clone().filter(|&place| fluent_at(place).is_some()).collect();
        let word = |element: &Images, place: u32| words[element[place as usize] as usize];
        let number_of: FxHashMap<&Images, u32> = elements.iter().zip(0..).collect();
        let inverse = |element: &Images| {
            let mut inverse: Images = element.clone();
            for (place, &image) in element.iter().enumerate() {
                inverse[image as usize] = place as u32;
            }
            number_of[&inverse]
        };
        Self {
            n_elements: elements.len(),
            fluents: places.clone().filter_map(fluent_at).collect(),
            moves: places.filter_map(move_at).collect(),
            words: (fluent_places.iter())
                .flat_map(|&place| elements.iter().map(move |element| word(element, place)))
                .collect(),
            fluent_images: elements
                .iter()
                .flat_map(|element| fluent_places.iter().map(|&it| element[it as usize]))
                .map(|image| fluent_at(image).expect("fluents go to fluents"))
                .collect(),
            move_images: elements
                .iter()
                .flat_map(|element| {
                    element.iter().enumerate().filter(|&(it, _)| move_at(it as u32).is_some())
                })
                .map(|(_, &image)| move_at(image).expect("moves go to moves"))
                .collect(),
            inverses: elements.iter().map(inverse).collect(),
        }
    }

    /// The keys of the images of a state under all elements.
    fn keys(&self, state: &BitSet, keys: &mut Vec<u64>) {
        keys.clear();
        keys.resize(self.n_elements, 0);
        for (local, fluent) in self.fluents.iter().enumerate() {
            if state.contains(fluent.index()) {
                let row = &self.words[local * self.n_elements..(local + 1) * self.n_elements];
                for (key, word) in keys.iter_mut().zip(row) {
                    *key = key.wrapping_add(*word);
                }
            }
        }
    }

    /// The elements that take a state to itself.
    fn elements_keeping(&self, state: &BitSet, keys: &mut Vec<u64>) -> Vec<u32> {
        self.keys(state, keys);
        let n_fluents = self.fluents.len();
        let keeps = |idx: usize| {
            let images = &self.fluent_images[idx * n_fluents..(idx + 1) * n_fluents];
            self.fluents
                .iter()
                .zip(images)
                .all(|(from, to)| !state.contains(from.index()) || state.contains(to.index()))
        };
        let candidates = (0..self.n_elements).filter(|&idx| keys[idx] == keys[0]);
        candidates.filter(|&idx| keeps(idx)).map(|idx| idx as u32).collect()
    }
}

/// Puts generators that move points in common together.
fn independent<'a>(
    n_points: usize,
    generators: &[&'a SparsePermutation],
) -> Vec<Vec<&'a SparsePermutation>> {
    let mut together = Orbits::new(n_points);
    for moves in generators.iter().map(|it| it.moves()) {
        for &(point, _) in moves {
            together.join(moves[0].0, point);
        }
    }
    let mut place_of: FxHashMap<u32, usize> = FxHashMap::default();
    let mut parts: Vec<Vec<&SparsePermutation>> = Vec::new();
    for &generator in generators {
        let Some(&(first, _)) = generator.moves().first() else { continue };
        let place = *place_of.entry(together.representative(first)).or_insert(parts.len());
        if place == parts.len() {
            parts.push(Vec::new());
        }
        parts[place].push(generator);
    }
    parts
}

/// The elements of the group of some generators, the identity first, and whether it is the group
/// of all of them: generators that would make it larger than `max_elements` are left out.
///
/// A group and a new generator give a larger group, coset by coset, as Dimino's algorithm does:
/// the first group times an element for each coset.
fn closure_within(
    generators: &[&SparsePermutation],
    support: &[u32],
    max_elements: usize,
) -> (Vec<Images>, bool) {
    let place_of: FxHashMap<u32, u32> = support.iter().copied().zip(0..).collect();
    let dense = |generator: &&SparsePermutation| -> Images {
        support.iter().map(|&point| place_of[&generator.image(point)]).collect()
    };
    let mut used: Vec<Images> = Vec::new();
    let mut elements: Vec<Images> = vec![(0..support.len() as u32).collect()];
    let mut known: FxHashSet<Images> = elements.iter().cloned().collect();
    let mut is_whole = true;
    for generator in generators.iter().map(dense) {
        if known.contains(&generator) {
            continue;
        }
        let n_before = elements.len();
        used.push(generator.clone());
        let mut cosets = vec![generator];
        let mut next = 0;
        let mut fits = true;
        while let Some(leader) = cosets.get(next).cloned() {
            next += 1;
            if known.contains(&leader) {
                continue;
            }
            fits = elements.len() + n_before <= max_elements;
            if !fits {
                break;
            }
            for idx in 0..n_before {
                let element = after(&elements[idx], &leader);
                known.insert(element.clone());
                elements.push(element);
            }
            cosets.extend(used.iter().map(|generator| after(&leader, generator)));
        }
        if !fits {
            for element in elements.drain(n_before..) {
                known.remove(&element);
            }
            used.pop();
            is_whole = false;
        }
    }
    (elements, is_whole)
}

/// A permutation of the support of a factor: the place of each point's image.
type Images = Box<[u32]>;

/// One permutation after another.
fn after(first: &Images, second: &Images) -> Images {
    first.iter().map(|&place| second[place as usize]).collect()
}

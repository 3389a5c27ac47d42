//! Permutations that list only what they move.

use std::fmt;

/// A permutation of the numbers from 0, of which it lists those that it moves.
///
/// ```
/// use ludex_automorphism::SparsePermutation;
///
/// let turn = SparsePermutation::new(vec![(1, 5), (5, 8), (8, 1)]).expect("a permutation");
/// assert_eq!(turn.to_string(), "(1 5 8)");
/// assert_eq!(turn.image(5), 8);
/// assert_eq!(turn.image(6), 6);
/// assert!(turn.then(&turn.inverse()).is_identity());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SparsePermutation {
    /// Sorted by the first; the two of a pair differ.
    moves: Vec<(u32, u32)>,
}

impl SparsePermutation {
    /// The permutation that moves nothing.
    pub fn identity() -> Self {
        Self::default()
    }

    /// The permutation that takes the first of each pair to the second; `None` if that is none.
    pub fn new(mut moves: Vec<(u32, u32)>) -> Option<Self> {
        moves.sort_unstable();
        let mut images: Vec<u32> = moves.iter().map(|&(_, image)| image).collect();
        images.sort_unstable();
        let is_permutation = moves.iter().map(|&(point, _)| point).eq(images.iter().copied())
            && images.windows(2).all(|pair| pair[0] < pair[1]);
        moves.retain(|&(point, image)| point != image);
        is_permutation.then_some(Self { moves })
    }

    /// The permutation that takes each place of a list to what stands there; `None` if that is
    /// none.
    pub fn from_images(images: &[u32]) -> Option<Self> {
        Self::new((0..).zip(images.iter().copied()).collect())
    }

    /// Moves that are known to be sorted and to make a permutation.
    pub(crate) fn from_sorted(moves: Vec<(u32, u32)>) -> Self {
        debug_assert_eq!(Self::new(moves.clone()).as_ref().map(Self::moves), Some(&moves[..]));
        Self { moves }
    }

    /// What is moved, sorted, each with its image.
    pub fn moves(&self) -> &[(u32, u32)] {
        &self.moves
    }

    /// Where a point goes.
    pub fn image(&self, point: u32) -> u32 {
        match self.moves.binary_search_by_key(&point, |&(point, _)| point) {
            Ok(place) => self.moves[place].1,
            Err(_) => point,
        }
    }

    /// Whether nothing moves.
    pub fn is_identity(&self) -> bool {
        self.moves.is_empty()
    }

    /// The permutation that takes everything back.
    pub fn inverse(&self) -> Self {
        let mut moves: Vec<(u32, u32)> = self.moves.iter().map(|&(a, b)| (b, a)).collect();
        moves.sort_unstable();
        Self { moves }
    }

    /// This permutation, and the other one after it.
    pub fn then(&self, other: &Self) -> Self {
        let own = self.moves.iter().map(|&(point, image)| (point, other.image(image)));
        let others = other.moves.iter().copied();
        let others = others.filter(|&(point, _)| self.image(point) == point);
        let mut moves: Vec<(u32, u32)> = own.chain(others).filter(|(a, b)| a != b).collect();
        moves.sort_unstable();
        Self { moves }
    }

    /// The cycles of two and more points, each from its smallest point.
    pub fn cycles(&self) -> Vec<Vec<u32>> {
        let mut is_done = vec![false; self.moves.len()];
        let mut cycles = Vec::new();
        for first in 0..self.moves.len() {
            let mut cycle = Vec::new();
            let mut place = first;
            while !is_done[place] {
                is_done[place] = true;
                let (point, image) = self.moves[place];
                cycle.push(point);
                place = self
                    .moves
                    .binary_search_by_key(&image, |&(point, _)| point)
                    .expect("the image of a point that moves does move");
            }
            if !cycle.is_empty() {
                cycles.push(cycle);
            }
        }
        cycles
    }
}

impl fmt::Display for SparsePermutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_identity() {
            return f.write_str("()");
        }
        for cycle in self.cycles() {
            let points: Vec<String> = cycle.iter().map(u32::to_string).collect();
            write!(f, "({})", points.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permutation(images: &[u32]) -> SparsePermutation {
        SparsePermutation::from_images(images).expect("a permutation")
    }

    #[test]
    fn points_that_stay_are_not_listed() {
        assert_eq!(permutation(&[0, 2, 1]).moves(), [(1, 2), (2, 1)]);
        assert!(permutation(&[0, 1, 2]).is_identity());
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        assert_eq!(SparsePermutation::new(vec![(0, 1), (1, 1)]), None);
        assert_eq!(SparsePermutation::new(vec![(0, 1)]), None);
        assert_eq!(SparsePermutation::new(vec![(0, 1), (0, 1), (1, 0)]), None);
    }

    #[test]
    fn the_second_of_two_acts_on_the_images_of_the_first() {
        let product = permutation(&[1, 0, 2]).then(&permutation(&[0, 2, 1]));
        assert_eq!(product, permutation(&[2, 0, 1]));
        assert_eq!(product.to_string(), "(0 2 1)");
        assert_eq!(product.inverse(), permutation(&[1, 2, 0]));
    }
}

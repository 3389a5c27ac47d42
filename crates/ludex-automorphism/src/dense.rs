//! Permutations as arrays, for products.

use crate::permutation::SparsePermutation;

/// A permutation of the points below its degree, in both directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DensePermutation {
    images: Vec<u32>,
    preimages: Vec<u32>,
    n_moved: usize,
}

impl DensePermutation {
    pub(crate) fn identity(degree: usize) -> Self {
        let images: Vec<u32> = (0..degree as u32).collect();
        Self { preimages: images.clone(), images, n_moved: 0 }
    }

    pub(crate) fn from_sparse(degree: usize, permutation: &SparsePermutation) -> Self {
        let mut dense = Self::identity(degree);
        dense.then(permutation.moves());
        dense
    }

    pub(crate) fn to_sparse(&self) -> SparsePermutation {
        let moves = (0..).zip(self.images.iter().copied()).filter(|(a, b)| a != b);
        SparsePermutation::from_sorted(moves.collect())
    }

    pub(crate) fn is_identity(&self) -> bool {
        self.n_moved == 0
    }

    pub(crate) fn image(&self, point: u32) -> u32 {
        self.images[point as usize]
    }

    pub(crate) fn inverse(&self) -> Self {
        Self {
            images: self.preimages.clone(),
            preimages: self.images.clone(),
            n_moved: self.n_moved,
        }
    }

    /// Appends a permutation, given by what it moves.
    pub(crate) fn then(&mut self, moves: &[(u32, u32)]) {
        // First the images, while the preimages are still the old ones.
        for &(via, image) in moves {
            let point = self.preimages[via as usize];
            self.n_moved -= usize::from(via != point);
            self.n_moved += usize::from(image != point);
            self.images[point as usize] = image;
        }
        // The points in question are known by their old preimages only, so these are moved along
        // the cycles by way of a list.
        let points: Vec<u32> = moves.iter().map(|&(via, _)| self.preimages[via as usize]).collect();
        for (&(_, image), point) in moves.iter().zip(points) {
            self.preimages[image as usize] = point;
        }
    }

    /// Appends another permutation of the same degree.
    pub(crate) fn then_all_of(&mut self, other: &Self) {
        for image in &mut self.images {
            *image = other.images[*image as usize];
        }
        self.refresh();
    }

    /// Appends the inverse of another permutation of the same degree.
    pub(crate) fn then_inverse_of(&mut self, other: &Self) {
        for image in &mut self.images {
            *image = other.preimages[*image as usize];
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        self.n_moved = 0;
        for (point, &image) in (0..).zip(&self.images) {
            self.preimages[image as usize] = point;
            self.n_moved += usize::from(point != image);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_those_of_sparse_permutations() {
        let permutation = |images: &[u32]| SparsePermutation::from_images(images).expect("is one");
        let (a, b) = (permutation(&[1, 2, 0, 3, 5, 4]), permutation(&[0, 3, 2, 1, 4, 5]));
        let mut dense = DensePermutation::from_sparse(6, &a);
        dense.then(b.moves());
        assert_eq!(dense.to_sparse(), a.then(&b));
        assert_eq!(dense.inverse().to_sparse(), a.then(&b).inverse());
        dense.then(b.inverse().moves());
        dense.then_inverse_of(&DensePermutation::from_sparse(6, &a));
        assert!(dense.is_identity());
    }
}

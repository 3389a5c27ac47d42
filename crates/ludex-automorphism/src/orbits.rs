//! Orbits that grow together as generators are found.

use crate::SparsePermutation;

/// The orbits of a group on the numbers below its degree.
///
/// A forest of pointers to representatives, joined by size; a representative is some point of its
/// orbit.
#[derive(Clone, Debug)]
pub struct Orbits {
    parents: Vec<u32>,
    /// Of a representative: how many points its orbit has.
    sizes: Vec<u32>,
}

impl Orbits {
    /// Every point is an orbit of its own.
    pub fn new(degree: usize) -> Self {
        Self { parents: (0..degree as u32).collect(), sizes: vec![1; degree] }
    }

    /// The orbits of the group that permutations of points below `degree` generate.
    pub fn of<'a>(
        degree: usize,
        generators: impl IntoIterator<Item = &'a SparsePermutation>,
    ) -> Self {
        let mut orbits = Self::new(degree);
        for &(point, image) in generators.into_iter().flat_map(SparsePermutation::moves) {
            orbits.join(point, image);
        }
        orbits
    }

    /// The representative of a point's orbit.
    #[inline]
    pub fn representative(&self, mut point: u32) -> u32 {
        while self.parents[point as usize] != point {
            point = self.parents[point as usize];
        }
        point
    }

    /// Whether some element of the group takes one point to the other.
    pub fn same(&self, a: u32, b: u32) -> bool {
        self.representative(a) == self.representative(b)
    }

    /// How many points the orbit of a point has.
    pub fn size(&self, point: u32) -> usize {
        self.sizes[self.representative(point) as usize] as usize
    }

    /// All orbits, sorted by their smallest points, each sorted.
    pub fn to_lists(&self) -> Vec<Vec<u32>> {
        let mut places = vec![usize::MAX; self.parents.len()];
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for point in 0..self.parents.len() as u32 {
            let place = &mut places[self.representative(point) as usize];
            if *place == usize::MAX {
                *place = lists.len();
                lists.push(Vec::new());
            }
            lists[*place].push(point);
        }
        lists
    }

    /// How many orbits there are.
    pub fn n_orbits(&self) -> usize {
        (0..).zip(&self.parents).filter(|&(point, &parent)| point == parent).count()
    }

    /// Joins the orbits of two points. Gives the representative of both, and the point that was
    /// one until now, if they were apart.
    pub fn join(&mut self, a: u32, b: u32) -> Option<(u32, u32)> {
        let (a, b) = (self.compress(a), self.compress(b));
        if a == b {
            return None;
        }
        let a_is_larger = self.sizes[a as usize] >= self.sizes[b as usize];
        let (kept, dropped) = if a_is_larger { (a, b) } else { (b, a) };
        self.parents[dropped as usize] = kept;
        self.sizes[kept as usize] += self.sizes[dropped as usize];
        Some((kept, dropped))
    }

    /// The representative; the way to it becomes half as long.
    fn compress(&mut self, mut point: u32) -> u32 {
        while self.parents[point as usize] != point {
            let above = self.parents[point as usize];
            self.parents[point as usize] = self.parents[above as usize];
            point = self.parents[point as usize];
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_join_orbits() {
        let generators = [&[0, 2, 1, 3, 4][..], &[0, 1, 3, 2, 4]]
            .map(|images| SparsePermutation::from_images(images).expect("a permutation"));
        let orbits = Orbits::of(5, &generators);
        assert_eq!(orbits.to_lists(), [vec![0], vec![1, 2, 3], vec![4]]);
        assert_eq!((orbits.n_orbits(), orbits.size(3), orbits.size(4)), (3, 3, 1));
        assert!(orbits.same(1, 3) && !orbits.same(0, 1));
    }
}

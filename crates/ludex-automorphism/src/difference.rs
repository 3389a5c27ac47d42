//! In which vertices two partitions differ that were cut in the same way.
//!
//! Two partitions are refined side by side, from the same cells to cells at the same places. A
//! vertex is a difference if its cells stand at different places and the one on the left has
//! other vertices besides. Without differences, the vertices of single cells on the left go to
//! those on the right and all others can stay: the idea by which saucy finds automorphisms that
//! move few vertices long before the partitions are discrete.

use crate::partition::Partition;

/// The set of vertices in which a pair of partitions differs.
pub(crate) struct Difference {
    members: Vec<u32>,
    /// By vertex: its place among the members, or [`NONE`].
    places: Vec<u32>,
    /// Each vertex that came or went, for taking it back.
    toggled: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Difference {
    pub(crate) fn new(n_vertices: usize) -> Self {
        Self { members: Vec::new(), places: vec![NONE; n_vertices], toggled: Vec::new() }
    }

    /// The vertices in which the partitions differ, the newest mostly last.
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Whether a vertex is among them.
    pub(crate) fn contains(&self, vertex: u32) -> bool {
        self.places[vertex as usize] != NONE
    }

    /// A mark to which [`Difference::rewind`] can return.
    pub(crate) fn mark(&self) -> usize {
        self.toggled.len()
    }

    /// Looks again at the vertices that the cuts from number `first_cut` on concern.
    pub(crate) fn update(&mut self, left: &Partition, right: &Partition, first_cut: usize) {
        for cut in &left.cuts()[first_cut..] {
            for partition in [left, right] {
                for &vertex in partition.cell(cut.tail) {
                    self.look_at(vertex, left, right);
                }
                if partition.is_singleton(cut.cell) {
                    self.look_at(partition.element(cut.cell), left, right);
                }
            }
        }
    }

    #[inline]
    fn look_at(&mut self, vertex: u32, left: &Partition, right: &Partition) {
        let cell = left.cell_of(vertex);
        let is_member = cell != right.cell_of(vertex) && !left.is_alone(vertex);
        if is_member != (self.places[vertex as usize] != NONE) {
            self.toggle(vertex);
            self.toggled.push(vertex);
        }
    }

    /// Takes back what changed since a mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        while self.toggled.len() > mark {
            let vertex = self.toggled.pop().expect("there is more to take back");
            self.toggle(vertex);
        }
    }

    /// No differences, nothing to take back.
    pub(crate) fn clear(&mut self) {
        for vertex in self.members.drain(..) {
            self.places[vertex as usize] = NONE;
        }
        self.toggled.clear();
    }

    fn toggle(&mut self, vertex: u32) {
        let place = std::mem::replace(&mut self.places[vertex as usize], NONE);
        if place == NONE {
            self.places[vertex as usize] = self.members.len() as u32;
            self.members.push(vertex);
            return;
        }
        self.members.swap_remove(place as usize);
        if let Some(&moved) = self.members.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_vanish_when_the_rest_is_the_same() {
        let mut left = Partition::by_colors(&[0; 4]);
        let mut right = left.clone();
        let mut difference = Difference::new(4);
        left.individualize(0);
        right.individualize(1);
        difference.update(&left, &right, 0);
        assert_eq!(difference.members(), [1]);
        let mark = difference.mark();
        left.individualize(1);
        right.individualize(0);
        difference.update(&left, &right, 1);
        assert!(difference.members().is_empty());
        difference.rewind(mark);
        assert_eq!(difference.members(), [1]);
    }
}

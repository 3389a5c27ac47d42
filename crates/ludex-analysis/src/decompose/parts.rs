//! A partition of fluents into parts that grow together.

use ludex_base::FluentId;

/// Disjoint sets of fluents.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    parents: Vec<usize>,
}

impl Parts {
    /// Each fluent is a part of its own.
    pub fn new(n_fluents: usize) -> Self {
        Self { parents: (0..n_fluents).collect() }
    }

    /// Returns the smallest fluent of the part, as its name.
    pub fn part(&mut self, fluent: FluentId) -> usize {
        let mut at = fluent.index();
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    pub fn join(&mut self, a: FluentId, b: FluentId) {
        let (a, b) = (self.part(a), self.part(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// Joins all fluents of a list.
    pub fn join_all(&mut self, fluents: &[FluentId]) {
        for pair in fluents.windows(2) {
            self.join(pair[0], pair[1]);
        }
    }
}

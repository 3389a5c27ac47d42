//! What a search may use.

use ludex_base::{Deadline, Seed};

/// What one call of a search may use, and where its randomness comes from.
///
/// With one thread, an iteration limit and no deadline, the report depends on the seed alone.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When to answer. Searches ask at least once a node or once a few steps of a playout.
    pub deadline: Deadline,
    /// Iterations of a Monte Carlo search, nodes of a depth-first one; `None` is no limit.
    pub iterations: Option<u64>,
    /// Bytes for trees and tables.
    pub memory: usize,
    /// Threads, for searches that can use more than one.
    pub threads: usize,
    /// Where the randomness comes from.
    pub seed: Seed,
}

impl Limits {
    /// Until the deadline, on one thread, within 512 MB.
    pub fn until(deadline: Deadline, seed: Seed) -> Self {
        Self { deadline, iterations: None, memory: 512 << 20, threads: 1, seed }
    }

    /// So many iterations, whatever time they take, on one thread, within 512 MB.
    pub fn iterations(n_iterations: u64, seed: Seed) -> Self {
        let iterations = Some(n_iterations);
        Self { iterations, ..Self::until(Deadline::never(), seed) }
    }
}

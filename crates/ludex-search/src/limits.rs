//! Limits of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ludex_base::{Deadline, MoveId, Seed, StopReason};

/// The resources of one call of a search, and the seed of its random numbers.
///
/// With one thread, an iteration limit and no deadline, the report depends on the seed alone.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// When to answer. Searches check it at least once per node or every few steps of a playout.
    pub deadline: Deadline,
    /// Iterations of a Monte Carlo search, nodes of a depth-first one; `None` means no limit.
    pub iterations: Option<u64>,
    /// Bytes for trees and tables.
    pub memory: usize,
    /// Threads, for searches that can use more than one.
    pub threads: usize,
    /// The seed of all random numbers.
    pub seed: Seed,
    /// Where the search stores the move it would answer with now.
    pub hint: Hint,
}

impl SearchLimits {
    /// Limits that end at the deadline, with one thread and 512 MB.
    pub fn until(deadline: Deadline, seed: Seed) -> Self {
        let hint = Hint::default();
        Self { deadline, iterations: None, memory: 512 << 20, threads: 1, seed, hint }
    }

    /// Limits of `n_iterations` without a deadline, with one thread and 512 MB.
    pub fn iterations(n_iterations: u64, seed: Seed) -> Self {
        let iterations = Some(n_iterations);
        Self { iterations, ..Self::until(Deadline::never(), seed) }
    }

    /// Returns why a search must stop after `n_iterations`; `None` while it may go on.
    pub fn stop_after(&self, n_iterations: u64) -> Option<StopReason> {
        if self.iterations.is_some_and(|max| n_iterations >= max) {
            Some(StopReason::Count)
        } else {
            self.deadline.stop_reason()
        }
    }

    /// Returns the same limits with a part of the remaining time and of the iterations, at least
    /// one.
    pub fn part(&self, part: f64) -> Self {
        let iterations = self.iterations.map(|n| ((n as f64 * part) as u64).max(1));
        Self { deadline: self.deadline.part(part), iterations, ..self.clone() }
    }
}

/// The move that a search would answer with now, for callers that cannot wait for the report.
///
/// Clones share the move. A search sets it as soon as it has one, and again whenever it checks the
/// clock or prefers another move.
#[derive(Clone, Debug)]
pub struct Hint(Arc<AtomicU32>);

const NO_MOVE: u32 = u32::MAX;

impl Default for Hint {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(NO_MOVE)))
    }
}

impl Hint {
    /// Stores a move.
    pub fn set(&self, id: MoveId) {
        self.0.store(id.index() as u32, Relaxed);
    }

    /// Returns the move that was stored last.
    pub fn get(&self) -> Option<MoveId> {
        let id = self.0.load(Relaxed);
        (id != NO_MOVE).then(|| MoveId::new(id as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_hint_share_the_move() {
        let limits = SearchLimits::iterations(1, Seed(1));
        let copy = limits.clone();
        assert_eq!(copy.hint.get(), None);
        limits.hint.set(MoveId::new(7));
        assert_eq!(copy.hint.get(), Some(MoveId::new(7)));
    }
}

//! What a search may use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ludex_base::{Deadline, MoveId, Seed, StopReason};

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
    /// Where the search notes what it would answer now.
    pub hint: Hint,
}

impl Limits {
    /// Until the deadline, on one thread, within 512 MB.
    pub fn until(deadline: Deadline, seed: Seed) -> Self {
        let hint = Hint::default();
        Self { deadline, iterations: None, memory: 512 << 20, threads: 1, seed, hint }
    }

    /// So many iterations, whatever time they take, on one thread, within 512 MB.
    pub fn iterations(n_iterations: u64, seed: Seed) -> Self {
        let iterations = Some(n_iterations);
        Self { iterations, ..Self::until(Deadline::never(), seed) }
    }

    /// Why a search has to stop after so many iterations; `None` while it may go on.
    pub fn stop_after(&self, n_iterations: u64) -> Option<StopReason> {
        if self.iterations.is_some_and(|max| n_iterations >= max) {
            Some(StopReason::Count)
        } else {
            self.deadline.reached().then_some(StopReason::Time)
        }
    }

    /// The same with a part of the time that is left and of the iterations, one at least.
    pub fn part(&self, part: f64) -> Self {
        let iterations = self.iterations.map(|n| ((n as f64 * part) as u64).max(1));
        Self { deadline: self.deadline.part(part), iterations, ..self.clone() }
    }
}

/// The move a search would answer with if it had to answer now, for somebody who can't wait for it.
///
/// Copies share what they hold. Searches note a move as soon as they have one, and again whenever they
/// look at the clock or change their mind.
#[derive(Clone, Debug)]
pub struct Hint(Arc<AtomicU32>);

const NO_MOVE: u32 = u32::MAX;

impl Default for Hint {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(NO_MOVE)))
    }
}

impl Hint {
    /// Notes a move.
    pub fn set(&self, id: MoveId) {
        self.0.store(id.index() as u32, Relaxed);
    }

    /// The move that was noted last.
    pub fn get(&self) -> Option<MoveId> {
        let id = self.0.load(Relaxed);
        (id != NO_MOVE).then(|| MoveId::new(id as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_copy_is_told_the_other_knows() {
        let limits = Limits::iterations(1, Seed(1));
        let copy = limits.clone();
        assert_eq!(copy.hint.get(), None);
        limits.hint.set(MoveId::new(7));
        assert_eq!(copy.hint.get(), Some(MoveId::new(7)));
    }
}

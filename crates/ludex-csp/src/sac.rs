//! Singleton consistency: removes every value whose assignment fails by propagation.
//!
//! After Lecoutre and Cardon, *A Greedy Approach to Establish Singleton Arc Consistency*, IJCAI
//! 2005 (SAC3): one branch of decisions checks many values at once, since every value decided
//! on a branch that does not fail is consistent. We also count the values that propagation
//! fixes on the branch, for the same reason. A failure at the first decision of a branch
//! removes the value; deeper failures only end the branch.

use ludex_base::Deadline;

use crate::domains::{Conflict, VarId};
use crate::engine::Engine;

/// Removes the values whose assignment fails by propagation and returns their number.
///
/// The engine must be at a fixpoint with no level open. When the deadline is reached, the
/// values removed so far stay removed.
///
/// # Errors
/// [`Conflict`] when a domain becomes empty: the network has no solution.
pub fn singleton_consistency(engine: &mut Engine, deadline: &Deadline) -> Result<u64, Conflict> {
    assert_eq!(engine.level(), 0, "singleton consistency works at the root");
    let mut n_removed = 0;
    loop {
        let n_before = n_removed;
        let mut pending = Pending::new(engine);
        while let Some((x, index)) = pending.next(engine) {
            if deadline.reached() {
                return Ok(n_removed);
            }
            if !branch(engine, &mut pending, x, index, deadline) {
                if engine.is_stopped() {
                    return Ok(n_removed);
                }
                n_removed += 1;
                engine.decide(|domains| domains.remove_index(x, index))?;
            }
        }
        if n_removed == n_before {
            return Ok(n_removed);
        }
    }
}

/// Decides `x` and then as many pending values as possible. Returns false when the first
/// decision fails.
fn branch(
    engine: &mut Engine,
    pending: &mut Pending,
    x: VarId,
    index: u32,
    deadline: &Deadline,
) -> bool {
    engine.push_level();
    if engine.decide(|domains| domains.fix_index(x, index)).is_err() {
        engine.pop_level();
        return false;
    }
    pending.strike_fixed(engine);
    while let Some((y, index)) = pending.next_open(engine) {
        engine.push_level();
        if deadline.reached() || engine.decide(|domains| domains.fix_index(y, index)).is_err() {
            break;
        }
        pending.strike_fixed(engine);
    }
    engine.pop_to(0);
    true
}

/// The values not yet checked in this round, by variable.
struct Pending {
    values: Vec<Vec<u32>>,
}

impl Pending {
    fn new(engine: &Engine) -> Self {
        let domains = engine.domains();
        // Wide ranges are skipped: they would take one trial per value.
        let is_checked = |x: VarId| !domains.is_fixed(x) && domains.bits(x).is_some();
        let list = |x: VarId| if is_checked(x) { domains.indexes(x).collect() } else { Vec::new() };
        Self { values: domains.variables().map(list).collect() }
    }

    /// Returns a pending value that is still in its domain.
    fn next(&mut self, engine: &Engine) -> Option<(VarId, u32)> {
        for (at, list) in self.values.iter_mut().enumerate() {
            let x = VarId::new(at);
            while let Some(&index) = list.last() {
                if engine.domains().contains_index(x, index) && !engine.domains().is_fixed(x) {
                    list.pop();
                    return Some((x, index));
                }
                list.pop();
            }
        }
        None
    }

    /// Returns a pending value of a variable that is open on this branch; it stays pending
    /// until the branch has shown that it is consistent.
    fn next_open(&self, engine: &Engine) -> Option<(VarId, u32)> {
        let domains = engine.domains();
        self.values.iter().enumerate().find_map(|(at, list)| {
            let x = VarId::new(at);
            if domains.is_fixed(x) {
                return None;
            }
            list.iter().rev().find(|&&index| domains.contains_index(x, index)).map(|&i| (x, i))
        })
    }

    /// Removes the values that the current branch gives to variables.
    fn strike_fixed(&mut self, engine: &Engine) {
        let domains = engine.domains();
        for (at, list) in self.values.iter_mut().enumerate() {
            let x = VarId::new(at);
            if !list.is_empty() && domains.is_fixed(x) {
                let index = domains.index_bounds(x).0;
                list.retain(|&other| other != index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Network, PostConfig};

    /// The naive loop, as a reference.
    fn naive(engine: &mut Engine) -> Result<(), Conflict> {
        loop {
            let mut has_changed = false;
            for x in engine.domains().variables() {
                for index in engine.domains().indexes(x).collect::<Vec<_>>() {
                    if engine.domains().is_fixed(x) || !engine.domains().contains_index(x, index) {
                        continue;
                    }
                    engine.push_level();
                    let failed = engine.decide(|domains| domains.fix_index(x, index)).is_err();
                    engine.pop_level();
                    if failed {
                        has_changed = true;
                        engine.decide(|domains| domains.remove_index(x, index))?;
                    }
                }
            }
            if !has_changed {
                return Ok(());
            }
        }
    }

    #[test]
    fn the_greedy_algorithm_reaches_what_the_naive_loop_reaches() {
        let mut n_that_prune = 0;
        for seed in 0..40 {
            let mut rng = ludex_base::Seed(seed).rng();
            let mut network = Network::new();
            let vars = network.ints("x", 7, 0..4);
            for i in 0..7 {
                for j in 0..i {
                    let pairs = (0..16).filter(|_| rng.below(100) < 62).map(|c| [c / 4, c % 4]);
                    let table = crate::propagators::table::Table::from_tuples(2, pairs);
                    network.table(&[vars[i], vars[j]], table);
                }
            }
            let mut engine = network.post(&PostConfig::default()).unwrap();
            if engine.propagate().is_err() {
                continue;
            }
            let mut other = engine.clone();
            let removed = singleton_consistency(&mut engine, &Deadline::never());
            assert_eq!(removed.is_ok(), naive(&mut other).is_ok());
            if let Ok(removed) = removed {
                n_that_prune += u32::from(removed > 0);
                for &x in &vars {
                    assert_eq!(engine.domains().value_set(x), other.domains().value_set(x));
                }
            }
        }
        assert!(n_that_prune > 3, "too few networks where singleton consistency prunes");
    }
}

//! Two lists that are each other's inverse.

use crate::domains::{Conflict, Domains, VarId};
use crate::propagator::{Cost, Propagator, Pruning};
use crate::{Value, duplicate_by_clone};

/// `first[i] = j + start` exactly when `second[j] = i + start`. When the second list is longer,
/// only the implication from the first list to the second holds.
#[derive(Clone)]
pub struct Channel {
    /// The first list, then the second.
    scope: Vec<VarId>,
    n_first: usize,
    starts: [Value; 2],
}

impl Channel {
    /// Creates the constraint that the lists are inverse; values of one list are indexes of the
    /// other, counted from the start of that other list.
    ///
    /// # Panics
    /// When the first list is longer than the second.
    pub fn new(first: &[VarId], start_first: Value, second: &[VarId], start_second: Value) -> Self {
        assert!(first.len() <= second.len(), "the first list is longer than the second");
        let scope = [first, second].concat();
        Self { scope, n_first: first.len(), starts: [start_first, start_second] }
    }

    fn is_bijective(&self) -> bool {
        2 * self.n_first == self.scope.len()
    }

    /// Prunes one list by the domains of the other; `swapped` selects the second list.
    fn prune(&self, swapped: bool, domains: &mut Domains) -> Result<(), Conflict> {
        let (left, right) = self.scope.split_at(self.n_first);
        let (left, right, starts) = if swapped {
            (right, left, [self.starts[1], self.starts[0]])
        } else {
            (left, right, self.starts)
        };
        for (i, &x) in left.iter().enumerate() {
            let own = i as Value + starts[0];
            let mut next = Some(domains.index_bounds(x).0);
            while let Some(at) = next {
                next = domains.next_index(x, at + 1);
                let j = (domains.value_at(x, at) - starts[1]) as usize;
                if !domains.contains(right[j], own) {
                    domains.remove_index(x, at)?;
                }
            }
            if let Some(value) = domains.fixed_value(x) {
                domains.fix(right[(value - starts[1]) as usize], own)?;
            }
        }
        Ok(())
    }
}

impl Propagator for Channel {
    fn name(&self) -> &'static str {
        "channel"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let (first, second) = tuple.split_at(self.n_first);
        let inverts = |a: &[Value], b: &[Value], starts: [Value; 2]| {
            a.iter().enumerate().all(|(i, &value)| {
                let place = i64::from(value) - i64::from(starts[1]);
                usize::try_from(place)
                    .is_ok_and(|place| b.get(place) == Some(&(i as Value + starts[0])))
            })
        };
        inverts(first, second, self.starts)
            && (!self.is_bijective() || inverts(second, first, [self.starts[1], self.starts[0]]))
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let n_second = self.scope.len() - self.n_first;
        let sides =
            [(0..self.n_first, n_second, 1), (self.n_first..self.scope.len(), self.n_first, 0)];
        for (range, n_other, start) in sides {
            if start == 0 && !self.is_bijective() {
                continue;
            }
            for &x in &self.scope[range] {
                domains.at_least(x, self.starts[start])?;
                domains.at_most(x, self.starts[start] + n_other as Value - 1)?;
            }
        }
        self.prune(false, domains)?;
        if self.is_bijective() {
            self.prune(true, domains)?;
        }
        Ok(Pruning::MayPruneMore)
    }

    fn cost(&self) -> Cost {
        Cost::Quadratic
    }

    duplicate_by_clone!();
}

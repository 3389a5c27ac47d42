//! Dynamic backtracking: a dead end unassigns one variable and keeps the later ones.
//!
//! After Ginsberg, *Dynamic Backtracking*, 1993.

use std::collections::BTreeSet;

use super::{Step, Study};
use crate::domains::VarId;

impl Study<'_> {
    pub(super) fn dynamic_backtracking(&mut self) {
        let n = self.n();
        // By variable and value: the assigned variables that rule the value out.
        let mut reasons: Vec<Vec<Option<BTreeSet<usize>>>> =
            self.domains.iter().map(|domain| vec![None; domain.len()]).collect();
        let mut chosen = vec![0; n];
        let mut order: Vec<usize> = Vec::new();
        loop {
            // Step 1. A complete assignment is a solution; rule it out from now on.
            let Some(x) = (0..n).find(|&x| self.assignment[x].is_none()) else {
                if self.solution() || n == 0 {
                    return;
                }
                let last = *order.last().expect("all are assigned");
                let others = order[..n - 1].iter().copied().collect();
                self.unassign(last, &mut order, &mut reasons);
                reasons[last][chosen[last]] = Some(others);
                continue;
            };
            // Step 2. Try the first value that nothing rules out.
            let mut found = false;
            for (at, reason) in reasons[x].iter_mut().enumerate() {
                if reason.is_some() {
                    continue;
                }
                self.assignment[x] = Some(self.domains[x][at]);
                if self.tick() {
                    return;
                }
                match self.violated(x) {
                    Some(others) => {
                        *reason = Some(others.into_iter().collect());
                        self.report.n_conflicts += 1;
                    }
                    None => {
                        chosen[x] = at;
                        found = true;
                        break;
                    }
                }
            }
            if found {
                order.push(x);
                self.assigned(x, order.len());
                continue;
            }
            // Step 3. Unassign the latest variable that rules a value out.
            self.assignment[x] = None;
            let mut culprits: BTreeSet<usize> =
                reasons[x].iter().flatten().flatten().copied().collect();
            let Some(&culprit) = order.iter().rev().find(|y| culprits.contains(y)) else {
                return;
            };
            self.step(Step::WentBack(VarId::new(x), VarId::new(culprit)));
            culprits.remove(&culprit);
            self.unassign(culprit, &mut order, &mut reasons);
            reasons[culprit][chosen[culprit]] = Some(culprits);
        }
    }

    /// Unassigns a variable and forgets what it ruled out.
    fn unassign(
        &mut self,
        x: usize,
        order: &mut Vec<usize>,
        reasons: &mut [Vec<Option<BTreeSet<usize>>>],
    ) {
        self.assignment[x] = None;
        order.retain(|&y| y != x);
        for reason in reasons.iter_mut().flatten() {
            if reason.as_ref().is_some_and(|culprits| culprits.contains(&x)) {
                *reason = None;
            }
        }
    }
}

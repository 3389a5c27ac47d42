//! Searches that only look back: they differ in their checks and in how far they backtrack.
//!
//! Backjumping after Prosser, *Hybrid Algorithms for the Constraint Satisfaction Problem*,
//! 1993.

use std::collections::BTreeSet;

use super::{Method, Step, Study};
use crate::domains::VarId;

impl Study<'_> {
    /// Runs a method that only looks back.
    pub(super) fn look_back(&mut self, method: Method) {
        let n = self.n();
        let mut next_value = vec![0; n];
        // By variable: the earlier variables that helped to exclude one of its values.
        let mut culprits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        let mut x = 0;
        loop {
            // Step 1. A complete assignment is a solution; continue from the last variable.
            if x == n {
                let holds = method != Method::GenerateAndTest || self.all_covered_hold();
                if (holds && self.solution()) || n == 0 {
                    return;
                }
                x -= 1;
                culprits[x].extend(0..x);
                continue;
            }
            // Step 2. Try the next value that passes its checks.
            let mut found = false;
            while next_value[x] < self.domains[x].len() {
                let value = self.domains[x][next_value[x]];
                next_value[x] += 1;
                self.assignment[x] = Some(value);
                if self.tick() {
                    return;
                }
                let passes = match method {
                    Method::GenerateAndTest => true,
                    Method::Backtracking => self.all_covered_hold(),
                    _ => match self.violated(x) {
                        Some(others) => {
                            culprits[x].extend(others);
                            false
                        }
                        None => true,
                    },
                };
                if passes {
                    found = true;
                    self.assigned(x, x + 1);
                    break;
                }
                self.report.n_conflicts += 1;
            }
            if found {
                x += 1;
                continue;
            }
            // Step 3. Backtrack.
            self.assignment[x] = None;
            let target = match method {
                Method::Backjumping => culprits[x].last().copied(),
                _ => x.checked_sub(1),
            };
            let Some(target) = target else {
                return;
            };
            self.step(Step::WentBack(VarId::new(x), VarId::new(target)));
            let mut inherited = std::mem::take(&mut culprits[x]);
            inherited.remove(&target);
            for y in target + 1..=x {
                self.assignment[y] = None;
                next_value[y] = 0;
                culprits[y].clear();
            }
            culprits[target].extend(inherited);
            x = target;
        }
    }
}

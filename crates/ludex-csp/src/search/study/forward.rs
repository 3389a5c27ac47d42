//! Forward checking: each assignment removes inconsistent values from later variables.
//!
//! After Haralick and Elliott, *Increasing Tree Search Efficiency for Constraint Satisfaction
//! Problems*, 1980. A constraint on more than two variables prunes when only one of its
//! variables is unassigned.

use super::{Step, Study};
use crate::domains::VarId;
use crate::search::VariableOrder;

impl Study<'_> {
    pub(super) fn forward_checking(&mut self) {
        let n = self.n();
        let mut ahead = Ahead {
            is_pruned: self.domains.iter().map(|domain| vec![false; domain.len()]).collect(),
            n_left: self.domains.iter().map(Vec::len).collect(),
            pruned_by: vec![Vec::new(); n],
            weights: vec![1; self.checks.len()],
        };
        let mut next_value = vec![0; n];
        let mut path: Vec<usize> = Vec::new();
        let mut current = self.next_variable(&ahead);
        loop {
            // Step 1. A complete assignment is a solution; continue from the last variable.
            let Some(x) = current else {
                if self.solution() || n == 0 {
                    return;
                }
                current = path.pop();
                continue;
            };
            // Step 2. Try the next value that leaves every later variable a value.
            let mut found = false;
            while !found && next_value[x] < self.domains[x].len() {
                ahead.restore(x);
                let at = next_value[x];
                next_value[x] += 1;
                if ahead.is_pruned[x][at] {
                    continue;
                }
                self.assignment[x] = Some(self.domains[x][at]);
                if self.tick() {
                    return;
                }
                found = self.holds_alone(x) && self.prune_ahead(x, &mut ahead);
                self.report.n_conflicts += u64::from(!found);
            }
            if found {
                path.push(x);
                self.assigned(x, path.len());
                current = self.next_variable(&ahead);
                continue;
            }
            // Step 3. Backtrack.
            ahead.restore(x);
            self.assignment[x] = None;
            next_value[x] = 0;
            let Some(last) = path.pop() else {
                return;
            };
            self.step(Step::WentBack(VarId::new(x), VarId::new(last)));
            current = Some(last);
        }
    }

    /// Returns the unassigned variable that is next in the order; ties go to the first.
    fn next_variable(&self, ahead: &Ahead) -> Option<usize> {
        let open = (0..self.n()).filter(|&x| self.assignment[x].is_none());
        let has_other = |x: usize, c: usize| {
            self.scopes[c].iter().any(|&y| y != x && self.assignment[y].is_none())
        };
        let degree = |x: usize| -> u64 {
            let checks = self.checks_of[x].iter();
            match self.config.order {
                VariableOrder::DomDeg => checks.count() as u64,
                VariableOrder::DomDdeg => checks.filter(|&&c| has_other(x, c)).count() as u64,
                VariableOrder::DomWdeg => {
                    checks.filter(|&&c| has_other(x, c)).map(|&c| ahead.weights[c]).sum()
                }
                _ => 1,
            }
        };
        let size = |x: usize| match self.config.order {
            VariableOrder::Lexicographic => 1.0,
            _ => ahead.n_left[x] as f64,
        };
        let key = |x: usize| size(x) / (degree(x) as f64).max(0.5);
        open.map(|x| (key(x), x)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, x)| x)
    }

    /// Whether the unary constraints on `x` hold; the others have pruned it already.
    fn holds_alone(&mut self, x: usize) -> bool {
        (0..self.checks_of[x].len()).all(|at| {
            let c = self.checks_of[x][at];
            self.scopes[c].len() > 1 || self.check(c) != Some(false)
        })
    }

    /// Prunes each variable that is the only unassigned one in a constraint with `x`; returns
    /// false when a domain becomes empty.
    fn prune_ahead(&mut self, x: usize, ahead: &mut Ahead) -> bool {
        for list_at in 0..self.checks_of[x].len() {
            let c = self.checks_of[x][list_at];
            let mut open = self.scopes[c].iter().filter(|&&y| self.assignment[y].is_none());
            let (Some(&y), None) = (open.next(), open.next()) else {
                continue;
            };
            for at in 0..self.domains[y].len() {
                if !ahead.is_pruned[y][at] && self.report.stopped.is_none() {
                    self.assignment[y] = Some(self.domains[y][at]);
                    if self.check(c) == Some(false) {
                        ahead.prune(x, y, at);
                    }
                }
            }
            self.assignment[y] = None;
            if ahead.n_left[y] == 0 {
                ahead.weights[c] += 1;
                return false;
            }
        }
        true
    }
}

/// The state of the variables ahead.
struct Ahead {
    /// By variable and value: whether an assignment has removed the value.
    is_pruned: Vec<Vec<bool>>,
    /// By variable: the number of values left.
    n_left: Vec<usize>,
    /// By variable: the values that its assignment has removed.
    pruned_by: Vec<Vec<(usize, usize)>>,
    /// By check: one more than the number of domains it has emptied.
    weights: Vec<u64>,
}

impl Ahead {
    /// Records that the value of `x` removes a value of `y`.
    fn prune(&mut self, x: usize, y: usize, at: usize) {
        self.is_pruned[y][at] = true;
        self.n_left[y] -= 1;
        self.pruned_by[x].push((y, at));
    }

    /// Restores the values that the assignment of `x` has removed.
    fn restore(&mut self, x: usize) {
        for (y, at) in self.pruned_by[x].drain(..) {
            self.is_pruned[y][at] = false;
            self.n_left[y] += 1;
        }
    }
}

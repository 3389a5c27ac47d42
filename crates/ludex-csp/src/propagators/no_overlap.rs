//! Tasks on one machine, and boxes with disjoint interiors.

use super::tasks::{Edges, Task, both_ways};
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// Tasks with a start and a length, of which no two overlap.
///
/// Overload checking and edge finding in quadratic time, after Nuijten, *Time and Resource
/// Constrained Scheduling*, 1994, with precedences decided by pairs of tasks. When zeros are
/// ignored, a task of length 0 overlaps nothing; otherwise it may not lie strictly inside
/// another.
#[derive(Clone)]
pub struct NoOverlap {
    /// The starts, then the lengths.
    scope: Vec<VarId>,
    ignores_zeros: bool,
}

impl NoOverlap {
    /// Creates the constraint that tasks don't overlap.
    ///
    /// # Panics
    /// When the lists have different lengths.
    pub fn new(starts: &[VarId], lengths: &[VarId], ignores_zeros: bool) -> Self {
        assert_eq!(starts.len(), lengths.len(), "the lists have different lengths");
        Self { scope: [starts, lengths].concat(), ignores_zeros }
    }

    fn n_tasks(&self) -> usize {
        self.scope.len() / 2
    }

    /// Raises the earliest starts of tasks that must come after a set of others.
    fn edge_find(&self, is_mirrored: bool, domains: &mut Domains) -> Result<bool, Conflict> {
        let (starts, lengths) = self.scope.split_at(self.n_tasks());
        let mut edges = Edges::new(Task::certain(starts, lengths, None, is_mirrored, domains));
        let n = edges.tasks.len();
        // By position: the work of the tasks from here on that end by the deadline, and their
        // earliest possible end.
        let mut work = vec![0; n];
        let mut done = vec![i64::MIN; n];
        for deadline in edges.deadlines.clone() {
            let (mut total, mut finish) = (0, i64::MIN);
            for (place, task) in edges.tasks.iter().enumerate().rev() {
                if task.latest_end <= deadline {
                    total += task.length;
                    finish = finish.max(task.earliest_start + total);
                    if task.earliest_start + total > deadline {
                        return Err(Conflict);
                    }
                }
                work[place] = total;
                done[place] = finish;
            }
            let (mut best, mut best_done) = (i64::MIN, i64::MIN);
            for place in 0..n {
                let task = edges.tasks[place];
                if work[place] > 0 && task.earliest_start + work[place] > best {
                    best = task.earliest_start + work[place];
                    best_done = done[place];
                }
                if task.latest_end <= deadline {
                    continue;
                }
                if best > i64::MIN && best + task.length > deadline {
                    edges.raise(place, best_done);
                }
                if work[place] > 0 && task.earliest_start + task.length + work[place] > deadline {
                    edges.raise(place, done[place]);
                }
            }
        }
        edges.prune(domains)
    }

    /// Orders pairs of tasks: when one can't be first, the other is.
    fn precede_pairs(&self, domains: &mut Domains) -> Result<bool, Conflict> {
        let n = self.n_tasks();
        let mut is_reduced = false;
        for i in 0..n {
            for j in i + 1..n {
                let lengths = [i, j].map(|at| i64::from(domains.min(self.scope[n + at])));
                // A pair is constrained only when both tasks certainly take time.
                if self.ignores_zeros && lengths.contains(&0) {
                    continue;
                }
                let starts = [self.scope[i], self.scope[j]];
                let can_be_first = [(0, 1), (1, 0)].map(|(a, b): (usize, usize)| {
                    i64::from(domains.min(starts[a])) + lengths[a]
                        <= i64::from(domains.max(starts[b]))
                });
                let (a, b) = match can_be_first {
                    [true, true] => continue,
                    [false, false] => return Err(Conflict),
                    [true, false] => (0, 1),
                    [false, true] => (1, 0),
                };
                let (x, y) = (starts[a], starts[b]);
                is_reduced |= domains.at_least_wide(y, i64::from(domains.min(x)) + lengths[a])?;
                is_reduced |= domains.at_most_wide(x, i64::from(domains.max(y)) - lengths[a])?;
                let length = self.scope[n + if a == 0 { i } else { j }];
                let room = i64::from(domains.max(y)) - i64::from(domains.min(x));
                is_reduced |= domains.at_most_wide(length, room)?;
            }
        }
        Ok(is_reduced)
    }
}

/// Whether the interiors of two intervals are disjoint.
fn are_apart(a: (i64, i64), b: (i64, i64), ignores_zeros: bool) -> bool {
    (ignores_zeros && (a.1 == 0 || b.1 == 0)) || a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0
}

impl Propagator for NoOverlap {
    fn name(&self) -> &'static str {
        "no overlap"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let n = self.n_tasks();
        let task = |i: usize| (i64::from(tuple[i]), i64::from(tuple[n + i]));
        (0..n).all(|i| (0..i).all(|j| are_apart(task(i), task(j), self.ignores_zeros)))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(&self.scope, Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let n = self.n_tasks();
        for &length in &self.scope[n..] {
            domains.at_least(length, 0)?;
        }
        let mut is_reduced = self.precede_pairs(domains)?;
        is_reduced |= both_ways(|is_mirrored| self.edge_find(is_mirrored, domains))?;
        Ok(Pruning::after(is_reduced))
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}

/// Two boxes that are separated in at least one dimension.
#[derive(Clone)]
pub struct DisjointBoxes {
    /// Start and length of the first box by dimension, then of the second.
    scope: Vec<VarId>,
    n_dimensions: usize,
    ignores_zeros: bool,
}

impl DisjointBoxes {
    /// Creates the constraint that two boxes, each a list of starts and lengths, have disjoint
    /// interiors.
    ///
    /// # Panics
    /// When the boxes have different dimensions.
    pub fn new(first: &[(VarId, VarId)], second: &[(VarId, VarId)], ignores_zeros: bool) -> Self {
        assert_eq!(first.len(), second.len(), "the boxes have different dimensions");
        let scope =
            first.iter().chain(second).flat_map(|&(start, length)| [start, length]).collect();
        Self { scope, n_dimensions: first.len(), ignores_zeros }
    }

    fn side(&self, which: usize, dimension: usize) -> (VarId, VarId) {
        let at = 2 * (which * self.n_dimensions + dimension);
        (self.scope[at], self.scope[at + 1])
    }
}

impl Propagator for DisjointBoxes {
    fn name(&self) -> &'static str {
        "disjoint boxes"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let (first, second) = tuple.split_at(2 * self.n_dimensions);
        let side = |of: &[Value], k: usize| (i64::from(of[2 * k]), i64::from(of[2 * k + 1]));
        let has_zero = tuple.iter().skip(1).step_by(2).any(|&length| length == 0);
        (self.ignores_zeros && has_zero)
            || (0..self.n_dimensions).any(|k| are_apart(side(first, k), side(second, k), false))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(&self.scope, Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        for &length in self.scope.iter().skip(1).step_by(2) {
            domains.at_least(length, 0)?;
        }
        let may_vanish =
            self.scope.iter().skip(1).step_by(2).any(|&length| domains.min(length) == 0);
        if self.ignores_zeros && may_vanish {
            let vanishes =
                self.scope.iter().skip(1).step_by(2).any(|&l| domains.fixed_value(l) == Some(0));
            if vanishes {
                return Ok(Pruning::Entailed);
            }
            return Ok(Pruning::Fixpoint);
        }
        // When only one separation is possible, it is enforced.
        let mut possible = None;
        for dimension in 0..self.n_dimensions {
            for which in 0..2 {
                let (x, length) = self.side(which, dimension);
                let (y, _) = self.side(1 - which, dimension);
                let least_end = i64::from(domains.min(x)) + i64::from(domains.min(length));
                let greatest_end = i64::from(domains.max(x)) + i64::from(domains.max(length));
                if greatest_end <= i64::from(domains.min(y)) {
                    return Ok(Pruning::Entailed);
                }
                if least_end <= i64::from(domains.max(y)) {
                    if possible.is_some() {
                        return Ok(Pruning::Fixpoint);
                    }
                    possible = Some((x, length, y));
                }
            }
        }
        let (x, length, y) = possible.ok_or(Conflict)?;
        domains.at_least_wide(y, i64::from(domains.min(x)) + i64::from(domains.min(length)))?;
        domains.at_most_wide(x, i64::from(domains.max(y)) - i64::from(domains.min(length)))?;
        domains.at_most_wide(length, i64::from(domains.max(y)) - i64::from(domains.min(x)))?;
        Ok(Pruning::Fixpoint)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    duplicate_by_clone!();
}

//! Tasks that share a resource.
//!
//! Time-tabling: the certain parts of tasks form a profile, and a task can't lie where it would
//! exceed the limit. Edge finding: when a set of tasks and one more need more energy than there
//! is before the deadline of the set, the one ends after the set. The updates of edge finding
//! use sets of tasks with the same deadline, which is sound but weaker than the full rule; for
//! that see Vilím, *Edge Finding Filtering Algorithm for Discrete Cumulative Resources in O(kn
//! log n)*, CP 2009.

use super::tasks::{Edges, Task, both_ways};
use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// At every time the heights of the running tasks sum to at most the limit.
#[derive(Clone)]
pub struct Cumulative {
    /// The starts, the lengths, the heights, then the limit.
    scope: Vec<VarId>,
    n: usize,
}

impl Cumulative {
    /// Creates the constraint on tasks given by starts, lengths and heights.
    ///
    /// # Panics
    /// When the lists have different lengths. The caller must ensure that the product of total
    /// time and total resource fits in 62 bits.
    pub fn new(starts: &[VarId], lengths: &[VarId], heights: &[VarId], limit: VarId) -> Self {
        assert!(
            starts.len() == lengths.len() && starts.len() == heights.len(),
            "the lists have different lengths"
        );
        let scope = [starts, lengths, heights, &[limit]].concat();
        Self { scope, n: starts.len() }
    }

    fn limit(&self) -> VarId {
        self.scope[3 * self.n]
    }

    fn tasks(&self, is_mirrored: bool, domains: &Domains) -> Vec<Task> {
        let (starts, rest) = self.scope.split_at(self.n);
        let (lengths, heights) = rest.split_at(self.n);
        Task::certain(starts, lengths, Some(heights), is_mirrored, domains)
    }

    /// Returns the certain parts as a step function: the height from each time on. Its maximum
    /// is the least limit that fits them.
    fn profile(tasks: &[Task]) -> Vec<(i64, i64)> {
        let mut steps: Vec<(i64, i64)> = Vec::with_capacity(2 * tasks.len());
        for task in tasks {
            let (from, to) = (task.latest_end - task.length, task.earliest_start + task.length);
            if from < to {
                steps.push((from, task.height));
                steps.push((to, -task.height));
            }
        }
        steps.sort_unstable();
        let mut profile: Vec<(i64, i64)> = Vec::with_capacity(steps.len());
        let mut height = 0;
        for (time, change) in steps {
            height += change;
            match profile.last_mut() {
                Some(last) if last.0 == time => last.1 = height,
                _ => profile.push((time, height)),
            }
        }
        profile
    }

    /// Moves tasks out of the peaks of the profile.
    fn time_table(&self, domains: &mut Domains) -> Result<bool, Conflict> {
        let mut is_reduced = false;
        for is_mirrored in [false, true] {
            let tasks = self.tasks(is_mirrored, domains);
            let profile = Self::profile(&tasks);
            let peak = profile.iter().map(|step| step.1).max().unwrap_or(0);
            is_reduced |= domains.at_least_wide(self.limit(), peak)?;
            let limit = i64::from(domains.max(self.limit()));
            for task in &tasks {
                if peak + task.height <= limit {
                    continue;
                }
                let (from, to) = (task.latest_end - task.length, task.earliest_start + task.length);
                let mut start = task.earliest_start;
                let first = profile.partition_point(|step| step.0 <= start).saturating_sub(1);
                for (at, &(time, height)) in profile.iter().enumerate().skip(first) {
                    if time >= start + task.length {
                        break;
                    }
                    let end = profile.get(at + 1).map_or(i64::MAX, |next| next.0);
                    // A step lies entirely inside or outside the task's own certain part.
                    let own = if from <= time && end <= to { task.height } else { 0 };
                    if end > start && height - own + task.height > limit {
                        start = end;
                    }
                }
                is_reduced |= task.raise(start, domains)?;
            }
        }
        Ok(is_reduced)
    }

    /// Checks for overload, and delays tasks that must end after a set of others.
    fn edge_find(&self, is_mirrored: bool, domains: &mut Domains) -> Result<bool, Conflict> {
        let mut edges = Edges::new(self.tasks(is_mirrored, domains));
        // A limit beyond the demand of all tasks is no limit, and could overflow.
        let all_heights = edges.tasks.iter().map(|task| task.height).sum();
        let capacity = i64::from(domains.max(self.limit())).min(all_heights);
        let n = edges.tasks.len();
        let mut energy = vec![0; n];
        for deadline in edges.deadlines.clone() {
            // Step 1. By position: the energy of the tasks from here on that end by the
            // deadline.
            let mut total = 0;
            for (place, task) in edges.tasks.iter().enumerate().rev() {
                if task.latest_end <= deadline {
                    total += task.energy();
                    if total > capacity * (deadline - task.earliest_start) {
                        return Err(Conflict);
                    }
                }
                energy[place] = total;
            }
            if total == 0 {
                continue;
            }
            // Step 2. A task that doesn't fit beside such a set ends after it.
            let (mut best, mut best_place) = (i64::MIN, 0);
            for place in 0..n {
                let task = edges.tasks[place];
                if energy[place] > 0 && capacity * task.earliest_start + energy[place] > best {
                    best = capacity * task.earliest_start + energy[place];
                    best_place = place;
                }
                if task.latest_end <= deadline {
                    continue;
                }
                let around = best > i64::MIN && best + task.energy() > capacity * deadline;
                let inside = energy[place] > 0
                    && capacity * task.earliest_start + energy[place] + task.energy()
                        > capacity * deadline;
                let Some(first) = [(around, best_place), (inside, place)]
                    .into_iter()
                    .filter_map(|(is_so, place)| is_so.then_some(place))
                    .min()
                else {
                    continue;
                };
                // Step 3. The energy of the set that doesn't fit beside the task is spent
                // before the task starts.
                for (from, &energy) in energy.iter().enumerate().skip(first) {
                    let start = edges.tasks[from].earliest_start;
                    let rest = energy - (capacity - task.height) * (deadline - start);
                    if energy > 0 && rest > 0 {
                        let new_start = start
                            + rest.div_euclid(task.height)
                            + i64::from(rest.rem_euclid(task.height) != 0);
                        edges.raise(place, new_start);
                    }
                }
            }
        }
        edges.prune(domains)
    }
}

impl Propagator for Cumulative {
    fn name(&self) -> &'static str {
        "cumulative"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        let value = |at: usize| i64::from(tuple[at]);
        let (n, limit) = (self.n, value(3 * self.n));
        // The demand rises only where a task starts.
        (0..n).all(|i| {
            let time = value(i);
            let running = (0..n).filter(|&j| value(j) <= time && time < value(j) + value(n + j));
            running.map(|j| value(2 * n + j)).sum::<i64>() <= limit
        }) && tuple[n..].iter().all(|&v| v >= 0)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        setup.subscribe_all(&self.scope, Events::BOUNDS);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        for &x in &self.scope[self.n..] {
            domains.at_least(x, 0)?;
        }
        let mut is_reduced = self.time_table(domains)?;
        if !is_reduced {
            is_reduced = both_ways(|is_mirrored| self.edge_find(is_mirrored, domains))?;
        }
        Ok(Pruning::after(is_reduced))
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}

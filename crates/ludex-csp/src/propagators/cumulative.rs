//! Tasks that share a resource.
//!
//! Time-tabling: the parts of tasks that are certain make a profile, and a task can't lie
//! where it would break through the limit. Edge finding: when a set of tasks and one more
//! need more energy than there is before the deadline of the set, the one ends after it.
//! The updates of edge finding use sets of tasks with the same deadline, which is sound and
//! weaker than the full rule; see Vilím, *Edge Finding Filtering Algorithm for Discrete
//! Cumulative Resources in O(kn log n)*, CP 2009, for that.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, duplicate_by_clone};

/// At every moment the heights of the tasks that run add up to at most the limit.
#[derive(Clone)]
pub struct Cumulative {
    /// The starts, the lengths, the heights, then the limit.
    scope: Vec<VarId>,
    n: usize,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    var: usize,
    earliest_start: i64,
    latest_end: i64,
    length: i64,
    height: i64,
}

impl Task {
    fn energy(&self) -> i64 {
        self.length * self.height
    }
}

impl Cumulative {
    /// The constraint on tasks given by starts, lengths and heights.
    ///
    /// # Panics
    /// When the lists have different lengths.
    pub fn new(starts: &[VarId], lengths: &[VarId], heights: &[VarId], limit: VarId) -> Self {
        assert!(starts.len() == lengths.len() && starts.len() == heights.len(), "one of each");
        let scope = [starts, lengths, heights, &[limit]].concat();
        Self { scope, n: starts.len() }
    }

    fn limit(&self) -> VarId {
        self.scope[3 * self.n]
    }

    /// The tasks that take time and resource for sure; `mirrored` turns time around.
    fn tasks(&self, mirrored: bool, domains: &Domains) -> Vec<Task> {
        (0..self.n)
            .filter_map(|var| {
                let start = self.scope[var];
                let length = i64::from(domains.min(self.scope[self.n + var]));
                let height = i64::from(domains.min(self.scope[2 * self.n + var]));
                let (lo, hi) = (i64::from(domains.min(start)), i64::from(domains.max(start)));
                let (earliest_start, latest_end) =
                    if mirrored { (-hi - length, -lo) } else { (lo, hi + length) };
                (length > 0 && height > 0).then_some(Task {
                    var,
                    earliest_start,
                    latest_end,
                    length,
                    height,
                })
            })
            .collect()
    }

    fn raise(
        &self,
        task: &Task,
        to: i64,
        mirrored: bool,
        domains: &mut Domains,
    ) -> Result<bool, Conflict> {
        let start = self.scope[task.var];
        if mirrored {
            domains.at_most_wide(start, -to - task.length)
        } else {
            domains.at_least_wide(start, to)
        }
    }

    /// The certain parts as a step function: from each time on, the height. Also the least
    /// limit that fits them.
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
        for mirrored in [false, true] {
            let tasks = self.tasks(mirrored, domains);
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
                    // A step lies wholly inside or outside the task's own certain part.
                    let own = if from <= time && end <= to { task.height } else { 0 };
                    if end > start && height - own + task.height > limit {
                        start = end;
                    }
                }
                is_reduced |= self.raise(task, start, mirrored, domains)?;
            }
        }
        Ok(is_reduced)
    }

    /// Overload checking, and tasks that end after a set of others start later.
    fn edge_find(&self, mirrored: bool, domains: &mut Domains) -> Result<bool, Conflict> {
        let capacity = i64::from(domains.max(self.limit()));
        let mut tasks = self.tasks(mirrored, domains);
        tasks.sort_unstable_by_key(|task| (task.earliest_start, task.var));
        let mut deadlines: Vec<i64> = tasks.iter().map(|task| task.latest_end).collect();
        deadlines.sort_unstable();
        deadlines.dedup();
        let mut new_starts: Vec<i64> = tasks.iter().map(|task| task.earliest_start).collect();
        let mut energy = vec![0; tasks.len()];
        for &deadline in &deadlines {
            // Step 1. Energy of the tasks from each place on that end by the deadline.
            let mut total = 0;
            for place in (0..tasks.len()).rev() {
                let task = &tasks[place];
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
            // Step 2. Tasks that don't fit beside such a set end after it.
            let (mut best, mut best_place) = (i64::MIN, 0);
            for (place, task) in tasks.iter().enumerate() {
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
                // Step 3. What the set can't do beside the task is done before it starts.
                for from in first..tasks.len() {
                    let start = tasks[from].earliest_start;
                    let rest = energy[from] - (capacity - task.height) * (deadline - start);
                    if energy[from] > 0 && rest > 0 {
                        let new_start = start
                            + rest.div_euclid(task.height)
                            + i64::from(rest.rem_euclid(task.height) != 0);
                        new_starts[place] = new_starts[place].max(new_start);
                    }
                }
            }
        }
        let mut is_reduced = false;
        for (task, &new_start) in tasks.iter().zip(&new_starts) {
            is_reduced |= self.raise(task, new_start, mirrored, domains)?;
        }
        Ok(is_reduced)
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
        // The use rises only where a task starts.
        (0..n).all(|i| {
            let time = value(i);
            let running = (0..n).filter(|&j| value(j) <= time && time < value(j) + value(n + j));
            running.map(|j| value(2 * n + j)).sum::<i64>() <= limit
        }) && tuple[n..].iter().all(|&v| v >= 0)
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        for &x in &self.scope {
            setup.subscribe(x, Events::BOUNDS);
        }
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        for &x in &self.scope[self.n..] {
            domains.at_least(x, 0)?;
        }
        loop {
            let mut is_reduced = self.time_table(domains)?;
            if !is_reduced {
                is_reduced |= self.edge_find(false, domains)?;
                is_reduced |= self.edge_find(true, domains)?;
            }
            if !is_reduced {
                return Ok(Pruning::Fixpoint);
            }
        }
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    duplicate_by_clone!();
}

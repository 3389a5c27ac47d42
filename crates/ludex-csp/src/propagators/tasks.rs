//! What is known of tasks that share something, for no-overlap and cumulative.

use crate::domains::{Conflict, Domains, VarId};

/// A task as far as it is known, perhaps with time turned around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    start: VarId,
    is_mirrored: bool,
    pub earliest_start: i64,
    pub latest_end: i64,
    pub length: i64,
    /// How much of the resource it takes; 1 where that is all there is.
    pub height: i64,
}

impl Task {
    /// The tasks that take time and resource for sure; `is_mirrored` turns time around, so
    /// that what is said of earliest starts holds of latest ends.
    pub fn certain(
        starts: &[VarId],
        lengths: &[VarId],
        heights: Option<&[VarId]>,
        is_mirrored: bool,
        domains: &Domains,
    ) -> Vec<Task> {
        let least = |x: VarId| i64::from(domains.min(x));
        let task = |(at, &start): (usize, &VarId)| {
            let length = least(lengths[at]);
            let height = heights.map_or(1, |heights| least(heights[at]));
            let (lo, hi) = (least(start), i64::from(domains.max(start)));
            let (earliest_start, latest_end) =
                if is_mirrored { (-hi - length, -lo) } else { (lo, hi + length) };
            (length > 0 && height > 0).then_some(Task {
                start,
                is_mirrored,
                earliest_start,
                latest_end,
                length,
                height,
            })
        };
        starts.iter().enumerate().filter_map(task).collect()
    }

    /// Time by resource.
    pub fn energy(&self) -> i64 {
        self.length * self.height
    }

    /// The task starts at this time or later.
    pub fn raise(&self, to: i64, domains: &mut Domains) -> Result<bool, Conflict> {
        if self.is_mirrored {
            // A task that fits nowhere is raised to the end of time.
            domains.at_most_wide(self.start, to.saturating_neg().saturating_sub(self.length))
        } else {
            domains.at_least_wide(self.start, to)
        }
    }
}

/// Tasks in the order of their earliest starts, and what a pass of edge finding needs of
/// them.
pub(super) struct Edges {
    pub tasks: Vec<Task>,
    /// The latest ends, each once, the first first.
    pub deadlines: Vec<i64>,
    /// By task: how early it starts after the pass.
    pub new_starts: Vec<i64>,
}

impl Edges {
    pub fn new(mut tasks: Vec<Task>) -> Self {
        tasks.sort_unstable_by_key(|task| (task.earliest_start, task.start));
        let mut deadlines: Vec<i64> = tasks.iter().map(|task| task.latest_end).collect();
        deadlines.sort_unstable();
        deadlines.dedup();
        let new_starts = tasks.iter().map(|task| task.earliest_start).collect();
        Self { tasks, deadlines, new_starts }
    }

    /// A task starts at this time or later.
    pub fn raise(&mut self, place: usize, to: i64) {
        self.new_starts[place] = self.new_starts[place].max(to);
    }

    /// Prunes what the pass has found.
    pub fn prune(&self, domains: &mut Domains) -> Result<bool, Conflict> {
        let mut is_reduced = false;
        for (task, &new_start) in self.tasks.iter().zip(&self.new_starts) {
            is_reduced |= task.raise(new_start, domains)?;
        }
        Ok(is_reduced)
    }
}

//! Tasks on a shared resource, for no-overlap and cumulative.

use crate::domains::{Conflict, Domains, VarId};

/// The bounds of a task, possibly with time reversed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    start: VarId,
    is_mirrored: bool,
    pub earliest_start: i64,
    pub latest_end: i64,
    pub length: i64,
    /// The demand on the resource; 1 for a resource of capacity 1.
    pub height: i64,
}

impl Task {
    /// Returns the tasks that certainly take time and resource. `is_mirrored` reverses time, so
    /// that reasoning about earliest starts applies to latest ends.
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

    /// Returns length times height.
    pub fn energy(&self) -> i64 {
        self.length * self.height
    }

    /// Requires the task to start at this time or later.
    pub fn raise(&self, to: i64, domains: &mut Domains) -> Result<bool, Conflict> {
        if self.is_mirrored {
            // A task that fits nowhere is raised to the end of time, so the bound may saturate.
            domains.at_most_wide(self.start, to.saturating_neg().saturating_sub(self.length))
        } else {
            domains.at_least_wide(self.start, to)
        }
    }
}

/// Runs a pass of edge finding forward and with time reversed; returns whether either pruned.
pub(super) fn both_ways(
    mut pass: impl FnMut(bool) -> Result<bool, Conflict>,
) -> Result<bool, Conflict> {
    let is_reduced = pass(false)?;
    Ok(pass(true)? || is_reduced)
}

/// Tasks in the order of their earliest starts, with the data of one pass of edge finding.
pub(super) struct Edges {
    pub tasks: Vec<Task>,
    /// The latest ends, ascending and distinct.
    pub deadlines: Vec<i64>,
    /// By task: its earliest start after the pass.
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

    /// Records that a task starts at this time or later.
    pub fn raise(&mut self, place: usize, to: i64) {
        self.new_starts[place] = self.new_starts[place].max(to);
    }

    /// Applies the bounds that the pass has found.
    pub fn prune(&self, domains: &mut Domains) -> Result<bool, Conflict> {
        let mut is_reduced = false;
        for (task, &new_start) in self.tasks.iter().zip(&self.new_starts) {
            is_reduced |= task.raise(new_start, domains)?;
        }
        Ok(is_reduced)
    }
}

//! Restart policies.

/// The number of conflicts after which the search restarts from the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restarts {
    /// Never.
    Never,
    /// After 1, 1, 2, 1, 1, 2, 4, 1, … times the unit.
    Luby {
        /// Conflicts of the shortest run.
        unit: u64,
    },
    /// After the first number, then each time after this percentage of the previous number.
    Geometric {
        /// Conflicts of the first run.
        first: u64,
        /// Growth from run to run; more than 100 for the search to be complete.
        percent: u64,
    },
}

impl Restarts {
    /// The policies with their names in options and good default numbers.
    pub const ALL: [(&'static str, Restarts); 3] = [
        ("never", Restarts::Never),
        ("luby", Restarts::Luby { unit: 100 }),
        ("geometric", Restarts::Geometric { first: 10, percent: 110 }),
    ];

    /// Returns the largest number of conflicts of run number `run`, counted from 0.
    pub(super) fn cutoff(self, run: u64) -> u64 {
        match self {
            Restarts::Never => u64::MAX,
            Restarts::Luby { unit } => unit.saturating_mul(luby(run + 1)),
            Restarts::Geometric { first, percent } => {
                let growth = (percent as f64 / 100.0).powi(i32::try_from(run).unwrap_or(i32::MAX));
                let cutoff = first as f64 * growth;
                if cutoff >= u64::MAX as f64 { u64::MAX } else { cutoff as u64 }
            }
        }
    }
}

/// Returns element `i` of the sequence of Luby, Sinclair and Zuckerman, counted from 1.
fn luby(i: u64) -> u64 {
    let k = u64::BITS - i.leading_zeros();
    if i == (1 << k) - 1 { 1 << (k - 1) } else { luby(i - (1 << (k - 1)) + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luby_is_luby() {
        let first: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    #[test]
    fn geometric_runs_grow_without_end() {
        let restarts = Restarts::Geometric { first: 10, percent: 150 };
        assert_eq!([0, 1, 2].map(|run| restarts.cutoff(run)), [10, 15, 22]);
        assert_eq!(restarts.cutoff(100_000), u64::MAX);
    }
}

//! The answer of every solver.

use ludex_base::StopReason;

/// Whether a solution exists: an assignment that satisfies a network, a strategy that wins a
/// quantified model, or a policy that reaches the thresholds of a stochastic network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// A solution exists.
    True,
    /// No solution exists.
    False,
    /// The search stopped before it had an answer.
    Unknown(StopReason),
}

impl Verdict {
    /// Returns `true`, `false` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::True => "true",
            Verdict::False => "false",
            Verdict::Unknown(_) => "unknown",
        }
    }
}

impl From<bool> for Verdict {
    fn from(is_true: bool) -> Self {
        if is_true { Verdict::True } else { Verdict::False }
    }
}

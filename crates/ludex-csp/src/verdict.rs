//! The answer of every solver.

use ludex_base::StopReason;

/// Whether what was asked for exists: a solution of a network, a strategy that wins a quantified
/// model, a policy that reaches the thresholds of a stochastic network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// There is one.
    True,
    /// There is none.
    False,
    /// The search stopped before it knew.
    Unknown(StopReason),
}

impl Verdict {
    /// `true`, `false` or `unknown`.
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

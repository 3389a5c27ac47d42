//! The options of the solver, and its report.

use std::time::Duration;

use ludex_base::{Deadline, StopReason};
use ludex_csp::Verdict;

use crate::network::Rational;
use crate::policy::Policy;

/// The options of [`solve`](crate::solve()).
#[derive(Clone, Debug)]
pub struct SolveConfig {
    /// The kind of policy to search for.
    pub aim: Aim,
    /// The method that excludes values.
    pub method: Method,
    /// The arithmetic of probabilities.
    pub arithmetic: Arithmetic,
    /// Whether to enforce stochastic arc consistency on the domains of decisions first.
    pub consistency: bool,
    /// Whether to remember the values of subproblems, in at most half of the bytes.
    pub remembers: bool,
    /// The maximal number of bytes for policies, including those only tried, and the same for lists
    /// of values and of outcomes.
    pub policy_bytes: usize,
    /// The maximal number of nodes.
    pub max_nodes: u64,
    /// The deadline. It is checked every 1,024 nodes or drawn values, and inside propagation.
    pub deadline: Deadline,
}

impl Default for SolveConfig {
    fn default() -> Self {
        Self {
            aim: Aim::Threshold,
            method: Method::ForwardChecking,
            arithmetic: Arithmetic::Floating,
            consistency: false,
            remembers: true,
            policy_bytes: 256 << 20,
            max_nodes: u64::MAX,
            deadline: Deadline::never(),
        }
    }
}

impl SolveConfig {
    /// Returns the default options with [`Aim::Best`].
    pub fn best() -> Self {
        Self { aim: Aim::Best, ..Self::default() }
    }
}

/// The kind of policy to search for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aim {
    /// A policy that reaches every threshold.
    Threshold,
    /// Without a utility, the policy of greatest satisfaction among those that reach the thresholds
    /// of single constraints. With one, the policy of greatest expected utility among those that
    /// reach every threshold.
    Best,
}

/// The method that excludes values during the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Stochastic backtracking (SSBT): checks a constraint when its variables have values.
    Backtracking,
    /// Stochastic forward checking (SFC): a constraint with one open variable filters its values,
    /// and the remaining ones bound the satisfaction.
    ForwardChecking,
    /// As forward checking, but propagates all constraints after each value.
    Propagation,
}

impl Method {
    /// All methods with their names in options.
    pub const ALL: [(&'static str, Method); 3] = [
        ("ssbt", Method::Backtracking),
        ("sfc", Method::ForwardChecking),
        ("mac", Method::Propagation),
    ];
}

/// The arithmetic of probabilities.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// Floating point, with the error stated in [`Report::error`].
    Floating,
    /// Exact fractions.
    Exact,
}

/// The result of [`solve`](crate::solve()).
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether there is a policy that reaches every threshold.
    pub verdict: Verdict,
    /// The reason why a policy, or a better one, may have been missed.
    pub stopped: Option<StopReason>,
    /// The value of the policy, 0 without one: its satisfaction, or its expected utility if that
    /// was the aim. With [`Aim::Threshold`], other policies may have a greater value.
    pub value: f64,
    /// The exact value, if exact arithmetic was requested.
    pub exact: Option<Rational>,
    /// The maximal error of `value`. A threshold below 1 counts as reached if it is missed by no
    /// more than the error of a probability; a threshold of 1 is never rounded.
    pub error: f64,
    /// The policy. With [`Aim::Best`] and no utility it is returned even if its satisfaction is
    /// below the threshold of the network. If the search was stopped, the best so far.
    pub policy: Option<Policy>,
    /// Counters of the search.
    pub statistics: Statistics,
}

/// Counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Number of values assigned to variables.
    pub n_nodes: u64,
    /// Number of nodes left because their bound was too low.
    pub n_bounded: u64,
    /// Number of values of decisions removed before the search.
    pub n_removed: u64,
    /// Total time.
    pub elapsed: Duration,
}

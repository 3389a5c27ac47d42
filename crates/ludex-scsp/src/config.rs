//! How to solve a stochastic network, and what comes out.

use std::time::Duration;

use ludex_base::{Deadline, StopReason};
use ludex_csp::Verdict;

use crate::network::Rational;
use crate::policy::Policy;

/// How to solve a stochastic network.
#[derive(Clone, Debug)]
pub struct SolveConfig {
    /// What is looked for.
    pub aim: Aim,
    /// How values are ruled out.
    pub method: Method,
    /// How probabilities are computed.
    pub arithmetic: Arithmetic,
    /// Whether the domains of decisions are first made stochastically arc consistent.
    pub consistency: bool,
    /// Whether what is known of parts of plays is remembered, in half of the bytes at most.
    pub remembers: bool,
    /// How many bytes policies may use, those that are only tried too, and how many lists of
    /// values and of what is drawn may.
    pub policy_bytes: usize,
    /// Stop after this many nodes.
    pub max_nodes: u64,
    /// When to stop. It is asked every 1,024 nodes or values drawn, and inside propagation.
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
    /// The default, but for the best policy.
    pub fn best() -> Self {
        Self { aim: Aim::Best, ..Self::default() }
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Aim {
    /// A policy that reaches every threshold.
    Threshold,
    /// Without a utility, the policy of greatest satisfaction among those that reach the thresholds
    /// of single constraints. With one, the policy of greatest expected utility among those that
    /// reach every threshold.
    Best,
}

/// How values are ruled out during the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Stochastic backtracking (SSBT): a constraint is checked when its variables are known.
    Backtracking,
    /// Stochastic forward checking (SFC): a constraint with one variable left open filters its
    /// values; what is left bounds the satisfaction.
    ForwardChecking,
    /// The same with all constraints propagated after each value.
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

/// How probabilities are computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// In floating point, with the error that [`Report::error`] states.
    Floating,
    /// In fractions.
    Exact,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether there is a policy that reaches every threshold.
    pub verdict: Verdict,
    /// Why a better policy may have been missed, or any.
    pub stopped: Option<StopReason>,
    /// What the policy is worth, 0 without one: its satisfaction, or its expected utility where that was
    /// looked for. With [`Aim::Threshold`] others may be worth more.
    pub value: f64,
    /// The same, exactly, when that was asked for.
    pub exact: Option<Rational>,
    /// How far `value` can be from the truth. A threshold below 1 counts as reached when it is
    /// missed by no more than a probability can be from the truth; a threshold of 1 is never
    /// rounded.
    pub error: f64,
    /// The policy; with [`Aim::Best`] and no utility, also when its satisfaction is below the
    /// threshold of the whole. When the search was stopped, the best so far.
    pub policy: Option<Policy>,
    /// What it took.
    pub statistics: Statistics,
}

/// What a search took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Values that were given to variables.
    pub n_nodes: u64,
    /// Nodes left because too little could be reached from there.
    pub n_bounded: u64,
    /// Decision values removed before the search.
    pub n_removed: u64,
    /// Time.
    pub elapsed: Duration,
}

//! How to solve a stochastic network, and what comes out.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, StopReason};
use ludex_csp::Verdict;
use num_traits::{One, ToPrimitive, Zero};

use crate::consistency::arc_consistency;
use crate::error::ScspError;
use crate::frontier::{self, Wanted};
use crate::network::{Rational, StochasticNetwork, rational};
use crate::policy::Policy;
use crate::search::{self, Found};

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

/// Solves a stochastic network.
///
/// # Errors
/// When the network means nothing or can't be solved as asked.
pub fn solve(network: &StochasticNetwork, config: &SolveConfig) -> Result<Report, ScspError> {
    if let Some(error) = network.check_by(&config.deadline).into_iter().next() {
        return Err(error);
    }
    let begin = Instant::now();
    let mut statistics = Statistics::default();
    let reduced;
    let mut network = network;
    if config.consistency {
        let domains = arc_consistency(network, &config.deadline)?;
        statistics.n_removed = domains.n_removed;
        if domains.is_inconsistent && config.aim == Aim::Threshold {
            statistics.elapsed = begin.elapsed();
            return Ok(Report {
                verdict: Verdict::False,
                stopped: None,
                value: 0.0,
                exact: (config.arithmetic == Arithmetic::Exact).then(Rational::zero),
                error: 0.0,
                policy: None,
                statistics,
            });
        }
        // A best policy may lie below the threshold, where nothing was proved.
        if config.aim == Aim::Threshold {
            reduced = network.with_decisions(&domains.domains);
            network = &reduced;
        }
    }
    let mut report = match config.arithmetic {
        Arithmetic::Floating => solve_in::<f64>(network, config, &mut statistics)?,
        Arithmetic::Exact => solve_in::<Rational>(network, config, &mut statistics)?,
    };
    statistics.elapsed = begin.elapsed();
    report.statistics = statistics;
    Ok(report)
}

/// Numbers that probabilities are computed in.
pub(crate) trait Number: num_traits::Num + PartialOrd + Clone + Send + Sync {
    /// About how many bytes a number takes, with what it points to.
    const BYTES: usize;
    /// The number nearest to a fraction.
    fn of(fraction: &Rational) -> Self;
    /// The number nearest to one weight of a sum of weights.
    fn ratio(weight: i64, total: i64) -> Self;
    /// The fraction it is.
    fn exact(&self) -> Option<Rational>;
    /// The nearest floating point number.
    fn float(&self) -> f64;
    /// How far sums of products of numbers of at most `top`, over so many terms, can be from
    /// the truth.
    fn error(top: &Self, n_operations: u64) -> Self;
}

impl Number for f64 {
    const BYTES: usize = 8;
    fn of(fraction: &Rational) -> Self {
        fraction.to_f64().unwrap_or(0.0)
    }
    fn ratio(weight: i64, total: i64) -> Self {
        weight as f64 / total as f64
    }
    fn exact(&self) -> Option<Rational> {
        None
    }
    fn float(&self) -> f64 {
        *self
    }
    fn error(top: &Self, n_operations: u64) -> Self {
        top * f64::EPSILON * n_operations as f64
    }
}

impl Number for Rational {
    const BYTES: usize = size_of::<Rational>() + 64;
    fn of(fraction: &Rational) -> Self {
        fraction.clone()
    }
    fn ratio(weight: i64, total: i64) -> Self {
        rational(weight, total)
    }
    fn exact(&self) -> Option<Rational> {
        Some(self.clone())
    }
    fn float(&self) -> f64 {
        self.to_f64().unwrap_or(0.0)
    }
    fn error(_: &Self, _: u64) -> Self {
        Self::zero()
    }
}

/// Every probability is rounded once, and each level of the tree multiplies once and adds once
/// a value; bounds do the same again. All terms lie between 0 and the top.
fn n_operations(network: &StochasticNetwork) -> u64 {
    let chance = network.ids().filter(|&x| network.is_chance(x));
    4 + chance.map(|x| 2 * network.domain(x).len() + 4).sum::<u64>()
}

fn solve_in<N: Number>(
    network: &StochasticNetwork,
    config: &SolveConfig,
    statistics: &mut Statistics,
) -> Result<Report, ScspError> {
    let wants_utility = config.aim == Aim::Best && network.utility().is_some();
    let threshold = network.threshold();
    let has_whole = network.constraints().iter().any(|constraint| constraint.threshold.is_none());
    // One number to compare is enough, unless several thresholds, or a threshold and a utility,
    // pull different ways.
    let is_one_number = !network.has_own_thresholds()
        && (!wants_utility || threshold.is_zero() || threshold.is_one() || !has_whole);
    let top = if wants_utility {
        N::of(&Rational::from_integer(network.greatest_utility().into()))
    } else {
        N::one()
    };
    // Probabilities have an error of their own, however large the utility is.
    let error = N::error(&top, n_operations(network));
    let threshold_error = N::error(&N::one(), n_operations(network));
    let search = |is_sure: bool, aim: Aim, statistics: &mut Statistics| {
        let (low, high) = match aim {
            Aim::Threshold => {
                let aim = N::of(threshold) - threshold_error.clone();
                (aim.clone(), aim)
            }
            Aim::Best => (N::zero(), top.clone()),
        };
        let (top, error) = (top.clone(), error.clone());
        let task = search::Task { wants_utility, is_sure, low, high, top, error };
        search::search(network, config, &task, statistics)
    };
    let find = |is_sure: bool, aim: Aim, statistics: &mut Statistics| {
        let wanted = match aim {
            _ if is_one_number => return search(is_sure, aim, statistics),
            Aim::Threshold => Wanted::Thresholds,
            Aim::Best if wants_utility => Wanted::Utility,
            Aim::Best => Wanted::Satisfaction,
        };
        frontier::search(network, config, wanted, &threshold_error, statistics)
    };
    let is_sure = threshold.is_one() && (wants_utility || config.aim == Aim::Threshold);
    let mut found = find(is_sure, config.aim, statistics)?;
    // Only the greatest satisfaction is found whether the threshold is reached or not.
    let is_free = config.aim == Aim::Best && !wants_utility;
    let is_near = |value: &N| value.clone() + threshold_error.clone() >= N::of(threshold);
    let mut is_reached = true;
    if let Found::Policy(value, _) | Found::Stopped(_, Some((value, _))) = &found
        && is_free
    {
        is_reached = is_near(value);
        // What is only nearly 1 is not sure.
        if is_reached && has_whole && threshold.is_one() && !error.is_zero() {
            match find(true, Aim::Threshold, statistics)? {
                Found::Policy(value, policy) => found = Found::Policy(value, policy),
                Found::Nothing => is_reached = false,
                Found::Stopped(reason, _) => {
                    is_reached = false;
                    if let Found::Policy(value, policy) = found {
                        found = Found::Stopped(reason, Some((value, policy)));
                    }
                }
            }
        }
    }
    let (stopped, found) = match found {
        Found::Policy(value, policy) => (None, Some((value, policy))),
        Found::Nothing => (None, None),
        Found::Stopped(reason, found) => (Some(reason), found),
    };
    // What a search that was stopped has given up may be missing for the threshold.
    let is_whole = stopped.is_none() || is_free || is_sure || threshold.is_zero();
    let verdict = match (&found, stopped) {
        (Some(_), _) if is_reached && (is_whole || config.aim == Aim::Threshold) => Verdict::True,
        (_, Some(reason)) => Verdict::Unknown(reason),
        _ => Verdict::False,
    };
    // A policy that is good enough was looked for, and found.
    let is_done = config.aim == Aim::Threshold && verdict == Verdict::True;
    let stopped = stopped.filter(|_| !is_done);
    let (value, policy) = match found {
        Some((value, policy)) => (value, Some(policy)),
        None => (N::zero(), None),
    };
    Ok(Report {
        verdict,
        stopped,
        value: value.float(),
        exact: value.exact(),
        error: error.float().abs(),
        policy,
        statistics: Statistics::default(),
    })
}

//! How to solve a stochastic network, and what comes out.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, StopReason};
use num_traits::{One, ToPrimitive, Zero};

use super::consistency::stochastic_arc_consistency;
use super::error::StochasticError;
use super::frontier;
use super::network::{Rational, StochasticNetwork};
use super::policy::Policy;
use super::search::{self, Found};
use crate::config::Verdict;

/// How to solve a stochastic network.
#[derive(Clone, Debug)]
pub struct StochasticConfig {
    /// What is looked for.
    pub aim: Aim,
    /// How values are ruled out.
    pub method: Method,
    /// How probabilities are computed.
    pub arithmetic: Arithmetic,
    /// Whether the domains of decisions are first made stochastically arc consistent.
    pub consistency: bool,
    /// How many bytes policies may use, those that are only tried too.
    pub policy_bytes: usize,
    /// Stop after this many nodes.
    pub max_nodes: u64,
    /// When to stop. It is asked every 1,024 nodes, and inside propagation.
    pub deadline: Deadline,
}

impl Default for StochasticConfig {
    fn default() -> Self {
        Self {
            aim: Aim::Threshold,
            method: Method::ForwardChecking,
            arithmetic: Arithmetic::Floating,
            consistency: false,
            policy_bytes: 256 << 20,
            max_nodes: u64::MAX,
            deadline: Deadline::never(),
        }
    }
}

impl StochasticConfig {
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
    /// Without a utility, the policy of greatest satisfaction. With one, the policy of greatest
    /// expected utility among those that reach every threshold.
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
    /// In floating point, with the error that [`StochasticReport::error`] states.
    Floating,
    /// In fractions.
    Exact,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct StochasticReport {
    /// Whether there is a policy that reaches every threshold.
    pub verdict: Verdict,
    /// What the policy is worth: its satisfaction, or its expected utility where that was
    /// looked for. With [`Aim::Threshold`] others may be worth more.
    pub value: f64,
    /// The same, exactly, when that was asked for.
    pub exact: Option<Rational>,
    /// How far `value` can be from the truth. A threshold counts as reached when it is missed
    /// by no more than this.
    pub error: f64,
    /// The policy; with [`Aim::Best`] and no utility, also when it reaches no threshold.
    pub policy: Option<Policy>,
    /// What it took.
    pub statistics: StochasticStatistics,
}

/// What a search took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StochasticStatistics {
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
pub fn solve_stochastic(
    network: &StochasticNetwork,
    config: &StochasticConfig,
) -> Result<StochasticReport, StochasticError> {
    if let Some(error) = network.check().into_iter().next() {
        return Err(error);
    }
    let begin = Instant::now();
    let mut statistics = StochasticStatistics::default();
    let reduced;
    let mut network = network;
    if config.consistency {
        let domains = stochastic_arc_consistency(network, &config.deadline)?;
        statistics.n_removed = domains.n_removed;
        if domains.is_inconsistent && config.aim == Aim::Threshold {
            statistics.elapsed = begin.elapsed();
            return Ok(StochasticReport {
                verdict: Verdict::False,
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
pub(super) trait Number: num_traits::Num + PartialOrd + Clone + Send + Sync {
    /// The number nearest to a fraction.
    fn of(fraction: &Rational) -> Self;
    /// The fraction it is.
    fn exact(&self) -> Option<Rational>;
    /// The nearest floating point number.
    fn float(&self) -> f64;
    /// How far sums of products of numbers of at most `top`, over so many terms, can be from
    /// the truth.
    fn error(top: &Self, n_operations: u64) -> Self;
}

impl Number for f64 {
    fn of(fraction: &Rational) -> Self {
        fraction.to_f64().unwrap_or(0.0)
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
    fn of(fraction: &Rational) -> Self {
        fraction.clone()
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
    config: &StochasticConfig,
    statistics: &mut StochasticStatistics,
) -> Result<StochasticReport, StochasticError> {
    let wants_utility = config.aim == Aim::Best && network.utility().is_some();
    let threshold = network.threshold();
    let has_whole = network.constraints().iter().any(|constraint| constraint.threshold.is_none());
    // One number to compare is enough, unless several thresholds, or a threshold and a utility,
    // pull different ways.
    let is_one_number = !network.has_own_thresholds()
        && (!wants_utility || threshold.is_zero() || threshold.is_one() || !has_whole);
    let top = match wants_utility {
        true => N::of(&Rational::from_integer(network.greatest_utility().into())),
        false => N::one(),
    };
    let error = N::error(&top, n_operations(network));
    let found = if is_one_number {
        let is_sure = wants_utility && threshold.is_one();
        let (low, high) = match config.aim {
            Aim::Threshold => {
                let aim = N::of(threshold) - error.clone();
                (aim.clone(), aim)
            }
            Aim::Best => (N::zero(), top.clone()),
        };
        let task = search::Task { wants_utility, is_sure, low, high, top };
        search::search(network, config, &task, statistics)?
    } else {
        frontier::search(network, config, wants_utility, &error, statistics)?
    };
    let satisfies = |value: &N| {
        !is_one_number || wants_utility || value.clone() + error.clone() >= N::of(threshold)
    };
    let (verdict, value, policy) = match found {
        Found::Policy(value, policy) => {
            let verdict = if satisfies(&value) { Verdict::True } else { Verdict::False };
            (verdict, value, Some(policy))
        }
        Found::Nothing => (Verdict::False, N::zero(), None),
        Found::Stopped(reason) => (Verdict::Unknown(reason), N::zero(), None),
    };
    Ok(StochasticReport {
        verdict,
        value: value.float(),
        exact: value.exact(),
        error: error.float().abs(),
        policy,
        statistics: StochasticStatistics::default(),
    })
}

/// The search was stopped.
pub(super) enum Stop {
    /// A limit was reached.
    Limit(StopReason),
    /// It can't be done.
    Error(StochasticError),
}

impl From<StochasticError> for Stop {
    fn from(error: StochasticError) -> Self {
        Stop::Error(error)
    }
}

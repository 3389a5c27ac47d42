//! Solves a stochastic network: first consistency, then a search, then the verdict.

use std::time::Instant;

use ludex_csp::Verdict;
use num_traits::{One, Zero};

use crate::config::{Aim, Arithmetic, Report, SolveConfig, Statistics};
use crate::consistency::arc_consistency;
use crate::error::ScspError;
use crate::frontier::{self, Wanted};
use crate::network::{Rational, StochasticNetwork};
use crate::number::Number;
use crate::search::{self, Found};

/// Solves a stochastic network.
///
/// # Errors
/// Returns an error if the network is invalid or cannot be solved as requested.
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
        // The best policy may lie below the threshold, about which nothing was proved.
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

/// Solves a network in one arithmetic.
fn solve_in<N: Number>(
    network: &StochasticNetwork,
    config: &SolveConfig,
    statistics: &mut Statistics,
) -> Result<Report, ScspError> {
    let question = Question::<N>::new(network, config);
    let found = question.find(question.is_sure, config.aim, statistics)?;
    let (found, is_reached) = question.confirm(found, statistics)?;
    Ok(question.report(found, is_reached))
}

/// The policy to search for, and the accuracy of its numbers.
struct Question<'a, N> {
    network: &'a StochasticNetwork,
    config: &'a SolveConfig,
    wants_utility: bool,
    /// Whether there are joint constraints.
    has_whole: bool,
    /// Whether one number suffices to compare policies.
    is_one_number: bool,
    /// Whether the constraints must hold in every play.
    is_sure: bool,
    /// Whether the best policy is wanted even if it misses the threshold.
    is_free: bool,
    /// The greatest possible value of a policy.
    top: N,
    error: N,
    /// The error of probabilities, which does not depend on the utility.
    threshold_error: N,
}

impl<'a, N: Number> Question<'a, N> {
    fn new(network: &'a StochasticNetwork, config: &'a SolveConfig) -> Self {
        let wants_utility = config.aim == Aim::Best && network.utility().is_some();
        let threshold = network.threshold();
        let has_whole =
            network.constraints().iter().any(|constraint| constraint.threshold.is_none());
        // One number suffices to compare policies, unless several thresholds, or a threshold and a
        // utility, conflict.
        let is_one_number = !network.has_own_thresholds()
            && (!wants_utility || threshold.is_zero() || threshold.is_one() || !has_whole);
        let top = if wants_utility {
            N::of(&Rational::from_integer(network.greatest_utility().into()))
        } else {
            N::one()
        };
        Self {
            network,
            config,
            wants_utility,
            has_whole,
            is_one_number,
            is_sure: threshold.is_one() && (wants_utility || config.aim == Aim::Threshold),
            is_free: config.aim == Aim::Best && !wants_utility,
            error: N::error(&top, n_operations(network)),
            threshold_error: N::error(&N::one(), n_operations(network)),
            top,
        }
    }

    fn find(
        &self,
        is_sure: bool,
        aim: Aim,
        statistics: &mut Statistics,
    ) -> Result<Found<N>, ScspError> {
        let wanted = match aim {
            _ if self.is_one_number => return self.search(is_sure, aim, statistics),
            Aim::Threshold => Wanted::Thresholds,
            Aim::Best if self.wants_utility => Wanted::Utility,
            Aim::Best => Wanted::Satisfaction,
        };
        frontier::search(self.network, self.config, wanted, &self.threshold_error, statistics)
    }

    /// Searches for the policy with the greatest number.
    fn search(
        &self,
        is_sure: bool,
        aim: Aim,
        statistics: &mut Statistics,
    ) -> Result<Found<N>, ScspError> {
        let (low, high) = match aim {
            Aim::Threshold => {
                let aim = N::of(self.network.threshold()) - self.threshold_error.clone();
                (aim.clone(), aim)
            }
            Aim::Best => (N::zero(), self.top.clone()),
        };
        let (top, error) = (self.top.clone(), self.error.clone());
        let task =
            search::Task { wants_utility: self.wants_utility, is_sure, low, high, top, error };
        search::search(self.network, self.config, &task, statistics)
    }

    /// Whether a policy found without regard to the threshold reaches it. A satisfaction that is
    /// only nearly 1 is not certain, so a second search confirms it.
    fn confirm(
        &self,
        mut found: Found<N>,
        statistics: &mut Statistics,
    ) -> Result<(Found<N>, bool), ScspError> {
        let (Found::Policy(value, _) | Found::Stopped(_, Some((value, _)))) = &found else {
            return Ok((found, true));
        };
        if !self.is_free {
            return Ok((found, true));
        }
        let threshold = self.network.threshold();
        let mut is_reached = value.clone() + self.threshold_error.clone() >= N::of(threshold);
        if is_reached && self.has_whole && threshold.is_one() && !self.error.is_zero() {
            match self.find(true, Aim::Threshold, statistics)? {
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
        Ok((found, is_reached))
    }

    fn report(&self, found: Found<N>, is_reached: bool) -> Report {
        let (stopped, found) = match found {
            Found::Policy(value, policy) => (None, Some((value, policy))),
            Found::Nothing => (None, None),
            Found::Stopped(reason, found) => (Some(reason), found),
        };
        let aims_at_threshold = self.config.aim == Aim::Threshold;
        // A stopped search may have given up parts that are needed for the threshold.
        let is_whole =
            stopped.is_none() || self.is_free || self.is_sure || self.network.threshold().is_zero();
        let verdict = match (&found, stopped) {
            (Some(_), _) if is_reached && (is_whole || aims_at_threshold) => Verdict::True,
            (_, Some(reason)) => Verdict::Unknown(reason),
            _ => Verdict::False,
        };
        // The search aimed at a policy that is good enough, and found one.
        let is_done = aims_at_threshold && verdict == Verdict::True;
        let (value, policy) = match found {
            Some((value, policy)) => (value, Some(policy)),
            None => (N::zero(), None),
        };
        Report {
            verdict,
            stopped: stopped.filter(|_| !is_done),
            value: value.float(),
            exact: value.exact(),
            error: self.error.float().abs(),
            policy,
            statistics: Statistics::default(),
        }
    }
}

/// Returns the number of rounded operations. Every probability is rounded once, and each level of
/// the tree multiplies and adds once per value; bounds do the same again. All terms lie between 0
/// and the greatest value.
fn n_operations(network: &StochasticNetwork) -> u64 {
    let chance = network.ids().filter(|&x| network.is_chance(x));
    4 + chance.map(|x| 2 * network.domain(x).len() + 4).sum::<u64>()
}

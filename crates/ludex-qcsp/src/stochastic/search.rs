//! Stochastic backtracking and forward checking, for any number of stages.
//!
//! One recursion in the order of the variables. A decision takes the value that is worth most;
//! chance adds what its values are worth, each times its probability. The caller says between
//! which two numbers it wants to know the result: a node that can't reach the lower one is
//! left (`None`), one that reaches the higher is done. At a chance node a value is asked for
//! what the total still lacks when all values after it are worth as much as they can be, which
//! is what the listings of Walsh and of Balafoutis and Stergiou are after; so a value that
//! fails decides the node.

use std::thread;

use ludex_base::StopReason;
use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use super::distribution::Distribution;
use super::error::StochasticError;
use super::filter::{Filter, filter};
use super::network::{Rational, StochasticNetwork};
use super::policy::{Policy, PolicyBuilder, PolicyId};
use super::solve::{Number, StochasticConfig, StochasticStatistics, Stop};

/// What one search is to find.
pub(super) struct Task<N> {
    /// Whether plays are worth their utility, and not 1.
    pub wants_utility: bool,
    /// Whether the constraints have to hold in every play.
    pub is_sure: bool,
    /// Policies worth less are of no interest.
    pub low: N,
    /// A policy worth this much is good enough.
    pub high: N,
    /// The most that a play can be worth.
    pub top: N,
}

/// What a search found.
pub(super) enum Found<N> {
    /// A policy, and what it is worth.
    Policy(N, Policy),
    /// There is none of interest.
    Nothing,
    /// A limit was reached first.
    Stopped(StopReason),
}

/// Searches on a thread of its own, whose stack is as deep as the network is long.
pub(super) fn search<N: Number>(
    network: &StochasticNetwork,
    config: &StochasticConfig,
    task: &Task<N>,
    statistics: &mut StochasticStatistics,
) -> Result<Found<N>, StochasticError> {
    on_deep_stack(network, || run(network, config, task, statistics))
}

/// Calls a function whose recursion is as deep as a network has variables.
pub(super) fn on_deep_stack<T: Send>(
    network: &StochasticNetwork,
    run: impl FnOnce() -> T + Send,
) -> T {
    const BYTES_A_VARIABLE: usize = 8 << 10;
    let bytes = (2 << 20) + BYTES_A_VARIABLE * network.variables().len();
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, run);
        let result = thread.expect("a thread can be started").join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run<N: Number>(
    network: &StochasticNetwork,
    config: &StochasticConfig,
    task: &Task<N>,
    statistics: &mut StochasticStatistics,
) -> Result<Found<N>, StochasticError> {
    let Some(mut search) = Search::new(network, config, task, statistics)? else {
        let is_nothing = task.is_sure || task.low > N::zero();
        let lost =
            || Found::Policy(N::zero(), PolicyBuilder::new().finish(PolicyBuilder::GIVEN_UP));
        return Ok(if is_nothing { Found::Nothing } else { lost() });
    };
    match search.node(&task.low, &task.high) {
        Ok(Some((value, root))) => Ok(Found::Policy(value, search.policy.finish(root))),
        Ok(None) => Ok(Found::Nothing),
        Err(Stop::Limit(reason)) => Ok(Found::Stopped(reason)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// All decisions of a network of one stage after which its constraints hold as likely as it
/// asks, exactly.
pub(super) fn feasible_tuples(
    network: &StochasticNetwork,
    config: &StochasticConfig,
) -> Result<Vec<Vec<Value>>, Stop> {
    let threshold = network.threshold().clone();
    let task = Task {
        wants_utility: false,
        is_sure: false,
        low: threshold.clone(),
        high: threshold,
        top: Rational::one(),
    };
    on_deep_stack(network, || {
        let mut statistics = StochasticStatistics::default();
        let mut found = Vec::new();
        if let Some(mut search) = Search::new(network, config, &task, &mut statistics)? {
            search.decisions(&mut found)?;
        } else if task.low.is_zero() {
            return Err(StochasticError::Option {
                option: "the two-part method",
                reason: "the chance part never holds, and with threshold 0 need not".to_string(),
            }
            .into());
        }
        found.sort_unstable();
        Ok(found)
    })
}

/// How a variable is drawn, in the numbers of the search.
pub(super) enum Draw<N> {
    /// It is decided.
    Decided,
    /// Always alike.
    Fixed(Vec<(Value, N)>),
    /// By what these are.
    Rows(Vec<VarId>, FxHashMap<Vec<Value>, Vec<(Value, N)>>),
    /// Computed when it is drawn, from these.
    Computed(Vec<VarId>),
}

impl<N: Number> Draw<N> {
    pub fn new(network: &StochasticNetwork, x: VarId) -> Self {
        let numbers = |weights: &[(Value, Rational)]| {
            weights.iter().map(|(value, p)| (*value, N::of(p))).collect::<Vec<_>>()
        };
        match &network.variable(x).distribution {
            None => Draw::Decided,
            Some(Distribution::Table { on, rows }) => {
                let rows = rows.iter().map(|(row, weights)| (row.clone(), numbers(weights)));
                Draw::Rows(on.clone(), rows.collect())
            }
            Some(distribution) => match distribution.parents(x) {
                parents if parents.is_empty() => Draw::Fixed(numbers(&network.outcomes(x, &|_| 0))),
                parents => Draw::Computed(parents),
            },
        }
    }

    /// The variables it depends on.
    fn parents(&self) -> &[VarId] {
        match self {
            Draw::Decided | Draw::Fixed(_) => &[],
            Draw::Rows(on, _) => on,
            Draw::Computed(parents) => parents,
        }
    }

    /// The values that can be drawn, each with its probability.
    pub fn outcomes(
        &self,
        network: &StochasticNetwork,
        x: VarId,
        values: &[Value],
    ) -> Vec<(Value, N)> {
        match self {
            Draw::Decided => Vec::new(),
            Draw::Fixed(outcomes) => outcomes.clone(),
            Draw::Rows(on, rows) => {
                let row: Vec<Value> = on.iter().map(|y| values[y.index()]).collect();
                let outcomes = rows.get(&row).cloned().unwrap_or_default();
                outcomes.into_iter().filter(|(_, p)| !p.is_zero()).collect()
            }
            Draw::Computed(_) => {
                let outcomes = network.outcomes(x, &|y| values[y.index()]);
                outcomes.iter().map(|(value, p)| (*value, N::of(p))).collect()
            }
        }
    }
}

/// A distribution that says nothing about the values met.
pub(super) fn nothing_to_draw(network: &StochasticNetwork, x: VarId) -> StochasticError {
    StochasticError::Distribution {
        variable: network.name(x).to_string(),
        given: String::new(),
        problem: "no value can be drawn after some decisions".to_string(),
    }
}

struct Search<'a, N> {
    network: &'a StochasticNetwork,
    config: &'a StochasticConfig,
    task: &'a Task<N>,
    draws: Vec<Draw<N>>,
    filter: Box<dyn Filter + Send>,
    values: Vec<Value>,
    is_assigned: Vec<bool>,
    policy: PolicyBuilder,
    statistics: &'a mut StochasticStatistics,
}

/// What a node is worth with its policy; `None` when that is below the lower number.
type Worth<N> = Option<(N, PolicyId)>;

impl<'a, N: Number> Search<'a, N> {
    /// The search of a task; `None` when the constraints can't hold at all.
    fn new(
        network: &'a StochasticNetwork,
        config: &'a StochasticConfig,
        task: &'a Task<N>,
        statistics: &'a mut StochasticStatistics,
    ) -> Result<Option<Self>, StochasticError> {
        let n_variables = network.variables().len();
        let filter = filter(network, config.method, &config.deadline)?;
        Ok(filter.map(|filter| Self {
            network,
            config,
            task,
            draws: network.ids().map(|x| Draw::new(network, x)).collect(),
            filter,
            values: vec![0; n_variables],
            is_assigned: vec![false; n_variables],
            policy: PolicyBuilder::new(),
            statistics,
        }))
    }

    /// Collects the values of the decisions, all before chance, that reach the lower number.
    fn decisions(&mut self, found: &mut Vec<Vec<Value>>) -> Result<(), Stop> {
        let next = self.next_variable().filter(|&x| !self.network.is_chance(x));
        let Some(x) = next else {
            let mark = self.policy.mark();
            if self.node(&self.task.low, &self.task.high)?.is_some() {
                let decided = self.network.ids().filter(|&x| !self.network.is_chance(x));
                found.push(decided.map(|x| self.values[x.index()]).collect());
            }
            self.policy.rewind(mark);
            return Ok(());
        };
        if self.bound() < self.task.low {
            return Ok(());
        }
        for value in self.network.domain(x).iter() {
            if !self.filter.allows(x, value) {
                continue;
            }
            self.count_node()?;
            self.values[x.index()] = value;
            self.is_assigned[x.index()] = true;
            let can_hold = self.filter.assign(x, &self.values);
            let result = if can_hold { self.decisions(found) } else { Ok(()) };
            self.filter.undo();
            self.is_assigned[x.index()] = false;
            result?;
        }
        Ok(())
    }

    fn node(&mut self, low: &N, high: &N) -> Result<Worth<N>, Stop> {
        let Some(x) = self.next_variable() else { return Ok(self.end(low)) };
        if self.filter.looks_ahead() && self.bound() < *low {
            self.statistics.n_bounded += 1;
            return Ok(None);
        }
        match self.network.is_chance(x) {
            true => self.chance(x, low, high),
            false => self.decision(x, low, high),
        }
    }

    /// The first variable without a value, or one of the same stage with fewer values left
    /// where both are decided.
    fn next_variable(&self) -> Option<VarId> {
        let x = self.is_assigned.iter().position(|is_assigned| !is_assigned)?;
        let variables = self.network.variables();
        if variables[x].distribution.is_some() || !self.filter.looks_ahead() {
            return Some(VarId::new(x));
        }
        let is_alike = |y: &usize| {
            variables[*y].distribution.is_none() && variables[*y].stage == variables[x].stage
        };
        (x..variables.len())
            .take_while(is_alike)
            .filter(|&y| !self.is_assigned[y])
            .map(VarId::new)
            .min_by_key(|&y| self.filter.n_values(y))
    }

    /// The most that can be reached from here: every chance variable to come keeps the mass of
    /// the values it has left.
    fn bound(&self) -> N {
        let mut bound = self.task.top.clone();
        for x in self.network.ids() {
            let draw = &self.draws[x.index()];
            let is_known = draw.parents().iter().all(|y| self.is_assigned[y.index()]);
            let is_open = !self.is_assigned[x.index()] && !matches!(draw, Draw::Decided);
            if is_open && is_known && self.filter.n_values(x) < self.network.domain(x).len() {
                let outcomes = draw.outcomes(self.network, x, &self.values);
                let left = outcomes.into_iter().filter(|(value, _)| self.filter.allows(x, *value));
                bound = bound * left.fold(N::zero(), |sum, (_, p)| sum + p);
            }
        }
        bound
    }

    fn end(&mut self, low: &N) -> Worth<N> {
        let value_of = |x: VarId| i64::from(self.values[x.index()]);
        let worth = match self.network.utility().filter(|_| self.task.wants_utility) {
            Some(utility) => {
                let utility = utility.eval(&value_of).unwrap_or(0).max(0);
                N::of(&Rational::from_integer(utility.into()))
            }
            None => N::one(),
        };
        (worth >= *low).then_some((worth, PolicyBuilder::END))
    }

    /// The constraints fail.
    fn lost(&self, low: &N) -> Worth<N> {
        let is_nothing = self.task.is_sure || *low > N::zero();
        (!is_nothing).then(|| (N::zero(), PolicyBuilder::GIVEN_UP))
    }

    /// What follows after a variable has a value.
    fn after(&mut self, x: VarId, value: Value, low: &N, high: &N) -> Result<Worth<N>, Stop> {
        self.count_node()?;
        self.values[x.index()] = value;
        self.is_assigned[x.index()] = true;
        let can_hold = self.filter.assign(x, &self.values);
        let worth = match can_hold {
            true => self.node(low, high),
            false if self.filter.is_stopped() => Err(Stop::Limit(StopReason::Time)),
            false => Ok(self.lost(low)),
        };
        self.filter.undo();
        self.is_assigned[x.index()] = false;
        worth
    }

    fn decision(&mut self, x: VarId, low: &N, high: &N) -> Result<Worth<N>, Stop> {
        let mut best: Worth<N> = None;
        let mut any_left = false;
        for value in self.network.domain(x).iter() {
            if !self.filter.allows(x, value) {
                continue;
            }
            any_left = true;
            let mark = self.policy.mark();
            let at_least = best.as_ref().map_or(low, |(worth, _)| worth).clone();
            let worth = self.after(x, value, &at_least, high)?;
            let is_better =
                |(worth, _): &(N, PolicyId)| best.as_ref().is_none_or(|(so_far, _)| worth > so_far);
            match worth.filter(is_better) {
                Some((worth, next)) => {
                    let is_enough = worth >= *high;
                    best = Some((worth, self.policy.decide(x, value, next)));
                    if is_enough {
                        break;
                    }
                }
                None => self.policy.rewind(mark),
            }
        }
        Ok(if any_left { best } else { self.lost(low) })
    }

    fn chance(&mut self, x: VarId, low: &N, high: &N) -> Result<Worth<N>, Stop> {
        let outcomes = self.draws[x.index()].outcomes(self.network, x, &self.values);
        if outcomes.is_empty() {
            return Err(nothing_to_draw(self.network, x).into());
        }
        let n_outcomes = outcomes.len();
        let mut left: Vec<(Value, N)> = outcomes;
        left.retain(|(value, _)| self.filter.allows(x, *value));
        if self.task.is_sure && left.len() < n_outcomes {
            return Ok(None);
        }
        // The likely ones decide soonest.
        left.sort_by(|(_, p), (_, q)| q.partial_cmp(p).expect("probabilities compare"));
        // The most that the values from each place on can add.
        let mut to_come = vec![N::zero(); left.len() + 1];
        for i in (0..left.len()).rev() {
            to_come[i] = to_come[i + 1].clone() + left[i].1.clone() * self.task.top.clone();
        }
        let mut total = N::zero();
        let mut branches = Vec::new();
        for (i, (value, p)) in left.into_iter().enumerate() {
            if total.clone() + to_come[i].clone() < *low {
                return Ok(None);
            }
            let lacking = low.clone() - total.clone() - to_come[i + 1].clone();
            let least = if lacking > N::zero() { lacking / p.clone() } else { N::zero() };
            let enough = (high.clone() - total.clone()) / p.clone();
            let Some((worth, next)) = self.after(x, value, &least, &enough)? else {
                return Ok(None);
            };
            total = total + p * worth;
            branches.push((value, next));
            // Where constraints have to hold surely, no value may be left out.
            if total >= *high && !self.task.is_sure {
                break;
            }
        }
        if total < *low {
            return Ok(None);
        }
        branches.sort_unstable_by_key(|(value, _)| *value);
        Ok(Some((total, self.policy.draw(x, branches))))
    }

    fn count_node(&mut self) -> Result<(), Stop> {
        const BYTES_A_NODE: usize = 160;
        self.statistics.n_nodes += 1;
        if self.statistics.n_nodes > self.config.max_nodes {
            return Err(Stop::Limit(StopReason::Count));
        }
        if self.statistics.n_nodes.is_multiple_of(1024) && self.config.deadline.reached() {
            return Err(Stop::Limit(StopReason::Time));
        }
        if self.policy.mark() * BYTES_A_NODE > self.config.policy_bytes {
            return Err(Stop::Limit(StopReason::Memory));
        }
        Ok(())
    }
}

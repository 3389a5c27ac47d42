//! Stochastic backtracking and forward checking, for any number of stages.
//!
//! One recursion follows the order of the variables. A decision takes the value that is worth most;
//! a chance node adds the values of its branches, weighted by their probabilities. The caller gives
//! two bounds: a node that cannot reach the lower one is left (`None`), and one that reaches the
//! higher one is done. At a chance node, the lower bound of a branch is what the total still lacks
//! if all later branches are worth as much as possible. The listings of Walsh and of Balafoutis and
//! Stergiou aim at the same. A branch that fails therefore decides the node.

use ludex_base::StopReason;
use ludex_csp::{Value, VarId};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use crate::config::{SolveConfig, Statistics};
use crate::distribution::Distribution;
use crate::error::{ScspError, Stop};
use crate::filter::{Filter, filter};
use crate::memory::{Asked, Memory, Rest};
use crate::network::{Rational, StochasticNetwork};
use crate::number::Number;
use crate::policy::{Policy, PolicyBuilder, PolicyId};

/// Number of nodes or drawn values between two checks of the deadline.
pub(crate) const STEPS_PER_CHECK: u64 = 1024;

/// The task of one search.
pub(crate) struct Task<N> {
    /// Whether a play is worth its utility instead of 1.
    pub wants_utility: bool,
    /// Whether the constraints must hold in every play.
    pub is_sure: bool,
    /// The lower bound: policies worth less are of no interest.
    pub low: N,
    /// The upper bound: a policy worth this much is good enough.
    pub high: N,
    /// The greatest possible value of a play.
    pub top: N,
    /// The maximal error of the numbers.
    pub error: N,
}

/// The result of a search.
pub(crate) enum Found<N> {
    /// A policy and its value.
    Policy(N, Policy),
    /// There is no policy of interest.
    Nothing,
    /// A limit was reached first; with the best policy so far.
    Stopped(StopReason, Option<(N, Policy)>),
}

/// Searches on a thread of its own with a stack for one call per variable.
pub(crate) fn search<N: Number>(
    network: &StochasticNetwork,
    config: &SolveConfig,
    task: &Task<N>,
    statistics: &mut Statistics,
) -> Result<Found<N>, ScspError> {
    network.on_deep_stack(|| run(network, config, task, statistics))
}

fn run<N: Number>(
    network: &StochasticNetwork,
    config: &SolveConfig,
    task: &Task<N>,
    statistics: &mut Statistics,
) -> Result<Found<N>, ScspError> {
    let search = match Search::new(network, config, task, statistics) {
        Ok(search) => search,
        Err(Stop::Limit(reason)) => return Ok(Found::Stopped(reason, None)),
        Err(Stop::Error(error)) => return Err(error),
    };
    let Some(mut search) = search else {
        let is_nothing = task.is_sure || task.low > N::zero();
        let lost =
            || Found::Policy(N::zero(), PolicyBuilder::new().finish(PolicyBuilder::GIVEN_UP));
        return Ok(if is_nothing { Found::Nothing } else { lost() });
    };
    let worth = search.node(&task.low, &task.high)?;
    let (stopped, policy) = (search.stopped, search.policy);
    let found = worth.map(|(value, root)| (value, policy.finish(root)));
    Ok(match (stopped, found) {
        (None, None) => Found::Nothing,
        (Some(reason), found) => Found::Stopped(reason, found),
        (None, Some((value, policy))) => Found::Policy(value, policy),
    })
}

/// Returns all decisions of a one-stage network after which its constraints hold with the required
/// probability, computed exactly.
pub(crate) fn feasible_tuples(
    network: &StochasticNetwork,
    config: &SolveConfig,
) -> Result<Vec<Vec<Value>>, Stop> {
    let threshold = network.threshold().clone();
    let task = Task {
        wants_utility: false,
        is_sure: false,
        low: threshold.clone(),
        high: threshold,
        top: Rational::one(),
        error: Rational::zero(),
    };
    network.on_deep_stack(|| {
        let mut statistics = Statistics::default();
        let mut found = Vec::new();
        if let Some(mut search) = Search::new(network, config, &task, &mut statistics)? {
            search.decisions(&mut found)?;
            if let Some(reason) = search.stopped {
                return Err(Stop::Limit(reason));
            }
        }
        found.sort_unstable();
        Ok(found)
    })
}

/// The distribution of a variable, in the numbers of the search.
pub(crate) enum Draw<N> {
    /// The variable is a decision.
    Decided,
    /// The same distribution always.
    Fixed(Vec<(Value, N)>),
    /// A distribution for each combination of values of these variables.
    Rows(Vec<VarId>, FxHashMap<Vec<Value>, Vec<(Value, N)>>),
    /// Computed from these variables when it is drawn.
    Computed(Vec<VarId>),
}

impl<N: Number> Draw<N> {
    /// Prepares the distributions of all variables, unless that takes too much time or memory.
    pub fn all(network: &StochasticNetwork, config: &SolveConfig) -> Result<Vec<Self>, Stop> {
        let mut n_bytes = 0;
        let mut draws = Vec::new();
        for x in network.ids() {
            let n_outcomes = match &network.variable(x).distribution {
                Some(Distribution::Table { rows, .. }) => rows.values().map(Vec::len).sum(),
                Some(distribution) if distribution.parents(x).is_empty() => {
                    network.domain(x).len() as usize
                }
                _ => 0,
            };
            n_bytes += n_outcomes * (size_of::<(Value, N)>() + N::BYTES);
            if n_bytes > config.policy_bytes {
                return Err(Stop::Limit(StopReason::Memory));
            }
            if n_outcomes > 1024 && config.deadline.reached() {
                return Err(Stop::Limit(StopReason::of_deadline()));
            }
            draws.push(Self::new(network, x));
        }
        Ok(draws)
    }

    fn new(network: &StochasticNetwork, x: VarId) -> Self {
        let numbers = |weights: &[(Value, Rational)]| {
            weights.iter().map(|(value, p)| (*value, N::of(p))).collect::<Vec<_>>()
        };
        match &network.variable(x).distribution {
            None => Draw::Decided,
            Some(Distribution::Uniform) => {
                let share = N::ratio(1, network.domain(x).len() as i64);
                Draw::Fixed(network.domain(x).iter().map(|v| (v, share.clone())).collect())
            }
            Some(Distribution::Weights(_)) => Draw::Fixed(numbers(&network.outcomes(x, &|_| 0))),
            Some(Distribution::Table { on, rows }) => {
                let rows = rows.iter().map(|(row, weights)| (row.clone(), numbers(weights)));
                Draw::Rows(on.clone(), rows.collect())
            }
            Some(distribution) => match distribution.parents(x) {
                parents if parents.is_empty() => Draw::Fixed(network.shares(x, &|_| 0, N::ratio)),
                parents => Draw::Computed(parents),
            },
        }
    }

    /// Returns the variables it depends on.
    fn parents(&self) -> &[VarId] {
        match self {
            Draw::Decided | Draw::Fixed(_) => &[],
            Draw::Rows(on, _) => on,
            Draw::Computed(parents) => parents,
        }
    }

    /// Returns the possible values with their probabilities.
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
            Draw::Computed(_) => network.shares(x, &|y| values[y.index()], N::ratio),
        }
    }
}

struct Search<'a, N> {
    network: &'a StochasticNetwork,
    config: &'a SolveConfig,
    task: &'a Task<N>,
    draws: Vec<Draw<N>>,
    filter: Box<dyn Filter + Send>,
    values: Vec<Value>,
    is_assigned: Vec<bool>,
    policy: PolicyBuilder,
    memory: Memory<Known<N>>,
    /// Steps since the deadline was last checked.
    n_steps: u64,
    /// The reason why the search stopped; the rest of it counts as given up.
    stopped: Option<StopReason>,
    statistics: &'a mut Statistics,
}

/// What is known of the value of the rest of a play.
enum Known<N> {
    /// The exact value.
    Exactly(N, PolicyId),
    /// A lower bound that was enough.
    AtLeast(N, PolicyId),
    /// An upper bound.
    Below(N),
}

/// The value of a node with its policy; `None` if it is below the lower bound.
type Worth<N> = Option<(N, PolicyId)>;

impl<'a, N: Number> Search<'a, N> {
    /// Creates the search of a task, or returns `None` if the constraints are unsatisfiable.
    fn new(
        network: &'a StochasticNetwork,
        config: &'a SolveConfig,
        task: &'a Task<N>,
        statistics: &'a mut Statistics,
    ) -> Result<Option<Self>, Stop> {
        let n_variables = network.variables().len();
        let Some(filter) = filter(network, config)? else { return Ok(None) };
        // Half of the bytes, so that the search can go on without the memory.
        let max_bytes = if config.remembers { config.policy_bytes / 2 } else { 0 };
        Ok(Some(Self {
            network,
            config,
            task,
            draws: Draw::all(network, config)?,
            memory: Memory::new(network, task.wants_utility, Asked::Soon, max_bytes),
            n_steps: STEPS_PER_CHECK,
            stopped: filter.stopped(),
            filter,
            values: vec![0; n_variables],
            is_assigned: vec![false; n_variables],
            policy: PolicyBuilder::new(),
            statistics,
        }))
    }

    /// Collects the decisions, all before chance, that reach the lower bound.
    fn decisions(&mut self, found: &mut Vec<Vec<Value>>) -> Result<(), ScspError> {
        let next = self.next_variable().filter(|&x| !self.network.is_chance(x));
        let Some(x) = next else {
            let mark = self.policy.mark();
            if self.node(&self.task.low, &self.task.high)?.is_some() {
                let decided = self.network.ids().filter(|&x| !self.network.is_chance(x));
                found.push(decided.map(|x| self.values[x.index()]).collect());
            }
            if !self.memory.is_on() {
                self.policy.rewind(mark);
            }
            return Ok(());
        };
        if self.bound() < self.task.low {
            return Ok(());
        }
        for value in self.network.domain(x).iter() {
            if !self.filter.allows(x, value) {
                continue;
            }
            self.count_node();
            if size_of::<Vec<Value>>() * 2 * found.len() > self.config.policy_bytes {
                self.stopped = Some(StopReason::Memory);
            }
            if self.stopped.is_some() {
                return Ok(());
            }
            self.values[x.index()] = value;
            self.is_assigned[x.index()] = true;
            let can_hold = self.filter.assign(x, &self.values);
            self.stopped = self.stopped.or(self.filter.stopped());
            let result = if can_hold { self.decisions(found) } else { Ok(()) };
            self.filter.undo();
            self.is_assigned[x.index()] = false;
            result?;
        }
        Ok(())
    }

    fn node(&mut self, low: &N, high: &N) -> Result<Worth<N>, ScspError> {
        if self.stopped.is_some() {
            return Ok(self.lost(low));
        }
        let Some(x) = self.next_variable() else { return Ok(self.end(low)) };
        let rest = self.rest();
        let known = rest.as_ref().and_then(|rest| self.memory.get(rest));
        match known {
            Some(Known::Exactly(worth, policy)) => {
                return Ok((worth >= low).then(|| (worth.clone(), *policy)));
            }
            Some(Known::AtLeast(worth, policy)) if worth >= high => {
                return Ok(Some((worth.clone(), *policy)));
            }
            Some(Known::Below(worth)) if worth <= low => return Ok(None),
            _ => {}
        }
        if self.filter.looks_ahead() && self.bound() < *low {
            self.statistics.n_bounded += 1;
            return Ok(None);
        }
        let worth = if self.network.is_chance(x) {
            self.chance(x, low, high)
        } else {
            self.decision(x, low, high)
        }?;
        if let Some(rest) = rest.filter(|_| self.stopped.is_none()) {
            let is_worthless = self.task.is_sure && !self.task.wants_utility;
            let known = match worth.clone() {
                // If the constraints must hold in every play, a failure is worth nothing.
                None if is_worthless => Known::Below(N::zero()),
                None => Known::Below(low.clone()),
                // No branch was cut off for being good enough.
                Some((worth, policy)) if worth.clone() + self.task.error.clone() < *high => {
                    Known::Exactly(worth, policy)
                }
                Some((worth, policy)) => Known::AtLeast(worth, policy),
            };
            self.memory.put(rest, known, 2 * N::BYTES, self.policy.n_bytes());
        }
        Ok(worth)
    }

    /// Returns the rest of the play if it can be remembered: all variables before some place have
    /// values, and none from there on.
    fn rest(&self) -> Option<Rest> {
        let first = self.is_assigned.iter().position(|is_assigned| !is_assigned)?;
        let is_clean = !self.is_assigned[first..].contains(&true);
        is_clean.then(|| self.memory.rest(first, &self.values)).flatten()
    }

    /// Returns the first unassigned variable, or a decision of the same stage with fewer remaining
    /// values.
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

    /// Returns an upper bound from here on: every later chance variable keeps the mass of its
    /// remaining values.
    fn bound(&mut self) -> N {
        let mut bound = self.task.top.clone();
        let mut n_steps = 0;
        for x in self.network.ids() {
            let draw = &self.draws[x.index()];
            let is_known = draw.parents().iter().all(|y| self.is_assigned[y.index()]);
            let is_open = !self.is_assigned[x.index()] && !matches!(draw, Draw::Decided);
            if is_open && is_known && self.filter.n_values(x) < self.network.domain(x).len() {
                let outcomes = draw.outcomes(self.network, x, &self.values);
                n_steps += outcomes.len() as u64;
                let left = outcomes.into_iter().filter(|(value, _)| self.filter.allows(x, *value));
                bound = bound * left.fold(N::zero(), |sum, (_, p)| sum + p);
            }
        }
        self.look(n_steps);
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

    /// Returns the value of a play whose constraints fail.
    fn lost(&self, low: &N) -> Worth<N> {
        let is_nothing = self.task.is_sure || *low > N::zero();
        (!is_nothing).then(|| (N::zero(), PolicyBuilder::GIVEN_UP))
    }

    /// Returns the value after assigning a variable.
    fn after(&mut self, x: VarId, value: Value, low: &N, high: &N) -> Result<Worth<N>, ScspError> {
        self.count_node();
        if self.stopped.is_some() {
            return Ok(self.lost(low));
        }
        self.values[x.index()] = value;
        self.is_assigned[x.index()] = true;
        let can_hold = self.filter.assign(x, &self.values);
        self.stopped = self.stopped.or(self.filter.stopped());
        let worth = if can_hold && self.stopped.is_none() {
            self.node(low, high)
        } else {
            Ok(self.lost(low))
        };
        self.filter.undo();
        self.is_assigned[x.index()] = false;
        worth
    }

    fn decision(&mut self, x: VarId, low: &N, high: &N) -> Result<Worth<N>, ScspError> {
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
                    // Without a utility, one certain policy is as good as another.
                    let is_enough = worth >= *high || self.task.is_sure && !self.task.wants_utility;
                    best = Some((worth, self.policy.decide(x, value, next)));
                    if is_enough {
                        break;
                    }
                }
                // The memory may still refer to the nodes.
                None if self.memory.is_on() => {}
                None => self.policy.rewind(mark),
            }
            if self.stopped.is_some() {
                break;
            }
        }
        Ok(if any_left { best } else { self.lost(low) })
    }

    fn chance(&mut self, x: VarId, low: &N, high: &N) -> Result<Worth<N>, ScspError> {
        let outcomes = self.draws[x.index()].outcomes(self.network, x, &self.values);
        if outcomes.is_empty() {
            return Err(self.network.undrawable(x, &|y| self.values[y.index()], None));
        }
        let n_outcomes = outcomes.len();
        self.look(n_outcomes as u64);
        let mut left: Vec<(Value, N)> = outcomes;
        left.retain(|(value, _)| self.filter.allows(x, *value));
        if self.task.is_sure && left.len() < n_outcomes {
            return Ok(None);
        }
        // Likely values decide soonest.
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
            // If the constraints must hold in every play, no value may be left out.
            if total >= *high && !self.task.is_sure {
                break;
            }
            if self.stopped.is_some() {
                break;
            }
        }
        if total < *low || self.task.is_sure && branches.len() < n_outcomes {
            return Ok(None);
        }
        branches.sort_unstable_by_key(|(value, _)| *value);
        Ok(Some((total, self.policy.draw(x, branches))))
    }

    fn count_node(&mut self) {
        self.statistics.n_nodes += 1;
        if self.statistics.n_nodes > self.config.max_nodes {
            self.stopped = Some(StopReason::Count);
        }
        if self.policy.n_bytes() > self.config.policy_bytes {
            self.stopped = Some(StopReason::Memory);
        }
        self.look(1);
    }

    /// Checks the deadline if enough steps were taken.
    fn look(&mut self, n_steps: u64) {
        self.n_steps += n_steps;
        if self.n_steps >= STEPS_PER_CHECK {
            self.n_steps = 0;
            if self.config.deadline.reached() {
                self.stopped = Some(StopReason::of_deadline());
            }
        }
    }
}

//! Maintaining consistency: propagate after every decision, refute decisions that fail.
//!
//! A branch is a list of decisions. A positive one, `x = a`, opens a level; when it fails,
//! the level is closed and the negative one, `x != a`, is added to the level before.
//!
//! Last conflict after Lecoutre, Sais, Tabary and Vidal, *Reasoning from last conflict(s) in
//! constraint programming*, AI 2009. Until the first solution, values are ordered by the bound
//! they leave, after Fages and Prud'homme, *Making the first solution good!*, ICTAI 2017.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ludex_base::{Rng, StopReason};

use super::heuristics::{Scores, ValueOrder};
use super::nogoods::{Literal, NogoodBase};
use super::parallel::Pool;
use super::restarts::Restarts;
use super::{Goal, Problem, SearchConfig, Statistics};
use crate::Value;
use crate::domains::{Cell, Conflict, VarId};

/// The branching scheme: whether another variable may be chosen after a value has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branching {
    /// Two branches: `x = a`, then `x != a` and any variable.
    Binary,
    /// One branch per value: `x = a`, `x = b`, ….
    DWay,
}

impl Branching {
    /// Both schemes with their names in options.
    pub const ALL: [(&'static str, Branching); 2] =
        [("binary", Branching::Binary), ("d-way", Branching::DWay)];
}

/// Largest domain that is probed for a good value before the first solution.
const MAX_PROBED_VALUES: u64 = 64;
/// Largest number of probes in all.
const MAX_PROBES: u64 = 50_000;

/// A decision of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decision {
    pub x: VarId,
    pub index: u32,
    pub is_positive: bool,
    /// Whether another thread searches the other half, so that this thread proves nothing about
    /// it.
    pub is_shared: bool,
}

impl Decision {
    /// Whether refutations below this decision depend on it. A negative decision whose positive
    /// half was refuted before holds in any case.
    fn is_condition(&self) -> bool {
        self.is_positive || self.is_shared
    }
}

/// Returns the decisions on which refutations below the branch depend.
fn conditions(branch: &[Decision]) -> Vec<Literal> {
    branch
        .iter()
        .filter(|decision| decision.is_condition())
        .map(|&decision| decision.into())
        .collect()
}

impl From<Decision> for Literal {
    fn from(decision: Decision) -> Self {
        let Decision { x, index, is_positive, .. } = decision;
        Self { x, index, is_positive }
    }
}

pub(super) struct Mac<'a> {
    problem: Problem,
    config: &'a SearchConfig,
    scores: Scores,
    rng: Rng,
    /// The variables of the network, then the auxiliary ones; each part has the open variables
    /// in front of a reversible limit.
    order: [Vec<VarId>; 2],
    n_open: [Cell; 2],
    branch: Vec<Decision>,
    /// The levels and the number of decisions that belong to the given subproblem.
    base_level: usize,
    n_prefix: usize,
    /// Levels up to this one have given their other half to other threads.
    n_given: usize,
    priority: Option<VarId>,
    last_solution: Option<Vec<Value>>,
    /// The number of values probed for the bound they leave.
    n_probes: u64,
    nogoods: Option<NogoodBase>,
    /// The number of nogoods taken from the pool, and whether they refute the whole network.
    n_taken: usize,
    is_refuted: bool,
    /// The decisions down to the last one whose other half another thread searches: this thread
    /// sees only the subproblem below them.
    own_part: Vec<Literal>,
    pub pool: Option<Arc<Pool>>,
    n_solutions: u64,
    statistics: Statistics,
}

type OnSolution<'a> = dyn FnMut(&[Value], Option<i64>) + 'a;

impl<'a> Mac<'a> {
    pub fn new(mut problem: Problem, config: &'a SearchConfig) -> Self {
        let n_variables = problem.posted.n_variables;
        let engine = &mut problem.posted.engine;
        let mut order = [Vec::new(), Vec::new()];
        for x in engine.domains().variables() {
            order[usize::from(x.index() >= n_variables)].push(x);
        }
        let n_open =
            [0, 1].map(|part: usize| engine.domains_mut().new_cell(order[part].len() as u64));
        let restarts = config.restarts != Restarts::Never
            && (problem.bound.is_some() || config.goal == Goal::First(1));
        let nogoods = (config.records_nogoods && restarts).then(|| {
            let base = NogoodBase::default();
            let vars = engine.domains().variables().collect();
            let propagator = base.propagator(vars, engine.domains().n_variables());
            engine.post(propagator);
            engine.propagate().expect("no nogood was recorded yet");
            base
        });
        let origins = std::mem::take(&mut problem.posted.origins);
        let scores = Scores::new(config.variable_order, &problem.posted.engine, origins);
        Self {
            problem,
            config,
            scores,
            rng: config.seed.rng(),
            order,
            n_open,
            branch: Vec::new(),
            base_level: 0,
            n_prefix: 0,
            n_given: 0,
            priority: None,
            last_solution: None,
            n_probes: 0,
            nogoods,
            n_taken: 0,
            is_refuted: false,
            own_part: Vec::new(),
            pool: None,
            n_solutions: 0,
            statistics: Statistics::default(),
        }
    }

    pub fn statistics(&self) -> Statistics {
        let n_propagations = self.problem.posted.engine.n_propagations();
        Statistics { n_propagations, ..self.statistics }
    }

    /// Searches the whole tree. Returns the reason if it stopped before the end.
    pub fn run(&mut self, on_solution: &mut OnSolution<'_>) -> Option<StopReason> {
        let restarts = if self.wants_restarts() { self.config.restarts } else { Restarts::Never };
        for run in 0.. {
            match self.explore(restarts.cutoff(run), on_solution) {
                Explored::All | Explored::Enough => return None,
                Explored::Stopped(reason) => return Some(reason),
                Explored::Cutoff => {}
            }
            self.statistics.n_restarts += 1;
            if self.restart().is_err() {
                return self
                    .problem
                    .posted
                    .engine
                    .is_stopped()
                    .then_some(StopReason::of_deadline());
            }
        }
        unreachable!("a run without cutoff ends")
    }

    fn wants_restarts(&self) -> bool {
        let wants_one = self.problem.bound.is_some() || self.config.goal == Goal::First(1);
        wants_one && self.pool.is_none()
    }

    /// Searches the subproblem below the decisions of `prefix`.
    pub fn run_below(&mut self, prefix: &[Decision], on_solution: &mut OnSolution<'_>) -> Below {
        self.problem.posted.engine.pop_to(0);
        self.branch.clear();
        let mut result = self.take_nogoods();
        self.is_refuted |= result.is_err() && !self.problem.posted.engine.is_stopped();
        if self.is_refuted {
            return Below::Done;
        }
        if result.is_ok() {
            self.problem.posted.engine.push_level();
            result = self.follow(prefix);
        }
        self.branch.extend_from_slice(prefix);
        self.own_part = conditions(prefix);
        self.n_prefix = prefix.len();
        self.base_level = 1;
        self.n_given = 1;
        let result = result.and_then(|()| self.tighten());
        let outcome = match result {
            Ok(()) => self.explore(u64::MAX, on_solution),
            Err(Conflict) => self.stop_reason().map_or(Explored::All, Explored::Stopped),
        };
        match outcome {
            Explored::Stopped(reason) => Below::Stopped(reason),
            Explored::Cutoff => {
                self.give_nogoods(self.refuted());
                Below::Cut
            }
            Explored::All => {
                let own_part = self.own_part.clone();
                self.give_nogoods(vec![own_part]);
                Below::Done
            }
            Explored::Enough => Below::Done,
        }
    }

    /// Applies the decisions that lead to a subproblem.
    fn follow(&mut self, prefix: &[Decision]) -> Result<(), Conflict> {
        let engine = &mut self.problem.posted.engine;
        prefix.iter().try_for_each(|decision| {
            engine.decide(|domains| {
                if decision.is_positive {
                    domains.fix_index(decision.x, decision.index)
                } else {
                    domains.remove_index(decision.x, decision.index)
                }
            })
        })
    }

    /// Adds the nogoods of other threads at the root.
    fn take_nogoods(&mut self) -> Result<(), Conflict> {
        let (Some(base), Some(pool)) = (&self.nogoods, &self.pool) else {
            return Ok(());
        };
        let engine = &mut self.problem.posted.engine;
        for nogood in pool.nogoods_after(self.n_taken) {
            self.n_taken += 1;
            base.add(nogood, engine.domains_mut())?;
        }
        engine.propagate()
    }

    fn give_nogoods(&mut self, nogoods: Vec<Vec<Literal>>) {
        if let (Some(_), Some(pool)) = (&self.nogoods, &self.pool) {
            self.statistics.n_nogoods += nogoods.len() as u64;
            pool.add_nogoods(nogoods);
        }
    }

    /// Returns one nogood for each refuted decision of the branch: the decisions it depends on,
    /// and the decision itself.
    fn refuted(&self) -> Vec<Vec<Literal>> {
        let is_refuted = |decision: &Decision| !decision.is_condition();
        let places = (0..self.branch.len()).filter(|&at| is_refuted(&self.branch[at]));
        places
            .map(|at| {
                let mut nogood = conditions(&self.branch[..at]);
                nogood.push(Literal { is_positive: true, ..self.branch[at].into() });
                nogood
            })
            .collect()
    }

    /// Applies the best bound known.
    fn tighten(&mut self) -> Result<(), Conflict> {
        match &self.problem.bound {
            Some(bound) => {
                self.problem.posted.engine.schedule(bound.propagator);
                self.problem.posted.engine.propagate()
            }
            None => Ok(()),
        }
    }

    fn stop_reason(&self) -> Option<StopReason> {
        if self.problem.posted.engine.is_stopped() || self.config.deadline.reached() {
            Some(StopReason::of_deadline())
        } else {
            let is_over = self.pool.as_ref().is_some_and(|pool| pool.is_over())
                || self.statistics.n_nodes >= self.config.max_nodes;
            is_over.then_some(StopReason::Count)
        }
    }

    /// Searches depth first from the current node until the tree is exhausted or a limit stops
    /// it.
    fn explore(&mut self, cutoff: u64, on_solution: &mut OnSolution<'_>) -> Explored {
        let last_conflicts = self.statistics.n_conflicts.saturating_add(cutoff);
        loop {
            // Step 1. Check the limits, and share work with idle threads.
            if let Some(reason) = self.stop_reason() {
                return Explored::Stopped(reason);
            }
            if self.pool.as_ref().is_some_and(|pool| pool.is_hungry()) {
                self.give();
            }
            // Step 2. Choose a variable; if none is open, this is a solution.
            let Some(x) = self.choose() else {
                self.solution(on_solution);
                let is_enough = self.problem.bound.is_none()
                    && matches!(self.config.goal, Goal::First(n) if self.n_solutions >= n);
                if is_enough {
                    return Explored::Enough;
                }
                if self.backtrack() { continue } else { return self.ended() }
            };
            // Step 3. Assign it and propagate.
            let index = self.value(x);
            self.statistics.n_nodes += 1;
            self.scores.before_decision(&self.problem.posted.engine);
            let engine = &mut self.problem.posted.engine;
            engine.push_level();
            self.branch.push(Decision { x, index, is_positive: true, is_shared: false });
            self.statistics.max_depth = self.statistics.max_depth.max(engine.level());
            let result = engine.decide(|domains| domains.fix_index(x, index));
            self.scores.after_decision(x, &self.problem.posted.engine, result.is_err());
            if result.is_ok() {
                if self.priority == Some(x) {
                    self.priority = None;
                }
                continue;
            }
            // Step 4. On a conflict, refute the last open decision.
            if self.problem.posted.engine.is_stopped() {
                return Explored::Stopped(StopReason::of_deadline());
            }
            self.scores.on_conflict(&self.problem.posted.engine);
            if self.config.uses_last_conflict && self.priority.is_none() {
                self.priority = Some(x);
            }
            let n_before = self.statistics.n_conflicts;
            if !self.backtrack() {
                return self.ended();
            }
            let n_new = self.statistics.n_conflicts - n_before;
            let is_counted_out = self.pool.as_ref().is_some_and(|pool| pool.count_conflicts(n_new));
            if self.statistics.n_conflicts >= last_conflicts || is_counted_out {
                return Explored::Cutoff;
            }
        }
    }

    fn ended(&self) -> Explored {
        if self.problem.posted.engine.is_stopped() {
            Explored::Stopped(StopReason::of_deadline())
        } else {
            Explored::All
        }
    }

    /// Undoes positive decisions, last first, until the refutation of one succeeds. Returns
    /// false when none is left.
    fn backtrack(&mut self) -> bool {
        while let Some(decision) = self.branch.pop() {
            let engine = &mut self.problem.posted.engine;
            if !decision.is_positive {
                continue;
            }
            if engine.level() <= self.base_level {
                return false;
            }
            let was_given = engine.level() <= self.n_given;
            engine.pop_level();
            self.statistics.n_conflicts += 1;
            if was_given {
                self.n_given = self.n_given.min(engine.level()).max(self.base_level);
                continue;
            }
            self.branch.push(Decision { is_positive: false, ..decision });
            if let Some(bound) = &self.problem.bound {
                engine.schedule(bound.propagator);
            }
            if engine.decide(|domains| domains.remove_index(decision.x, decision.index)).is_ok() {
                if self.config.branching == Branching::DWay {
                    self.priority = Some(decision.x);
                }
                return true;
            }
            if engine.is_stopped() {
                return false;
            }
            self.scores.on_conflict(&self.problem.posted.engine);
        }
        false
    }

    /// Records the refuted decisions as nogoods and returns to the root.
    fn restart(&mut self) -> Result<(), Conflict> {
        let refuted = self.refuted();
        self.branch.clear();
        self.problem.posted.engine.pop_to(0);
        if let Some(base) = &self.nogoods {
            for nogood in refuted {
                let n_new = base.add(nogood, self.problem.posted.engine.domains_mut())?;
                self.statistics.n_nogoods += u64::from(n_new);
            }
        }
        self.problem.posted.engine.propagate()?;
        self.tighten()
    }

    /// Gives the other half of the decision nearest to the root to another thread.
    fn give(&mut self) {
        let pool = Arc::clone(self.pool.as_ref().expect("only threads of a pool give work away"));
        let mut level = self.base_level;
        // The decisions of the prefix opened no level of their own.
        for (at, decision) in self.branch.iter().enumerate().skip(self.n_prefix) {
            if !decision.is_positive {
                continue;
            }
            level += 1;
            if level > self.n_given {
                let mut given = self.branch[..at].to_vec();
                given.push(Decision { is_positive: false, is_shared: true, ..*decision });
                self.own_part = conditions(&self.branch[..=at]);
                self.n_given = level;
                pool.offer(given);
                return;
            }
        }
    }

    /// Returns an open variable, one of the network as long as there is one.
    fn choose(&mut self) -> Option<VarId> {
        if let Some(x) = self.priority {
            if !self.problem.posted.engine.domains().is_fixed(x) {
                return Some(x);
            }
            self.priority = None;
        }
        for part in 0..2 {
            let domains = self.problem.posted.engine.domains_mut();
            let before = domains.get(self.n_open[part]) as usize;
            let order = &mut self.order[part];
            let mut n_open = before;
            for place in (0..before).rev() {
                if domains.is_fixed(order[place]) {
                    n_open -= 1;
                    order.swap(place, n_open);
                }
            }
            if n_open != before {
                domains.set(self.n_open[part], n_open as u64);
            }
            if n_open > 0 {
                return Some(self.scores.choose(&order[..n_open], &self.problem.posted.engine));
            }
        }
        None
    }

    fn value(&mut self, x: VarId) -> u32 {
        let domains = self.problem.posted.engine.domains();
        if let Some(bound) = &self.problem.bound
            && bound.x == x
        {
            let (lo, hi) = domains.index_bounds(x);
            return if bound.is_minimized { lo } else { hi };
        }
        if self.config.value_order == ValueOrder::LastSolution
            && self.last_solution.is_none()
            && let Some(index) = self.promising_value(x)
        {
            return index;
        }
        let last = self.last_solution.as_deref();
        let domains = self.problem.posted.engine.domains();
        self.config.value_order.choose(x, last, domains, &mut self.rng)
    }

    /// Returns the value that leaves the best bound for the objective, found by propagation.
    /// Returns `None` without an objective, for wide domains and after many probes.
    fn promising_value(&mut self, x: VarId) -> Option<u32> {
        let bound = self.problem.bound.as_ref()?;
        let engine = &mut self.problem.posted.engine;
        let n_values = engine.domains().size(x);
        if n_values > MAX_PROBED_VALUES || self.n_probes >= MAX_PROBES {
            return None;
        }
        self.n_probes += n_values;
        let indexes: Vec<u32> = engine.domains().indexes(x).collect();
        let mut best: Option<(i64, u32)> = None;
        for index in indexes {
            engine.push_level();
            let is_consistent = engine.decide(|domains| domains.fix_index(x, index)).is_ok();
            let cost = if bound.is_minimized {
                i64::from(engine.domains().min(bound.x))
            } else {
                -i64::from(engine.domains().max(bound.x))
            };
            engine.pop_level();
            if engine.is_stopped() {
                return None;
            }
            if is_consistent && best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, index));
            }
        }
        best.map(|(_, index)| index)
    }

    fn solution(&mut self, on_solution: &mut OnSolution<'_>) {
        let domains = self.problem.posted.engine.domains();
        let values: Vec<Value> = (0..self.problem.posted.n_variables)
            .map(|at| domains.fixed_value(VarId::new(at)).expect("a solution fixes everything"))
            .collect();
        let mut value = None;
        if let Some(bound) = &self.problem.bound {
            let found = i64::from(domains.fixed_value(bound.x).expect("a solution has a value"));
            // Another thread may have found a better solution first.
            let better = if bound.is_minimized {
                bound.shared.fetch_min(found - 1, Ordering::Relaxed) >= found
            } else {
                bound.shared.fetch_max(found + 1, Ordering::Relaxed) <= found
            };
            if !better {
                return;
            }
            value = Some(found);
        }
        self.n_solutions += 1;
        on_solution(&values, value);
        self.last_solution = Some(values);
    }
}

/// The outcome of the search of a subproblem.
pub(super) enum Below {
    /// The subproblem was exhausted or given away, or enough solutions were found.
    Done,
    /// The round ended first.
    Cut,
    /// A limit stopped the search.
    Stopped(StopReason),
}

enum Explored {
    All,
    Enough,
    Cutoff,
    Stopped(StopReason),
}

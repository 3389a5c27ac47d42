//! Search over the levels of a schedule.
//!
//! [`decide`](Searcher::decide) decides whether a model is true, and [`optimize`] computes its
//! measures; `reasoned` is the search that keeps track of reasons.

mod bound;
mod decide;
mod engines;
mod extract;
mod foresight;
mod history;
mod memory;
pub(crate) mod optimize;
pub(crate) mod parallel;
mod reasoned;
mod refine;
pub(crate) mod share;

use std::sync::Arc;

use ludex_base::StopReason;
use ludex_csp::Value;

use crate::config::{SolveConfig, Statistics};
use crate::error::ModelError;
use crate::measure::Partial;
use crate::schedule::Schedule;
use crate::schedule::interval::Range;
use engines::Engines;
pub(crate) use extract::extract;
use history::History;
pub(crate) use memory::Memory;
use optimize::Outcome;
use rustc_hash::FxHashMap;

/// The search was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stopped(pub StopReason);

/// A position in the search tree: the values of the decided levels are known.
pub(crate) struct Searcher<'p> {
    pub schedule: &'p Schedule<'p>,
    pub config: &'p SolveConfig,
    pub values: Vec<Value>,
    pub memory: Arc<Memory>,
    /// How often each value decided, by class of levels.
    pub history: Vec<History>,
    /// The place of the last deciding value of each level.
    last_decider: Vec<u32>,
    /// Lookups and hits of the memory, by scope.
    pub asked: Vec<(u64, u64)>,
    pub statistics: Statistics,
    /// The maximal number of nodes.
    pub max_nodes: u64,
    /// The scope where the prefix is cut, and the verdict assumed there.
    pub cut: Option<(usize, bool)>,
    /// Remembered outcomes, by scope and key.
    outcomes: FxHashMap<(u32, u128), Option<Outcome>>,
    /// The best value so far of the criterion of each scope, in its current state.
    pub incumbents: Vec<Option<i64>>,
    /// The aggregates of the universal scopes that are being searched.
    partials: Vec<Vec<Partial>>,
    /// The ranges of variables while a bound is computed.
    ranges: Vec<Range>,
    /// What the search with reasons learned about each scope.
    learnt: Vec<reasoned::Learnt>,
    engines: Engines,
    /// The shared state of several threads, and the offers that this thread works on.
    pool: Option<&'p parallel::Pool>,
    offers: Vec<Arc<parallel::Offer>>,
    /// The best value known to any thread, if threads share an optimizing first scope.
    best_elsewhere: Option<&'p share::SharedBest>,
    /// A choice of the first scope that is known to win, by variable.
    pub first_choice: Option<Vec<Value>>,
}

impl<'p> Searcher<'p> {
    pub fn new(
        schedule: &'p Schedule<'p>,
        config: &'p SolveConfig,
        memory: Arc<Memory>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            schedule,
            config,
            values: vec![0; schedule.model.variables().len()],
            memory,
            history: schedule.history_sizes.iter().map(|&n| History::new(n)).collect(),
            last_decider: vec![u32::MAX; schedule.levels.len()],
            asked: vec![(0, 0); schedule.first_level.len()],
            statistics: Statistics::default(),
            max_nodes: config.max_nodes,
            cut: None,
            outcomes: FxHashMap::default(),
            incumbents: vec![None; schedule.first_level.len()],
            partials: Vec::new(),
            ranges: vec![(0, 0); schedule.model.variables().len()],
            learnt: schedule.first_level.iter().map(|_| reasoned::Learnt::default()).collect(),
            engines: Engines::new(schedule, config)?,
            pool: None,
            offers: Vec::new(),
            best_elsewhere: None,
            first_choice: None,
        })
    }

    /// Forgets all verdicts.
    pub fn forget(&mut self) {
        self.memory = Arc::new(Memory::new(self.config.memory_bytes));
        self.outcomes.clear();
    }

    /// Counts a node, and checks the limits every 1,024 nodes.
    #[inline]
    pub fn count_node(&mut self, level: usize) -> Result<(), Stopped> {
        self.statistics.n_nodes += 1;
        self.statistics.max_depth = self.statistics.max_depth.max(level + 1);
        if self.statistics.n_nodes.is_multiple_of(64) && self.is_void() {
            return Err(Stopped(StopReason::Fault));
        }
        if self.statistics.n_nodes.is_multiple_of(1024) {
            if self.config.deadline.reached() {
                return Err(Stopped(StopReason::of_deadline()));
            }
            if self.statistics.n_nodes >= self.max_nodes {
                return Err(Stopped(StopReason::Count));
            }
        }
        Ok(())
    }

    /// Assigns a value to the variable of a level and runs its steps; returns whether the choice is
    /// legal.
    #[inline]
    pub fn choose(&mut self, level: usize, place: usize) -> bool {
        let spec = &self.schedule.levels[level];
        if let Some(x) = spec.x {
            self.values[x.index()] = spec.values[place];
        }
        if self.engines.filters(spec.scope) && !self.choose_in_engine(level) {
            return false;
        }
        let steps = spec.steps.get(place).unwrap_or(&spec.steps[0]);
        steps.iter().all(|step| step.run(&mut self.values))
    }

    /// Runs the opening steps of a scope; returns whether its owner can go on.
    #[inline]
    pub fn open(&mut self, level: usize) -> bool {
        let spec = &self.schedule.levels[level];
        spec.opening.iter().all(|step| step.run(&mut self.values)) && self.open_engine(spec.scope)
    }

    /// Whether the part of the goal checked at a level holds.
    #[inline]
    pub fn goal_holds(&self, level: usize) -> bool {
        self.schedule.levels[level].goal.iter().all(|check| check.holds(&self.values))
    }
}

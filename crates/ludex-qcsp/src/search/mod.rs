//! Search over the levels of a schedule.
//!
//! [`decide`](Searcher::decide) answers whether a model is true, [`optimize`] what its
//! measures become; `reasoned` is the search that keeps track of why.

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

/// A searcher stands somewhere in the tree: values of decided levels are known.
pub(crate) struct Searcher<'p> {
    pub schedule: &'p Schedule<'p>,
    pub config: &'p SolveConfig,
    pub values: Vec<Value>,
    pub memory: Arc<Memory>,
    /// By class of levels: which values decided how often.
    pub history: Vec<History>,
    /// By level: the place of the value that decided last.
    last_decider: Vec<u32>,
    /// By scope: how often the memory was asked, and answered.
    pub asked: Vec<(u64, u64)>,
    pub statistics: Statistics,
    /// Stop after this many nodes.
    pub max_nodes: u64,
    /// The scope where the prefix is cut, and the verdict that is assumed there.
    pub cut: Option<(usize, bool)>,
    /// Outcomes remembered, by scope and key.
    outcomes: FxHashMap<(u32, u128), Option<Outcome>>,
    /// By scope, the best value of its criterion so far in the state where it is searched.
    pub incumbents: Vec<Option<i64>>,
    /// The aggregates of the universal scopes that are being searched.
    partials: Vec<Vec<Partial>>,
    /// What variables can be, while a bound is computed.
    ranges: Vec<Range>,
    /// By scope, what the search with reasons learnt.
    learnt: Vec<reasoned::Learnt>,
    engines: Engines,
    /// What several threads have in common, and the offers that this one works on.
    pool: Option<&'p parallel::Pool>,
    offers: Vec<Arc<parallel::Offer>>,
    /// When threads share an optimizing first scope: the best value that any knows.
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

    /// Counts a node, and asks every 1,024 nodes whether to stop.
    #[inline]
    pub fn count_node(&mut self, level: usize) -> Result<(), Stopped> {
        self.statistics.n_nodes += 1;
        self.statistics.max_depth = self.statistics.max_depth.max(level + 1);
        if self.statistics.n_nodes.is_multiple_of(64) && self.is_void() {
            return Err(Stopped(StopReason::Fault));
        }
        if self.statistics.n_nodes.is_multiple_of(1024) {
            if self.config.deadline.reached() {
                return Err(Stopped(StopReason::Time));
            }
            if self.statistics.n_nodes >= self.max_nodes {
                return Err(Stopped(StopReason::Count));
            }
        }
        Ok(())
    }

    /// Gives the variable of a level its value and does what follows; says whether there is
    /// such a choice.
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

    /// Does what a scope needs before its first variable; says whether its owner can go on.
    #[inline]
    pub fn open(&mut self, level: usize) -> bool {
        let spec = &self.schedule.levels[level];
        spec.opening.iter().all(|step| step.run(&mut self.values)) && self.open_engine(spec.scope)
    }

    /// Whether the part of the goal that is checked at a level holds.
    #[inline]
    pub fn goal_holds(&self, level: usize) -> bool {
        self.schedule.levels[level].goal.iter().all(|check| check.holds(&self.values))
    }
}

//! How to solve, and what comes out.

use std::time::Duration;

use ludex_base::{Deadline, Seed, StopReason};
use ludex_csp::Verdict;

use crate::strategy::Strategy;

/// How to solve a model.
#[derive(Clone, Debug)]
pub struct SolveConfig {
    /// How far constraints are propagated.
    pub propagation: Propagation,
    /// A quantified consistency that domains are brought to before the search.
    pub consistency: Option<Consistency>,
    /// In which order values are tried, where the user gave none.
    pub value_order: ValueOrder,
    /// Whether verdicts are remembered by the variables they depend on.
    pub memory: bool,
    /// Whether declared symmetries are used by the memory.
    pub symmetry: bool,
    /// Whether a verdict that does not depend on a variable spares its other values: conflict
    /// directed backjumping for the existential player, solution directed pruning for the
    /// universal one.
    pub backjumping: bool,
    /// Whether the part of the assignment that decided a verdict is remembered.
    pub learning: bool,
    /// Whether values that can't hurt their owner are taken at once, and left out of
    /// universal domains. Only in unrestricted models.
    pub pure_values: bool,
    /// Whether an optimizing scope skips choices that a bound shows to be no better.
    pub branch_and_bound: bool,
    /// Whether a model that begins with a large existential and a closed universal scope is
    /// solved by counter-examples.
    pub refinement: bool,
    /// Whether the prefix is first cut after few scopes, then after more and more.
    pub deepening: bool,
    /// What strategy is wanted.
    pub strategy: StrategyRequest,
    /// How many bytes the memory may use.
    pub memory_bytes: usize,
    /// How many bytes a strategy may use.
    pub strategy_bytes: usize,
    /// How many threads work.
    pub n_threads: usize,
    /// How many nodes one thread searches before the others join: small models are decided
    /// before threads and a table that they share are worth having.
    pub nodes_alone: u64,
    /// Stop after this many nodes.
    pub max_nodes: u64,
    /// Where random choices come from.
    pub seed: Seed,
    /// From which sizes on methods are used.
    pub sizes: Sizes,
    /// When to stop. It is asked every 1,024 nodes, and inside propagation.
    pub deadline: Deadline,
}

/// From which sizes on methods pay. They change the time, never the answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sizes {
    /// With fewer choices than this in the first scope, they are tried one after the other and
    /// not refined by counter-examples.
    pub min_refined: u64,
    /// With fewer choices than this in a scope, checking them is faster than propagating.
    pub min_propagated: u64,
    /// Levels with more values than this are not played branch by branch for a bound.
    pub max_branches: usize,
    /// With fewer levels than this to the end, a node is searched by one thread.
    pub min_shared_levels: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { min_refined: 10_000, min_propagated: 1_000, max_branches: 64, min_shared_levels: 7 }
    }
}

impl Default for SolveConfig {
    fn default() -> Self {
        Self {
            propagation: Propagation::Auto,
            consistency: None,
            value_order: ValueOrder::Auto,
            memory: true,
            symmetry: true,
            backjumping: false,
            learning: false,
            pure_values: false,
            branch_and_bound: true,
            refinement: true,
            deepening: false,
            strategy: StrategyRequest::None,
            memory_bytes: 512 << 20,
            strategy_bytes: 256 << 20,
            n_threads: 1,
            nodes_alone: 1 << 17,
            max_nodes: u64::MAX,
            seed: Seed(0),
            sizes: Sizes::default(),
            deadline: Deadline::never(),
        }
    }
}

/// How far constraints are propagated during the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Propagation {
    /// By the shape of the model: none where expressions can be evaluated directly.
    Auto,
    /// Constraints are checked when their variables are known.
    None,
    /// Each restrictor is propagated while its scope is searched.
    Restrictor,
    /// Each restrictor is propagated together with those after it, as far as their scopes are
    /// declared non-blocking: what leaves one of them without a solution can't be chosen.
    Fusion,
    /// When a scope is opened, so is every restrictor after it, and the goal.
    Cascade,
    /// The cascade after every single assignment.
    Full,
}

impl Propagation {
    /// All ways with their names in options.
    pub const ALL: [(&'static str, Propagation); 6] = [
        ("auto", Propagation::Auto),
        ("none", Propagation::None),
        ("restrictor", Propagation::Restrictor),
        ("fusion", Propagation::Fusion),
        ("cascade", Propagation::Cascade),
        ("full", Propagation::Full),
    ];
}

/// A consistency of quantified networks. From weak to strong; all but the first look at one
/// goal constraint at a time and are for constraints with few tuples.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Consistency {
    /// Quantified arc consistency by existential analysis: classical propagators for
    /// arithmetic and Boolean constraints, and failure when a universal domain shrinks.
    Qac,
    /// Weak quantified generalized arc consistency.
    Wqgac,
    /// The consistency of Bordeaux and Monfroy: the value is in an outcome.
    Bmqgac,
    /// Strong quantified generalized arc consistency.
    Sqgac,
}

impl Consistency {
    /// All consistencies with their names in options.
    pub const ALL: [(&'static str, Consistency); 4] = [
        ("qac", Consistency::Qac),
        ("wqgac", Consistency::Wqgac),
        ("bmqgac", Consistency::Bmqgac),
        ("sqgac", Consistency::Sqgac),
    ];
}

/// In which order values are tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueOrder {
    /// [`ValueOrder::Goal`] with [`ValueOrder::History`] among equals.
    Auto,
    /// Ascending.
    Ascending,
    /// After Verger and Bessière: values that block the opponent's next scope, or lead to a
    /// verdict that is remembered and wanted, come first. A value after which the owner will be
    /// blocked is refuted by one such look of the opponent.
    Goal,
    /// Values that decided other nodes of the scope first.
    History,
    /// The general order of Verger and Bessière in full: after what [`ValueOrder::Goal`] sees,
    /// values that keep the owner from being blocked in the scopes that follow, and that
    /// block the opponent there, nearest first.
    Preserve,
}

impl ValueOrder {
    /// All orders with their names in options.
    pub const ALL: [(&'static str, ValueOrder); 5] = [
        ("auto", ValueOrder::Auto),
        ("ascending", ValueOrder::Ascending),
        ("goal", ValueOrder::Goal),
        ("history", ValueOrder::History),
        ("preserve", ValueOrder::Preserve),
    ];
}

/// What strategy is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StrategyRequest {
    /// None.
    None,
    /// One.
    One,
    /// All winning ones, as one graph.
    All,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether the model is true.
    pub verdict: Verdict,
    /// What the first criterion is in the end, or the first aggregate when the first scope
    /// is universal. When the search was stopped, the best found so far.
    pub value: Option<i64>,
    /// The strategy of the winner, if it was asked for and there is room.
    pub strategy: Option<Strategy>,
    /// Why there is no strategy although it was asked for.
    pub strategy_refused: Option<StrategyRefused>,
    /// What was done.
    pub statistics: Statistics,
}

/// Why there is no strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StrategyRefused {
    /// It needs more memory than allowed.
    #[error("the strategy does not fit in {bytes} bytes; allow more or ask for none")]
    TooLarge {
        /// How many bytes it may use.
        bytes: usize,
    },
    /// The search stopped before the strategy was complete.
    #[error("the search stopped ({}) before the strategy was complete", .0.name())]
    Stopped(StopReason),
}

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Choices made.
    pub n_nodes: u64,
    /// Verdicts found in the memory.
    pub n_memory_hits: u64,
    /// Verdicts put in the memory.
    pub n_memory_stores: u64,
    /// Parts of assignments remembered with the verdict they decided.
    pub n_learnt: u64,
    /// Values spared because a verdict did not depend on them.
    pub n_backjumps: u64,
    /// Values spared by a bound.
    pub n_bounded: u64,
    /// Values removed, and nodes decided, by propagation.
    pub n_pruned: u64,
    /// Counter-examples that became constraints.
    pub n_refinements: u64,
    /// The longest branch, in variables.
    pub max_depth: usize,
    /// Time to prepare the search.
    pub setup_time: Duration,
    /// Time in all.
    pub time: Duration,
}

impl Statistics {
    /// Adds what another thread did.
    pub(crate) fn absorb(&mut self, other: &Statistics) {
        self.n_nodes += other.n_nodes;
        self.n_memory_hits += other.n_memory_hits;
        self.n_memory_stores += other.n_memory_stores;
        self.n_learnt += other.n_learnt;
        self.n_backjumps += other.n_backjumps;
        self.n_bounded += other.n_bounded;
        self.n_pruned += other.n_pruned;
        self.n_refinements += other.n_refinements;
        self.max_depth = self.max_depth.max(other.max_depth);
    }
}

//! The options of the solver, and its report.

use std::time::Duration;

use ludex_base::{Deadline, Seed, StopReason};
use ludex_csp::Verdict;

use crate::strategy::Strategy;

/// The options of [`solve`](crate::solve()).
#[derive(Clone, Debug)]
pub struct SolveConfig {
    /// How far to propagate constraints.
    pub propagation: Propagation,
    /// A quantified consistency to enforce on the domains before the search.
    pub consistency: Option<Consistency>,
    /// The order of values for variables without an order in the model.
    pub value_order: ValueOrder,
    /// Whether to remember verdicts, by the variables they depend on.
    pub memory: bool,
    /// Whether the memory uses declared symmetries.
    pub symmetry: bool,
    /// Whether to skip the other values of a variable on which a verdict does not depend:
    /// conflict-directed backjumping for the existential player, solution-directed pruning for the
    /// universal one.
    pub backjumping: bool,
    /// Whether to learn the part of the assignment that decided a verdict.
    pub learning: bool,
    /// Whether to take values that cannot hurt their owner at once, and to drop them from universal
    /// domains. Applies only to unrestricted models.
    pub pure_values: bool,
    /// Whether an optimizing scope skips choices that a bound shows to be no better.
    pub branch_and_bound: bool,
    /// Whether to solve a model that begins with a large existential and a closed universal scope
    /// by counterexample-guided refinement.
    pub refinement: bool,
    /// Whether to deepen iteratively: cut the prefix after a few scopes first, then after more.
    pub deepening: bool,
    /// The strategy to return.
    pub strategy: StrategyRequest,
    /// The maximal size of the memory, in bytes.
    pub memory_bytes: usize,
    /// The maximal size of a strategy, in bytes.
    pub strategy_bytes: usize,
    /// The number of threads.
    pub n_threads: usize,
    /// The number of nodes that one thread searches before the others join. Small models are
    /// decided before threads and a shared table pay off.
    pub nodes_alone: u64,
    /// The maximal number of nodes.
    pub max_nodes: u64,
    /// The seed of random choices.
    pub seed: Seed,
    /// The sizes from which methods are used.
    pub sizes: Sizes,
    /// The deadline. The search checks it every 1,024 nodes and inside propagation.
    pub deadline: Deadline,
}

/// The sizes from which methods pay off. They change the time, never the answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sizes {
    /// The minimal number of choices in the first scope for refinement by counterexamples; with
    /// fewer, the search tries them one by one.
    pub min_refined: u64,
    /// The minimal number of choices in a scope for propagation; with fewer, checking is faster.
    pub min_propagated: u64,
    /// The maximal number of values of a level that is played branch by branch for a bound.
    pub max_branches: usize,
    /// The minimal number of levels below a node that several threads share.
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
    /// Depends on the shape of the model: none if expressions can be evaluated directly.
    Auto,
    /// Checks constraints once their variables are assigned.
    None,
    /// Propagates each restrictor while its scope is searched.
    Restrictor,
    /// Propagates each restrictor together with the following ones, as far as their scopes are
    /// declared non-blocking: a choice that leaves one of them without a solution is impossible.
    Fusion,
    /// Propagates every later restrictor and the goal when a scope is opened.
    Cascade,
    /// Runs the cascade after every single assignment.
    Full,
}

impl Propagation {
    /// All levels of propagation with their names in options.
    pub const ALL: [(&'static str, Propagation); 6] = [
        ("auto", Propagation::Auto),
        ("none", Propagation::None),
        ("restrictor", Propagation::Restrictor),
        ("fusion", Propagation::Fusion),
        ("cascade", Propagation::Cascade),
        ("full", Propagation::Full),
    ];
}

/// A consistency of quantified networks, from weak to strong.
///
/// All except the first look at one goal constraint at a time and suit constraints with few tuples.
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

/// The order in which values are tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueOrder {
    /// [`ValueOrder::Goal`] with [`ValueOrder::History`] among equals.
    Auto,
    /// Ascending.
    Ascending,
    /// The order of Verger and Bessière: values that block the opponent's next scope, or lead to a
    /// remembered winning verdict, come first. A value after which the owner will be blocked is
    /// refuted by one such lookahead of the opponent.
    Goal,
    /// Values first that decided other nodes of the scope.
    History,
    /// The complete general order of Verger and Bessière: after the criteria of
    /// [`ValueOrder::Goal`], values that keep the owner from being blocked in the following scopes,
    /// and that block the opponent there, nearest first.
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

/// The strategy to return.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StrategyRequest {
    /// No strategy.
    None,
    /// One winning strategy.
    One,
    /// All winning strategies, as one graph.
    All,
}

/// The result of [`solve`](crate::solve()).
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether the model is true.
    pub verdict: Verdict,
    /// The value of the first criterion, or of the first aggregate if the first scope is universal.
    /// If the search was stopped, the best value found so far.
    pub value: Option<i64>,
    /// The strategy of the winner, if it was requested and fits in memory.
    pub strategy: Option<Strategy>,
    /// The reason why a requested strategy is missing.
    pub strategy_refused: Option<StrategyRefused>,
    /// Counters of the search.
    pub statistics: Statistics,
}

/// The reason why a requested strategy is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StrategyRefused {
    /// It needs more memory than allowed.
    #[error("the strategy does not fit in {bytes} bytes; allow more or ask for none")]
    TooLarge {
        /// The limit in bytes.
        bytes: usize,
    },
    /// The search stopped before the strategy was complete.
    #[error("the search stopped ({}) before the strategy was complete", .0.name())]
    Stopped(StopReason),
}

/// Counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Number of choices made.
    pub n_nodes: u64,
    /// Number of verdicts found in the memory.
    pub n_memory_hits: u64,
    /// Number of verdicts stored in the memory.
    pub n_memory_stores: u64,
    /// Number of partial assignments learned with the verdict they decided.
    pub n_learnt: u64,
    /// Number of values skipped because a verdict did not depend on them.
    pub n_backjumps: u64,
    /// Number of values skipped by a bound.
    pub n_bounded: u64,
    /// Number of values removed, and nodes decided, by propagation.
    pub n_pruned: u64,
    /// Number of counterexamples that became constraints.
    pub n_refinements: u64,
    /// The longest branch, in variables.
    pub max_depth: usize,
    /// Time to prepare the search.
    pub setup_time: Duration,
    /// Total time.
    pub time: Duration,
}

impl Statistics {
    /// Adds the counters of another thread.
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

//! Monte Carlo tree search: UCT for any number of roles, with policies that plug in.
//!
//! Each iteration descends from the root, adds one node, plays a game out from there and adds its
//! goals, one per role, to the edges that it followed. For complete information, any number of
//! roles and any goals, since each role is assumed to play for its own. `random` draws uniformly.
//! Roles that move simultaneously choose independently (*decoupled*), or one after another in
//! stages, we first, so that the others answer a move that they do not see in the game (*joint*:
//! the statistics are those of joint moves, and the values are pessimistic).
//!
//! After Kocsis and Szepesvári, *Bandit Based Monte-Carlo Planning*, 2006; several roles after
//! Sturtevant, *An Analysis of UCT in Multi-player Games*, 2008; threads that share one tree
//! without locks after Enzenberger and Müller, *A Lock-free Multithreaded Monte-Carlo Tree Search
//! Algorithm*, 2009. The exploration constant is for rewards from 0 to 1, a scale that the
//! literature often leaves open.
//!
//! Read the modules in this order:
//!
//! 1. [`selection`], [`playout`]: the policies, and [`registry`], which names them. [`advice`]:
//!    other sources of the values of states.
//! 2. `tree`, `index`, `amaf`: the memory of the search; `room`: how it stays within its limit.
//! 3. `descent`, `expand`, `worker`, `learn`, `solver`: an iteration.
//! 4. `report`: the final report.
//! 5. [`root`]: several trees side by side.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use ludex_base::{RoleId, StopReason};
use ludex_game::{Cursor, MAX_RANDOM_STEPS, Playouts, StateOf};

use crate::clock::Clock;
use crate::evaluate::{Evaluation, Weights};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::report::SearchReport;
use crate::roles::{Roles, hash_of};
use crate::searcher::Searcher;

pub mod selection;
pub mod playout;
pub mod registry;
pub mod advice;
mod tree;
mod index;
mod amaf;
mod room;
mod descent;
mod expand;
mod worker;
mod learn;
mod solver;
mod report;
pub mod root;

pub(crate) use report::choose;

use advice::Adviser;
use expand::{ExpandRules, Expander};
use registry::{DrawName, PlayoutName, SelectionName};
use tree::{Full, Kind, Tree};
use worker::{Ending, Round, Worker};

crate::option_names! {
    /// How simultaneous roles choose.
    pub enum Simultaneous {
        /// Independently, each by the statistics of its own moves.
        Decoupled = "decoupled",
        /// One after another, the searching role first.
        Joint = "joint",
    }
}

crate::search_options! {
    /// Options of [`Uct`].
    pub struct UctOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// first-play urgency: the score of an untried move
        fpu: f64 = 2.0,
        /// selection policy: ucb, rave, grave or history
        selection: SelectionName = SelectionName::Ucb,
        /// playout policy: uniform, mast, to-mast, nst, past or fast
        playout: PlayoutName = PlayoutName::Uniform,
        /// simultaneous choices: decoupled or joint
        simultaneous: Simultaneous = Simultaneous::Decoupled,
        /// merge paths of equal length to the same state
        dag: bool = true,
        /// keep the tree from move to move
        reuse: bool = true,
        /// leaves per batch of playouts
        leaves: usize = 1,
        /// playouts from each leaf
        playouts: usize = 1,
        /// threads that share the tree; 0 for as many as the limits allow
        threads: usize = 0,
        /// maximum iterations per move; 0 for no limit
        iterations: usize = 0,
        /// rave: visits at which both means count equally
        equivalence: f64 = 250.0,
        /// grave: how fast the ancestor's weight falls
        bias: f64 = 0.00001,
        /// grave: minimum playouts of the ancestor
        reference: usize = 50,
        /// history: weight of moves that did well elsewhere
        history: f64 = 3.0,
        /// choice in playouts that learn: greedy or gibbs
        draw: DrawName = DrawName::Greedy,
        /// greedy: probability of a uniform choice
        epsilon: f64 = 0.4,
        /// gibbs: temperature of the distribution
        temperature: f64 = 0.5,
        /// steps after which a playout is cut and the state evaluated; 0 to play to the end
        stop: usize = 0,
        /// stop: weight of mobility in the evaluation
        mobility: f64 = 1.0,
        /// stop: weight of similarity to good final states in the evaluation
        proximity: f64 = 0.0,
    }
}

/// UCT with the policies of its options.
pub struct Uct<G: Playouts> {
    name: &'static str,
    game: G,
    options: UctOptions,
    roles: Roles,
    me: Option<RoleId>,
    tree: Option<Tree<StateOf<G>>>,
    workers: Vec<Worker<G::Cursor, G::Runner>>,
    adviser: Option<Box<dyn Adviser<StateOf<G>>>>,
}

impl<I: Ingredients> Search<I> for UctOptions {
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Uct::new(name, from.game(), self.clone()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts + Clone> Uct<G> {
    /// Creates a search without knowledge.
    pub fn new(name: &'static str, game: &G, options: UctOptions) -> Self {
        let roles = Roles::of(game);
        Self {
            name,
            game: game.clone(),
            options,
            roles,
            me: None,
            tree: None,
            workers: Vec::new(),
            adviser: None,
        }
    }

    /// Adds an adviser, which the first thread asks about states.
    pub fn advised(mut self, adviser: Box<dyn Adviser<StateOf<G>>>) -> Self {
        self.adviser = Some(adviser);
        self
    }

    /// Prepares a search from a state; `None` if nothing can be searched there.
    fn prepare(&mut self, root: &G::Cursor, me: RoleId, limits: &SearchLimits) -> Option<()> {
        // Step 1. The worker of a thread keeps what its policy learned; only its seed is new.
        let n_threads = match self.options.threads {
            0 => limits.threads.max(1),
            n => n,
        };
        while self.workers.len() < n_threads {
            self.workers.push(Worker::new(
                root.clone(),
                self.game.runner(),
                self.options.selection.build(&self.options),
                self.options.playout.build(&self.options),
                Evaluation::new(self.weights(), limits.seed.rng()),
                limits.seed.rng(),
            ));
        }
        self.workers.truncate(n_threads);
        let weights = self.weights();
        if let Some(adviser) = self.adviser.take() {
            self.workers[0].adviser = Some(adviser);
        }
        for (thread_idx, worker) in self.workers.iter_mut().enumerate() {
            worker.rng = limits.seed.child(thread_idx as u64).rng();
            worker.n_playouts = 0;
            worker.max_depth = 0;
            if self.options.stop > 0 {
                let seed = limits.seed.child(u64::MAX - thread_idx as u64);
                worker.evaluation = Evaluation::new(weights, seed.rng());
                let mut clock = Clock::new(&limits.deadline);
                let players = |role| Some(role) != self.roles.random;
                worker.evaluation.prepare(&mut root.clone(), self.roles, players, &mut clock);
            }
        }
        // Step 2. Find the root in the tree of the last move, or begin a new tree.
        if self.me != Some(me) || !self.options.reuse || !self.go_to(root) {
            self.begin_tree(root, me, limits)?;
        }
        self.me = Some(me);
        Some(())
    }

    /// Returns the smaller of the limits of the caller and of the options.
    fn max_iterations(&self, limits: &SearchLimits) -> Option<u64> {
        let own = (self.options.iterations > 0).then_some(self.options.iterations as u64);
        limits.iterations.into_iter().chain(own).min()
    }

    fn weights(&self) -> Weights {
        let UctOptions { mobility, proximity, .. } = self.options;
        Weights { mobility, proximity, playouts: 0.0, learned: 0.0, rules: 0.0, count: 1 }
    }

    /// Makes the node of a state the root, if it is within a few steps.
    fn go_to(&mut self, root: &G::Cursor) -> bool {
        let Some(tree) = &mut self.tree else { return false };
        let depth = tree.node(tree.root).depth.load(Relaxed);
        let hash = hash_of(root.state());
        let found = (depth..depth + MAX_STEPS_BETWEEN_SEARCHES)
            .find_map(|depth| tree.find(Tree::<StateOf<G>>::key(hash, depth), root.state()));
        let Some(found) = found else { return false };
        if matches!(tree.node(found).kind(), Kind::Terminal | Kind::Stuck) {
            return false;
        }
        tree.has_moved |= tree.root != found;
        tree.root = found;
        // Recycling may have removed the details of a proof, which the choice of a move needs.
        if tree.node(found).is_proven() && !report::has_proven_move(tree, found) {
            tree.nodes[found.index()].forget_proof();
        }
        true
    }

    fn begin_tree(&mut self, root: &G::Cursor, me: RoleId, limits: &SearchLimits) -> Option<()> {
        let source = self.options.selection.build(&self.options).amaf();
        // A new tree is faster than clearing a large one.
        let tree = self.tree.insert(Tree::new(self.roles, source, root.state()));
        let mut cursor = root.clone();
        let rules = rules_of(&self.options, me);
        let mut expander = Expander::default();
        let (id, _) = match expander.node_of(tree, &rules, &mut cursor, 0, None) {
            Ok(found) => found,
            Err(Full) => {
                tree.make_room(limits.memory).ok()?;
                expander.node_of(tree, &rules, &mut cursor, 0, None).ok()?
            }
        };
        tree.root = id;
        (!matches!(tree.node(id).kind(), Kind::Terminal | Kind::Stuck)).then_some(())
    }

    /// Searches in rounds, between which the tree makes room.
    fn run(
        &mut self,
        root: &G::Cursor,
        me: RoleId,
        limits: &SearchLimits,
        n_iterations: &AtomicU64,
    ) -> Option<StopReason> {
        let mut grows = true;
        let max_iterations = self.max_iterations(limits);
        loop {
            let tree = self.tree.as_mut().expect("a prepared search has a tree");
            let is_full = AtomicBool::new(false);
            let round = Round {
                tree,
                rules: rules_of(&self.options, me),
                deadline: &limits.deadline,
                hint: &limits.hint,
                max_iterations,
                n_iterations,
                is_full: &is_full,
                grows,
                n_leaves: self.options.leaves.clamp(1, MAX_BATCH),
                n_playouts: self.options.playouts.clamp(1, MAX_BATCH) as u32,
                amaf_memory: limits.memory / 3,
                horizon: if self.options.stop == 0 { MAX_RANDOM_STEPS } else { self.options.stop },
            };
            match run_round(&mut self.workers, &round) {
                Ending::Proven => return None,
                Ending::Time => return Some(StopReason::of_deadline()),
                Ending::Count => return Some(StopReason::Count),
                // Making room cannot be interrupted, so it must not start too late.
                Ending::Full if tree.has_time_for_room(&limits.deadline) => {
                    if let Err(Full) = tree.make_room(limits.memory) {
                        return Some(StopReason::Memory);
                    }
                }
                // A tree that is mostly about the past is not worth keeping, unless this search has
                // already worked on it.
                Ending::Full
                    if n_iterations.load(Relaxed) < MAX_LOST_ITERATIONS
                        && tree.is_mostly_unreachable() =>
                {
                    if self.begin_tree(root, me, limits).is_none() {
                        return Some(StopReason::Memory);
                    }
                }
                // Otherwise the existing nodes get more visits.
                Ending::Full => grows = false,
            }
        }
    }
}

impl<G: Playouts> Uct<G> {
    /// Returns the visits and goals of a role's moves at the root.
    fn root_stats(&self, role: RoleId) -> root::RootStats {
        let Some(tree) = &self.tree else { return Vec::new() };
        tree.edges[tree.span(tree.root, role)]
            .iter()
            .map(|edge| (edge.n_visits.load(Relaxed), edge.goal_sum.load(Relaxed)))
            .collect()
    }

    /// Replaces them by the joint results of several trees.
    fn set_root_stats(&mut self, role: RoleId, stats: &root::RootStats) {
        let Some(tree) = &mut self.tree else { return };
        let span = tree.span(tree.root, role);
        let mut n_visits = 0_u32;
        for (edge, &(n, goal_sum)) in tree.edges[span].iter_mut().zip(stats) {
            *edge.n_visits.get_mut() = n;
            *edge.goal_sum.get_mut() = goal_sum;
            n_visits = n_visits.saturating_add(n);
        }
        *tree.nodes[tree.root.index()].n_visits.get_mut() = n_visits;
    }
}

/// How many steps below the last root the next one is looked for.
const MAX_STEPS_BETWEEN_SEARCHES: u32 = 4;
/// Below this many iterations the tree may be discarded.
const MAX_LOST_ITERATIONS: u64 = 64;
/// Larger batches of leaves or playouts would make answers late.
const MAX_BATCH: usize = 4096;

fn rules_of(options: &UctOptions, me: RoleId) -> ExpandRules {
    let is_staged = options.simultaneous == Simultaneous::Joint;
    ExpandRules { me, is_staged, is_dag: options.dag }
}

/// Runs every worker until something ends the round. Reasons that end the search take precedence.
fn run_round<C, R>(workers: &mut [Worker<C, R>], round: &Round<'_, C::State>) -> Ending
where
    C: Cursor,
    R: ludex_game::PlayoutRunner<State = C::State>,
{
    if let [worker] = workers {
        return worker.run(round);
    }
    let endings: Vec<Ending> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter_mut().map(|worker| scope.spawn(|| worker.run(round))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no search thread panics")).collect()
    });
    [Ending::Proven, Ending::Time, Ending::Count]
        .into_iter()
        .find(|ending| endings.contains(ending))
        .unwrap_or(Ending::Full)
}

impl<G: Playouts + Clone> Searcher<G::Cursor> for Uct<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        if self.prepare(root, role, limits).is_none() {
            self.tree = None;
            return SearchReport {
                stopped: Some(StopReason::Fault),
                ..SearchReport::unsearched(root.clone().legal_moves(role))
            };
        }
        let n_iterations = AtomicU64::new(0);
        let stopped = self.run(root, role, limits, &n_iterations);
        let tree = self.tree.as_ref().expect("a prepared search has a tree");
        let reported = report::report(tree, root, role);
        let policy_bytes: usize = self.workers.iter().map(|it| it.policy.n_bytes()).sum();
        SearchReport {
            stopped,
            n_iterations: n_iterations.load(Relaxed),
            n_playouts: self.workers.iter().map(|worker| worker.n_playouts).sum(),
            depth: self.workers.iter().map(|worker| worker.max_depth).max().unwrap_or(0) as u32,
            n_bytes: reported.n_bytes + policy_bytes as u64,
            ..reported
        }
    }
}

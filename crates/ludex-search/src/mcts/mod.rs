//! Monte Carlo tree search: UCT for any number of roles, with policies that plug in.
//!
//! Each iteration walks down from the root, adds one node, plays a game out from there and adds its
//! goals, one for each role, to the edges that were followed. For complete information; any number
//! of roles and any goals, since each role is taken to play for its own. `random` draws uniformly.
//! Where several roles choose at once they choose apart (*decoupled*), or one after the other in
//! stages, we first, so that the others answer what they do not see in the game (*joint*: the
//! statistics are those of joint moves, and the view is a pessimistic one).
//!
//! After Kocsis and Szepesvári, *Bandit Based Monte-Carlo Planning*, 2006; several roles after
//! Sturtevant, *An Analysis of UCT in Multi-player Games*, 2008; threads that share one tree without
//! locks after Enzenberger and Müller, *A Lock-free Multithreaded Monte-Carlo Tree Search Algorithm*,
//! 2009. The exploration constant is for rewards scaled to 0..1, which the literature often leaves
//! open.
//!
//! Read the modules in this order:
//!
//! 1. [`selection`], [`playout`]: the policies, and [`registry`], which names them. [`advice`]: who may
//!    know the value of a state.
//! 2. `tree`, `index`, `amaf`: what is remembered; `room`: how it stays within its memory.
//! 3. `descent`, `expand`, `worker`, `learn`, `solver`: an iteration.
//! 4. `report`: what is told at the end.
//! 5. [`root`]: several trees side by side.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use ludex_base::{RoleId, StopReason};
use ludex_game::{Cursor, MAX_RANDOM_STEPS, Playouts, StateOf};

use crate::clock::Clock;
use crate::evaluate::{Evaluation, Weights};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::Limits;
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
    /// What happens where several roles choose at once.
    pub enum Simultaneous {
        /// Each chooses apart, by the statistics of its own moves.
        Decoupled = "decoupled",
        /// They choose one after the other, the searching role first.
        Joint = "joint",
    }
}

crate::search_options! {
    /// Options of [`Uct`].
    pub struct UctOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// first-play urgency: the score of a move that was never tried
        fpu: f64 = 2.0,
        /// ucb, rave, grave or history
        selection: SelectionName = SelectionName::Ucb,
        /// uniform, mast, to-mast, nst, past or fast
        playout: PlayoutName = PlayoutName::Uniform,
        /// decoupled or joint
        simultaneous: Simultaneous = Simultaneous::Decoupled,
        /// whether paths of equal length to a state meet
        dag: bool = true,
        /// whether the tree is kept from move to move
        reuse: bool = true,
        /// leaves gathered for one batch of playouts
        leaves: usize = 1,
        /// playouts from each leaf
        playouts: usize = 1,
        /// threads that share the tree; 0 is as many as the limits allow
        threads: usize = 0,
        /// most iterations a move, whatever time is left; 0 is no limit
        iterations: usize = 0,
        /// rave: visits at which both means count the same
        equivalence: f64 = 250.0,
        /// grave: how fast the ancestor's weight falls
        bias: f64 = 0.00001,
        /// grave: playouts an ancestor must have
        reference: usize = 50,
        /// history: how much moves that did well elsewhere are favored
        history: f64 = 3.0,
        /// playouts that learn: greedy or gibbs
        draw: DrawName = DrawName::Greedy,
        /// greedy: the part of choices that are uniform
        epsilon: f64 = 0.4,
        /// gibbs: temperature of the distribution
        temperature: f64 = 0.5,
        /// steps after which a playout is left and the state evaluated; 0 plays to the end
        stop: usize = 0,
        /// stop: weight of mobility in the evaluation
        mobility: f64 = 1.0,
        /// stop: weight of likeness to good final states
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
    /// A search that knows nothing yet.
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

    /// The same search with somebody to ask about states, which the first thread does.
    pub fn advised(mut self, adviser: Box<dyn Adviser<StateOf<G>>>) -> Self {
        self.adviser = Some(adviser);
        self
    }

    /// Gets ready to search from a state; `None` if nothing can be searched there.
    fn prepare(&mut self, root: &G::Cursor, me: RoleId, limits: &Limits) -> Option<()> {
        // Step 1. A thread's worker keeps what its policy learned; only its randomness is new.
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
        // Step 2. The tree of the last move has the root, or a new tree begins.
        if self.me != Some(me) || !self.options.reuse || !self.go_to(root) {
            self.begin_tree(root, me, limits)?;
        }
        self.me = Some(me);
        Some(())
    }

    /// The smaller of what the limits and the options allow.
    fn max_iterations(&self, limits: &Limits) -> Option<u64> {
        let own = (self.options.iterations > 0).then_some(self.options.iterations as u64);
        limits.iterations.into_iter().chain(own).min()
    }

    fn weights(&self) -> Weights {
        let UctOptions { mobility, proximity, .. } = self.options;
        Weights { mobility, proximity, playouts: 0.0, learned: 0.0, rules: 0.0, count: 1 }
    }

    /// Makes the node of a state the root, if there is one within a few steps.
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
        // A proof may have lost its details to recycling; the move needs them.
        if tree.node(found).is_proven() && !report::has_proven_move(tree, found) {
            tree.nodes[found.index()].forget_proof();
        }
        true
    }

    fn begin_tree(&mut self, root: &G::Cursor, me: RoleId, limits: &Limits) -> Option<()> {
        let source = self.options.selection.build(&self.options).amaf();
        // A new one, for clearing a large one would take longer.
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

    /// Searches in rounds; between them the tree gets room.
    fn run(
        &mut self,
        root: &G::Cursor,
        me: RoleId,
        limits: &Limits,
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
                Ending::Time => return Some(StopReason::Time),
                Ending::Count => return Some(StopReason::Count),
                // Making room can't be interrupted, so it is not begun too late.
                Ending::Full if tree.has_time_for_room(&limits.deadline) => {
                    if let Err(Full) = tree.make_room(limits.memory) {
                        return Some(StopReason::Memory);
                    }
                }
                // A tree that is mostly about the past is not worth keeping, unless this search has
                // worked on it already.
                Ending::Full
                    if n_iterations.load(Relaxed) < MAX_LOST_ITERATIONS
                        && tree.is_mostly_elsewhere() =>
                {
                    if self.begin_tree(root, me, limits).is_none() {
                        return Some(StopReason::Memory);
                    }
                }
                // Otherwise what there is gets more visits.
                Ending::Full => grows = false,
            }
        }
    }
}

impl<G: Playouts> Uct<G> {
    /// Visits and goals of the moves of a role at the root.
    fn root_stats(&self, role: RoleId) -> root::RootStats {
        let Some(tree) = &self.tree else { return Vec::new() };
        tree.edges[tree.span(tree.root, role)]
            .iter()
            .map(|edge| (edge.n_visits.load(Relaxed), edge.goal_sum.load(Relaxed)))
            .collect()
    }

    /// Replaces them by what several trees found together.
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

/// The root of the next search is looked for this many steps below the last one.
const MAX_STEPS_BETWEEN_SEARCHES: u32 = 4;
/// Below this many iterations the tree may be discarded.
const MAX_LOST_ITERATIONS: u64 = 64;
/// More leaves or playouts a batch than this would make answers late.
const MAX_BATCH: usize = 4096;

fn rules_of(options: &UctOptions, me: RoleId) -> ExpandRules {
    let is_staged = options.simultaneous == Simultaneous::Joint;
    ExpandRules { me, is_staged, is_dag: options.dag }
}

/// Runs every worker until something ends the round. What ends it for good comes first.
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

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
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

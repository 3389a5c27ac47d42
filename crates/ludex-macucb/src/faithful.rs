//! MAC-UCB as published: it solves a list of networks best first, and runs playouts in between.
//!
//! The list contains the networks of states that were reached but not solved. The *resolution* phase takes
//! the most promising one, injects its state into the template of the game, and finds all solutions: the
//! joint moves and the states they lead to, whose networks join the list. The *simulation* phase runs
//! playouts: from the root each role follows the moves with the largest confidence bound to an unsolved
//! network, and from there all moves are drawn at random. A time ratio decides which phase is next. In the
//! end the operators of [`graph`](crate::graph) choose the move.
//!
//! For any number of roles, chance, and arbitrary goals; all other roles are treated as enemies. The state
//! must be known; with hidden information, the search is asked about one possible state after the other.
//!
//! After Koriche, Lagrue, Piette and Tabary, *General Game Playing with Stochastic CSP*, Constraints
//! 2016. What the publication leaves open is in decision 28.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Instant;

use ludex_base::{BitSet, Deadline, MoveId, Rng, RoleId, StopReason};
use ludex_game::{
    Cursor, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, StateOf,
};
use ludex_search::mcts::{Uct, UctOptions};
use ludex_search::{Extension, MoveReport, SearchLimits, SearchReport, Searcher};

use crate::forward::Forward;
use crate::graph::{Arm, Chooses, Graph, Node, NodeId, Seats};
use crate::networks::Networks;
use crate::resolve::{Mac, Resolver};
use crate::symmetric::Symmetric;
use crate::work::NetworkWork;

ludex_search::option_names! {
    /// The engine of the playouts.
    pub enum PlayedBy {
        /// The network: consistency leaves the legal moves of each state, and one is drawn at random.
        Network = "network",
        /// The engine of the game.
        Machine = "machine",
    }
}

ludex_search::option_names! {
    /// The role whose reward orders the list.
    pub enum Order {
        /// The role whose move leads to the state.
        Mover = "mover",
        /// The searching role.
        Own = "own",
    }
}

/// The method that solves networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Mac,
    ForwardChecking,
}

/// The options of the published search.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FaithfulOptions {
    pub method: Method,
    pub ratio: f64,
    pub c: f64,
    pub order: Order,
    pub playouts: PlayedBy,
    /// The part of the time for symmetries; with 0 there are none.
    pub symmetry: f64,
}

/// The published search.
pub(crate) struct Faithful<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: FaithfulOptions,
    resolver: Option<Box<dyn Resolver>>,
    graph: Option<Graph>,
    root: NodeId,
    list: BinaryHeap<Entry>,
    /// Networks that did not matter when their turn came, because closed nodes cut them off from the root.
    aside: Vec<NodeId>,
    /// The symmetries of the game, if they are wanted and there are any.
    symmetric: Option<Symmetric>,
    is_symmetry_known: bool,
    /// Removed nodes, which are dropped a few at a time.
    forgotten: Vec<Vec<Node>>,
    runner: Option<G::Runner>,
    /// The search that plays when there is no network.
    plain: Uct<G>,
}

/// A network on the list. Among equals the older comes first.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Entry {
    key: f32,
    node: NodeId,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The part of the time for a move in which the root must be solved.
const ROOT_PART: f64 = 0.5;
/// The part of the time for a move in which reachable nodes are collected. Removing all others, when memory is
/// short, takes up to eight times as long.
const KEEP_PART: f64 = 0.02;
/// Nodes to drop in an iteration, in addition to one for each new node.
const N_DROPPED: usize = 32;
/// Most nodes of a walk through solved networks.
const MAX_WALK: usize = 1_000;
/// Most joint moves of the reported line.
const MAX_LINE: usize = 10;

impl<G: Playouts + Clone> Faithful<G> {
    pub fn new(
        name: &'static str,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
        options: FaithfulOptions,
    ) -> Self {
        let options_symmetry = options.symmetry;
        Self {
            name,
            game: game.clone(),
            networks: Arc::clone(networks),
            options,
            resolver: None,
            graph: None,
            root: NodeId::new(0),
            list: BinaryHeap::new(),
            aside: Vec::new(),
            symmetric: None,
            is_symmetry_known: options_symmetry == 0.0,
            forgotten: Vec::new(),
            runner: None,
            plain: Uct::new(name, game, UctOptions::default()),
        }
    }

    /// Posts the network if that has not been done yet.
    ///
    /// # Errors
    /// The reason why there is no posted network.
    fn prepare(&mut self, deadline: &Deadline) -> Result<(), String> {
        if self.resolver.is_some() {
            self.find_symmetries(deadline);
            return Ok(());
        }
        let method = self.options.method;
        let resolver = self.networks.post(deadline, |template, deadline, bytes| {
            Ok::<Box<dyn Resolver>, _>(match method {
                Method::Mac => Box::new(Mac::new(template, deadline, bytes)?),
                Method::ForwardChecking => Box::new(Forward::new(template)),
            })
        })?;
        self.resolver = Some(resolver);
        self.find_symmetries(deadline);
        Ok(())
    }

    /// Finds the symmetries of the network of a step, within their part of the time. They are looked
    /// for once: a second look would take as long.
    fn find_symmetries(&mut self, deadline: &Deadline) {
        if std::mem::replace(&mut self.is_symmetry_known, true) {
            return;
        }
        let deadline = deadline.part(self.options.symmetry);
        let n_fluents = self.networks.rules().circuit().next.len();
        if let Ok(template) = self.networks.template(&deadline) {
            self.symmetric = Symmetric::find(&template, n_fluents, &deadline);
        }
    }

    /// Moves to the root, and keeps the earlier results if the graph contains it.
    fn begin(&mut self, root: &BitSet, me: RoleId, limits: &SearchLimits) {
        let random = self.game.roles().iter().position(|role| role.is_random).map(RoleId::new);
        let seats = Seats { n_roles: self.game.roles().len(), random, me };
        let known = self.graph.as_mut().filter(|graph| graph.seats == seats);
        let Some((graph, root)) = known.and_then(|it| it.find(root).map(|root| (it, root))) else {
            let mut graph = Graph::new(seats);
            self.root = graph.add(root.clone(), 0.5);
            self.symmetric.iter_mut().for_each(Symmetric::clear);
            self.list = BinaryHeap::new();
            self.aside = Vec::new();
            let old = self.graph.replace(graph);
            self.forgotten.extend(old.map(Graph::into_nodes));
            return;
        };
        // From the same root, all nodes are still reachable.
        if root == self.root {
            return;
        }
        self.root = root;
        let deadline = match limits.iterations {
            Some(_) => limits.deadline.clone(),
            None => limits.deadline.part(KEEP_PART),
        };
        // Unreachable nodes are skipped, and removed only when memory is short. Without time to remove them,
        // all nodes stay; if there is no room for new ones, the search only runs playouts.
        let is_full = graph.n_bytes() >= limits.memory / 2;
        let open = match is_full.then(|| graph.go_to(root, &deadline)).flatten() {
            Some(old) => {
                self.forgotten.push(old);
                self.root = NodeId::new(0);
                self.symmetric.iter_mut().for_each(Symmetric::clear);
                Some(graph.open().collect())
            }
            None => graph.set_root(root, &deadline),
        };
        if let Some(open) = open {
            let entry = |&node: &NodeId| Entry { key: key(graph, node, &self.options), node };
            self.list = open.iter().map(entry).collect();
            self.aside = Vec::new();
        }
    }
}

/// Drops `n` of the removed nodes.
fn drop_some(forgotten: &mut Vec<Vec<Node>>, n: usize) {
    let Some(nodes) = forgotten.last_mut() else { return };
    nodes.truncate(nodes.len().saturating_sub(n));
    if nodes.is_empty() {
        forgotten.pop();
    }
}

/// How promising a network is: the confidence bound of the solution that leads to it, for the role that orders
/// the list.
fn key(graph: &Graph, node: NodeId, options: &FaithfulOptions) -> f32 {
    let Some(&parent) = graph.node(node).parents.first() else { return f32::INFINITY };
    let bound_for = |role| {
        let n_playouts = graph.node(node).n_playouts;
        bound(graph, parent, mean(graph, parent, node, role), n_playouts, options)
    };
    match (options.order, &graph.node(parent).chooses) {
        (Order::Own, _) => bound_for(graph.seats.me),
        (Order::Mover, Chooses::One(role)) => bound_for(*role),
        // Every one of these roles must want to go there, so the least bound counts.
        (Order::Mover, Chooses::Several(roles)) => {
            roles.iter().map(|&role| bound_for(role)).fold(f32::INFINITY, f32::min)
        }
        // A lucky draw does not make a state more promising, so the mean of the parent counts.
        (Order::Mover, Chooses::Nobody) => {
            let mean = graph.mean(parent, graph.seats.me);
            bound(graph, parent, mean, graph.node(node).n_playouts, options)
        }
    }
}

/// The mean reward of a role at a child, 0 to 1; without playouts, that of the parent. For the searching role
/// it is clamped to the proved bounds, which hold whatever the playouts say.
fn mean(graph: &Graph, parent: NodeId, child: NodeId, role: RoleId) -> f32 {
    let node = graph.node(child);
    let mean = match node.n_playouts {
        0 => graph.mean(parent, role),
        _ => graph.mean(child, role),
    };
    if role == graph.seats.me { mean.clamp(node.low, node.high) } else { mean }
}

/// The confidence bound `u + c √(2 ln n / nᵢ)` of an option with `n` playouts below `parent`. An option
/// without playouts is treated as played once.
fn bound(graph: &Graph, parent: NodeId, mean: f32, n: u32, options: &FaithfulOptions) -> f32 {
    let n_parent = graph.node(parent).n_playouts.max(1) + 1;
    let explore = (2.0 * (n_parent as f32).ln() / n.max(1) as f32).sqrt();
    mean + options.c as f32 * explore
}

/// The state of one call of the search.
struct Turn<'a> {
    root: NodeId,
    graph: &'a mut Graph,
    list: &'a mut BinaryHeap<Entry>,
    aside: &'a mut Vec<NodeId>,
    symmetric: Option<&'a mut Symmetric>,
    resolver: &'a mut dyn Resolver,
    options: &'a FaithfulOptions,
    work: NetworkWork,
    n_playouts: u64,
    depth: u32,
}

/// Runs a playout from a state and returns the goals of all roles; `None` if it was given up.
type PlayOut<'a> = dyn FnMut(&mut dyn Resolver, &BitSet, &mut Rng) -> Option<Vec<u8>> + 'a;

/// The result of solving a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Solved {
    Yes,
    /// The deadline was reached.
    Late,
    /// The network has no solution, so the value of the state is unknown.
    Never,
}

impl Turn<'_> {
    /// Solves the network of the root, if it is not solved yet.
    ///
    /// # Errors
    /// The reason why the root has no solutions.
    fn resolve_root(&mut self, limits: &SearchLimits) -> Result<(), String> {
        let root = self.graph.node(self.root);
        // A root whose value came from an image has no moves yet.
        if root.arms.is_none() || root.is_image {
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(ROOT_PART),
            };
            if self.resolve(self.root, &deadline) == Solved::Late {
                return Err("the network of the root was not solved within half of the time".into());
            }
        }
        if self.graph.node(self.root).is_stuck() {
            return Err("the network of the root has no solution".into());
        }
        Ok(())
    }

    /// Whether the resolution phase has had no more than its part.
    fn is_solving_behind(&self, limits: &SearchLimits) -> bool {
        let work = &self.work;
        let (solving, playing) = match limits.iterations {
            // With an iteration limit, equal seeds must give equal phases.
            Some(_) => (work.n_solved as f64, self.n_playouts as f64),
            None => {
                ((work.injection + work.resolution).as_secs_f64(), work.simulation.as_secs_f64())
            }
        };
        // What symmetries do not take of their part, the two phases share.
        let ratio = self.options.ratio / (1.0 - self.options.symmetry).max(self.options.ratio);
        solving <= ratio * (solving + playing)
    }

    /// Takes the value of a symmetric network that was solved; returns whether there is one.
    fn take_image(&mut self, node: NodeId, deadline: &Deadline) -> bool {
        let Some(symmetric) = &self.symmetric else { return false };
        let start = Instant::now();
        let graph = &*self.graph;
        let found = symmetric.look_up(&graph.node(node).state, |other| &graph.node(other).state);
        let found = found.filter(|&same| same != node && !graph.node(same).is_image);
        if let Some(same) = found {
            self.graph.share(node, same);
            self.work.n_symmetric += 1;
            let open = self.graph.note_reached(same, deadline);
            open.into_iter().for_each(|node| self.list_node(node));
        }
        self.work.symmetry += start.elapsed();
        found.is_some()
    }

    /// Stores the images of a state whose network was solved, if symmetries have had no more than
    /// their part of the time.
    fn store_images(&mut self, node: NodeId, limits: &SearchLimits) {
        let work = &self.work;
        let others = work.injection + work.resolution + work.simulation;
        let all = (others + work.symmetry).as_secs_f64();
        // With an iteration limit, equal seeds must give equal phases.
        let is_behind = limits.iterations.is_some()
            || work.symmetry.as_secs_f64() <= self.options.symmetry * all;
        let Some(symmetric) = &mut self.symmetric else { return };
        if is_behind && symmetric.n_bytes() < limits.memory / 4 {
            let start = Instant::now();
            symmetric.store(&self.graph.node(node).state, node);
            self.work.symmetry += start.elapsed();
        }
    }

    /// The resolution phase: finds all solutions of a network.
    fn resolve(&mut self, node: NodeId, deadline: &Deadline) -> Solved {
        let start = Instant::now();
        let state = self.graph.node(node).state.clone();
        let facts = self.resolver.inject(&state, deadline);
        let injected = Instant::now();
        self.work.injection += injected - start;
        let Some(facts) = facts else {
            self.resolver.take_back();
            if deadline.reached() {
                return Solved::Late;
            }
            self.graph.give_up(node);
            return Solved::Never;
        };
        if facts.is_terminal {
            self.resolver.take_back();
            self.graph.end(node, &facts.goals);
        } else {
            let mut found: Vec<(Box<[MoveId]>, BitSet)> = Vec::new();
            let mut is_late = false;
            let is_whole = self.resolver.solutions(&mut |joint, next| {
                found.push((joint.into(), next));
                is_late =
                    found.len().is_multiple_of(SOLUTIONS_PER_CLOCK_CHECK) && deadline.reached();
                !is_late
            });
            self.resolver.take_back();
            if is_late || !is_whole {
                self.work.resolution += injected.elapsed();
                return Solved::Late;
            }
            if found.is_empty() {
                self.graph.give_up(node);
                return Solved::Never;
            }
            self.take_in(node, found, deadline);
        }
        self.work.n_solved += 1;
        self.work.resolution += injected.elapsed();
        Solved::Yes
    }

    fn take_in(&mut self, node: NodeId, found: Vec<(Box<[MoveId]>, BitSet)>, deadline: &Deadline) {
        let value = self.graph.node(node).value;
        let first_new = self.graph.n_nodes();
        let arms: Vec<Arm> = (found.into_iter())
            .map(|(joint, next)| {
                let child = self.graph.find(&next);
                Arm { joint, child: child.unwrap_or_else(|| self.graph.add(next, value)) }
            })
            .collect();
        let old = arms.iter().map(|arm| arm.child).filter(|child| child.index() < first_new);
        let old: Vec<NodeId> = old.collect();
        self.graph.solve(node, arms);
        (first_new..self.graph.n_nodes()).map(NodeId::new).for_each(|node| self.list_node(node));
        // An arm may lead to a state that had become unreachable, and to everything below it.
        for child in old {
            let open = self.graph.note_reached(child, deadline);
            open.into_iter().for_each(|node| self.list_node(node));
        }
    }

    fn list_node(&mut self, node: NodeId) {
        self.list.push(Entry { key: key(self.graph, node, self.options), node });
    }

    /// The most promising unsolved network; `None` if there is none, or the deadline is reached: a list from
    /// before the last move can contain many useless entries.
    fn next_open(&mut self, deadline: &Deadline) -> Option<NodeId> {
        let mut is_last_round = false;
        for n_met in 1_usize.. {
            if n_met.is_multiple_of(ENTRIES_PER_CLOCK_CHECK) && deadline.reached() {
                return None;
            }
            let Some(entry) = self.list.pop() else {
                if std::mem::replace(&mut is_last_round, true) {
                    return None;
                }
                // A new path may lead to them by now.
                let aside = std::mem::take(self.aside);
                aside.into_iter().for_each(|node| self.list_node(node));
                continue;
            };
            let node = self.graph.node(entry.node);
            if node.arms.is_some() || node.is_closed() {
                continue;
            }
            if !self.graph.matters(entry.node, self.root) {
                self.aside.push(entry.node);
                continue;
            }
            // Later playouts may have made it less promising than the next entry.
            let now = Entry { key: key(self.graph, entry.node, self.options), ..entry };
            if self.list.peek().is_none_or(|next| now.key >= next.key) {
                return Some(entry.node);
            }
            self.list.push(now);
        }
        None
    }

    /// The simulation phase: walks to an unsolved network, runs a playout from there, and adds its goals to
    /// all nodes of the path.
    ///
    /// A playout that was given up, because a role has no move or the game does not end, counts 0 for every
    /// role. If it did not count, the next walk would take the same path.
    fn simulate(&mut self, rng: &mut Rng, deadline: &Deadline, play: &mut PlayOut<'_>) {
        let start = Instant::now();
        let mut path = vec![self.root];
        while path.len() < MAX_WALK {
            let node = path[path.len() - 1];
            let Some(child) = self.pick(node, rng) else { break };
            let is_cycle = path.contains(&child);
            path.push(child);
            let node = self.graph.node(child);
            if is_cycle || node.is_closed() || node.arms.is_none() {
                break;
            }
        }
        let leaf = path[path.len() - 1];
        self.depth = self.depth.max(path.len() as u32 - 1);
        let state = self.graph.node(leaf).state.clone();
        let goals = match play(self.resolver, &state, rng) {
            None if !deadline.reached() => Some(vec![0; self.graph.seats.n_roles]),
            goals => goals,
        };
        if let Some(goals) = goals {
            self.n_playouts += 1;
            path.iter().for_each(|&node| self.graph.add_playout(node, &goals));
            self.graph.settle();
            if self.graph.node(leaf).arms.is_none() {
                self.list_node(leaf);
            }
        }
        self.work.simulation += start.elapsed();
    }

    /// The child along the decision with the largest bound; the move of `random` is drawn.
    fn pick(&self, node: NodeId, rng: &mut Rng) -> Option<NodeId> {
        let here = self.graph.node(node);
        let arms = here.arms.as_deref()?;
        let mut decisions = self.graph.decisions(arms);
        let decision = match (self.options.order, &here.chooses) {
            (Order::Mover, Chooses::Several(roles)) => {
                let chosen: Vec<(RoleId, MoveId)> =
                    roles.iter().map(|&role| (role, self.best_of(node, arms, role))).collect();
                let is_chosen =
                    |arm: &Arm| chosen.iter().all(|(role, id)| arm.joint[role.index()] == *id);
                decisions.find(|decision| is_chosen(&decision[0]))
            }
            (order, chooses) => {
                let role = match (order, chooses) {
                    (Order::Mover, Chooses::One(role)) => *role,
                    _ => self.graph.seats.me,
                };
                let is_open = |arm: &Arm| !self.graph.node(arm.child).is_closed();
                let open = decisions.filter(|decision| decision.iter().any(is_open));
                let scored = open.map(|decision| (self.score(node, decision, role), decision));
                let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
                best.map(|(_, decision)| decision)
            }
        };
        rng.choose(decision?).map(|arm| arm.child)
    }

    /// The confidence bound of a decision, by the mean over the moves of `random`.
    fn score(&self, node: NodeId, decision: &[Arm], role: RoleId) -> f32 {
        let sum: f32 = decision.iter().map(|arm| mean(self.graph, node, arm.child, role)).sum();
        let n = decision.iter().map(|arm| self.graph.node(arm.child).n_playouts).sum();
        bound(self.graph, node, sum / decision.len() as f32, n, self.options)
    }

    /// The move of one role with the largest bound, over all moves of the others, where several roles move
    /// simultaneously.
    fn best_of(&self, node: NodeId, arms: &[Arm], role: RoleId) -> MoveId {
        let mut by_move: BTreeMap<MoveId, (u32, f32)> = BTreeMap::new();
        for arm in arms {
            let n = self.graph.node(arm.child).n_playouts;
            let entry = by_move.entry(arm.joint[role.index()]).or_default();
            entry.0 += n;
            entry.1 += n as f32 * mean(self.graph, node, arm.child, role);
        }
        let score = |&(n, sum): &(u32, f32)| {
            let mean = if n == 0 { self.graph.mean(node, role) } else { sum / n as f32 };
            bound(self.graph, node, mean, n, self.options)
        };
        let scored = by_move.iter().map(|(&id, counts)| (score(counts), id));
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.expect("a solved network has solutions").1
    }
}

/// Solutions between two looks at the clock.
const SOLUTIONS_PER_CLOCK_CHECK: usize = 16;
/// Entries of the list between two looks at the clock.
const ENTRIES_PER_CLOCK_CHECK: usize = 64;

/// Runs a playout on the network.
fn play_on_network(
    resolver: &mut dyn Resolver,
    state: &BitSet,
    rng: &mut Rng,
    deadline: &Deadline,
) -> Option<Vec<u8>> {
    let mut state = state.clone();
    for _ in 0..MAX_RANDOM_STEPS {
        let facts = resolver.inject(&state, deadline);
        let next = match &facts {
            Some(facts) if !facts.is_terminal => resolver.draw(rng),
            _ => None,
        };
        resolver.take_back();
        let facts = facts?;
        if facts.is_terminal {
            return Some(facts.goals);
        }
        state = next?;
    }
    None
}

/// Runs a playout on the engine of the game.
fn play_on_engine<R: PlayoutRunner>(
    runner: &mut R,
    start: R::State,
    rng: &mut Rng,
    deadline: &Deadline,
) -> Option<Vec<u8>> {
    let request = PlayoutRequest {
        starts: &[start],
        n_per_start: 1,
        max_steps: MAX_RANDOM_STEPS,
        wants_moves: false,
        deadline,
    };
    let mut results = PlayoutResults::default();
    runner.run(&request, rng, &mut results);
    let result = results.starts.first().filter(|it| it.n_playouts == 1)?;
    Some(result.goal_sums.iter().map(|&goal| goal as u8).collect())
}

impl<G: Playouts + Clone> Faithful<G> {
    /// Runs both phases until a limit is reached. Returns the limit, or `None` if the root was closed, and
    /// the report.
    ///
    /// # Errors
    /// The reason why the network can't be used.
    fn run(
        &mut self,
        limits: &SearchLimits,
        legal: &[MoveId],
    ) -> Result<(Option<StopReason>, SearchReport), String> {
        let Faithful { graph, root, list, aside, symmetric, resolver, options, .. } = self;
        let (runner, networks, game) = (&mut self.runner, &self.networks, &self.game);
        let forgotten = &mut self.forgotten;
        let (Some(graph), Some(resolver)) = (graph.as_mut(), resolver.as_deref_mut()) else {
            return Err("there is no network".into());
        };
        let n_closed_before = graph.n_closed;
        let work = NetworkWork::default();
        let root = *root;
        let (n_playouts, depth) = (0, 0);
        let mut turn = Turn {
            root,
            graph,
            list,
            aside,
            symmetric: symmetric.as_mut(),
            resolver,
            options,
            work,
            n_playouts,
            depth,
        };
        let mut rng = limits.seed.rng();
        let mut play =
            |resolver: &mut dyn Resolver, state: &BitSet, rng: &mut Rng| match options.playouts {
                PlayedBy::Network => play_on_network(resolver, state, rng, &limits.deadline),
                PlayedBy::Machine => {
                    let start = networks.rules().state(state);
                    let runner = runner.get_or_insert_with(|| game.runner());
                    play_on_engine(runner, start, rng, &limits.deadline)
                }
            };

        turn.resolve_root(limits)?;
        turn.store_images(root, limits);
        let mut n_iterations = 0;
        let mut n_nodes = turn.graph.n_nodes();
        let stopped = loop {
            if turn.graph.node(root).is_closed() {
                break None;
            }
            if limits.deadline.reached() {
                break Some(StopReason::of_deadline());
            }
            if limits.iterations.is_some_and(|max| n_iterations >= max) {
                break Some(StopReason::Count);
            }
            n_iterations += 1;
            drop_some(forgotten, N_DROPPED + turn.graph.n_nodes() - n_nodes);
            n_nodes = turn.graph.n_nodes();
            let has_room = turn.graph.n_bytes() < limits.memory;
            let solves = has_room && turn.is_solving_behind(limits);
            let open = if solves { turn.next_open(&limits.deadline) } else { None };
            match open {
                Some(node) if turn.take_image(node, &limits.deadline) => {}
                Some(node) => {
                    if turn.resolve(node, &limits.deadline) == Solved::Late {
                        turn.list_node(node);
                        break Some(StopReason::of_deadline());
                    }
                    turn.store_images(node, limits);
                }
                None if options.ratio >= 1.0 && !has_room => break Some(StopReason::Memory),
                None => turn.simulate(&mut rng, &limits.deadline, &mut play),
            }
            if n_iterations.is_multiple_of(HINT_INTERVAL)
                && let Some(best) = best_move(turn.graph, root)
            {
                limits.hint.set(best);
            }
        };
        turn.work.n_closed = turn.graph.n_closed - n_closed_before;
        let report = SearchReport {
            n_iterations,
            n_playouts: turn.n_playouts,
            depth: turn.depth,
            extension: Some(Extension::new(turn.work)),
            ..report(turn.graph, root, legal)
        };
        Ok((stopped, report))
    }
}

/// Iterations between two updates of the hint.
const HINT_INTERVAL: u64 = 64;

/// The own move with the best value. Ties go to the larger lower bound, then to the better playouts, then to
/// the first move.
fn best_move(graph: &Graph, root: NodeId) -> Option<MoveId> {
    let moves = graph.moves(root);
    let rank = |own: &(MoveId, [f32; 3], &[Arm])| {
        let n: u64 = own.2.iter().map(|arm| u64::from(graph.node(arm.child).n_playouts)).sum();
        let mean = |arm: &Arm| {
            let child = graph.node(arm.child);
            f64::from(graph.mean(arm.child, graph.seats.me)) * f64::from(child.n_playouts)
        };
        let mean = own.2.iter().map(mean).sum::<f64>() / n.max(1) as f64;
        let [low, value, _] = own.1;
        (value, low, mean)
    };
    let best = moves.iter().reduce(|best, next| {
        let is_better = rank(next).partial_cmp(&rank(best)) == Some(Ordering::Greater);
        if is_better { next } else { best }
    });
    best.map(|own| own.0)
}

/// The report on the legal moves, in the order of the cursor.
fn report(graph: &Graph, root: NodeId, legal: &[MoveId]) -> SearchReport {
    let found = graph.moves(root);
    let moves = legal.iter().map(|&id| {
        let Some((_, [low, value, high], arms)) = found.iter().find(|own| own.0 == id) else {
            return MoveReport::untried(id);
        };
        let n_playouts = arms.iter().map(|arm| u64::from(graph.node(arm.child).n_playouts));
        MoveReport {
            id,
            n_visits: n_playouts.sum::<u64>().max(1),
            mean_reward: Some(f64::from(*value)),
            proven: (low >= high).then_some(f64::from(*value)),
        }
    });
    let moves: Vec<MoveReport> = moves.collect();
    let chosen = best_move(graph, root);
    let of_chosen = moves.iter().find(|it| Some(it.id) == chosen);
    SearchReport {
        chosen,
        reward: of_chosen.and_then(|it| it.mean_reward),
        is_proven: graph.node(root).is_closed() && of_chosen.is_some_and(|it| it.proven.is_some()),
        n_nodes: graph.n_nodes() as u64,
        n_bytes: graph.n_bytes() as u64,
        line: line(graph, root),
        moves,
        ..SearchReport::default()
    }
}

/// The expected line from the root: own best moves and the worst answers.
fn line(graph: &Graph, root: NodeId) -> Vec<Vec<MoveId>> {
    let mut line: Vec<Vec<MoveId>> = Vec::new();
    let mut node = root;
    while line.len() < MAX_LINE && !graph.node(node).is_image {
        let Some(best) = best_move(graph, node) else { break };
        let moves = graph.moves(node);
        let Some((_, _, arms)) = moves.iter().find(|own| own.0 == best) else { break };
        let value = |arm: &&Arm| graph.node(arm.child).value;
        let worst = arms.iter().reduce(|a, b| if value(&b) < value(&a) { b } else { a });
        let Some(worst) = worst else { break };
        line.push(worst.joint.to_vec());
        node = worst.child;
    }
    line
}

impl<G: Playouts + Clone> Searcher<G::Cursor> for Faithful<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let legal = root.clone().legal_moves(role).to_vec();
        let Some(&first) = legal.first() else { return SearchReport::unsearched(&legal) };
        limits.hint.set(first);
        let start = Instant::now();
        let found = self.prepare(&limits.deadline).and_then(|()| {
            let networks = Arc::clone(&self.networks);
            self.begin(networks.rules().fluents(root.state()), role, limits);
            self.run(limits, &legal)
        });
        match found {
            Ok((stopped, report)) => SearchReport { stopped, ..report },
            Err(note) => {
                let lost_time = start.elapsed();
                let report = self.plain.search(root, role, limits);
                let work = NetworkWork { note, resolution: lost_time, ..NetworkWork::default() };
                report.extended(work)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;
    use crate::resolve::Facts;

    /// A resolver that is never called.
    #[derive(Default)]
    struct Nothing;

    impl Resolver for Nothing {
        fn inject(&mut self, _: &BitSet, _: &Deadline) -> Option<Facts> {
            None
        }

        fn solutions(&mut self, _: &mut dyn FnMut(&[MoveId], BitSet) -> bool) -> bool {
            false
        }

        fn draw(&mut self, _: &mut Rng) -> Option<BitSet> {
            None
        }

        fn take_back(&mut self) {}
    }

    const OPTIONS: FaithfulOptions = FaithfulOptions {
        method: Method::Mac,
        ratio: 0.9,
        c: 0.2,
        order: Order::Mover,
        playouts: PlayedBy::Machine,
        symmetry: 0.0,
    };

    /// A root with an open child for each joint move, whose playouts had these goals.
    fn played(seats: Seats, children: &[(&[usize], Vec<Vec<u8>>)]) -> Graph {
        let mut graph = Graph::new(seats);
        let root = graph.add(BitSet::new(64), 0.5);
        let mut arms = Vec::new();
        for (idx, (joint, _)) in children.iter().enumerate() {
            let mut state = BitSet::new(64);
            state.insert(idx);
            let joint = joint.iter().map(|&id| MoveId::new(id)).collect();
            arms.push(Arm { joint, child: graph.add(state, 0.5) });
        }
        graph.solve(root, arms);
        for (idx, (_, games)) in children.iter().enumerate() {
            for goals in games {
                graph.add_playout(NodeId::new(idx + 1), goals);
                graph.add_playout(root, goals);
            }
        }
        graph.settle();
        graph
    }

    /// The values that a turn borrows.
    #[derive(Default)]
    struct Desk {
        list: BinaryHeap<Entry>,
        aside: Vec<NodeId>,
        resolver: Nothing,
    }

    fn turn<'a>(graph: &'a mut Graph, desk: &'a mut Desk) -> Turn<'a> {
        let (root, work, options) = (NodeId::new(0), NetworkWork::default(), &OPTIONS);
        let Desk { list, aside, resolver } = desk;
        Turn {
            root,
            graph,
            list,
            aside,
            symmetric: None,
            resolver,
            options,
            work,
            n_playouts: 0,
            depth: 0,
        }
    }

    /// How often each child is picked.
    fn picks(graph: &mut Graph) -> Vec<usize> {
        let mut counts = vec![0; graph.n_nodes()];
        let (mut desk, mut rng) = (Desk::default(), Seed(1).rng());
        let turn = turn(graph, &mut desk);
        for _ in 0..100 {
            counts[turn.pick(turn.root, &mut rng).expect("a child is open").index()] += 1;
        }
        counts
    }

    fn won() -> Vec<Vec<u8>> {
        vec![vec![100, 0]; 4]
    }

    fn lost() -> Vec<Vec<u8>> {
        vec![vec![0, 100]; 4]
    }

    /// A decision with one lucky draw in three is worse than one that is even.
    #[test]
    fn a_decision_is_worth_the_mean_over_its_draws() {
        let seats = Seats { n_roles: 2, random: Some(RoleId::new(1)), me: RoleId::new(0) };
        let even = || [won(), lost()].concat();
        let children: [(&[usize], _); 6] = [
            (&[0, 5], won()),
            (&[0, 6], lost()),
            (&[0, 7], lost()),
            (&[1, 5], even()),
            (&[1, 6], even()),
            (&[1, 7], even()),
        ];
        let counts = picks(&mut played(seats, &children));
        assert_eq!(counts[1..4], [0; 3]);
        assert!(counts[4..].iter().all(|&n| n > 20), "{counts:?}");
    }

    /// With simultaneous moves each role maximizes its own bound: the first role must not assume that the
    /// second plays its worst move.
    #[test]
    fn roles_that_move_simultaneously_choose_independently() {
        let seats = Seats { n_roles: 2, random: None, me: RoleId::new(0) };
        let even = || vec![vec![50, 50]; 4];
        let children: [(&[usize], _); 4] =
            [(&[0, 5], won()), (&[0, 6], even()), (&[1, 5], even()), (&[1, 6], lost())];
        // The first prefers its move 0, the second its move 6.
        let counts = picks(&mut played(seats, &children));
        assert_eq!(counts[2], 100);
    }

    /// A network that has lost its playouts since it was listed comes after the others.
    #[test]
    fn the_list_uses_current_bounds() {
        let seats = Seats { n_roles: 1, random: None, me: RoleId::new(0) };
        let mut graph = played(seats, &[(&[0], vec![]), (&[1], vec![])]);
        let (mut desk, ids) = (Desk::default(), [1, 2].map(NodeId::new));
        let mut turn = turn(&mut graph, &mut desk);
        ids.iter().for_each(|&id| turn.list_node(id));
        for _ in 0..3 {
            turn.graph.add_playout(ids[0], &[0]);
            turn.graph.add_playout(turn.root, &[0]);
        }
        assert_eq!(turn.next_open(&Deadline::never()), Some(ids[1]));
        assert_eq!(turn.next_open(&Deadline::never()), Some(ids[0]));
        assert_eq!(turn.next_open(&Deadline::never()), None);
    }

    /// Good playouts do not raise the mean of a move above its proved value.
    #[test]
    fn proofs_override_playouts() {
        let seats = Seats { n_roles: 1, random: None, me: RoleId::new(0) };
        let mut graph = played(seats, &[(&[0], vec![vec![100]; 4]), (&[1], vec![])]);
        let mut state = BitSet::new(64);
        state.insert(40);
        let end = graph.add(state, 0.5);
        let of_first = |graph: &Graph| mean(graph, NodeId::new(0), NodeId::new(1), RoleId::new(0));
        assert_eq!(of_first(&graph), 1.0);
        graph.solve(NodeId::new(1), vec![Arm { joint: [MoveId::new(2)].into(), child: end }]);
        graph.end(end, &[30]);
        assert_eq!(of_first(&graph), 0.3);
    }

    /// A move that is proved to win is preferred to one that only won its playouts.
    #[test]
    fn ties_go_to_the_proved_move() {
        let me = RoleId::new(0);
        let mut graph = Graph::new(Seats { n_roles: 1, random: None, me });
        let ids: Vec<NodeId> = (0..3)
            .map(|fluent| {
                let mut state = BitSet::new(8);
                state.insert(fluent);
                graph.add(state, 0.5)
            })
            .collect();
        let arm = |id: usize| Arm { joint: [MoveId::new(id)].into(), child: ids[id] };
        graph.solve(ids[0], vec![arm(1), arm(2)]);
        // The first move loses one playout and is then proved to win; the second only wins its playouts.
        graph.add_playout(ids[1], &[0]);
        graph.end(ids[1], &[100]);
        (0..3).for_each(|_| graph.add_playout(ids[2], &[100]));
        assert_eq!(graph.node(ids[2]).value, 1.0);
        assert_eq!(best_move(&graph, ids[0]), Some(MoveId::new(1)));
        let report = report(&graph, ids[0], &[MoveId::new(1), MoveId::new(2)]);
        assert!(report.is_proven && report.reward == Some(1.0), "{report:?}");
    }
}

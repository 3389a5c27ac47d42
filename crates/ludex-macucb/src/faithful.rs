//! MAC-UCB as it was published: a list of networks, solved best first, and playouts in between.
//!
//! The list has the networks of states that were reached and not solved. The *resolution* phase takes
//! the most promising one, puts its state into the template of the game, and finds all solutions: the
//! joint moves, and the states they lead to, whose networks go on the list. The *simulation* phase
//! plays games out: from the root each role follows the moves with the largest confidence bound
//! until a network that is not solved, and from there moves are drawn. A time ratio says which phase
//! is next. In the end the move is best by the operators of [`graph`](crate::graph).
//!
//! For any number of roles, chance, and goals that need not be opposed; all other roles are taken for
//! enemies. For games whose state is known; for others it is asked about one possible state after the other.
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
use ludex_search::{Extension, Limits, MoveReport, SearchReport, Searcher};

use crate::forward::Forward;
use crate::graph::{Arm, Chooses, Graph, Node, NodeId, Seats};
use crate::networks::Networks;
use crate::resolve::{Mac, Resolver};
use crate::work::NetworkWork;

ludex_search::option_names! {
    /// What plays games out.
    pub enum PlayedBy {
        /// The network: consistency leaves the legal moves of each state, and one is drawn.
        Network = "network",
        /// The engine of the game.
        Machine = "machine",
    }
}

ludex_search::option_names! {
    /// Whose reward orders the list.
    pub enum Order {
        /// That of the role that chose to go there.
        Mover = "mover",
        /// That of the role that searches.
        Own = "own",
    }
}

/// How networks are solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Mac,
    ForwardChecking,
}

/// What the faithful search can be told.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FaithfulOptions {
    pub method: Method,
    pub ratio: f64,
    pub c: f64,
    pub order: Order,
    pub playouts: PlayedBy,
}

/// The search.
pub(crate) struct Faithful<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: FaithfulOptions,
    resolver: Option<Box<dyn Resolver>>,
    graph: Option<Graph>,
    root: NodeId,
    list: BinaryHeap<Entry>,
    /// Networks that did not matter when their turn came: above them all was closed.
    aside: Vec<NodeId>,
    /// Nodes of no use any more, which are dropped a few at a time.
    forgotten: Vec<Vec<Node>>,
    runner: Option<G::Runner>,
    /// Plays where there is no network.
    plain: Uct<G>,
}

/// A network on the list. Of equal ones the older is first.
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

/// The part of the time for a move in which the root has to be solved.
const ROOT_PART: f64 = 0.5;
/// The part of it in which nodes are sought that can still be reached after a move. To keep them and no
/// others, when memory is wanted, takes up to eight times as long.
const KEEP_PART: f64 = 0.02;
/// Nodes that are dropped in an iteration, beside as many as are new.
const N_DROPPED: usize = 32;
/// Longer walks through solved networks stop where they are.
const MAX_WALK: usize = 1_000;
/// Joint moves of the line that is told.
const MAX_LINE: usize = 10;

impl<G: Playouts + Clone> Faithful<G> {
    pub fn new(
        name: &'static str,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
        options: FaithfulOptions,
    ) -> Self {
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
            forgotten: Vec::new(),
            runner: None,
            plain: Uct::new(name, game, UctOptions::default()),
        }
    }

    /// Has a posted network, or says why not.
    fn prepare(&mut self, deadline: &Deadline) -> Result<(), String> {
        if self.resolver.is_some() {
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
        Ok(())
    }

    /// Goes to the root, with what was found before if it is below the root of the last search.
    fn begin(&mut self, root: &BitSet, me: RoleId, limits: &Limits) {
        let random = self.game.roles().iter().position(|role| role.is_random).map(RoleId::new);
        let seats = Seats { n_roles: self.game.roles().len(), random, me };
        let known = self.graph.as_mut().filter(|graph| graph.seats == seats);
        let Some((graph, root)) = known.and_then(|it| it.find(root).map(|root| (it, root))) else {
            let mut graph = Graph::new(seats);
            self.root = graph.add(root.clone(), 0.5);
            self.list = BinaryHeap::new();
            self.aside = Vec::new();
            let old = self.graph.replace(graph);
            self.forgotten.extend(old.map(Graph::into_nodes));
            return;
        };
        // From the same root all is reached.
        if root == self.root {
            return;
        }
        self.root = root;
        let deadline = match limits.iterations {
            Some(_) => limits.deadline.clone(),
            None => limits.deadline.part(KEEP_PART),
        };
        // What can't be reached any more is passed over; its nodes go when their memory is wanted. Without
        // time for that all stays, and there may be no room for more: then games are played out.
        let is_full = graph.n_bytes() >= limits.memory / 2;
        let open = match is_full.then(|| graph.go_to(root, &deadline)).flatten() {
            Some(old) => {
                self.forgotten.push(old);
                self.root = NodeId::new(0);
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

/// Drops so many nodes.
fn drop_some(forgotten: &mut Vec<Vec<Node>>, n: usize) {
    let Some(nodes) = forgotten.last_mut() else { return };
    nodes.truncate(nodes.len().saturating_sub(n));
    if nodes.is_empty() {
        forgotten.pop();
    }
}

/// How promising a network is: the confidence bound of the solution that leads to it, for the role
/// that orders the list.
fn key(graph: &Graph, node: NodeId, options: &FaithfulOptions) -> f32 {
    let Some(&parent) = graph.node(node).parents.first() else { return f32::INFINITY };
    let bound_for = |role| {
        let n_playouts = graph.node(node).n_playouts;
        bound(graph, parent, mean(graph, parent, node, role), n_playouts, options)
    };
    match (options.order, &graph.node(parent).chooses) {
        (Order::Own, _) => bound_for(graph.seats.me),
        (Order::Mover, Chooses::One(role)) => bound_for(*role),
        // Each of them has to have a reason.
        (Order::Mover, Chooses::Several(roles)) => {
            roles.iter().map(|&role| bound_for(role)).fold(f32::INFINITY, f32::min)
        }
        // What is drawn is no better for having been lucky.
        (Order::Mover, Chooses::Nobody) => {
            let mean = graph.mean(parent, graph.seats.me);
            bound(graph, parent, mean, graph.node(node).n_playouts, options)
        }
    }
}

/// What a role gets from a child, 0 to 1: for one that was never played, what its parent is worth. What is
/// proved for the role that searches holds whatever was played.
fn mean(graph: &Graph, parent: NodeId, child: NodeId, role: RoleId) -> f32 {
    let node = graph.node(child);
    let mean = match node.n_playouts {
        0 => graph.mean(parent, role),
        _ => graph.mean(child, role),
    };
    if role == graph.seats.me { mean.clamp(node.low, node.high) } else { mean }
}

/// The confidence bound of something that was played so often below a node, `u + c √(2 ln n / nᵢ)`; what
/// was never played is taken for played once.
fn bound(graph: &Graph, parent: NodeId, mean: f32, n: u32, options: &FaithfulOptions) -> f32 {
    let n_parent = graph.node(parent).n_playouts.max(1) + 1;
    let explore = (2.0 * (n_parent as f32).ln() / n.max(1) as f32).sqrt();
    mean + options.c as f32 * explore
}

/// One call of the search, under way.
struct Turn<'a> {
    root: NodeId,
    graph: &'a mut Graph,
    list: &'a mut BinaryHeap<Entry>,
    aside: &'a mut Vec<NodeId>,
    resolver: &'a mut dyn Resolver,
    options: &'a FaithfulOptions,
    work: NetworkWork,
    n_playouts: u64,
    depth: u32,
}

/// Plays a game out from a state: the goals of all roles, unless it was given up.
type PlayOut<'a> = dyn FnMut(&mut dyn Resolver, &BitSet, &mut Rng) -> Option<Vec<u8>> + 'a;

/// What came of solving a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Solved {
    Yes,
    /// The deadline came first.
    Late,
    /// No solution: nothing can be said about the state.
    Never,
}

impl Turn<'_> {
    /// Solves the network of the root, if it was not yet.
    ///
    /// # Errors
    /// Why there is nothing to choose from.
    fn resolve_root(&mut self, limits: &Limits) -> Result<(), String> {
        if self.graph.node(self.root).arms.is_none() {
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(ROOT_PART),
            };
            if self.resolve(self.root, &deadline) == Solved::Late {
                return Err("the network of the state was not solved in half of the time".into());
            }
        }
        if self.graph.node(self.root).is_stuck() {
            return Err("the network of the state has no solution".into());
        }
        Ok(())
    }

    /// Whether the resolution phase has had less than its part.
    fn is_solving_behind(&self, limits: &Limits) -> bool {
        let work = &self.work;
        let (solving, playing) = match limits.iterations {
            // Then the same seed gives the same phases.
            Some(_) => (work.n_solved as f64, self.n_playouts as f64),
            None => {
                ((work.injection + work.resolution).as_secs_f64(), work.simulation.as_secs_f64())
            }
        };
        solving <= self.options.ratio * (solving + playing)
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
        // A state of before the last move can be reached again, with all that is below it.
        for child in old {
            let open = self.graph.note_reached(child, deadline);
            open.into_iter().for_each(|node| self.list_node(node));
        }
    }

    fn list_node(&mut self, node: NodeId) {
        self.list.push(Entry { key: key(self.graph, node, self.options), node });
    }

    /// The most promising network that is still to be solved; `None` without one, or when the deadline came
    /// first: a list from before the last move can have many that are of no use any more.
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
                // Another way may lead to them by now.
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
            // Playouts since it was put there may have made it less promising than another.
            let now = Entry { key: key(self.graph, entry.node, self.options), ..entry };
            if self.list.peek().is_none_or(|next| now.key >= next.key) {
                return Some(entry.node);
            }
            self.list.push(now);
        }
        None
    }

    /// The simulation phase: walks to a network that is not solved, plays out from there, and adds
    /// what came of it to all networks on the way.
    ///
    /// A game that was given up, because nobody can move or it does not end, counts as nothing for everybody:
    /// if it did not count, the next walk would go the same way.
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

    /// The child along the decision with the largest bound; what `random` does beside it is drawn.
    fn pick(&self, node: NodeId, rng: &mut Rng) -> Option<NodeId> {
        let here = self.graph.node(node);
        let arms = here.arms.as_deref()?;
        let mut decisions = self.graph.decisions(arms);
        let decision = match (self.options.order, &here.chooses) {
            (Order::Mover, Chooses::Several(roles)) => {
                let chosen: Vec<(RoleId, MoveId)> =
                    roles.iter().map(|&role| (role, self.best_of(node, arms, role))).collect();
                let is_it = |arm: &Arm| chosen.iter().all(|it| arm.joint[it.0.index()] == it.1);
                decisions.find(|decision| is_it(&decision[0]))
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
                best.map(|it| it.1)
            }
        };
        rng.choose(decision?).map(|arm| arm.child)
    }

    /// The confidence bound of a decision, whatever `random` does: the mean over all that it may do.
    fn score(&self, node: NodeId, decision: &[Arm], role: RoleId) -> f32 {
        let sum: f32 = decision.iter().map(|arm| mean(self.graph, node, arm.child, role)).sum();
        let n = decision.iter().map(|arm| self.graph.node(arm.child).n_playouts).sum();
        bound(self.graph, node, sum / decision.len() as f32, n, self.options)
    }

    /// Where several choose at once, the move of one of them with the largest bound, whatever the others
    /// did beside it.
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

/// Solutions between two looks at the clock, and entries of the list.
const SOLUTIONS_PER_CLOCK_CHECK: usize = 16;
const ENTRIES_PER_CLOCK_CHECK: usize = 64;

/// Plays a game out on the network.
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

/// Plays a game out on the engine of the game.
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
    /// Runs both phases until something ends the turn; `None` when nothing is left to do.
    fn run(
        &mut self,
        limits: &Limits,
        legal: &[MoveId],
    ) -> Result<(Option<StopReason>, SearchReport), String> {
        let Faithful { graph, root, list, aside, resolver, options, .. } = self;
        let (runner, networks, game) = (&mut self.runner, &self.networks, &self.game);
        let forgotten = &mut self.forgotten;
        let (Some(graph), Some(resolver)) = (graph.as_mut(), resolver.as_deref_mut()) else {
            return Err("there is no network".into());
        };
        let n_closed_before = graph.n_closed;
        let work = NetworkWork::default();
        let root = *root;
        let (n_playouts, depth) = (0, 0);
        let mut turn =
            Turn { root, graph, list, aside, resolver, options, work, n_playouts, depth };
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

        // Step 1. Without the solutions of the root there is nothing to choose from.
        turn.resolve_root(limits)?;
        // Step 2. Whichever phase has had less than its part is next.
        let mut n_iterations = 0;
        let mut n_nodes = turn.graph.n_nodes();
        let stopped = loop {
            if turn.graph.node(root).is_closed() {
                break None;
            }
            if limits.deadline.reached() {
                break Some(StopReason::Time);
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
                Some(node) => {
                    if turn.resolve(node, &limits.deadline) == Solved::Late {
                        turn.list_node(node);
                        break Some(StopReason::Time);
                    }
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
        // Step 3. The operators choose.
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

/// Iterations between two looks at what would be answered now.
const HINT_INTERVAL: u64 = 64;

/// The own move with the best value; of equal ones that which is sure of most, then that with the best
/// playouts, then the first.
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

/// The moves in the order of the cursor, with what the networks say of them.
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

/// The own best move and the worst answer, from the root on.
fn line(graph: &Graph, root: NodeId) -> Vec<Vec<MoveId>> {
    let mut line: Vec<Vec<MoveId>> = Vec::new();
    let mut node = root;
    while line.len() < MAX_LINE {
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

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
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
                let lost = start.elapsed();
                let report = self.plain.search(root, role, limits);
                let work = NetworkWork { note, resolution: lost, ..NetworkWork::default() };
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

    /// Is never asked.
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
    };

    /// A root with an open child for each joint move, each played out with these goals.
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

    /// What a turn borrows.
    #[derive(Default)]
    struct Desk {
        list: BinaryHeap<Entry>,
        aside: Vec<NodeId>,
        resolver: Nothing,
    }

    fn turn<'a>(graph: &'a mut Graph, desk: &'a mut Desk) -> Turn<'a> {
        let (root, work, options) = (NodeId::new(0), NetworkWork::default(), &OPTIONS);
        let Desk { list, aside, resolver } = desk;
        Turn { root, graph, list, aside, resolver, options, work, n_playouts: 0, depth: 0 }
    }

    /// The child that is picked, by how often.
    fn picks(graph: &mut Graph) -> Vec<usize> {
        let mut counts = vec![0; graph.n_nodes()];
        let (mut desk, mut rng) = (Desk::default(), Seed(1).rng());
        let turn = turn(graph, &mut desk);
        for _ in 0..100 {
            counts[turn.pick(turn.root, &mut rng).expect("some are open").index()] += 1;
        }
        counts
    }

    fn won() -> Vec<Vec<u8>> {
        vec![vec![100, 0]; 4]
    }

    fn lost() -> Vec<Vec<u8>> {
        vec![vec![0, 100]; 4]
    }

    /// One lucky draw of three does not make a decision better than one that is even.
    #[test]
    fn a_decision_is_worth_the_mean_of_what_may_be_drawn() {
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

    /// Where both choose at once, each looks at its own moves: the first role would like the second to
    /// play its worst.
    #[test]
    fn those_who_choose_at_once_choose_each_for_itself() {
        let seats = Seats { n_roles: 2, random: None, me: RoleId::new(0) };
        let even = || vec![vec![50, 50]; 4];
        let children: [(&[usize], _); 4] =
            [(&[0, 5], won()), (&[0, 6], even()), (&[1, 5], even()), (&[1, 6], lost())];
        // The first prefers its move 0, the second its move 6.
        let counts = picks(&mut played(seats, &children));
        assert_eq!(counts[2], 100);
    }

    /// A network that lost its playouts since it was put on the list comes after those that did not.
    #[test]
    fn the_list_goes_by_what_is_known_now() {
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

    /// A move that is proved to be worth little is not followed for what its playouts say.
    #[test]
    fn playouts_say_nothing_against_a_proof() {
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

    /// Games that were won by luck are no reason to leave a move that is proved to win.
    #[test]
    fn of_equal_values_the_one_that_is_sure_is_played() {
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
        // The first is lost in one playout and then proved to win; the other only wins its playouts.
        graph.add_playout(ids[1], &[0]);
        graph.end(ids[1], &[100]);
        (0..3).for_each(|_| graph.add_playout(ids[2], &[100]));
        assert_eq!(graph.node(ids[2]).value, 1.0);
        assert_eq!(best_move(&graph, ids[0]), Some(MoveId::new(1)));
        let report = report(&graph, ids[0], &[MoveId::new(1), MoveId::new(2)]);
        assert!(report.is_proven && report.reward == Some(1.0), "{report:?}");
    }
}

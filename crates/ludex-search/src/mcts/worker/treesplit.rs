//! UCT-Treesplit within one machine: each thread owns the nodes that the hash of their state gives it.
//! A walk that comes to a node of another thread is sent there as a message; what it found comes back
//! to every owner on its path. Nodes that are visited often are copied to all threads, which tell each
//! other from time to time what happened at their copies.
//!
//! After Graf, Lorenz, Platzner and Schaefers, *Parallel Monte-Carlo Tree Search for HPC Systems*, 2011.
//! Proved values go the same ways as results do, which is ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ludex_base::{RoleId, StopReason};
use ludex_game::{Cursor, PlayoutRunner, Playouts, StateOf};
use rustc_hash::FxHashMap;

use super::super::descent::{Descent, Pick};
use super::super::expand::ExpandRules;
use super::super::registry::PlayoutName;
use super::super::report::{self, move_now};
use super::super::selection::AmafSource;
use super::super::solver::prove_edge;
use super::super::tree::{EdgeId, Full, GOAL_UNIT, Kind, NONE, NodeId, Tree};
use super::super::{MAX_STEPS_BETWEEN, UctOptions};
use super::{MAX_WALK, Worker, joint_of};
use crate::clock::Clock;
use crate::evaluate::{Evaluation, Weights};
use crate::limits::{Hint, Limits};
use crate::playout::{End, MAX_STEPS, Playing, play_out};
use crate::report::SearchReport;
use crate::roles::{Roles, hash_of};
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`Treesplit`].
    pub struct TreesplitOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// first-play urgency: the score of a move that was never tried
        fpu: f64 = 2.0,
        /// threads, each with its part of the tree; 0 is as many as the limits allow
        threads: usize = 0,
        /// walks that a thread has under way
        walks: usize = 4,
        /// visits after which a node is copied to all threads
        copy: usize = 64,
        /// visits of a copy after which the others are told of them
        sync: usize = 16,
    }
}

/// UCT in which threads own nodes.
pub struct Treesplit<G: Playouts> {
    game: G,
    options: TreesplitOptions,
    roles: Roles,
    me: Option<RoleId>,
    parts: Vec<Part<G::Cursor, G::Runner>>,
}

/// A thread's part of the tree.
struct Part<C: Cursor, R> {
    place: usize,
    worker: Worker<C, R>,
    tree: Tree<C::State>,
    /// For each edge, the part of its child and its id there, if it is elsewhere.
    remote: Vec<Option<(usize, NodeId)>>,
    /// For each node, its place among the copies.
    copied_at: Vec<u32>,
    copies: Vec<Copied>,
    /// Keys of nodes that all parts have.
    copy_of: FxHashMap<u64, usize>,
    /// Nodes of others that are copied here.
    here: FxHashMap<(usize, NodeId), NodeId>,
    inbox: Receiver<Message<C::State>>,
    outboxes: Vec<Sender<Message<C::State>>>,
    n_under_way: usize,
    unfinished: Vec<Walk<C::State>>,
    descent: Descent,
}

/// A node that all parts have, and what the others know of its numbers here.
struct Copied {
    node: NodeId,
    told: Vec<(u32, u64)>,
    told_visits: u32,
    n_since: u32,
}

/// What all parts share in one search.
struct Shared<'a> {
    rules: ExpandRules,
    deadline: &'a ludex_base::Deadline,
    hint: &'a Hint,
    max_iterations: Option<u64>,
    n_iterations: &'a AtomicU64,
    is_proven: &'a AtomicBool,
    is_over: &'a AtomicBool,
    memory: usize,
    options: &'a TreesplitOptions,
}

enum Message<S> {
    Walk(Box<Walk<S>>),
    Update(Update),
    Proof {
        path: Arc<Path>,
        n_steps: usize,
        child: Proved<S>,
    },
    Copy {
        from: (usize, NodeId),
        state: S,
        depth: u32,
        n_visits: u32,
        stats: Vec<(u32, u64)>,
        proofs: Vec<(usize, Proved<S>)>,
    },
    Sync {
        key: u64,
        n_visits: u32,
        stats: Vec<(usize, u32, u64)>,
    },
    CopyProof {
        key: u64,
        offset: usize,
        child: Proved<S>,
    },
}

/// A walk under way.
struct Walk<S> {
    starter: usize,
    path: Path,
    target: Target<S>,
    depth: u32,
}

enum Target<S> {
    Node(NodeId),
    State(S),
}

#[derive(Clone, Default)]
struct Path {
    steps: Vec<Step>,
    picks: Vec<Pick>,
}

#[derive(Clone)]
struct Step {
    part: usize,
    node: NodeId,
    first_pick: usize,
    value_above: Option<Vec<u64>>,
    /// Where the child is, if another part has it.
    child: Option<(usize, NodeId)>,
}

impl Path {
    fn picks(&self, step_idx: usize) -> &[Pick] {
        let end = self.steps.get(step_idx + 1).map_or(self.picks.len(), |step| step.first_pick);
        &self.picks[self.steps[step_idx].first_pick..end]
    }
}

/// What a part has to note of a walk that is over.
#[derive(Default)]
struct Update {
    sums: Vec<(EdgeId, u64)>,
    links: Vec<(EdgeId, usize, NodeId)>,
    is_return: bool,
}

/// A node whose value is proved, for a part that may not have it.
#[derive(Clone)]
struct Proved<S> {
    state: S,
    depth: u32,
    values: Vec<f32>,
}

fn owner_of(key: u64, n_parts: usize) -> usize {
    (key >> 40) as usize % n_parts
}

impl<C: Cursor, R: PlayoutRunner<State = C::State>> Part<C, R> {
    /// Searches until the time is over or the root is proved.
    fn run(&mut self, shared: &Shared<'_>) {
        let mut clock = Clock::new(shared.deadline);
        let mut n_walks = 0_u64;
        loop {
            while let Ok(message) = self.inbox.try_recv() {
                self.handle(shared, message, &mut clock);
            }
            if shared.is_over.load(Relaxed) || shared.is_proven.load(Relaxed) {
                return;
            }
            if clock.tick() {
                shared.is_over.store(true, Relaxed);
                return;
            }
            if self.n_under_way >= shared.options.walks.max(1) {
                if let Ok(message) = self.inbox.recv_timeout(Duration::from_micros(100)) {
                    self.handle(shared, message, &mut clock);
                }
                continue;
            }
            let n_before = shared.n_iterations.fetch_add(1, Relaxed);
            if shared.max_iterations.is_some_and(|max| n_before >= max) {
                shared.n_iterations.fetch_sub(1, Relaxed);
                if self.n_under_way == 0 {
                    // The others may still wait for what this part owns.
                    shared.is_over.store(true, Relaxed);
                    return;
                }
                continue;
            }
            self.n_under_way += 1;
            let target = Target::Node(self.tree.root);
            let walk = Walk { starter: self.place, path: Path::default(), target, depth: 0 };
            self.walk(shared, walk, &mut clock);
            n_walks += 1;
            let is_time = n_walks.is_power_of_two() || n_walks.is_multiple_of(64);
            let now = (self.place == 0 && is_time).then(|| move_now(&self.tree, shared.rules.me));
            if let Some(id) = now.flatten() {
                shared.hint.set(id);
            }
        }
    }

    fn send(&self, part: usize, message: Message<C::State>) {
        self.outboxes[part].send(message).expect("inboxes last as long as the search");
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<C, R> {
        let place = self.place;
        (0..self.outboxes.len()).filter(move |&part| part != place)
    }

    fn handle(&mut self, shared: &Shared<'_>, message: Message<C::State>, clock: &mut Clock<'_>) {
        match message {
            Message::Walk(walk) => self.walk(shared, *walk, clock),
            Message::Update(update) => self.update(update),
            Message::Proof { path, n_steps, child } => {
                if let Some(child) = self.proved_node(shared, &child) {
                    self.prove_up(shared, &path, n_steps, child);
                }
            }
            Message::Copy { from, state, depth, n_visits, stats, proofs } => {
                self.worker.cursor.set_state(&state);
                let Some((node, _)) = self.node_here(shared, depth) else { return };
                self.here.insert(from, node);
                for (place, &(n, sum)) in self.tree.all_edges(node).zip(&stats) {
                    self.tree.edges[place].n_visits.fetch_add(n, Relaxed);
                    self.tree.edges[place].goal_sum.fetch_add(sum, Relaxed);
                }
                self.tree.node(node).n_visits.fetch_add(n_visits, Relaxed);
                self.register(node);
                for (offset, child) in proofs {
                    self.prove_copy(shared, node, offset, &child);
                }
            }
            Message::Sync { key, n_visits, stats } => {
                let Some(&copy) = self.copy_of.get(&key) else { return };
                let copied = &mut self.copies[copy];
                let node = self.tree.node(copied.node);
                node.n_visits.fetch_add(n_visits, Relaxed);
                copied.told_visits = copied.told_visits.wrapping_add(n_visits);
                let first = node.first_edge.load(Relaxed) as usize;
                for (offset, n, sum) in stats {
                    let edge = &self.tree.edges[first + offset];
                    edge.n_visits.fetch_add(n, Relaxed);
                    edge.goal_sum.fetch_add(sum, Relaxed);
                    let told = &mut copied.told[offset];
                    *told = (told.0.wrapping_add(n), told.1.wrapping_add(sum));
                }
            }
            Message::CopyProof { key, offset, child } => {
                if let Some(&copy) = self.copy_of.get(&key) {
                    self.prove_copy(shared, self.copies[copy].node, offset, &child);
                }
            }
        }
    }

    /// The node of the state the cursor stands on, in this part; `None` if there is no room.
    fn node_here(&mut self, shared: &Shared<'_>, depth: u32) -> Option<(NodeId, bool)> {
        loop {
            let Worker { expander, cursor, .. } = &mut self.worker;
            match expander.node_of(&self.tree, &shared.rules, cursor, depth, None) {
                Ok(found) => return Some(found),
                // Ids are in messages, so nodes are never moved: the tree only grows.
                Err(Full) if self.tree.n_bytes() * 4 > shared.memory => return None,
                Err(Full) => {
                    self.tree.make_room(shared.memory).ok()?;
                    self.remote.resize(self.tree.edges.len(), None);
                    self.copied_at.resize(self.tree.nodes.len(), NONE);
                }
            }
        }
    }

    fn walk(&mut self, shared: &Shared<'_>, mut walk: Walk<C::State>, clock: &mut Clock<'_>) {
        // Step 1. Where it has come to.
        let (mut node, mut is_new) = match &walk.target {
            Target::Node(node) => (*node, false),
            Target::State(state) => {
                self.worker.cursor.set_state(state);
                match self.node_here(shared, walk.depth) {
                    Some(found) => found,
                    None => return self.play(shared, walk, clock),
                }
            }
        };
        if let Some(step) = walk.path.steps.last_mut() {
            step.child = Some((self.place, node));
        }
        loop {
            // Step 2. Stop at what is known or new.
            if node != self.tree.root && self.tree.node(node).is_proven() {
                return self.finish_known(shared, walk, node);
            }
            let kind = self.tree.node(node).kind();
            self.tree.node(node).n_visits.fetch_add(1, Relaxed);
            let is_stuck = matches!(kind, Kind::Terminal | Kind::Stuck);
            if is_stuck || walk.path.steps.len() > MAX_WALK {
                return self.finish(walk, vec![0; self.tree.roles.n]);
            }
            if is_new {
                return self.play(shared, walk, clock);
            }
            self.note_visit(shared, node);
            // Step 3. Each role that chooses follows one of its edges.
            self.descent.clear();
            self.descent.step(node);
            match kind {
                Kind::Single { role, .. } | Kind::Chance { role } => self.follow_here(node, role),
                _ => {
                    for role in self.tree.roles.ids() {
                        if self.tree.span(node, role).len() > 1 {
                            self.follow_here(node, role);
                        }
                    }
                }
            }
            let value_above = self.descent.value_above(0).map(|child| self.sums_of(child));
            let first_pick = walk.path.picks.len();
            let part = self.place;
            walk.path.steps.push(Step { part, node, first_pick, value_above, child: None });
            walk.path.picks.extend_from_slice(self.descent.picks(0));
            // Step 4. Go on where the child is.
            let edge = (kind != Kind::Several).then(|| self.descent.picks(0)[0].edge);
            if let Some(edge) = edge {
                if let Some(child) = self.tree.edge(edge).child() {
                    node = child;
                    continue;
                }
                if let Some(link) = self.remote[edge.index()] {
                    if let Some(&child) = self.here.get(&link) {
                        self.tree.edge(edge).child.store(child.index() as u32, Release);
                        node = child;
                        continue;
                    }
                    walk.target = Target::Node(link.1);
                    return self.send(link.0, Message::Walk(Box::new(walk)));
                }
            }
            joint_of(&self.tree, &self.descent, 0, &mut self.worker.joint);
            let cursor = &mut self.worker.cursor;
            cursor.set_state(self.tree.state(node));
            cursor.play(&self.worker.joint);
            let depth = self.tree.node(node).depth.load(Relaxed) + 1;
            let key = Tree::<C::State>::key(hash_of(cursor.state()), depth);
            let owner = owner_of(key, self.outboxes.len());
            if owner != self.place && self.tree.find(key, cursor.state()).is_none() {
                walk.depth = depth;
                walk.target = Target::State(cursor.state().clone());
                return self.send(owner, Message::Walk(Box::new(walk)));
            }
            match self.node_here(shared, depth) {
                Some(found) => (node, is_new) = found,
                None => return self.play(shared, walk, clock),
            }
            if let Some(edge) = edge {
                self.tree.edge(edge).child.store(node.index() as u32, Release);
            }
        }
    }

    fn follow_here(&mut self, node: NodeId, role: RoleId) {
        let Self { worker, tree, descent, .. } = self;
        let place = worker.select(tree, descent, node, role);
        let place = worker.look_elsewhere(tree, descent, node, role, place);
        tree.edges[place].n_visits.fetch_add(1, Relaxed);
        descent.pick(role, EdgeId::new(place));
    }

    /// What a playout from a proved node is worth to each role.
    fn sums_of(&self, node: NodeId) -> Vec<u64> {
        let sum = |role| (f64::from(self.tree.value(node, role)) * GOAL_UNIT as f64).round() as u64;
        self.tree.roles.ids().map(sum).collect()
    }

    /// Plays out from where the cursor stands.
    fn play(&mut self, shared: &Shared<'_>, walk: Walk<C::State>, clock: &mut Clock<'_>) {
        let roles = self.tree.roles;
        let Worker { cursor, policy, rng, desk, .. } = &mut self.worker;
        desk.writes = false;
        let playing = Playing { policy: &mut **policy, rng, clock, horizon: MAX_STEPS };
        let sums = match play_out(cursor, roles.n, playing, desk) {
            End::Terminal => {
                let goal = |role| u64::from(cursor.goal(role).value()) * GOAL_UNIT;
                roles.ids().map(goal).collect()
            }
            End::Cut | End::GivenUp => vec![0; roles.n],
            End::Time => {
                shared.n_iterations.fetch_sub(1, Relaxed);
                return self.unfinished.push(walk);
            }
        };
        self.worker.n_playouts += 1;
        self.finish(walk, sums);
    }

    fn finish_known(&mut self, shared: &Shared<'_>, walk: Walk<C::State>, node: NodeId) {
        let path = Arc::new(walk.path.clone());
        self.prove_up(shared, &path, path.steps.len(), node);
        let sums = self.sums_of(node);
        self.finish(walk, sums);
    }

    /// Tells every owner on the path what was found, and the starter that the walk is over.
    fn finish(&mut self, walk: Walk<C::State>, mut sums: Vec<u64>) {
        let mut updates: Vec<Update> = Vec::new();
        updates.resize_with(self.outboxes.len(), Update::default);
        for (step_idx, step) in walk.path.steps.iter().enumerate().rev() {
            let update = &mut updates[step.part];
            let picks = walk.path.picks(step_idx);
            for pick in picks {
                update.sums.push((pick.edge, sums[pick.role.index()]));
            }
            if let (Some((part, id)), [pick]) = (step.child, picks)
                && part != step.part
            {
                update.links.push((pick.edge, part, id));
            }
            if let Some(value) = &step.value_above {
                sums.clone_from(value);
            }
        }
        updates[walk.starter].is_return = true;
        for (part, update) in updates.into_iter().enumerate() {
            if part == self.place {
                self.update(update);
            } else if update.is_return || !update.sums.is_empty() {
                self.send(part, Message::Update(update));
            }
        }
        self.worker.max_depth = self.worker.max_depth.max(walk.path.steps.len());
    }

    fn update(&mut self, update: Update) {
        for (edge, sum) in update.sums {
            self.tree.edge(edge).goal_sum.fetch_add(sum, Relaxed);
        }
        for (edge, part, id) in update.links {
            // Where several choose at once an edge has no child of its own.
            self.remote[edge.index()] = Some((part, id));
        }
        self.n_under_way -= usize::from(update.is_return);
    }

    /// Copies a node that has just been visited often; tells of a copy that was.
    fn note_visit(&mut self, shared: &Shared<'_>, node: NodeId) {
        let copy = self.copied_at[node.index()];
        if copy != NONE {
            let copied = &mut self.copies[copy as usize];
            copied.n_since += 1;
            if copied.n_since as usize >= shared.options.sync {
                self.tell(copy as usize);
            }
            return;
        }
        let numbers = self.tree.node(node);
        let is_own = owner_of(numbers.key.load(Relaxed), self.outboxes.len()) == self.place;
        if is_own && numbers.n_visits.load(Relaxed) as usize >= shared.options.copy {
            self.copy_out(node);
        }
    }

    /// Notes that all parts have a node and know its numbers here.
    fn register(&mut self, node: NodeId) {
        let numbers = |place: usize| {
            let edge = &self.tree.edges[place];
            (edge.n_visits.load(Relaxed), edge.goal_sum.load(Relaxed))
        };
        let told = self.tree.all_edges(node).map(numbers).collect();
        let told_visits = self.tree.node(node).n_visits.load(Relaxed);
        self.copied_at[node.index()] = self.copies.len() as u32;
        self.copy_of.insert(self.tree.node(node).key.load(Relaxed), self.copies.len());
        self.copies.push(Copied { node, told, told_visits, n_since: 0 });
    }

    fn copy_out(&mut self, node: NodeId) {
        self.register(node);
        let copied = self.copies.last().expect("it was just made");
        let first = self.tree.all_edges(node).start;
        for part in self.others() {
            let proofs = self
                .tree
                .all_edges(node)
                .filter(|&place| self.tree.edges[place].proven().is_some())
                .filter_map(|place| {
                    Some((place - first, self.proved(self.tree.edges[place].child()?)))
                })
                .collect();
            self.send(
                part,
                Message::Copy {
                    from: (self.place, node),
                    state: self.tree.state(node).clone(),
                    depth: self.tree.node(node).depth.load(Relaxed),
                    n_visits: copied.told_visits,
                    stats: copied.told.clone(),
                    proofs,
                },
            );
        }
    }

    /// Tells the others what happened at a copy since they were told last.
    fn tell(&mut self, copy: usize) {
        let copied = &mut self.copies[copy];
        copied.n_since = 0;
        let node = self.tree.node(copied.node);
        let n_visits = node.n_visits.load(Relaxed);
        let mut stats = Vec::new();
        for (offset, place) in self.tree.all_edges(copied.node).enumerate() {
            let edge = &self.tree.edges[place];
            let now = (edge.n_visits.load(Relaxed), edge.goal_sum.load(Relaxed));
            let told = std::mem::replace(&mut copied.told[offset], now);
            if told != now {
                stats.push((offset, now.0.wrapping_sub(told.0), now.1.wrapping_sub(told.1)));
            }
        }
        let n_more = n_visits.wrapping_sub(std::mem::replace(&mut copied.told_visits, n_visits));
        let key = node.key.load(Relaxed);
        for part in self.others() {
            self.send(part, Message::Sync { key, n_visits: n_more, stats: stats.clone() });
        }
    }

    fn proved(&self, node: NodeId) -> Proved<C::State> {
        Proved {
            state: self.tree.state(node).clone(),
            depth: self.tree.node(node).depth.load(Relaxed),
            values: self.tree.roles.ids().map(|role| self.tree.value(node, role)).collect(),
        }
    }

    /// A node of this part for one that was proved elsewhere.
    fn proved_node(&mut self, shared: &Shared<'_>, proved: &Proved<C::State>) -> Option<NodeId> {
        self.worker.cursor.set_state(&proved.state);
        let (node, _) = self.node_here(shared, proved.depth)?;
        if !self.tree.node(node).is_proven() {
            self.tree.prove(node, |role| proved.values[role.index()]);
        }
        Some(node)
    }

    /// Takes a proof up the path as far as it reaches; it is sent on where another part is asked.
    fn prove_up(&mut self, shared: &Shared<'_>, path: &Arc<Path>, n_steps: usize, child: NodeId) {
        let mut child = child;
        for step_idx in (0..n_steps).rev() {
            let step = &path.steps[step_idx];
            let [pick] = path.picks(step_idx) else { return };
            if step.part != self.place {
                let child = self.proved(child);
                let (path, n_steps) = (Arc::clone(path), step_idx + 1);
                return self.send(step.part, Message::Proof { path, n_steps, child });
            }
            let edge = self.tree.edge(pick.edge);
            if self.tree.node(step.node).kind() == Kind::Several {
                return;
            }
            edge.child.store(child.index() as u32, Release);
            let was_proven = edge.proven().is_some();
            let is_proven = prove_edge(&self.tree, step.node, pick.edge, child, shared.rules.me);
            let copy = self.copied_at[step.node.index()];
            if copy != NONE && !was_proven {
                let offset = pick.edge.index() - self.tree.all_edges(step.node).start;
                let key = self.tree.node(step.node).key.load(Relaxed);
                for part in self.others() {
                    let child = self.proved(child);
                    self.send(part, Message::CopyProof { key, offset, child });
                }
            }
            if !is_proven {
                return;
            }
            self.note_root(shared, step.node);
            child = step.node;
        }
    }

    /// Notes a proof at a copy that another part found.
    fn prove_copy(
        &mut self,
        shared: &Shared<'_>,
        node: NodeId,
        offset: usize,
        child: &Proved<C::State>,
    ) {
        let Some(child) = self.proved_node(shared, child) else { return };
        let edge = EdgeId::new(self.tree.all_edges(node).start + offset);
        self.tree.edge(edge).child.store(child.index() as u32, Release);
        if prove_edge(&self.tree, node, edge, child, shared.rules.me) {
            self.note_root(shared, node);
        }
    }

    fn note_root(&self, shared: &Shared<'_>, node: NodeId) {
        if node == self.tree.root {
            shared.is_proven.store(true, Relaxed);
        }
    }

    /// Takes back the visits of a walk in this part.
    fn cancel_here(&self, path: &Path) {
        for (step_idx, step) in path.steps.iter().enumerate() {
            if step.part == self.place {
                self.tree.node(step.node).n_visits.fetch_sub(1, Relaxed);
                for pick in path.picks(step_idx) {
                    self.tree.edge(pick.edge).n_visits.fetch_sub(1, Relaxed);
                }
            }
        }
    }
}

impl<G: Playouts + Clone> Treesplit<G> {
    /// A search that knows nothing yet.
    pub fn new(game: &G, options: TreesplitOptions) -> Self {
        let roles = Roles::of(game);
        Self { game: game.clone(), options, roles, me: None, parts: Vec::new() }
    }

    /// New parts, each with the root.
    fn begin(&mut self, root: &G::Cursor, n_parts: usize, limits: &Limits, shared: &Shared<'_>) {
        let options =
            UctOptions { c: self.options.c, fpu: self.options.fpu, ..UctOptions::default() };
        let (senders, inboxes): (Vec<_>, Vec<_>) = (0..n_parts).map(|_| channel()).unzip();
        let weights = Weights {
            mobility: 0.0,
            proximity: 0.0,
            playouts: 0.0,
            learned: 0.0,
            rules: 0.0,
            count: 1,
        };
        self.parts = inboxes
            .into_iter()
            .enumerate()
            .map(|(place, inbox)| Part {
                place,
                worker: Worker::new(
                    root.clone(),
                    self.game.runner(),
                    options.selection.build(&options),
                    PlayoutName::Uniform.build(&options),
                    Evaluation::new(weights, limits.seed.rng()),
                    limits.seed.rng(),
                ),
                tree: Tree::new(self.roles, AmafSource::None, root.state()),
                remote: Vec::new(),
                copied_at: Vec::new(),
                copies: Vec::new(),
                copy_of: FxHashMap::default(),
                here: FxHashMap::default(),
                inbox,
                outboxes: senders.clone(),
                n_under_way: 0,
                unfinished: Vec::new(),
                descent: Descent::default(),
            })
            .collect();
        for part in &mut self.parts {
            part.worker.cursor.set_state(root.state());
            let Some((id, _)) = part.node_here(shared, 0) else { continue };
            part.tree.root = id;
            part.register(id);
        }
    }

    /// Makes the node of a state the root of every part, if its owner has it.
    fn go_to(&mut self, root: &G::Cursor, shared: &Shared<'_>) -> bool {
        let n_parts = self.parts.len();
        let Some(first) = self.parts.first() else { return false };
        let depth = first.tree.node(first.tree.root).depth.load(Relaxed);
        let hash = hash_of(root.state());
        for depth in depth..depth + MAX_STEPS_BETWEEN {
            let key = Tree::<StateOf<G>>::key(hash, depth);
            let part = &mut self.parts[owner_of(key, n_parts)];
            let Some(node) = part.tree.find(key, root.state()) else { continue };
            if matches!(part.tree.node(node).kind(), Kind::Terminal | Kind::Stuck) {
                return false;
            }
            if part.copied_at[node.index()] == NONE {
                part.copy_out(node);
                self.drain(shared);
            }
            for part in &mut self.parts {
                let Some(node) = part.tree.find(key, root.state()) else { return false };
                part.tree.root = node;
                let is_proven = part.tree.node(node).is_proven();
                if is_proven && !report::has_proven_move(&part.tree, node) {
                    part.tree.nodes[node.index()].forget_proof();
                }
            }
            return true;
        }
        false
    }

    /// Handles every message that is left; walks that are not over never were.
    fn drain(&mut self, shared: &Shared<'_>) {
        let mut is_quiet = false;
        while !is_quiet {
            is_quiet = true;
            for place in 0..self.parts.len() {
                let mut cancelled = std::mem::take(&mut self.parts[place].unfinished);
                while let Ok(message) = self.parts[place].inbox.try_recv() {
                    is_quiet = false;
                    let mut clock = Clock::new(shared.deadline);
                    match message {
                        Message::Walk(walk) => {
                            shared.n_iterations.fetch_sub(1, Relaxed);
                            cancelled.push(*walk);
                        }
                        other => self.parts[place].handle(shared, other, &mut clock),
                    }
                }
                for walk in cancelled {
                    self.parts.iter().for_each(|part| part.cancel_here(&walk.path));
                }
            }
        }
    }
}

impl<G: Playouts + Clone> Searcher<G::Cursor> for Treesplit<G> {
    fn name(&self) -> &'static str {
        "uct-split"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &Limits) -> SearchReport {
        let n_parts = match self.options.threads {
            0 => limits.threads.max(1),
            n => n,
        };
        let (n_iterations, is_proven, is_over) =
            (AtomicU64::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let options = self.options.clone();
        let shared = Shared {
            rules: ExpandRules { me: role, is_staged: false, is_dag: true },
            deadline: &limits.deadline,
            hint: &limits.hint,
            max_iterations: limits.iterations,
            n_iterations: &n_iterations,
            is_proven: &is_proven,
            is_over: &is_over,
            memory: limits.memory / n_parts,
            options: &options,
        };
        let is_large = self.parts.iter().any(|it| it.tree.n_bytes() * 8 > shared.memory);
        let is_same = self.me == Some(role) && self.parts.len() == n_parts && !is_large;
        if !is_same || !self.go_to(root, &shared) {
            self.begin(root, n_parts, limits, &shared);
        }
        self.me = Some(role);
        let first = &self.parts[0].tree;
        if first.nodes.is_empty()
            || matches!(first.node(first.root).kind(), Kind::Terminal | Kind::Stuck)
        {
            self.parts.clear();
            return SearchReport {
                stopped: Some(StopReason::Fault),
                ..SearchReport::unsearched(root.clone().legal_moves(role))
            };
        }
        for (place, part) in self.parts.iter_mut().enumerate() {
            part.worker.rng = limits.seed.child(place as u64).rng();
            part.worker.n_playouts = 0;
            part.worker.max_depth = 0;
            part.n_under_way = 0;
            part.note_root_if_proven(&shared);
        }
        std::thread::scope(|scope| {
            for part in &mut self.parts {
                let shared = &shared;
                scope.spawn(move || part.run(shared));
            }
        });
        // What is left may still close walks that never came back; nobody counts them any more.
        self.parts.iter_mut().for_each(|part| part.n_under_way = usize::MAX / 2);
        self.drain(&shared);
        for part in &mut self.parts {
            let copy = part.copied_at[part.tree.root.index()];
            part.tell(copy as usize);
        }
        self.drain(&shared);
        let first = &self.parts[0].tree;
        let reported = report::report(first, root, role);
        let stopped = match (is_proven.load(Relaxed), limits.iterations) {
            (true, _) => None,
            (false, Some(_)) => Some(StopReason::Count),
            (false, None) => Some(StopReason::Time),
        };
        SearchReport {
            stopped,
            n_iterations: n_iterations.load(Relaxed),
            n_playouts: self.parts.iter().map(|it| it.worker.n_playouts).sum(),
            n_nodes: self.parts.iter().map(|it| it.tree.n_nodes.load(Relaxed) as u64).sum(),
            n_bytes: self.parts.iter().map(|it| it.tree.n_bytes() as u64).sum(),
            depth: self.parts.iter().map(|it| it.worker.max_depth).max().unwrap_or(0) as u32,
            ..reported
        }
    }
}

impl<C: Cursor, R: PlayoutRunner<State = C::State>> Part<C, R> {
    fn note_root_if_proven(&self, shared: &Shared<'_>) {
        if self.tree.node(self.tree.root).is_proven() {
            shared.is_proven.store(true, Relaxed);
        }
    }
}

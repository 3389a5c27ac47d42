//! One thread of the search: descend, expand, play out, back up.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use ludex_base::{Deadline, MoveId, Rng, RoleId};
use ludex_game::playouts::StartResults;
use ludex_game::{Cursor, MAX_RANDOM_STEPS, PlayoutRequest, PlayoutResults, PlayoutRunner};

use super::advice::Adviser;
use super::descent::Descent;
use super::expand::{ExpandRules, Expander};
use super::learn::Learner;
use super::playout::PlayoutPolicy;
use super::report::move_now;
use super::selection::{AmafSource, EdgeStats, Selection};
use super::solver::prove_edge;
use super::tree::{Edge, EdgeId, Full, GOAL_UNIT, Kind, NodeId, Tree};
use crate::clock::Clock;
use crate::evaluate::{Evaluation, OutOfTime};
use crate::limits::Hint;
use crate::playout::{Desk, End, Playing, play_out};
use crate::roles::Roles;

/// The data that all threads share in one round, during which the tree grows only within its room.
pub(crate) struct Round<'a, S> {
    pub(crate) tree: &'a Tree<S>,
    pub(crate) rules: ExpandRules,
    pub(crate) deadline: &'a Deadline,
    pub(crate) hint: &'a Hint,
    pub(crate) max_iterations: Option<u64>,
    pub(crate) n_iterations: &'a AtomicU64,
    pub(crate) is_full: &'a AtomicBool,
    /// Whether the round ends when there is no room; otherwise games are played out beyond the
    /// tree.
    pub(crate) grows: bool,
    /// Leaves to gather for one batch of playouts.
    pub(crate) n_leaves: usize,
    /// Playouts from each leaf.
    pub(crate) n_playouts: u32,
    /// The memory limit of all-moves-as-first tables.
    pub(crate) amaf_memory: usize,
    /// Steps after which a playout is cut and evaluated.
    pub(crate) horizon: usize,
}

/// Why a thread left the round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Time,
    Count,
    Proven,
    Full,
}

/// The data of one thread: a cursor, policies and working memory.
pub(crate) struct Worker<C: Cursor, R> {
    cursor: C,
    runner: R,
    pub(crate) selection: Box<dyn Selection>,
    pub(crate) policy: Box<dyn PlayoutPolicy>,
    /// The adviser about states, if this thread has it.
    pub(crate) adviser: Option<Box<dyn Adviser<C::State>>>,
    pub(crate) rng: Rng,
    pub(crate) n_playouts: u64,
    pub(crate) max_depth: usize,
    expander: Expander,
    learner: Learner,
    stats: Vec<EdgeStats>,
    stats_of: Vec<usize>,
    joint: Vec<MoveId>,
    desk: Desk,
    /// Evaluates states where playouts are cut.
    pub(crate) evaluation: Evaluation<C::State>,
    goal_sums: Vec<u64>,
    goals: Vec<u8>,
    descents: Vec<Descent>,
    /// Descents of a batch that ended at proved nodes.
    known: Vec<(Descent, NodeId)>,
    starts: Vec<C::State>,
    results: PlayoutResults,
    n_batches: u64,
}

/// Where a descent ended.
enum Leaf {
    /// At the end of the tree, in the cursor's state; at a new node unless there is no room.
    New,
    /// At a proved node.
    Known(NodeId),
    /// Where nothing is known.
    Stuck,
}

/// Descents between two updates of the hint.
const HINT_INTERVAL: u64 = 64;
/// One in this many batches of several playouts per leaf is recorded, for selections that need
/// moves.
const RECORD_EVERY: u64 = 4;
/// Longer descents are cut: a rulesheet may let a game go on forever.
const MAX_WALK: usize = 4000;

impl<C: Cursor, R: PlayoutRunner<State = C::State>> Worker<C, R> {
    pub(crate) fn new(
        cursor: C,
        runner: R,
        selection: Box<dyn Selection>,
        policy: Box<dyn PlayoutPolicy>,
        evaluation: Evaluation<C::State>,
        rng: Rng,
    ) -> Self {
        Self {
            cursor,
            runner,
            selection,
            policy,
            adviser: None,
            rng,
            n_playouts: 0,
            max_depth: 0,
            expander: Expander::default(),
            learner: Learner::default(),
            stats: Vec::new(),
            stats_of: Vec::new(),
            joint: Vec::new(),
            desk: Desk::default(),
            evaluation,
            goal_sums: Vec::new(),
            goals: Vec::new(),
            descents: Vec::new(),
            known: Vec::new(),
            starts: Vec::new(),
            results: PlayoutResults::default(),
            n_batches: 0,
        }
    }

    /// Searches until something ends the round.
    pub(crate) fn run(&mut self, round: &Round<'_, C::State>) -> Ending {
        let mut clock = Clock::new(round.deadline);
        // Batches play uniformly and to the end.
        let can_batch = self.policy.is_uniform() && round.horizon >= MAX_RANDOM_STEPS;
        let uses_batches = can_batch && round.n_leaves as u64 * u64::from(round.n_playouts) > 1;
        for n_walks in 1_u64.. {
            let ending = if uses_batches {
                self.iterate_batch(round, &mut clock)
            } else {
                self.iterate(round, &mut clock)
            };
            if let Err(ending) = ending {
                return ending;
            }
            let is_time = n_walks.is_power_of_two() || n_walks.is_multiple_of(HINT_INTERVAL);
            let now = (uses_batches || is_time).then(|| move_now(round.tree, round.rules.me));
            if let Some(id) = now.flatten() {
                round.hint.set(id);
            }
        }
        Ending::Count
    }

    /// Searches one leaf, played out on the cursor.
    fn iterate(
        &mut self,
        round: &Round<'_, C::State>,
        clock: &mut Clock<'_>,
    ) -> Result<(), Ending> {
        self.begin(round, clock)?;
        let mut descent = self.descents.pop().unwrap_or_default();
        let leaf = self.descend(round, &mut descent, clock)?;
        match leaf {
            Leaf::New => {
                let state = (round.n_playouts > 1).then(|| self.cursor.state().clone());
                self.play_leaf(round, &descent, clock);
                for _ in 1..round.n_playouts {
                    self.cursor.set_state(state.as_ref().expect("kept for more playouts"));
                    self.play_leaf(round, &descent, clock);
                }
            }
            Leaf::Known(node) => self.back_up_proof(round, &descent, node),
            Leaf::Stuck => {}
        }
        self.descents.push(descent);
        Ok(())
    }

    /// Searches several leaves, played out together by the runner.
    fn iterate_batch(
        &mut self,
        round: &Round<'_, C::State>,
        clock: &mut Clock<'_>,
    ) -> Result<(), Ending> {
        // Step 1. Gather leaves; unfinished ones count as losses, which keeps descents apart.
        let mut descents = std::mem::take(&mut self.descents);
        let (mut n_leaves, mut n_known) = (0, 0);
        let mut ending = Ok(());
        self.starts.clear();
        let is_advised = self.adviser.is_some();
        // Descents that end at proved nodes are cheap but yield no leaf, so their number is bounded
        // too.
        for _ in 0..round.n_leaves * 4 {
            if n_leaves == round.n_leaves {
                break;
            }
            ending = self.begin(round, clock);
            if ending.is_err() {
                break;
            }
            if n_leaves == descents.len() {
                descents.push(Descent::default());
            }
            match self.descend(round, &mut descents[n_leaves], clock) {
                Ok(Leaf::New) => {
                    self.starts.push(self.cursor.state().clone());
                    n_leaves += 1;
                }
                Ok(Leaf::Known(node)) if is_advised => {
                    // It counts as a loss like the others: a value that is known at once would
                    // attract the other descents of the batch, and the most visited move is played.
                    if n_known == self.known.len() {
                        self.known.push((Descent::default(), node));
                    }
                    std::mem::swap(&mut self.known[n_known].0, &mut descents[n_leaves]);
                    self.known[n_known].1 = node;
                    n_known += 1;
                }
                Ok(Leaf::Known(node)) => self.back_up_proof(round, &descents[n_leaves], node),
                Ok(Leaf::Stuck) => {}
                Err(stop) => {
                    ending = Err(stop);
                    break;
                }
            }
        }
        // Step 2. Play them out side by side.
        if n_leaves > 0 {
            self.run_batch(round, &descents[..n_leaves]);
        }
        let known = std::mem::take(&mut self.known);
        for (descent, node) in &known[..n_known] {
            self.back_up_proof(round, descent, *node);
        }
        self.known = known;
        self.descents = descents;
        ending
    }

    /// Checks whether to go on, and counts an iteration if so.
    fn begin(&mut self, round: &Round<'_, C::State>, clock: &mut Clock<'_>) -> Result<(), Ending> {
        if round.tree.node(round.tree.root).is_proven() {
            return Err(Ending::Proven);
        }
        if round.is_full.load(Relaxed) {
            return Err(Ending::Full);
        }
        if clock.tick() {
            return Err(Ending::Time);
        }
        let n_before = round.n_iterations.fetch_add(1, Relaxed);
        if round.max_iterations.is_some_and(|max| n_before >= max) {
            round.n_iterations.fetch_sub(1, Relaxed);
            return Err(Ending::Count);
        }
        Ok(())
    }

    /// Descends from the root; visits of edges are counted at once.
    fn descend(
        &mut self,
        round: &Round<'_, C::State>,
        descent: &mut Descent,
        clock: &mut Clock<'_>,
    ) -> Result<Leaf, Ending> {
        let tree = round.tree;
        descent.clear();
        let mut node = tree.root;
        let leaf = loop {
            // Step 1. Stop at a proved node, unless it is the root, where a move is needed.
            if node != tree.root && tree.node(node).is_proven() {
                break Leaf::Known(node);
            }
            if descent.n_steps() > MAX_WALK {
                break Leaf::Stuck;
            }
            if clock.tick() {
                round.n_iterations.fetch_sub(1, Relaxed);
                cancel(tree, descent, round.n_playouts);
                return Err(Ending::Time);
            }
            if node != tree.root && self.is_certain(round, node) {
                break Leaf::Known(node);
            }
            // Step 2. Each role that chooses here follows one of its edges.
            let kind = tree.node(node).kind();
            tree.node(node).n_visits.fetch_add(round.n_playouts, Relaxed);
            descent.step(node);
            match kind {
                Kind::Terminal | Kind::Stuck => break Leaf::Stuck,
                Kind::Single { role, .. } | Kind::Chance { role } => {
                    self.follow(round, descent, node, role);
                }
                Kind::Several => {
                    for role in tree.roles.ids().filter(|&role| tree.span(node, role).len() > 1) {
                        self.follow(round, descent, node, role);
                    }
                }
            }
            // Step 3. Continue if the child is in the tree; otherwise create it.
            let known = match kind {
                Kind::Several => None,
                _ => tree.edge(descent.picks(descent.n_steps() - 1)[0].edge).child(),
            };
            if let Some(child) = known {
                node = child;
                continue;
            }
            match self.expand(round, descent, node, kind) {
                Ok((child, is_new)) => {
                    node = child;
                    let is_stage = matches!(kind, Kind::Single { has_stages: true, .. });
                    if is_new && !is_stage && !tree.node(child).is_proven() {
                        tree.node(child).n_visits.fetch_add(round.n_playouts, Relaxed);
                        break match tree.node(child).kind() {
                            Kind::Stuck => Leaf::Stuck,
                            _ => Leaf::New,
                        };
                    }
                }
                Err(Full) if !round.grows => {
                    // Between the choices of one step there is no state to play from.
                    if matches!(kind, Kind::Single { has_stages: true, .. }) {
                        cancel(tree, descent, round.n_playouts);
                        break Leaf::Stuck;
                    }
                    break Leaf::New;
                }
                Err(Full) => {
                    round.is_full.store(true, Relaxed);
                    round.n_iterations.fetch_sub(1, Relaxed);
                    cancel(tree, descent, round.n_playouts);
                    return Err(Ending::Full);
                }
            }
        };
        self.max_depth = self.max_depth.max(descent.n_steps());
        Ok(leaf)
    }

    /// Asks the adviser about a node that has just reached enough visits, and stores certain goals.
    fn is_certain(&mut self, round: &Round<'_, C::State>, node: NodeId) -> bool {
        let Some(adviser) = &mut self.adviser else { return false };
        let Some(n_asked) = adviser.asks_at() else { return false };
        let tree = round.tree;
        let n_visits = tree.node(node).n_visits.load(Relaxed);
        let is_time = (n_asked..n_asked + round.n_playouts).contains(&n_visits);
        let is_wanted = match tree.node(node).kind() {
            Kind::Single { is_stage, .. } => !is_stage,
            Kind::Chance { .. } | Kind::Several => true,
            Kind::Terminal | Kind::Stuck => false,
        };
        if !is_time || !is_wanted {
            return false;
        }
        let Some(goals) = adviser.certain_goals(tree.state(node), round.deadline) else {
            return false;
        };
        tree.prove(node, |role| f32::from(goals[role.index()]));
        true
    }

    fn follow(
        &mut self,
        round: &Round<'_, C::State>,
        descent: &mut Descent,
        node: NodeId,
        role: RoleId,
    ) {
        let idx = self.select(round.tree, descent, node, role);
        let idx = self.prefer_open_edge(round.tree, descent, node, role, idx);
        round.tree.edges[idx].n_visits.fetch_add(round.n_playouts, Relaxed);
        descent.pick(role, EdgeId::new(idx));
    }

    /// Returns the edge that a role follows.
    fn select(
        &mut self,
        tree: &Tree<C::State>,
        descent: &Descent,
        node: NodeId,
        role: RoleId,
    ) -> usize {
        let span = tree.span(node, role);
        self.stats.clear();
        if span.len() == 1 {
            return span.start;
        }
        if Some(role) == tree.roles.random {
            return span.start + self.rng.below(span.len());
        }
        let first = span.start;
        self.stats.extend(tree.edges[span.clone()].iter().map(Edge::stats));
        self.add_amaf(tree, descent, span);
        let n_visits = tree.node(node).n_visits.load(Relaxed);
        first + self.selection.select(n_visits, &self.stats, &mut self.rng)
    }

    /// Returns an open edge in place of a proved one, if there is any. The proved edge needs no
    /// visit: its value is backed up from here, while the descent learns something new below.
    fn prefer_open_edge(
        &mut self,
        tree: &Tree<C::State>,
        descent: &mut Descent,
        node: NodeId,
        role: RoleId,
        idx: usize,
    ) -> usize {
        let Some(child) = tree.edges[idx].proven().and(tree.edges[idx].child()) else {
            return idx;
        };
        let first = tree.span(node, role).start;
        self.stats_of.clear();
        let edges = (first..).zip(&self.stats);
        let open = edges.filter(|(_, stats)| stats.proven.is_none()).map(|(idx, _)| idx);
        self.stats_of.extend(open);
        if self.stats_of.is_empty() {
            return idx;
        }
        self.stats.retain(|stats| stats.proven.is_none());
        let n_visits = self.stats.iter().map(|stats| stats.n_visits).sum();
        descent.set_value_above(child);
        self.stats_of[self.selection.select(n_visits, &self.stats, &mut self.rng)]
    }

    /// Adds all-moves-as-first statistics, if the selection reads them. The last step of the
    /// descent is the node itself.
    fn add_amaf(&mut self, tree: &Tree<C::State>, descent: &Descent, span: Range<usize>) {
        match tree.amaf_source {
            AmafSource::None => {}
            AmafSource::Everywhere => {
                let moves = tree.edges[span].iter().map(Edge::move_id);
                let mut stats = self.stats.iter_mut();
                tree.history.read(0, moves, |n, mean| {
                    let stats = stats.next().expect("one entry per move");
                    (stats.n_amaf, stats.amaf_mean) = (n, mean);
                });
            }
            AmafSource::Node => {
                for (stats, cell) in self.stats.iter_mut().zip(&tree.amaf[span]) {
                    (stats.n_amaf, stats.amaf_mean) = cell.read();
                }
            }
            AmafSource::Ancestor { min_playouts } => {
                for step_idx in (0..descent.n_steps()).rev() {
                    let table = &tree.amaf_tables[descent.node(step_idx).index()];
                    let Some(table) = table.get() else { continue };
                    let moves = tree.edges[span.clone()].iter().map(Edge::move_id);
                    let mut idx = 0;
                    let stats = &mut self.stats;
                    if table.read(min_playouts, moves, |n, mean| {
                        (stats[idx].n_amaf, stats[idx].amaf_mean) = (n, mean);
                        idx += 1;
                    }) {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the child after the last step of the descent.
    fn expand(
        &mut self,
        round: &Round<'_, C::State>,
        descent: &Descent,
        node: NodeId,
        kind: Kind,
    ) -> Result<(NodeId, bool), Full> {
        let tree = round.tree;
        let picks = descent.picks(descent.n_steps() - 1);
        let found = if let Kind::Single { role, has_stages: true, .. } = kind {
            let chosen = tree.edge(picks[0].edge).move_id();
            self.expander.stage_of(tree, &round.rules, node, role, chosen)?
        } else {
            joint_of(tree, descent, descent.n_steps() - 1, &mut self.joint);
            self.cursor.set_state(tree.state(node));
            self.cursor.play(&self.joint);
            let parent = tree.node(node);
            let depth = parent.depth.load(Relaxed) + 1;
            let path_key = (!round.rules.is_dag)
                .then(|| Tree::<C::State>::path_key(parent.key.load(Relaxed), &self.joint));
            self.expander.node_of(tree, &round.rules, &mut self.cursor, depth, path_key)?
        };
        if kind != Kind::Several {
            tree.edge(picks[0].edge).child.store(found.0.index() as u32, Release);
        }
        Ok(found)
    }

    /// Plays one game from the cursor's state, and backs it up.
    fn play_leaf(&mut self, round: &Round<'_, C::State>, descent: &Descent, clock: &mut Clock<'_>) {
        let tree = round.tree;
        let learns = !self.policy.is_uniform();
        self.desk.writes = learns || tree.amaf_source != AmafSource::None;
        self.desk.record.clear(tree.roles.n);
        if learns {
            self.learner.write_path(tree, descent, &mut self.desk.record);
        }
        let policy = &mut *self.policy;
        let playing = Playing { policy, rng: &mut self.rng, clock, horizon: round.horizon };
        let end = play_out(&mut self.cursor, tree.roles.n, playing, &mut self.desk);
        let is_timely = match end {
            End::Terminal => {
                let goals = tree.roles.ids().map(|role| self.cursor.goal(role).value());
                self.goals.clear();
                self.goals.extend(goals);
                true
            }
            End::Cut => self.estimate(tree.roles, clock),
            // Without an end there is no goal: no role gets anything.
            End::GivenUp => return,
            End::Time => false,
        };
        if !is_timely {
            return cancel(tree, descent, 1);
        }
        self.n_playouts += 1;
        self.goal_sums.clear();
        self.goal_sums.extend(self.goals.iter().map(|&goal| u64::from(goal) * GOAL_UNIT));
        back_up(tree, descent, &mut self.goal_sums, 1);
        let record = &self.desk.record;
        let played = record.playout_moves();
        self.learner.amaf(tree, descent, played, &self.goals, round.amaf_memory);
        if learns {
            self.policy.learn(record, &self.goals);
        }
    }

    /// Estimates the goals of all roles in the cursor's state. Returns whether there was time.
    fn estimate(&mut self, roles: Roles, clock: &mut Clock<'_>) -> bool {
        self.goals.clear();
        for role in roles.ids() {
            let Self { evaluation, cursor, desk, .. } = self;
            match evaluation.goal(cursor, roles, role, &desk.mobility, clock) {
                Ok(goal) => self.goals.push(goal.round() as u8),
                Err(OutOfTime) => return false,
            }
        }
        true
    }

    /// Plays the gathered leaves out, and backs up the results.
    fn run_batch(&mut self, round: &Round<'_, C::State>, descents: &[Descent]) {
        let tree = round.tree;
        self.results.games.clear();
        for start in &mut self.results.starts {
            *start = StartResults {
                goal_sums: std::mem::take(&mut start.goal_sums),
                ..Default::default()
            };
            start.goal_sums.fill(0);
        }
        let n_given_up = self.results.n_given_up;
        // Recording games costs more than playing them; with many per leaf, a part of them
        // suffices.
        let is_recorded = round.n_playouts == 1 || self.n_batches.is_multiple_of(RECORD_EVERY);
        let wants_moves = is_recorded && tree.amaf_source != AmafSource::None;
        self.n_batches += 1;
        let request = PlayoutRequest {
            starts: &self.starts,
            n_per_start: round.n_playouts as usize,
            max_steps: MAX_RANDOM_STEPS,
            wants_moves,
            deadline: round.deadline,
        };
        self.runner.run(&request, &mut self.rng, &mut self.results);
        let has_given_up = self.results.n_given_up > n_given_up;
        for (descent, start) in descents.iter().zip(&self.results.starts) {
            self.n_playouts += start.n_playouts;
            self.goal_sums.clear();
            self.goal_sums.extend(start.goal_sums.iter().map(|&sum| sum * GOAL_UNIT));
            back_up(tree, descent, &mut self.goal_sums, start.n_playouts);
            // Visits of playouts that were dropped at the deadline are cancelled; playouts without
            // an end count as 0 for every role.
            if !has_given_up {
                cancel(tree, descent, round.n_playouts - start.n_playouts as u32);
            }
        }
        for game in std::mem::take(&mut self.results.games) {
            let descent = &descents[game.start_idx];
            self.learner.amaf(tree, descent, &game.moves, &game.goals, round.amaf_memory);
        }
    }

    /// Backs up a proved value, and the proof as far as it reaches.
    fn back_up_proof(&mut self, round: &Round<'_, C::State>, descent: &Descent, node: NodeId) {
        let tree = round.tree;
        self.goal_sums.clear();
        proven_sums(tree, node, u64::from(round.n_playouts), &mut self.goal_sums);
        back_up(tree, descent, &mut self.goal_sums, u64::from(round.n_playouts));
        let mut child = node;
        for step_idx in (0..descent.n_steps()).rev() {
            let parent = descent.node(step_idx);
            let [pick] = descent.picks(step_idx) else { return };
            if !prove_edge(tree, parent, pick.edge, child, round.rules.me) {
                return;
            }
            child = parent;
        }
    }
}

/// Returns the joint move of a step: the picks, and the only moves of the others.
pub(crate) fn joint_of<S: Clone + Eq + std::hash::Hash>(
    tree: &Tree<S>,
    descent: &Descent,
    step_idx: usize,
    joint: &mut Vec<MoveId>,
) {
    let node = descent.node(step_idx);
    joint.clear();
    joint.extend(tree.roles.ids().map(|role| {
        let picked = descent.picks(step_idx).iter().find(|pick| pick.role == role);
        let idx = picked.map_or_else(|| tree.span(node, role).start, |pick| pick.edge.index());
        tree.edges[idx].move_id()
    }));
}

/// Adds the goals of each role to the edges it followed. Above a node where the descent avoided a
/// proved edge, the value of that edge counts instead.
fn back_up<S: Clone + Eq + std::hash::Hash>(
    tree: &Tree<S>,
    descent: &Descent,
    goal_sums: &mut Vec<u64>,
    n_playouts: u64,
) {
    if goal_sums.is_empty() {
        return;
    }
    for step_idx in (0..descent.n_steps()).rev() {
        for pick in descent.picks(step_idx) {
            let edge = &tree.edges[pick.edge.index()];
            edge.goal_sum.fetch_add(goal_sums[pick.role.index()], Relaxed);
        }
        if let Some(child) = descent.value_above(step_idx) {
            proven_sums(tree, child, n_playouts, goal_sums);
        }
    }
}

/// Computes the goal sums of `n_playouts` from a proved node.
fn proven_sums<S: Clone + Eq + std::hash::Hash>(
    tree: &Tree<S>,
    node: NodeId,
    n_playouts: u64,
    goal_sums: &mut Vec<u64>,
) {
    goal_sums.clear();
    goal_sums.extend(tree.roles.ids().map(|role| {
        let goal = f64::from(tree.value(node, role)) * GOAL_UNIT as f64;
        goal.round() as u64 * n_playouts
    }));
}

/// Cancels visits without a result.
fn cancel<S>(tree: &Tree<S>, descent: &Descent, n_visits: u32) {
    if n_visits == 0 {
        return;
    }
    for step_idx in 0..descent.n_steps() {
        tree.nodes[descent.node(step_idx).index()].n_visits.fetch_sub(n_visits, Relaxed);
        for pick in descent.picks(step_idx) {
            tree.edges[pick.edge.index()].n_visits.fetch_sub(n_visits, Relaxed);
        }
    }
}

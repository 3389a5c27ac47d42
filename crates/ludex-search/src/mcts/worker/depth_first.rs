//! Depth-first UCT: a walk does not go back to the root while the node it stands on stays the best
//! of its siblings. What was found below waits there, and goes up when the walk does.
//!
//! After Yoshizoe, Kishimoto, Kaneko, Yoshimoto and Ishikawa, *Scalable Distributed Monte-Carlo Tree
//! Search*, 2011. A search under way is a visit without a goal, as everywhere in this tree.

use std::sync::atomic::Ordering::*;

use ludex_base::RoleId;
use ludex_game::{Cursor, PlayoutRunner};

use super::super::descent::Descent;
use super::super::selection::EdgeStats;
use super::super::solver::prove_edge;
use super::super::tree::{Edge, GOAL_UNIT, NodeId, Tree};
use super::{Ending, Leaf, Round, Worker, cancel_from, proven_sums};
use crate::clock::Clock;
use crate::playout::{End, Playing, play_out};

crate::option_names! {
    /// Where the next walk begins.
    pub enum Stay {
        /// At the root.
        No = "no",
        /// At the parent of the last leaf, while it is the best of its siblings; else further up.
        Parent = "parent",
        /// As deep as every node above is still the best of its siblings, by what was known of them
        /// when they were passed.
        Path = "path",
    }
}

/// Where the last walk stayed, and what has not gone up from there.
#[derive(Debug, Default)]
pub(super) struct Walk {
    descent: Descent,
    /// Where it stands after the steps of the descent; the root if there is none.
    at: Option<NodeId>,
    /// The last node of the walk, if it is in the tree.
    pub(super) end: Option<NodeId>,
    /// For each step, what its edges were not told.
    pending: Vec<Pending>,
    /// For each pick, what it has to hold out against.
    bounds: Vec<Bound>,
    carry: Pending,
}

/// Results on their way up.
#[derive(Clone, Debug, Default)]
struct Pending {
    n_walks: u32,
    sums: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    /// There is no other move.
    Nothing,
    /// Chance draws anew.
    Redraw,
    /// The second best edge.
    Second(EdgeStats),
}

impl Pending {
    fn set(&mut self, n_walks: u32, sums: &[u64]) {
        self.n_walks = n_walks;
        self.sums.clear();
        self.sums.extend_from_slice(sums);
    }

    fn add(&mut self, other: &Pending) {
        self.n_walks += other.n_walks;
        self.sums.resize(self.sums.len().max(other.sums.len()), 0);
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }
}

fn score(edge: &EdgeStats, log: f32, c: f32, fpu: f32) -> f32 {
    match edge.proven {
        Some(value) => value,
        None if edge.n_visits == 0 => fpu,
        None => edge.mean + c * (log / edge.n_visits as f32).sqrt(),
    }
}

impl<C: Cursor, R: PlayoutRunner<State = C::State>> Worker<C, R> {
    /// One leaf, below where the last walk stayed.
    pub(super) fn iterate_staying(
        &mut self,
        round: &Round<'_, C::State>,
        clock: &mut Clock<'_>,
    ) -> Result<(), Ending> {
        let mut descent = std::mem::take(&mut self.walk.descent);
        let n_kept = descent.n_steps();
        let result = self.walk_on(round, &mut descent, clock);
        if result.is_err() {
            descent.truncate(n_kept);
            self.go_up(round.tree, &mut descent);
        }
        self.walk.descent = descent;
        result
    }

    fn walk_on(
        &mut self,
        round: &Round<'_, C::State>,
        descent: &mut Descent,
        clock: &mut Clock<'_>,
    ) -> Result<(), Ending> {
        let tree = round.tree;
        self.begin(round, clock)?;
        let n_kept = descent.n_steps();
        let at = self.walk.at.unwrap_or(tree.root);
        self.walk.end = None;
        let leaf = self.descend_from(round, descent, at, clock)?;
        self.goal_sums.clear();
        match leaf {
            Leaf::New => {
                self.desk.writes = false;
                let policy = &mut *self.policy;
                let playing = Playing { policy, rng: &mut self.rng, clock, horizon: round.horizon };
                match play_out(&mut self.cursor, tree.roles.n, playing, &mut self.desk) {
                    End::Terminal => {
                        self.n_playouts += 1;
                        let cursor = &mut self.cursor;
                        let goals = tree.roles.ids().map(|role| cursor.goal(role).value());
                        self.goal_sums.extend(goals.map(|goal| u64::from(goal) * GOAL_UNIT));
                    }
                    End::Cut | End::GivenUp => self.goal_sums.resize(tree.roles.n, 0),
                    End::Time => {
                        round.n_iterations.fetch_sub(1, Relaxed);
                        cancel_from(tree, descent, n_kept, 1);
                        return Err(Ending::Time);
                    }
                }
            }
            Leaf::Known(node) => {
                self.walk.end = Some(node);
                proven_sums(tree, node, 1, &mut self.goal_sums);
                let mut child = node;
                for step_idx in (0..descent.n_steps()).rev() {
                    let parent = descent.node(step_idx);
                    let [pick] = descent.picks(step_idx) else { break };
                    if !prove_edge(tree, parent, pick.edge, child, round.rules.me) {
                        break;
                    }
                    child = parent;
                }
            }
            Leaf::Stuck => {
                self.walk.end = None;
                self.goal_sums.resize(tree.roles.n, 0);
            }
        }
        self.settle(round, descent, n_kept);
        Ok(())
    }

    /// Lets results go up as far as the walk has to.
    fn settle(&mut self, round: &Round<'_, C::State>, descent: &mut Descent, n_kept: usize) {
        let tree = round.tree;
        let n_steps = descent.n_steps();
        self.walk.pending.resize_with(n_kept, Pending::default);
        self.walk.pending.resize_with(n_steps, Pending::default);
        let mut carry = std::mem::take(&mut self.walk.carry);
        carry.set(1, &self.goal_sums);
        let mut level = n_steps;
        if round.stay == Stay::Path {
            let mut all = carry.clone();
            for step_idx in (0..n_steps).rev() {
                all.add(&self.walk.pending[step_idx]);
                let child = match step_idx + 1 < n_steps {
                    true => Some(descent.node(step_idx + 1)),
                    false => self.walk.end,
                };
                if !self.holds(round, descent, step_idx, child, &all) {
                    level = step_idx;
                }
                if let Some(child) = descent.value_above(step_idx) {
                    proven_sums(tree, child, u64::from(all.n_walks), &mut all.sums);
                }
            }
            for step_idx in (level..n_steps).rev() {
                self.apply(tree, descent, step_idx, &mut carry);
            }
            if level > 0 {
                self.walk.pending[level - 1].add(&carry);
            }
        } else {
            while level > 0 {
                let step_idx = level - 1;
                if level < n_steps {
                    let mut all = self.walk.pending[step_idx].clone();
                    all.add(&carry);
                    let child = Some(descent.node(level));
                    if self.holds(round, descent, step_idx, child, &all) {
                        self.walk.pending[step_idx] = all;
                        break;
                    }
                }
                self.apply(tree, descent, step_idx, &mut carry);
                level -= 1;
            }
        }
        self.walk.at = match level {
            0 => None,
            _ if level == n_steps => self.walk.end,
            _ => Some(descent.node(level)),
        };
        descent.truncate(level);
        self.walk.carry = carry;
    }

    /// Everything goes up.
    fn go_up(&mut self, tree: &Tree<C::State>, descent: &mut Descent) {
        let mut carry = std::mem::take(&mut self.walk.carry);
        carry.set(0, &[]);
        for step_idx in (0..descent.n_steps()).rev() {
            self.apply(tree, descent, step_idx, &mut carry);
        }
        self.walk.carry = carry;
        self.walk.at = None;
        descent.clear();
    }

    /// Tells the edges of a step all that they were not told, which goes on with the carry.
    fn apply(
        &mut self,
        tree: &Tree<C::State>,
        descent: &Descent,
        step_idx: usize,
        carry: &mut Pending,
    ) {
        carry.add(&self.walk.pending[step_idx]);
        self.walk.pending[step_idx].set(0, &[]);
        // The first walk was counted when it passed.
        let n_more = carry.n_walks.saturating_sub(1);
        tree.node(descent.node(step_idx)).n_visits.fetch_add(n_more, Relaxed);
        for pick in descent.picks(step_idx) {
            let edge = tree.edge(pick.edge);
            edge.n_visits.fetch_add(n_more, Relaxed);
            let sum = carry.sums.get(pick.role.index()).copied().unwrap_or(0);
            edge.goal_sum.fetch_add(sum, Relaxed);
        }
        if let Some(child) = descent.value_above(step_idx) {
            proven_sums(tree, child, u64::from(carry.n_walks), &mut carry.sums);
        }
    }

    /// Whether a step would be made again, with what is on its way to it.
    fn holds(
        &self,
        round: &Round<'_, C::State>,
        descent: &Descent,
        step_idx: usize,
        child: Option<NodeId>,
        more: &Pending,
    ) -> bool {
        let tree = round.tree;
        let is_open = child.is_some_and(|child| !tree.node(child).is_proven());
        if !is_open || descent.value_above(step_idx).is_some() {
            return false;
        }
        let node = descent.node(step_idx);
        let n_more = more.n_walks - 1;
        let n_parent = tree.node(node).n_visits.load(Relaxed) + n_more;
        let log = (n_parent.max(1) as f32).ln();
        let bounds = &self.walk.bounds[descent.first_pick(step_idx)..];
        descent.picks(step_idx).iter().zip(bounds).all(|(pick, bound)| {
            let second = match bound {
                Bound::Nothing => return true,
                Bound::Redraw => return false,
                Bound::Second(second) => second,
            };
            let edge = tree.edge(pick.edge);
            let n_visits = edge.n_visits.load(Relaxed) + n_more;
            let sum = edge.goal_sum.load(Relaxed) + more.sums[pick.role.index()];
            let mean = sum as f32 / (n_visits.max(1) as f32 * 100.0 * GOAL_UNIT as f32);
            let own = EdgeStats { n_visits, mean, ..EdgeStats::NEW };
            let own = score(&own, log, round.c, round.fpu);
            let is_better = |other: &EdgeStats| score(other, log, round.c, round.fpu) > own;
            if round.stay == Stay::Path {
                return !is_better(second);
            }
            let span = tree.span(node, pick.role);
            let others = span.filter(|&place| place != pick.edge.index());
            !others.map(|place| tree.edges[place].stats()).any(|other| is_better(&other))
        })
    }

    /// The edge that a role follows, and the one it has to hold out against.
    pub(super) fn select_bounded(
        &mut self,
        round: &Round<'_, C::State>,
        descent: &Descent,
        node: NodeId,
        role: RoleId,
    ) -> usize {
        let tree = round.tree;
        let span = tree.span(node, role);
        self.stats.clear();
        self.walk.bounds.truncate(descent.n_picks());
        if span.len() == 1 {
            self.walk.bounds.push(Bound::Nothing);
            return span.start;
        }
        if Some(role) == tree.roles.random {
            self.walk.bounds.push(Bound::Redraw);
            return span.start + self.rng.below(span.len());
        }
        self.stats.extend(tree.edges[span.clone()].iter().map(Edge::stats));
        let n_visits = tree.node(node).n_visits.load(Relaxed);
        let log = (n_visits.max(1) as f32).ln();
        let start = self.rng.below(span.len());
        let (mut best, mut second) = ((start, f32::NEG_INFINITY), (start, f32::NEG_INFINITY));
        for place in (start..span.len()).chain(0..start) {
            let score = score(&self.stats[place], log, round.c, round.fpu);
            if score > best.1 {
                (second, best) = (best, (place, score));
            } else if score > second.1 {
                second = (place, score);
            }
        }
        self.walk.bounds.push(Bound::Second(self.stats[second.0]));
        span.start + best.0
    }
}

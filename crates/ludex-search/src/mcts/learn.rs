//! Learning from a finished game, beyond the rewards of edges.

use std::hash::Hash;
use std::sync::atomic::Ordering::*;

use ludex_base::MoveId;

use super::amaf::AmafTable;
use super::descent::Descent;
use super::playout::GameRecord;
use super::selection::AmafSource;
use super::tree::{Kind, Tree};
use super::worker::joint_of;

/// Working memory for learning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learner {
    /// By move, the game in which it was last seen.
    seen_in: Vec<u32>,
    game: u32,
    distinct: Vec<(MoveId, u8)>,
    joint: Vec<MoveId>,
}

impl Learner {
    /// Credits every move of a game to the nodes it was played below.
    ///
    /// `played` has the joint moves after the leaf, role by role.
    pub(crate) fn amaf<S: Clone + Eq + Hash>(
        &mut self,
        tree: &Tree<S>,
        descent: &Descent,
        played: &[MoveId],
        goals: &[u8],
        memory: usize,
    ) {
        if tree.amaf_source == AmafSource::None {
            return;
        }
        self.game = self.game.wrapping_add(1);
        self.distinct.clear();
        for joint in played.chunks(goals.len()) {
            for (&id, &goal) in joint.iter().zip(goals) {
                self.see(id, goal);
            }
        }
        for step_idx in (0..descent.n_steps()).rev() {
            let node = descent.node(step_idx);
            for pick in descent.picks(step_idx) {
                self.see(tree.edge(pick.edge).move_id(), goals[pick.role.index()]);
            }
            match tree.amaf_source {
                AmafSource::None | AmafSource::Everywhere => {}
                AmafSource::Node => {
                    for pick in descent.picks(step_idx) {
                        for idx in tree.span(node, pick.role) {
                            if self.was_seen(tree.edges[idx].move_id()) {
                                tree.amaf[idx].add(goals[pick.role.index()]);
                            }
                        }
                    }
                }
                AmafSource::Ancestor { min_playouts } => {
                    let slot = &tree.amaf_tables[node.index()];
                    // A stage has the statistics of its state.
                    let is_stage =
                        matches!(tree.node(node).kind(), Kind::Single { is_stage: true, .. });
                    let is_worth_it = node == tree.root
                        || tree.node(node).n_visits.load(Relaxed) > min_playouts && !is_stage;
                    let has_room = tree.amaf_bytes.load(Relaxed) < memory;
                    let table = match slot.get() {
                        Some(table) => Some(table),
                        None if is_worth_it && has_room => {
                            Some(slot.get_or_init(AmafTable::default))
                        }
                        None => None,
                    };
                    if let Some(table) = table {
                        let n_bytes = table.add(&self.distinct);
                        tree.amaf_bytes.fetch_add(n_bytes, Relaxed);
                    }
                }
            }
        }
        let has_room = tree.amaf_bytes.load(Relaxed) < memory;
        if tree.amaf_source == AmafSource::Everywhere && has_room {
            let n_bytes = tree.history.add(&self.distinct);
            tree.amaf_bytes.fetch_add(n_bytes, Relaxed);
        }
    }

    /// Begins the record of a game with the choices made in the tree.
    pub(crate) fn write_path<S: Clone + Eq + Hash>(
        &mut self,
        tree: &Tree<S>,
        descent: &Descent,
        record: &mut GameRecord,
    ) {
        let mut state_node = tree.root;
        for step_idx in 0..descent.n_steps() {
            let node = descent.node(step_idx);
            let kind = tree.node(node).kind();
            // At a stage, roles that chose before have a single edge; only the first stage shows
            // who had a choice.
            if !matches!(kind, Kind::Single { is_stage: true, .. }) {
                state_node = node;
            }
            if !matches!(kind, Kind::Single { has_stages: true, .. }) {
                joint_of(tree, descent, step_idx, &mut self.joint);
                for (role, &id) in tree.roles.ids().zip(&self.joint) {
                    record.add_move(id, tree.span(state_node, role).len() > 1);
                }
            }
        }
        record.leave_tree();
    }

    fn see(&mut self, id: MoveId, goal: u8) {
        if !self.was_seen(id) {
            if id.index() >= self.seen_in.len() {
                self.seen_in.resize(id.index() + 1, self.game.wrapping_sub(1));
            }
            self.seen_in[id.index()] = self.game;
            self.distinct.push((id, goal));
        }
    }

    fn was_seen(&self, id: MoveId) -> bool {
        self.seen_in.get(id.index()) == Some(&self.game)
    }
}

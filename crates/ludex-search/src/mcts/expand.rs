//! Creates nodes from states.

use std::hash::Hash;

use ludex_base::{MoveId, RoleId};
use ludex_game::Cursor;

use super::tree::{Full, Kind, NewNode, NodeId, Tree};
use crate::roles::{Roles, hash_of};

/// How to create nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpandRules {
    /// The searching role, which chooses first of several.
    pub(crate) me: RoleId,
    /// Whether simultaneous roles choose in stages instead of independently.
    pub(crate) is_staged: bool,
    /// Whether paths to the same state meet.
    pub(crate) is_dag: bool,
}

/// Working memory for creating nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expander {
    moves: Vec<MoveId>,
    ends: Vec<u32>,
    goals: Vec<u8>,
}

impl Expander {
    /// Returns the node of the cursor's state, and whether it is new. `path_key` distinguishes it
    /// from others if paths do not meet.
    pub(crate) fn node_of<C: Cursor>(
        &mut self,
        tree: &Tree<C::State>,
        rules: &ExpandRules,
        cursor: &mut C,
        depth: u32,
        path_key: Option<u64>,
    ) -> Result<(NodeId, bool), Full> {
        let key = path_key.unwrap_or_else(|| Tree::<C::State>::key(hash_of(cursor.state()), depth));
        if let Some(id) = tree.find(key, cursor.state()) {
            return Ok((id, false));
        }
        let kind = self.describe(tree.roles, rules, cursor);
        let state = cursor.state();
        let Expander { moves, ends, goals } = self;
        tree.add(&NewNode { key, depth, kind, state, moves, ends, goals })
    }

    /// Returns the stage of a node after a role has chosen.
    pub(crate) fn stage_of<S: Clone + Eq + Hash>(
        &mut self,
        tree: &Tree<S>,
        rules: &ExpandRules,
        node: NodeId,
        role: RoleId,
        chosen: MoveId,
    ) -> Result<(NodeId, bool), Full> {
        let key = Tree::<S>::stage_key(
            tree.node(node).key.load(std::sync::atomic::Ordering::Relaxed),
            chosen,
        );
        let state = tree.state(node);
        if let Some(id) = tree.find(key, state) {
            return Ok((id, false));
        }
        self.clear();
        for other in tree.roles.ids() {
            if other == role {
                self.moves.push(chosen);
            } else {
                let span = tree.span(node, other);
                self.moves.extend(tree.edges[span].iter().map(|edge| edge.move_id()));
            }
            self.ends.push(self.moves.len() as u32);
        }
        let is_contested =
            matches!(tree.node(node).kind(), Kind::Single { is_contested: true, .. });
        let kind = match self.staged(tree.roles, rules.me) {
            Kind::Single { role, has_stages, .. } => {
                Kind::Single { role, has_stages, is_stage: true, is_contested }
            }
            other => other,
        };
        let depth = tree.node(node).depth.load(std::sync::atomic::Ordering::Relaxed);
        let Expander { moves, ends, goals } = self;
        tree.add(&NewNode { key, depth, kind, state, moves, ends, goals })
    }

    fn clear(&mut self) {
        self.moves.clear();
        self.ends.clear();
        self.goals.clear();
    }

    /// Reads the state of the cursor.
    fn describe<C: Cursor>(&mut self, roles: Roles, rules: &ExpandRules, cursor: &mut C) -> Kind {
        self.clear();
        if cursor.is_terminal() {
            self.goals.extend(roles.ids().map(|role| cursor.goal(role).value()));
            if cursor.has_fault() {
                self.clear();
                return Kind::Stuck;
            }
            return Kind::Terminal;
        }
        for role in roles.ids() {
            let legal = cursor.legal_moves(role);
            if legal.is_empty() {
                self.clear();
                return Kind::Stuck;
            }
            self.moves.extend_from_slice(legal);
            self.ends.push(self.moves.len() as u32);
        }
        if cursor.has_fault() {
            self.clear();
            return Kind::Stuck;
        }
        let n_players = self.deciders(roles).filter(|&role| Some(role) != roles.random).count();
        if n_players > 1 && !rules.is_staged { Kind::Several } else { self.staged(roles, rules.me) }
    }

    fn deciders(&self, roles: Roles) -> impl Iterator<Item = RoleId> {
        roles.ids().filter(|role| {
            let start = if role.index() == 0 { 0 } else { self.ends[role.index() - 1] };
            self.ends[role.index()] - start > 1
        })
    }

    /// Returns who chooses first: the searching role, then the others, `random` last.
    fn staged(&self, roles: Roles, me: RoleId) -> Kind {
        let n_deciders = self.deciders(roles).count();
        let n_players = self.deciders(roles).filter(|&role| Some(role) != roles.random).count();
        let order = |role: &RoleId| (Some(*role) == roles.random, *role != me, *role);
        match self.deciders(roles).min_by_key(order) {
            Some(role) if Some(role) == roles.random => Kind::Chance { role },
            first => Kind::Single {
                // Nobody has a choice, so any role will do.
                role: first.unwrap_or(RoleId::new(0)),
                has_stages: n_deciders > 1,
                is_stage: false,
                is_contested: n_players > 1,
            },
        }
    }
}

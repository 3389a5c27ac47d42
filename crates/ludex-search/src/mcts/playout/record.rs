//! The record of a game that policies see.

use ludex_base::MoveId;

/// A game as far as it was played, from the root of the search: first in the tree, then by a
/// policy.
#[derive(Clone, Debug, Default)]
pub struct GameRecord {
    n_roles: usize,
    /// Joint moves one after another, role by role.
    moves: Vec<MoveId>,
    /// For each move, whether the role had others.
    choices: Vec<bool>,
    n_tree_moves: usize,
    /// The true fluents of the states after the tree, one state after another, and where each ends.
    fluents: Vec<u32>,
    fluent_ends: Vec<usize>,
}

impl GameRecord {
    /// Begins a new game.
    pub fn clear(&mut self, n_roles: usize) {
        self.n_roles = n_roles;
        self.moves.clear();
        self.choices.clear();
        self.n_tree_moves = 0;
        self.fluents.clear();
        self.fluent_ends.clear();
    }

    /// Adds the move of the next role, and whether it had others.
    #[inline]
    pub fn add_move(&mut self, id: MoveId, is_choice: bool) {
        self.moves.push(id);
        self.choices.push(is_choice);
    }

    /// Marks everything added so far as chosen in the tree.
    pub fn leave_tree(&mut self) {
        self.n_tree_moves = self.moves.len();
    }

    /// Adds the true fluents of the state before the next step.
    pub fn add_fluents(&mut self, fluents: impl Iterator<Item = u32>) {
        self.fluents.extend(fluents);
        self.fluent_ends.push(self.fluents.len());
    }

    /// Returns the number of complete steps.
    pub fn n_steps(&self) -> usize {
        self.moves.len() / self.n_roles.max(1)
    }

    /// Returns the number of steps chosen in the tree.
    pub fn n_tree_steps(&self) -> usize {
        self.n_tree_moves / self.n_roles.max(1)
    }

    /// Returns the joint move of a step.
    #[inline]
    pub fn joint(&self, step_idx: usize) -> &[MoveId] {
        &self.moves[step_idx * self.n_roles..][..self.n_roles]
    }

    /// Returns the real choices of a step, among several moves: the index of the role, and its
    /// move.
    pub fn chosen(&self, step_idx: usize) -> impl Iterator<Item = (usize, MoveId)> + '_ {
        let choices = &self.choices[step_idx * self.n_roles..][..self.n_roles];
        let joint = self.joint(step_idx).iter().zip(choices).enumerate();
        joint.filter(|(_, (_, is_choice))| **is_choice).map(|(role_idx, (id, _))| (role_idx, *id))
    }

    /// Returns the moves after the tree, role by role.
    pub fn playout_moves(&self) -> &[MoveId] {
        &self.moves[self.n_tree_moves..]
    }

    /// Returns the true fluents of the state before a step; `None` in the tree, and if they were
    /// not requested.
    pub fn fluents(&self, step_idx: usize) -> Option<&[u32]> {
        let idx = step_idx.checked_sub(self.n_tree_steps())?;
        let end = *self.fluent_ends.get(idx)?;
        let start = if idx == 0 { 0 } else { self.fluent_ends[idx - 1] };
        Some(&self.fluents[start..end])
    }
}

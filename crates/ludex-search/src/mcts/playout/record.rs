//! A game as policies are shown it.

use ludex_base::MoveId;

/// A game as far as it was played, from the root of the search on: first in the tree, then by a policy.
#[derive(Clone, Debug, Default)]
pub struct GameRecord {
    n_roles: usize,
    /// Joint moves one after the other, role by role.
    moves: Vec<MoveId>,
    /// For each of them, whether the role had others.
    choices: Vec<bool>,
    n_tree_moves: usize,
    /// What held in the states after the tree, one after the other, and where each ends.
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

    /// All that was added so far was chosen in the tree.
    pub fn leave_tree(&mut self) {
        self.n_tree_moves = self.moves.len();
    }

    /// Adds what holds in the state the next step is played from.
    pub fn add_fluents(&mut self, fluents: impl Iterator<Item = u32>) {
        self.fluents.extend(fluents);
        self.fluent_ends.push(self.fluents.len());
    }

    /// Steps that are whole.
    pub fn n_steps(&self) -> usize {
        self.moves.len() / self.n_roles.max(1)
    }

    /// Steps that were chosen in the tree.
    pub fn n_tree_steps(&self) -> usize {
        self.n_tree_moves / self.n_roles.max(1)
    }

    /// The joint move of a step.
    #[inline]
    pub fn joint(&self, step_idx: usize) -> &[MoveId] {
        &self.moves[step_idx * self.n_roles..][..self.n_roles]
    }

    /// What was chosen in a step where there were several moves: the position of the role, and its move.
    pub fn chosen(&self, step_idx: usize) -> impl Iterator<Item = (usize, MoveId)> + '_ {
        let choices = &self.choices[step_idx * self.n_roles..][..self.n_roles];
        let joint = self.joint(step_idx).iter().zip(choices).enumerate();
        joint.filter(|(_, (_, is_choice))| **is_choice).map(|(role_idx, (id, _))| (role_idx, *id))
    }

    /// What was played after the tree, role by role.
    pub fn playout_moves(&self) -> &[MoveId] {
        &self.moves[self.n_tree_moves..]
    }

    /// What held in the state a step was played from; `None` in the tree and where it was not asked for.
    pub fn fluents(&self, step_idx: usize) -> Option<&[u32]> {
        let idx = step_idx.checked_sub(self.n_tree_steps())?;
        let end = *self.fluent_ends.get(idx)?;
        let start = if idx == 0 { 0 } else { self.fluent_ends[idx - 1] };
        Some(&self.fluents[start..end])
    }
}

//! Enumeration of the joint moves of a state.

use ludex_base::{MoveId, RoleId};

use crate::game::Cursor;

/// The joint moves of one state in the order of an odometer: the last role changes fastest.
///
/// It keeps a copy of the legal moves, so the cursor may move meanwhile.
#[derive(Clone, Debug)]
pub struct JointMoves {
    legal: Vec<Vec<MoveId>>,
    turned: Vec<usize>,
    current: Vec<MoveId>,
    is_spent: bool,
}

impl JointMoves {
    /// Lists the joint moves of the cursor's state; none if some role has no move.
    pub fn of<C: Cursor>(cursor: &mut C, n_roles: usize) -> Self {
        let legal: Vec<Vec<MoveId>> =
            (0..n_roles).map(|role| cursor.legal_moves(RoleId::new(role)).to_vec()).collect();
        let is_spent = legal.iter().any(Vec::is_empty);
        let current = legal.iter().filter_map(|moves| moves.first().copied()).collect();
        Self { turned: vec![0; n_roles], legal, current, is_spent }
    }

    /// Keeps only the joint moves in which a role plays this move; none remain if the move is
    /// illegal. Call it before the first [`next_joint`](Self::next_joint).
    pub fn keep_only(&mut self, role: RoleId, chosen: MoveId) {
        self.legal[role.index()].retain(|&id| id == chosen);
        self.is_spent |= self.legal[role.index()].is_empty();
    }

    /// Returns the next joint move; `None` after the last.
    pub fn next_joint(&mut self) -> Option<&[MoveId]> {
        if self.is_spent {
            return None;
        }
        for (role_idx, moves) in self.legal.iter().enumerate() {
            self.current[role_idx] = moves[self.turned[role_idx]];
        }
        self.is_spent = !self.turn();
        Some(&self.current)
    }

    /// Returns how many moves each role has, in role order.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.legal.iter().map(Vec::len)
    }

    /// Steps to the next combination; returns false after the last.
    fn turn(&mut self) -> bool {
        for role_idx in (0..self.legal.len()).rev() {
            self.turned[role_idx] += 1;
            if self.turned[role_idx] < self.legal[role_idx].len() {
                return true;
            }
            self.turned[role_idx] = 0;
        }
        false
    }
}

/// Counts the joint moves of the state; `None` if the count exceeds 64 bits.
pub fn count_joint_moves<C: Cursor>(cursor: &mut C, n_roles: usize) -> Option<u64> {
    (0..n_roles).try_fold(1_u64, |product, role| {
        product.checked_mul(cursor.legal_moves(RoleId::new(role)).len() as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::test_games::Nim;

    #[test]
    fn each_joint_move_comes_once() {
        let game = Nim::new(&[2, 1]);
        let mut cursor = game.cursor();
        let mut joints = JointMoves::of(&mut cursor, 2);
        assert_eq!(joints.sizes().collect::<Vec<_>>(), [3, 1]);
        let mut n_joints = 0;
        while let Some(joint) = joints.next_joint() {
            assert_eq!(joint.len(), 2);
            n_joints += 1;
        }
        assert_eq!(n_joints, 3);
        assert_eq!(count_joint_moves(&mut cursor, 2), Some(3));
    }
}

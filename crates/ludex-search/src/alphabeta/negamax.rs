//! Negamax: minimax scored for the role that chooses, min(x) = −max(−x).

use ludex_game::Cursor;

use super::walk::{Standing, Walk};
use super::{Stopped, Value};

impl<C: Cursor> Walk<'_, C> {
    /// Returns the value of the cursor's state, for us or, negated, for the others.
    fn negamax(&mut self, ply: usize, depth: usize, is_ours: bool) -> Result<Value, Stopped> {
        match self.stand(ply, depth)? {
            Standing::Leaf(value) => Ok(value.seen(is_ours)),
            Standing::Inner => self.negamax_from(ply, 0, depth, is_ours),
        }
    }

    /// Returns the value once the deciders before `decider_idx` have chosen.
    pub(crate) fn negamax_from(
        &mut self,
        ply: usize,
        decider_idx: usize,
        depth: usize,
        is_ours: bool,
    ) -> Result<Value, Stopped> {
        let Some(role) = self.decider(ply, decider_idx) else {
            self.play(ply);
            return self.negamax(ply + 1, depth - 1, is_ours);
        };
        let n_moves = self.moves(ply, role).len();
        if Some(role) == self.roles.random {
            let (mut sum, mut is_solved) = (0.0_f64, true);
            for idx in 0..n_moves {
                self.choose(ply, role, self.moves(ply, role)[idx]);
                let value = self.negamax_from(ply, decider_idx + 1, depth, is_ours)?;
                sum += f64::from(value.goal);
                is_solved &= value.is_solved;
            }
            return Ok(Value { goal: (sum / n_moves as f64) as f32, is_solved });
        }
        let chooser_is_us = role == self.me;
        let mut best = Value { goal: f32::NEG_INFINITY, is_solved: true };
        for idx in 0..n_moves {
            self.choose(ply, role, self.moves(ply, role)[idx]);
            let value = self.negamax_from(ply, decider_idx + 1, depth, !chooser_is_us)?;
            best.goal = best.goal.max(-value.goal);
            best.is_solved &= value.is_solved;
        }
        Ok(best.seen(chooser_is_us == is_ours))
    }
}

impl Value {
    /// Returns the value, negated for the other side.
    fn seen(self, is_same_side: bool) -> Self {
        if is_same_side { self } else { Self { goal: -self.goal, ..self } }
    }
}

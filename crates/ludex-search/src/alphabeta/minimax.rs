//! Minimax in its plainest form, for comparison with the faster rules.

use ludex_game::Cursor;

use super::walk::{Standing, Walk};
use super::{Stopped, Value};

impl<C: Cursor> Walk<'_, C> {
    /// Returns the value of the cursor's state.
    fn minimax(&mut self, ply: usize, depth: usize) -> Result<Value, Stopped> {
        match self.stand(ply, depth)? {
            Standing::Leaf(value) => Ok(value),
            Standing::Inner => self.minimax_from(ply, 0, depth),
        }
    }

    /// Returns the value once the deciders before `decider_idx` have chosen.
    pub(crate) fn minimax_from(
        &mut self,
        ply: usize,
        decider_idx: usize,
        depth: usize,
    ) -> Result<Value, Stopped> {
        let Some(role) = self.decider(ply, decider_idx) else {
            self.play(ply);
            return self.minimax(ply + 1, depth - 1);
        };
        let mut goals = Vec::new();
        let mut is_solved = true;
        for idx in 0..self.moves(ply, role).len() {
            self.choose(ply, role, self.moves(ply, role)[idx]);
            let value = self.minimax_from(ply, decider_idx + 1, depth)?;
            goals.push(value.goal);
            is_solved &= value.is_solved;
        }
        let goal = if Some(role) == self.roles.random {
            let sum: f64 = goals.iter().map(|&goal| f64::from(goal)).sum();
            (sum / goals.len() as f64) as f32
        } else if role == self.me {
            goals.into_iter().fold(f32::NEG_INFINITY, f32::max)
        } else {
            goals.into_iter().fold(f32::INFINITY, f32::min)
        };
        Ok(Value { goal, is_solved })
    }
}

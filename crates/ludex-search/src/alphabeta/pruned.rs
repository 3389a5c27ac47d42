//! Alpha-beta with a transposition table, killer moves and history.

use ludex_base::MoveId;
use ludex_game::Cursor;

use super::order::Order;
use super::table::{Bound, Entry, Table};
use super::walk::{Standing, Walk};
use super::{Stopped, Value};
use crate::roles::hash_of;

/// Alpha-beta with its memory.
pub(crate) struct Pruned<'w, 'a, C: Cursor> {
    pub(crate) walk: &'w mut Walk<'a, C>,
    pub(crate) table: &'w mut Table,
    pub(crate) order: &'w mut Order,
}

/// Bounds below and above every goal.
const WORST: f32 = -1.0;
const BEST: f32 = 101.0;

impl<C: Cursor> Pruned<'_, '_, C> {
    /// Returns the value of the cursor's state: exact between the bounds, otherwise a bound itself.
    fn value(&mut self, ply: usize, depth: usize, alpha: f32, beta: f32) -> Result<Value, Stopped> {
        if let Standing::Leaf(value) = self.walk.stand(ply, depth)? {
            return Ok(value);
        }
        let key = hash_of(self.walk.state(ply));
        let known = self.table.find(key);
        if let Some(entry) = known
            && entry.depth >= depth.min(Table::SOLVED - 1)
            && entry.bound.decides(entry.goal, alpha, beta)
        {
            return Ok(Value { goal: entry.goal, is_solved: entry.depth == Table::SOLVED });
        }
        self.order.expect(ply, known.and_then(|entry| entry.best));
        let value = self.value_from(ply, 0, depth, alpha, beta)?;
        let bound = if value.goal <= alpha {
            Bound::AtMost
        } else if value.goal >= beta {
            Bound::AtLeast
        } else {
            Bound::Exact
        };
        let depth = if value.is_solved { Table::SOLVED } else { depth.min(Table::SOLVED - 1) };
        let best = self.order.best(ply);
        self.table.store(key, Entry { goal: value.goal, depth, bound, best });
        Ok(value)
    }

    /// Returns the value once the deciders before `decider_idx` have chosen.
    pub(crate) fn value_from(
        &mut self,
        ply: usize,
        decider_idx: usize,
        depth: usize,
        mut alpha: f32,
        mut beta: f32,
    ) -> Result<Value, Stopped> {
        let Some(role) = self.walk.decider(ply, decider_idx) else {
            self.walk.play(ply);
            return self.value(ply + 1, depth - 1, alpha, beta);
        };
        if Some(role) == self.walk.roles.random {
            return self.mean_from(ply, decider_idx, depth);
        }
        let is_ours = role == self.walk.me;
        let moves = self.order.sorted(ply, self.walk.moves(ply, role));
        let mut goal = if is_ours { WORST } else { BEST };
        let mut is_solved = true;
        for &id in &moves {
            self.walk.choose(ply, role, id);
            let value = self.value_from(ply, decider_idx + 1, depth, alpha, beta)?;
            let is_better = if is_ours { value.goal > goal } else { value.goal < goal };
            if is_better {
                goal = value.goal;
                self.order.set_best(ply, id);
            }
            is_solved &= value.is_solved;
            // This move alone decides, by a cutoff or by a goal that nothing can beat.
            let is_cut = if is_ours { goal >= beta } else { goal <= alpha };
            let is_extreme = if is_ours { goal >= 100.0 } else { goal <= 0.0 };
            if is_better && (is_cut || is_extreme && value.is_solved) {
                self.order.reward(ply, id, depth);
                self.order.recycle(moves);
                return Ok(Value { goal, is_solved: value.is_solved });
            }
            if is_ours {
                alpha = alpha.max(goal);
            } else {
                beta = beta.min(goal);
            }
        }
        self.order.recycle(moves);
        Ok(Value { goal, is_solved })
    }

    /// Averages over the moves of `random`. Bounds do not carry through a mean, so each move is
    /// searched in full.
    fn mean_from(
        &mut self,
        ply: usize,
        decider_idx: usize,
        depth: usize,
    ) -> Result<Value, Stopped> {
        let random = self.walk.roles.random.expect("a role that draws is `random`");
        let moves: Vec<MoveId> = self.walk.moves(ply, random).to_vec();
        let mut mean = Value { goal: 0.0, is_solved: true };
        let mut sum = 0.0_f64;
        for &id in &moves {
            self.walk.choose(ply, random, id);
            let value = self.value_from(ply, decider_idx + 1, depth, WORST, BEST)?;
            sum += f64::from(value.goal);
            mean.is_solved &= value.is_solved;
        }
        mean.goal = (sum / moves.len() as f64) as f32;
        Ok(mean)
    }
}

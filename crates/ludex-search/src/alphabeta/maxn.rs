//! Max^n: every role maximizes its own goal. Between moves that are equally good for it, a role
//! plays the one that is worst for us, then the first.

use ludex_base::RoleId;
use ludex_game::Cursor;

use super::Stopped;
use super::walk::{Standing, Walk};

/// A goal for each role.
pub(crate) struct Values {
    pub(crate) goals: Vec<f32>,
    pub(crate) is_solved: bool,
}

impl<C: Cursor> Walk<'_, C> {
    fn maxn(&mut self, ply: usize, depth: usize) -> Result<Values, Stopped> {
        match self.stand(ply, depth)? {
            Standing::Leaf(value) => {
                // At the horizon we assume that the goals are opposite.
                let is_terminal = value.is_solved;
                let (me, roles) = (self.me, self.roles);
                let goal_of = |role: RoleId, cursor: &mut C| match () {
                    () if role == me => value.goal,
                    () if is_terminal => f32::from(cursor.goal(role).value()),
                    () => 100.0 - value.goal,
                };
                let goals = roles.ids().map(|role| goal_of(role, &mut self.cursor)).collect();
                Ok(Values { goals, is_solved: value.is_solved })
            }
            Standing::Inner => self.maxn_from(ply, 0, depth),
        }
    }

    /// Returns the values once the deciders before `decider_idx` have chosen.
    pub(crate) fn maxn_from(
        &mut self,
        ply: usize,
        decider_idx: usize,
        depth: usize,
    ) -> Result<Values, Stopped> {
        let Some(role) = self.decider(ply, decider_idx) else {
            self.play(ply);
            return self.maxn(ply + 1, depth - 1);
        };
        let n_moves = self.moves(ply, role).len();
        let mut best: Option<Vec<f32>> = None;
        let mut sums = vec![0.0_f64; self.roles.n];
        let mut is_solved = true;
        for idx in 0..n_moves {
            self.choose(ply, role, self.moves(ply, role)[idx]);
            let values = self.maxn_from(ply, decider_idx + 1, depth)?;
            is_solved &= values.is_solved;
            for (sum, &goal) in sums.iter_mut().zip(&values.goals) {
                *sum += f64::from(goal);
            }
            if best.as_ref().is_none_or(|best| self.is_better(role, &values.goals, best)) {
                best = Some(values.goals);
            }
        }
        let goals = if Some(role) == self.roles.random {
            sums.into_iter().map(|sum| (sum / n_moves as f64) as f32).collect()
        } else {
            best.expect("a role that chooses has moves")
        };
        Ok(Values { goals, is_solved })
    }

    fn is_better(&self, role: RoleId, goals: &[f32], than: &[f32]) -> bool {
        let (ours, me) = (role.index(), self.me.index());
        goals[ours] > than[ours] || goals[ours] == than[ours] && goals[me] < than[me]
    }
}

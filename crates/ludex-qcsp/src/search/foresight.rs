//! Estimates how good a choice is for its owner: the value order of Verger and Bessière.
//!
//! The scopes after the choice are evaluated on ranges, nearest first. A choice is bad if it leaves
//! the owner without a later choice (*self-preservation*) and good if it leaves the opponent
//! without one (*blocking*); nearer scopes count more. Verger and Bessière propagate the
//! restrictors for this; ranges are cheaper but see less.

use super::Searcher;
use crate::schedule::interval::Certainty;
use crate::scope::Quantifier;

/// The number of scopes to look ahead.
const HORIZON: usize = 4;

impl Searcher<'_> {
    /// Estimates the choice just made at the last level of a scope; more is better.
    pub(super) fn foresight(&mut self, level: usize) -> u64 {
        const NEUTRAL: usize = HORIZON + 1;
        let schedule = self.schedule;
        let own = &schedule.levels[level];
        for (range, &value) in self.ranges.iter_mut().zip(&self.values) {
            *range = (value, value);
        }
        for distance in 1..=HORIZON {
            let scope = own.scope + distance;
            let Some(&end) = schedule.first_level.get(scope + 1) else { break };
            let levels = &schedule.levels[schedule.first_level[scope]..end];
            let mut is_blocked = self.run_on_ranges(&levels[0].opening) == Certainty::Fails;
            let mut is_goal_lost = false;
            for next in levels {
                self.widen(next);
                is_blocked |= self.run_on_ranges(&next.generic) == Certainty::Fails;
                is_goal_lost |= !self.goal_may_hold(next);
            }
            let loser = if is_blocked { levels[0].quantifier } else { Quantifier::Exists };
            if is_blocked || is_goal_lost {
                let nearness = HORIZON + 1 - distance;
                let is_good = loser != own.quantifier;
                let score = if is_good { NEUTRAL + nearness } else { NEUTRAL - nearness };
                return score as u64;
            }
        }
        NEUTRAL as u64
    }
}

//! The search that keeps track of reasons.
//!
//! Every verdict has a *reason*: a set of levels whose values determine it. If a choice fails for a
//! reason that does not contain its own level, the other values need not be tried. For the
//! existential player this is conflict-directed backjumping, for the universal one
//! solution-directed pruning: the same substrategy wins for all values.
//!
//! The search learns reasons that are smaller than the set of levels a scope could depend on:
//! nogoods if the verdict is false, goods if it is true.
//!
//! After Bacchus and Stergiou, *Solution Directed Backjumping for QCSP*, CP 2007.

use ludex_base::BitSet;
use ludex_csp::Value;
use rustc_hash::FxHashMap;

use super::{Searcher, Stopped};
use crate::scope::Quantifier;

/// Levels that a verdict depends on.
pub(crate) type Reason = BitSet;

/// Learned verdicts about a scope, by the values of some levels.
#[derive(Default)]
pub(crate) struct Learnt {
    /// Sets of levels, with the verdicts by their values.
    patterns: Vec<(Vec<usize>, Verdicts)>,
}

type Verdicts = FxHashMap<Vec<Value>, bool>;

/// The maximal number of sets of levels per scope.
const MAX_PATTERNS: usize = 8;

impl Searcher<'_> {
    /// Whether the existential player wins.
    pub fn decide_with_reasons(&mut self) -> Result<bool, Stopped> {
        if self.schedule.levels.is_empty() {
            return Ok(self.schedule.goal_without_levels);
        }
        Ok(self.reasoned_scope(0)?.0)
    }

    fn reason(&self, levels: &[usize], below: usize) -> Reason {
        let mut reason = BitSet::new(self.schedule.levels.len());
        for &level in levels.iter().filter(|&&level| level < below) {
            reason.insert(level);
        }
        reason
    }

    /// Returns the reason why a value is legal or illegal: the levels its checks depend on.
    /// Propagation gives no reasons, so then it is all earlier levels.
    fn reason_of_steps(&self, level: usize) -> Reason {
        let spec = &self.schedule.levels[level];
        if self.engines.filters(spec.scope) {
            return self.reason(&(0..level).collect::<Vec<_>>(), level);
        }
        let opening = &self.schedule.levels[self.schedule.first_level[spec.scope]].reasons.opening;
        let mut reason = self.reason(&spec.reasons.steps, level);
        join(&mut reason, &self.reason(opening, level));
        reason
    }

    fn reasoned_scope(&mut self, level: usize) -> Result<(bool, Reason), Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        let scope = spec.scope;
        if !self.open(level) {
            let reason = self.reason_of_steps(level);
            return Ok((spec.quantifier == Quantifier::Forall, reason));
        }
        let is_kept = self.config.memory && scope > 0;
        let key = if is_kept { schedule.keys[scope].of(&self.values) } else { 0 };
        if is_kept && let Some(verdict) = self.memory.get(scope, key) {
            self.statistics.n_memory_hits += 1;
            return Ok((verdict, self.reason(&schedule.key_levels[scope], level)));
        }
        if self.config.learning
            && let Some((verdict, levels)) = self.recall(scope)
        {
            self.statistics.n_memory_hits += 1;
            return Ok((verdict, self.reason(&levels, level)));
        }
        let n_before = self.statistics.n_nodes;
        let (verdict, reason) = self.reasoned(level)?;
        if is_kept {
            self.statistics.n_memory_stores += 1;
            self.memory.put(scope, key, verdict, self.statistics.n_nodes - n_before);
        }
        if self.config.learning && scope > 0 {
            self.learn(scope, &reason, verdict);
        }
        Ok((verdict, reason))
    }

    fn pattern_values(&self, levels: &[usize]) -> Vec<Value> {
        let variables = levels.iter().filter_map(|&level| self.schedule.levels[level].x);
        variables.map(|x| self.values[x.index()]).collect()
    }

    fn recall(&self, scope: usize) -> Option<(bool, Vec<usize>)> {
        self.learnt[scope].patterns.iter().find_map(|(levels, verdicts)| {
            let verdict = verdicts.get(&self.pattern_values(levels))?;
            Some((*verdict, levels.clone()))
        })
    }

    fn learn(&mut self, scope: usize, reason: &Reason, verdict: bool) {
        let levels: Vec<usize> = reason.iter().collect();
        let values = self.pattern_values(&levels);
        let n_tables = MAX_PATTERNS * self.schedule.model.scopes().len();
        let max_verdicts = self.config.memory_bytes / (64 * n_tables);
        let patterns = &mut self.learnt[scope].patterns;
        let place = patterns.iter().position(|(of, _)| *of == levels);
        let place = match place {
            Some(place) => place,
            None if patterns.len() < MAX_PATTERNS => {
                patterns.push((levels, Verdicts::default()));
                patterns.len() - 1
            }
            None => return,
        };
        if patterns[place].1.len() < max_verdicts {
            self.statistics.n_learnt += 1;
            patterns[place].1.insert(values, verdict);
        }
    }

    fn reasoned(&mut self, level: usize) -> Result<(bool, Reason), Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        let wanted = spec.quantifier == Quantifier::Exists;
        let mut against = BitSet::new(schedule.levels.len());
        for place in 0..spec.values.len() {
            if !self.choose(level, place) {
                join(&mut against, &self.reason_of_steps(level));
                continue;
            }
            self.count_node(level)?;
            let (verdict, mut reason) = if !self.goal_holds(level) {
                (false, self.reason(&spec.reasons.goal, level + 1))
            } else if spec.is_won {
                (true, self.reason(&spec.reasons.goal, level + 1))
            } else if spec.is_last_of_scope {
                self.reasoned_scope(level + 1)?
            } else {
                self.reasoned(level + 1)?
            };
            let depends = reason.contains(level);
            reason.remove(level);
            if verdict == wanted {
                // The choice must also be legal.
                join(&mut reason, &self.reason_of_steps(level));
                return Ok((wanted, reason));
            }
            if !depends {
                let n_spared = (spec.values.len() - place - 1) as u64;
                self.statistics.n_backjumps += n_spared;
                return Ok((!wanted, reason));
            }
            join(&mut against, &reason);
        }
        Ok((!wanted, against))
    }
}

fn join(reason: &mut Reason, other: &Reason) {
    for (word, other) in reason.words_mut().iter_mut().zip(other.words()) {
        *word |= other;
    }
}

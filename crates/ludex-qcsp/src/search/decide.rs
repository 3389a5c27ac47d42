//! Decides whether a model is true: search in prefix order with a memory and ordered values.

use std::sync::Arc;

use super::{Searcher, Stopped};
use crate::config::ValueOrder;
use crate::scope::Quantifier;

/// The result of opening a scope.
pub(crate) enum Opened {
    /// The verdict is known.
    Decided(bool),
    /// It must be searched; the number is its key in the memory.
    Open(u128),
}

/// A choice that must be searched.
struct Candidate {
    place: usize,
    key: u128,
    /// How often the value decided elsewhere, or how good it looks.
    credit: u64,
}

impl Searcher<'_> {
    /// Whether the existential player wins.
    pub fn decide_all(&mut self) -> Result<bool, Stopped> {
        if self.schedule.levels.is_empty() {
            return Ok(self.schedule.goal_without_levels);
        }
        match self.look(0) {
            Opened::Decided(verdict) => Ok(verdict),
            Opened::Open(key) => self.decide_scope(0, key),
        }
    }

    /// Opens the scope that begins at a level, which may be blocked, cut off or remembered.
    #[inline]
    pub fn look(&mut self, level: usize) -> Opened {
        let scope = self.schedule.levels[level].scope;
        if let Some((cut, verdict)) = self.cut
            && scope >= cut
        {
            return Opened::Decided(verdict);
        }
        if !self.open(level) {
            return Opened::Decided(self.schedule.levels[level].quantifier == Quantifier::Forall);
        }
        if let Some(verdict) = self.cascade(scope) {
            return Opened::Decided(verdict);
        }
        if !self.remembers(scope) {
            return Opened::Open(0);
        }
        let key = self.schedule.keys[scope].of(&self.values);
        self.asked[scope].0 += 1;
        match self.memory.get(scope, key) {
            Some(verdict) => {
                self.asked[scope].1 += 1;
                self.statistics.n_memory_hits += 1;
                Opened::Decided(verdict)
            }
            None => Opened::Open(key),
        }
    }

    /// Whether verdicts of a scope are stored. It does not pay for a scope that never reaches a
    /// state again.
    #[inline]
    pub(super) fn remembers(&self, scope: usize) -> bool {
        let (n_asked, n_answered) = self.asked[scope];
        self.config.memory && scope > 0 && (n_asked < 20_000 || n_answered >= n_asked / 1000)
    }

    /// Searches an opened scope.
    pub fn decide_scope(&mut self, level: usize, key: u128) -> Result<bool, Stopped> {
        let n_before = self.statistics.n_nodes;
        let scope = self.schedule.levels[level].scope;
        let verdict =
            if self.engines.solves(scope) { self.solve_last(scope)? } else { self.decide(level)? };
        if self.remembers(scope) {
            self.statistics.n_memory_stores += 1;
            self.memory.put(scope, key, verdict, self.statistics.n_nodes - n_before);
            if self.memory.is_small()
                && let Some(memory) = Arc::get_mut(&mut self.memory)
            {
                memory.grow();
            }
        }
        Ok(verdict)
    }

    /// Searches from a level on, given values of all earlier levels.
    pub fn decide(&mut self, level: usize) -> Result<bool, Stopped> {
        if self.config.value_order != ValueOrder::Ascending && self.looks_ahead(level) {
            self.decide_in_two_passes(level)
        } else {
            self.decide_in_one_pass(level)
        }
    }

    /// Whether the next scope may reveal something before it is searched: that its owner is
    /// blocked, or a remembered verdict.
    #[inline]
    fn looks_ahead(&self, level: usize) -> bool {
        let Some(next) = self.schedule.levels.get(level + 1) else { return false };
        let (n_asked, n_answered) = self.asked[next.scope];
        self.schedule.levels[level].is_last_of_scope
            && (!next.opening.is_empty()
                || self.config.value_order == ValueOrder::Preserve
                || self.config.memory && (n_asked < 1000 || n_answered * 100 >= n_asked))
    }

    /// Returns what follows the choice just made, if it is known without a search.
    #[inline]
    pub(super) fn look_after(&mut self, level: usize) -> Opened {
        if !self.goal_holds(level) {
            return Opened::Decided(false);
        }
        if self.schedule.levels[level].is_won {
            return Opened::Decided(true);
        }
        if self.schedule.levels[level].is_last_of_scope {
            return self.look(level + 1);
        }
        self.cascade_within(level).map_or(Opened::Open(0), Opened::Decided)
    }

    pub(super) fn search_after(&mut self, level: usize, key: u128) -> Result<bool, Stopped> {
        if self.schedule.levels[level].is_last_of_scope {
            self.decide_scope(level + 1, key)
        } else {
            self.decide(level + 1)
        }
    }

    fn decide_in_one_pass(&mut self, level: usize) -> Result<bool, Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        let wanted = spec.quantifier == Quantifier::Exists;
        // Sorting a few values does not pay.
        const MIN_SORTED: usize = 6;
        let mut order: Vec<u32> = Vec::new();
        if self.uses_history(level) && spec.values.len() >= MIN_SORTED {
            order.extend_from_slice(self.history[spec.class].ranking());
            // The value that decided the last node of this level comes first, because neighboring
            // nodes are alike.
            if let Some(at) = order.iter().position(|&place| place == self.last_decider[level]) {
                order[..=at].rotate_right(1);
            }
        }
        for i in 0..spec.values.len() {
            let place = order.get(i).map_or(i, |&place| place as usize);
            if i > 0 && self.should_offer(level) {
                let rest = (i..spec.values.len())
                    .map(|i| order.get(i).map_or(i, |&place| place as usize))
                    .collect();
                let is_decided = self.decide_together(level, rest, wanted)?;
                return Ok(is_decided == wanted);
            }
            if !self.choose(level, place) {
                continue;
            }
            self.count_node(level)?;
            let verdict = match self.look_after(level) {
                Opened::Decided(verdict) => verdict,
                Opened::Open(key) => self.search_after(level, key)?,
            };
            if verdict == wanted {
                self.credit(level, place);
                return Ok(wanted);
            }
        }
        Ok(!wanted)
    }

    fn uses_history(&self, level: usize) -> bool {
        !self.schedule.levels[level].is_ordered
            && matches!(self.config.value_order, ValueOrder::Auto | ValueOrder::History)
    }

    fn credit(&mut self, level: usize, place: usize) {
        let depth = (self.schedule.levels.len() - level) as u64;
        self.history[self.schedule.levels[level].class].credit(place, depth);
        self.last_decider[level] = place as u32;
    }

    /// First examines the state after each choice: one that blocks the opponent, or that the memory
    /// knows to win, decides at once. The others are searched, starting with those that often
    /// decided elsewhere.
    fn decide_in_two_passes(&mut self, level: usize) -> Result<bool, Stopped> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        debug_assert!(spec.is_last_of_scope);
        let wanted = spec.quantifier == Quantifier::Exists;
        let uses_history = self.uses_history(level);
        let mut candidates: Vec<Candidate> = Vec::with_capacity(spec.values.len().min(64));
        for place in 0..spec.values.len() {
            if !self.choose(level, place) {
                continue;
            }
            self.count_node(level)?;
            match self.look_after(level) {
                Opened::Decided(verdict) if verdict == wanted => {
                    self.credit(level, place);
                    return Ok(wanted);
                }
                Opened::Decided(_) => {}
                Opened::Open(key) => {
                    let credit = match self.config.value_order {
                        ValueOrder::Preserve if !spec.is_ordered => self.foresight(level),
                        _ => self.history[spec.class].credit_of(place) * u64::from(uses_history),
                    };
                    candidates.push(Candidate { place, key, credit });
                }
            }
        }
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.credit));
        for (i, &Candidate { place, key, .. }) in candidates.iter().enumerate() {
            if i > 0 && self.should_offer(level) {
                let rest = candidates[i..].iter().map(|candidate| candidate.place).collect();
                let is_decided = self.decide_together(level, rest, wanted)?;
                return Ok(is_decided == wanted);
            }
            self.replay(level, place);
            if self.search_after(level, key)? == wanted {
                self.credit(level, place);
                return Ok(wanted);
            }
        }
        Ok(!wanted)
    }

    /// Repeats a choice that was examined before.
    #[inline]
    fn replay(&mut self, level: usize, place: usize) {
        let is_there = self.choose(level, place);
        debug_assert!(is_there, "the choice was legal before");
        if level + 1 < self.schedule.levels.len() && self.schedule.levels[level].is_last_of_scope {
            self.open(level + 1);
        }
    }
}

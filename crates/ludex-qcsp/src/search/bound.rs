//! Bounds on a criterion before its scope is completely chosen.
//!
//! Variables not yet chosen are ranges, and the following scopes are played on ranges, branch by
//! branch. A follower takes a choice that may be the best for it: one whose criterion cannot be
//! worse than that of another choice that certainly exists. The bound therefore holds whatever the
//! follower prefers, and does not relax the follower's choice. If a choice of a follower depends on
//! a single open variable, it is examined value by value, so that its cost and its gain stay
//! together.

use ludex_csp::VarId;
use smallvec::SmallVec;

use super::Searcher;
use super::optimize::{NONE, own_wish};
use crate::schedule::interval::Certainty;
use crate::schedule::measures::Wish;
use crate::schedule::{Level, Step};
use crate::scope::{AggregateFunction, Quantifier};

/// Bounds on the outcome from a scope on.
#[derive(Clone)]
pub(crate) struct Forecast {
    /// Whether the existential player can win, and whether it must.
    may_win: bool,
    must_win: bool,
    /// The range of each measure; unbounded if nothing is known.
    measures: SmallVec<[(i64, i64); 6]>,
}

const ANYTHING: (i64, i64) = (i64::MIN, i64::MAX);

/// A branch of a scope, or one case of it.
struct Branch {
    /// Number of cases, from this one on, that make up one branch; 0 for those after the first.
    n_cases: usize,
    /// The maximal number of choices it stands for.
    n_choices: i64,
    is_legal: bool,
    forecast: Forecast,
}

/// The state of a branch after the levels of a scope played so far.
#[derive(Clone, Copy)]
struct SoFar {
    n_choices: i64,
    is_legal: bool,
    /// Whether the goals decided so far certainly hold.
    holds: bool,
}

impl Searcher<'_> {
    /// Returns the best possible value of the criterion of a scope after the choice just made at a
    /// level, or `None` if the play cannot be won.
    pub(super) fn bound(&mut self, level: usize, wish: &Wish) -> Option<i64> {
        let schedule = self.schedule;
        let spec = &schedule.levels[level];
        for (range, &value) in self.ranges.iter_mut().zip(&self.values) {
            *range = (value, value);
        }
        let mut can_hold = self.goal_may_hold(spec);
        for next in schedule.levels[level + 1..].iter().take_while(|next| next.scope == spec.scope)
        {
            self.widen(next);
            can_hold &= self.run_on_ranges(&next.generic) != Certainty::Fails;
            can_hold &= self.goal_may_hold(next);
        }
        if !can_hold {
            return None;
        }
        let mut forecast = self.forecast(spec.scope + 1);
        if !forecast.may_win {
            return None;
        }
        for &(number, x) in &schedule.measures.scopes[spec.scope].variables {
            let (lo, hi) = self.ranges[x.index()];
            forecast.measures[number] = (lo.into(), hi.into());
        }
        let (lo, hi) = forecast.measures[wish.measure];
        // The least number stands for a missing value, so it must not be a bound.
        Some(if wish.is_minimized { lo.max(NONE + 1) } else { hi })
    }

    pub(super) fn widen(&mut self, level: &Level) {
        if let Some(x) = level.x {
            let (lo, hi) = self.schedule.model.bounds(x);
            self.ranges[x.index()] = (lo as i32, hi as i32);
        }
    }

    pub(super) fn goal_may_hold(&self, level: &Level) -> bool {
        level.goal.iter().all(|check| check.certainty(&self.ranges) != Certainty::Fails)
    }

    pub(super) fn run_on_ranges(&mut self, steps: &[Step]) -> Certainty {
        let mut certainty = Certainty::Holds;
        for step in steps {
            match step.run_on_ranges(&mut self.ranges) {
                Certainty::Holds => {}
                Certainty::Open => certainty = Certainty::Open,
                Certainty::Fails => return Certainty::Fails,
            }
        }
        certainty
    }

    fn forecast(&mut self, scope: usize) -> Forecast {
        let n = self.schedule.measures.n;
        let level = self.schedule.first_level[scope];
        if level == self.schedule.levels.len() {
            let measures = SmallVec::from_elem(ANYTHING, n);
            return Forecast { may_win: true, must_win: true, measures };
        }
        let opening = self.run_on_ranges(&self.schedule.levels[level].opening);
        let mut branches: Vec<Branch> = Vec::new();
        if opening != Certainty::Fails {
            let so_far = SoFar { n_choices: 1, is_legal: opening == Certainty::Holds, holds: true };
            self.branches(level, so_far, &mut branches);
        }
        match self.schedule.levels[level].quantifier {
            Quantifier::Exists => self.existential(scope, &branches),
            Quantifier::Forall => self.universal(scope, &branches),
        }
    }

    /// Plays the levels of a scope on ranges.
    fn branches(&mut self, level: usize, so_far: SoFar, into: &mut Vec<Branch>) {
        let spec = &self.schedule.levels[level];
        let is_ranged = spec.values.len() > self.config.sizes.max_branches;
        let n_values = if is_ranged { spec.values.len() as i64 } else { 1 };
        let n_choices = so_far.n_choices.saturating_mul(n_values);
        let n_branches = if is_ranged { 1 } else { spec.values.len() };
        for place in 0..n_branches {
            if let Some(y) = self.split_variable(level, place) {
                self.cases(level, place, y, so_far, into);
                continue;
            }
            let steps = if is_ranged {
                self.widen(spec);
                &spec.generic
            } else {
                if let Some(x) = spec.x {
                    self.ranges[x.index()] = (spec.values[place], spec.values[place]);
                }
                spec.steps.get(place).unwrap_or(&spec.steps[0])
            };
            let certainty = self.run_on_ranges(steps);
            if certainty == Certainty::Fails {
                continue;
            }
            // One range stands for many values: a choice certainly exists only if all of them are
            // legal.
            let is_legal = so_far.is_legal && certainty == Certainty::Holds && !is_ranged;
            let goal = spec.goal.iter().map(|check| check.certainty(&self.ranges));
            let (mut may_hold, mut holds) = (true, so_far.holds);
            for certainty in goal {
                may_hold &= certainty != Certainty::Fails;
                holds &= certainty == Certainty::Holds;
            }
            if !spec.is_last_of_scope {
                if may_hold || spec.quantifier == Quantifier::Forall {
                    self.branches(level + 1, SoFar { n_choices, is_legal, holds }, into);
                }
                continue;
            }
            let mut forecast = self.forecast(spec.scope + 1);
            forecast.may_win &= may_hold;
            forecast.must_win &= holds;
            for &(number, x) in &self.schedule.measures.scopes[spec.scope].variables {
                let (lo, hi) = self.ranges[x.index()];
                forecast.measures[number] = (lo.into(), hi.into());
            }
            into.push(Branch { n_cases: 1, n_choices, is_legal, forecast });
        }
    }

    /// Returns the open variable that a choice of a follower depends on, if there is exactly one.
    fn split_variable(&self, level: usize, place: usize) -> Option<VarId> {
        let spec = &self.schedule.levels[level];
        own_wish(&self.schedule.measures.scopes[spec.scope])?;
        let is_leaf = level + 1 == self.schedule.levels.len() && spec.goal.is_empty();
        let reads = spec.reads.get(place).filter(|_| is_leaf)?;
        let is_open = |x: &&VarId| self.ranges[x.index()].0 != self.ranges[x.index()].1;
        let mut open = reads.iter().filter(is_open);
        let y = *open.next()?;
        let is_few = self.schedule.model.domain(y).len() <= self.config.sizes.max_branches as u64;
        // A defined variable depends on others and cannot be split alone.
        let is_decided = self.schedule.levels.iter().any(|level| level.x == Some(y));
        (open.next().is_none() && is_few && is_decided).then_some(y)
    }

    /// Plays the last choice of a follower for each value of an open variable.
    fn cases(
        &mut self,
        level: usize,
        place: usize,
        y: VarId,
        so_far: SoFar,
        into: &mut Vec<Branch>,
    ) {
        let spec = &self.schedule.levels[level];
        let range = self.ranges[y.index()];
        let first = into.len();
        let SoFar { n_choices, is_legal: mut is_whole, holds } = so_far;
        if let Some(x) = spec.x {
            self.ranges[x.index()] = (spec.values[place], spec.values[place]);
        }
        for value in self.schedule.model.domain(y).iter() {
            if value < range.0 || range.1 < value {
                continue;
            }
            self.ranges[y.index()] = (value, value);
            let certainty = self.run_on_ranges(&spec.steps[place]);
            is_whole &= certainty == Certainty::Holds;
            if certainty == Certainty::Fails {
                continue;
            }
            let mut forecast = self.forecast(spec.scope + 1);
            forecast.must_win &= holds;
            for &(number, x) in &self.schedule.measures.scopes[spec.scope].variables {
                let (lo, hi) = self.ranges[x.index()];
                forecast.measures[number] = (lo.into(), hi.into());
            }
            into.push(Branch { n_cases: 0, n_choices, is_legal: false, forecast });
        }
        self.ranges[y.index()] = range;
        let n_cases = into.len() - first;
        if let Some(branch) = into.get_mut(first) {
            branch.n_cases = n_cases;
        }
        for branch in &mut into[first..] {
            branch.is_legal = is_whole;
        }
    }

    fn existential(&self, scope: usize, branches: &[Branch]) -> Forecast {
        let measures = &self.schedule.measures.scopes[scope];
        let wish = own_wish(measures);
        // The worst value that the follower can be forced to take.
        let worst = wish.and_then(|wish| {
            let starts = branches.iter().enumerate().filter(|(_, branch)| branch.n_cases > 0);
            let certain = starts
                .map(|(i, branch)| &branches[i..i + branch.n_cases])
                .filter(|cases| cases.iter().all(|b| b.is_legal && b.forecast.must_win));
            let ranges = |cases: &[Branch]| {
                let of = cases.iter().map(|b| b.forecast.measures[wish.measure]);
                of.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).expect("a branch has a case")
            };
            if wish.is_minimized {
                certain.map(|cases| ranges(cases).1).min()
            } else {
                certain.map(|cases| ranges(cases).0).max()
            }
        });
        let is_taken = |branch: &&Branch| {
            let (Some(wish), Some(worst)) = (wish, worst) else { return true };
            let (lo, hi) = branch.forecast.measures[wish.measure];
            if wish.is_minimized { lo <= worst } else { hi >= worst }
        };
        let mut hull: Option<SmallVec<[(i64, i64); 6]>> = None;
        for branch in branches.iter().filter(|b| b.forecast.may_win).filter(is_taken) {
            match &mut hull {
                None => hull = Some(branch.forecast.measures.clone()),
                Some(hull) => {
                    for (range, other) in hull.iter_mut().zip(&branch.forecast.measures) {
                        *range = (range.0.min(other.0), range.1.max(other.1));
                    }
                }
            }
        }
        Forecast {
            may_win: hull.is_some(),
            must_win: branches.iter().any(|b| b.is_legal && b.forecast.must_win),
            measures: hull
                .unwrap_or_else(|| SmallVec::from_elem(ANYTHING, self.schedule.measures.n)),
        }
    }

    fn universal(&self, scope: usize, branches: &[Branch]) -> Forecast {
        let mut measures = SmallVec::from_elem(ANYTHING, self.schedule.measures.n);
        for &(number, function, of) in &self.schedule.measures.scopes[scope].aggregates {
            measures[number] = aggregate(function, of, branches);
        }
        Forecast {
            may_win: branches.iter().all(|b| !b.is_legal || b.forecast.may_win),
            must_win: branches.iter().all(|b| b.forecast.must_win),
            measures,
        }
    }
}

/// Returns the range of an aggregate over certain and possible branches.
fn aggregate(function: AggregateFunction, of: usize, branches: &[Branch]) -> (i64, i64) {
    let ranges = || branches.iter().map(|branch| (branch.is_legal, branch.forecast.measures[of]));
    // Sums leave out measures without a value.
    if ranges().any(|(_, range)| range == ANYTHING) {
        return ANYTHING;
    }
    match function {
        AggregateFunction::Sum => branches.iter().fold((0_i64, 0_i64), |sum, branch| {
            let (lo, hi) = branch.forecast.measures[of];
            let (lo, hi) = if branch.is_legal {
                (lo, hi)
            } else {
                let of_all = |one: i64| one.saturating_mul(branch.n_choices);
                (of_all(lo.min(0)), of_all(hi.max(0)))
            };
            (sum.0.saturating_add(lo), sum.1.saturating_add(hi))
        }),
        AggregateFunction::Count => {
            let is_counted =
                |&(is_legal, (lo, hi)): &(bool, (i64, i64))| is_legal && (lo > 0 || hi < 0);
            let may_count = |branch: &&Branch| branch.forecast.measures[of] != (0, 0);
            let counted = branches.iter().filter(may_count).map(|branch| branch.n_choices);
            (ranges().filter(is_counted).count() as i64, counted.fold(0, i64::saturating_add))
        }
        _ if !ranges().any(|(is_legal, _)| is_legal) => ANYTHING,
        AggregateFunction::Min => (
            ranges().map(|(_, range)| range.0).min().unwrap_or(i64::MIN),
            ranges().filter(|r| r.0).map(|(_, range)| range.1).min().unwrap_or(i64::MAX),
        ),
        AggregateFunction::Max => (
            ranges().filter(|r| r.0).map(|(_, range)| range.0).max().unwrap_or(i64::MIN),
            ranges().map(|(_, range)| range.1).max().unwrap_or(i64::MAX),
        ),
        AggregateFunction::Mean => (
            ranges().map(|(_, range)| range.0).min().unwrap_or(i64::MIN),
            ranges().map(|(_, range)| range.1).max().unwrap_or(i64::MAX),
        ),
    }
}

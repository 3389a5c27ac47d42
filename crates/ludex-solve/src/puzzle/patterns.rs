//! Pattern databases: how far parts of the state are from what the goal needs.
//!
//! A pattern is one group of fluents, such as the places of a tile, or a few groups that change
//! together. The rest of the state is forgotten: a move is possible if nothing that is known
//! forbids it, and may lead to every value that is not excluded. The steps from each value of the
//! pattern to one that the goal allows are counted once, for the whole search.
//!
//! If no step changes two of some patterns, their distances may be added; for the tiles of a
//! sliding puzzle this is the Manhattan distance. Otherwise only the largest counts.
//!
//! Invariant: [`Patterns::at_least`] never exceeds the number of steps to the goal, and falls by at
//! most one in a step.
//!
//! After Culberson and Schaeffer, *Pattern Databases*, Computational Intelligence 1998, and Korf and
//! Felner, *Disjoint Pattern Database Heuristics*, AIJ 2002. Patterns and proofs come from the
//! circuit.

use std::cmp::Reverse;

use ludex_base::{BitSet, Deadline, FluentId, Goal, MoveId};
use ludex_circuit::{Gate, GateId};
use ludex_encode::Group;

use super::analysis::Analysis;
use super::groups::find_more_groups;
use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, first_lanes, implied};

/// Gates that may be evaluated for all patterns together; those that are left then have none.
const MAX_WORK: usize = 400_000_000;
/// The largest number of values of a pattern.
const MAX_VALUES: usize = 4_096;
/// Groups in a pattern.
const MAX_GROUPS: usize = 3;
/// Patterns that are tried for a sum.
const MAX_ADDED: usize = 256;
/// The distance of values from which the goal cannot be reached.
const NEVER: u32 = u32::MAX;

/// The patterns of a puzzle, for one goal.
pub(super) struct Patterns {
    list: Vec<Pattern>,
    /// Patterns, by their places in the list, of which a step changes at most one.
    additive: Vec<usize>,
}

/// Groups of fluents, and how far each combination of their values is from the goal.
struct Pattern {
    groups: Vec<Group>,
    distances: Vec<u32>,
    /// For each move that may change the pattern, the values that it may change.
    changed_by: Vec<(MoveId, Vec<usize>)>,
}

impl Patterns {
    /// Finds patterns that say something about plays that end with at least this goal; fewer if the
    /// deadline is reached or the rules are large.
    pub fn of(analysis: &Analysis, goal: Goal, deadline: &Deadline) -> Self {
        let Analysis { circuit, state, .. } = analysis;
        let more = find_more_groups(circuit, state, deadline);
        let groups = more.unwrap_or_else(|| analysis.groups.list.clone());
        let mut builder = Builder {
            analysis,
            groups: Groups::new(circuit, groups),
            wanted: wanted(analysis, goal),
            goes_on: implied(&analysis.circuit, analysis.circuit.terminal, false),
            cones: Cones::new(&analysis.circuit),
            lanes: Lanes::new(&analysis.circuit),
            work: 0,
        };
        let mut list = Vec::new();
        for groups in builder.candidates() {
            if deadline.reached() || builder.work > MAX_WORK {
                break;
            }
            // A pattern that allows every value says nothing.
            let built = builder.build(groups);
            list.extend(built.filter(|it| it.distances.iter().any(|&distance| distance > 0)));
        }
        let mut patterns = Self { list, additive: Vec::new() };
        patterns.choose_additive(&builder.groups);
        patterns
    }

    /// Returns a lower bound of the number of steps to the goal; `None` if it cannot be reached.
    pub fn at_least(&self, state: &BitSet) -> Option<u32> {
        let largest = self.list.iter().map(|it| it.distance(state)).max().unwrap_or(0);
        if largest == NEVER {
            return None;
        }
        let sum: u32 = self.additive.iter().map(|&idx| self.list[idx].distance(state)).sum();
        Some(sum.max(largest))
    }

    /// Returns how many of the patterns that may be added are not as the goal needs them.
    pub fn n_misplaced(&self, state: &BitSet) -> u32 {
        let misplaced = self.additive.iter().filter(|&&idx| self.list[idx].distance(state) > 0);
        misplaced.count() as u32
    }

    /// Returns an estimate of the number of steps to the goal, mostly too large: the sum over all
    /// patterns. `None` if the goal cannot be reached.
    pub fn estimate(&self, state: &BitSet) -> Option<u32> {
        let mut sum = 0;
        for pattern in &self.list {
            let distance = pattern.distance(state);
            if distance == NEVER {
                return None;
            }
            sum += distance;
        }
        Some(sum)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Chooses patterns whose distances may be added: of the sets that begin with each pattern and
    /// take those far from the goal first, the one with the largest distances in the mean.
    fn choose_additive(&mut self, groups: &Groups) {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.retain(|&idx| self.list[idx].groups.len() == 1);
        order.sort_by_key(|&idx| Reverse(self.list[idx].mean_distance()));
        order.truncate(MAX_ADDED);
        let is_independent =
            |a: usize, b: usize| a == b || self.list[a].never_changes_with(&self.list[b], groups);
        let independent: Vec<Vec<bool>> = (order.iter())
            .map(|&a| order.iter().map(|&b| is_independent(a, b)).collect())
            .collect();
        let sum = |places: &[usize]| -> u64 {
            places.iter().map(|&place| self.list[order[place]].mean_distance()).sum()
        };
        let mut best: Vec<usize> = Vec::new();
        for first in 0..order.len() {
            let mut chosen = vec![first];
            for place in (0..order.len()).filter(|&place| place != first) {
                if chosen.iter().all(|&other| independent[place][other]) {
                    chosen.push(place);
                }
            }
            if sum(&chosen) > sum(&best) {
                best = chosen;
            }
        }
        self.additive = best.into_iter().map(|place| order[place]).collect();
    }
}

impl Pattern {
    /// Returns the distance of a state.
    fn distance(&self, state: &BitSet) -> u32 {
        let mut value = 0;
        for group in self.groups.iter().rev() {
            let place = group.fluents.iter().position(|fluent| state.contains(fluent.index()));
            value = value * size_of(group) + place.unwrap_or(group.fluents.len());
        }
        self.distances[value]
    }

    /// Returns a thousand times the mean distance of values from which the goal can be reached.
    fn mean_distance(&self) -> u64 {
        let finite = self.distances.iter().filter(|&&distance| distance != NEVER);
        let (n, sum) = finite.fold((0, 0), |(n, sum), &it| (n + 1, sum + u64::from(it)));
        1_000 * sum / n.max(1)
    }

    /// Returns whether no step changes both patterns, which have one group each.
    fn never_changes_with(&self, other: &Pattern, groups: &Groups) -> bool {
        let (mine, theirs) = (&self.groups[0].fluents, &other.groups[0].fluents);
        let excludes = |a: usize, b: usize| match (mine.get(a), theirs.get(b)) {
            (Some(&a), Some(&b)) => groups.exclude(a, b),
            _ => false,
        };
        self.changed_by.iter().all(|(played, values)| {
            let found = other.changed_by.binary_search_by_key(played, |it| it.0);
            found.map_or(true, |idx| {
                let others = &other.changed_by[idx].1;
                values.iter().all(|&a| others.iter().all(|&b| excludes(a, b)))
            })
        })
    }
}

/// Returns the number of values of a group: its fluents, and that none is true.
fn size_of(group: &Group) -> usize {
    group.fluents.len() + 1
}

/// Returns for each goal that is large enough what surely holds at an end with it.
fn wanted(analysis: &Analysis, goal: Goal) -> Vec<Vec<Literal>> {
    let circuit = &analysis.circuit;
    let gates = circuit.goals.iter().filter(|&&(_, of, _)| of >= goal);
    let at_end = implied(circuit, circuit.terminal, true);
    let both = gates.map(|&(_, _, gate)| {
        let mut literals = implied(circuit, gate, true);
        literals.extend(&at_end);
        literals
    });
    both.collect()
}

/// The gates that decide what a step does to a pattern, and the cases to evaluate them in.
struct Step {
    cone: Vec<GateId>,
    cases: Vec<Vec<Literal>>,
}

struct Builder<'a> {
    analysis: &'a Analysis,
    groups: Groups,
    wanted: Vec<Vec<Literal>>,
    goes_on: Vec<Literal>,
    cones: Cones<'a>,
    lanes: Lanes<'a>,
    work: usize,
}

impl Builder<'_> {
    /// Returns sets of groups to try: each group alone, and with the groups that it depends on if
    /// these are few.
    fn candidates(&mut self) -> Vec<Vec<Group>> {
        let Analysis { circuit, effects, .. } = self.analysis;
        let groups = &self.groups;
        let mut candidates: Vec<Vec<Group>> = Vec::new();
        for (idx, group) in groups.list.iter().enumerate() {
            if group.fluents.iter().all(|fluent| effects.autonomous.contains(fluent.index())) {
                continue;
            }
            let gates = group.fluents.iter().map(|fluent| circuit.next[fluent.index()]);
            let mut places = vec![idx];
            for gate in self.cones.of(gates) {
                if let Gate::Fluent(fluent) = circuit.gate(gate)
                    && !places.iter().any(|&it| groups.list[it].fluents.contains(&fluent))
                {
                    places.push(groups.of(fluent).first().map_or(usize::MAX, |&it| it as usize));
                }
                if places.len() > MAX_GROUPS {
                    break;
                }
            }
            let size = |it: &usize| groups.list.get(*it).map_or(MAX_VALUES + 1, size_of);
            let n_values = places.iter().map(size).try_fold(1_usize, usize::checked_mul);
            candidates.push(vec![group.clone()]);
            if places.len() > MAX_GROUPS || n_values.is_none_or(|n| n > MAX_VALUES) {
                continue;
            }
            places.sort_unstable();
            let chosen: Vec<Group> = places.iter().map(|&it| groups.list[it].clone()).collect();
            if !candidates.contains(&chosen) {
                candidates.push(chosen);
            }
        }
        candidates
    }

    /// Returns how to evaluate what moves do to some groups, in the cases of another group that
    /// this depends on, if there is one.
    fn step_of(&mut self, groups: &[Group], fluents: &[FluentId], moves: &[MoveId]) -> Step {
        let Analysis { circuit, .. } = self.analysis;
        let next = self.cones.of(fluents.iter().map(|it| circuit.next[it.index()]));
        let mut reads = BitSet::new(circuit.next.len());
        for &gate in &next {
            if let Gate::Fluent(fluent) = circuit.gate(gate) {
                reads.insert(fluent.index());
            }
        }
        let is_read = |group: &Group| group.fluents.iter().all(|it| reads.contains(it.index()));
        let other = self.groups.list.iter().find(|other| {
            other.is_exact && is_read(other) && groups.iter().all(|it| it.fluents != other.fluents)
        });
        let is_true = |&fluent: &FluentId| vec![Literal { fluent, value: true }];
        let cases = other.map_or(vec![Vec::new()], |it| it.fluents.iter().map(is_true).collect());
        let legal = moves.iter().map(|played| circuit.legal[played.index()]);
        Step { cone: self.cones.of(next.into_iter().chain(legal)), cases }
    }

    /// Counts the steps from each value of a pattern to the goal; `None` if that is too much work.
    fn build(&mut self, groups: Vec<Group>) -> Option<Pattern> {
        let n_values: usize = groups.iter().map(size_of).product();
        let Analysis { effects, .. } = self.analysis;
        let fluents: Vec<FluentId> = groups.iter().flat_map(|it| it.fluents.clone()).collect();
        let mut moves: Vec<MoveId> = (fluents.iter())
            .flat_map(|it| [&effects.makes_true[it.index()], &effects.makes_false[it.index()]])
            .flatten()
            .copied()
            .collect();
        moves.sort_unstable();
        moves.dedup();
        let step = self.step_of(&groups, &fluents, &moves);
        let n_evaluations = n_values * moves.len().div_ceil(64) * step.cases.len();
        if n_values > MAX_VALUES || self.work + n_evaluations * step.cone.len() > MAX_WORK {
            return None;
        }
        let mut pattern =
            Pattern { distances: vec![NEVER; n_values], changed_by: Vec::new(), groups };
        let mut changed_by: Vec<(MoveId, Vec<usize>)> =
            moves.iter().map(|&played| (played, Vec::new())).collect();
        // Step 1. The values that each value may become.
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); n_values];
        for value in 0..n_values {
            for (batch, changed_by) in moves.chunks(64).zip(changed_by.chunks_mut(64)) {
                let after = self.after(&pattern, value, batch, &step);
                for (lane, list) in after.into_iter().enumerate() {
                    for next in list.into_iter().filter(|&next| next != value) {
                        before[next].push(value as u32);
                        let values = &mut changed_by[lane].1;
                        if values.last() != Some(&value) {
                            values.push(value);
                        }
                    }
                }
            }
        }
        pattern.changed_by = changed_by;
        // Step 2. Backward from the values that the goal allows.
        let mut open: Vec<usize> = Vec::new();
        for value in 0..n_values {
            let literals = literals_of(&pattern.groups, value);
            let denies = |it: &Literal| literals.contains(&Literal { value: !it.value, ..*it });
            let agrees = |wanted: &Vec<Literal>| !wanted.iter().any(denies);
            if self.wanted.iter().any(agrees) {
                pattern.distances[value] = 0;
                open.push(value);
            }
        }
        let mut next = 0;
        while let Some(&value) = open.get(next) {
            next += 1;
            for &earlier in &before[value] {
                if pattern.distances[earlier as usize] == NEVER {
                    pattern.distances[earlier as usize] = pattern.distances[value] + 1;
                    open.push(earlier as usize);
                }
            }
        }
        Some(pattern)
    }

    /// Returns for each move of a batch the values that a value may become.
    fn after(
        &mut self,
        pattern: &Pattern,
        value: usize,
        batch: &[MoveId],
        step: &Step,
    ) -> Vec<Vec<usize>> {
        let Analysis { circuit, effects, .. } = self.analysis;
        let all = first_lanes(batch.len());
        let mut assumptions = Assumptions::new(circuit, &self.groups);
        assumptions.play(batch);
        for &literal in self.goes_on.iter().chain(&literals_of(&pattern.groups, value)) {
            assumptions.assume(literal, all);
        }
        for (lane, played) in batch.iter().enumerate() {
            for &literal in &effects.before[played.index()] {
                assumptions.assume(literal, 1 << lane);
            }
        }
        let mut after = vec![Vec::new(); batch.len()];
        for case in &step.cases {
            let mark = assumptions.mark();
            case.iter().for_each(|&literal| assumptions.assume(literal, all));
            self.lanes.evaluate(&step.cone, &assumptions);
            self.work += step.cone.len();
            let impossible = assumptions.contradictory();
            assumptions.undo(mark);
            for (lane, played) in batch.iter().enumerate() {
                let legal = self.lanes.known(circuit.legal[played.index()]);
                if (impossible | legal.no) >> lane & 1 == 1 {
                    continue;
                }
                let mut values = vec![0];
                let mut factor = 1;
                for group in &pattern.groups {
                    let possible = self.possible(group, lane);
                    let joined = values
                        .iter()
                        .flat_map(|&value| possible.iter().map(move |&it| value + factor * it));
                    values = joined.collect();
                    factor *= size_of(group);
                }
                after[lane].append(&mut values);
            }
        }
        for values in &mut after {
            values.sort_unstable();
            values.dedup();
        }
        after
    }

    /// Returns the places of a group that may be true after the step, in one lane.
    fn possible(&self, group: &Group, lane: usize) -> Vec<usize> {
        let next = &self.analysis.circuit.next;
        let known = |fluent: &FluentId| self.lanes.known(next[fluent.index()]);
        let is_sure = |fluent: &FluentId| known(fluent).yes >> lane & 1 == 1;
        if let Some(place) = group.fluents.iter().position(is_sure) {
            return vec![place];
        }
        let may_be = |&place: &usize| known(&group.fluents[place]).no >> lane & 1 == 0;
        let mut places: Vec<usize> = (0..group.fluents.len()).filter(may_be).collect();
        if !group.is_exact {
            places.push(group.fluents.len());
        }
        places
    }
}

/// Returns what a value of a pattern says about its fluents.
fn literals_of(groups: &[Group], mut value: usize) -> Vec<Literal> {
    let mut literals = Vec::new();
    for group in groups {
        let place = value % size_of(group);
        value /= size_of(group);
        for (idx, &fluent) in group.fluents.iter().enumerate() {
            literals.push(Literal { fluent, value: idx == place });
        }
    }
    literals
}

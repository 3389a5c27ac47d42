//! Groups of fluents of which at most one is true, proved in lanes.
//!
//! Candidates are fluents that differ only in some arguments. They are proved together by
//! induction: the state has at most one true fluent of each, and if a state has at most one of
//! each, so has the next one, whichever of them is true and whichever move is played. A candidate
//! that fails is dropped, and the proof is repeated without it.
//!
//! `ludex_encode::find_groups` proves more by search, but on rulesheets such as Sudoku, where
//! legality depends on hundreds of fluents, that search finds no end.

use ludex_base::{BitSet, Deadline, FluentId, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_encode::Group;
use rustc_hash::FxHashMap;

use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, first_lanes, implied};

/// Gates that may be evaluated; beyond that, there are no groups.
const MAX_WORK: usize = 300_000_000;
/// The largest group that is tried: each fluent of it is a case of the proof.
const MAX_FLUENTS: usize = 256;

/// Finds groups that hold in every state that can be reached from a state; `None` if the deadline
/// is reached.
pub(crate) fn find_groups(
    circuit: &Circuit,
    state: &BitSet,
    deadline: &Deadline,
) -> Option<Vec<Group>> {
    prove(circuit, candidates(circuit, state, free_places), false, deadline)
}

/// As [`find_groups`], and tries more: also fluents that have one argument in common, such as the
/// places of a tile, and proofs that distinguish the cases of another group, such as the places of
/// the blank.
pub(crate) fn find_more_groups(
    circuit: &Circuit,
    state: &BitSet,
    deadline: &Deadline,
) -> Option<Vec<Group>> {
    let places = |n_args: usize| {
        let mut sets = free_places(n_args);
        if (3..=31).contains(&n_args) {
            sets.extend((0..n_args).map(|place| ((1_u32 << n_args) - 1) & !(1 << place)));
        }
        sets
    };
    let found = prove(circuit, candidates(circuit, state, places), true, deadline)?;
    if found.is_empty() { find_groups(circuit, state, deadline) } else { Some(found) }
}

/// Returns the groups among some candidates that hold in every step, if they hold at first. With
/// `has_cases`, a proof may distinguish the cases of another group that the step depends on.
fn prove(
    circuit: &Circuit,
    mut groups: Vec<Group>,
    has_cases: bool,
    deadline: &Deadline,
) -> Option<Vec<Group>> {
    let before: Vec<Vec<Literal>> =
        circuit.legal.iter().map(|&gate| implied(circuit, gate, true)).collect();
    let mut cones = Cones::new(circuit);
    let mut proofs: Vec<Vec<GateId>> = Vec::new();
    let mut work = 0;
    for group in &groups {
        work += circuit.n_gates() / 64;
        if work > MAX_WORK || deadline.reached() {
            return if deadline.reached() { None } else { Some(Vec::new()) };
        }
        proofs.push(cones.of(group.fluents.iter().map(|fluent| circuit.next[fluent.index()])));
    }
    let mut lanes = Lanes::new(circuit);
    loop {
        let indexed = Groups::new(circuit, groups.clone());
        let mut found: Vec<Finding> = vec![Finding::Exact; groups.len()];
        let all_moves: Vec<MoveId> = (0..before.len()).map(MoveId::new).collect();
        for batch in all_moves.chunks(64) {
            let mut assumptions = Assumptions::new(circuit, &indexed);
            assumptions.play(batch);
            for literal in implied(circuit, circuit.terminal, false) {
                assumptions.assume(literal, first_lanes(batch.len()));
            }
            for (lane, played) in batch.iter().enumerate() {
                for &literal in &before[played.index()] {
                    assumptions.assume(literal, 1 << lane);
                }
            }
            for (idx, group) in groups.iter().enumerate() {
                if deadline.reached() {
                    return None;
                }
                if found[idx] == Finding::Wrong {
                    continue;
                }
                work += proofs[idx].len() * (group.fluents.len() + 1);
                if work > MAX_WORK {
                    return Some(Vec::new());
                }
                let step = Step { circuit, cone: &proofs[idx], n_lanes: batch.len() };
                let mut doubts = step.check(group, 0, &mut assumptions, &mut lanes);
                let is_open = doubts.two != 0 || (group.is_exact && doubts.none != 0);
                if has_cases && is_open {
                    for other in groups.iter().filter(|other| step.depends_on(other, group)) {
                        work += proofs[idx].len() * (group.fluents.len() + 1) * other.fluents.len();
                        if work > MAX_WORK {
                            return Some(Vec::new());
                        }
                        let by_cases = step.check_cases(group, other, &mut assumptions, &mut lanes);
                        doubts.two &= by_cases.two;
                        doubts.none &= by_cases.none;
                    }
                }
                let finding = doubts.finding();
                found[idx] = found[idx].max(finding);
            }
        }
        let mut is_stable = true;
        let mut kept = (Vec::new(), Vec::new());
        for ((mut group, cone), finding) in groups.into_iter().zip(proofs).zip(found) {
            is_stable &=
                finding == Finding::Exact || (finding == Finding::AtMost && !group.is_exact);
            group.is_exact &= finding == Finding::Exact;
            if finding != Finding::Wrong {
                kept.0.push(group);
                kept.1.push(cone);
            }
        }
        (groups, proofs) = kept;
        if is_stable {
            return Some(without_parts(groups));
        }
    }
}

/// What one step shows about a group, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Finding {
    /// If it held before, it holds after, and one fluent is true if one was.
    Exact,
    /// At most one fluent is true after the step.
    AtMost,
    /// More than one may be true.
    Wrong,
}

/// Lanes in which something is not proved about a group after a step.
struct Doubts {
    /// More than one of its fluents may be true.
    two: u64,
    /// None may be true.
    none: u64,
}

impl Doubts {
    fn finding(&self) -> Finding {
        match self {
            Doubts { two: 0, none: 0 } => Finding::Exact,
            Doubts { two: 0, .. } => Finding::AtMost,
            _ => Finding::Wrong,
        }
    }
}

struct Step<'a> {
    circuit: &'a Circuit,
    cone: &'a [GateId],
    n_lanes: usize,
}

impl Step<'_> {
    /// Returns whether the step reads another group that has exactly one true fluent: all of its
    /// fluents, or all but one, which is true if no other is.
    fn depends_on(&self, other: &Group, group: &Group) -> bool {
        let reads = |fluent: &FluentId| {
            let is_it = |gate: &GateId| match self.circuit.gate(*gate) {
                Gate::Fluent(it) => it == *fluent,
                _ => false,
            };
            self.cone.iter().any(is_it)
        };
        let n_unread = other.fluents.iter().filter(|fluent| !reads(fluent)).count();
        other.is_exact && other.fluents != group.fluents && n_unread <= 1
    }

    /// Checks a group in every case of another one.
    fn check_cases(
        &self,
        group: &Group,
        other: &Group,
        assumptions: &mut Assumptions<'_>,
        lanes: &mut Lanes<'_>,
    ) -> Doubts {
        let mut doubts = Doubts { two: 0, none: 0 };
        for &fluent in &other.fluents {
            let mark = assumptions.mark();
            assumptions.assume(Literal { fluent, value: true }, first_lanes(self.n_lanes));
            let impossible = assumptions.contradictory();
            let of_case = self.check(group, impossible, assumptions, lanes);
            assumptions.undo(mark);
            doubts.two |= of_case.two;
            doubts.none |= of_case.none;
        }
        doubts
    }

    /// Checks a group, apart from some lanes that cannot occur.
    fn check(
        &self,
        group: &Group,
        excluded: u64,
        assumptions: &mut Assumptions<'_>,
        lanes: &mut Lanes<'_>,
    ) -> Doubts {
        let all = first_lanes(self.n_lanes);
        let mut doubts = Doubts { two: 0, none: 0 };
        // The last case is that none is true.
        for case in 0..=group.fluents.len() {
            let is_none = case == group.fluents.len();
            if is_none && group.is_exact {
                continue;
            }
            let mark = assumptions.mark();
            match group.fluents.get(case) {
                Some(&fluent) => assumptions.assume(Literal { fluent, value: true }, all),
                None => {
                    for &fluent in &group.fluents {
                        assumptions.assume(Literal { fluent, value: false }, all);
                    }
                }
            }
            lanes.evaluate(self.cone, assumptions);
            let impossible = assumptions.undo(mark) | excluded;
            let (mut some, mut two, mut sure) = (0, 0, 0);
            for fluent in &group.fluents {
                let known = lanes.known(self.circuit.next[fluent.index()]);
                two |= some & !known.no;
                some |= !known.no;
                sure |= known.yes;
            }
            doubts.two |= two & all & !impossible;
            doubts.none |= all & !sure & !impossible;
        }
        doubts
    }
}

/// Returns fluents of one name that differ only in some arguments, if at most one is true in the
/// state. `free_places` says which arguments may differ.
fn candidates(
    circuit: &Circuit,
    state: &BitSet,
    free_places: impl Fn(usize) -> Vec<u32>,
) -> Vec<Group> {
    let terms = &circuit.vocabulary.terms;
    let mut by_pattern: FxHashMap<(u32, Vec<u32>), Vec<FluentId>> = FxHashMap::default();
    for (idx, &term) in circuit.vocabulary.fluents.iter().enumerate() {
        let args = terms.args(term);
        for free in free_places(args.len()) {
            let mut key = vec![terms.name(term).index() as u32, args.len() as u32];
            let bound = (0..args.len()).filter(|&place| place >= 32 || free & (1 << place) == 0);
            key.extend(bound.map(|place| args[place].index() as u32));
            by_pattern.entry((free, key)).or_default().push(FluentId::new(idx));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for fluents in by_pattern.into_values().filter(|list| (2..=MAX_FLUENTS).contains(&list.len())) {
        let n_true = fluents.iter().filter(|fluent| state.contains(fluent.index())).count();
        if n_true <= 1 {
            groups.push(Group { fluents, is_exact: n_true == 1 });
        }
    }
    groups.sort_by(|a, b| {
        b.fluents.len().cmp(&a.fluents.len()).then_with(|| a.fluents.cmp(&b.fluents))
    });
    groups.dedup();
    groups
}

/// Returns sets of argument places that may differ, as bits: each alone, and all.
fn free_places(n_args: usize) -> Vec<u32> {
    let n = n_args.min(31);
    let mut sets: Vec<u32> = (0..n).map(|place| 1 << place).collect();
    if n_args > 1 {
        sets.push((1 << n) - 1);
    }
    sets
}

/// Returns the groups that are not part of larger ones.
fn without_parts(groups: Vec<Group>) -> Vec<Group> {
    let mut kept: Vec<Group> = Vec::new();
    for group in groups {
        let is_part = |larger: &Group| {
            group.fluents.iter().all(|fluent| larger.fluents.binary_search(fluent).is_ok())
        };
        if group.is_exact || !kept.iter().any(is_part) {
            kept.push(group);
        }
    }
    kept
}

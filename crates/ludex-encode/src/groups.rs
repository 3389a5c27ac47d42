//! Groups of fluents of which at most one is true: `(cell 1 1 ?)`, `(control ?)`.
//!
//! Candidates come from the terms: fluents that differ only in some arguments. Random walks refute
//! those that some state violates. The rest is proved together by induction: the initial state has
//! at most one true fluent of each group, and if a state has at most one of each, so has the next
//! one. A candidate that cannot be proved is dropped, and every proof that used it is repeated
//! without it.
//!
//! Invariant: a [`Group`] that [`find_groups`] returns holds in every reachable state.

use ludex_base::{BitSet, Deadline, FluentId, MoveId, Rng, Seed};
use ludex_circuit::{Circuit, GateId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::prove::{Finding, Group, Prover};

/// The effort to spend on finding groups. It bounds the time and keeps the result reproducible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupEffort {
    /// Work steps of the prover; 0 finds no groups.
    pub proof_steps: u64,
    /// Gates evaluated on random walks.
    pub walk_gates: u64,
}

impl Default for GroupEffort {
    fn default() -> Self {
        Self { proof_steps: 20_000_000, walk_gates: 10_000_000 }
    }
}

/// Finds and proves the groups of a game, and returns them by descending size.
///
/// A fluent can be in several groups. Returns `None` if the deadline is reached, because the groups
/// must not depend on the clock.
pub fn find_groups(
    circuit: &Circuit,
    effort: &GroupEffort,
    deadline: &Deadline,
) -> Option<Vec<Group>> {
    if effort.proof_steps == 0 {
        return Some(Vec::new());
    }
    let mut groups = candidates(circuit, deadline)?;
    let mut walk = Walk::new(circuit, effort.walk_gates);
    let mut keep = |state: &BitSet| {
        groups.retain_mut(|group| {
            let mut n_true = group.fluents.iter().filter(|it| state.contains(it.index()));
            match (n_true.next(), n_true.next()) {
                (None, _) => group.is_exact = false,
                (Some(_), None) => {}
                (Some(_), Some(_)) => return false,
            }
            true
        });
    };
    keep(&circuit.init);
    while let Some(state) = walk.next() {
        keep(state);
        if deadline.reached() {
            return None;
        }
    }
    prove(circuit, groups, effort.proof_steps, deadline)
}

/// Number of fluents or candidates processed between two checks of the deadline.
const ITEMS_BETWEEN: usize = 256;

/// Returns groups of fluents with the same name that differ only in some arguments.
fn candidates(circuit: &Circuit, deadline: &Deadline) -> Option<Vec<Group>> {
    let terms = &circuit.vocabulary.terms;
    let mut by_pattern: FxHashMap<(u32, Vec<u32>), Vec<FluentId>> = FxHashMap::default();
    for (idx, &term) in circuit.vocabulary.fluents.iter().enumerate() {
        if idx.is_multiple_of(ITEMS_BETWEEN) && deadline.reached() {
            return None;
        }
        let args = terms.args(term);
        for free in free_places(args.len()) {
            let name = terms.name(term).index() as u32;
            let mut key = vec![name, args.len() as u32];
            let bound = (0..args.len()).filter(|&place| place >= 32 || free & (1 << place) == 0);
            key.extend(bound.map(|place| args[place].index() as u32));
            by_pattern.entry((free, key)).or_default().push(FluentId::new(idx));
        }
    }
    let mut lists: Vec<Vec<FluentId>> =
        by_pattern.into_values().filter(|list| list.len() > 1).collect();
    // The largest first: it makes its subsets redundant.
    lists.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    lists.dedup();
    Some(lists.into_iter().map(|fluents| Group { fluents, is_exact: true }).collect())
}

/// Returns sets of argument places that may differ, as bits: all sets if there are few arguments;
/// otherwise all places, each place alone, and all places from some place on.
fn free_places(n_args: usize) -> Vec<u32> {
    match n_args {
        0 => Vec::new(),
        1..=4 => (1..1 << n_args).collect(),
        _ => {
            let n = n_args.min(31);
            let all = (1_u32 << n) - 1;
            let mut sets: Vec<u32> = (0..n).map(|place| 1 << place).collect();
            sets.extend((0..n - 1).map(|place| all & !((1 << place) - 1)));
            sets
        }
    }
}

/// Drops candidates until the rest is proved; `None` if the deadline is reached.
fn prove(
    circuit: &Circuit,
    groups: Vec<Group>,
    budget: u64,
    deadline: &Deadline,
) -> Option<Vec<Group>> {
    let mut prover = Prover::new(circuit, groups.clone(), budget, deadline);
    let mut candidates: Vec<Candidate> = groups
        .into_iter()
        .map(|group| Candidate { group, is_dropped: false, at_most: None, at_least: None })
        .collect();
    let around = larger_groups(circuit.vocabulary.fluents.len(), &candidates, deadline)?;
    // Each round proves the candidates without a proof, or whose proof used one dropped in the
    // previous round.
    loop {
        let mut lost: FxHashSet<u32> = FxHashSet::default();
        if deadline.reached() {
            return None;
        }
        for idx in 0..candidates.len() {
            if candidates[idx].is_dropped {
                continue;
            }
            if prover.is_late() {
                return None;
            }
            let larger =
                around[idx].iter().find(|&&larger| !candidates[larger as usize].is_dropped);
            let candidate = &mut candidates[idx];
            if candidate.at_most.is_none() {
                candidate.at_most = match larger {
                    Some(&larger) => Some(vec![larger]),
                    None if prover.is_exhausted() => None,
                    None => candidate.prove_at_most(circuit, &mut prover),
                };
                if candidate.at_most.is_none() {
                    candidate.is_dropped = true;
                    prover.give_up(idx);
                    lost.insert(idx as u32);
                    continue;
                }
            }
            if candidate.group.is_exact && candidate.at_least.is_none() {
                candidate.at_least = candidate.prove_at_least(circuit, &mut prover);
                if candidate.at_least.is_none() {
                    candidate.group.is_exact = false;
                    prover.give_up_exactness(idx);
                    lost.insert(idx as u32);
                }
            }
        }
        if lost.is_empty() {
            break;
        }
        for candidate in &mut candidates {
            for proof in [&mut candidate.at_most, &mut candidate.at_least] {
                proof.take_if(|used| used.iter().any(|group| lost.contains(group)));
            }
        }
    }
    Some(candidates.into_iter().filter(|it| !it.is_dropped).map(|it| it.group).collect())
}

/// Returns for each candidate the larger ones that contain all its fluents and therefore imply it.
/// `None` if the deadline is reached.
fn larger_groups(
    n_fluents: usize,
    candidates: &[Candidate],
    deadline: &Deadline,
) -> Option<Vec<Vec<u32>>> {
    let mut groups_of: Vec<Vec<u32>> = vec![Vec::new(); n_fluents];
    for (idx, candidate) in candidates.iter().enumerate() {
        candidate.group.fluents.iter().for_each(|it| groups_of[it.index()].push(idx as u32));
    }
    let contains = |larger: u32, fluents: &[FluentId]| {
        let all = &candidates[larger as usize].group.fluents;
        fluents.iter().all(|fluent| all.binary_search(fluent).is_ok())
    };
    (candidates.iter().enumerate())
        .map(|(idx, candidate)| {
            if idx.is_multiple_of(ITEMS_BETWEEN) && deadline.reached() {
                return None;
            }
            let fluents = &candidate.group.fluents;
            let larger = groups_of[fluents[0].index()].iter().copied();
            let larger = larger.take_while(|&it| it < idx as u32);
            Some(larger.filter(|&it| contains(it, fluents)).collect())
        })
        .collect()
}

struct Candidate {
    group: Group,
    is_dropped: bool,
    /// The groups that each proof uses; `None` without a proof.
    at_most: Option<Vec<u32>>,
    at_least: Option<Vec<u32>>,
}

impl Candidate {
    fn prove_at_most(&self, circuit: &Circuit, prover: &mut Prover<'_>) -> Option<Vec<u32>> {
        prover.take_used();
        let mut next: Vec<GateId> =
            self.group.fluents.iter().map(|it| circuit.next[it.index()]).collect();
        next.sort_unstable();
        // Two fluents with the same gate are true together.
        let has_twins = next.windows(2).any(|pair| {
            pair[0] == pair[1] && prover.check(&[(pair[0], true)]) == Finding::Consistent
        });
        let is_proved = !has_twins
            && (0..next.len()).all(|at| {
                let (gate, others) = (next[at], &next[at + 1..]);
                others.is_empty()
                    || prover.check_each(&[(gate, true)], others) == Finding::Contradictory
            });
        (is_proved && !prover.is_exhausted()).then(|| prover.take_used())
    }

    fn prove_at_least(&self, circuit: &Circuit, prover: &mut Prover<'_>) -> Option<Vec<u32>> {
        prover.take_used();
        let none: Vec<(GateId, bool)> =
            self.group.fluents.iter().map(|it| (circuit.next[it.index()], false)).collect();
        let is_proved = prover.check(&none) == Finding::Contradictory;
        (is_proved && !prover.is_exhausted()).then(|| prover.take_used())
    }
}

/// A random walk through the states of a game that evaluates every gate.
pub(crate) struct Walk<'a> {
    circuit: &'a Circuit,
    rng: Rng,
    state: BitSet,
    n_steps: usize,
    gates_left: u64,
    steps_left: usize,
    joint: Vec<MoveId>,
    values: Vec<bool>,
}

/// The maximal length of a walk before it starts again.
const MAX_WALK: usize = 60;
/// The maximal number of steps of all walks. A failing proof drops the candidates they do not
/// refute.
const MAX_STEPS: usize = 240;

impl<'a> Walk<'a> {
    pub fn new(circuit: &'a Circuit, n_gates: u64) -> Self {
        Self {
            circuit,
            rng: Seed(1).rng(),
            state: circuit.init.clone(),
            n_steps: 0,
            gates_left: n_gates,
            steps_left: MAX_STEPS,
            joint: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Plays one joint move and returns the next state, or `None` if the effort is used up.
    pub fn next(&mut self) -> Option<&BitSet> {
        let cost = 2 * self.circuit.n_gates() as u64;
        self.gates_left = self.gates_left.checked_sub(cost)?;
        self.steps_left = self.steps_left.checked_sub(1)?;
        if self.n_steps == MAX_WALK || !self.draw() {
            // The walk begins with the initial state itself.
            if self.n_steps == 0 {
                return None;
            }
            self.state.copy_from(&self.circuit.init);
            self.n_steps = 0;
            if !self.draw() {
                return None;
            }
        }
        self.values = self.circuit.evaluate(&self.state, &self.joint);
        self.state.clear();
        for (idx, gate) in self.circuit.next.iter().enumerate() {
            if self.values[gate.index()] {
                self.state.insert(idx);
            }
        }
        self.n_steps += 1;
        Some(&self.state)
    }

    /// Returns the values of all gates in the last step.
    pub fn values(&self) -> &[bool] {
        &self.values
    }

    /// Draws a joint move; false if the game is over or a role has no move.
    fn draw(&mut self) -> bool {
        let values = self.circuit.evaluate(&self.state, &[]);
        if values[self.circuit.terminal.index()] {
            return false;
        }
        self.joint.clear();
        let moves = &self.circuit.vocabulary.moves;
        let mut legal: Vec<Vec<MoveId>> = vec![Vec::new(); self.circuit.n_roles()];
        for (idx, (role, _)) in moves.iter().enumerate() {
            if values[self.circuit.legal[idx].index()] {
                legal[role.index()].push(MoveId::new(idx));
            }
        }
        for list in &legal {
            match self.rng.choose(list) {
                Some(&chosen) => self.joint.push(chosen),
                None => return false,
            }
        }
        true
    }
}

//! Determines whether all roles see the same.

use ludex_base::{Deadline, RoleId};
use ludex_circuit::{Circuit, GateId};
use rustc_hash::FxHashMap;

use crate::groups::{GroupEffort, Walk};
use crate::prove::{Finding, Group, Prover};

/// What the roles of a game other than `random` learn about a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Information {
    /// No rule defines percepts: every role sees everything.
    Complete,
    /// All roles see the same: proved for every reachable state.
    Shared,
    /// In some reachable state a role sees something that another does not.
    Private,
    /// Neither proved nor refuted within the limits.
    Unknown,
}

impl Information {
    /// Returns the word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Information::Complete => "complete",
            Information::Shared => "shared",
            Information::Private => "private",
            Information::Unknown => "unknown",
        }
    }

    /// Classifies a circuit without loops, given proved groups. The result is `Unknown` if the
    /// deadline is reached.
    pub(crate) fn of(
        circuit: &Circuit,
        groups: &[Group],
        effort: &GroupEffort,
        deadline: &Deadline,
    ) -> Self {
        if !circuit.has_percepts {
            return Information::Complete;
        }
        let pairs = unequal_pairs(circuit);
        if pairs.is_empty() {
            return Information::Shared;
        }
        // A counterexample on a random walk is faster than a failing proof.
        let mut walk = Walk::new(circuit, effort.walk_gates);
        while walk.next().is_some() {
            if deadline.reached() {
                return Information::Unknown;
            }
            let values = walk.values();
            let sees = |gate: Option<GateId>| gate.is_some_and(|gate| values[gate.index()]);
            if pairs.iter().any(|&(first, second)| sees(first) != sees(second)) {
                return Information::Private;
            }
        }
        let mut prover = Prover::new(circuit, groups.to_vec(), effort.proof_steps, deadline);
        let mut is_impossible = |yes: Option<GateId>, no: Option<GateId>| {
            let Some(yes) = yes else { return true };
            let requirements: Vec<(GateId, bool)> =
                [(yes, true)].into_iter().chain(no.map(|no| (no, false))).collect();
            prover.check(&requirements) == Finding::Contradictory
        };
        let are_equal = pairs
            .iter()
            .all(|&(first, second)| is_impossible(first, second) && is_impossible(second, first));
        if are_equal { Information::Shared } else { Information::Unknown }
    }
}

/// Returns the gates by which the first role and another one see a percept, for all percepts where
/// they differ; `None` for a role that never sees it.
fn unequal_pairs(circuit: &Circuit) -> Vec<(Option<GateId>, Option<GateId>)> {
    let vocabulary = &circuit.vocabulary;
    let roles: Vec<RoleId> = (0..vocabulary.roles.len())
        .map(RoleId::new)
        .filter(|&role| !vocabulary.is_random(role))
        .collect();
    let mut gates = FxHashMap::default();
    for (&percept, &gate) in vocabulary.percepts.iter().zip(&circuit.sees) {
        gates.insert(percept, gate);
    }
    let mut terms: Vec<_> = vocabulary.percepts.iter().map(|&(_, term)| term).collect();
    terms.sort_unstable();
    terms.dedup();
    let mut pairs = Vec::new();
    for term in terms {
        let sees = |role: &RoleId| gates.get(&(*role, term)).copied();
        let Some((first, others)) = roles.split_first() else { break };
        pairs.extend(others.iter().map(|other| (sees(first), sees(other))));
    }
    pairs.retain(|(first, second)| first != second);
    pairs
}

//! Winning conditions and subgoals: the smallest gates that decide something about the goals.
//!
//! Each gate of the goals is given each value, with all fluents unknown. If the best goal of a role
//! is then certain, the gate with this value is a *winning condition*. If the goal 0 is excluded, or
//! some goal above 0 is certain, or if the opposite value excludes the best goal, it is a *subgoal*.
//! Gates that read such a gate are not looked at, so that only minimal conditions remain.
//!
//! The end of the game has conditions of the same kind.

use ludex_base::{BitSet, FluentId, Goal, RoleId};
use ludex_circuit::{Circuit, Gate, GateId};

use super::known::{Known, Truth};
use super::parts::Parts;
use super::structure::Reader;

/// A gate that decides something about the goals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The gate.
    pub gate: GateId,
    /// The value that it has to have.
    pub value: bool,
    /// Whether it is enough for the best goal of a role.
    pub wins: bool,
    /// The roles whose goals it decides about.
    pub roles: Vec<RoleId>,
    /// The fluents that it reads.
    pub fluents: Vec<FluentId>,
}

/// Finds the conditions of the goals; `None` if they have too many gates for the work allowed.
pub(super) fn goal_conditions(
    circuit: &Circuit,
    state: &BitSet,
    fixed: &BitSet,
    max_work: usize,
) -> Option<Vec<Condition>> {
    let goals = |known: &Known<'_>| -> Vec<Goals> {
        (0..circuit.n_roles())
            .map(RoleId::new)
            .filter(|&role| !circuit.vocabulary.is_random(role))
            .filter_map(|role| Goals::of(circuit, role, known))
            .collect()
    };
    let outputs: Vec<GateId> = circuit.goals.iter().map(|it| it.2).collect();
    find_conditions(circuit, state, fixed, max_work, &outputs, &goals)
}

/// Finds the conditions of the end of the game, as if it were the one goal of the first role.
pub(super) fn end_conditions(
    circuit: &Circuit,
    state: &BitSet,
    fixed: &BitSet,
    max_work: usize,
) -> Option<Vec<Condition>> {
    let end = circuit.terminal;
    let goals = |_: &Known<'_>| {
        vec![Goals { role: RoleId::new(0), best: vec![end], zero: None, above_zero: Vec::new() }]
    };
    find_conditions(circuit, state, fixed, max_work, &[end], &goals)
}

fn find_conditions(
    circuit: &Circuit,
    state: &BitSet,
    fixed: &BitSet,
    max_work: usize,
    outputs: &[GateId],
    goals: &dyn Fn(&Known<'_>) -> Vec<Goals>,
) -> Option<Vec<Condition>> {
    let is_in_cone = circuit.cone(outputs.iter().copied());
    let gates: Vec<GateId> = circuit
        .gate_ids()
        .filter(|gate| is_in_cone[gate.index()])
        .filter(|&gate| !matches!(circuit.gate(gate), Gate::Constant(_) | Gate::Feedback))
        .collect();
    // Gates of loops are evaluated several times, and three values cost more than two.
    let n_in_loops: usize = circuit.loops.iter().map(|it| it.gates.len()).sum();
    let cost = 8 * gates.len() + LOOP_ROUNDS * n_in_loops.min(8 * gates.len());
    if cost.saturating_mul(gates.len() / GATES_AT_ONCE + 1) > max_work {
        return None;
    }
    let mut known = Known::new(circuit, &is_in_cone);
    for idx in fixed.iter() {
        known.fluents[idx] = Truth::of(state.contains(idx));
    }
    known.evaluate(Vec::new());
    let roles = goals(&known);
    // Gates that are decided already can't decide anything.
    let is_open: Vec<bool> = (0..circuit.n_gates())
        .map(|idx| {
            let value = known.value(GateId::new(idx));
            value.must != value.may
        })
        .collect();

    let mut found: Vec<Vec<Condition>> = vec![Vec::new(); circuit.n_gates()];
    for chunk in gates.chunks(GATES_AT_ONCE) {
        let forced = chunk.iter().enumerate().flat_map(|(place, &gate)| {
            [(gate, 1 << (2 * place), true), (gate, 1 << (2 * place + 1), false)]
        });
        known.evaluate(forced.collect());
        for (place, &gate) in chunk.iter().enumerate() {
            if !is_open[gate.index()] {
                continue;
            }
            for value in [true, false] {
                let lane = 2 * place + usize::from(!value);
                let other = 2 * place + usize::from(value);
                let decided: Vec<(RoleId, bool)> = roles
                    .iter()
                    .filter_map(|goals| Some((goals.role, goals.decided(&known, lane, other)?)))
                    .collect();
                if decided.is_empty() {
                    continue;
                }
                found[gate.index()].push(Condition {
                    gate,
                    value,
                    wins: decided.iter().any(|it| it.1),
                    roles: decided.iter().map(|it| it.0).collect(),
                    fluents: Vec::new(),
                });
            }
        }
    }

    // Keep the minimal ones.
    let mut is_above = vec![false; circuit.n_gates()];
    let mut reader = Reader::new(circuit, fixed);
    let mut minimal = Vec::new();
    for gate in gates {
        let reads_one =
            |input: &GateId| is_above[input.index()] || !found[input.index()].is_empty();
        is_above[gate.index()] = circuit.inputs(gate).iter().any(reads_one);
        if is_above[gate.index()] {
            continue;
        }
        if found[gate.index()].is_empty() {
            continue;
        }
        let fluents = reader.reads(gate).fluents;
        let here = found[gate.index()].iter();
        minimal.extend(here.map(|it| Condition { fluents: fluents.clone(), ..it.clone() }));
    }
    Some(minimal)
}

/// Joins parts without conditions of their own if some gate of the goals reads them together.
///
/// The goals themselves do not count: what is joined only there adds up.
pub(super) fn join_unjudged(circuit: &Circuit, parts: &mut Parts, unjudged: &[FluentId]) {
    let is_in_cone = circuit.cone(circuit.goals.iter().map(|it| it.2));
    let is_goal = |gate: GateId| circuit.goals.iter().any(|it| it.2 == gate);
    // By gate, one of the fluents that it reads; the others are joined with it.
    let mut read: Vec<Option<FluentId>> = vec![None; circuit.n_gates()];
    for gate in circuit.gate_ids().filter(|gate| is_in_cone[gate.index()]) {
        if let Gate::Fluent(fluent) = circuit.gate(gate) {
            read[gate.index()] = unjudged.binary_search(&fluent).is_ok().then_some(fluent);
            continue;
        }
        let inputs: Vec<FluentId> =
            circuit.inputs(gate).iter().filter_map(|input| read[input.index()]).collect();
        read[gate.index()] = inputs.first().copied();
        if inputs.len() > 1 && !is_goal(gate) {
            parts.join_all(&inputs);
        }
    }
}

/// A guess at how often a loop is evaluated.
const LOOP_ROUNDS: usize = 16;

/// Each gate takes two lanes.
const GATES_AT_ONCE: usize = 32;

/// The goals of one role that are still possible.
struct Goals {
    role: RoleId,
    best: Vec<GateId>,
    zero: Option<GateId>,
    above_zero: Vec<GateId>,
}

impl Goals {
    /// `None` if nothing is left to decide for the role.
    fn of(circuit: &Circuit, role: RoleId, known: &Known<'_>) -> Option<Goals> {
        let of_role = circuit.goals.iter().filter(|it| it.0 == role);
        let open: Vec<(Goal, GateId)> = of_role
            .filter(|it| known.value(it.2).may != 0)
            .map(|&(_, goal, gate)| (goal, gate))
            .collect();
        let &(best, _) = open.last()?;
        if open.len() < 2 && known.value(open[0].1).must != 0 {
            return None;
        }
        Some(Goals {
            role,
            best: open.iter().filter(|it| it.0 == best).map(|it| it.1).collect(),
            zero: open.iter().find(|it| it.0.value() == 0).map(|it| it.1),
            above_zero: open.iter().filter(|it| it.0.value() > 0).map(|it| it.1).collect(),
        })
    }

    /// Whether a lane decides something: `true` if it wins, `false` if it is a subgoal. `other` is
    /// the lane with the opposite value.
    fn decided(&self, known: &Known<'_>, lane: usize, other: usize) -> Option<bool> {
        let must = |gate: &GateId, lane: usize| known.value(*gate).must >> lane & 1 == 1;
        let may = |gate: &GateId, lane: usize| known.value(*gate).may >> lane & 1 == 1;
        if self.best.iter().any(|gate| must(gate, lane)) {
            return Some(true);
        }
        let is_subgoal = self.zero.is_some_and(|zero| !may(&zero, lane))
            || self.above_zero.iter().any(|gate| must(gate, lane))
            || !self.best.iter().any(|gate| may(gate, other));
        is_subgoal.then_some(false)
    }
}

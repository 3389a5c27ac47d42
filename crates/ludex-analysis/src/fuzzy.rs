//! Degrees of truth of goals: the formula of a goal, evaluated with degrees in place of truth
//! values.
//!
//! A true fluent has a degree above one half, a false one a degree below; the nearer a counter is
//! to the value that a fluent asks for, the nearer the degree is to one half. A disjunction has the
//! degree of its best part, plus a little for each other part; a conjunction has that of its worst
//! part, minus a little. Degrees never cross one half on the way, so a gate holds exactly if its
//! degree is above one half, and formulas of any size keep a slope.
//!
//! After Schiffel and Thielscher, *Fluxplayer: A Successful General Game Player*, 2007. Their norms
//! are associative and need roots of high order; gates have any number of inputs, so ours need not
//! be associative and cost one division per gate. They also measure distances on boards, which we
//! leave to other features.

use ludex_base::{BitSet, RoleId};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_game::Graded;
use rustc_hash::FxHashMap;

use crate::facts::Facts;

/// The degree of a true fluent.
const TRUE_DEGREE: f32 = 0.75;
/// Weight of the other parts of a disjunction beside the best one.
const OTHER_PARTS_WEIGHT: f32 = 0.5;
/// Evaluating a larger formula costs more than it is worth.
const MAX_EDGES: usize = 6_000;

/// The goals of all roles but `random`, with degrees of truth.
#[derive(Debug)]
pub struct FuzzyGoals {
    names: Vec<String>,
    nodes: Vec<Node>,
    inputs: Vec<u32>,
    /// The counters that goals ask about: the fluents with their indices, and the distance from
    /// which a degree equals that of any false fluent.
    counters: Vec<(Vec<(i32, u32)>, f32)>,
    /// By role: the values with their nodes, ascending.
    goals: Vec<Vec<(f32, u32)>>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Constant(bool),
    Fluent(u32),
    /// The fluent of a counter, with the counter and the index it asks for.
    Counted(u32, u32, i32),
    Not(u32),
    /// A range of inputs, from and to.
    And(u32, u32),
    Or(u32, u32),
}

impl FuzzyGoals {
    /// Builds the formulas of a game's goals; returns `None` if they have loops, are too large or
    /// are constant.
    pub fn new(circuit: &Circuit, facts: &Facts) -> Option<Self> {
        let vocabulary = &circuit.vocabulary;
        let is_player = |role: &RoleId| !vocabulary.is_random(*role);
        let roles: Vec<RoleId> =
            (0..circuit.n_roles()).map(RoleId::new).filter(is_player).collect();
        let asked = circuit.goals.iter().filter(|goal| roles.contains(&goal.0));
        let is_needed = circuit.cone(asked.map(|goal| goal.2));
        let mut counted: FxHashMap<u32, (u32, i32)> = FxHashMap::default();
        let mut counters = Vec::new();
        for counter in facts.counters.iter().filter(|it| it.values.len() > 2) {
            let number = counters.len() as u32;
            let values: Vec<(i32, u32)> =
                counter.values.iter().map(|it| (it.0, it.1.index() as u32)).collect();
            let span = values[values.len() - 1].0 - values[0].0;
            counted.extend(values.iter().map(|&(index, fluent)| (fluent, (number, index))));
            counters.push((values, span as f32));
        }
        let mut it = Self {
            names: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            counters,
            goals: Vec::new(),
        };
        let mut number_of = vec![u32::MAX; circuit.n_gates()];
        for gate in circuit.gate_ids().filter(|gate| is_needed[gate.index()]) {
            let start = it.inputs.len() as u32;
            it.inputs.extend(circuit.inputs(gate).iter().map(|input| number_of[input.index()]));
            let end = it.inputs.len() as u32;
            let node = match circuit.gate(gate) {
                Gate::Constant(value) => Node::Constant(value),
                Gate::Fluent(fluent) => {
                    let fluent = fluent.index() as u32;
                    match counted.get(&fluent) {
                        Some(&(counter, index)) => Node::Counted(fluent, counter, index),
                        None => Node::Fluent(fluent),
                    }
                }
                Gate::Not(_) => Node::Not(it.inputs[start as usize]),
                Gate::And(_) => Node::And(start, end),
                Gate::Or(_) => Node::Or(start, end),
                // A goal does not depend on moves. Feedback is evaluated in rounds, which have no
                // meaning for degrees.
                Gate::Move(_) | Gate::Feedback => return None,
            };
            if it.inputs.len() > MAX_EDGES {
                return None;
            }
            number_of[gate.index()] = it.nodes.len() as u32;
            it.nodes.push(node);
        }
        let node_of = |gate: GateId| number_of[gate.index()];
        for &role in &roles {
            let of_role = circuit.goals.iter().filter(|goal| goal.0 == role);
            let goals = of_role.map(|goal| (f32::from(goal.1.value()) / 100.0, node_of(goal.2)));
            it.goals.push(goals.collect());
            let name = vocabulary.role_text(role);
            it.names.push(format!("degree of the best goal of {name}"));
            it.names.push(format!("goal of {name} by degrees"));
        }
        it.goals.iter().any(|goals| goals.len() > 1).then_some(it)
    }

    /// Computes the degree of every node.
    fn degrees(&self, fluents: &BitSet, degrees: &mut Vec<f32>) {
        degrees.clear();
        for node in &self.nodes {
            let degree = match *node {
                Node::Constant(value) => f32::from(u8::from(value)),
                Node::Fluent(fluent) => of_truth(fluents.contains(fluent as usize)),
                Node::Counted(fluent, counter, index) => {
                    self.counted(fluents, fluent, counter, index)
                }
                Node::Not(input) => 1.0 - degrees[input as usize],
                Node::And(start, end) => {
                    let inputs = &self.inputs[start as usize..end as usize];
                    1.0 - joined(inputs.iter().map(|&input| 1.0 - degrees[input as usize]))
                }
                Node::Or(start, end) => {
                    let inputs = &self.inputs[start as usize..end as usize];
                    joined(inputs.iter().map(|&input| degrees[input as usize]))
                }
            };
            degrees.push(degree);
        }
    }

    /// The degree of a false fluent of a counter: halfway up to one half when the counter is next
    /// to it.
    fn counted(&self, fluents: &BitSet, fluent: u32, counter: u32, index: i32) -> f32 {
        if fluents.contains(fluent as usize) {
            return TRUE_DEGREE;
        }
        let (values, span) = &self.counters[counter as usize];
        let now = values.iter().find(|(_, fluent)| fluents.contains(*fluent as usize));
        let near = now.map_or(0.0, |&(now, _)| 1.0 - (now - index).abs() as f32 / span);
        of_truth(false) + 0.9 * (0.5 - of_truth(false)) * near
    }
}

fn of_truth(value: bool) -> f32 {
    if value { TRUE_DEGREE } else { 1.0 - TRUE_DEGREE }
}

/// The degree of a disjunction.
fn joined(degrees: impl Iterator<Item = f32>) -> f32 {
    let (mut best, mut squares) = (0.0_f32, 0.0);
    for degree in degrees {
        best = best.max(degree);
        squares += degree * degree;
    }
    let others = OTHER_PARTS_WEIGHT * (squares - best * best);
    let limit = if best > 0.5 { 1.0 } else { 0.5 };
    let degree = best + (limit - best) * others / (1.0 + others);
    // With very many parts, rounding may reach one half.
    if best > 0.5 { degree } else { degree.min(MOST_FALSE) }
}

/// The largest degree of a false gate, with room for rounding.
const MOST_FALSE: f32 = 0.4999;

impl Graded for FuzzyGoals {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn grade(&self, fluents: &BitSet, desk: &mut Vec<f32>, values: &mut Vec<f32>) {
        self.degrees(fluents, desk);
        for goals in &self.goals {
            values.push(goals.last().map_or(0.0, |&(_, node)| desk[node as usize]));
            let (mut sum, mut all) = (0.0, 0.0);
            for &(goal, node) in goals {
                sum += goal * desk[node as usize];
                all += desk[node as usize];
            }
            values.push(if all > 0.0 { sum / all } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Seed};

    use super::*;
    use crate::tests::{library, machine};
    use crate::watch::watch;
    use crate::{Effort, find_facts};

    #[test]
    fn a_disjunction_grows_with_each_part_and_never_crosses_one_half() {
        let of = |degrees: &[f32]| joined(degrees.iter().copied());
        assert_eq!(of(&[0.25]), 0.25);
        assert!(of(&[0.25, 0.25]) > 0.25 && of(&[0.25, 0.4]) > of(&[0.25, 0.25]));
        assert!(of(&[0.499; 100_000]) < 0.5 && of(&[0.501, 0.0]) > 0.5);
        assert!(of(&[0.9, 0.9]) > 0.9 && of(&[0.9; 1000]) <= 1.0);
    }

    /// Compares degrees with plain evaluation: a gate holds exactly if its degree is above one
    /// half.
    #[test]
    fn degrees_above_one_half_are_truths() {
        for name in ["tictactoe", "connectfour", "breakthrough-small", "othello6", "nim"] {
            let machine = library(name);
            let circuit = machine.circuit();
            let facts = find_facts(&machine, circuit, &Effort::default());
            let goals = FuzzyGoals::new(circuit, &facts).unwrap_or_else(|| panic!("{name}"));
            let (mut degrees, mut n_true, mut n_false) = (Vec::new(), 0, 0);
            watch(&machine, 150, Seed(3), &Deadline::never(), |step| {
                goals.degrees(step.after, &mut degrees);
                let values = circuit.evaluate(step.after, &[]);
                let mut of_role = goals.goals.iter().flatten();
                for &(_, _, gate) in &circuit.goals {
                    let &(_, node) = of_role.next().expect("all roles are players");
                    let is_true = values[gate.index()];
                    assert_eq!(degrees[node as usize] > 0.5, is_true, "{name}: {gate:?}");
                    (n_true, n_false) =
                        (n_true + u32::from(is_true), n_false + u32::from(!is_true));
                }
            });
            assert!(n_true > 50 && n_false > 50, "{name}: {n_true} and {n_false}");
        }
    }

    #[test]
    fn two_of_three_is_nearer_than_one_of_three_and_so_is_a_counter() {
        let rules = "
            (role r) (init (lamp a off)) (init (lamp b off)) (init (lamp c off)) (init (time 0))
            (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (lamps a) (lamps b) (lamps c)
            (<= (legal r (light ?x)) (lamps ?x))
            (<= (next (lamp ?x on)) (does r (light ?x)))
            (<= (next (lamp ?x on)) (true (lamp ?x on)))
            (<= (next (lamp ?x off)) (true (lamp ?x off)) (not (does r (light ?x))))
            (<= (next (time ?y)) (true (time ?x)) (succ ?x ?y))
            (<= terminal (true (time 4)))
            (<= (goal r 100) (true (lamp a on)) (true (lamp b on)) (true (lamp c on)))
            (<= (goal r 50) (true (time 4)))
            (goal r 0)";
        let machine = machine(rules);
        let circuit = machine.circuit();
        let facts = find_facts(&machine, circuit, &Effort::default());
        let goals = FuzzyGoals::new(circuit, &facts).expect("goals without loops");
        let degree = |goal_idx: usize, true_fluents: &[&str]| {
            let mut state = BitSet::new(circuit.vocabulary.fluents.len());
            for (idx, _) in circuit.vocabulary.fluents.iter().enumerate() {
                let text = circuit.vocabulary.fluent_text(ludex_base::FluentId::new(idx));
                if true_fluents.contains(&text.as_str()) {
                    state.insert(idx);
                }
            }
            let mut degrees = Vec::new();
            goals.degrees(&state, &mut degrees);
            degrees[goals.goals[0][goal_idx].1 as usize]
        };
        let (none, one) = (degree(2, &[]), degree(2, &["(lamp a on)"]));
        let two = degree(2, &["(lamp a on)", "(lamp b on)"]);
        let three = degree(2, &["(lamp a on)", "(lamp b on)", "(lamp c on)"]);
        assert!(none < one && one < two && two < 0.5 && 0.5 < three, "{none} {one} {two} {three}");
        let (early, late) = (degree(1, &["(time 1)"]), degree(1, &["(time 3)"]));
        assert!(early < late && late < 0.5 && degree(1, &["(time 4)"]) > 0.5, "{early} {late}");
    }
}

//! How far a goal is at least, by a relaxation of the rules.
//!
//! In the relaxation nothing that was true once is ever lost: each fluent may be true and false at
//! the same time. A move can be played when the literals that surely hold before it have been
//! reached, and reaches every literal that it may change (see [`effects`](super::effects)). The
//! steps until all that the goal needs has been reached are a lower bound of the steps in the game.
//!
//! After Bonet and Geffner, *Planning as Heuristic Search*, AIJ 2001: [`Relaxation::at_least`] is
//! their h^max, and [`Relaxation::estimate`] adds what the goal needs up. Conditions are read from
//! gates, not from lists of literals.

use ludex_base::{BitSet, Goal};
use ludex_circuit::{Circuit, Gate, GateId};

use super::clock::Clock;
use super::effects::Effects;
use super::lanes::Cones;

/// The relaxation of a puzzle, for one goal.
pub(super) struct Relaxation<'a> {
    circuit: &'a Circuit,
    /// For each move, the literals it needs, each `2 * fluent + value`.
    needs: Vec<Vec<u32>>,
    /// For each move, the literals it may bring about.
    brings: Vec<Vec<u32>>,
    /// For each literal, the moves that need it.
    users: Vec<Vec<u32>>,
    /// Literals that hold at some time by themselves.
    free: Vec<u32>,
    wanted: Vec<GateId>,
    cone: Vec<GateId>,
    /// Steps to each literal.
    steps: Vec<u32>,
    n_missing: Vec<u32>,
    reached: Vec<u32>,
    /// By gate, the cost of being false and of being true.
    costs: Vec<[u32; 2]>,
}

/// More steps than any play has: what is never reached.
const NEVER: u32 = u32::MAX;

impl<'a> Relaxation<'a> {
    /// Creates the relaxation for plays that end with at least this goal.
    pub fn new(circuit: &'a Circuit, effects: &Effects, clock: &Clock, goal: Goal) -> Self {
        let id = |fluent: usize, value: bool| (2 * fluent + usize::from(value)) as u32;
        let n_moves = effects.before.len();
        let mut brings = vec![Vec::new(); n_moves];
        for fluent in 0..circuit.next.len() {
            for (list, value) in [(&effects.makes_true, true), (&effects.makes_false, false)] {
                for played in &list[fluent] {
                    brings[played.index()].push(id(fluent, value));
                }
            }
        }
        let mut needs: Vec<Vec<u32>> = Vec::with_capacity(n_moves);
        let mut users = vec![Vec::new(); 2 * circuit.next.len()];
        for (idx, before) in effects.before.iter().enumerate() {
            let list: Vec<u32> = before.iter().map(|it| id(it.fluent.index(), it.value)).collect();
            list.iter().for_each(|&literal| users[literal as usize].push(idx as u32));
            needs.push(list);
        }
        let mut free = Vec::new();
        for fluent in effects.autonomous.iter() {
            for value in [false, true] {
                if clock.ticks.iter().any(|tick| tick.contains(fluent) == value) {
                    free.push(id(fluent, value));
                }
            }
        }
        let wanted = circuit.goals.iter().filter(|&&(_, of, _)| of >= goal);
        let wanted: Vec<GateId> = wanted.map(|&(_, _, gate)| gate).collect();
        let cone = Cones::new(circuit).of(wanted.iter().copied().chain([circuit.terminal]));
        Self {
            circuit,
            needs,
            brings,
            users,
            free,
            wanted,
            cone,
            steps: vec![NEVER; 2 * circuit.next.len()],
            n_missing: vec![0; n_moves],
            reached: Vec::new(),
            costs: vec![[0; 2]; circuit.n_gates()],
        }
    }

    /// Returns a lower bound of the number of steps to the goal; `None` if it cannot be reached.
    pub fn at_least(&mut self, state: &BitSet) -> Option<u32> {
        self.relax(state);
        self.cost(u32::max)
    }

    /// Returns an estimate of the number of steps to the goal, mostly too large; `None` if it
    /// cannot be reached.
    pub fn estimate(&mut self, state: &BitSet) -> Option<u32> {
        self.relax(state);
        self.cost(u32::saturating_add)
    }

    /// Computes the steps to each literal.
    fn relax(&mut self, state: &BitSet) {
        self.steps.fill(NEVER);
        self.reached.clear();
        for fluent in 0..self.circuit.next.len() {
            let literal = 2 * fluent + usize::from(state.contains(fluent));
            self.steps[literal] = 0;
            self.reached.push(literal as u32);
        }
        for &literal in &self.free {
            if self.steps[literal as usize] == NEVER {
                self.steps[literal as usize] = 0;
                self.reached.push(literal);
            }
        }
        for (idx, needs) in self.needs.iter().enumerate() {
            self.n_missing[idx] = needs.len() as u32;
            if needs.is_empty() {
                bring(&self.brings[idx], 1, &mut self.steps, &mut self.reached);
            }
        }
        // Literals are in the order of their steps, because a move brings all of its literals one
        // step after the last one it needs.
        let mut next = 0;
        while let Some(&literal) = self.reached.get(next) {
            next += 1;
            let steps = self.steps[literal as usize];
            for &idx in &self.users[literal as usize] {
                self.n_missing[idx as usize] -= 1;
                if self.n_missing[idx as usize] == 0 {
                    let brings = &self.brings[idx as usize];
                    bring(brings, steps + 1, &mut self.steps, &mut self.reached);
                }
            }
        }
    }

    /// Returns the cost of the end with the goal, where `join` gives the cost of a conjunction.
    fn cost(&mut self, join: impl Fn(u32, u32) -> u32) -> Option<u32> {
        for &id in &self.cone {
            let parts = |inputs: &[GateId], costs: &[[u32; 2]], value: usize| {
                let of_inputs = inputs.iter().map(|input| costs[input.index()][value]);
                let any = of_inputs.clone().min().unwrap_or(NEVER);
                (of_inputs.fold(0, &join), any)
            };
            self.costs[id.index()] = match self.circuit.gate(id) {
                Gate::Constant(value) => {
                    [if value { NEVER } else { 0 }, if value { 0 } else { NEVER }]
                }
                Gate::Fluent(fluent) => {
                    [self.steps[2 * fluent.index()], self.steps[2 * fluent.index() + 1]]
                }
                Gate::Not(input) => {
                    let [no, yes] = self.costs[input.index()];
                    [yes, no]
                }
                Gate::And(inputs) => {
                    [parts(inputs, &self.costs, 0).1, parts(inputs, &self.costs, 1).0]
                }
                Gate::Or(inputs) => {
                    [parts(inputs, &self.costs, 0).0, parts(inputs, &self.costs, 1).1]
                }
                Gate::Move(_) | Gate::Feedback => {
                    unreachable!("the end depends on no move, and the circuit has no loops")
                }
            };
        }
        let goal = self.wanted.iter().map(|gate| self.costs[gate.index()][1]).min()?;
        let cost = join(goal, self.costs[self.circuit.terminal.index()][1]);
        (cost != NEVER).then_some(cost)
    }
}

/// Reaches literals that were not reached before.
fn bring(literals: &[u32], at: u32, steps: &mut [u32], reached: &mut Vec<u32>) {
    for &literal in literals {
        if steps[literal as usize] == NEVER {
            steps[literal as usize] = at;
            reached.push(literal);
        }
    }
}

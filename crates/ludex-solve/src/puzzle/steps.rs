//! The steps of a play as clauses, added one after the other.
//!
//! The circuit of the game is copied for each step; a fluent of the next step *is* the gate that
//! decides it, so what stays as it was needs no clause. The initial state is known, and everything
//! that follows from it is folded away: fluents that no move influences, cells that no move can
//! reach in so few steps, moves that cannot be legal yet. Equal gates of all steps are one.
//!
//! Invariant: with `running[t]` true, the literals of the state after `t` steps describe a play of
//! `t` steps, none of whose states before the last is terminal; every such play satisfies the
//! clauses. While it is false, later steps are without meaning.

use ludex_base::{BitSet, Deadline, FluentId, MoveId, StopReason};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_encode::Group;
use rustc_hash::FxHashMap;

use super::lanes::Cones;
use crate::sat::{SatSolver, new_solver};

/// The literal that is always true.
const TRUE: i32 = 1;
/// Members of a set of which at most one holds, up to which every pair gets a clause.
const MAX_PAIRS: usize = 4;
/// About the memory of a literal in a clause, in the solver and in the table of gates.
const BYTES_OF_LITERAL: u64 = 24;

/// Plays of a puzzle as clauses.
pub(super) struct Steps<'a> {
    circuit: &'a Circuit,
    groups: &'a [Group],
    solver: Box<dyn SatSolver>,
    n_vars: i32,
    n_literals: u64,
    /// The gates that have a literal, by their inputs.
    conjunctions: FxHashMap<Box<[i32]>, i32>,
    /// For each number of steps, the literals of the gates that say what the state is: whether it
    /// is terminal, its goals, and what is legal.
    states: Vec<State>,
    /// Gates that depend on the state alone and are needed in every step, and the others.
    of_state: Vec<GateId>,
    of_moves: Vec<GateId>,
    /// The literals of the gates of the step in hand.
    gates: Vec<i32>,
}

/// The state after some steps.
struct State {
    /// Whether the play has gone on until here.
    running: i32,
    fluents: Vec<i32>,
    terminal: i32,
    /// For each goal of the circuit, whether it holds.
    goals: Vec<i32>,
    /// For each move, whether it is played in this state.
    moves: Vec<i32>,
}

impl<'a> Steps<'a> {
    /// Creates the clauses of a state of a circuit without loops, and of no steps.
    pub fn new(circuit: &'a Circuit, groups: &'a [Group], state: &BitSet) -> Self {
        let goals = circuit.goals.iter().map(|&(_, _, gate)| gate);
        let of_state: Vec<GateId> = Cones::new(circuit)
            .of(goals.chain([circuit.terminal]).chain(circuit.legal.iter().copied()));
        let all = Cones::new(circuit).of(circuit.next.iter().copied());
        let of_moves = all.into_iter().filter(|gate| of_state.binary_search(gate).is_err());
        let mut steps = Self {
            circuit,
            groups,
            solver: new_solver(),
            n_vars: TRUE,
            n_literals: 0,
            conjunctions: FxHashMap::default(),
            states: Vec::new(),
            of_moves: of_moves.collect(),
            of_state,
            gates: vec![-TRUE; circuit.n_gates()],
        };
        steps.add_clause(&[TRUE]);
        let n_fluents = circuit.next.len();
        let fluents = (0..n_fluents).map(|idx| known(state.contains(idx))).collect();
        steps.add_state(fluents, TRUE);
        steps
    }

    /// Returns the number of steps.
    pub fn n_steps(&self) -> usize {
        self.states.len() - 1
    }

    /// Returns about how many bytes the clauses take.
    pub fn n_bytes(&self) -> u64 {
        self.n_literals * BYTES_OF_LITERAL
    }

    /// Returns the conflicts that the solver has met.
    pub fn n_conflicts(&self) -> u64 {
        self.solver.n_conflicts()
    }

    /// Adds a step.
    pub fn add_step(&mut self) {
        let last = &self.states[self.n_steps()];
        let (before, is_over) = (last.running, last.terminal);
        let legal: Vec<i32> =
            self.circuit.legal.iter().map(|gate| self.gates[gate.index()]).collect();
        let running = self.new_var();
        self.add_clause(&[-running, before]);
        self.add_clause(&[-running, -is_over]);
        // Step 1. While the play goes on, one legal move is played.
        let mut moves = Vec::with_capacity(legal.len());
        for legal in legal {
            if legal == -TRUE {
                moves.push(-TRUE);
                continue;
            }
            let played = self.new_var();
            self.add_clause(&[-played, legal]);
            moves.push(played);
        }
        let possible: Vec<i32> = moves.iter().copied().filter(|&played| played != -TRUE).collect();
        let mut some = possible.clone();
        some.push(-running);
        self.add_clause(&some);
        self.at_most_one(&possible, TRUE);
        let last = self.n_steps();
        self.states[last].moves = moves;
        // Step 2. The next state.
        let gates = std::mem::take(&mut self.of_moves);
        self.evaluate(&gates, last);
        self.of_moves = gates;
        let next = &self.circuit.next;
        let fluents = next.iter().map(|gate| self.gates[gate.index()]).collect();
        self.add_state(fluents, running);
        // Step 3. Groups follow from the rules; with their clauses the solver need not find out.
        let groups = self.groups;
        for group in groups {
            let fluents = &self.states[self.n_steps()].fluents;
            let of = |fluent: &FluentId| fluents[fluent.index()];
            let members: Vec<i32> =
                group.fluents.iter().map(of).filter(|&it| it != -TRUE).collect();
            self.at_most_one(&members, running);
        }
    }

    /// Looks for a play of at most all the steps that ends with one of some goals, given by their
    /// places in the circuit. Returns its moves.
    ///
    /// # Errors
    /// At the deadline, and after `max_conflicts` conflicts.
    pub fn find_play(
        &mut self,
        goals: &[usize],
        deadline: &Deadline,
        max_conflicts: u64,
    ) -> Result<Option<Vec<MoveId>>, StopReason> {
        let mut ends = Vec::with_capacity(self.states.len());
        for idx in 0..self.states.len() {
            let state = &self.states[idx];
            let (running, terminal) = (state.running, state.terminal);
            let goals: Vec<i32> = goals.iter().map(|&goal| -state.goals[goal]).collect();
            let has_goal = -self.conjunction(goals);
            ends.push(self.conjunction(vec![running, terminal, has_goal]));
        }
        let is_found = -self.conjunction(ends.iter().map(|&end| -end).collect());
        if !self.solver.solve(&[is_found], deadline, max_conflicts)? {
            return Ok(None);
        }
        let n_steps = ends.iter().position(|&end| self.solver.holds(end));
        let n_steps = n_steps.expect("one of the ends holds");
        let played_in = |state: &State| {
            let played = state.moves.iter().position(|&played| self.solver.holds(played));
            MoveId::new(played.expect("a play that goes on has a move"))
        };
        Ok(Some(self.states[..n_steps].iter().map(played_in).collect()))
    }

    /// Adds the state after the last step.
    fn add_state(&mut self, fluents: Vec<i32>, running: i32) {
        let state = State { running, fluents, terminal: 0, goals: Vec::new(), moves: Vec::new() };
        self.states.push(state);
        let idx = self.n_steps();
        let gates = std::mem::take(&mut self.of_state);
        self.evaluate(&gates, idx);
        self.of_state = gates;
        let literal = |gate: GateId| self.gates[gate.index()];
        self.states[idx].terminal = literal(self.circuit.terminal);
        let goals = self.circuit.goals.iter().map(|&(_, _, gate)| literal(gate)).collect();
        self.states[idx].goals = goals;
    }

    /// Finds the literals of gates, which are ascending, in a state.
    fn evaluate(&mut self, gates: &[GateId], state: usize) {
        let circuit = self.circuit;
        for &id in gates {
            let literal = match circuit.gate(id) {
                Gate::Constant(value) => known(value),
                Gate::Fluent(fluent) => self.states[state].fluents[fluent.index()],
                Gate::Move(played) => self.states[state].moves[played.index()],
                Gate::Not(input) => -self.gates[input.index()],
                Gate::And(inputs) => {
                    self.conjunction(inputs.iter().map(|it| self.gates[it.index()]).collect())
                }
                Gate::Or(inputs) => {
                    -self.conjunction(inputs.iter().map(|it| -self.gates[it.index()]).collect())
                }
                Gate::Feedback => unreachable!("the circuit has no loops"),
            };
            self.gates[id.index()] = literal;
        }
    }

    /// Returns a literal that is true if and only if all of some literals are.
    fn conjunction(&mut self, mut inputs: Vec<i32>) -> i32 {
        inputs.retain(|&input| input != TRUE);
        inputs.sort_unstable_by_key(|&input| (input.abs(), input));
        inputs.dedup();
        // A literal and its negation are now neighbours.
        if inputs.contains(&-TRUE) || inputs.windows(2).any(|pair| pair[0] == -pair[1]) {
            return -TRUE;
        }
        match inputs[..] {
            [] => return TRUE,
            [input] => return input,
            _ => {}
        }
        if let Some(&known) = self.conjunctions.get(&inputs[..]) {
            return known;
        }
        let all = self.new_var();
        for &input in &inputs {
            self.add_clause(&[-all, input]);
        }
        let mut clause: Vec<i32> = inputs.iter().map(|&input| -input).collect();
        clause.push(all);
        self.add_clause(&clause);
        self.n_literals += inputs.len() as u64;
        self.conjunctions.insert(inputs.into(), all);
        all
    }

    /// Says that at most one of some literals is true, if `when` is.
    ///
    /// Large sets are divided into small ones, and of the small ones at most one has a true member.
    fn at_most_one(&mut self, members: &[i32], when: i32) {
        let mut members = members.to_vec();
        while members.len() > 1 {
            let mut above = Vec::new();
            let size = if members.len() <= MAX_PAIRS + 1 { members.len() } else { MAX_PAIRS };
            for part in members.chunks(size) {
                for (idx, &a) in part.iter().enumerate() {
                    for &b in &part[idx + 1..] {
                        self.add_clause(&[-when, -a, -b]);
                    }
                }
                if let &[only] = part {
                    above.push(only);
                } else {
                    let some = self.new_var();
                    for &member in part {
                        self.add_clause(&[-member, some]);
                    }
                    above.push(some);
                }
            }
            members = above;
        }
    }

    fn new_var(&mut self) -> i32 {
        self.n_vars += 1;
        self.n_vars
    }

    fn add_clause(&mut self, literals: &[i32]) {
        self.n_literals += literals.len() as u64;
        self.solver.add_clause(literals);
    }
}

fn known(value: bool) -> i32 {
    if value { TRUE } else { -TRUE }
}

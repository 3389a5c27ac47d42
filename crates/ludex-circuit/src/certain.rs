//! Facts that are certain about a hidden state, derived from the rules alone.
//!
//! A gate is true, false or unknown. The role's observations, and the facts that were certain
//! before, give some gates their values. Values propagate to the gates that use them and down to
//! their inputs until nothing more follows (unit propagation: Dowling and Gallier, *Linear-Time
//! Algorithms for Testing the Satisfiability of Propositional Horn Formulae*, 1984). The values
//! derived for the next state are certain there. Nothing is sampled, and a step looks at each input
//! of a gate a few times.
//!
//! Invariant: a fact that is called certain holds in every state consistent with the observations.
//! The converse does not hold. Unit propagation misses facts about several gates that are unknown
//! one by one, such as "one of the two", and facts that are false only because a loop of rules
//! derives nothing without support from outside.

use std::ops::Range;

use ludex_base::{FluentId, MoveId, PerceptId, RoleId};

use crate::circuit::{Circuit, Gate, GateId};

/// The facts that are certain for one role at some step of a match.
#[derive(Clone, Debug)]
pub struct Certain {
    role: RoleId,
    wires: Wires,
    /// By gate.
    values: Vec<Option<bool>>,
    /// By gate, how many of its inputs have not propagated their values yet.
    n_open: Vec<u32>,
    /// Gates whose values are not propagated yet.
    queue: Vec<GateId>,
    /// By fluent, in the current state.
    state: Vec<Option<bool>>,
    /// By move, whether it is played in the next step.
    played: Vec<Option<bool>>,
}

/// The wiring of the circuit, which never changes.
#[derive(Clone, Debug)]
struct Wires {
    /// By gate, the end of its readers in the list.
    ends: Vec<u32>,
    users: Vec<GateId>,
    n_inputs: Vec<u32>,
    /// By gate: for a feedback gate, the gate that it copies.
    source: Vec<Option<GateId>>,
    /// By fluent and by move, its gate if there is one.
    fluents: Vec<Option<GateId>>,
    moves: Vec<Option<GateId>>,
    /// By role, the range of its moves: moves are sorted by role.
    moves_of: Vec<Range<usize>>,
}

/// The observations contradict what was certain.
struct Contradiction;

impl Certain {
    /// Starts at the beginning of a match, when everybody knows the state.
    pub fn new(circuit: &Circuit, role: RoleId) -> Self {
        let wires = Wires::new(circuit);
        let n_fluents = circuit.vocabulary.fluents.len();
        let state = (0..n_fluents).map(|idx| Some(circuit.init.contains(idx))).collect();
        let mut certain = Self {
            role,
            values: Vec::new(),
            n_open: Vec::new(),
            queue: Vec::new(),
            state,
            played: Vec::new(),
            wires,
        };
        certain.arrive(circuit);
        certain
    }

    /// Returns whether a fluent is true; `None` if that is not certain.
    ///
    /// Facts that follow only from the game not being over are left out, and nothing is certain
    /// after a step that ends the game.
    pub fn holds(&self, fluent: FluentId) -> Option<bool> {
        self.state[fluent.index()]
    }

    /// Lists the role's moves, each with whether it is legal; `None` if that is not certain.
    pub fn legal_moves(&self, circuit: &Circuit) -> impl Iterator<Item = (MoveId, Option<bool>)> {
        let own = self.wires.moves_of[self.role.index()].clone();
        own.map(|idx| (MoveId::new(idx), self.values[circuit.legal[idx].index()]))
    }

    /// Follows a step by the role's observation of it: its move and its percepts, ascending; `None`
    /// if it observed nothing. `circuit` is the one given to [`new`](Self::new).
    ///
    /// If the observation contradicts what was certain, some step was missed, and nothing is
    /// certain afterwards.
    pub fn follow(&mut self, circuit: &Circuit, observed: Option<(MoveId, &[PerceptId])>) {
        let is_possible = self.take_in(circuit, observed).is_ok();
        for (fluent, next) in self.state.iter_mut().zip(&circuit.next) {
            *fluent = self.values[next.index()].filter(|_| is_possible);
        }
        self.arrive(circuit);
    }

    /// Propagates from the current state, in which the game is not over.
    fn arrive(&mut self, circuit: &Circuit) {
        if self.begin(circuit).is_err() {
            self.state.fill(None);
            // A contradiction without observations means that the game is over before it begins.
            let _ = self.begin(circuit);
        }
    }

    fn begin(&mut self, circuit: &Circuit) -> Result<(), Contradiction> {
        self.values.clear();
        self.values.resize(circuit.n_gates(), None);
        self.n_open.clone_from(&self.wires.n_inputs);
        self.played.clear();
        self.played.resize(circuit.legal.len(), None);
        self.queue.clear();
        for idx in 0..self.state.len() {
            if let (Some(gate), Some(value)) = (self.wires.fluents[idx], self.state[idx]) {
                self.set(gate, value)?;
            }
        }
        for id in circuit.gate_ids() {
            if let Gate::Constant(value) = circuit.gate(id) {
                self.set(id, value)?;
            }
        }
        self.set(circuit.terminal, false)?;
        self.settle(circuit)
    }

    fn take_in(
        &mut self,
        circuit: &Circuit,
        observed: Option<(MoveId, &[PerceptId])>,
    ) -> Result<(), Contradiction> {
        let Some((own, percepts)) = observed else { return Ok(()) };
        self.play(own, true)?;
        for (idx, (role, _)) in circuit.vocabulary.percepts.iter().enumerate() {
            if *role == self.role {
                self.set(circuit.sees[idx], percepts.binary_search(&PerceptId::new(idx)).is_ok())?;
            }
        }
        self.settle(circuit)
    }

    /// Sets the value of a gate.
    fn set(&mut self, gate: GateId, value: bool) -> Result<(), Contradiction> {
        match self.values[gate.index()] {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Contradiction),
            None => {
                self.values[gate.index()] = Some(value);
                self.queue.push(gate);
                Ok(())
            }
        }
    }

    /// Propagates values until nothing more follows.
    fn settle(&mut self, circuit: &Circuit) -> Result<(), Contradiction> {
        loop {
            while let Some(gate) = self.queue.pop() {
                let value = self.values[gate.index()].expect("queued gates have values");
                self.propagate_down(circuit, gate, value)?;
                self.propagate_up(circuit, gate, value)?;
            }
            self.match_moves(circuit)?;
            if self.queue.is_empty() {
                return Ok(());
            }
        }
    }

    /// Propagates the value of a gate to its inputs.
    fn propagate_down(
        &mut self,
        circuit: &Circuit,
        gate: GateId,
        value: bool,
    ) -> Result<(), Contradiction> {
        match circuit.gate(gate) {
            Gate::Constant(constant) if constant != value => Err(Contradiction),
            Gate::Constant(_) | Gate::Fluent(_) => Ok(()),
            Gate::Move(id) => self.play(id, value),
            Gate::Feedback => match self.wires.source[gate.index()] {
                Some(source) => self.set(source, value),
                None => Ok(()),
            },
            Gate::Not(input) => self.set(input, !value),
            Gate::And(inputs) if value => inputs.iter().try_for_each(|&id| self.set(id, true)),
            Gate::Or(inputs) if !value => inputs.iter().try_for_each(|&id| self.set(id, false)),
            Gate::And(inputs) | Gate::Or(inputs) => self.find_reason(gate, inputs, value),
        }
    }

    /// Propagates the value of a gate to the gates that use it.
    fn propagate_up(
        &mut self,
        circuit: &Circuit,
        gate: GateId,
        value: bool,
    ) -> Result<(), Contradiction> {
        let start = if gate.index() == 0 { 0 } else { self.wires.ends[gate.index() - 1] };
        for at in start..self.wires.ends[gate.index()] {
            let user = self.wires.users[at as usize];
            self.n_open[user.index()] -= 1;
            let (inputs, deciding) = match circuit.gate(user) {
                Gate::Not(_) => {
                    self.set(user, !value)?;
                    continue;
                }
                Gate::And(inputs) => (inputs, false),
                Gate::Or(inputs) => (inputs, true),
                // Only a feedback gate is left; its one input is its source.
                _ => {
                    self.set(user, value)?;
                    continue;
                }
            };
            match self.values[user.index()] {
                _ if value == deciding => self.set(user, deciding)?,
                None if self.n_open[user.index()] == 0 => self.set(user, !deciding)?,
                Some(known) if known == deciding => self.find_reason(user, inputs, deciding)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// If one input must have decided a gate and only one is left, sets that input.
    fn find_reason(
        &mut self,
        gate: GateId,
        inputs: &[GateId],
        deciding: bool,
    ) -> Result<(), Contradiction> {
        if self.n_open[gate.index()] > 1 {
            return Ok(());
        }
        let mut open = None;
        for &input in inputs {
            match self.values[input.index()] {
                Some(value) if value == deciding => return Ok(()),
                Some(_) => {}
                None if open.is_some() => return Ok(()),
                None => open = Some(input),
            }
        }
        self.set(open.ok_or(Contradiction)?, deciding)
    }

    /// Sets whether a move is played; a role plays exactly one move.
    fn play(&mut self, id: MoveId, value: bool) -> Result<(), Contradiction> {
        match self.played[id.index()] {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Contradiction),
            None => {
                self.played[id.index()] = Some(value);
                self.wires.moves[id.index()].map_or(Ok(()), |gate| self.set(gate, value))
            }
        }
    }

    /// Applies the rules of joint moves: played moves are legal, and each role plays one. A role
    /// that has no moves at all is left out.
    fn match_moves(&mut self, circuit: &Circuit) -> Result<(), Contradiction> {
        (0..self.wires.moves_of.len()).try_for_each(|role| self.match_moves_of(circuit, role))
    }

    fn match_moves_of(&mut self, circuit: &Circuit, role: usize) -> Result<(), Contradiction> {
        let moves = self.wires.moves_of[role].clone();
        let mut played = None;
        for id in moves.clone().map(MoveId::new) {
            let legal = circuit.legal[id.index()];
            match (self.played[id.index()], self.values[legal.index()]) {
                (Some(true), _) => {
                    self.set(legal, true)?;
                    if played.replace(id).is_some() {
                        return Err(Contradiction);
                    }
                }
                (None, Some(false)) => self.play(id, false)?,
                _ => {}
            }
        }
        let mut open = moves.clone().filter(|&idx| self.played[idx].is_none()).map(MoveId::new);
        match (played, open.next(), open.next()) {
            (Some(_), Some(_), _) => {
                let mut others = moves.map(MoveId::new).filter(|id| Some(*id) != played);
                others.try_for_each(|id| self.play(id, false))
            }
            (None, Some(only), None) => {
                self.play(only, true)?;
                self.set(circuit.legal[only.index()], true)
            }
            _ => Ok(()),
        }
    }
}

impl Wires {
    fn new(circuit: &Circuit) -> Self {
        let n_gates = circuit.n_gates();
        let mut source = vec![None; n_gates];
        for (to, from) in circuit.loops.iter().flat_map(|it| &it.feedback) {
            source[to.index()] = Some(*from);
        }
        let inputs_of =
            |id: GateId| circuit.inputs(id).iter().chain(source[id.index()].as_ref()).copied();
        let mut ends = vec![0; n_gates];
        let mut n_inputs = vec![0; n_gates];
        for id in circuit.gate_ids() {
            for input in inputs_of(id) {
                ends[input.index()] += 1;
                n_inputs[id.index()] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            // `end` is the start of this gate's list; filling the list advances it to the end.
            (*end, sum) = (sum, sum + *end);
        }
        let mut users = vec![GateId::new(0); sum as usize];
        for id in circuit.gate_ids() {
            for input in inputs_of(id) {
                users[ends[input.index()] as usize] = id;
                ends[input.index()] += 1;
            }
        }
        let vocabulary = &circuit.vocabulary;
        let mut fluents = vec![None; vocabulary.fluents.len()];
        let mut moves = vec![None; vocabulary.moves.len()];
        for id in circuit.gate_ids() {
            match circuit.gate(id) {
                Gate::Fluent(fluent) => fluents[fluent.index()] = Some(id),
                Gate::Move(played) => moves[played.index()] = Some(id),
                _ => {}
            }
        }
        let end = |role: usize| vocabulary.moves.partition_point(|it| it.0.index() < role);
        let moves_of = (0..vocabulary.roles.len()).map(|role| end(role)..end(role + 1)).collect();
        Self { ends, users, n_inputs, source, fluents, moves, moves_of }
    }
}

//! What is certain of a state that a role does not see, by the rules alone.
//!
//! A gate is true, false or not known. What the role is told, and what was certain of the state
//! before, gives some gates their values; these are handed on to the gates that use them and down to
//! their inputs until nothing more follows (unit propagation: Dowling and Gallier, *Linear-Time
//! Algorithms for Testing the Satisfiability of Propositional Horn Formulae*, 1984). What follows
//! for the next state is certain there. Nothing is drawn, and each input of a gate is looked at a few
//! times in a step.
//!
//! Invariant: whatever is called certain holds in every state that agrees with what was told. Not all
//! that holds there is found: two things that are not known by themselves, but together, are lost,
//! and so is that what goes around in a loop of rules is not founded.

use std::ops::Range;

use ludex_base::{FluentId, MoveId, PerceptId, RoleId};

use crate::circuit::{Circuit, Gate, GateId};

/// What is certain for one role at some step of a match.
#[derive(Clone, Debug)]
pub struct Certain {
    role: RoleId,
    wires: Wires,
    /// By gate.
    values: Vec<Option<bool>>,
    /// By gate, how many inputs have not told their values yet.
    n_open: Vec<u32>,
    /// Gates whose values are not handed on yet.
    queue: Vec<GateId>,
    /// By fluent, in the state that was reached.
    state: Vec<Option<bool>>,
    /// By move, whether it is played in the step that follows.
    played: Vec<Option<bool>>,
}

/// What does not change.
#[derive(Clone, Debug)]
struct Wires {
    /// By gate, where the gates that use it end in the list.
    ends: Vec<u32>,
    users: Vec<GateId>,
    n_inputs: Vec<u32>,
    /// By gate: of a feedback gate, the gate that it copies.
    source: Vec<Option<GateId>>,
    /// By fluent and by move, its gate if there is one.
    fluents: Vec<Option<GateId>>,
    moves: Vec<Option<GateId>>,
    /// By role, where its moves begin and end: they are sorted by role.
    moves_of: Vec<Range<usize>>,
}

/// What was told can't be.
struct Clash;

impl Certain {
    /// At the beginning, when everybody knows the state.
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

    /// Whether a fluent is true; `None` if that is not certain. What follows only from the game not being
    /// over is not told, and after a step that ends it nothing is.
    pub fn holds(&self, fluent: FluentId) -> Option<bool> {
        self.state[fluent.index()]
    }

    /// The role's moves, each with whether it is legal; `None` if that is not certain.
    pub fn legal_moves(&self, circuit: &Circuit) -> impl Iterator<Item = (MoveId, Option<bool>)> {
        let own = self.wires.moves_of[self.role.index()].clone();
        own.map(|idx| (MoveId::new(idx), self.values[circuit.legal[idx].index()]))
    }

    /// Takes in a step by what the role observed of it, its move and its percepts, ascending; `None` if it
    /// observed nothing. `circuit` is the one that this was made for.
    ///
    /// If that contradicts what was certain, some step was missed, and nothing is certain after it.
    pub fn follow(&mut self, circuit: &Circuit, observed: Option<(MoveId, &[PerceptId])>) {
        let is_possible = self.take_in(circuit, observed).is_ok();
        for (fluent, next) in self.state.iter_mut().zip(&circuit.next) {
            *fluent = self.values[next.index()].filter(|_| is_possible);
        }
        self.arrive(circuit);
    }

    /// What follows from the state, in which the game is not over.
    fn arrive(&mut self, circuit: &Circuit) {
        if self.begin(circuit).is_err() {
            self.state.fill(None);
            // What contradicts itself from nothing is a game that ends before it begins.
            let _ = self.begin(circuit);
        }
    }

    fn begin(&mut self, circuit: &Circuit) -> Result<(), Clash> {
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
    ) -> Result<(), Clash> {
        let Some((own, percepts)) = observed else { return Ok(()) };
        self.play(own, true)?;
        for (idx, (role, _)) in circuit.vocabulary.percepts.iter().enumerate() {
            if *role == self.role {
                self.set(circuit.sees[idx], percepts.binary_search(&PerceptId::new(idx)).is_ok())?;
            }
        }
        self.settle(circuit)
    }

    /// Gives a gate its value.
    fn set(&mut self, gate: GateId, value: bool) -> Result<(), Clash> {
        match self.values[gate.index()] {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Clash),
            None => {
                self.values[gate.index()] = Some(value);
                self.queue.push(gate);
                Ok(())
            }
        }
    }

    /// Hands values on until nothing more follows.
    fn settle(&mut self, circuit: &Circuit) -> Result<(), Clash> {
        loop {
            while let Some(gate) = self.queue.pop() {
                let value = self.values[gate.index()].expect("it was queued with it");
                self.hand_down(circuit, gate, value)?;
                self.hand_on(circuit, gate, value)?;
            }
            self.match_moves(circuit)?;
            if self.queue.is_empty() {
                return Ok(());
            }
        }
    }

    /// To the inputs.
    fn hand_down(&mut self, circuit: &Circuit, gate: GateId, value: bool) -> Result<(), Clash> {
        match circuit.gate(gate) {
            Gate::Constant(constant) if constant != value => Err(Clash),
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

    /// To the gates that use it.
    fn hand_on(&mut self, circuit: &Circuit, gate: GateId, value: bool) -> Result<(), Clash> {
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
                // A feedback gate has its source for an input, and nothing else has any.
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

    /// One of the inputs must have decided a gate: if only one is left, it has.
    fn find_reason(
        &mut self,
        gate: GateId,
        inputs: &[GateId],
        deciding: bool,
    ) -> Result<(), Clash> {
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
        self.set(open.ok_or(Clash)?, deciding)
    }

    /// A role plays one move.
    fn play(&mut self, id: MoveId, value: bool) -> Result<(), Clash> {
        match self.played[id.index()] {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Clash),
            None => {
                self.played[id.index()] = Some(value);
                self.wires.moves[id.index()].map_or(Ok(()), |gate| self.set(gate, value))
            }
        }
    }

    /// What is played is legal, and each role plays one move; of one that has no move at all nothing is
    /// said.
    fn match_moves(&mut self, circuit: &Circuit) -> Result<(), Clash> {
        (0..self.wires.moves_of.len()).try_for_each(|role| self.match_moves_of(circuit, role))
    }

    fn match_moves_of(&mut self, circuit: &Circuit, role: usize) -> Result<(), Clash> {
        let moves = self.wires.moves_of[role].clone();
        let mut played = None;
        for id in moves.clone().map(MoveId::new) {
            let legal = circuit.legal[id.index()];
            match (self.played[id.index()], self.values[legal.index()]) {
                (Some(true), _) => {
                    self.set(legal, true)?;
                    if played.replace(id).is_some() {
                        return Err(Clash);
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
            // Where the list of this gate begins; it is moved to its end as the list is filled.
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

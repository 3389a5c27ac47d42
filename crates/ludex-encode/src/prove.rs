//! Proves for one step that some gates cannot have some values at once.
//!
//! The prover assumes that the state is not terminal, that each role plays exactly one legal move,
//! and that the given [`Group`]s hold in the state. It searches for a contradiction: a gate with a
//! required value propagates it down to its inputs, a choice between inputs waits until only one is
//! left, and if nothing else helps, the prover tries the inputs of the gate with the fewest open
//! ones.
//!
//! Invariant: "contradictory" is always right. "Consistent" only means that no contradiction was
//! found within the limits.

use ludex_base::{Deadline, FluentId, MoveId};
use ludex_circuit::{Circuit, Gate, GateId};

/// Fluents of which at most one is true, in every reachable state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The fluents, ascending.
    pub fluents: Vec<FluentId>,
    /// Whether exactly one is true.
    pub is_exact: bool,
}

/// The result of checking some requirements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// They cannot hold together.
    Contradictory,
    /// No contradiction was found within the limits.
    Consistent,
}

use Finding::{Consistent, Contradictory};

/// The maximal number of work steps for one question before it is left open.
const MAX_STEPS: u64 = 400_000;
/// Number of choices tried between two checks of the deadline.
const CHOICES_BETWEEN: u64 = 8;
/// The maximal depth below a gate to which its value is looked up.
const MAX_DEPTH: u32 = 3;

/// Searches for contradictions in one step of a game.
pub struct Prover<'a> {
    circuit: &'a Circuit,
    groups: Vec<Group>,
    /// Whether each group may be used.
    in_use: Vec<bool>,
    /// The groups of each fluent.
    groups_of: Vec<Vec<u32>>,
    /// The role number of each move, and the number of moves of each role.
    role_of: Vec<u32>,
    n_moves_of: Vec<u32>,
    facts: Facts,
    /// Required values to propagate down.
    queue: Vec<(GateId, bool)>,
    /// Fluents whose values follow from groups.
    decided: Vec<(FluentId, bool)>,
    /// Work steps left for this question, and for later ones.
    budget: u64,
    reserve: u64,
    /// The time after which no more work is done.
    deadline: Deadline,
    is_late: bool,
    n_choices: u64,
    /// The groups used since [`Prover::take_used`].
    used: Vec<u32>,
    is_used: Vec<bool>,
    /// The length of the trail of facts that hold for every question; `None` if they are
    /// contradictory.
    base: Option<usize>,
}

/// The known facts, with a trail to undo them.
struct Facts {
    gates: Vec<Option<bool>>,
    fluents: Vec<Option<bool>>,
    /// The move of each role, if known.
    played: Vec<Option<MoveId>>,
    is_excluded: Vec<bool>,
    n_excluded: Vec<u32>,
    /// Number of false fluents of each group.
    n_false: Vec<u32>,
    /// True disjunctions and false conjunctions, one of whose inputs must have the same value.
    /// False conjunctions are many, and most are easily satisfied, so they are tried last.
    choices: Vec<GateId>,
    denials: Vec<GateId>,
    trail: Vec<Fact>,
}

#[derive(Clone, Copy)]
enum Fact {
    Gate(GateId),
    Fluent(FluentId),
    Played(u32),
    Excluded(MoveId),
    Choice,
    Denial,
}

/// The facts are contradictory.
struct Clash;

/// The next step for gates that one of their inputs must decide.
enum Next {
    /// One of them has no open input left.
    Contradiction,
    /// One of them has a single open input left, which is queued.
    Forced,
    /// The inputs of this gate are to be tried.
    Choice(GateId),
    /// All are decided, or the budget is used up.
    Nothing,
}

impl<'a> Prover<'a> {
    /// Creates a prover for a circuit without loops that does at most `budget` work steps in total,
    /// and none after the deadline.
    pub fn new(circuit: &'a Circuit, groups: Vec<Group>, budget: u64, deadline: &Deadline) -> Self {
        let vocabulary = &circuit.vocabulary;
        let mut groups_of = vec![Vec::new(); vocabulary.fluents.len()];
        for (idx, group) in groups.iter().enumerate() {
            group.fluents.iter().for_each(|fluent| groups_of[fluent.index()].push(idx as u32));
        }
        let role_of: Vec<u32> =
            vocabulary.moves.iter().map(|(role, _)| role.index() as u32).collect();
        let mut n_moves_of = vec![0; vocabulary.roles.len()];
        role_of.iter().for_each(|&role| n_moves_of[role as usize] += 1);
        let facts = Facts {
            gates: vec![None; circuit.n_gates()],
            fluents: vec![None; vocabulary.fluents.len()],
            played: vec![None; vocabulary.roles.len()],
            is_excluded: vec![false; vocabulary.moves.len()],
            n_excluded: vec![0; vocabulary.roles.len()],
            n_false: vec![0; groups.len()],
            choices: Vec::new(),
            denials: Vec::new(),
            trail: Vec::new(),
        };
        let mut prover = Self {
            circuit,
            in_use: vec![false; groups.len()],
            is_used: vec![false; groups.len()],
            groups,
            groups_of,
            role_of,
            n_moves_of,
            facts,
            queue: Vec::new(),
            decided: Vec::new(),
            budget: u64::MAX,
            reserve: budget,
            deadline: deadline.clone(),
            is_late: false,
            n_choices: 0,
            used: Vec::new(),
            base: None,
        };
        prover.begin();
        prover
    }

    /// Adds the consequences of the game not being over.
    ///
    /// They are facts without need of a justification, so they give rise to no choices. They must
    /// not use groups, which may be given up later.
    fn begin(&mut self) {
        self.queue.push((self.circuit.terminal, false));
        let is_possible = self.propagate().is_ok();
        self.facts.choices.clear();
        self.facts.denials.clear();
        self.facts.trail.retain(|fact| !matches!(fact, Fact::Choice | Fact::Denial));
        self.base = is_possible.then_some(self.facts.trail.len());
        self.in_use.fill(true);
    }

    /// Stops assuming a group.
    pub fn give_up(&mut self, group: usize) {
        self.in_use[group] = false;
    }

    /// Stops assuming that one fluent of a group is true.
    pub fn give_up_exactness(&mut self, group: usize) {
        self.groups[group].is_exact = false;
    }

    /// Whether the work budget is used up.
    pub fn is_exhausted(&self) -> bool {
        self.reserve == 0
    }

    /// Whether the deadline ended the work. It is checked for every question and after every few
    /// choices.
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Stops all work if the deadline is reached.
    fn check_deadline(&mut self) {
        self.is_late |= self.deadline.reached();
        if self.is_late {
            (self.budget, self.reserve) = (0, 0);
        }
    }

    /// Returns the groups that proofs used since the last call.
    pub fn take_used(&mut self) -> Vec<u32> {
        self.used.iter().for_each(|&group| self.is_used[group as usize] = false);
        std::mem::take(&mut self.used)
    }

    /// Checks whether all gates of a list can have their values at once.
    pub fn check(&mut self, requirements: &[(GateId, bool)]) -> Finding {
        self.check_each(requirements, &[])
    }

    /// Checks whether all gates of a list can have their values while at least one gate of `others`
    /// is true; without others, only the list counts.
    pub fn check_each(&mut self, requirements: &[(GateId, bool)], others: &[GateId]) -> Finding {
        let Some(base) = self.base else { return Contradictory };
        self.check_deadline();
        self.budget = self.reserve.min(MAX_STEPS);
        self.reserve -= self.budget;
        self.queue.extend_from_slice(requirements);
        let finding = self.search(others);
        self.undo_to(base);
        self.reserve += self.budget;
        finding
    }

    /// Processes the queue, then the choices. The facts it adds stay.
    fn search(&mut self, others: &[GateId]) -> Finding {
        loop {
            self.n_choices += 1;
            if self.n_choices.is_multiple_of(CHOICES_BETWEEN) {
                self.check_deadline();
            }
            if self.propagate().is_err() {
                return Contradictory;
            }
            match self.next_choice(false) {
                Next::Contradiction => return Contradictory,
                Next::Forced => continue,
                Next::Choice(gate) => return self.try_inputs(gate, others),
                Next::Nothing => {}
            }
            if !others.is_empty() {
                return self.try_others(others);
            }
            match self.next_choice(true) {
                Next::Contradiction => return Contradictory,
                Next::Forced => continue,
                Next::Choice(gate) => return self.try_inputs(gate, others),
                Next::Nothing => return Consistent,
            }
        }
    }

    /// Finds the choice, or denial, with the fewest open inputs; if it has a single one, that input
    /// is queued.
    fn next_choice(&mut self, of_denials: bool) -> Next {
        let n = if of_denials { self.facts.denials.len() } else { self.facts.choices.len() };
        let (mut best, mut fewest) = (Next::Nothing, usize::MAX);
        for at in 0..n {
            let gate = if of_denials { self.facts.denials[at] } else { self.facts.choices[at] };
            match self.open_inputs(gate) {
                None => {}
                Some((0, _)) => return Next::Contradiction,
                Some((1, input)) => {
                    self.queue.push((input, self.wanted(gate)));
                    return Next::Forced;
                }
                Some((n_open, _)) if n_open < fewest => {
                    (best, fewest) = (Next::Choice(gate), n_open);
                }
                Some(_) => {}
            }
            if self.budget == 0 {
                return Next::Nothing;
            }
        }
        best
    }

    /// Tries the inputs of a gate that one of them must decide, one after the other.
    fn try_inputs(&mut self, gate: GateId, others: &[GateId]) -> Finding {
        let wanted = self.wanted(gate);
        let circuit = self.circuit;
        for &input in circuit.inputs(gate) {
            if self.value(input, MAX_DEPTH) == Some(!wanted) {
                continue;
            }
            if self.try_one(input, wanted, others) == Consistent {
                return Consistent;
            }
            // The input cannot have the wanted value, so the remaining attempts assume the
            // opposite.
            self.queue.push((input, !wanted));
            if self.propagate().is_err() {
                return Contradictory;
            }
        }
        Contradictory
    }

    fn try_others(&mut self, others: &[GateId]) -> Finding {
        for &other in others {
            if self.value(other, MAX_DEPTH) != Some(false)
                && self.try_one(other, true, &[]) == Consistent
            {
                return Consistent;
            }
        }
        Contradictory
    }

    fn try_one(&mut self, gate: GateId, value: bool, others: &[GateId]) -> Finding {
        if self.budget == 0 {
            return Consistent;
        }
        let mark = self.facts.trail.len();
        self.queue.clear();
        self.queue.push((gate, value));
        let finding = self.search(others);
        self.undo_to(mark);
        finding
    }

    /// Returns the value of an input that decides the gate.
    fn wanted(&self, gate: GateId) -> bool {
        matches!(self.circuit.gate(gate), Gate::Or(_))
    }

    /// Returns how many inputs may still decide a gate, and one of them, or `None` if an input
    /// decides it already.
    fn open_inputs(&mut self, gate: GateId) -> Option<(usize, GateId)> {
        let wanted = self.wanted(gate);
        let (mut n_open, mut open) = (0, gate);
        let circuit = self.circuit;
        for &input in circuit.inputs(gate) {
            match self.value(input, MAX_DEPTH) {
                Some(value) if value == wanted => return None,
                Some(_) => {}
                None => (n_open, open) = (n_open + 1, input),
            }
        }
        Some((n_open, open))
    }

    /// Returns the value of a gate if it follows from the facts, looking down to some depth.
    fn value(&mut self, gate: GateId, depth: u32) -> Option<bool> {
        self.budget = self.budget.saturating_sub(1);
        if let known @ Some(_) = self.facts.gates[gate.index()] {
            return known;
        }
        let circuit = self.circuit;
        let value = match circuit.gate(gate) {
            Gate::Constant(value) => Some(value),
            Gate::Fluent(fluent) => self.facts.fluents[fluent.index()],
            Gate::Move(played) => self.is_played(played),
            Gate::Feedback => None,
            _ if depth == 0 => None,
            Gate::Not(input) => self.value(input, depth - 1).map(|value| !value),
            Gate::And(inputs) => self.joined(inputs, false, depth - 1),
            Gate::Or(inputs) => self.joined(inputs, true, depth - 1),
        };
        // The value follows from the facts, so it need not be propagated down.
        if value.is_some() {
            self.facts.gates[gate.index()] = value;
            self.facts.trail.push(Fact::Gate(gate));
        }
        value
    }

    fn joined(&mut self, inputs: &[GateId], deciding: bool, depth: u32) -> Option<bool> {
        let mut are_all_known = true;
        for &input in inputs {
            match self.value(input, depth) {
                Some(value) if value == deciding => return Some(deciding),
                Some(_) => {}
                None => are_all_known = false,
            }
        }
        are_all_known.then_some(!deciding)
    }

    fn is_played(&self, played: MoveId) -> Option<bool> {
        match self.facts.played[self.role_of[played.index()] as usize] {
            Some(other) => Some(other == played),
            None if self.facts.is_excluded[played.index()] => Some(false),
            None => None,
        }
    }

    /// Propagates values down to inputs until the queue is empty.
    fn propagate(&mut self) -> Result<(), Clash> {
        let result = self.propagate_all();
        self.queue.clear();
        self.decided.clear();
        result
    }

    fn propagate_all(&mut self) -> Result<(), Clash> {
        loop {
            while let Some((fluent, value)) = self.decided.pop() {
                self.set_fluent(fluent, value)?;
            }
            let Some((gate, value)) = self.queue.pop() else { return Ok(()) };
            self.budget = self.budget.saturating_sub(1);
            match self.facts.gates[gate.index()] {
                Some(known) if known == value => continue,
                Some(_) => return Err(Clash),
                None => {}
            }
            self.facts.gates[gate.index()] = Some(value);
            self.facts.trail.push(Fact::Gate(gate));
            match self.circuit.gate(gate) {
                Gate::Constant(constant) if constant == value => {}
                Gate::Constant(_) => return Err(Clash),
                Gate::Fluent(fluent) => self.set_fluent(fluent, value)?,
                Gate::Move(played) if value => self.play(played)?,
                Gate::Move(played) => self.exclude(played)?,
                Gate::Feedback => {}
                Gate::Not(input) => self.queue.push((input, !value)),
                Gate::And(inputs) if value => {
                    self.queue.extend(inputs.iter().map(|&input| (input, true)));
                }
                Gate::Or(inputs) if !value => {
                    self.queue.extend(inputs.iter().map(|&input| (input, false)));
                }
                Gate::Or(_) => {
                    self.facts.choices.push(gate);
                    self.facts.trail.push(Fact::Choice);
                }
                Gate::And(_) => {
                    self.facts.denials.push(gate);
                    self.facts.trail.push(Fact::Denial);
                }
            }
        }
    }

    fn set_fluent(&mut self, fluent: FluentId, value: bool) -> Result<(), Clash> {
        match self.facts.fluents[fluent.index()] {
            Some(known) if known == value => return Ok(()),
            Some(_) => return Err(Clash),
            None => {}
        }
        self.facts.fluents[fluent.index()] = Some(value);
        self.facts.trail.push(Fact::Fluent(fluent));
        if !value {
            for &group in &self.groups_of[fluent.index()] {
                self.facts.n_false[group as usize] += 1;
            }
        }
        for at in 0..self.groups_of[fluent.index()].len() {
            let group = self.groups_of[fluent.index()][at] as usize;
            if self.in_use[group] {
                self.use_group(group, fluent, value)?;
            }
        }
        Ok(())
    }

    fn use_group(&mut self, group: usize, fluent: FluentId, value: bool) -> Result<(), Clash> {
        let n_members = self.groups[group].fluents.len();
        if value {
            self.note_use(group);
            for at in 0..n_members {
                let other = self.groups[group].fluents[at];
                self.budget = self.budget.saturating_sub(1);
                if other != fluent && self.facts.fluents[other.index()] != Some(false) {
                    self.decided.push((other, false));
                }
            }
        } else if self.groups[group].is_exact {
            let n_false = self.facts.n_false[group] as usize;
            if n_false == n_members {
                self.note_use(group);
                return Err(Clash);
            }
            if n_false + 1 == n_members {
                self.note_use(group);
                let is_open = |it: &&FluentId| self.facts.fluents[it.index()] != Some(false);
                let last = self.groups[group].fluents.iter().find(is_open);
                let last = *last.expect("one of them is not false");
                self.decided.push((last, true));
            }
        }
        Ok(())
    }

    fn note_use(&mut self, group: usize) {
        if !std::mem::replace(&mut self.is_used[group], true) {
            self.used.push(group as u32);
        }
    }

    fn play(&mut self, played: MoveId) -> Result<(), Clash> {
        let role = self.role_of[played.index()];
        match self.facts.played[role as usize] {
            Some(other) if other == played => return Ok(()),
            Some(_) => return Err(Clash),
            None if self.facts.is_excluded[played.index()] => return Err(Clash),
            None => {}
        }
        self.facts.played[role as usize] = Some(played);
        self.facts.trail.push(Fact::Played(role));
        self.queue.push((self.circuit.legal[played.index()], true));
        Ok(())
    }

    fn exclude(&mut self, played: MoveId) -> Result<(), Clash> {
        match self.is_played(played) {
            Some(true) => return Err(Clash),
            Some(false) => return Ok(()),
            None => {}
        }
        let role = self.role_of[played.index()];
        self.facts.is_excluded[played.index()] = true;
        self.facts.n_excluded[role as usize] += 1;
        self.facts.trail.push(Fact::Excluded(played));
        let n_left = self.n_moves_of[role as usize] - self.facts.n_excluded[role as usize];
        match n_left {
            0 => Err(Clash),
            1 => {
                let is_left =
                    |idx: &usize| self.role_of[*idx] == role && !self.facts.is_excluded[*idx];
                let last = (0..self.role_of.len()).find(is_left).expect("one move is left");
                self.play(MoveId::new(last))
            }
            _ => Ok(()),
        }
    }

    fn undo_to(&mut self, mark: usize) {
        while self.facts.trail.len() > mark {
            match self.facts.trail.pop().expect("the trail is longer than the mark") {
                Fact::Gate(gate) => self.facts.gates[gate.index()] = None,
                Fact::Fluent(fluent) => {
                    if self.facts.fluents[fluent.index()] == Some(false) {
                        for &group in &self.groups_of[fluent.index()] {
                            self.facts.n_false[group as usize] -= 1;
                        }
                    }
                    self.facts.fluents[fluent.index()] = None;
                }
                Fact::Played(role) => self.facts.played[role as usize] = None,
                Fact::Excluded(played) => {
                    self.facts.is_excluded[played.index()] = false;
                    self.facts.n_excluded[self.role_of[played.index()] as usize] -= 1;
                }
                Fact::Choice => {
                    self.facts.choices.pop();
                }
                Fact::Denial => {
                    self.facts.denials.pop();
                }
            }
        }
    }
}

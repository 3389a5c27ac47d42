//! The game.

use std::sync::{Arc, OnceLock};

use ludex_base::{BitSet, FluentId, Goal, MoveId, PerceptId, Rng, RoleId};
use ludex_circuit::{Circuit, Gate};
use ludex_game::{
    Cursor, Describe, Game, Observe, OneByOne, PlayoutRequest, PlayoutResults, PlayoutRunner,
    Playouts, Role, StateOf,
};

use crate::evaluate::Values;
use crate::net::{Net, NetState};
use crate::plan::WidePlan;
use crate::schedule::Schedule;
use crate::wide::WideRunner;

/// Loops are unrolled for the net if that adds at most so many gates.
const MAX_UNROLLED: usize = 100_000;

/// A game compiled from its circuit. Cheap to clone: the compiled parts are shared.
#[derive(Clone, Debug)]
pub struct Machine {
    parts: Arc<Parts>,
    style: PlayoutStyle,
}

#[derive(Debug)]
struct Parts {
    circuit: Circuit,
    schedule: Schedule,
    /// For moving between states, made when the first cursor is; `None` if the circuit has loops that
    /// are too large to unroll.
    net: OnceLock<Option<Net>>,
    /// For playouts in lanes, made when the first runner is.
    wide: OnceLock<Arc<WidePlan>>,
    roles: Vec<Role>,
    /// For each fluent, its gate if a gate reads it.
    fluent_gates: Vec<Option<u32>>,
    /// For each move, its gate if a gate reads it.
    move_gates: Vec<Option<u32>>,
    /// The values of constants; all else is 0.
    blank: Values,
    /// Where the moves of a role begin; one more than roles.
    move_starts: Vec<usize>,
    percept_starts: Vec<usize>,
    goal_starts: Vec<usize>,
}

impl Machine {
    /// Compiles a circuit.
    pub fn new(circuit: Circuit) -> Self {
        let circuit = circuit.optimized();
        let schedule = Schedule::new(&circuit);
        let vocabulary = &circuit.vocabulary;
        let n_roles = circuit.n_roles();
        let mut fluent_gates = vec![None; vocabulary.fluents.len()];
        let mut move_gates = vec![None; vocabulary.moves.len()];
        let mut blank = vec![0; circuit.n_gates()];
        for id in circuit.gate_ids() {
            match circuit.gate(id) {
                Gate::Constant(value) => blank[id.index()] = u8::from(value),
                Gate::Fluent(fluent) => fluent_gates[fluent.index()] = Some(id.index() as u32),
                Gate::Move(played) => move_gates[played.index()] = Some(id.index() as u32),
                _ => {}
            }
        }
        let roles = (0..n_roles)
            .map(|role| {
                let name = vocabulary.role_text(RoleId::new(role));
                let is_random = name == "random";
                Role { name, is_random }
            })
            .collect();
        let of_moves = vocabulary.moves.iter().map(|&(role, _)| role);
        let of_percepts = vocabulary.percepts.iter().map(|&(role, _)| role);
        let of_goals = circuit.goals.iter().map(|&(role, _, _)| role);
        let parts = Parts {
            move_starts: starts_by_role(n_roles, of_moves),
            percept_starts: starts_by_role(n_roles, of_percepts),
            goal_starts: starts_by_role(n_roles, of_goals),
            schedule,
            net: OnceLock::new(),
            wide: OnceLock::new(),
            roles,
            fluent_gates,
            move_gates,
            blank,
            circuit,
        };
        Self { parts: Arc::new(parts), style: PlayoutStyle::Auto }
    }

    /// The same machine, playing batches of playouts in this way.
    pub fn with_playouts(self, style: PlayoutStyle) -> Self {
        Self { style, ..self }
    }

    /// How it plays batches of playouts.
    pub fn playout_style(&self) -> PlayoutStyle {
        self.style
    }

    /// The circuit it evaluates: the one it was made from, optimised.
    pub fn circuit(&self) -> &Circuit {
        &self.parts.circuit
    }
}

impl Parts {
    fn net(&self) -> Option<&Net> {
        let make = || match self.circuit.loops.is_empty() {
            true => Net::new(&self.circuit),
            false => {
                let max_gates = self.circuit.n_gates() + MAX_UNROLLED;
                self.circuit.unrolled(max_gates).as_ref().and_then(Net::new)
            }
        };
        self.net.get_or_init(make).as_ref()
    }

    fn wide(&self) -> &Arc<WidePlan> {
        self.wide.get_or_init(|| Arc::new(WidePlan::new(&self.circuit)))
    }
}

/// Where each role begins in a list that is sorted by role; one more than roles.
fn starts_by_role(n_roles: usize, roles: impl Iterator<Item = RoleId>) -> Vec<usize> {
    let mut starts = vec![0; n_roles + 1];
    roles.for_each(|role| starts[role.index() + 1] += 1);
    for role in 0..n_roles {
        starts[role + 1] += starts[role];
    }
    starts
}

impl Game for Machine {
    type Cursor = MachineCursor;

    fn roles(&self) -> &[Role] {
        &self.parts.roles
    }

    fn cursor(&self) -> MachineCursor {
        let n_roles = self.parts.roles.len();
        let mut cursor = MachineCursor {
            values: self.parts.blank.clone(),
            net: self.parts.net().map(Net::initial),
            state: self.parts.circuit.init.clone(),
            previous: self.parts.circuit.init.clone(),
            progress: Progress::Nothing,
            legal: vec![Vec::new(); n_roles],
            goals: vec![Vec::new(); n_roles],
            percepts: vec![Vec::new(); n_roles],
            parts: Arc::clone(&self.parts),
        };
        cursor.arrive();
        cursor
    }

    fn has_percepts(&self) -> bool {
        self.parts.circuit.has_percepts
    }
}

impl Describe for Machine {
    fn move_text(&self, id: MoveId) -> String {
        self.parts.circuit.vocabulary.move_text(id)
    }

    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String> {
        // Fluents are sorted by their text.
        let text = |idx| self.parts.circuit.vocabulary.fluent_text(FluentId::new(idx));
        state.iter().map(text).collect()
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.parts.circuit.vocabulary.percept_text(id)
    }
}

impl Playouts for Machine {
    type Runner = MachineRunner;

    fn runner(&self) -> MachineRunner {
        MachineRunner {
            style: self.style,
            one_by_one: OneByOne::new(self),
            wide: WideRunner::new(Arc::clone(self.parts.wide())),
        }
    }
}

/// How a machine plays batches of playouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayoutStyle {
    /// In lanes, unless there are too few of them.
    Auto,
    /// One after the other on a cursor.
    OneByOne,
    /// In lanes, always.
    Wide,
}

/// Plays batches of random games on a [`Machine`].
pub struct MachineRunner {
    style: PlayoutStyle,
    one_by_one: OneByOne<MachineCursor>,
    wide: WideRunner,
}

/// Fewer playouts than this are played one by one: the lanes cost the same for one as for all.
const WIDE_FROM: usize = 3;

impl PlayoutRunner for MachineRunner {
    type State = BitSet;

    fn run(
        &mut self,
        request: &PlayoutRequest<'_, BitSet>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        let n_playouts = request.starts.len().saturating_mul(request.n_per_start);
        let is_wide = match self.style {
            PlayoutStyle::Auto => n_playouts >= WIDE_FROM,
            PlayoutStyle::OneByOne => false,
            PlayoutStyle::Wide => true,
        };
        if is_wide && request.starts.iter().all(|start| self.wide.can_start(start)) {
            self.wide.run(request, rng, results);
        } else {
            self.one_by_one.run(request, rng, results);
        }
    }
}

/// Stands on a state of a [`Machine`].
///
/// A step costs as much as changes by it: see [`Net`](crate::net). Circuits with large loops are
/// evaluated gate by gate instead, and so are the goals, which are asked for once a game.
#[derive(Clone, Debug)]
pub struct MachineCursor {
    parts: Arc<Parts>,
    net: Option<NetState>,
    values: Values,
    state: BitSet,
    /// The state before; kept to avoid allocation.
    previous: BitSet,
    /// What has been worked out for this state.
    progress: Progress,
    legal: Vec<Vec<MoveId>>,
    goals: Vec<Vec<Goal>>,
    percepts: Vec<Vec<PerceptId>>,
}

/// What has been worked out for a state. Without a net, gates have their values up to that question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Progress {
    Nothing,
    Terminal,
    Legal,
    Goals,
}

impl MachineCursor {
    /// The state has changed; nothing is known about it yet.
    fn arrive(&mut self) {
        self.progress = Progress::Nothing;
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(state)) => net.change_state(state, &self.previous, &self.state),
            _ => self.tell_fluents(),
        }
    }

    /// Gives the gates of the fluents their values.
    fn tell_fluents(&mut self) {
        for (fluent, gate) in self.parts.fluent_gates.iter().enumerate() {
            if let Some(gate) = gate {
                self.values[*gate as usize] = u8::from(self.state.contains(fluent));
            }
        }
    }

    fn reach(&mut self, progress: Progress) {
        if self.progress < Progress::Terminal && progress >= Progress::Terminal {
            if self.net.is_none() {
                self.parts.schedule.terminal.evaluate(&mut self.values);
            }
            self.progress = Progress::Terminal;
        }
        if self.progress < Progress::Legal && progress >= Progress::Legal {
            self.list_legal_moves();
            self.progress = Progress::Legal;
        }
        if self.progress < Progress::Goals && progress >= Progress::Goals {
            self.list_goals();
            self.progress = Progress::Goals;
        }
    }

    fn list_legal_moves(&mut self) {
        let Parts { circuit, schedule, move_starts, .. } = &*self.parts;
        if let Some(state) = &self.net {
            let mut role = 0;
            self.legal.iter_mut().for_each(Vec::clear);
            for idx in state.legal.iter() {
                while idx >= move_starts[role + 1] {
                    role += 1;
                }
                self.legal[role].push(MoveId::new(idx));
            }
            return;
        }
        schedule.legal.evaluate(&mut self.values);
        for (role, list) in self.legal.iter_mut().enumerate() {
            let moves = move_starts[role]..move_starts[role + 1];
            let is_legal = |idx: &usize| self.values[circuit.legal[*idx].index()] != 0;
            list.clear();
            list.extend(moves.filter(is_legal).map(MoveId::new));
        }
    }

    fn list_goals(&mut self) {
        if self.net.is_some() {
            self.tell_fluents();
            self.parts.schedule.terminal.evaluate(&mut self.values);
            self.parts.schedule.legal.evaluate(&mut self.values);
        }
        self.parts.schedule.goals.evaluate(&mut self.values);
        for (role, list) in self.goals.iter_mut().enumerate() {
            let goals = self.parts.goal_starts[role]..self.parts.goal_starts[role + 1];
            let goals = self.parts.circuit.goals[goals].iter();
            list.clear();
            list.extend(
                goals
                    .filter(|(_, _, gate)| self.values[gate.index()] != 0)
                    .map(|&(_, goal, _)| goal),
            );
        }
    }

    /// Works out the next state and what is seen on the way, without a net.
    fn evaluate_step(&mut self, joint: &[MoveId]) {
        self.reach(Progress::Legal);
        self.set_played(joint, 1);
        self.parts.schedule.next.evaluate(&mut self.values);
        let circuit = &self.parts.circuit;
        for (word, gates) in self.state.words_mut().iter_mut().zip(circuit.next.chunks(64)) {
            *word = 0;
            for (bit, gate) in gates.iter().enumerate() {
                *word |= u64::from(self.values[gate.index()]) << bit;
            }
        }
        let is_seen = |idx: usize| self.values[circuit.sees[idx].index()] != 0;
        list_percepts(&self.parts, &mut self.percepts, is_seen);
        // Only now: an output may be a move itself.
        self.set_played(joint, 0);
    }

    fn set_played(&mut self, joint: &[MoveId], value: u8) {
        for played in joint {
            if let Some(gate) = self.parts.move_gates[played.index()] {
                self.values[gate as usize] = value;
            }
        }
    }
}

fn list_percepts(parts: &Parts, lists: &mut [Vec<PerceptId>], is_seen: impl Fn(usize) -> bool) {
    for (role, list) in lists.iter_mut().enumerate() {
        let percepts = parts.percept_starts[role]..parts.percept_starts[role + 1];
        list.clear();
        list.extend(percepts.filter(|&idx| is_seen(idx)).map(PerceptId::new));
    }
}

impl Cursor for MachineCursor {
    type State = BitSet;

    fn state(&self) -> &BitSet {
        &self.state
    }

    fn set_state(&mut self, state: &BitSet) {
        self.previous.copy_from(&self.state);
        self.state.copy_from(state);
        self.percepts.iter_mut().for_each(Vec::clear);
        self.arrive();
    }

    fn play(&mut self, joint: &[MoveId]) {
        debug_assert_eq!(joint.len(), self.parts.roles.len(), "one move per role");
        self.previous.copy_from(&self.state);
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(state)) => {
                net.change_moves(state, joint);
                self.state.copy_from(&state.next);
                list_percepts(&self.parts, &mut self.percepts, |idx| net.is_seen(state, idx));
            }
            _ => self.evaluate_step(joint),
        }
        self.arrive();
    }

    fn is_terminal(&mut self) -> bool {
        self.reach(Progress::Terminal);
        match &self.net {
            Some(state) => state.is_terminal,
            None => self.values[self.parts.circuit.terminal.index()] != 0,
        }
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.reach(Progress::Legal);
        &self.legal[role.index()]
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        self.reach(Progress::Goals);
        &self.goals[role.index()]
    }

    fn n_common_fluents(&self, other: &BitSet) -> Option<usize> {
        let pairs = self.state.words().iter().zip(other.words());
        Some(pairs.map(|(here, there)| (here & there).count_ones() as usize).sum())
    }
}

impl Observe for MachineCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        &self.percepts[role.index()]
    }
}

//! The game.

use std::sync::Arc;

use ludex_base::{BitSet, FluentId, Goal, MoveId, PerceptId, Rng, RoleId};
use ludex_circuit::{Circuit, Gate};
use ludex_game::{
    Cursor, Describe, Game, Observe, OneByOne, PlayoutRequest, PlayoutResults, PlayoutRunner,
    Playouts, Role, StateOf,
};

use crate::evaluate::Values;
use crate::schedule::Schedule;
use crate::wide::{WidePlan, WideRunner};

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
    wide: Arc<WidePlan>,
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
        let wide = Arc::new(WidePlan::new(&circuit));
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
            wide,
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
            state: self.parts.circuit.init.clone(),
            progress: Progress::Nothing,
            has_goals: false,
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
            wide: WideRunner::new(Arc::clone(&self.parts.wide)),
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
        if is_wide {
            self.wide.run(request, rng, results);
        } else {
            self.one_by_one.run(request, rng, results);
        }
    }
}

/// Stands on a state of a [`Machine`].
#[derive(Clone, Debug)]
pub struct MachineCursor {
    parts: Arc<Parts>,
    values: Values,
    state: BitSet,
    /// Which sections have been evaluated for this state.
    progress: Progress,
    has_goals: bool,
    legal: Vec<Vec<MoveId>>,
    goals: Vec<Vec<Goal>>,
    percepts: Vec<Vec<PerceptId>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Progress {
    Nothing,
    Terminal,
    Legal,
}

impl MachineCursor {
    /// Tells the gates what is true now.
    fn arrive(&mut self) {
        for (fluent, gate) in self.parts.fluent_gates.iter().enumerate() {
            if let Some(gate) = gate {
                self.values[*gate as usize] = u8::from(self.state.contains(fluent));
            }
        }
        self.progress = Progress::Nothing;
        self.has_goals = false;
    }

    fn reach(&mut self, progress: Progress) {
        if self.progress < Progress::Terminal && progress >= Progress::Terminal {
            self.parts.schedule.terminal.evaluate(&mut self.values);
            self.progress = Progress::Terminal;
        }
        if self.progress < Progress::Legal && progress >= Progress::Legal {
            self.parts.schedule.legal.evaluate(&mut self.values);
            self.progress = Progress::Legal;
            for (role, list) in self.legal.iter_mut().enumerate() {
                let moves = self.parts.move_starts[role]..self.parts.move_starts[role + 1];
                let gates = &self.parts.circuit.legal;
                list.clear();
                list.extend(
                    moves.filter(|&idx| self.values[gates[idx].index()] != 0).map(MoveId::new),
                );
            }
        }
    }

    fn set_played(&mut self, joint: &[MoveId], value: u8) {
        for played in joint {
            if let Some(gate) = self.parts.move_gates[played.index()] {
                self.values[gate as usize] = value;
            }
        }
    }
}

impl Cursor for MachineCursor {
    type State = BitSet;

    fn state(&self) -> &BitSet {
        &self.state
    }

    fn set_state(&mut self, state: &BitSet) {
        self.state.copy_from(state);
        self.percepts.iter_mut().for_each(Vec::clear);
        self.arrive();
    }

    fn play(&mut self, joint: &[MoveId]) {
        debug_assert_eq!(joint.len(), self.parts.roles.len(), "one move per role");
        self.reach(Progress::Legal);
        self.set_played(joint, 1);
        self.parts.schedule.next.evaluate(&mut self.values);
        let circuit = &self.parts.circuit;
        for (role, list) in self.percepts.iter_mut().enumerate() {
            let percepts = self.parts.percept_starts[role]..self.parts.percept_starts[role + 1];
            list.clear();
            list.extend(
                percepts
                    .filter(|&idx| self.values[circuit.sees[idx].index()] != 0)
                    .map(PerceptId::new),
            );
        }
        for (word, gates) in self.state.words_mut().iter_mut().zip(circuit.next.chunks(64)) {
            *word = 0;
            for (bit, gate) in gates.iter().enumerate() {
                *word |= u64::from(self.values[gate.index()]) << bit;
            }
        }
        // Only now: an output may be a move itself.
        self.set_played(joint, 0);
        self.arrive();
    }

    fn is_terminal(&mut self) -> bool {
        self.reach(Progress::Terminal);
        self.values[self.parts.circuit.terminal.index()] != 0
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.reach(Progress::Legal);
        &self.legal[role.index()]
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        if !self.has_goals {
            self.reach(Progress::Legal);
            self.parts.schedule.goals.evaluate(&mut self.values);
            for (role, list) in self.goals.iter_mut().enumerate() {
                let goals = self.parts.goal_starts[role]..self.parts.goal_starts[role + 1];
                list.clear();
                list.extend(
                    self.parts.circuit.goals[goals]
                        .iter()
                        .filter(|(_, _, gate)| self.values[gate.index()] != 0)
                        .map(|&(_, goal, _)| goal),
                );
            }
            self.has_goals = true;
        }
        &self.goals[role.index()]
    }
}

impl Observe for MachineCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        &self.percepts[role.index()]
    }
}

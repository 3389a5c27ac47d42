//! The type [`Machine`] and its playout runner.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ludex_base::{
    BitSet, Deadline, FluentId, Limits, MoveId, Pace, PerceptId, Rng, RoleId, Seed, StopReason,
};
use ludex_circuit::{Circuit, Gate};
use ludex_game::{
    Describe, Expander, Fold, Game, OneByOne, OneByOneExpander, PlayoutRequest, PlayoutResults,
    PlayoutRunner, Playouts, Role, StateOf,
};

use rustc_hash::FxHashMap;

use crate::children::MachineExpander;
use crate::cursor::MachineCursor;
use crate::gates::evaluate::Values;
use crate::gates::schedule::Schedule;
use crate::lanes::step_tapes::LaneTapes;
use crate::lanes::word::n_words;
use crate::native::code::TapeCode;
use crate::net::counters::Net;
use crate::positions::Positions;
use crate::wide::WideRunner;

/// Loops are unrolled for the net if that adds at most this many gates.
const MAX_UNROLLED_GATES: usize = 100_000;

/// Gates or nodes between two checks of the deadline while the net is built.
const STEPS_PER_CHECK: usize = 1 << 14;

/// A game compiled from its circuit. Cheap to clone: the compiled parts are shared.
#[derive(Clone, Debug)]
pub struct Machine {
    parts: Arc<Parts>,
    style: PlayoutStyle,
    fold: Option<Arc<dyn Fold>>,
}

/// The tapes of playouts in lanes, and their machine code if it is faster.
pub(crate) type Wide = (Arc<LaneTapes>, Option<Arc<TapeCode>>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub circuit: Circuit,
    pub schedule: Schedule,
    /// For moving between states; built with the first cursor. `None` if the circuit has loops that
    /// are too large to unroll.
    net: OnceLock<Option<Net>>,
    /// For playouts in lanes; built with the first runner.
    wide: OnceLock<Wide>,
    /// For positions in lanes; built with the first of them.
    any_state: OnceLock<Wide>,
    pub roles: Vec<Role>,
    /// By fluent, its gate if some gate reads it.
    pub fluent_gates: Vec<Option<u32>>,
    /// By move, its gate if some gate reads it.
    pub move_gates: Vec<Option<u32>>,
    /// The initial values of gates: those of constants, and 0 for all others.
    pub blank: Values,
    /// The start of each role's moves, and the end of the last.
    pub move_starts: Vec<usize>,
    pub percept_starts: Vec<usize>,
    pub goal_starts: Vec<usize>,
}

impl Machine {
    /// Compiles a circuit.
    pub fn new(circuit: Circuit) -> Self {
        Self::of_optimized(circuit.optimized())
    }

    /// Does the same as [`Machine::new`] within some limits. It also builds what the first cursor
    /// needs, because that can take as long as compiling.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn within(circuit: Circuit, limits: &Limits) -> Result<Self, StopReason> {
        let optimized = circuit.optimized_within(limits)?;
        drop(circuit);
        let machine = Self::of_optimized(optimized);
        let net = machine.parts.make_net(&Pace::new(&limits.deadline, STEPS_PER_CHECK))?;
        machine.parts.net.get_or_init(|| net);
        Ok(machine)
    }

    /// Builds what batches of playouts side by side need, which otherwise the first batch does.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn prepare_batches(&self, limits: &Limits) -> Result<(), StopReason> {
        if self.parts.wide.get().is_none() {
            let wide = self.parts.make_wide(&Pace::new(&limits.deadline, STEPS_PER_CHECK))?;
            // Another thread may have been faster; then its tapes are used.
            self.parts.wide.get_or_init(|| wide);
        }
        Ok(())
    }

    fn of_optimized(circuit: Circuit) -> Self {
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
                let role = RoleId::new(role);
                Role { name: vocabulary.role_text(role), is_random: vocabulary.is_random(role) }
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
            any_state: OnceLock::new(),
            roles,
            fluent_gates,
            move_gates,
            blank,
            circuit,
        };
        Self { parts: Arc::new(parts), style: PlayoutStyle::Auto, fold: None }
    }

    /// Returns the same machine with this style of playing batches.
    pub fn with_playouts(self, style: PlayoutStyle) -> Self {
        Self { style, ..self }
    }

    /// Returns a machine whose cursors fold: after each step they go to the state that stands for
    /// all that symmetries take to each other, and of the moves of a role that alone has a choice
    /// they list one of each kind. Values stay the same, so that whatever explores or searches this
    /// machine visits fewer states without knowing.
    ///
    /// Batches of playouts are played without folding. The machine must have no percepts.
    pub fn folded_by(&self, fold: Arc<dyn Fold>) -> Self {
        assert!(!self.parts.circuit.has_percepts, "percepts are not folded");
        Self { fold: Some(fold), ..self.clone() }
    }

    /// Returns the same machine without folding.
    pub fn unfolded(&self) -> Self {
        Self { fold: None, ..self.clone() }
    }

    /// Returns the same machine with the faster style of playing batches.
    ///
    /// It measures both for a moment on the first steps of some playouts from the initial state.
    pub fn with_measured_playouts(self) -> Self {
        let steps_a_second = |style| self.clone().with_playouts(style).measure_steps();
        let is_wide = steps_a_second(PlayoutStyle::Wide) >= steps_a_second(PlayoutStyle::OneByOne);
        self.with_playouts(if is_wide { PlayoutStyle::Auto } else { PlayoutStyle::OneByOne })
    }

    /// Measures the joint moves per second of playouts that stop after a few steps.
    fn measure_steps(&self) -> f64 {
        let mut runner = self.runner();
        let starts = [self.parts.circuit.init.clone()];
        let mut rng = Seed(0).rng();
        let mut steps_a_second = |(n_per_start, max_steps)| {
            let start = Instant::now();
            let deadline = Deadline::after(MAX_TRIED_TIME);
            let request = PlayoutRequest {
                starts: &starts,
                n_per_start,
                max_steps,
                wants_moves: false,
                deadline: &deadline,
            };
            let mut results = PlayoutResults::default();
            runner.run(&request, &mut rng, &mut results);
            let n_steps = results.total().n_steps + results.n_given_up * max_steps as u64;
            n_steps as f64 / start.elapsed().as_secs_f64().max(1e-9)
        };
        // The first run also builds what is built on first use. The best of the others counts: on a
        // busy machine any of them may be interrupted.
        steps_a_second(TRIED_BATCHES[0]);
        let (began, mut best) = (Instant::now(), 0.0_f64);
        for tried in TRIED_BATCHES {
            best = best.max(steps_a_second(tried));
            if began.elapsed() > MAX_TRIED_TIME {
                break;
            }
        }
        best
    }

    /// Returns positions side by side, all in the initial state. Moves that the caller leaves open are
    /// drawn with a generator seeded by `rng`.
    ///
    /// Percepts are not computed, and states are not folded.
    pub fn positions(&self, rng: &mut Rng) -> Positions {
        let make = || unstopped(self.parts.make_any_state(&Pace::unlimited()));
        let (tapes, code) = self.parts.any_state.get_or_init(make);
        let Parts { circuit, move_starts, .. } = &*self.parts;
        Positions::new(tapes, code.as_ref(), &circuit.init, move_starts, rng)
    }

    /// Returns the tapes for states in any phase; `None` if there is no time to make them.
    pub(crate) fn lanes_of_any_state(&self, deadline: &Deadline) -> Option<Wide> {
        if self.parts.any_state.get().is_none() {
            let made = self.parts.make_any_state(&Pace::new(deadline, STEPS_PER_CHECK)).ok()?;
            // Another thread may have been faster; then its tapes are used.
            self.parts.any_state.get_or_init(|| made);
        }
        self.parts.any_state.get().cloned()
    }

    /// Returns the start of each role's moves, and the end of the last.
    pub(crate) fn move_starts(&self) -> &[usize] {
        &self.parts.move_starts
    }

    /// Returns how the machine plays batches of playouts.
    pub fn playout_style(&self) -> PlayoutStyle {
        self.style
    }

    /// Returns the circuit that it evaluates: the original one, optimised.
    pub fn circuit(&self) -> &Circuit {
        &self.parts.circuit
    }
}

impl Parts {
    pub fn net(&self) -> Option<&Net> {
        self.net.get_or_init(|| unstopped(self.make_net(&Pace::unlimited()))).as_ref()
    }

    fn make_net(&self, pace: &Pace<'_>) -> Result<Option<Net>, StopReason> {
        if self.circuit.loops.is_empty() {
            return Net::new(&self.circuit, pace);
        }
        let max_gates = self.circuit.n_gates() + MAX_UNROLLED_GATES;
        match self.circuit.unrolled(max_gates) {
            Some(circuit) => Net::new(&circuit, pace),
            None => Ok(None),
        }
    }

    fn wide_runner(&self) -> WideRunner {
        let make = || unstopped(self.make_wide(&Pace::unlimited()));
        let (tapes, code) = self.wide.get_or_init(make);
        WideRunner::new(Arc::clone(tapes), code.clone())
    }

    fn make_any_state(&self, pace: &Pace<'_>) -> Result<Wide, StopReason> {
        let tapes = Arc::new(LaneTapes::of_any_state(&self.circuit, pace)?);
        let code = TapeCode::new(&tapes, n_words()).map(Arc::new);
        Ok((tapes, code))
    }

    fn make_wide(&self, pace: &Pace<'_>) -> Result<Wide, StopReason> {
        let tapes = Arc::new(LaneTapes::new(&self.circuit, pace)?);
        pace.check()?;
        let code = TapeCode::new(&tapes, n_words()).map(Arc::new);
        let code = code.filter(|code| self.is_worth_it(&tapes, code));
        Ok((tapes, code))
    }
}

/// Takes the result of work with an unlimited pace, which nothing stops.
fn unstopped<T>(result: Result<T, StopReason>) -> T {
    result.unwrap_or_else(|_| unreachable!("work without a deadline is not stopped"))
}

impl Parts {
    /// Returns whether machine code is faster than interpreting the tapes. Small code always is.
    /// Code that exceeds the caches may not be, so it is measured.
    fn is_worth_it(&self, tapes: &Arc<LaneTapes>, code: &Arc<TapeCode>) -> bool {
        if code.n_bytes() < MIN_TRIED_CODE_BYTES {
            return true;
        }
        let time = |code: Option<&Arc<TapeCode>>| {
            let mut runner = WideRunner::new(Arc::clone(tapes), code.cloned());
            let run = |_| {
                let start = Instant::now();
                let request = PlayoutRequest {
                    starts: std::slice::from_ref(&self.circuit.init),
                    n_per_start: 256,
                    max_steps: tapes.steps.len().clamp(1, 2),
                    wants_moves: false,
                    deadline: &Deadline::after(MAX_TRIED_TIME),
                };
                runner.run(&request, &mut Seed(0).rng(), &mut PlayoutResults::default());
                start.elapsed()
            };
            (0..4).map(run).min().expect("four runs have a minimum")
        };
        time(Some(code)) <= time(None)
    }
}

/// Returns the start of each role in a list sorted by role, and the end of the last.
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
        MachineCursor::new(Arc::clone(&self.parts), self.fold.as_ref())
    }

    fn has_percepts(&self) -> bool {
        self.parts.circuit.has_percepts
    }

    fn expander(&self) -> Box<dyn Expander<State = BitSet> + '_> {
        if self.fold.is_some() {
            return Box::new(OneByOneExpander::new(self.cursor(), self.roles().len()));
        }
        Box::new(MachineExpander::new(self))
    }

    /// Returns one family of all fluents of a name, and for each argument one of those with the
    /// same term there: for example all pieces of one kind, or everything on one row.
    fn families(&self) -> Vec<Vec<u32>> {
        let vocabulary = &self.parts.circuit.vocabulary;
        let terms = &vocabulary.terms;
        let mut numbers = FxHashMap::default();
        let mut families = Vec::with_capacity(vocabulary.fluents.len());
        for &fluent in &vocabulary.fluents {
            let (name, args) = (terms.name(fluent), terms.args(fluent));
            let arguments = args.iter().copied().enumerate().map(Some).chain([None]);
            let number = |argument| {
                let next = numbers.len() as u32;
                *numbers.entry((name, args.len(), argument)).or_insert(next)
            };
            families.push(arguments.map(number).collect());
        }
        families
    }
}

impl Describe for Machine {
    fn move_text(&self, id: MoveId) -> String {
        self.parts.circuit.vocabulary.move_text(id)
    }

    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String> {
        // Fluents are sorted by text, so the result is as well.
        let text = |idx| self.parts.circuit.vocabulary.fluent_text(FluentId::new(idx));
        state.iter().map(text).collect()
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.parts.circuit.vocabulary.percept_text(id)
    }

    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.parts.circuit.vocabulary.find_move(role, text)
    }

    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.parts.circuit.vocabulary.find_percept(role, text)
    }
}

impl Playouts for Machine {
    type Runner = MachineRunner;

    fn runner(&self) -> MachineRunner {
        MachineRunner { machine: self.unfolded(), one_by_one: None, wide: None }
    }
}

/// How a machine plays batches of playouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayoutStyle {
    /// In lanes, unless there are too few playouts.
    Auto,
    /// One after the other on a cursor.
    OneByOne,
    /// Always in lanes.
    Wide,
}

/// Plays batches of random games on a [`Machine`].
pub struct MachineRunner {
    machine: Machine,
    /// Built on first use: a game may never need one or the other.
    one_by_one: Option<OneByOne<MachineCursor>>,
    wide: Option<WideRunner>,
}

/// Smaller batches are played one by one, because lanes cost the same for one playout as for all.
/// In the games measured, a batch in lanes costs as much as 18 to 75 playouts one by one.
const MIN_WIDE_PLAYOUTS: usize = 32;

/// Machine code of at least this size is measured against the tapes.
const MIN_TRIED_CODE_BYTES: usize = 1 << 20;

/// The batches of the measurement: how many playouts of how many steps, and the time limit.
const TRIED_BATCHES: [(usize, usize); 3] = [(256, 2), (1_024, 4), (1_024, 4)];
const MAX_TRIED_TIME: Duration = Duration::from_millis(100);

impl PlayoutRunner for MachineRunner {
    type State = BitSet;

    fn run(
        &mut self,
        request: &PlayoutRequest<'_, BitSet>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        let n_playouts = request.starts.len().saturating_mul(request.n_per_start);
        let is_wide = match self.machine.style {
            PlayoutStyle::Auto => n_playouts >= MIN_WIDE_PLAYOUTS,
            PlayoutStyle::OneByOne => false,
            PlayoutStyle::Wide => true,
        };
        if is_wide {
            let wide = self.wide.get_or_insert_with(|| self.machine.parts.wide_runner());
            if request.starts.iter().all(|start| wide.can_start(start)) {
                return wide.run(request, rng, results);
            }
        }
        let make = || OneByOne::new(&self.machine);
        self.one_by_one.get_or_insert_with(make).run(request, rng, results);
    }
}

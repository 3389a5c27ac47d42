//! A circuit prepared for playouts in lanes: one tape per question.

use ludex_base::{BitSet, Pace, RoleId, StopReason};
use ludex_circuit::{Circuit, Gate, GateId, Phases};

use crate::lanes::fuse::{n_readers, without_not};
use crate::lanes::options::{DrawOption, OptionTree};
use crate::lanes::run::RunTape;
use crate::lanes::tape::{MAX_COUNT, Signal, Slots, Tape};
use crate::lanes::word::Word;

/// Largest share of gates that may be evaluated again after a refill.
const MAX_REPEATED_SHARE: f64 = 0.1;

/// Approximate number of words read and written to draw from one option.
const DRAW_COST: usize = 6;

/// A circuit prepared for any number of lanes.
#[derive(Debug)]
pub(crate) struct LaneTapes {
    /// The number of values: slots, then counts of options.
    pub n_values: usize,
    pub n_fluents: usize,
    pub n_roles: usize,
    phases: Phases,
    /// The tapes of a step, for each phase of the game.
    pub steps: Vec<StepTapes>,
    pub goals: GoalTapes,
}

/// The tapes of one step. All lanes are in the same phase of the game.
#[derive(Debug)]
pub(crate) struct StepTapes {
    n_slots: usize,
    /// Computes whether the playout is over.
    pub terminal_tape: Tape,
    pub terminal: Signal,
    /// Computes which moves are legal.
    pub legal_tape: Tape,
    /// The moves of each role to draw from.
    pub options: Vec<OptionTree>,
    /// Computes the next state.
    pub next_tape: Tape,
    pub next: NextCopy,
    /// Whether `legal_tape` and `next_tape` need nothing of `terminal_tape`, so that lanes refilled
    /// in between can continue in the same step. Otherwise they wait for the next step.
    pub plays_on_at_once: bool,
    /// Approximate number of words that a step reads.
    pub cost: usize,
}

/// The copying of the next state to the current one.
#[derive(Debug)]
pub(crate) struct NextCopy {
    /// Fluents that take the value of an input, which may be another fluent: all are read before
    /// any is written.
    pub from_inputs: Vec<(u32, Signal)>,
    /// Fluents that take the value of a gate which is evaluated in place, because nothing reads the
    /// fluent afterwards.
    pub in_place: Tape,
    /// Fluents that take the value of a gate.
    pub from_gates: Vec<(u32, Signal)>,
}

/// The evaluation of the goals, on separate slots.
#[derive(Debug)]
pub(crate) struct GoalTapes {
    pub tape: Tape,
    pub n_slots: usize,
    /// Sorted by role, the largest value first.
    pub values: Vec<(RoleId, u8, Signal)>,
    /// The fluents that goals depend on.
    pub fluents: Vec<usize>,
}

impl LaneTapes {
    /// Makes the tapes of a circuit for lanes that are in the same phase of the game.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn new(circuit: &Circuit, pace: &Pace<'_>) -> Result<Self, StopReason> {
        Self::by_phase(circuit, Circuit::phases, pace)
    }

    /// Makes the tapes of a circuit for lanes in any states.
    ///
    /// # Errors
    /// As [`LaneTapes::new`].
    pub fn of_any_state(circuit: &Circuit, pace: &Pace<'_>) -> Result<Self, StopReason> {
        Self::by_phase(circuit, |_| Phases::one(), pace)
    }

    fn by_phase(
        circuit: &Circuit,
        find_phases: impl Fn(&Circuit) -> Phases,
        pace: &Pace<'_>,
    ) -> Result<Self, StopReason> {
        // Factor first: a rulesheet that lists combinations has few gates afterwards.
        let circuit = &circuit.factored(pace)?;
        let phases = find_phases(circuit);
        let mut steps: Vec<StepTapes> = Vec::with_capacity(phases.n_phases());
        for phase in 0..phases.n_phases() {
            // Changes of the circuit end with work that does not count its steps.
            pace.check()?;
            let circuit = circuit.in_phase(&phases, phase, pace)?;
            pace.check()?;
            let circuit = circuit.with_selections(pace)?;
            pace.check()?;
            let circuit = circuit.with_shared_parts(pace)?;
            pace.check()?;
            steps.push(StepTapes::new(&circuit, pace)?);
        }
        let n_slots = steps.iter().map(|step| step.n_slots).max().expect("there is a phase");
        let mut n_values = n_slots;
        let trees = steps.iter_mut().flat_map(|step| &mut step.options);
        trees.for_each(|tree| n_values = tree.move_counts(n_values));
        Ok(Self {
            n_values,
            n_fluents: circuit.vocabulary.fluents.len(),
            n_roles: circuit.n_roles(),
            phases,
            steps,
            goals: GoalTapes::new(circuit, pace)?,
        })
    }

    /// Returns the phase of a state; every reachable state has one.
    pub fn phase_of(&self, state: &BitSet) -> Option<usize> {
        self.phases.phase_of(state)
    }
}

impl StepTapes {
    fn new(circuit: &Circuit, pace: &Pace<'_>) -> Result<Self, StopReason> {
        let mut terminal_slots = Slots::new(circuit);
        let first_computed = terminal_slots.len() as u32;
        let mut slots = terminal_slots.clone();
        let terminal_tape = Tape::new(circuit, [circuit.terminal], &mut terminal_slots, pace)?;
        let terminal = terminal_slots.signal(circuit.terminal);

        let is_for_terminal = circuit.cone([circuit.terminal]);
        let is_for_step = circuit.cone(circuit.legal.iter().chain(&circuit.next).copied());
        let (mut n_shared, mut n_all) = (0, 0);
        for id in circuit.gate_ids() {
            let n_inputs = circuit.inputs(id).len();
            match (is_for_terminal[id.index()], is_for_step[id.index()]) {
                (true, true) => (n_shared, n_all) = (n_shared + n_inputs, n_all + n_inputs),
                (false, false) => {}
                _ => n_all += n_inputs,
            }
        }
        let plays_on_at_once = f64::from(n_shared as u32) <= MAX_REPEATED_SHARE * n_all as f64;
        if !plays_on_at_once {
            slots = terminal_slots.clone();
        }
        let (legal_tape, options) = legal_tape(circuit, &mut slots, pace)?;
        let (next_tape, next) = next_tape(circuit, &mut slots, first_computed, pace)?;
        let draws = options.iter().map(|it| DRAW_COST * it.len()).sum::<usize>();
        let options = options.iter().map(|it| OptionTree::new(it, slots.len())).collect();
        Ok(Self {
            n_slots: slots.len().max(terminal_slots.len()),
            terminal,
            cost: terminal_tape.cost() + legal_tape.cost() + next_tape.cost() + next.cost() + draws,
            terminal_tape,
            legal_tape,
            options,
            next_tape,
            next,
            plays_on_at_once,
        })
    }
}

impl NextCopy {
    fn cost(&self) -> usize {
        self.in_place.cost() + self.from_gates.len() + 2 * self.from_inputs.len()
    }

    /// Copies the next state to the current one; `buffer` is working memory.
    #[inline(always)]
    pub fn run<const N: usize>(
        &self,
        run_tape: RunTape<N>,
        values: &mut [Word<N>],
        buffer: &mut Vec<Word<N>>,
    ) {
        buffer.clear();
        buffer.extend(self.from_inputs.iter().map(|(_, signal)| signal.read(values)));
        run_tape(&self.in_place, values);
        for &(slot, signal) in &self.from_gates {
            values[slot as usize] = signal.read(values);
        }
        for ((slot, _), value) in self.from_inputs.iter().zip(buffer) {
            values[*slot as usize] = *value;
        }
    }
}

/// Makes the tape for the next state, and the copying of its result.
fn next_tape(
    circuit: &Circuit,
    slots: &mut Slots,
    first_computed: u32,
    pace: &Pace<'_>,
) -> Result<(Tape, NextCopy), StopReason> {
    let in_place = changed_in_place(circuit, slots);
    // Fluents changed in place come last, but their inputs come before.
    let mut outputs: Vec<GateId> = Vec::new();
    for (&id, &is_in_place) in circuit.next.iter().zip(&in_place) {
        if !is_in_place { outputs.push(id) } else { outputs.extend(operands(circuit, id, slots)) }
    }
    let tape = Tape::new(circuit, outputs, slots, pace)?;
    let (mut from_inputs, mut from_gates, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for (idx, (&id, is_in_place)) in circuit.next.iter().zip(in_place).enumerate() {
        let slot = Slots::FIRST_FLUENT + idx as u32;
        if is_in_place {
            targets.push((slot, id));
            continue;
        }
        let signal = slots.signal(id);
        if signal.slot >= first_computed {
            from_gates.push((slot, signal));
        } else if signal != Signal::plain(slot) {
            from_inputs.push((slot, signal));
        }
    }
    let in_place = Tape::with_targets(circuit, &targets, slots, pace)?;
    Ok((tape, NextCopy { from_inputs, in_place, from_gates }))
}

/// Returns for each fluent whether its new value can overwrite it in place, after everything else.
/// That requires that only the fluent needs the gate of its new value, and that no other gate
/// evaluated in place reads the fluent.
fn changed_in_place(circuit: &Circuit, slots: &Slots) -> Vec<bool> {
    let n_readers = n_readers(circuit);
    let is_candidate = |id: GateId| {
        matches!(circuit.gate(id), Gate::And(_) | Gate::Or(_))
            && n_readers[id.index()] == 1
            && circuit.inputs(id).len() <= MAX_COUNT
    };
    let mut is_in_place: Vec<bool> = circuit.next.iter().map(|&id| is_candidate(id)).collect();
    for (idx, &id) in circuit.next.iter().enumerate().filter(|(_, id)| is_candidate(**id)) {
        for part in operands(circuit, id, slots) {
            match circuit.gate(without_not(circuit, part).0) {
                Gate::Fluent(fluent) if fluent.index() != idx => {
                    is_in_place[fluent.index()] = false;
                }
                _ => {}
            }
        }
    }
    is_in_place
}

/// Lists the gates that the operation of a gate reads.
fn operands(circuit: &Circuit, id: GateId, slots: &Slots) -> Vec<GateId> {
    let parts_of = |&input: &GateId| {
        let (inner, _) = without_not(circuit, input);
        let parts = circuit.inputs(inner);
        if slots.is_inner(inner) { parts.to_vec() } else { vec![input] }
    };
    circuit.inputs(id).iter().flat_map(parts_of).collect()
}

/// Makes the tape for the legal moves, and lists the moves of each role to draw from.
fn legal_tape(
    circuit: &Circuit,
    slots: &mut Slots,
    pace: &Pace<'_>,
) -> Result<(Tape, Vec<Vec<DrawOption>>), StopReason> {
    let mut tape = Tape::new(circuit, circuit.legal.iter().copied(), slots, pace)?;
    let mut options = vec![Vec::new(); circuit.n_roles()];
    let first_move = Slots::FIRST_FLUENT as usize + circuit.vocabulary.fluents.len();
    for (idx, (&id, (role, _))) in circuit.legal.iter().zip(&circuit.vocabulary.moves).enumerate() {
        if circuit.gate(id) != Gate::Constant(false) {
            let source = tape.plain_slot(id, slots);
            options[role.index()].push(DrawOption { source, target: (first_move + idx) as u32 });
        }
    }
    Ok((tape, options))
}

impl GoalTapes {
    fn new(circuit: &Circuit, pace: &Pace<'_>) -> Result<Self, StopReason> {
        let mut slots = Slots::new(circuit);
        let gates = || circuit.goals.iter().map(|&(_, _, id)| id);
        let tape = Tape::new(circuit, gates(), &mut slots, pace)?;
        let is_needed = circuit.cone(gates());
        let fluent = |id: GateId| match circuit.gate(id) {
            Gate::Fluent(fluent) => Some(fluent.index()),
            _ => None,
        };
        let needed = circuit.gate_ids().filter(|id| is_needed[id.index()]);
        let fluents = needed.filter_map(fluent).collect();
        let mut values: Vec<(RoleId, u8, Signal)> = circuit
            .goals
            .iter()
            .map(|&(role, goal, id)| (role, goal.value(), slots.signal(id)))
            .collect();
        values.sort_by_key(|&(role, value, _)| (role, std::cmp::Reverse(value)));
        Ok(Self { tape, n_slots: slots.len(), values, fluents })
    }
}

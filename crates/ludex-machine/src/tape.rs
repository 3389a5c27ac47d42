//! The circuit as a compact list of operations that is run from front to back.
//!
//! Values live in *slots*. Gates get slots in the order in which they are evaluated, so an operation
//! says only what it reads. Negations cost nothing: they are marks on what is read.

use ludex_circuit::{Circuit, Gate, GateId, Loop};

use crate::word::Word;

/// Where values are.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The signal of each gate that has been placed.
    signals: Vec<Option<Signal>>,
    /// The feedback gates that a tape gives their values.
    has_source: Vec<bool>,
    n_slots: u32,
}

/// A slot, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    pub slot: u32,
    pub is_negated: bool,
}

/// Operations whose results go into consecutive slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    /// Runs of operations of the same form: a head, their number, then the inputs of each, first
    /// those that are read as they are, then those that are negated.
    code: Vec<u32>,
    /// Where the first result goes.
    first_slot: u32,
    /// No slot that is read or written is as large as this.
    n_slots: usize,
    loops: Vec<TapeLoop>,
}

/// A stretch of operations that is repeated until nothing changes.
#[derive(Clone, Debug)]
struct TapeLoop {
    code: std::ops::Range<u32>,
    first_slot: u32,
    end_slot: u32,
    feedback: Vec<(u32, Signal)>,
}

/// The head of a run: whether its operations are disjunctions, and how many inputs they have of each
/// kind.
const OR: u32 = 1 << 31;
const COUNT_BITS: u32 = 15;
const MAX_COUNT: usize = (1 << COUNT_BITS) - 1;

impl Slots {
    /// Slots for the inputs of a circuit: constants, fluents, moves, and the feedback of loops.
    pub fn new(circuit: &Circuit) -> Self {
        let (n_fluents, n_moves) =
            (circuit.vocabulary.fluents.len() as u32, circuit.vocabulary.moves.len() as u32);
        let mut slots = Self {
            signals: vec![None; circuit.n_gates()],
            has_source: vec![false; circuit.n_gates()],
            n_slots: 1 + n_fluents + n_moves,
        };
        for id in circuit.gate_ids() {
            let signal = match circuit.gate(id) {
                // Slot 0 is always false.
                Gate::Constant(value) => Signal { slot: 0, is_negated: value },
                Gate::Fluent(fluent) => Signal::plain(Self::FIRST_FLUENT + fluent.index() as u32),
                Gate::Move(played) => {
                    Signal::plain(Self::FIRST_FLUENT + n_fluents + played.index() as u32)
                }
                Gate::Feedback => {
                    slots.n_slots += 1;
                    Signal::plain(slots.n_slots - 1)
                }
                _ => continue,
            };
            slots.signals[id.index()] = Some(signal);
        }
        slots
    }

    /// The slot of the first fluent; the others follow, then the moves.
    pub const FIRST_FLUENT: u32 = 1;

    pub fn len(&self) -> usize {
        self.n_slots as usize
    }

    /// Where the value of a gate is.
    ///
    /// # Panics
    /// When no tape that was made with these slots computes the gate.
    pub fn signal(&self, id: GateId) -> Signal {
        self.signals[id.index()].expect("the gate is computed before it is read")
    }

    fn is_placed(&self, id: GateId) -> bool {
        self.signals[id.index()].is_some()
    }
}

impl Signal {
    /// The slot as it is.
    pub fn plain(slot: u32) -> Self {
        Self { slot, is_negated: false }
    }

    /// The value of the signal.
    #[inline(always)]
    pub fn read<const N: usize>(self, values: &[Word<N>]) -> Word<N> {
        let value = values[self.slot as usize];
        if self.is_negated { !value } else { value }
    }
}

impl Tape {
    /// The operations for the gates that `outputs` depend on and that have no slot yet; they have
    /// one then.
    pub fn new(
        circuit: &Circuit,
        outputs: impl IntoIterator<Item = GateId>,
        slots: &mut Slots,
    ) -> Self {
        let is_needed = circuit.cone(outputs);
        let mut tape = Tape { first_slot: slots.n_slots, ..Tape::default() };
        let mut next = 0;
        for it in &circuit.loops {
            tape.add_gates(circuit, next..it.gates.start as usize, &is_needed, slots);
            tape.add_loop(circuit, it, &is_needed, slots);
            next = it.gates.end as usize;
        }
        tape.add_gates(circuit, next..circuit.n_gates(), &is_needed, slots);
        tape.n_slots = slots.len();
        tape
    }

    fn add_loop(&mut self, circuit: &Circuit, it: &Loop, is_needed: &[bool], slots: &mut Slots) {
        let (code_start, first_slot) = (self.code.len() as u32, slots.n_slots);
        let gates = it.gates.start as usize..it.gates.end as usize;
        self.add_gates(circuit, gates, is_needed, slots);
        let is_open = |to: &GateId| is_needed[to.index()] && !slots.has_source[to.index()];
        let feedback: Vec<(GateId, GateId)> =
            it.feedback.iter().filter(|(to, _)| is_open(to)).copied().collect();
        if feedback.is_empty() && first_slot == slots.n_slots {
            return;
        }
        feedback.iter().for_each(|(to, _)| slots.has_source[to.index()] = true);
        let feedback = feedback
            .into_iter()
            .map(|(to, from)| (slots.signal(to).slot, slots.signal(from)))
            .collect();
        let code = code_start..self.code.len() as u32;
        self.loops.push(TapeLoop { code, first_slot, end_slot: slots.n_slots, feedback });
    }

    /// Adds those of some gates that are needed and not placed. They are sorted by level, so that a
    /// gate comes after its inputs, and within a level by form, so that the processor meets the same
    /// instructions again and again and guesses its branches right.
    fn add_gates(
        &mut self,
        circuit: &Circuit,
        gates: std::ops::Range<usize>,
        is_needed: &[bool],
        slots: &mut Slots,
    ) {
        let mut levels = vec![0_u32; gates.len()];
        let mut open: Vec<(u32, GateId)> = Vec::new();
        for id in gates.clone().map(GateId::new) {
            if !is_needed[id.index()] || slots.is_placed(id) {
                continue;
            }
            let level_of = |input: &GateId| match input.index().checked_sub(gates.start) {
                Some(idx) if !slots.is_placed(*input) => levels[idx],
                _ => 0,
            };
            let below = circuit.inputs(id).iter().map(level_of).max().unwrap_or(0);
            let is_negation = matches!(circuit.gate(id), Gate::Not(_));
            let level = if is_negation { below } else { below + 1 };
            levels[id.index() - gates.start] = level;
            open.push((level, id));
        }
        // Negations of a level follow its gates, and are numbered after them.
        open.sort_by_key(|&(level, id)| (level, matches!(circuit.gate(id), Gate::Not(_)), id));
        let mut rest = &open[..];
        while let Some(&(level, _)) = rest.first() {
            let n = rest.iter().take_while(|(other, _)| *other == level).count();
            self.add_level(circuit, &rest[..n], slots);
            rest = &rest[n..];
        }
    }

    fn add_level(&mut self, circuit: &Circuit, level: &[(u32, GateId)], slots: &mut Slots) {
        let mut operations: Vec<(u32, Vec<u32>, GateId)> = Vec::new();
        let mut negations = Vec::new();
        for &(_, id) in level {
            match circuit.gate(id) {
                Gate::Not(input) => negations.push((id, input)),
                Gate::And(inputs) => operations.push(self.operation(false, inputs, id, slots)),
                Gate::Or(inputs) => operations.push(self.operation(true, inputs, id, slots)),
                _ => unreachable!("inputs have slots from the beginning"),
            }
        }
        operations.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for run in operations.chunk_by(|a, b| a.0 == b.0) {
            self.code.extend([run[0].0, run.len() as u32]);
            for (_, inputs, id) in run {
                self.code.extend(inputs);
                slots.signals[id.index()] = Some(Signal::plain(slots.n_slots));
                slots.n_slots += 1;
            }
        }
        for (id, input) in negations {
            let Signal { slot, is_negated } = slots.signal(input);
            slots.signals[id.index()] = Some(Signal { slot, is_negated: !is_negated });
        }
    }

    /// The head and the inputs of the operation of a gate.
    fn operation(
        &mut self,
        is_or: bool,
        inputs: &[GateId],
        id: GateId,
        slots: &mut Slots,
    ) -> (u32, Vec<u32>, GateId) {
        let (mut plain, mut negated): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for Signal { slot, is_negated } in inputs.iter().map(|&input| slots.signal(input)) {
            if is_negated { &mut negated } else { &mut plain }.push(slot);
        }
        // A very wide gate becomes a chain: each link reads the one before.
        while plain.len() + negated.len() > MAX_COUNT {
            let list = if plain.len() > negated.len() { &mut plain } else { &mut negated };
            let link: Vec<u32> = list.drain(..MAX_COUNT / 2).collect();
            let n_plain = if plain.len() > negated.len() { link.len() } else { 0 };
            self.code.extend([head(is_or, n_plain, link.len() - n_plain), 1]);
            self.code.extend(link);
            plain.push(slots.n_slots);
            slots.n_slots += 1;
        }
        let head = head(is_or, plain.len(), negated.len());
        plain.extend(negated);
        (head, plain, id)
    }

    /// A slot that has the value of a gate as it is, if need be of its own.
    pub fn plain_slot(&mut self, id: GateId, slots: &mut Slots) -> u32 {
        let Signal { slot, is_negated } = slots.signal(id);
        if !is_negated {
            return slot;
        }
        debug_assert_eq!(self.n_slots, slots.len(), "the tape is the last that was made");
        self.code.extend([head(false, 0, 1), 1, slot]);
        slots.signals[id.index()] = Some(Signal::plain(slots.n_slots));
        slots.n_slots += 1;
        self.n_slots = slots.len();
        slots.n_slots - 1
    }

    /// Runs the operations.
    #[inline(always)]
    pub fn run<const N: usize>(&self, values: &mut [Word<N>]) {
        // `operate` and `run_code` rely on this.
        assert!(values.len() >= self.n_slots, "there is a value for every slot");
        let (mut code, mut slot) = (0, self.first_slot);
        for it in &self.loops {
            run_code(&self.code[code..it.code.start as usize], slot, values);
            self.run_loop(it, values);
            (code, slot) = (it.code.end as usize, it.end_slot);
        }
        run_code(&self.code[code..], slot, values);
    }

    #[inline(always)]
    fn run_loop<const N: usize>(&self, it: &TapeLoop, values: &mut [Word<N>]) {
        for &(to, _) in &it.feedback {
            values[to as usize] = Word::ZERO;
        }
        loop {
            let code = &self.code[it.code.start as usize..it.code.end as usize];
            run_code(code, it.first_slot, values);
            let mut changed = Word::ZERO;
            for &(to, from) in &it.feedback {
                let value = from.read(values);
                changed |= values[to as usize] ^ value;
                values[to as usize] = value;
            }
            if changed.is_zero() {
                break;
            }
        }
    }
}

fn head(is_or: bool, n_plain: usize, n_negated: usize) -> u32 {
    let counts = (n_plain as u32) << COUNT_BITS | n_negated as u32;
    if is_or { OR | counts } else { counts }
}

#[inline(always)]
fn run_code<const N: usize>(mut code: &[u32], slot: u32, values: &mut [Word<N>]) {
    let mut slot = slot as usize;
    while let [head, n_operations, rest @ ..] = code {
        let n_plain = (head >> COUNT_BITS) as usize & MAX_COUNT;
        let n_negated = *head as usize & MAX_COUNT;
        let n_inputs = n_plain + n_negated;
        let n_operations = *n_operations as usize;
        let (inputs, rest) = rest.split_at(n_operations * n_inputs);
        code = rest;
        // The usual forms have loops of their own, in which everything is known but the slots.
        macro_rules! runs {
            ($(($n_plain:literal, $n_negated:literal))*) => {
                match (head & OR != 0, n_plain, n_negated) {
                    $(
                        (false, $n_plain, $n_negated) =>
                            run_form::<N, false, $n_plain, $n_negated>(inputs, slot, values),
                        (true, $n_plain, $n_negated) =>
                            run_form::<N, true, $n_plain, $n_negated>(inputs, slot, values),
                    )*
                    (false, ..) => run_wide::<N, false>(inputs, n_plain, n_negated, slot, values),
                    (true, ..) => run_wide::<N, true>(inputs, n_plain, n_negated, slot, values),
                }
            };
        }
        runs!((2, 0)(1, 1)(0, 2)(3, 0)(2, 1)(1, 2)(0, 3)(4, 0));
        slot += n_operations;
    }
}

/// Operations of a form that the compiler knows.
#[inline(always)]
fn run_form<const N: usize, const IS_OR: bool, const N_PLAIN: usize, const N_NEGATED: usize>(
    inputs: &[u32],
    mut slot: usize,
    values: &mut [Word<N>],
) {
    for inputs in inputs.chunks_exact(N_PLAIN + N_NEGATED) {
        let (plain, negated) = inputs.split_at(N_PLAIN);
        let value = operate::<N, IS_OR>(plain, negated, values);
        // SAFETY: results go to slots that the tape was made with, and `run` has seen that there are
        // values for all of them. Checking each time takes 13 to 25 % of the instructions of a step
        // (docs/decisions/009).
        unsafe { *values.get_unchecked_mut(slot) = value };
        slot += 1;
    }
}

/// Operations of any form.
#[inline(always)]
fn run_wide<const N: usize, const IS_OR: bool>(
    inputs: &[u32],
    n_plain: usize,
    n_negated: usize,
    mut slot: usize,
    values: &mut [Word<N>],
) {
    for inputs in inputs.chunks_exact(n_plain + n_negated) {
        let (plain, negated) = inputs.split_at(n_plain);
        let value = operate::<N, IS_OR>(plain, negated, values);
        // SAFETY: results go to slots that the tape was made with, and `run` has seen that there are
        // values for all of them. Checking each time takes 13 to 25 % of the instructions of a step
        // (docs/decisions/009).
        unsafe { *values.get_unchecked_mut(slot) = value };
        slot += 1;
    }
}

#[inline(always)]
fn operate<const N: usize, const IS_OR: bool>(
    plain: &[u32],
    negated: &[u32],
    values: &[Word<N>],
) -> Word<N> {
    // SAFETY: inputs are slots that the tape was made with, and `run` has seen that there are values
    // for all of them.
    let read = |input: u32| unsafe { *values.get_unchecked(input as usize) };
    let mut value = Word::splat(!IS_OR);
    for &input in plain {
        let input = read(input);
        value = if IS_OR { value | input } else { value & input };
    }
    for &input in negated {
        let input = !read(input);
        value = if IS_OR { value | input } else { value & input };
    }
    value
}

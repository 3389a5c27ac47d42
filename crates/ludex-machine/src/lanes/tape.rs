//! Tapes: the circuit as a compact list of operations that runs from front to back.
//!
//! Values live in *slots*. Gates get slots in the order of evaluation, so an operation lists only
//! its inputs. Negations cost nothing: they are flags of inputs. Pairs that only one operation
//! needs are evaluated inside it.

use ludex_base::{Pace, StopReason};
use ludex_circuit::{Circuit, Gate, GateId, Loop};

use crate::lanes::fuse::{inner_gates, without_not};
use crate::lanes::word::Word;

/// A decoded operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub is_or: bool,
    /// The slot of the result.
    pub target: u32,
    pub single: Vec<Signal>,
    /// Pairs of signals: in a disjunction, both of a pair must be true; in a conjunction, one of
    /// them.
    pub pairs: Vec<[Signal; 2]>,
}

/// The slots of all gates.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The signal of each gate that has been placed.
    signals: Vec<Option<Signal>>,
    /// The feedback gates whose values a tape computes.
    has_source: Vec<bool>,
    /// The gates without a slot, which their only reader evaluates.
    is_inner: Vec<bool>,
    n_slots: u32,
}

/// A slot, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    pub slot: u32,
    pub is_negated: bool,
}

/// A list of operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    /// Runs of operations of the same shape: a head, then the offsets of the inputs of each. If
    /// `has_targets` is set, the offset of the result comes before the inputs.
    pub code: Vec<u32>,
    /// The parts of the code, in order.
    pub parts: Vec<Part>,
    /// All slots that are read or written are below this.
    pub n_slots: usize,
    /// Whether operations name the slots of their results, instead of filling consecutive slots.
    pub has_targets: bool,
}

/// A section of operations; one with feedback repeats until nothing changes.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The end of its code.
    pub end: u32,
    /// The slot of the first result.
    pub first_slot: u32,
    pub feedback: Vec<(u32, Signal)>,
}

/// The common shape of a run of operations, and their number.
///
/// A disjunction has some plain inputs, then some negated ones, then pairs of which both must be
/// true: two plain, a plain and a negated, two negated. In a conjunction, one of each pair must be
/// true.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Head {
    pub is_or: bool,
    /// The number of inputs or pairs of each sort, in the order above.
    pub shape: Shape,
    pub n_operations: usize,
}

pub(crate) type Shape = [usize; 5];

/// The common shapes, which have their own loops.
pub(crate) const USUAL_SHAPES: [Shape; 17] = [
    [2, 0, 0, 0, 0],
    [1, 1, 0, 0, 0],
    [0, 2, 0, 0, 0],
    [3, 0, 0, 0, 0],
    [2, 1, 0, 0, 0],
    [1, 2, 0, 0, 0],
    [0, 3, 0, 0, 0],
    [4, 0, 0, 0, 0],
    [1, 0, 1, 0, 0],
    [1, 0, 0, 1, 0],
    [1, 0, 0, 0, 1],
    [0, 1, 1, 0, 0],
    [0, 1, 0, 1, 0],
    [0, 1, 0, 0, 1],
    [0, 0, 2, 0, 0],
    [0, 0, 1, 1, 0],
    [0, 0, 0, 2, 0],
];

/// The code stores slots as offsets in units of 64 bits, for words of 256 bits: a processor can add
/// these to an address.
pub(crate) const OFFSETS_PER_SLOT: u32 = 4;

/// The largest number of inputs or pairs of one sort in a head.
pub(crate) const MAX_COUNT: usize = (1 << 15) - 1;

impl Slots {
    /// Assigns slots to the inputs of a circuit: constants, fluents, moves, and the feedback of
    /// loops.
    pub fn new(circuit: &Circuit) -> Self {
        let (n_fluents, n_moves) =
            (circuit.vocabulary.fluents.len() as u32, circuit.vocabulary.moves.len() as u32);
        let mut slots = Self {
            signals: vec![None; circuit.n_gates()],
            has_source: vec![false; circuit.n_gates()],
            is_inner: inner_gates(circuit),
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

    /// Returns the signal with the value of a gate.
    ///
    /// # Panics
    /// When no tape made with these slots computes the gate.
    pub fn signal(&self, id: GateId) -> Signal {
        self.signals[id.index()].expect("a gate must be computed before it is read")
    }

    /// Returns whether a gate has no slot because its only reader evaluates it.
    pub fn is_inner(&self, id: GateId) -> bool {
        self.is_inner[id.index()]
    }

    fn is_placed(&self, id: GateId) -> bool {
        self.signals[id.index()].is_some()
    }
}

impl Signal {
    /// Returns the signal of a slot without negation.
    pub fn plain(slot: u32) -> Self {
        Self { slot, is_negated: false }
    }

    /// Reads the value of the signal.
    #[inline(always)]
    pub fn read<const N: usize>(self, values: &[Word<N>]) -> Word<N> {
        let value = values[self.slot as usize];
        if self.is_negated { !value } else { value }
    }
}

impl Tape {
    /// Makes the operations for the gates that `outputs` depend on and that have no slot yet, and
    /// assigns them slots.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn new(
        circuit: &Circuit,
        outputs: impl IntoIterator<Item = GateId>,
        slots: &mut Slots,
        pace: &Pace<'_>,
    ) -> Result<Self, StopReason> {
        let is_needed = circuit.cone(outputs);
        let mut tape = Tape::default();
        let mut next = 0;
        for it in &circuit.loops {
            tape.add_part(circuit, next..it.gates.start as usize, None, &is_needed, slots, pace)?;
            let gates = it.gates.start as usize..it.gates.end as usize;
            tape.add_part(circuit, gates, Some(it), &is_needed, slots, pace)?;
            next = it.gates.end as usize;
        }
        tape.add_part(circuit, next..circuit.n_gates(), None, &is_needed, slots, pace)?;
        tape.n_slots = slots.len();
        Ok(tape)
    }

    fn add_part(
        &mut self,
        circuit: &Circuit,
        gates: std::ops::Range<usize>,
        of_loop: Option<&Loop>,
        is_needed: &[bool],
        slots: &mut Slots,
        pace: &Pace<'_>,
    ) -> Result<(), StopReason> {
        let first_slot = slots.n_slots;
        self.add_gates(circuit, gates, is_needed, slots, pace)?;
        let is_open = |to: &GateId| is_needed[to.index()] && !slots.has_source[to.index()];
        let feedback: Vec<(GateId, GateId)> = (of_loop.iter())
            .flat_map(|it| &it.feedback)
            .filter(|(to, _)| is_open(to))
            .copied()
            .collect();
        if feedback.is_empty() && first_slot == slots.n_slots {
            return Ok(());
        }
        feedback.iter().for_each(|(to, _)| slots.has_source[to.index()] = true);
        let feedback = feedback
            .into_iter()
            .map(|(to, from)| (slots.signal(to).slot, slots.signal(from)))
            .collect();
        self.parts.push(Part { end: self.code.len() as u32, first_slot, feedback });
        Ok(())
    }

    /// Adds the gates that are needed and not placed yet. They are sorted by level, so that a gate
    /// comes after its inputs, and within a level by form: the processor then repeats the same
    /// instructions and predicts its branches well.
    fn add_gates(
        &mut self,
        circuit: &Circuit,
        gates: std::ops::Range<usize>,
        is_needed: &[bool],
        slots: &mut Slots,
        pace: &Pace<'_>,
    ) -> Result<(), StopReason> {
        let mut levels = vec![0_u32; gates.len()];
        let mut open: Vec<(u32, GateId)> = Vec::new();
        for id in gates.clone().map(GateId::new) {
            if !is_needed[id.index()] || slots.is_placed(id) {
                continue;
            }
            pace.steps(1 + circuit.inputs(id).len())?;
            let level_of = |input: &GateId| match input.index().checked_sub(gates.start) {
                Some(idx) if !slots.is_placed(*input) => levels[idx],
                _ => 0,
            };
            let below = circuit.inputs(id).iter().map(level_of).max().unwrap_or(0);
            let is_negation = matches!(circuit.gate(id), Gate::Not(_));
            let is_inner = slots.is_inner(without_not(circuit, id).0);
            let level = if is_negation || is_inner { below } else { below + 1 };
            levels[id.index() - gates.start] = level;
            if !is_inner {
                open.push((level, id));
            }
        }
        // Negations come after the gates of their level, and get their numbers after them.
        open.sort_by_key(|&(level, id)| (level, matches!(circuit.gate(id), Gate::Not(_)), id));
        let mut rest = &open[..];
        while let Some(&(level, _)) = rest.first() {
            let n = rest.iter().take_while(|(other, _)| *other == level).count();
            self.add_level(circuit, &rest[..n], slots, pace)?;
            rest = &rest[n..];
        }
        Ok(())
    }

    fn add_level(
        &mut self,
        circuit: &Circuit,
        level: &[(u32, GateId)],
        slots: &mut Slots,
        pace: &Pace<'_>,
    ) -> Result<(), StopReason> {
        let mut operations: Vec<(Head, Vec<u32>, GateId)> = Vec::new();
        let mut negations = Vec::new();
        for &(_, id) in level {
            pace.steps(1 + circuit.inputs(id).len())?;
            match circuit.gate(id) {
                Gate::Not(input) => negations.push((id, input)),
                Gate::And(_) | Gate::Or(_) => operations.push(self.operation(circuit, id, slots)),
                _ => unreachable!("inputs already have slots"),
            }
        }
        operations.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for run in operations.chunk_by(|a, b| a.0 == b.0) {
            self.code.extend(Head { n_operations: run.len(), ..run[0].0 }.words());
            for (_, inputs, id) in run {
                self.code.extend(offsets(inputs));
                slots.signals[id.index()] = Some(Signal::plain(slots.n_slots));
                slots.n_slots += 1;
            }
        }
        for (id, input) in negations {
            let Signal { slot, is_negated } = slots.signal(input);
            slots.signals[id.index()] = Some(Signal { slot, is_negated: !is_negated });
        }
        Ok(())
    }

    /// Returns the head and the inputs of the operation of a gate.
    fn operation(
        &mut self,
        circuit: &Circuit,
        id: GateId,
        slots: &mut Slots,
    ) -> (Head, Vec<u32>, GateId) {
        let is_or = matches!(circuit.gate(id), Gate::Or(_));
        let mut sorts: [Vec<u32>; 5] = Default::default();
        for &input in circuit.inputs(id) {
            let (inner, is_negated) = without_not(circuit, input);
            if !slots.is_inner(inner) {
                let Signal { slot, is_negated } = slots.signal(input);
                sorts[usize::from(is_negated)].push(slot);
                continue;
            }
            let signals = circuit.inputs(inner).iter().map(|&part| slots.signal(part));
            let mut pair: Vec<(bool, u32)> =
                signals.map(|it| (it.is_negated != is_negated, it.slot)).collect();
            pair.sort_unstable();
            let n_negated = pair.iter().filter(|(is_negated, _)| *is_negated).count();
            sorts[2 + n_negated].extend(pair.iter().map(|&(_, slot)| slot));
        }
        // A very wide gate becomes a chain in which each link reads the one before. Links are plain
        // inputs, so that sort comes last.
        for sort in (0..5).rev() {
            let width = if sort < 2 { 1 } else { 2 };
            while sorts[sort].len() > MAX_COUNT * width {
                let link: Vec<u32> = sorts[sort].drain(..MAX_COUNT / 2 * width).collect();
                let mut shape = [0; 5];
                shape[sort] = link.len() / width;
                self.code.extend(Head { is_or, shape, n_operations: 1 }.words());
                self.code.extend(offsets(&link));
                sorts[0].push(slots.n_slots);
                slots.n_slots += 1;
            }
        }
        let shape = [0, 1, 2, 3, 4].map(|sort| sorts[sort].len() / if sort < 2 { 1 } else { 2 });
        (Head { is_or, shape, n_operations: 0 }, sorts.concat(), id)
    }

    /// Makes the operations for at most [`MAX_COUNT`] gates whose inputs have slots, each with the
    /// slot of its result.
    ///
    /// # Errors
    /// As [`Tape::new`].
    pub fn with_targets(
        circuit: &Circuit,
        targets: &[(u32, GateId)],
        slots: &mut Slots,
        pace: &Pace<'_>,
    ) -> Result<Self, StopReason> {
        let mut tape = Tape { has_targets: true, ..Tape::default() };
        let mut operations: Vec<(Head, u32, Vec<u32>)> = Vec::new();
        for &(target, id) in targets {
            pace.steps(1 + circuit.inputs(id).len())?;
            let (head, inputs, _) = tape.operation(circuit, id, slots);
            operations.push((head, target, inputs));
        }
        operations.sort();
        for run in operations.chunk_by(|a, b| a.0 == b.0) {
            tape.code.extend(Head { n_operations: run.len(), ..run[0].0 }.words());
            for (_, target, inputs) in run {
                tape.code.extend(offsets(&[*target]));
                tape.code.extend(offsets(inputs));
            }
        }
        tape.parts.push(Part { end: tape.code.len() as u32, first_slot: 0, feedback: Vec::new() });
        tape.n_slots = slots.len();
        Ok(tape)
    }

    /// Returns whether some part repeats until nothing changes.
    pub fn has_loops(&self) -> bool {
        self.parts.iter().any(|part| !part.feedback.is_empty())
    }

    /// Marks the slots that the tape reads.
    pub fn mark_reads(&self, is_read: &mut [bool]) {
        for Operation { single, pairs, .. } in self.operations() {
            for signal in single.iter().chain(pairs.as_flattened()) {
                is_read[signal.slot as usize] = true;
            }
        }
        for (_, signal) in self.parts.iter().flat_map(|part| &part.feedback) {
            is_read[signal.slot as usize] = true;
        }
    }

    /// Decodes the operations.
    pub fn operations(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        let mut start = 0;
        for part in &self.parts {
            let mut code = &self.code[start..part.end as usize];
            start = part.end as usize;
            let mut slot = part.first_slot;
            while let Some((head, rest)) = code.split_first_chunk() {
                let (head, _) = Head::from_words(*head);
                code = rest;
                for _ in 0..head.n_operations {
                    let mut next_slot = || {
                        let (offset, rest) = code.split_first().expect("operations are complete");
                        code = rest;
                        offset / OFFSETS_PER_SLOT
                    };
                    let target = if self.has_targets { next_slot() } else { slot };
                    slot += 1;
                    operations.push(Operation::read(head, target, next_slot));
                }
            }
        }
        operations
    }

    /// Estimates how many words the tape reads.
    pub fn cost(&self) -> usize {
        self.code.len()
    }

    /// Returns a slot with the value of a gate without negation, adding one if necessary.
    pub fn plain_slot(&mut self, id: GateId, slots: &mut Slots) -> u32 {
        let Signal { slot, is_negated } = slots.signal(id);
        if !is_negated {
            return slot;
        }
        debug_assert_eq!(self.n_slots, slots.len(), "only the last tape can be extended");
        let first_slot = slots.n_slots;
        self.code.extend(Head { is_or: false, shape: [0, 1, 0, 0, 0], n_operations: 1 }.words());
        self.code.extend(offsets(&[slot]));
        self.parts.push(Part { end: self.code.len() as u32, first_slot, feedback: Vec::new() });
        slots.signals[id.index()] = Some(Signal::plain(slots.n_slots));
        slots.n_slots += 1;
        self.n_slots = slots.len();
        slots.n_slots - 1
    }
}

impl Operation {
    fn read(head: Head, target: u32, mut next_slot: impl FnMut() -> u32) -> Self {
        let mut signal = |is_negated| Signal { slot: next_slot(), is_negated };
        let [plain, negated, both_plain, mixed, both_negated] = head.shape;
        let mut single: Vec<Signal> = (0..plain).map(|_| signal(false)).collect();
        single.extend((0..negated).map(|_| signal(true)));
        let mut pairs: Vec<[Signal; 2]> =
            (0..both_plain).map(|_| [signal(false), signal(false)]).collect();
        pairs.extend((0..mixed).map(|_| [signal(false), signal(true)]));
        pairs.extend((0..both_negated).map(|_| [signal(true), signal(true)]));
        Self { is_or: head.is_or, target, single, pairs }
    }
}

fn offsets(slots: &[u32]) -> impl Iterator<Item = u32> {
    slots.iter().map(|slot| slot * OFFSETS_PER_SLOT)
}

impl Head {
    pub const N_WORDS: usize = 4;

    fn words(self) -> [u32; Self::N_WORDS] {
        let [plain, negated, both_plain, mixed, both_negated] = self.shape.map(|it| it as u32);
        [
            u32::from(self.is_or) << 31 | plain << 15 | negated,
            both_plain << 15 | mixed,
            self.form() << 15 | both_negated,
            self.n_operations as u32,
        ]
    }

    /// Returns the index of the shape in [`USUAL_SHAPES`], or a larger number.
    fn form(self) -> u32 {
        USUAL_SHAPES.iter().position(|shape| *shape == self.shape).unwrap_or(USUAL_SHAPES.len())
            as u32
    }

    /// Decodes a head and its form.
    #[inline(always)]
    pub fn from_words(words: [u32; Self::N_WORDS]) -> (Self, usize) {
        let high = |word: u32| (word >> 15) as usize & MAX_COUNT;
        let low = |word: u32| word as usize & MAX_COUNT;
        let [first, second, third, n_operations] = words;
        let head = Self {
            is_or: first >> 31 != 0,
            shape: [high(first), low(first), high(second), low(second), low(third)],
            n_operations: n_operations as usize,
        };
        (head, high(third))
    }
}

//! Tapes as straight-line code: instructions with two operands, in an order that suits registers.
//!
//! A tape goes level by level, because runs of equal operations are quick to interpret. Machine
//! code needs no interpretation, so it goes depth first: most values are used while they are still
//! in a register, and are never stored.

use crate::lanes::tape::{Operation, Signal, Tape};

/// A word that an instruction reads or makes.
pub(crate) type Value = u32;

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instruction {
    /// Combines two values.
    Join { join: Join, left: Value, right: Value, made: Value },
    /// Negates a value.
    Not { value: Value, made: Value },
    /// Copies a value, so that it survives when its slot is written.
    Keep { value: Value, made: Value },
    /// Writes a value to a slot.
    Store { value: Value, slot: u32 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Join {
    And,
    Or,
    Xor,
    /// The bits that are set on the right and not on the left.
    Without,
}

/// Straight-line code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Straight {
    pub instructions: Vec<Instruction>,
    /// For each value, the slot that holds it at the beginning.
    pub slots: Vec<Option<u32>>,
}

/// A gate of a tape, or a pair within one. It is either the disjunction of its inputs, or the
/// conjunction of the second part of them with the negations of the first part; so inputs need no
/// negation of their own.
#[derive(Clone, Debug)]
struct Node {
    /// The start and end of its inputs, and the start of their second part.
    start: u32,
    second: u32,
    end: u32,
    /// Whether its value is the negation of the gate.
    is_negated: bool,
    /// The length of the longest chain of nodes below it.
    height: u32,
}

/// An input of a node: another node, or the initial value of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    Node(u32),
    Slot(u32),
}

/// Makes straight-line code from tapes and the slots wanted of them.
pub(crate) struct StraightMaker {
    nodes: Vec<Node>,
    inputs: Vec<Input>,
    /// The node that makes the value of each slot.
    node_of_slot: Vec<Option<u32>>,
    /// The value of each node and the initial value of each slot, once an instruction reads or
    /// makes it.
    node_values: Vec<Option<Value>>,
    slot_values: Vec<Option<Value>>,
    /// The final values of slots.
    wanted: Vec<Option<Value>>,
    code: Straight,
    /// The slots to write, each with the number of instructions before it.
    stores: Vec<(usize, Value, u32)>,
    /// Slots that become copies of the initial values of other slots.
    copies: Vec<(u32, Signal)>,
}

impl StraightMaker {
    /// Starts with no operations and nothing wanted.
    pub fn new(n_slots: usize) -> Self {
        Self {
            nodes: Vec::new(),
            inputs: Vec::new(),
            node_of_slot: vec![None; n_slots],
            node_values: Vec::new(),
            slot_values: vec![None; n_slots],
            wanted: vec![None; n_slots],
            code: Straight::default(),
            stores: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Adds the operations of a tape; each is evaluated only if something wanted needs it.
    pub fn add(&mut self, tape: &Tape) {
        for operation in tape.operations() {
            let node = self.add_operation(&operation);
            self.node_of_slot[operation.target as usize] = Some(node);
        }
    }

    /// Requests all operations of a tape with targets.
    pub fn want_targets(&mut self, tape: &Tape) {
        for operation in tape.operations() {
            let node = self.add_operation(&operation);
            self.want_node(operation.target, node, false);
        }
    }

    /// Requests that a slot finally holds the value of a signal: the result of an operation if
    /// there is one, or else the initial value of the slot.
    pub fn want(&mut self, slot: u32, signal: Signal) {
        match self.node_of_slot[signal.slot as usize] {
            Some(node) => self.want_node(slot, node, signal.is_negated),
            None => self.copies.push((slot, signal)),
        }
    }

    /// Returns whether an operation makes the value of a slot.
    pub fn is_made(&self, slot: u32) -> bool {
        self.node_of_slot[slot as usize].is_some()
    }

    /// Returns the value of a slot, initial or made by an operation. In the latter case the slot
    /// finally holds it.
    pub fn value(&mut self, slot: u32) -> Value {
        let Some(node) = self.node_of_slot[slot as usize] else {
            return self.slot_value(slot);
        };
        if self.wanted[slot as usize].is_none() {
            self.want_node(slot, node, false);
        }
        self.wanted[slot as usize].expect("the slot was just evaluated")
    }

    /// Combines two values.
    pub fn join(&mut self, join: Join, left: Value, right: Value) -> Value {
        self.push(|made| Instruction::Join { join, left, right, made })
    }

    /// Requests that a slot finally holds a value.
    pub fn store(&mut self, slot: u32, value: Value) {
        match self.code.slots[value as usize] {
            Some(source) => self.copies.push((slot, Signal::plain(source))),
            None => self.stores.push((self.code.instructions.len(), value, slot)),
        }
    }

    fn add_operation(&mut self, operation: &Operation) -> u32 {
        let mut literals: Vec<(Input, bool)> =
            operation.single.iter().map(|&signal| self.literal(signal)).collect();
        for pair in &operation.pairs {
            let pair = pair.map(|signal| self.literal(signal));
            let node = self.push_node(!operation.is_or, &pair);
            literals.push((Input::Node(node), self.nodes[node as usize].is_negated));
        }
        self.push_node(operation.is_or, &literals)
    }

    /// Returns the input for a signal, and whether the signal is its negation.
    fn literal(&self, Signal { slot, is_negated }: Signal) -> (Input, bool) {
        match self.node_of_slot[slot as usize] {
            Some(node) => (Input::Node(node), is_negated != self.nodes[node as usize].is_negated),
            None => (Input::Slot(slot), is_negated),
        }
    }

    fn push_node(&mut self, is_or: bool, literals: &[(Input, bool)]) -> u32 {
        let n_negated = literals.iter().filter(|(_, is_negated)| *is_negated).count();
        let is_mixed = n_negated != 0 && n_negated != literals.len();
        // `p ∨ ¬n` is `¬(n ∧ ¬p)`, and `¬a ∧ ¬b` is `¬(a ∨ b)`: no input needs a negation.
        let is_negated = if is_or { n_negated > 0 } else { n_negated == literals.len() };
        let is_disjunction = !is_mixed && is_or != is_negated;
        let start = self.inputs.len();
        let is_first = |&&(_, is_negated): &&(Input, bool)| {
            if is_mixed { is_negated != is_or } else { is_disjunction }
        };
        self.inputs.extend(literals.iter().filter(is_first).map(|(input, _)| input));
        let second = self.inputs.len();
        self.inputs.extend(literals.iter().filter(|it| !is_first(it)).map(|(input, _)| input));
        // The input that needs most registers is evaluated first; slots are read last, from memory.
        let nodes = &self.nodes;
        let height = |input: &Input| match input {
            Input::Node(node) => nodes[*node as usize].height + 1,
            Input::Slot(_) => 0,
        };
        let (first_part, second_part) = self.inputs[start..].split_at_mut(second - start);
        first_part.sort_by_key(|input| std::cmp::Reverse(height(input)));
        second_part.sort_by_key(|input| std::cmp::Reverse(height(input)));
        let height = self.inputs[start..].iter().map(height).max().unwrap_or(0);
        self.nodes.push(Node {
            start: start as u32,
            second: second as u32,
            end: self.inputs.len() as u32,
            is_negated,
            height,
        });
        self.node_values.push(None);
        self.nodes.len() as u32 - 1
    }

    fn want_node(&mut self, slot: u32, node: u32, is_negated: bool) {
        let mut value = self.evaluate(node);
        if is_negated != self.nodes[node as usize].is_negated {
            value = self.push(|made| Instruction::Not { value, made });
        }
        self.wanted[slot as usize] = Some(value);
        self.store(slot, value);
    }

    /// Returns the value of a node, adding the instructions that make it.
    fn evaluate(&mut self, node: u32) -> Value {
        // The nodes in progress, each with its next input and its value so far.
        let mut open: Vec<(u32, u32, Option<Value>)> = Vec::new();
        open.push((node, self.nodes[node as usize].start, None));
        while let Some(&(node, at, so_far)) = open.last() {
            if self.node_values[node as usize].is_some() {
                open.pop();
                continue;
            }
            let Node { second, end, .. } = self.nodes[node as usize];
            if at == end {
                self.node_values[node as usize] = so_far;
                open.pop();
                continue;
            }
            let value = match self.inputs[at as usize] {
                Input::Slot(slot) => self.slot_value(slot),
                Input::Node(input) => match self.node_values[input as usize] {
                    Some(value) => value,
                    None => {
                        open.push((input, self.nodes[input as usize].start, None));
                        continue;
                    }
                },
            };
            let joined = match so_far {
                None => value,
                Some(left) => {
                    let join = match at.cmp(&second) {
                        std::cmp::Ordering::Less => Join::Or,
                        std::cmp::Ordering::Equal => Join::Without,
                        std::cmp::Ordering::Greater => Join::And,
                    };
                    self.push(|made| Instruction::Join { join, left, right: value, made })
                }
            };
            *open.last_mut().expect("the node is still in progress") = (node, at + 1, Some(joined));
        }
        self.node_values[node as usize].expect("the node was just evaluated")
    }

    /// Returns the initial value of a slot.
    fn slot_value(&mut self, slot: u32) -> Value {
        *self.slot_values[slot as usize].get_or_insert_with(|| {
            self.code.slots.push(Some(slot));
            self.code.slots.len() as u32 - 1
        })
    }

    /// Finishes the code. Each slot is written as soon as nothing reads its initial value any more.
    pub fn finish(mut self) -> Straight {
        let mut last_reads = vec![0; self.slot_values.len()];
        for (idx, instruction) in self.code.instructions.iter().enumerate() {
            for slot in instruction.reads().filter_map(|value| self.code.slots[value as usize]) {
                last_reads[slot as usize] = idx + 1;
            }
        }
        for (_, signal) in &self.copies {
            last_reads[signal.slot as usize] = usize::MAX;
        }
        let mut stores = std::mem::take(&mut self.stores);
        for (position, _, slot) in &mut stores {
            *position = last_reads[*slot as usize].max(*position);
        }
        stores.sort_by_key(|&(position, ..)| position);
        let mut stores = stores.into_iter().peekable();
        let instructions = std::mem::take(&mut self.code.instructions);
        for (idx, instruction) in instructions.iter().enumerate() {
            while let Some((_, value, slot)) = stores.next_if(|&(position, ..)| position <= idx) {
                self.code.instructions.push(Instruction::Store { value, slot });
            }
            self.code.instructions.push(*instruction);
        }
        let n_instructions = instructions.len();
        while let Some((_, value, slot)) = stores.next_if(|&(it, ..)| it <= n_instructions) {
            self.code.instructions.push(Instruction::Store { value, slot });
        }
        self.push_copies();
        for (_, value, slot) in stores {
            self.code.instructions.push(Instruction::Store { value, slot });
        }
        self.code
    }

    /// Copies slots to slots. All reads of a slot come before its write; a cycle of copies keeps
    /// one of its values.
    fn push_copies(&mut self) {
        let copies = std::mem::take(&mut self.copies);
        let mut n_readers = vec![0_u32; self.slot_values.len()];
        let mut copy_to = vec![None; self.slot_values.len()];
        for (idx, &(to, from)) in copies.iter().enumerate() {
            copy_to[to as usize] = Some(idx);
            n_readers[from.slot as usize] += u32::from(from.slot != to);
        }
        let mut is_done = vec![false; copies.len()];
        for first in 0..copies.len() {
            // When no copy is ready, all that are left are in cycles or wait for one.
            let mut next = Some(first);
            while let Some(idx) = next.take() {
                let (to, from) = copies[idx];
                if is_done[idx] || n_readers[to as usize] > 0 {
                    continue;
                }
                is_done[idx] = true;
                self.push_copy(to, from);
                if from.slot != to {
                    n_readers[from.slot as usize] -= 1;
                    next = copy_to[from.slot as usize];
                }
            }
        }
        for first in 0..copies.len() {
            if is_done[first] {
                continue;
            }
            let value = self.slot_value(copies[first].0);
            let kept = self.push(|made| Instruction::Keep { value, made });
            self.slot_values[copies[first].0 as usize] = Some(kept);
            let mut idx = first;
            while !std::mem::replace(&mut is_done[idx], true) {
                let (to, from) = copies[idx];
                self.push_copy(to, from);
                idx = copy_to[from.slot as usize].expect("the copies form a cycle");
            }
        }
    }

    fn push_copy(&mut self, to: u32, from: Signal) {
        let mut value = self.slot_value(from.slot);
        if from.is_negated {
            value = self.push(|made| Instruction::Not { value, made });
        }
        self.code.instructions.push(Instruction::Store { value, slot: to });
    }

    /// Adds an instruction and returns the value that it makes.
    fn push(&mut self, instruction: impl FnOnce(Value) -> Instruction) -> Value {
        let made = self.code.slots.len() as u32;
        self.code.slots.push(None);
        self.code.instructions.push(instruction(made));
        made
    }
}

impl Instruction {
    /// Returns the value that it makes.
    pub fn makes(&self) -> Option<Value> {
        match *self {
            Self::Join { made, .. } | Self::Not { made, .. } | Self::Keep { made, .. } => {
                Some(made)
            }
            Self::Store { .. } => None,
        }
    }

    /// Returns the values that it reads.
    pub fn reads(&self) -> impl Iterator<Item = Value> + use<> {
        let (first, second) = match *self {
            Self::Join { left, right, .. } => (left, Some(right)),
            Self::Not { value, .. } | Self::Keep { value, .. } | Self::Store { value, .. } => {
                (value, None)
            }
        };
        std::iter::once(first).chain(second)
    }
}

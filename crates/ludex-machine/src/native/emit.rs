//! Machine code for x86-64 with AVX2 from straight-line code.
//!
//! The code is a function of two pointers, to the slots and to working memory. It consists of and,
//! or, exclusive or, and-not, load and store of 256 bits, and the instructions at its end. Values
//! are kept in registers; when these are full, the value whose next read is farthest away is
//! evicted.

use crate::native::straight::{Instruction, Join, Straight, Value};

/// The bytes of a function, and the working memory that it needs.
#[derive(Clone, Debug)]
pub(crate) struct Emitted {
    pub bytes: Vec<u8>,
    /// The size of its working memory, in units of [`SPILL_BYTES`].
    pub n_spills: usize,
    /// All slots that it reads or writes are below this.
    pub n_slots: usize,
    /// The size of a slot.
    pub slot_bytes: usize,
}

/// The size of a value in registers and in working memory.
pub(crate) const SPILL_BYTES: usize = 32;

/// The distance of the second pointer from the start of the working memory: it makes the first
/// places reachable by one-byte offsets.
pub(crate) const SPILL_OFFSET: usize = 128;

/// Registers 0 to 14 hold values; register 15 has all bits set.
const N_REGISTERS: usize = 15;
const ONES_REGISTER: u8 = 15;

/// Marks a value that is never read again.
const NEVER: u32 = u32::MAX;

/// The place of a value in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    Nowhere,
    Slot(u32),
    Spill(u32),
}

/// Emits code for slots of `slot_bytes` bytes each; values are the first 32 of them.
pub(crate) fn emit(code: &Straight, slot_bytes: usize) -> Emitted {
    let mut emitter = Emitter::new(code, slot_bytes);
    let next_reads = next_reads(code);
    if code.instructions.iter().any(|it| matches!(it, Instruction::Not { .. })) {
        // vpcmpeqd of a register with itself sets all bits.
        emitter.vex(1, 0x76, ONES_REGISTER, ONES_REGISTER, Operand::Register(ONES_REGISTER));
    }
    for (instruction, next_reads) in code.instructions.iter().zip(next_reads) {
        emitter.instruction(instruction, next_reads);
    }
    // vzeroupper, ret.
    emitter.bytes.extend([0xC5, 0xF8, 0x77, 0xC3]);
    Emitted {
        bytes: emitter.bytes,
        n_spills: emitter.n_spills as usize,
        n_slots: emitter.n_slots,
        slot_bytes,
    }
}

/// Returns, for each instruction, the next reads of the values that it reads, and of the value that
/// it makes.
fn next_reads(code: &Straight) -> Vec<[u32; 3]> {
    let mut next = vec![NEVER; code.slots.len()];
    let mut all = vec![[NEVER; 3]; code.instructions.len()];
    for (idx, instruction) in code.instructions.iter().enumerate().rev() {
        if let Some(made) = instruction.makes() {
            all[idx][2] = next[made as usize];
        }
        for (place, value) in instruction.reads().enumerate() {
            all[idx][place] = next[value as usize];
        }
        for value in instruction.reads() {
            next[value as usize] = idx as u32;
        }
    }
    all
}

/// The last operand of an instruction: a register or memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Register(u8),
    Memory(Home),
}

struct Emitter {
    bytes: Vec<u8>,
    slot_bytes: usize,
    n_slots: usize,
    /// The value in each register, and its next read.
    registers: [Option<(Value, u32)>; N_REGISTERS],
    register_of: Vec<Option<u8>>,
    homes: Vec<Home>,
    /// Places of working memory that are free again.
    free_spills: Vec<u32>,
    n_spills: u32,
}

impl Emitter {
    fn new(code: &Straight, slot_bytes: usize) -> Self {
        let home = |slot: &Option<u32>| slot.map_or(Home::Nowhere, Home::Slot);
        Self {
            bytes: Vec::new(),
            slot_bytes,
            n_slots: 0,
            registers: [None; N_REGISTERS],
            register_of: vec![None; code.slots.len()],
            homes: code.slots.iter().map(home).collect(),
            free_spills: Vec::new(),
            n_spills: 0,
        }
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        [first_next, second_next, made_next]: [u32; 3],
    ) {
        match *instruction {
            Instruction::Join { join, left, right, made } => {
                let (mut left, mut right) = ((left, first_next), (right, second_next));
                let has_register =
                    |(value, _): (Value, u32)| self.register_of[value as usize].is_some();
                let is_loaded = (has_register(left), has_register(right));
                if join != Join::Without
                    && (is_loaded == (false, true)
                        || is_loaded == (false, false) && right.1 < left.1)
                {
                    std::mem::swap(&mut left, &mut right);
                }
                let mut a = self.load(left.0, right.0);
                let mut operand = self.operand(right.0);
                self.was_read(left.0, left.1);
                self.was_read(right.0, right.1);
                let target = self.free_register(Some(a), operand);
                // Registers from 8 on cost a byte in one of the two positions.
                if let Operand::Register(b @ 8..) = operand
                    && a < 8
                    && join != Join::Without
                {
                    operand = Operand::Register(a);
                    a = b;
                }
                let opcode = match join {
                    Join::And => 0xDB,
                    Join::Or => 0xEB,
                    Join::Xor => 0xEF,
                    Join::Without => 0xDF,
                };
                self.vex(1, opcode, target, a, operand);
                self.release(left.0, left.1);
                self.release(right.0, right.1);
                self.set(target, made, made_next);
            }
            Instruction::Not { value, made } => {
                let operand = self.operand(value);
                self.was_read(value, first_next);
                let target = self.free_register(None, operand);
                self.vex(1, 0xEF, target, ONES_REGISTER, operand);
                self.release(value, first_next);
                self.set(target, made, made_next);
            }
            Instruction::Keep { value, made } => {
                let operand = self.operand(value);
                self.was_read(value, first_next);
                let target = self.free_register(None, operand);
                self.vex(2, 0x6F, target, 0, operand);
                self.release(value, first_next);
                self.set(target, made, made_next);
            }
            Instruction::Store { value, slot } => {
                let register = self.load(value, value);
                self.vex(2, 0x7F, register, 0, Operand::Memory(Home::Slot(slot)));
                if self.homes[value as usize] == Home::Nowhere {
                    self.homes[value as usize] = Home::Slot(slot);
                }
                self.was_read(value, first_next);
                self.release(value, first_next);
            }
        }
    }

    /// Returns the register of a value, loading it if necessary. `other` stays in its register.
    fn load(&mut self, value: Value, other: Value) -> u8 {
        if let Some(register) = self.register_of[value as usize] {
            return register;
        }
        let other = self.register_of[other as usize];
        let target = self
            .free_register(None, other.map_or(Operand::Memory(Home::Nowhere), Operand::Register));
        self.vex(2, 0x6F, target, 0, Operand::Memory(self.homes[value as usize]));
        self.registers[target as usize] = Some((value, 0));
        self.register_of[value as usize] = Some(target);
        target
    }

    fn operand(&self, value: Value) -> Operand {
        match self.register_of[value as usize] {
            Some(register) => Operand::Register(register),
            None => Operand::Memory(self.homes[value as usize]),
        }
    }

    /// Records a read of a value; frees its register if it is never read again.
    fn was_read(&mut self, value: Value, next: u32) {
        if let Some(register) = self.register_of[value as usize] {
            self.registers[register as usize] = (next != NEVER).then_some((value, next));
            if next == NEVER {
                self.register_of[value as usize] = None;
            }
        }
    }

    /// Frees the working memory of a value that is never read again, after the instruction is
    /// emitted.
    fn release(&mut self, value: Value, next: u32) {
        if next == NEVER
            && let Home::Spill(spill) = self.homes[value as usize]
        {
            self.free_spills.push(spill);
            self.homes[value as usize] = Home::Nowhere;
        }
    }

    /// Returns a free register, if necessary by evicting the value whose next read is farthest
    /// away. Registers that the instruction reads are not evicted, unless they are free already.
    fn free_register(&mut self, a: Option<u8>, b: Operand) -> u8 {
        if let Some(free) = self.registers.iter().position(Option::is_none) {
            return free as u8;
        }
        let is_read = |it: u8| a == Some(it) || b == Operand::Register(it);
        let next = |it: u8| self.registers[it as usize].expect("every register is in use").1;
        let last = (0..N_REGISTERS as u8).filter(|&it| !is_read(it)).max_by_key(|&it| next(it));
        let register = last.expect("an instruction reads at most two registers");
        let (value, _) =
            self.registers[register as usize].take().expect("every register is in use");
        self.register_of[value as usize] = None;
        if self.homes[value as usize] == Home::Nowhere {
            let spill = self.free_spills.pop().unwrap_or_else(|| {
                self.n_spills += 1;
                self.n_spills - 1
            });
            self.homes[value as usize] = Home::Spill(spill);
            self.vex(2, 0x7F, register, 0, Operand::Memory(Home::Spill(spill)));
        }
        register
    }

    fn set(&mut self, register: u8, value: Value, next: u32) {
        if next != NEVER {
            self.registers[register as usize] = Some((value, next));
            self.register_of[value as usize] = Some(register);
        }
    }

    /// Emits one instruction: its prefix (1 stands for 66, 2 for F3), its opcode, the first
    /// register, the second register, and the last operand.
    fn vex(&mut self, prefix: u8, opcode: u8, first: u8, second: u8, last: Operand) {
        // The prefix holds register numbers inverted; bit 2 selects 256 bits.
        let length_and_prefix = (!second & 15) << 3 | 1 << 2 | prefix;
        let high = u8::from(first < 8) << 7;
        match last {
            Operand::Register(last @ 8..) => {
                self.bytes.extend([0xC4, high | 1 << 6 | 1, length_and_prefix, opcode]);
                self.bytes.push(3 << 6 | (first & 7) << 3 | last & 7);
            }
            Operand::Register(last) => {
                self.bytes.extend([0xC5, high | length_and_prefix, opcode]);
                self.bytes.push(3 << 6 | (first & 7) << 3 | last);
            }
            Operand::Memory(home) => {
                self.bytes.extend([0xC5, high | length_and_prefix, opcode]);
                let (base, offset) = match home {
                    Home::Slot(slot) => {
                        self.n_slots = self.n_slots.max(slot as usize + 1);
                        (7, slot as usize * self.slot_bytes)
                    }
                    Home::Spill(spill) => (6, spill as usize * SPILL_BYTES),
                    Home::Nowhere => unreachable!("a value that is read must have a place"),
                };
                let offset = offset as i64 - if base == 6 { SPILL_OFFSET as i64 } else { 0 };
                let register = (first & 7) << 3 | base;
                match i8::try_from(offset) {
                    Ok(offset) => self.bytes.extend([1 << 6 | register, offset as u8]),
                    Err(_) => {
                        let offset =
                            i32::try_from(offset).expect("the slots must take less than 2 GB");
                        self.bytes.push(2 << 6 | register);
                        self.bytes.extend(offset.to_le_bytes());
                    }
                }
            }
        }
    }
}

//! Many positions of a game side by side, one a lane, played with moves from outside.
//!
//! A batch of playouts draws its moves itself and reports only sums. Here the caller sees each
//! position: its fluents, its legal moves, whether its game is over and what it is worth. A step
//! evaluates the circuit once for all lanes. Lanes need not be in the same phase of the game.
//!
//! Words have a bit for each lane; callers want a row for each position. [`write_rows`] turns one
//! into the other, 64 lanes and 64 columns at a time.

use std::sync::Arc;

use ludex_base::{BitSet, MoveId, Rng, RoleId};

use crate::lanes::draw::{Draw, WordRng, count_options};
use crate::lanes::run::{RunTape, tape_runner};
use crate::lanes::step_tapes::LaneTapes;
use crate::lanes::tape::Slots;
use crate::lanes::word::{Word, n_words};
use crate::native::code::{Question, TapeCode};
use crate::native::function::Spill;

/// Positions of one game, one a lane. Each thread has its own.
///
/// # Examples
///
/// All successors of a state in one step:
///
/// ```
/// use ludex_base::{Limits, MoveId, RoleId, Seed, Source};
/// use ludex_game::{Cursor, Game};
/// use ludex_machine::Machine;
///
/// let rules = "(role me) (init (n 0)) (<= (legal me (add ?d)) (d ?d)) (d 1) (d 2)
///     (<= (next (n ?d)) (does me (add ?d))) (<= terminal (true (n 2)))
///     (<= (goal me 100) (true (n 2))) (<= (goal me 0) (not (true (n 2))))";
/// let program = ludex_gdl::check_source(&Source::new("add", rules)).program.unwrap();
/// let ground = ludex_ground::ground(&program, &Limits::usual()).unwrap();
/// let machine = Machine::new(ludex_circuit::compile(&ground));
///
/// let mut positions = machine.positions(&mut Seed(0).rng());
/// let mut cursor = machine.cursor();
/// let chosen: Vec<MoveId> = cursor.legal_moves(RoleId::new(0)).to_vec();
/// positions.set_state(0..chosen.len(), cursor.state());
/// positions.evaluate();
/// let moves: Vec<Option<MoveId>> = chosen.iter().map(|&it| Some(it)).collect();
/// positions.play(&moves);
/// assert!(!positions.is_over(0) && positions.is_over(1));
/// let mut goals = vec![0; positions.n_lanes()];
/// positions.write_goals(RoleId::new(0), &mut goals);
/// assert_eq!(goals[..2], [0, 100]);
/// ```
pub struct Positions {
    lanes: Box<dyn Lanes>,
}

impl Positions {
    pub(crate) fn new(
        tapes: &Arc<LaneTapes>,
        code: Option<&Arc<TapeCode>>,
        init: &BitSet,
        move_starts: &[usize],
        rng: &mut Rng,
    ) -> Self {
        let lanes: Box<dyn Lanes> = match n_words() {
            8 => Box::new(SideBySide::<8>::new(tapes, code, init, move_starts, rng)),
            _ => Box::new(SideBySide::<4>::new(tapes, code, init, move_starts, rng)),
        };
        Self { lanes }
    }

    /// Returns the number of positions: 256 or 512, as this processor likes it.
    pub fn n_lanes(&self) -> usize {
        self.lanes.n_lanes()
    }

    /// Writes a state into some lanes. Call [`evaluate`](Self::evaluate) before asking about them.
    pub fn set_state(&mut self, lanes: std::ops::Range<usize>, state: &BitSet) {
        self.lanes.set_state(lanes, state);
    }

    /// Evaluates all lanes. [`play`](Self::play) and [`restart`](Self::restart) do that themselves.
    pub fn evaluate(&mut self) {
        self.lanes.evaluate();
    }

    /// Sets some lanes, given as bits, to the initial state.
    pub fn restart(&mut self, lanes: &[u64]) {
        self.lanes.restart(lanes);
    }

    /// Returns the state of a lane.
    pub fn state(&self, lane: usize) -> BitSet {
        self.lanes.state(lane)
    }

    /// Returns whether the game of a lane is over.
    pub fn is_over(&self, lane: usize) -> bool {
        bit(self.lanes.over(), lane)
    }

    /// Returns the lanes whose games are over, as bits.
    pub fn over(&self) -> &[u64] {
        self.lanes.over()
    }

    /// Returns whether a move is legal in a lane.
    pub fn is_legal(&self, lane: usize, played: MoveId) -> bool {
        self.lanes.is_legal(lane, played)
    }

    /// Returns the role that has a choice in a lane: the first with several legal moves that is not
    /// among `without`, or the first not among them if none has a choice.
    pub fn write_deciders(&mut self, without: &[RoleId], out: &mut [u8]) {
        self.lanes.write_deciders(without, out);
    }

    /// Plays a step in every lane. `chosen` lists the moves lane by lane, one for each role; where
    /// it has `None` or ends, a legal move is drawn.
    ///
    /// The chosen moves must be legal; ask [`is_legal`](Self::is_legal) if they may not be. Lanes
    /// whose games are over are played on without meaning: set or restart them.
    pub fn play(&mut self, chosen: &[Option<MoveId>]) {
        self.lanes.play(chosen);
    }

    /// Writes the goal of a role in each lane; 0 where the rules give none.
    pub fn write_goals(&mut self, role: RoleId, out: &mut [u8]) {
        self.lanes.write_goals(role, out);
    }

    /// Writes a row for each lane: a byte for each fluent, 1 where it is true.
    ///
    /// `out` may end early; the lanes after it are left out.
    pub fn write_fluents(&self, out: &mut [u8]) {
        self.lanes.write_fluents(out);
    }

    /// Writes a row for each lane: a byte for each move of the lane's role, 1 where it is legal,
    /// padded with 0 to `width`.
    pub fn write_legal(&self, role_of: &[u8], width: usize, out: &mut [u8]) {
        self.lanes.write_legal(role_of, width, out);
    }
}

/// What [`Positions`] does, for any width of words.
trait Lanes: Send + Sync {
    fn n_lanes(&self) -> usize;
    fn set_state(&mut self, lanes: std::ops::Range<usize>, state: &BitSet);
    fn evaluate(&mut self);
    fn restart(&mut self, lanes: &[u64]);
    fn state(&self, lane: usize) -> BitSet;
    fn over(&self) -> &[u64];
    fn is_legal(&self, lane: usize, played: MoveId) -> bool;
    fn write_deciders(&mut self, without: &[RoleId], out: &mut [u8]);
    fn play(&mut self, chosen: &[Option<MoveId>]);
    fn write_goals(&mut self, role: RoleId, out: &mut [u8]);
    fn write_fluents(&self, out: &mut [u8]);
    fn write_legal(&self, role_of: &[u8], width: usize, out: &mut [u8]);
}

pub(crate) struct SideBySide<const N: usize> {
    pub tapes: Arc<LaneTapes>,
    code: Option<Arc<TapeCode>>,
    run_tape: RunTape<N>,
    pub values: Vec<Word<N>>,
    /// The values of all slots in the initial state.
    initial: Vec<Word<N>>,
    over: Word<N>,
    initial_over: bool,
    /// By move, the slot of the lanes in which it is legal; slot 0 is always false.
    legal_slots: Vec<u32>,
    /// The start of each role's moves, and the end of the last.
    pub move_starts: Vec<usize>,
    next: Vec<Word<N>>,
    goal_values: Vec<Word<N>>,
    /// Whether `goal_values` are those of the current states.
    has_goals: bool,
    draws: Vec<Draw<N>>,
    rng: WordRng<N>,
    spills: Vec<Spill>,
}

impl<const N: usize> SideBySide<N> {
    pub fn new(
        tapes: &Arc<LaneTapes>,
        code: Option<&Arc<TapeCode>>,
        init: &BitSet,
        move_starts: &[usize],
        rng: &mut Rng,
    ) -> Self {
        let n_moves = *move_starts.last().expect("the end of the last role");
        let first_move = Slots::FIRST_FLUENT as usize + tapes.n_fluents;
        let mut legal_slots = vec![0; n_moves];
        for option in tapes.steps[0].options.iter().flat_map(|tree| tree.options()) {
            legal_slots[option.target as usize - first_move] = option.source;
        }
        let mut lanes = Self {
            run_tape: tape_runner(),
            values: vec![Word::ZERO; tapes.n_values],
            initial: Vec::new(),
            over: Word::ZERO,
            initial_over: false,
            legal_slots,
            move_starts: move_starts.to_vec(),
            next: Vec::new(),
            goal_values: vec![Word::ZERO; tapes.goals.n_slots],
            has_goals: false,
            draws: tapes.steps[0].options.iter().map(|_| Draw::new()).collect(),
            rng: WordRng::new(rng),
            spills: vec![Spill::ZERO; code.map_or(0, |code| code.n_spills())],
            tapes: Arc::clone(tapes),
            code: code.cloned(),
        };
        lanes.set_state(0..Word::<N>::N_LANES, init);
        lanes.evaluate_lanes();
        lanes.initial = lanes.values.clone();
        lanes.initial_over = !lanes.over.is_zero();
        lanes
    }

    /// Evaluates which games are over, and which moves are legal.
    #[inline(always)]
    pub fn evaluate_lanes(&mut self) {
        let Self { tapes, code, values, spills, .. } = self;
        let step = &tapes.steps[0];
        match code {
            Some(code) if code.run(Question::Terminal(0), values, spills) => {}
            _ => (self.run_tape)(&step.terminal_tape, values),
        }
        // The next tape may use this slot for something else.
        self.over = step.terminal.read(values);
        match code {
            Some(code) if code.run(Question::Legal(0), values, spills) => {}
            _ => {
                (self.run_tape)(&step.legal_tape, values);
                for tree in &step.options {
                    count_options(tree, values);
                }
            }
        }
        self.has_goals = false;
    }

    #[inline(always)]
    fn play_lanes(&mut self, chosen: &[Option<MoveId>]) {
        let tapes = Arc::clone(&self.tapes);
        let step = &tapes.steps[0];
        let n_roles = tapes.n_roles;
        // Step 1. Draw for the lanes that chose nothing.
        let mut undecided = vec![Word::<N>::ONES; n_roles];
        for (lane, joint) in chosen.chunks_exact(n_roles).enumerate() {
            for (role, choice) in joint.iter().enumerate() {
                undecided[role].set(lane, choice.is_none());
            }
        }
        for ((draw, tree), &lanes) in self.draws.iter_mut().zip(&step.options).zip(&undecided) {
            if !lanes.is_zero() {
                draw.draw(tree, lanes, &mut self.rng, &mut self.values);
            }
        }
        // Step 2. Add what the others chose.
        let first_move = Slots::FIRST_FLUENT as usize + tapes.n_fluents;
        for (lane, joint) in chosen.chunks_exact(n_roles).enumerate() {
            for played in joint.iter().flatten() {
                self.values[first_move + played.index()].set(lane, true);
            }
        }
        // Step 3. Play.
        self.evaluate_next();
        for (draw, tree) in self.draws.iter_mut().zip(&step.options) {
            draw.clear(tree, &mut self.values);
        }
        for played in chosen.iter().flatten() {
            self.values[first_move + played.index()] = Word::ZERO;
        }
        self.evaluate_lanes();
    }

    /// Plays the moves that are set, and makes the next states the current ones.
    #[inline(always)]
    pub fn evaluate_next(&mut self) {
        let Self { tapes, code, values, spills, .. } = self;
        let step = &tapes.steps[0];
        match code {
            Some(code) if code.run(Question::Next(0), values, spills) => {}
            _ => {
                (self.run_tape)(&step.next_tape, values);
                step.next.run(self.run_tape, values, &mut self.next);
            }
        }
    }

    /// Returns whether the game of a lane is over.
    pub fn is_over(&self, lane: usize) -> bool {
        bit(&self.over.0, lane)
    }

    fn fluents(&self) -> &[Word<N>] {
        &self.values[Slots::FIRST_FLUENT as usize..][..self.tapes.n_fluents]
    }

    /// Returns the lanes in which a move is legal.
    pub fn legal(&self, played: usize) -> Word<N> {
        self.values[self.legal_slots[played] as usize]
    }

    /// Writes the goal of a role in each lane; 0 where the rules give none.
    pub fn write_lane_goals(&mut self, role: RoleId, out: &mut [u8]) {
        self.evaluate_goals();
        let n_wanted = out.len();
        out.fill(0);
        let mut open = Word::<N>::ONES;
        for &(of, value, signal) in &self.tapes.goals.values {
            if of == role {
                let lanes = signal.read(&self.goal_values) & open;
                open &= !lanes;
                for lane in lanes.lanes().take_while(|&lane| lane < n_wanted) {
                    out[lane] = value;
                }
            }
        }
    }

    fn evaluate_goals(&mut self) {
        if self.has_goals {
            return;
        }
        let first = Slots::FIRST_FLUENT as usize;
        for &idx in &self.tapes.goals.fluents {
            self.goal_values[first + idx] = self.values[first + idx];
        }
        match &self.code {
            Some(code) if code.run(Question::Goals, &mut self.goal_values, &mut self.spills) => {}
            _ => (self.run_tape)(&self.tapes.goals.tape, &mut self.goal_values),
        }
        self.has_goals = true;
    }
}

impl<const N: usize> Lanes for SideBySide<N> {
    fn n_lanes(&self) -> usize {
        Word::<N>::N_LANES
    }

    fn set_state(&mut self, lanes: std::ops::Range<usize>, state: &BitSet) {
        let mut mask = Word::<N>::ZERO;
        lanes.for_each(|lane| mask.set(lane, true));
        let n_fluents = self.tapes.n_fluents;
        let fluents = &mut self.values[Slots::FIRST_FLUENT as usize..][..n_fluents];
        for (idx, fluent) in fluents.iter_mut().enumerate() {
            *fluent = fluent.merged(Word::splat(state.contains(idx)), mask);
        }
    }

    fn evaluate(&mut self) {
        self.evaluate_lanes();
    }

    fn restart(&mut self, lanes: &[u64]) {
        let mut mask = Word::ZERO;
        mask.0.copy_from_slice(lanes);
        for (value, &initial) in self.values.iter_mut().zip(&self.initial) {
            *value = value.merged(initial, mask);
        }
        self.over = self.over.merged(Word::splat(self.initial_over), mask);
        self.has_goals = false;
    }

    fn state(&self, lane: usize) -> BitSet {
        let mut state = BitSet::new(self.tapes.n_fluents);
        for (idx, fluent) in self.fluents().iter().enumerate() {
            if bit(&fluent.0, lane) {
                state.insert(idx);
            }
        }
        state
    }

    fn over(&self) -> &[u64] {
        &self.over.0
    }

    fn is_legal(&self, lane: usize, played: MoveId) -> bool {
        bit(&self.legal(played.index()).0, lane)
    }

    fn write_deciders(&mut self, without: &[RoleId], out: &mut [u8]) {
        let roles = (0..self.tapes.n_roles).filter(|&role| !without.contains(&RoleId::new(role)));
        let n_wanted = out.len();
        let mut rest = Word::<N>::ONES;
        out.fill(roles.clone().next().unwrap_or(0) as u8);
        for role in roles {
            let (mut one, mut several) = (Word::<N>::ZERO, Word::ZERO);
            for played in self.move_starts[role]..self.move_starts[role + 1] {
                let legal = self.legal(played);
                several |= one & legal;
                one |= legal;
            }
            for lane in (several & rest).lanes().take_while(|&lane| lane < n_wanted) {
                out[lane] = role as u8;
            }
            rest &= !several;
        }
    }

    fn play(&mut self, chosen: &[Option<MoveId>]) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f")]
            fn with_avx512<const N: usize>(lanes: &mut SideBySide<N>, chosen: &[Option<MoveId>]) {
                lanes.play_lanes(chosen);
            }
            #[target_feature(enable = "avx2")]
            fn with_avx2<const N: usize>(lanes: &mut SideBySide<N>, chosen: &[Option<MoveId>]) {
                lanes.play_lanes(chosen);
            }
            if N > 4 && is_x86_feature_detected!("avx512f") {
                // SAFETY: the check above found these instructions in the processor.
                return unsafe { with_avx512(self, chosen) };
            }
            if N == 4 && is_x86_feature_detected!("avx2") {
                // SAFETY: the check above found these instructions in the processor.
                return unsafe { with_avx2(self, chosen) };
            }
        }
        self.play_lanes(chosen);
    }

    fn write_goals(&mut self, role: RoleId, out: &mut [u8]) {
        self.write_lane_goals(role, out);
    }

    fn write_fluents(&self, out: &mut [u8]) {
        let fluents = self.fluents();
        write_rows::<N>(fluents.len(), |column| fluents[column], fluents.len(), out, |_| true);
    }

    fn write_legal(&self, role_of: &[u8], width: usize, out: &mut [u8]) {
        for role in 0..self.tapes.n_roles {
            if role_of.contains(&(role as u8)) {
                let moves = self.move_starts[role]..self.move_starts[role + 1];
                let legal = |column| self.legal(moves.start + column);
                let is_wanted = |lane: usize| role_of.get(lane) == Some(&(role as u8));
                write_rows::<N>(moves.len(), legal, width, out, is_wanted);
            }
        }
    }
}

fn bit(words: &[u64], lane: usize) -> bool {
    words[lane / 64] >> (lane % 64) & 1 != 0
}

/// Writes rows of bytes for the wanted lanes: the columns, then zeros up to `width`.
#[inline(always)]
fn write_rows<const N: usize>(
    n_columns: usize,
    column: impl Fn(usize) -> Word<N>,
    width: usize,
    out: &mut [u8],
    is_wanted: impl Fn(usize) -> bool,
) {
    debug_assert!(n_columns <= width || out.is_empty());
    if width == 0 {
        return;
    }
    let mut blocks = vec![[0_u64; 64]; N];
    for first in (0..width).step_by(64) {
        let (n_bits, n_bytes) = (n_columns.saturating_sub(first).min(64), (width - first).min(64));
        for row in 0..64 {
            let word = if row < n_bits { column(first + row) } else { Word::ZERO };
            for (block, &bits) in blocks.iter_mut().zip(&word.0) {
                block[row] = bits;
            }
        }
        for (idx, block) in blocks.iter_mut().enumerate() {
            if idx * 64 * width >= out.len() {
                break;
            }
            if n_bits > 0 {
                transpose(block);
            }
            let rows = out[idx * 64 * width..].chunks_exact_mut(width).take(64);
            for (lane, (row, &bits)) in rows.zip(block.iter()).enumerate() {
                if is_wanted(idx * 64 + lane) {
                    spread(bits, &mut row[first..first + n_bytes]);
                }
            }
        }
    }
}

/// Writes bits as bytes.
#[inline(always)]
fn spread(bits: u64, out: &mut [u8]) {
    let (eights, rest) = out.as_chunks_mut::<8>();
    let n_whole = 8 * eights.len();
    for (idx, bytes) in eights.iter_mut().enumerate() {
        *bytes = spread_byte(bits >> (8 * idx)).to_le_bytes();
    }
    for (idx, byte) in rest.iter_mut().enumerate() {
        *byte = (bits >> (n_whole + idx)) as u8 & 1;
    }
}

/// Turns the lowest eight bits into the lowest bits of eight bytes.
#[inline(always)]
fn spread_byte(bits: u64) -> u64 {
    let copies = (bits & 0xff).wrapping_mul(0x0101_0101_0101_0101);
    // Byte i keeps bit i of its copy, and a byte that is not zero becomes one.
    ((copies & 0x8040_2010_0804_0201) + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101
}

/// Exchanges rows and columns of a square of bits.
#[inline(always)]
pub(crate) fn transpose(rows: &mut [u64; 64]) {
    let mut size = 32;
    let mut mask = u64::MAX >> 32;
    while size != 0 {
        let mut row = 0;
        while row < 64 {
            let change = (rows[row] >> size ^ rows[row + size]) & mask;
            rows[row] ^= change << size;
            rows[row + size] ^= change;
            row = (row + size + 1) & !size;
        }
        size /= 2;
        mask ^= mask << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_moves_each_bit() {
        let mut rows = [0; 64];
        let mut state = 1_u64;
        for row in &mut rows {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *row = state ^ state >> 29;
        }
        let before = rows;
        transpose(&mut rows);
        for (row, bits) in before.iter().enumerate() {
            for (column, turned) in rows.iter().enumerate() {
                assert_eq!(bits >> column & 1, turned >> row & 1);
            }
        }
    }

    #[test]
    fn bits_are_spread_in_order() {
        for bits in 0..256_u64 {
            let bytes = spread_byte(bits).to_le_bytes();
            assert!((0..8).all(|idx| u64::from(bytes[idx]) == bits >> idx & 1));
        }
    }
}

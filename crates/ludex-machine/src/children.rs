//! All successors of many states, side by side.
//!
//! The states of a batch are written into lanes once. One evaluation says which are terminal and which moves are
//! legal in each; then each round plays one joint move in every lane, reads the successors off, and puts the
//! values back. If there are fewer states than lanes, several lanes hold the same state and share its moves.

use std::sync::Arc;

use ludex_base::{BitSet, Deadline, Goal, MoveId, RoleId, Seed, StopReason};
use ludex_game::children::{MAX_CHILDREN, MAX_JOINT_MOVES};
use ludex_game::{Children, Expander, Game, OneByOneExpander};

use crate::cursor::MachineCursor;
use crate::lanes::step_tapes::LaneTapes;
use crate::lanes::tape::Slots;
use crate::lanes::word::{Word, n_words};
use crate::machine::Machine;
use crate::native::code::TapeCode;
use crate::positions::{SideBySide, transpose};

/// Fewer states than this are expanded one after the other.
const MIN_STATES: usize = 16;

/// Expands states side by side where there are enough of them, and otherwise on a cursor.
pub(crate) struct MachineExpander<'a> {
    machine: &'a Machine,
    one_by_one: OneByOneExpander<MachineCursor>,
    /// Made with the first batch that is large enough; `None` inside if there was no time.
    lanes: Option<Option<Box<dyn LaneExpander>>>,
}

impl<'a> MachineExpander<'a> {
    pub fn new(machine: &'a Machine) -> Self {
        let one_by_one = OneByOneExpander::new(machine.cursor(), machine.roles().len());
        Self { machine, one_by_one, lanes: None }
    }
}

impl Expander for MachineExpander<'_> {
    type State = BitSet;

    fn n_at_once(&self) -> usize {
        64 * n_words()
    }

    fn expand(
        &mut self,
        states: &[BitSet],
        deadline: &Deadline,
        children: &mut Children<BitSet>,
    ) -> Result<(), StopReason> {
        if states.len() >= MIN_STATES {
            let make = || {
                let (tapes, code) = self.machine.lanes_of_any_state(deadline)?;
                Some(new_lanes(&tapes, code.as_ref(), self.machine))
            };
            if let Some(lanes) = self.lanes.get_or_insert_with(make) {
                return lanes.expand(states, deadline, children);
            }
        }
        self.one_by_one.expand(states, deadline, children)
    }
}

fn new_lanes(
    tapes: &Arc<LaneTapes>,
    code: Option<&Arc<TapeCode>>,
    machine: &Machine,
) -> Box<dyn LaneExpander> {
    match n_words() {
        8 => Box::new(Expansion::<8>::new(tapes, code, machine)),
        _ => Box::new(Expansion::<4>::new(tapes, code, machine)),
    }
}

/// An expander for some width of words.
trait LaneExpander: Send {
    fn expand(
        &mut self,
        states: &[BitSet],
        deadline: &Deadline,
        children: &mut Children<BitSet>,
    ) -> Result<(), StopReason>;
}

struct Expansion<const N: usize> {
    positions: SideBySide<N>,
    /// The values of all slots before a joint move is played.
    saved: Vec<Word<N>>,
    /// By role and state, the legal moves of the role.
    legal: Vec<Vec<Vec<MoveId>>>,
    goals: Vec<Vec<u8>>,
    /// By state that is expanded, the place of its first successor, and the place after the last.
    firsts: Vec<usize>,
    blocks: Vec<[u64; 64]>,
}

impl<const N: usize> Expansion<N> {
    fn new(tapes: &Arc<LaneTapes>, code: Option<&Arc<TapeCode>>, machine: &Machine) -> Self {
        let (init, move_starts) = (&machine.circuit().init, machine.move_starts());
        let n_roles = machine.roles().len();
        let n_lanes = Word::<N>::N_LANES;
        Self {
            positions: SideBySide::new(tapes, code, init, move_starts, &mut Seed(0).rng()),
            saved: Vec::new(),
            legal: vec![vec![Vec::new(); n_lanes]; n_roles],
            goals: vec![vec![0; n_lanes]; n_roles],
            firsts: Vec::new(),
            blocks: vec![[0; 64]; N],
        }
    }

    #[inline(always)]
    fn expand_lanes(
        &mut self,
        states: &[BitSet],
        deadline: &Deadline,
        children: &mut Children<BitSet>,
    ) -> Result<(), StopReason> {
        let n_lanes = Word::<N>::N_LANES;
        let states = &states[..states.len().min(n_lanes)];
        let n_copies = n_lanes / states.len();
        let n_roles = self.legal.len();
        // Step 1. Evaluate the states, each in `n_copies` lanes.
        self.write_states(states, n_copies);
        self.positions.evaluate_lanes();
        self.list_legal(states.len(), n_copies);

        // Step 2. Note what is known of each, as far as the batch has room for their successors.
        children.clear();
        self.firsts.clear();
        let has_terminal = (0..states.len()).any(|idx| self.positions.is_over(idx * n_copies));
        if has_terminal {
            for (role, goals) in self.goals.iter_mut().enumerate() {
                self.positions.write_lane_goals(RoleId::new(role), goals);
            }
        }
        let mut n_rounds = 0;
        for idx in 0..states.len() {
            let lane = idx * n_copies;
            let first = children.n_children();
            if self.positions.is_over(lane) {
                let goal = |goals: &Vec<u8>| Goal::new(goals[lane].into()).unwrap_or(Goal::MIN);
                children.push_terminal(self.goals.iter().map(goal));
                self.firsts.push(first);
                continue;
            }
            let sizes = self.legal.iter().map(|of_role| of_role[idx].len() as u64);
            let n_joints = sizes.fold(1_u64, u64::saturating_mul);
            if n_joints > MAX_JOINT_MOVES {
                if idx > 0 {
                    break;
                }
                return Err(StopReason::Count);
            }
            let n_joints = n_joints as usize;
            if first > 0 && first + n_joints > MAX_CHILDREN {
                break;
            }
            for of_role in &self.legal {
                children.push_legal(of_role[idx].iter().copied());
            }
            children.push_inner(n_joints);
            self.firsts.push(first);
            n_rounds = n_rounds.max(n_joints.div_ceil(n_copies));
        }
        let n_states = self.firsts.len();
        self.firsts.push(children.n_children());

        // Step 3. Play one joint move in each lane and read its successor, until all are played.
        let successors = children.states_mut(|| states[0].clone());
        self.saved.clone_from(&self.positions.values);
        for round in 0..n_rounds {
            if let Some(stopped) = deadline.stop_reason() {
                return Err(stopped);
            }
            let mut targets = [usize::MAX; 512];
            for idx in 0..n_states {
                let n_joints = self.firsts[idx + 1] - self.firsts[idx];
                for copy in 0..n_copies {
                    let joint_idx = round * n_copies + copy;
                    if joint_idx < n_joints {
                        let lane = idx * n_copies + copy;
                        targets[lane] = self.firsts[idx] + joint_idx;
                        self.set_joint(lane, idx, joint_idx, n_roles);
                    }
                }
            }
            self.positions.evaluate_next();
            self.read_states(&targets[..n_states * n_copies], successors);
            // No move may be left, neither for the next round nor for the next batch.
            self.positions.values.copy_from_slice(&self.saved);
        }
        Ok(())
    }

    /// Writes each state into its lanes.
    #[inline(always)]
    fn write_states(&mut self, states: &[BitSet], n_copies: usize) {
        let n_fluents = self.positions.tapes.n_fluents;
        let fluents = &mut self.positions.values[Slots::FIRST_FLUENT as usize..][..n_fluents];
        for (word_idx, fluents) in fluents.chunks_mut(64).enumerate() {
            for (block_idx, block) in self.blocks.iter_mut().enumerate() {
                for (row, bits) in block.iter_mut().enumerate() {
                    // Lanes after the last copies hold the last state.
                    let idx = ((block_idx * 64 + row) / n_copies).min(states.len() - 1);
                    *bits = states[idx].words()[word_idx];
                }
                transpose(block);
            }
            for (row, fluent) in fluents.iter_mut().enumerate() {
                for (part, block) in fluent.0.iter_mut().zip(&self.blocks) {
                    *part = block[row];
                }
            }
        }
    }

    /// Lists the legal moves of each state from its first lane.
    #[inline(always)]
    fn list_legal(&mut self, n_states: usize, n_copies: usize) {
        let mut firsts = Word::<N>::ZERO;
        (0..n_states).for_each(|idx| firsts.set(idx * n_copies, true));
        for (role, of_role) in self.legal.iter_mut().enumerate() {
            of_role[..n_states].iter_mut().for_each(Vec::clear);
            let moves = self.positions.move_starts[role]..self.positions.move_starts[role + 1];
            for played in moves {
                let lanes = self.positions.legal(played) & firsts;
                if !lanes.is_zero() {
                    for lane in lanes.lanes() {
                        of_role[lane / n_copies].push(MoveId::new(played));
                    }
                }
            }
        }
    }

    /// Sets the moves of a lane to a joint move: the last role changes fastest.
    #[inline(always)]
    fn set_joint(&mut self, lane: usize, idx: usize, mut joint_idx: usize, n_roles: usize) {
        let first_move = Slots::FIRST_FLUENT as usize + self.positions.tapes.n_fluents;
        for role in (0..n_roles).rev() {
            let moves = &self.legal[role][idx];
            // Divisions are slow, and most joint moves have one role that chooses.
            let place = if joint_idx < moves.len() {
                std::mem::take(&mut joint_idx)
            } else {
                let place = joint_idx % moves.len();
                joint_idx /= moves.len();
                place
            };
            let played = moves[place];
            self.positions.values[first_move + played.index()].set(lane, true);
        }
    }

    /// Reads the states of lanes, each into its place among the successors.
    #[inline(always)]
    fn read_states(&mut self, targets: &[usize], successors: &mut [BitSet]) {
        let n_fluents = self.positions.tapes.n_fluents;
        let fluents = &self.positions.values[Slots::FIRST_FLUENT as usize..][..n_fluents];
        for (word_idx, fluents) in fluents.chunks(64).enumerate() {
            let n_blocks = targets.len().div_ceil(64);
            for (block_idx, block) in self.blocks[..n_blocks].iter_mut().enumerate() {
                for (bits, fluent) in block.iter_mut().zip(fluents) {
                    *bits = fluent.0[block_idx];
                }
                block[fluents.len()..].fill(0);
                transpose(block);
                for (&target, &bits) in targets[block_idx * 64..].iter().zip(block.iter()) {
                    if target != usize::MAX {
                        successors[target].words_mut()[word_idx] = bits;
                    }
                }
            }
        }
    }
}

impl<const N: usize> LaneExpander for Expansion<N> {
    fn expand(
        &mut self,
        states: &[BitSet],
        deadline: &Deadline,
        children: &mut Children<BitSet>,
    ) -> Result<(), StopReason> {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f")]
            fn with_avx512<const N: usize>(
                lanes: &mut Expansion<N>,
                states: &[BitSet],
                deadline: &Deadline,
                children: &mut Children<BitSet>,
            ) -> Result<(), StopReason> {
                lanes.expand_lanes(states, deadline, children)
            }
            #[target_feature(enable = "avx2")]
            fn with_avx2<const N: usize>(
                lanes: &mut Expansion<N>,
                states: &[BitSet],
                deadline: &Deadline,
                children: &mut Children<BitSet>,
            ) -> Result<(), StopReason> {
                lanes.expand_lanes(states, deadline, children)
            }
            if N > 4 && is_x86_feature_detected!("avx512f") {
                // SAFETY: the check above found these instructions in the processor.
                return unsafe { with_avx512(self, states, deadline, children) };
            }
            if N == 4 && is_x86_feature_detected!("avx2") {
                // SAFETY: the check above found these instructions in the processor.
                return unsafe { with_avx2(self, states, deadline, children) };
            }
        }
        self.expand_lanes(states, deadline, children)
    }
}

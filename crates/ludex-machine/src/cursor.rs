//! The cursor: a position on one state.

use std::sync::Arc;

use ludex_base::{BitSet, Goal, MoveId, PerceptId, Rng, RoleId};
use ludex_game::{Cursor, Fold, Observe};

use crate::gates::evaluate::Values;
use crate::machine::Parts;
use crate::net::counters::{Net, NetState};

/// A position on a state of a [`Machine`](crate::Machine).
///
/// The cost of a step is proportional to the changes it makes, see [`Net`](crate::net::counters).
/// Circuits with large loops are evaluated gate by gate instead.
#[derive(Clone, Debug)]
pub struct MachineCursor {
    parts: Arc<Parts>,
    state: BitSet,
    values: Values,
    net: Option<NetState>,
    /// Whether the list of legal moves of a role is up to date for this state.
    has_legal: Vec<bool>,
    legal: Vec<Vec<MoveId>>,
    goals: Vec<Vec<Goal>>,
    percepts: Vec<Vec<PerceptId>>,
    /// Without a net, the sections of gates that are evaluated.
    progress: Progress,
    /// How states are folded, and room for a folded state.
    fold: Option<(Arc<dyn Fold>, BitSet)>,
    /// Whether states are folded at present.
    is_folding: bool,
}

/// The sections of gates that are evaluated in the current state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Progress {
    Nothing,
    Terminal,
    Legal,
    Goals,
}

impl MachineCursor {
    /// Creates a cursor on the initial state.
    pub(crate) fn new(parts: Arc<Parts>, fold: Option<&Arc<dyn Fold>>) -> Self {
        let n_roles = parts.roles.len();
        let net = parts.net().map(Net::initial);
        let mut cursor = Self {
            state: parts.circuit.init.clone(),
            values: if net.is_some() { Values::new() } else { parts.blank.clone() },
            net,
            has_legal: vec![false; n_roles],
            legal: vec![Vec::new(); n_roles],
            goals: vec![Vec::new(); n_roles],
            percepts: vec![Vec::new(); n_roles],
            progress: Progress::Nothing,
            fold: fold.map(|fold| (Arc::clone(fold), parts.circuit.init.clone())),
            is_folding: fold.is_some(),
            parts,
        };
        cursor.arrive();
        cursor.fold_state();
        cursor
    }

    /// Goes to the state that stands for this one, if states are folded.
    fn fold_state(&mut self) {
        let Some((fold, mut canonical)) = self.fold.take() else { return };
        fold.fold_state(&self.state, &mut canonical);
        if self.state != canonical {
            self.set_state(&canonical);
        }
        self.fold = Some((fold, canonical));
        self.is_folding = true;
    }

    /// Lists the legal moves of a role, all of them.
    fn list_legal(&mut self, role: usize) {
        if std::mem::replace(&mut self.has_legal[role], true) {
            return;
        }
        if self.net.is_none() {
            self.reach(Progress::Legal);
        }
        let list = &mut self.legal[role];
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(values)) => net.list_legal_moves(values, role, list),
            _ => {
                let Parts { circuit, move_starts, .. } = &*self.parts;
                let moves = move_starts[role]..move_starts[role + 1];
                let is_legal = |idx: &usize| self.values[circuit.legal[*idx].index()] != 0;
                list.clear();
                list.extend(moves.filter(is_legal).map(MoveId::new));
            }
        }
    }

    /// Lists the legal moves of all roles. If one role alone has a choice, and it is not `random`,
    /// moves that are like others are left out.
    #[cold]
    fn list_folded(&mut self) {
        if self.has_legal.iter().all(|&has| has) {
            return;
        }
        // The lists of some roles may be folded already: begin anew.
        self.has_legal.fill(false);
        let roles = 0..self.legal.len();
        roles.clone().for_each(|role| self.list_legal(role));
        let mut choosing = roles.filter(|&role| self.legal[role].len() > 1);
        if let (Some(role), None) = (choosing.next(), choosing.next())
            && !self.parts.roles[role].is_random
            && let Some((fold, _)) = &self.fold
        {
            fold.fold_moves(&self.state, &mut self.legal[role]);
        }
    }

    /// Invalidates all answers after the state has changed.
    #[inline]
    fn arrive(&mut self) {
        self.has_legal.fill(false);
        if self.net.is_none() {
            self.progress = Progress::Nothing;
            for (fluent, gate) in self.parts.fluent_gates.iter().enumerate() {
                if let Some(gate) = gate {
                    self.values[*gate as usize] = u8::from(self.state.contains(fluent));
                }
            }
        }
    }

    /// Evaluates the gates up to a section.
    fn reach(&mut self, progress: Progress) {
        let schedule = &self.parts.schedule;
        if self.progress < Progress::Terminal && progress >= Progress::Terminal {
            schedule.terminal.evaluate(&mut self.values);
        }
        if self.progress < Progress::Legal && progress >= Progress::Legal {
            schedule.legal.evaluate(&mut self.values);
        }
        if self.progress < Progress::Goals && progress >= Progress::Goals {
            schedule.goals.evaluate(&mut self.values);
        }
        self.progress = self.progress.max(progress);
    }

    /// Computes the next state and the percepts, gate by gate.
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
        // Reset the moves last: an output may be a move itself.
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
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(values)) => net.jump(values, &mut self.state, state),
            _ => self.state.copy_from(state),
        }
        self.percepts.iter_mut().for_each(Vec::clear);
        self.is_folding = self.fold.is_some();
        self.arrive();
    }

    fn play(&mut self, joint: &[MoveId]) {
        debug_assert_eq!(joint.len(), self.parts.roles.len(), "one move per role");
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(values)) => {
                net.play(values, &mut self.state, joint);
                if !self.parts.circuit.sees.is_empty() {
                    let is_seen = |idx| net.is_seen(values, idx);
                    list_percepts(&self.parts, &mut self.percepts, is_seen);
                }
            }
            _ => self.evaluate_step(joint),
        }
        self.arrive();
        if self.is_folding {
            self.fold_state();
        }
    }

    fn is_terminal(&mut self) -> bool {
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(values)) => net.is_terminal(values),
            _ => {
                self.reach(Progress::Terminal);
                self.values[self.parts.circuit.terminal.index()] != 0
            }
        }
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        if self.is_folding {
            self.list_folded();
        } else {
            self.list_legal(role.index());
        }
        &self.legal[role.index()]
    }

    fn draw_move(&mut self, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        match (self.parts.net(), &mut self.net) {
            (Some(net), Some(values)) if !self.is_folding => {
                draw_move(net, values, role.index(), rng)
            }
            _ => rng.choose(self.legal_moves(role)).copied(),
        }
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        if self.net.is_none() {
            self.reach(Progress::Goals);
        }
        let goals = self.parts.goal_starts[role.index()]..self.parts.goal_starts[role.index() + 1];
        let list = &mut self.goals[role.index()];
        list.clear();
        for idx in goals {
            let (_, goal, gate) = self.parts.circuit.goals[idx];
            let holds = match (self.parts.net(), &mut self.net) {
                (Some(net), Some(values)) => net.ask(values, net.goals[idx]),
                _ => self.values[gate.index()] != 0,
            };
            if holds {
                list.push(goal);
            }
        }
        list
    }

    fn fluents(&self) -> Option<&BitSet> {
        Some(&self.state)
    }

    fn stop_folding(&mut self) {
        if std::mem::replace(&mut self.is_folding, false) {
            // Some moves may have been left out.
            self.has_legal.fill(false);
        }
    }

    fn n_common_fluents(&self, other: &BitSet) -> Option<usize> {
        let pairs = self.state.words().iter().zip(other.words());
        Some(pairs.map(|(here, there)| (here & there).count_ones() as usize).sum())
    }
}

/// Draws a legal move, with the processor's instructions for counting bits and for four words at a
/// time where it has them.
fn draw_move(net: &Net, values: &mut NetState, role: usize, rng: &mut Rng) -> Option<MoveId> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "popcnt,avx2")]
        fn with_instructions(
            net: &Net,
            values: &mut NetState,
            role: usize,
            rng: &mut Rng,
        ) -> Option<MoveId> {
            net.draw_move(values, role, rng)
        }
        if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("avx2") {
            // SAFETY: the check above found these instructions in the processor.
            return unsafe { with_instructions(net, values, role, rng) };
        }
    }
    net.draw_move(values, role, rng)
}

impl Observe for MachineCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        &self.percepts[role.index()]
    }
}

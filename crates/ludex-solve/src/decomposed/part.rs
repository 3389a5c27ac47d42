//! A part as a game, and the states that it can reach.

use std::sync::Arc;

use ludex_analysis::decompose::{Split, View, Views};
use ludex_base::{BitSet, Deadline, FluentId, MoveId, RoleId, StopReason};
use ludex_circuit::{Circuit, Restricted};
use ludex_game::{Cursor, Game};
use ludex_machine::Machine;
use rustc_hash::FxHashMap;

use crate::portfolio::SolveOptions;

/// A part of a game.
pub(super) struct Part {
    pub rules: Restricted,
    pub game: Machine,
    /// Whether it can wait for the others as long as it likes, whatever the clock says.
    pub is_patient: bool,
}

impl Part {
    /// Makes a part of a split a game; `None` if its circuit would be too large.
    pub fn of(
        circuit: &Circuit,
        split: &Split,
        part: usize,
        limits: (usize, &Deadline),
    ) -> Option<Self> {
        let (max_gates, deadline) = limits;
        let mut rules = split.subgame(circuit, part, true, max_gates, deadline)?;
        if !rules.reads_clock {
            rules = split.subgame(circuit, part, false, max_gates, deadline)?;
        }
        let can_wait = rules.is_still.iter().any(|&it| it);
        let waits_still = rules.is_waiting.iter().zip(&rules.is_still).all(|(a, b)| !a || *b);
        let is_patient = !rules.reads_clock && can_wait && waits_still;
        let game = Machine::new(rules.circuit.clone());
        Some(Self { rules, game, is_patient })
    }

    /// Returns whether another part has literally the same rules, so that its states are these.
    pub fn is_like(&self, other: &Part) -> bool {
        let (a, b) = (&self.rules.circuit, &other.rules.circuit);
        a.n_gates() == b.n_gates()
            && a.init == b.init
            && a.next == b.next
            && a.legal == b.legal
            && self.rules.is_still == other.rules.is_still
            && self.rules.is_waiting == other.rules.is_waiting
            && a.gate_ids().all(|id| a.gate(id) == b.gate(id))
    }
}

/// States of a part with the ways to them.
#[derive(Default)]
pub(super) struct Reached {
    pub states: Vec<BitSet>,
    /// By state, the place of the state before it; its own place for the first.
    pub before: Vec<u32>,
    /// By state, the fewest moves of this part, as opposed to waiting moves, on a way to it.
    pub costs: Vec<u32>,
}

/// What exploring needs to know.
pub(super) struct Explorer<'a, 'b> {
    pub views: &'a mut Views<'b>,
    pub part_idx: usize,
    pub n_parts: usize,
    pub options: &'a SolveOptions,
}

impl Explorer<'_, '_> {
    /// Returns the views of states, and whether the game is over wherever the part is in them.
    pub fn closed(
        &mut self,
        fluents: &[FluentId],
        states: &[BitSet],
        clock: Option<&BitSet>,
    ) -> (Vec<View>, Vec<bool>) {
        let all: Vec<&BitSet> = states.iter().collect();
        let views = self.views.of(self.part_idx, fluents, &all);
        let mut known: FxHashMap<&View, bool> = FxHashMap::default();
        for view in &views {
            if !known.contains_key(view) {
                let mut case = vec![None; self.n_parts];
                case[self.part_idx] = Some(view);
                known.insert(view, self.views.outcomes(clock, &[case])[0].must_end);
            }
        }
        let closed = views.iter().map(|it| known[it]).collect();
        (views, closed)
    }

    /// Lists the states that a patient part can reach, nearest first.
    pub fn all_states(&mut self, part: &Part) -> Result<Arc<Reached>, StopReason> {
        let mut cursor = part.game.cursor();
        let role = RoleId::new(0);
        let mut reached =
            Reached { states: vec![cursor.state().clone()], before: vec![0], costs: vec![0] };
        let mut places: FxHashMap<BitSet, u32> = FxHashMap::default();
        places.insert(reached.states[0].clone(), 0);
        let mut next = 0;
        while next < reached.states.len() {
            let end = reached.states.len();
            let (_, closed) = self.closed(&part.rules.fluents, &reached.states[next..], None);
            for place in next..end {
                if closed[place - next] {
                    continue;
                }
                let state = reached.states[place].clone();
                cursor.set_state(&state);
                let moves: Vec<MoveId> = cursor.legal_moves(role).to_vec();
                for played in moves {
                    if part.rules.is_still[played.index()] {
                        continue;
                    }
                    cursor.set_state(&state);
                    cursor.play(&[played]);
                    if !places.contains_key(cursor.state()) {
                        places.insert(cursor.state().clone(), reached.states.len() as u32);
                        reached.states.push(cursor.state().clone());
                        reached.before.push(place as u32);
                        reached.costs.push(reached.costs[place] + 1);
                    }
                }
                if place.is_multiple_of(256) {
                    self.check(&reached)?;
                }
            }
            self.check(&reached)?;
            next = end;
        }
        Ok(Arc::new(reached))
    }

    /// Lists the states of the next step of a part that cannot wait.
    pub fn next_layer(
        &mut self,
        part: &Part,
        layer: &Reached,
        clock: Option<&BitSet>,
    ) -> Result<Reached, StopReason> {
        let role = RoleId::new(0);
        let mut cursor = part.game.cursor();
        let (_, closed) = self.closed(&part.rules.fluents, &layer.states, clock);
        let mut reached = Reached::default();
        let mut places: FxHashMap<BitSet, u32> = FxHashMap::default();
        for (place, state) in layer.states.iter().enumerate() {
            if closed[place] {
                continue;
            }
            cursor.set_state(state);
            let moves: Vec<MoveId> = cursor.legal_moves(role).to_vec();
            for played in moves {
                let own = u32::from(!part.rules.is_waiting[played.index()]);
                let cost = layer.costs[place] + own;
                cursor.set_state(state);
                cursor.play(&[played]);
                match places.get(cursor.state()) {
                    Some(&known) if reached.costs[known as usize] <= cost => {}
                    Some(&known) => {
                        reached.costs[known as usize] = cost;
                        reached.before[known as usize] = place as u32;
                    }
                    None => {
                        places.insert(cursor.state().clone(), reached.states.len() as u32);
                        reached.states.push(cursor.state().clone());
                        reached.before.push(place as u32);
                        reached.costs.push(cost);
                    }
                }
            }
            if place.is_multiple_of(256) {
                self.check(&reached)?;
            }
        }
        Ok(reached)
    }

    fn check(&self, reached: &Reached) -> Result<(), StopReason> {
        if reached.states.len() as u64 > self.options.max_nodes {
            return Err(StopReason::Count);
        }
        let words = reached.states.first().map_or(0, |it| it.words().len());
        let n_bytes = reached.states.len() as u64 * (words as u64 * 16 + 64);
        self.options.limits.stop_reason(n_bytes).map_or(Ok(()), Err)
    }
}

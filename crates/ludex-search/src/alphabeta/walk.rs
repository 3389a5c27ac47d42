//! The states on the path from the root to the current node of a depth-first search.

use ludex_base::{MoveId, RoleId, StopReason};
use ludex_game::Cursor;

use super::{Stopped, Value};
use crate::clock::Clock;
use crate::evaluate::{Evaluation, OutOfTime};
use crate::roles::Roles;

/// A cursor, and the frames that take it back to the states above.
pub(crate) struct Walk<'a, C: Cursor> {
    pub(crate) cursor: C,
    pub(crate) roles: Roles,
    pub(crate) me: RoleId,
    pub(crate) evaluation: Evaluation<C::State>,
    pub(crate) n_nodes: u64,
    clock: Clock<'a>,
    max_nodes: Option<u64>,
    frames: Vec<Frame<C::State>>,
}

/// A state in which a role chooses.
struct Frame<S> {
    state: S,
    /// Legal moves, role by role, and where those of each role end.
    moves: Vec<MoveId>,
    ends: Vec<usize>,
    /// Roles with more than one move: the searching role, then the others, then `random`.
    deciders: Vec<RoleId>,
    joint: Vec<MoveId>,
    /// The number of moves of each role at its last choice.
    mobility: Vec<u32>,
}

/// How a search treats a state.
pub(crate) enum Standing {
    /// Its value is known or estimated.
    Leaf(Value),
    /// A role chooses; the frame of this ply is ready.
    Inner,
}

impl<'a, C: Cursor> Walk<'a, C> {
    pub(crate) fn new(
        cursor: C,
        roles: Roles,
        me: RoleId,
        clock: Clock<'a>,
        max_nodes: Option<u64>,
        evaluation: Evaluation<C::State>,
    ) -> Self {
        Self { cursor, roles, me, evaluation, n_nodes: 0, clock, max_nodes, frames: Vec::new() }
    }

    /// Creates the first frame; false if there is nothing to search.
    pub(crate) fn open_root(&mut self, state: &C::State) -> bool {
        self.cursor.set_state(state);
        !self.cursor.is_terminal() && self.open(0)
    }

    /// Counts a node; fails if the limits do not allow it.
    pub(crate) fn count(&mut self) -> Result<(), Stopped> {
        if self.clock.tick() || self.max_nodes.is_some_and(|max| self.n_nodes >= max) {
            return Err(Stopped);
        }
        self.n_nodes += 1;
        Ok(())
    }

    pub(crate) fn stopped(&self) -> StopReason {
        let is_count = self.max_nodes.is_some_and(|max| self.n_nodes >= max);
        if is_count { StopReason::Count } else { StopReason::of_deadline() }
    }

    /// Classifies the cursor's state, `depth` steps before the horizon.
    pub(crate) fn stand(&mut self, ply: usize, depth: usize) -> Result<Standing, Stopped> {
        self.count()?;
        if self.cursor.is_terminal() {
            let goal = f32::from(self.cursor.goal(self.me).value());
            let is_solved = !self.cursor.has_fault();
            return Ok(Standing::Leaf(Value { goal, is_solved }));
        }
        if depth == 0 {
            let goal = self.evaluate(ply)?;
            return Ok(Standing::Leaf(Value { goal, is_solved: false }));
        }
        if !self.open(ply) {
            // The rules are faulty here, so nothing is known.
            return Ok(Standing::Leaf(Value { goal: 0.0, is_solved: false }));
        }
        Ok(Standing::Inner)
    }

    /// Creates the frame of a ply from the cursor's state; false if the rules are faulty there.
    fn open(&mut self, ply: usize) -> bool {
        let state = self.cursor.state();
        if ply == self.frames.len() {
            self.frames.push(Frame {
                state: state.clone(),
                moves: Vec::new(),
                ends: Vec::new(),
                deciders: Vec::new(),
                joint: Vec::new(),
                mobility: vec![1; self.roles.n],
            });
        } else {
            self.frames[ply].state.clone_from(state);
        }
        if ply > 0 {
            let (above, here) = self.frames.split_at_mut(ply);
            here[0].mobility.clone_from(&above[ply - 1].mobility);
        }
        let frame = &mut self.frames[ply];
        frame.moves.clear();
        frame.ends.clear();
        frame.deciders.clear();
        frame.joint.clear();
        for role in self.roles.ids() {
            let legal = self.cursor.legal_moves(role);
            let Some(&first) = legal.first() else { return false };
            frame.moves.extend_from_slice(legal);
            frame.ends.push(frame.moves.len());
            frame.joint.push(first);
            if legal.len() > 1 {
                frame.mobility[role.index()] = legal.len() as u32;
                frame.deciders.push(role);
            }
        }
        let (me, random) = (self.me, self.roles.random);
        frame.deciders.sort_by_key(|&role| (Some(role) == random, role != me, role));
        !self.cursor.has_fault()
    }

    fn evaluate(&mut self, ply: usize) -> Result<f32, Stopped> {
        let mut mobility = self.frames[ply - 1].mobility.clone();
        for role in self.roles.ids() {
            let n_moves = self.cursor.legal_moves(role).len();
            if n_moves > 1 {
                mobility[role.index()] = n_moves as u32;
            }
        }
        let Self { cursor, roles, me, evaluation, clock, .. } = self;
        evaluation.goal(cursor, *roles, *me, &mobility, clock).map_err(|OutOfTime| Stopped)
    }

    pub(crate) fn state(&self, ply: usize) -> &C::State {
        &self.frames[ply].state
    }

    pub(crate) fn decider(&self, ply: usize, decider_idx: usize) -> Option<RoleId> {
        self.frames[ply].deciders.get(decider_idx).copied()
    }

    /// Returns the number of deciders up to and including a role that is the first, or 0.
    pub(crate) fn n_deciders_up_to(&self, ply: usize, role: RoleId) -> usize {
        usize::from(self.frames[ply].deciders.first() == Some(&role))
    }

    pub(crate) fn moves(&self, ply: usize, role: RoleId) -> &[MoveId] {
        let frame = &self.frames[ply];
        let start = if role.index() == 0 { 0 } else { frame.ends[role.index() - 1] };
        &frame.moves[start..frame.ends[role.index()]]
    }

    pub(crate) fn choose(&mut self, ply: usize, role: RoleId, id: MoveId) {
        self.frames[ply].joint[role.index()] = id;
    }

    /// Plays the joint move chosen at a ply.
    pub(crate) fn play(&mut self, ply: usize) {
        let frame = &self.frames[ply];
        self.cursor.set_state(&frame.state);
        self.cursor.play(&frame.joint);
    }
}

//! Possible states, each with one way that led to it.
//!
//! A way is the joint moves from the beginning, shared between states that came the same way for a
//! while. Ways are what can be changed a little when no state agrees any more with what was seen.

use std::sync::Arc;

use ludex_base::{MoveId, Rng, RoleId};
use ludex_game::Observe;

use super::known::{Possible, Told};
use super::model::Model;
use super::sight::{OwnPercepts, view_after};
use crate::roles::Roles;

/// A possible state and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Place<S> {
    pub possible: Possible<S>,
    pub way: Option<Arc<Step>>,
}

/// The last step of a way, and the way before it.
#[derive(Debug)]
pub(super) struct Step {
    pub joint: Box<[MoveId]>,
    /// The logarithm of how likely the moves of the others were; 0 if they had no choice.
    pub log: f64,
    pub before: Option<Arc<Step>>,
}

impl Drop for Step {
    /// Long ways are let go of one step after the other: a way is as deep as the match is long.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(step) = before {
            before = match Arc::try_unwrap(step) {
                Ok(mut step) => step.before.take(),
                Err(_) => None,
            };
        }
    }
}

/// Whether a role sees what it was told where the cursor stands, and the game goes on.
pub(super) fn agrees<C: Observe>(cursor: &mut C, role: RoleId, told: &Told) -> bool {
    let seen = cursor.percepts(role);
    if seen.len() != told.percepts.len() {
        return false;
    }
    let is_seen = match seen.is_sorted() {
        true => seen == told.percepts,
        false => {
            let mut seen = seen.to_vec();
            seen.sort_unstable();
            seen == told.percepts
        }
    };
    is_seen && !cursor.is_terminal()
}

/// Plays steps at random.
pub(super) struct Stepper<'a, C> {
    pub cursor: &'a mut C,
    pub roles: Roles,
    pub role: RoleId,
    pub model: &'a Model,
}

impl<C: Observe> Stepper<'_, C> {
    /// A random step from a place in which the role plays the move that it was told; `None` if it
    /// sees something else, could not have played it, or the game is over before or after it.
    pub fn step(
        &mut self,
        from: &Place<C::State>,
        told: Option<&Told>,
        rng: &mut Rng,
    ) -> Option<Place<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let mut joint = Vec::with_capacity(self.roles.n);
        let log = self.draw(told, &mut joint, rng)?;
        Some(self.place(from, &joint, log))
    }

    /// The same step with a joint move that was played elsewhere.
    pub fn step_as(
        &mut self,
        from: &Place<C::State>,
        joint: &[MoveId],
        told: &Told,
    ) -> Option<Place<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let log = self.repeat(joint, Some(told))?;
        Some(self.place(from, joint, log))
    }

    /// Plays a random step from where the cursor stands, and says what was played; the logarithm of
    /// how likely it was.
    fn draw(&mut self, told: Option<&Told>, joint: &mut Vec<MoveId>, rng: &mut Rng) -> Option<f64> {
        if self.cursor.is_terminal() {
            return None;
        }
        let first = joint.len();
        let mut log = 0.0;
        for role in self.roles.ids() {
            let legal = self.cursor.legal_moves(role);
            joint.push(match told {
                Some(told) if role == self.role => *legal.iter().find(|&&id| id == told.own)?,
                _ => {
                    let (id, part) = self.model.draw(legal, self.roles.is_random(role), rng)?;
                    log += part.ln();
                    id
                }
            });
        }
        self.cursor.play(&joint[first..]);
        match told {
            Some(told) if !agrees(self.cursor, self.role, told) => None,
            _ => Some(log),
        }
    }

    /// Where the cursor stands, after a joint move from a place.
    pub fn place(&self, from: &Place<C::State>, joint: &[MoveId], log: f64) -> Place<C::State> {
        let possible = Possible {
            state: self.cursor.state().clone(),
            weight: 1.0,
            views: (self.roles.ids().zip(&from.possible.views))
                .map(|(role, &view)| view_after(&OwnPercepts, &*self.cursor, view, role, joint))
                .collect(),
        };
        let step = Step { joint: joint.into(), log, before: from.way.clone() };
        Place { possible, way: Some(Arc::new(step)) }
    }

    /// The way to a place with one or two steps of the others changed, played from the beginning
    /// and to the last step that was told; `None` if that does not agree with what was told.
    ///
    /// Beside it the logarithm of how much likelier the new way is than the old one, the changed
    /// steps left out: those were drawn by how likely they are.
    pub fn change(
        &mut self,
        initial: &Place<C::State>,
        place: &Place<C::State>,
        steps: &[Option<Told>],
        rng: &mut Rng,
    ) -> Option<(Place<C::State>, f64)> {
        let mut way: Vec<&Step> = Vec::new();
        let mut last = place.way.as_deref();
        while let Some(step) = last {
            way.push(step);
            last = step.before.as_deref();
        }
        way.reverse();
        let choices: Vec<usize> = (0..way.len()).filter(|&idx| way[idx].log < 0.0).collect();
        let first = *rng.choose(&choices)?;
        let second = if rng.below(4) == 0 { *rng.choose(&choices)? } else { first };

        // Most changes don't agree with what was told: see first whether this one does.
        self.cursor.set_state(&initial.possible.state);
        let (mut joints, mut logs) = (Vec::new(), Vec::with_capacity(steps.len()));
        let mut ratio = 0.0;
        for (idx, told) in steps.iter().enumerate() {
            let told = told.as_ref();
            let log = match way.get(idx) {
                Some(old) if idx < first.min(second) => {
                    self.cursor.play(&old.joint);
                    joints.extend_from_slice(&old.joint);
                    old.log
                }
                Some(old) if idx != first && idx != second => {
                    let log = self.repeat(&old.joint, told)?;
                    joints.extend_from_slice(&old.joint);
                    ratio += log - old.log;
                    log
                }
                _ => self.draw(told, &mut joints, rng)?,
            };
            logs.push(log);
        }
        let mut here = initial.clone();
        self.cursor.set_state(&here.possible.state);
        for (joint, log) in joints.chunks_exact(self.roles.n).zip(logs) {
            self.cursor.play(joint);
            here = self.place(&here, joint, log);
        }
        Some((here, ratio))
    }

    /// Plays a step as it was played on another way; the logarithm of how likely it is here.
    fn repeat(&mut self, joint: &[MoveId], told: Option<&Told>) -> Option<f64> {
        if self.cursor.is_terminal() {
            return None;
        }
        let mut log = 0.0;
        for (role, &id) in self.roles.ids().zip(joint) {
            let legal = self.cursor.legal_moves(role);
            let place = legal.iter().position(|&other| other == id)?;
            if role != self.role {
                log += self.model.part(legal, place, self.roles.is_random(role)).ln();
            }
        }
        self.cursor.play(joint);
        match told {
            Some(told) if !agrees(self.cursor, self.role, told) => None,
            _ => Some(log),
        }
    }
}

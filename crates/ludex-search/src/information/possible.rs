//! Possible states, each with one way that led to it.
//!
//! A way is the joint moves from the beginning, shared between states that came the same way for a
//! while. Ways are what can be changed a little when no state agrees any more with what was seen.

use std::sync::Arc;

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId};
use ludex_game::Observe;

use super::kinship::Kinship;
use super::known::{Possible, Told};
use super::model::Model;
use super::sight::{OwnPercepts, view_after};
use crate::roles::Roles;

/// A possible state and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Place<S> {
    pub possible: Possible<S>,
    pub way: Option<Arc<Step>>,
    /// In what the way differs from what the role was told; nothing if the state is possible indeed.
    pub wrongs: Vec<Wrong>,
}

/// Something in which a way differs from what the role was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wrong {
    /// The step, from 0.
    pub step: usize,
    pub what: WrongKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrongKind {
    /// The role saw this, and would not have on this way.
    Missing(PerceptId),
    /// The role would have seen this on this way, and did not.
    Extra(PerceptId),
    /// The role could not have played what it did.
    OwnMove,
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
    sees(cursor, role, told) && !cursor.is_terminal()
}

fn sees<C: Observe>(cursor: &C, role: RoleId, told: &Told) -> bool {
    let seen = cursor.percepts(role);
    seen.len() == told.percepts.len()
        && if seen.is_sorted() {
            seen == told.percepts
        } else {
            seen.iter().all(|id| told.percepts.binary_search(id).is_ok())
        }
}

/// Plays steps at random.
pub(super) struct Stepper<'a, C> {
    pub cursor: &'a mut C,
    pub roles: Roles,
    pub role: RoleId,
    pub model: &'a Model,
}

/// How a way is to be changed.
pub(super) struct Change<'a> {
    /// The steps whose moves are drawn anew, once or twice the same.
    pub steps: [usize; 2],
    /// To look for a way that agrees more, whatever its likelihood; `None` to change one that does.
    pub aim: Option<Aim<'a>>,
    /// In how much the new way may differ from what was told.
    pub max_wrongs: usize,
}

/// What moves are drawn for, where they are drawn to agree with what was told.
///
/// Moves that have to do with what the role saw are drawn more often, and others that are not legal
/// any more after a change are drawn anew too.
pub(super) struct Aim<'a> {
    pub kinship: &'a mut Kinship,
    /// What should have been seen after the first of the changed steps, or any time later.
    pub wanted: Option<PerceptId>,
}

/// A way read from its beginning.
pub(super) struct Way<'a, S> {
    pub initial: &'a Place<S>,
    pub place: &'a Place<S>,
    pub steps: Vec<&'a Arc<Step>>,
}

impl<'a, S> Way<'a, S> {
    pub fn new(initial: &'a Place<S>, place: &'a Place<S>) -> Self {
        let mut steps: Vec<&Arc<Step>> = Vec::new();
        let mut last = place.way.as_ref();
        while let Some(step) = last {
            steps.push(step);
            last = step.before.as_ref();
        }
        steps.reverse();
        Self { initial, place, steps }
    }

    /// The steps in which others had a choice.
    pub fn choices(&self) -> Vec<usize> {
        (0..self.steps.len()).filter(|&idx| self.steps[idx].log < 0.0).collect()
    }
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
        self.step_nearly(from, 0, told, None, 0, rng)
    }

    /// The same for a role that may see some things that it was not told, or play something else.
    /// It is the step of that number. Moves that have to do with a percept can be drawn more often;
    /// what is found weighs as much less.
    pub fn step_nearly(
        &mut self,
        from: &Place<C::State>,
        number: usize,
        told: Option<&Told>,
        toward: Option<(&mut Kinship, PerceptId)>,
        max_wrongs: usize,
        rng: &mut Rng,
    ) -> Option<Place<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let mut joint = Vec::with_capacity(self.roles.n);
        let mut wrongs = Wrongs { list: Vec::new(), max: max_wrongs };
        let (log, by) = self.draw(number, told, toward, &mut joint, &mut wrongs, rng)?;
        let mut next = self.place(from, &joint, log);
        next.possible.weight = (log - by).exp();
        next.wrongs.extend(wrongs.list);
        Some(next)
    }

    /// The same step with a joint move that was played elsewhere.
    pub fn step_as(
        &mut self,
        from: &Place<C::State>,
        joint: &[MoveId],
        told: &Told,
    ) -> Option<Place<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let log = self.repeat(0, joint, Some(told), &mut Wrongs { list: Vec::new(), max: 0 })?;
        Some(self.place(from, joint, log))
    }

    /// Plays a random step from where the cursor stands, and says what was played; the logarithms of
    /// how likely it is, and of how likely it was drawn.
    fn draw(
        &mut self,
        number: usize,
        told: Option<&Told>,
        toward: Option<(&mut Kinship, PerceptId)>,
        joint: &mut Vec<MoveId>,
        wrongs: &mut Wrongs,
        rng: &mut Rng,
    ) -> Option<(f64, f64)> {
        if self.cursor.is_terminal() {
            return None;
        }
        let first = joint.len();
        let (mut log, mut by) = (0.0, 0.0);
        let mut toward = toward;
        for role in self.roles.ids() {
            let legal = self.cursor.legal_moves(role);
            let is_random = self.roles.is_random(role);
            joint.push(match told {
                Some(told) if role == self.role => {
                    if legal.contains(&told.own) {
                        told.own
                    } else {
                        wrongs.add(number, WrongKind::OwnMove)?;
                        *rng.choose(legal)?
                    }
                }
                _ => {
                    let (id, part, drawn) = match &mut toward {
                        None => {
                            let (id, part) = self.model.draw(legal, is_random, rng)?;
                            (id, part, part)
                        }
                        Some((kinship, percept)) => {
                            let (place, drawn) = kinship.draw(legal, *percept, rng)?;
                            (legal[place], self.model.part(legal, place, is_random), drawn)
                        }
                    };
                    log += part.ln();
                    by += drawn.ln();
                    id
                }
            });
        }
        self.cursor.play(&joint[first..]);
        self.compare(number, told, wrongs).then_some((log, by))
    }

    /// Plays a step as it was played on another way; the logarithm of how likely it is here.
    fn repeat(
        &mut self,
        number: usize,
        joint: &[MoveId],
        told: Option<&Told>,
        wrongs: &mut Wrongs,
    ) -> Option<f64> {
        if self.cursor.is_terminal() {
            return None;
        }
        let mut log = 0.0;
        for (role, &id) in self.roles.ids().zip(joint) {
            let legal = self.cursor.legal_moves(role);
            let place = legal.iter().position(|&other| other == id)?;
            match told.filter(|_| role == self.role) {
                // As in `draw`: of a step that it was not told of, its own move is a choice too.
                None => log += self.model.part(legal, place, self.roles.is_random(role)).ln(),
                Some(told) if told.own != id => wrongs.add(number, WrongKind::OwnMove)?,
                Some(_) => {}
            }
        }
        self.cursor.play(joint);
        self.compare(number, told, wrongs).then_some(log)
    }

    fn is_legal(&mut self, joint: &[MoveId]) -> bool {
        let mut moves = self.roles.ids().zip(joint);
        moves.all(|(role, id)| self.cursor.legal_moves(role).contains(id))
    }

    /// Notes in what a step differs from what was told of it; false if that is too much, or the
    /// game is over.
    fn compare(&mut self, number: usize, told: Option<&Told>, wrongs: &mut Wrongs) -> bool {
        let Some(told) = told else { return true };
        if !sees(self.cursor, self.role, told) {
            let seen = self.cursor.percepts(self.role);
            let extra = seen.iter().filter(|id| told.percepts.binary_search(id).is_err());
            let missing = told.percepts.iter().filter(|id| !seen.contains(id));
            let mut kinds = missing
                .map(|&id| WrongKind::Missing(id))
                .chain(extra.map(|&id| WrongKind::Extra(id)));
            if !kinds.all(|what| wrongs.add(number, what).is_some()) {
                return false;
            }
        }
        !self.cursor.is_terminal()
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
        Place { possible, way: Some(Arc::new(step)), wrongs: from.wrongs.clone() }
    }

    /// A way with some steps of the others changed, played from the beginning and to the last step
    /// that was told; `None` if that differs too much from what was told, or time ran out.
    ///
    /// Beside where it leads to the logarithm of how much likelier it is than the old one, the
    /// changed steps left out: those were drawn by how likely they are, unless something was wanted.
    pub fn change(
        &mut self,
        old: &Way<'_, C::State>,
        steps: &[Option<Told>],
        change: &mut Change<'_>,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Option<(Place<C::State>, f64)> {
        // Most changes don't agree with what was told: see first whether this one does.
        self.cursor.set_state(&old.initial.possible.state);
        let (mut joints, mut logs) = (Vec::new(), Vec::with_capacity(steps.len()));
        let first = change.steps[0].min(change.steps[1]);
        let is_same = |wrong: &&Wrong| wrong.step < first;
        let list = old.place.wrongs.iter().filter(is_same).copied().collect();
        let mut wrongs = Wrongs { list, max: change.max_wrongs };
        let mut ratio = 0.0;
        for (idx, told) in steps.iter().enumerate() {
            if idx % STEPS_A_LOOK == 0 && deadline.reached() {
                return None;
            }
            let told = told.as_ref();
            let log = match old.steps.get(idx) {
                Some(old) if idx < first => {
                    self.cursor.play(&old.joint);
                    joints.extend_from_slice(&old.joint);
                    old.log
                }
                Some(old)
                    if !change.steps.contains(&idx)
                        && (change.aim.is_none() || self.is_legal(&old.joint)) =>
                {
                    let log = self.repeat(idx, &old.joint, told, &mut wrongs)?;
                    joints.extend_from_slice(&old.joint);
                    ratio += log - old.log;
                    log
                }
                _ => {
                    let toward = change.aim.as_mut().and_then(|aim| {
                        let mut seen = || rng.choose(&told?.percepts).copied();
                        let wanted = if idx == change.steps[0] { aim.wanted } else { seen() };
                        wanted.map(|id| (&mut *aim.kinship, id))
                    });
                    self.draw(idx, told, toward, &mut joints, &mut wrongs, rng)?.0
                }
            };
            logs.push(log);
        }
        let mut here = old.initial.clone();
        self.cursor.set_state(&here.possible.state);
        for (idx, (joint, log)) in joints.chunks_exact(self.roles.n).zip(logs).enumerate() {
            self.cursor.play(joint);
            here = self.place(&here, joint, log);
            // Before the first change both have one way.
            if let Some(&step) = old.steps.get(idx).filter(|_| idx < first) {
                here.way = Some(Arc::clone(step));
            }
        }
        here.wrongs = wrongs.list;
        Some((here, ratio))
    }
}

/// Steps that are replayed between two looks at the clock.
const STEPS_A_LOOK: usize = 16;

/// In what a way differs from what was told, as long as that is not too much.
struct Wrongs {
    list: Vec<Wrong>,
    max: usize,
}

impl Wrongs {
    /// `None` if that is one too many.
    fn add(&mut self, step: usize, what: WrongKind) -> Option<()> {
        (self.list.len() < self.max).then(|| self.list.push(Wrong { step, what }))
    }
}

//! Possible states, each with one trajectory that leads to it.
//!
//! A trajectory is a sequence of joint moves from the initial state; states share common
//! beginnings. When no state agrees with the observations any more, trajectories can be changed a
//! little.

use std::sync::Arc;

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId};
use ludex_game::Observe;

use super::kinship::Kinship;
use super::known::{Observation, Possible};
use super::model::Model;
use super::sight::{OwnPercepts, view_after};
use crate::roles::Roles;

/// A possible state and the trajectory that leads to it.
#[derive(Clone, Debug)]
pub(super) struct Hypothesis<S> {
    pub possible: Possible<S>,
    pub trajectory: Option<Arc<Step>>,
    /// Contradictions between the trajectory and the observations; none if the state is possible
    /// indeed.
    pub inconsistencies: Vec<Inconsistency>,
}

/// One contradiction between a trajectory and an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Inconsistency {
    /// The step, from 0.
    pub step: usize,
    pub what: InconsistencyKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InconsistencyKind {
    /// The role saw this, but would not have on this trajectory.
    Missing(PerceptId),
    /// The role would have seen this on this trajectory, but did not.
    Extra(PerceptId),
    /// The role could not have played its move.
    OwnMove,
}

/// The last step of a trajectory, and the trajectory before it.
#[derive(Debug)]
pub(super) struct Step {
    pub joint: Box<[MoveId]>,
    /// The logarithm of the probability of the others' moves; 0 if they had no choice.
    pub log: f64,
    pub before: Option<Arc<Step>>,
}

impl Drop for Step {
    /// Drops the steps one after another: recursion would go as deep as the match is long.
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

/// Whether the role sees exactly these percepts in the cursor's state, and the game goes on.
pub(super) fn agrees<C: Observe>(cursor: &mut C, role: RoleId, observed: &Observation) -> bool {
    sees(cursor, role, observed) && !cursor.is_terminal()
}

fn sees<C: Observe>(cursor: &C, role: RoleId, observed: &Observation) -> bool {
    let seen = cursor.percepts(role);
    seen.len() == observed.percepts.len()
        && if seen.is_sorted() {
            seen == observed.percepts
        } else {
            seen.iter().all(|id| observed.percepts.binary_search(id).is_ok())
        }
}

/// Plays random steps.
pub(super) struct Stepper<'a, C> {
    pub cursor: &'a mut C,
    pub roles: Roles,
    pub role: RoleId,
    pub model: &'a Model,
}

/// How to change a trajectory.
pub(super) struct Change<'a> {
    /// The steps whose moves are drawn anew; equal for a single one.
    pub steps: [usize; 2],
    /// Set to repair an inconsistent trajectory regardless of its probability; `None` to vary a
    /// consistent one.
    pub aim: Option<Aim<'a>>,
    /// The number of inconsistencies that the new trajectory may have.
    pub max_inconsistencies: usize,
}

/// The aim of a repair.
///
/// Moves related to the percepts of the role are drawn more often, and moves that a change made
/// illegal are drawn anew too.
pub(super) struct Aim<'a> {
    pub kinship: &'a mut Kinship,
    /// The percept to explain, seen after the first changed step or later.
    pub wanted: Option<PerceptId>,
}

/// A trajectory as a list of steps from the start.
pub(super) struct Trajectory<'a, S> {
    pub initial: &'a Hypothesis<S>,
    pub hypothesis: &'a Hypothesis<S>,
    pub steps: Vec<&'a Arc<Step>>,
}

impl<'a, S> Trajectory<'a, S> {
    pub fn new(initial: &'a Hypothesis<S>, hypothesis: &'a Hypothesis<S>) -> Self {
        let mut steps: Vec<&Arc<Step>> = Vec::new();
        let mut last = hypothesis.trajectory.as_ref();
        while let Some(step) = last {
            steps.push(step);
            last = step.before.as_ref();
        }
        steps.reverse();
        Self { initial, hypothesis, steps }
    }

    /// Returns the steps in which others had a choice.
    pub fn choices(&self) -> Vec<usize> {
        (0..self.steps.len()).filter(|&idx| self.steps[idx].log < 0.0).collect()
    }
}

impl<C: Observe> Stepper<'_, C> {
    /// Draws a step from a hypothesis in which the role plays its observed move. `None` if the role
    /// sees something else or could not have played it, or if the game is over before or after the
    /// step.
    pub fn step(
        &mut self,
        from: &Hypothesis<C::State>,
        observed: Option<&Observation>,
        rng: &mut Rng,
    ) -> Option<Hypothesis<C::State>> {
        self.step_inconsistently(from, 0, observed, None, 0, rng)
    }

    /// Does the same, but allows up to `max_inconsistencies` contradictions to the observation.
    /// `number` is the number of the step. Moves related to a percept can be drawn more often; the
    /// weight of the result is corrected for that.
    pub fn step_inconsistently(
        &mut self,
        from: &Hypothesis<C::State>,
        number: usize,
        observed: Option<&Observation>,
        toward: Option<(&mut Kinship, PerceptId)>,
        max_inconsistencies: usize,
        rng: &mut Rng,
    ) -> Option<Hypothesis<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let mut joint = Vec::with_capacity(self.roles.n);
        let mut inconsistencies = Inconsistencies { list: Vec::new(), max: max_inconsistencies };
        let (log, by) =
            self.draw(number, observed, toward, &mut joint, &mut inconsistencies, rng)?;
        let mut next = self.hypothesis(from, &joint, log);
        next.possible.weight = (log - by).exp();
        next.inconsistencies.extend(inconsistencies.list);
        Some(next)
    }

    /// Plays the same step with a joint move that was played elsewhere.
    pub fn step_as(
        &mut self,
        from: &Hypothesis<C::State>,
        joint: &[MoveId],
        observed: &Observation,
    ) -> Option<Hypothesis<C::State>> {
        self.cursor.set_state(&from.possible.state);
        let log = self.repeat(
            0,
            joint,
            Some(observed),
            &mut Inconsistencies { list: Vec::new(), max: 0 },
        )?;
        Some(self.hypothesis(from, joint, log))
    }

    /// Plays a random step from the cursor's state and appends its moves. Returns the logarithms of
    /// its probability and of the probability of drawing it.
    fn draw(
        &mut self,
        number: usize,
        observed: Option<&Observation>,
        toward: Option<(&mut Kinship, PerceptId)>,
        joint: &mut Vec<MoveId>,
        inconsistencies: &mut Inconsistencies,
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
            joint.push(match observed {
                Some(observed) if role == self.role => {
                    if legal.contains(&observed.own) {
                        observed.own
                    } else {
                        inconsistencies.add(number, InconsistencyKind::OwnMove)?;
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
                            let (idx, drawn) = kinship.draw(legal, *percept, rng)?;
                            (legal[idx], self.model.part(legal, idx, is_random), drawn)
                        }
                    };
                    log += part.ln();
                    by += drawn.ln();
                    id
                }
            });
        }
        self.cursor.play(&joint[first..]);
        self.compare(number, observed, inconsistencies).then_some((log, by))
    }

    /// Plays a step as on another trajectory. Returns the logarithm of its probability here.
    fn repeat(
        &mut self,
        number: usize,
        joint: &[MoveId],
        observed: Option<&Observation>,
        inconsistencies: &mut Inconsistencies,
    ) -> Option<f64> {
        if self.cursor.is_terminal() {
            return None;
        }
        let mut log = 0.0;
        for (role, &id) in self.roles.ids().zip(joint) {
            let legal = self.cursor.legal_moves(role);
            let idx = legal.iter().position(|&other| other == id)?;
            match observed.filter(|_| role == self.role) {
                // As in `draw`: in a step without observation, the role's own move is a choice too.
                None => log += self.model.part(legal, idx, self.roles.is_random(role)).ln(),
                Some(observed) if observed.own != id => {
                    inconsistencies.add(number, InconsistencyKind::OwnMove)?
                }
                Some(_) => {}
            }
        }
        self.cursor.play(joint);
        self.compare(number, observed, inconsistencies).then_some(log)
    }

    fn is_legal(&mut self, joint: &[MoveId]) -> bool {
        let mut moves = self.roles.ids().zip(joint);
        moves.all(|(role, id)| self.cursor.legal_moves(role).contains(id))
    }

    /// Records the inconsistencies of a step with its observation; false if there are too many, or
    /// the game is over.
    fn compare(
        &mut self,
        number: usize,
        observed: Option<&Observation>,
        inconsistencies: &mut Inconsistencies,
    ) -> bool {
        let Some(observed) = observed else { return true };
        if !sees(self.cursor, self.role, observed) {
            let seen = self.cursor.percepts(self.role);
            let extra = seen.iter().filter(|id| observed.percepts.binary_search(id).is_err());
            let missing = observed.percepts.iter().filter(|id| !seen.contains(id));
            let mut kinds = missing
                .map(|&id| InconsistencyKind::Missing(id))
                .chain(extra.map(|&id| InconsistencyKind::Extra(id)));
            if !kinds.all(|what| inconsistencies.add(number, what).is_some()) {
                return false;
            }
        }
        !self.cursor.is_terminal()
    }

    /// Returns the cursor's state as a hypothesis, after a joint move from another.
    pub fn hypothesis(
        &self,
        from: &Hypothesis<C::State>,
        joint: &[MoveId],
        log: f64,
    ) -> Hypothesis<C::State> {
        let possible = Possible {
            state: self.cursor.state().clone(),
            weight: 1.0,
            views: (self.roles.ids().zip(&from.possible.views))
                .map(|(role, &view)| view_after(&OwnPercepts, &*self.cursor, view, role, joint))
                .collect(),
        };
        let step = Step { joint: joint.into(), log, before: from.trajectory.clone() };
        Hypothesis {
            possible,
            trajectory: Some(Arc::new(step)),
            inconsistencies: from.inconsistencies.clone(),
        }
    }

    /// Replays a trajectory from the start to the last observed step, with some steps of the others
    /// changed. `None` if there are too many inconsistencies, or time ran out.
    ///
    /// Returns the new hypothesis and the logarithm of its probability relative to the old one. The
    /// changed steps are left out of it: unless there was an aim, they were drawn with their own
    /// probabilities.
    pub fn change(
        &mut self,
        old: &Trajectory<'_, C::State>,
        steps: &[Option<Observation>],
        change: &mut Change<'_>,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Option<(Hypothesis<C::State>, f64)> {
        // Most changes contradict an observation, so check that before building the hypothesis.
        self.cursor.set_state(&old.initial.possible.state);
        let (mut joints, mut logs) = (Vec::new(), Vec::with_capacity(steps.len()));
        let first = change.steps[0].min(change.steps[1]);
        let is_same = |it: &&Inconsistency| it.step < first;
        let list = old.hypothesis.inconsistencies.iter().filter(is_same).copied().collect();
        let mut inconsistencies = Inconsistencies { list, max: change.max_inconsistencies };
        let mut ratio = 0.0;
        for (idx, observed) in steps.iter().enumerate() {
            if idx % STEPS_PER_CLOCK_CHECK == 0 && deadline.reached() {
                return None;
            }
            let observed = observed.as_ref();
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
                    let log = self.repeat(idx, &old.joint, observed, &mut inconsistencies)?;
                    joints.extend_from_slice(&old.joint);
                    ratio += log - old.log;
                    log
                }
                _ => {
                    let toward = change.aim.as_mut().and_then(|aim| {
                        let mut seen = || rng.choose(&observed?.percepts).copied();
                        let wanted = if idx == change.steps[0] { aim.wanted } else { seen() };
                        wanted.map(|id| (&mut *aim.kinship, id))
                    });
                    self.draw(idx, observed, toward, &mut joints, &mut inconsistencies, rng)?.0
                }
            };
            logs.push(log);
        }
        let mut here = old.initial.clone();
        self.cursor.set_state(&here.possible.state);
        for (idx, (joint, log)) in joints.chunks_exact(self.roles.n).zip(logs).enumerate() {
            self.cursor.play(joint);
            here = self.hypothesis(&here, joint, log);
            // Before the first change both share their trajectory.
            if let Some(&step) = old.steps.get(idx).filter(|_| idx < first) {
                here.trajectory = Some(Arc::clone(step));
            }
        }
        here.inconsistencies = inconsistencies.list;
        Some((here, ratio))
    }
}

/// Steps to replay between two checks of the clock.
const STEPS_PER_CLOCK_CHECK: usize = 16;

/// The inconsistencies of a trajectory, up to a maximum.
struct Inconsistencies {
    list: Vec<Inconsistency>,
    max: usize,
}

impl Inconsistencies {
    /// Adds an inconsistency; `None` if it is one too many.
    fn add(&mut self, step: usize, what: InconsistencyKind) -> Option<()> {
        (self.list.len() < self.max).then(|| self.list.push(Inconsistency { step, what }))
    }
}

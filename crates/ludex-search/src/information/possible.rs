//! Possible states, each with one trajectory that led to it.
//!
//! A trajectory is the joint moves from the beginning, shared between states that came the same way for a
//! while. Trajectories are what can be changed a little when no state agrees any more with what was seen.

use std::sync::Arc;

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId};
use ludex_game::Observe;

use super::kinship::Kinship;
use super::known::{Observation, Possible};
use super::model::Model;
use super::sight::{OwnPercepts, view_after};
use crate::roles::Roles;

/// A possible state and the trajectory that led to it.
#[derive(Clone, Debug)]
pub(super) struct Hypothesis<S> {
    pub possible: Possible<S>,
    pub trajectory: Option<Arc<Step>>,
    /// In what the trajectory differs from what the role was told; nothing if the state is possible indeed.
    pub inconsistencies: Vec<Inconsistency>,
}

/// Something in which a trajectory differs from what the role was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Inconsistency {
    /// The step, from 0.
    pub step: usize,
    pub what: InconsistencyKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InconsistencyKind {
    /// The role saw this, and would not have on this trajectory.
    Missing(PerceptId),
    /// The role would have seen this on this trajectory, and did not.
    Extra(PerceptId),
    /// The role could not have played what it did.
    OwnMove,
}

/// The last step of a trajectory, and the trajectory before it.
#[derive(Debug)]
pub(super) struct Step {
    pub joint: Box<[MoveId]>,
    /// The logarithm of how likely the moves of the others were; 0 if they had no choice.
    pub log: f64,
    pub before: Option<Arc<Step>>,
}

impl Drop for Step {
    /// Long trajectories are let go of one step after the other: a trajectory is as deep as the match is long.
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

/// Plays steps at random.
pub(super) struct Stepper<'a, C> {
    pub cursor: &'a mut C,
    pub roles: Roles,
    pub role: RoleId,
    pub model: &'a Model,
}

/// How a trajectory is to be changed.
pub(super) struct Change<'a> {
    /// The steps whose moves are drawn anew, once or twice the same.
    pub steps: [usize; 2],
    /// To look for a trajectory that agrees more, whatever its likelihood; `None` to change one that does.
    pub aim: Option<Aim<'a>>,
    /// In how much the new trajectory may differ from what was told.
    pub max_inconsistencies: usize,
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

/// A trajectory read from its beginning.
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

    /// The steps in which others had a choice.
    pub fn choices(&self) -> Vec<usize> {
        (0..self.steps.len()).filter(|&idx| self.steps[idx].log < 0.0).collect()
    }
}

impl<C: Observe> Stepper<'_, C> {
    /// A random step from a hypothesis in which the role plays the move that it was told; `None` if it
    /// sees something else, could not have played it, or the game is over before or after it.
    pub fn step(
        &mut self,
        from: &Hypothesis<C::State>,
        observed: Option<&Observation>,
        rng: &mut Rng,
    ) -> Option<Hypothesis<C::State>> {
        self.step_inconsistently(from, 0, observed, None, 0, rng)
    }

    /// The same for a role that may see some things that it was not told, or play something else.
    /// It is the step of that number. Moves that have to do with a percept can be drawn more often;
    /// what is found weighs as much less.
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

    /// The same step with a joint move that was played elsewhere.
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

    /// Plays a random step from where the cursor stands, and says what was played; the logarithms of
    /// how likely it is, and of how likely it was drawn.
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

    /// Plays a step as it was played on another trajectory; the logarithm of how likely it is here.
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
                // As in `draw`: of a step that it was not told of, its own move is a choice too.
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

    /// Notes in what a step differs from what was told of it; false if that is too much, or the
    /// game is over.
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

    /// Where the cursor stands, after a joint move from a hypothesis.
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

    /// A trajectory with some steps of the others changed, played from the beginning and to the last step
    /// that was told; `None` if that differs too much from what was told, or time ran out.
    ///
    /// Beside where it leads to the logarithm of how much likelier it is than the old one, the
    /// changed steps left out: those were drawn by how likely they are, unless something was wanted.
    pub fn change(
        &mut self,
        old: &Trajectory<'_, C::State>,
        steps: &[Option<Observation>],
        change: &mut Change<'_>,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Option<(Hypothesis<C::State>, f64)> {
        // Most changes don't agree with what was told: see first whether this one does.
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
            // Before the first change both have one trajectory.
            if let Some(&step) = old.steps.get(idx).filter(|_| idx < first) {
                here.trajectory = Some(Arc::clone(step));
            }
        }
        here.inconsistencies = inconsistencies.list;
        Some((here, ratio))
    }
}

/// Steps that are replayed between two looks at the clock.
const STEPS_PER_CLOCK_CHECK: usize = 16;

/// In what a trajectory differs from what was told, as long as that is not too much.
struct Inconsistencies {
    list: Vec<Inconsistency>,
    max: usize,
}

impl Inconsistencies {
    /// `None` if that is one too many.
    fn add(&mut self, step: usize, what: InconsistencyKind) -> Option<()> {
        (self.list.len() < self.max).then(|| self.list.push(Inconsistency { step, what }))
    }
}

//! All states that agree with a role's observations, while they are few.
//!
//! This is [`ludex_game::Belief`] for one role, and a test compares the two. It differs by floats
//! instead of fractions, a [`Model`] of the others, and a trajectory to each state.

use std::collections::hash_map::Entry;

use ludex_base::{Deadline, MoveId, Rng};
use ludex_game::Observe;
use rustc_hash::FxHashMap;

use super::known::Observation;
use super::model::Model;
use super::possible::{Hypothesis, Stepper, agrees};

/// Limits on the work of an exact step.
pub(super) struct ExactLimits {
    pub max_states: usize,
    pub max_joint_moves: usize,
    pub deadline: Deadline,
}

/// Joint moves to try before checking the clock. An exact set that is given up is lost for good,
/// and a small one should not be lost because another process had the processor for a moment.
const N_JOINTS_WITHOUT_CLOCK: usize = 64;

/// Why there is no exact set after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inexact {
    /// It would be too large, or take too long.
    TooLarge,
    /// No state agrees with the observation.
    Impossible,
}

/// Returns all hypotheses after a step, with weights that sum to 1.
pub(super) fn follow<C: Observe>(
    stepper: &mut Stepper<'_, C>,
    hypotheses: &[Hypothesis<C::State>],
    observed: &Observation,
    limits: &ExactLimits,
    rng: &mut Rng,
) -> Result<Vec<Hypothesis<C::State>>, Inexact> {
    let mut found: Vec<Hypothesis<C::State>> = Vec::new();
    let mut known: FxHashMap<C::State, usize> = FxHashMap::default();
    let mut n_tried = 0_usize;
    for hypothesis in hypotheses {
        let Some(mut joints) = Joints::new(stepper, &hypothesis.possible.state, observed.own)
        else {
            continue;
        };
        n_tried = n_tried.saturating_add(joints.n());
        let heeds_clock = n_tried > N_JOINTS_WITHOUT_CLOCK;
        if n_tried > limits.max_joint_moves || heeds_clock && limits.deadline.reached() {
            return Err(Inexact::TooLarge);
        }
        let mut n_played = 0_usize;
        while let Some((joint, part)) = joints.next() {
            n_played += 1;
            if heeds_clock && n_played.is_multiple_of(16) && limits.deadline.reached() {
                return Err(Inexact::TooLarge);
            }
            stepper.cursor.set_state(&hypothesis.possible.state);
            stepper.cursor.play(joint);
            if !agrees(stepper.cursor, stepper.role, observed) {
                continue;
            }
            let weight = hypothesis.possible.weight * part;
            match known.entry(stepper.cursor.state().clone()) {
                Entry::Vacant(vacant) => {
                    if found.len() >= limits.max_states {
                        return Err(Inexact::TooLarge);
                    }
                    vacant.insert(found.len());
                    let mut next = stepper.hypothesis(hypothesis, joint, part.ln());
                    next.possible.weight = weight;
                    found.push(next);
                }
                Entry::Occupied(at) => {
                    let other = &mut found[*at.get()];
                    let total = other.possible.weight + weight;
                    // Keep one of several trajectories to a state, drawn by their probabilities.
                    if rng.unit() * total < weight {
                        *other = stepper.hypothesis(hypothesis, joint, part.ln());
                    }
                    other.possible.weight = total;
                }
            }
        }
    }
    let total: f64 = found.iter().map(|hypothesis| hypothesis.possible.weight).sum();
    if found.is_empty() || total <= 0.0 {
        return Err(Inexact::Impossible);
    }
    found.iter_mut().for_each(|hypothesis| hypothesis.possible.weight /= total);
    Ok(found)
}

/// The joint moves of a state in which one role plays a given move, each with the probability of
/// the others' moves. The last role's move changes fastest.
struct Joints {
    legal: Vec<Vec<MoveId>>,
    parts: Vec<Vec<f64>>,
    turned: Vec<usize>,
    joint: Vec<MoveId>,
    is_spent: bool,
}

impl Joints {
    /// Returns `None` if the game is over, the move is not legal, or a role has no move.
    fn new<C: Observe>(
        stepper: &mut Stepper<'_, C>,
        state: &C::State,
        own: MoveId,
    ) -> Option<Self> {
        let Stepper { cursor, roles, role: me, model } = stepper;
        cursor.set_state(state);
        if cursor.is_terminal() {
            return None;
        }
        let (mut legal, mut parts) = (Vec::with_capacity(roles.n), Vec::with_capacity(roles.n));
        for role in roles.ids() {
            let mut moves = cursor.legal_moves(role).to_vec();
            let mut likely = Vec::new();
            if role == *me {
                moves.retain(|&id| id == own);
                likely.push(1.0);
            } else if !moves.is_empty() {
                Model::parts(model, &moves, roles.is_random(role), &mut likely);
            }
            if moves.is_empty() {
                return None;
            }
            legal.push(moves);
            parts.push(likely);
        }
        let turned = vec![0; legal.len()];
        Some(Self { legal, parts, turned, joint: Vec::new(), is_spent: false })
    }

    fn n(&self) -> usize {
        self.legal.iter().map(Vec::len).fold(1, usize::saturating_mul)
    }

    fn next(&mut self) -> Option<(&[MoveId], f64)> {
        if self.is_spent {
            return None;
        }
        self.joint.clear();
        self.joint.extend(self.legal.iter().zip(&self.turned).map(|(moves, &idx)| moves[idx]));
        let part = self.parts.iter().zip(&self.turned).map(|(parts, &idx)| parts[idx]).product();
        let turning = (0..self.legal.len()).rev().find(|&role_idx| {
            self.turned[role_idx] += 1;
            let is_turned = self.turned[role_idx] < self.legal[role_idx].len();
            if !is_turned {
                self.turned[role_idx] = 0;
            }
            is_turned
        });
        self.is_spent = turning.is_none();
        Some((&self.joint, part))
    }
}

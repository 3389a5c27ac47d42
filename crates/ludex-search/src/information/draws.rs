//! Draws for the next particle: its predecessor and the joint move.

use ludex_base::{MoveId, Rng};
use rustc_hash::FxHashMap;

use super::possible::Hypothesis;

/// The number of particles, a prime, and about its golden section. Steps of that length around the
/// circle visit every position, each far from the previous ones.
pub(super) const N_PARTICLES: usize = 2_003;
const PARTICLE_STRIDE: usize = 1_238;

/// Evenly spread draws from 0 to 1: each round has one for each particle, at equal distances.
///
/// Independent draws take some particles twice and others not at all, and after as many steps as
/// there are particles all descend from a single one, even if no observation ruled any out. Evenly
/// spread draws take each as often as its weight says (systematic resampling: Kitagawa, *Monte
/// Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, 1996).
#[derive(Default)]
pub(super) struct EvenDraws {
    n_taken: usize,
    shift: f64,
}

impl EvenDraws {
    pub fn next(&mut self, rng: &mut Rng) -> f64 {
        let idx = self.n_taken % N_PARTICLES;
        if idx == 0 {
            self.shift = rng.unit();
        }
        self.n_taken += 1;
        ((idx * PARTICLE_STRIDE % N_PARTICLES) as f64 + self.shift) / N_PARTICLES as f64
    }
}

/// Joint moves that agreed with the observation of a step.
///
/// If a role sees what another played, perhaps one move in a hundred agrees, and plain draws would
/// find it once in a hundred tries. So half of the draws come from joint moves that agreed before,
/// and the weight of the result is corrected for that (importance sampling).
#[derive(Default)]
pub(super) struct FittingJoints {
    joints: Vec<Box<[MoveId]>>,
    counts: FxHashMap<Box<[MoveId]>, u32>,
}

impl FittingJoints {
    /// Returns one of them half of the time; otherwise, and before there are any, `None`.
    pub fn draw(&self, rng: &mut Rng) -> Option<&[MoveId]> {
        if self.joints.is_empty() || rng.below(2) == 0 {
            None
        } else {
            rng.choose(&self.joints).map(|joint| &**joint)
        }
    }

    /// Sets the weight of a drawn hypothesis.
    pub fn weigh<S>(&mut self, mut hypothesis: Hypothesis<S>) -> Hypothesis<S> {
        let step = hypothesis.trajectory.as_ref().expect("a step led to the hypothesis");
        let likely = step.log.exp();
        let drawn = match self.joints.len() {
            0 => likely,
            n => {
                let count = self.counts.get(&step.joint).copied().unwrap_or(0);
                0.5 * likely + 0.5 * f64::from(count) / n as f64
            }
        };
        self.note(&hypothesis);
        hypothesis.possible.weight = likely / drawn;
        hypothesis
    }

    /// Adds the last joint move of a hypothesis.
    pub fn note<S>(&mut self, hypothesis: &Hypothesis<S>) {
        let step = hypothesis.trajectory.as_ref().expect("a step led to the hypothesis");
        *self.counts.entry(step.joint.clone()).or_default() += 1;
        self.joints.push(step.joint.clone());
    }
}

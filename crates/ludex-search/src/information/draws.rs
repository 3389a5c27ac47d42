//! What the next particle is made from: which one it follows, and by which joint move.

use ludex_base::{MoveId, Rng};
use rustc_hash::FxHashMap;

use super::possible::Hypothesis;

/// Particles kept: a prime, and about its golden section, so that steps of that length around the circle
/// come by every place, far from the ones before.
pub(super) const N_PARTICLES: usize = 2_003;
const PARTICLE_STRIDE: usize = 1_238;

/// Parts of a whole, evenly spread: each round has as many as there are particles, the same way apart.
///
/// Places that are drawn one by one are drawn twice or not at all, and after as many steps as there are
/// particles all stem from one of them, even if no step ruled any out. Evenly spread, each is taken as
/// often as its weight says (systematic resampling: Kitagawa, *Monte Carlo Filter and Smoother for
/// Non-Gaussian Nonlinear State Space Models*, 1996).
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

/// Joint moves that agreed with what was told of a step.
///
/// Where a role sees what another played, one of a hundred moves agrees, and drawing all of them
/// would find it once in a hundred draws. So half of the draws are from those that agreed before,
/// and what is found is weighted by how much likelier that made it (importance sampling).
#[derive(Default)]
pub(super) struct FittingJoints {
    joints: Vec<Box<[MoveId]>>,
    counts: FxHashMap<Box<[MoveId]>, u32>,
}

impl FittingJoints {
    /// One of them, half of the time; the other half, and before there are any, nothing.
    pub fn draw(&self, rng: &mut Rng) -> Option<&[MoveId]> {
        if self.joints.is_empty() || rng.below(2) == 0 {
            None
        } else {
            rng.choose(&self.joints).map(|joint| &**joint)
        }
    }

    /// A hypothesis that a draw led to, with its weight.
    pub fn weigh<S>(&mut self, mut hypothesis: Hypothesis<S>) -> Hypothesis<S> {
        let step = hypothesis.trajectory.as_ref().expect("a step led there");
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

    /// Notes what was played last in a hypothesis.
    pub fn note<S>(&mut self, hypothesis: &Hypothesis<S>) {
        let step = hypothesis.trajectory.as_ref().expect("a step led there");
        *self.counts.entry(step.joint.clone()).or_default() += 1;
        self.joints.push(step.joint.clone());
    }
}

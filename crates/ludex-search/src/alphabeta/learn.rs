//! Values of states, learned from random games.
//!
//! The value is a logistic function of the true fluents. Each fluent counts by itself and by the
//! families it belongs to (`Game::families`), so that the value of all pawns, or of a row, is
//! learned from every one of them. Logistic regression on the goals at the end of random games
//! adjusts the weights one state at a time. This joins two ideas: features that are stable and
//! correlate with the goal (Clune, *Heuristic evaluation functions for general game playing*,
//! 2007), and structure of the state found in the terms of the rules (Kuhlmann, Dresner, Stone,
//! *Automatic heuristic construction in a complete general game player*, 2006). We name no
//! structure: a board is just the families of a predicate with three arguments.
//!
//! For games with any number of roles, on engines that number fluents; random games must end.

use std::ops::ControlFlow;

use ludex_base::{BitSet, MoveId, Rng, RoleId};
use ludex_game::{Cursor, Game, PlayEnd, PlayVisitor, RandomPlay, stop_if};

use crate::clock::Clock;
use crate::roles::Roles;

/// Weights of fluents and families, and the states they were learned from.
pub(crate) struct Learner {
    /// By fluent.
    families: Vec<Vec<u32>>,
    bias: Weight,
    of_fluent: Vec<Weight>,
    of_family: Vec<Weight>,
    /// By fluent, its weight plus those of its families.
    folded: Vec<f32>,
    samples: Vec<Sample>,
    /// The oldest sample, which is replaced next.
    oldest: usize,
    /// Squared errors of the predictions for new states, and of the mean.
    error: f64,
    spread: f64,
    mean: f64,
    n_seen: u64,
}

/// A weight, and the sum of its squared gradients.
#[derive(Clone, Copy, Default)]
struct Weight {
    value: f32,
    squares: f32,
}

#[derive(Default)]
struct Sample {
    fluents: Vec<u32>,
    /// The final goal of the game, 0 to 1.
    goal: f32,
}

/// Sampled states of one random game.
const N_PER_GAME: usize = 3;
/// Old states to learn from again after each new one.
const N_REPLAYED_PER_STATE: usize = 3;
const MAX_SAMPLES: usize = 10_000;
/// Learning rates. Single fluents are seen less often, so chance affects them more.
const RATE_OF_FAMILIES: f32 = 0.1;
const RATE_OF_FLUENTS: f32 = 0.03;
/// Every update shrinks the weight a little.
const WEIGHT_DECAY: f32 = 1e-5;
/// The part of the variance of goals that predictions must explain before they are used.
const MIN_QUALITY: f64 = 0.02;

impl Learner {
    /// Creates a learner without knowledge; `None` if the engine does not number fluents.
    pub fn new<G: Game>(game: &G) -> Option<Self> {
        game.cursor().fluents()?;
        Some(Self::with(game.families()))
    }

    fn with(families: Vec<Vec<u32>>) -> Self {
        let n_families = families.iter().flatten().max().map_or(0, |&most| most as usize + 1);
        let n_fluents = families.len();
        Self {
            families,
            bias: Weight::default(),
            of_fluent: vec![Weight::default(); n_fluents],
            of_family: vec![Weight::default(); n_families],
            folded: vec![0.0; n_fluents],
            samples: Vec::new(),
            oldest: 0,
            error: 0.0,
            spread: 0.0,
            mean: 0.5,
            n_seen: 0,
        }
    }

    /// Discards everything, to start over for another role.
    pub fn forget(&mut self) {
        let families = std::mem::take(&mut self.families);
        *self = Self::with(families);
    }

    /// Learns from random games from the state of the cursor, until `is_enough` returns true after
    /// a game or time runs out. The cursor may be in another state afterwards.
    pub fn work<C: Cursor>(
        &mut self,
        cursor: &mut C,
        roles: Roles,
        me: RoleId,
        rng: &mut Rng,
        clock: &mut Clock<'_>,
        mut is_enough: impl FnMut() -> bool,
    ) -> u64 {
        let root = cursor.state().clone();
        let mut play = RandomPlay::new(roles.n);
        let mut n_games = 0;
        loop {
            cursor.set_state(&root);
            let mut sampler = Sampler { clock, states: Vec::new() };
            let end = play.run(cursor, rng, &mut sampler);
            let PlayEnd::Terminal(_) = end else { break };
            let goal = f32::from(cursor.goal(me).value()) / 100.0;
            for fluents in sampler.states {
                self.learn(Sample { fluents, goal }, rng);
            }
            n_games += 1;
            if is_enough() {
                break;
            }
        }
        self.fold();
        n_games
    }

    fn fold(&mut self) {
        for (at, families) in self.families.iter().enumerate() {
            let of_families = families.iter().map(|&it| self.of_family[it as usize].value);
            self.folded[at] = self.of_fluent[at].value + of_families.sum::<f32>();
        }
    }

    fn learn(&mut self, sample: Sample, rng: &mut Rng) {
        let predicted = f64::from(self.adjust(&sample));
        let goal = f64::from(sample.goal);
        self.n_seen += 1;
        self.error += (goal - predicted).powi(2);
        self.spread += (goal - self.mean).powi(2);
        self.mean += (goal - self.mean) / self.n_seen.min(1_000) as f64;
        for _ in 0..N_REPLAYED_PER_STATE.min(self.samples.len()) {
            let at = rng.below(self.samples.len());
            let again = std::mem::take(&mut self.samples[at]);
            self.adjust(&again);
            self.samples[at] = again;
        }
        if self.samples.len() < MAX_SAMPLES {
            self.samples.push(sample);
        } else {
            self.samples[self.oldest] = sample;
            self.oldest = (self.oldest + 1) % MAX_SAMPLES;
        }
    }

    /// Moves the weights towards a sample. Returns the prediction before that.
    fn adjust(&mut self, sample: &Sample) -> f32 {
        let mut sum = self.bias.value;
        for &fluent in &sample.fluents {
            sum += self.of_fluent[fluent as usize].value;
            for &family in &self.families[fluent as usize] {
                sum += self.of_family[family as usize].value;
            }
        }
        let predicted = logistic(sum);
        let slope = predicted - sample.goal;
        self.bias.step(slope, RATE_OF_FAMILIES);
        for &fluent in &sample.fluents {
            self.of_fluent[fluent as usize].step(slope, RATE_OF_FLUENTS);
            for &family in &self.families[fluent as usize] {
                self.of_family[family as usize].step(slope, RATE_OF_FAMILIES);
            }
        }
        predicted
    }

    /// Returns the part of the variance of goals that predictions explained, for states that were
    /// new; at most 1, and below 0 if they were worse than the mean.
    pub fn quality(&self) -> f64 {
        if self.spread > 0.0 { 1.0 - self.error / self.spread } else { 0.0 }
    }

    /// Whether the predictions are good enough to use.
    pub fn is_useful(&self) -> bool {
        self.n_seen >= 100 && self.quality() >= MIN_QUALITY
    }

    /// Returns the value of a state before the logistic function.
    pub fn sum(&self, fluents: &BitSet) -> f32 {
        self.bias.value + fluents.iter().map(|fluent| self.folded[fluent]).sum::<f32>()
    }

    /// Predicts the value of a state, 0 to 1, as of the last [`Learner::work`].
    pub fn predict(&self, fluents: &BitSet) -> f64 {
        f64::from(logistic(self.sum(fluents)))
    }
}

impl Weight {
    /// Takes a gradient step, smaller after large gradients (AdaGrad).
    fn step(&mut self, slope: f32, rate: f32) {
        self.squares += slope * slope;
        self.value -= rate * slope / (self.squares + 1e-3).sqrt() + WEIGHT_DECAY * self.value;
    }
}

fn logistic(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}

/// Samples [`N_PER_GAME`] states of a game uniformly, as sets of fluents, until the deadline.
struct Sampler<'a, 'clock> {
    clock: &'a mut Clock<'clock>,
    states: Vec<Vec<u32>>,
}

impl<C: Cursor> PlayVisitor<C> for Sampler<'_, '_> {
    fn before(&mut self, cursor: &mut C, n_steps: usize, rng: &mut Rng) -> ControlFlow<()> {
        let idx = if n_steps < N_PER_GAME { n_steps } else { rng.below(n_steps + 1) };
        if idx < N_PER_GAME {
            let Some(fluents) = cursor.fluents() else { return ControlFlow::Break(()) };
            let fluents = fluents.iter().map(|it| it as u32).collect();
            if idx < self.states.len() {
                self.states[idx] = fluents;
            } else {
                self.states.push(fluents);
            }
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, _cursor: &mut C, _joint: &[MoveId], _rng: &mut Rng) -> ControlFlow<()> {
        stop_if(self.clock.tick())
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    /// Two families of fluents: those of the first win, those of the second lose. A fluent that was
    /// never seen is judged by its family.
    #[test]
    fn families_share_what_is_learned() {
        let mut learner = Learner::with(vec![vec![0], vec![0], vec![0], vec![1], vec![1], vec![1]]);
        let mut rng = Seed(1).rng();
        for n in 0..400 {
            let is_won = n % 2 == 0;
            let fluent = (n / 2) % 2 + if is_won { 0 } else { 3 };
            learner.learn(
                Sample { fluents: vec![fluent], goal: f32::from(u8::from(is_won)) },
                &mut rng,
            );
        }
        learner.fold();
        assert!(learner.is_useful(), "{}", learner.quality());
        let worth = |fluent: usize| {
            let mut fluents = BitSet::new(6);
            fluents.insert(fluent);
            learner.predict(&fluents)
        };
        assert!(worth(0) > 0.9 && worth(3) < 0.1, "{} {}", worth(0), worth(3));
        assert!(worth(2) > 0.8 && worth(5) < 0.2, "{} {}", worth(2), worth(5));
    }

    /// The first step of every weight, worked out by hand: the prediction is half a goal too low,
    /// and AdaGrad divides the step by the gradient, so each weight grows by its rate.
    #[test]
    fn the_first_step_is_as_long_as_the_rate() {
        let mut learner = Learner::with(vec![vec![0]]);
        let before = learner.adjust(&Sample { fluents: vec![0], goal: 1.0 });
        assert!((before - 0.5).abs() < 1e-6);
        let step = |rate: f32| rate * 0.5 / (0.25_f32 + 1e-3).sqrt();
        assert!((learner.of_family[0].value - step(RATE_OF_FAMILIES)).abs() < 1e-6);
        assert!((learner.of_fluent[0].value - step(RATE_OF_FLUENTS)).abs() < 1e-6);
    }

    /// With random goals the learner reports that it knows nothing.
    #[test]
    fn random_goals_teach_nothing() {
        let mut learner = Learner::with(vec![vec![0], vec![0], vec![1], vec![1]]);
        let mut rng = Seed(2).rng();
        for _ in 0..2_000 {
            let fluents = vec![rng.below(4) as u32];
            let goal = f32::from(u8::from(rng.below(2) == 0));
            learner.learn(Sample { fluents, goal }, &mut rng);
        }
        assert!(!learner.is_useful(), "{}", learner.quality());
    }
}

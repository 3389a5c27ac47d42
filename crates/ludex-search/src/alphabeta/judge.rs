//! Values of states, predicted from features that the rules suggest.
//!
//! Random games decide which of these [`Features`] count, and how much. A feature is kept if it is
//! stable (it changes less between successive states than between states of different games) and
//! correlates with the final goal. Ridge regression combines the kept features, mobility, and the
//! values of [`Learner`] if there are any. Sums over fluents are folded into one weight per fluent.
//!
//! After Clune, *Heuristic evaluation functions for general game playing*, 2007, who selects
//! features by stability and correlation and combines them with weights. We find the weights by
//! regression, and do not model control and termination separately from payoff.
//!
//! For games with any number of roles, on engines that number fluents; random games must end.

use std::ops::ControlFlow;

use ludex_base::{BitSet, MoveId, Rng, RoleId};
use ludex_game::{
    Cursor, FeatureFinder, Features, PlayEnd, PlayVisitor, RandomPlay, Wanted, stop_if,
};

use super::learn::Learner;
use crate::clock::Clock;
use crate::roles::Roles;

/// Features, their statistics over random games, and their weights.
pub(crate) struct Judge {
    /// Called once, when there is time.
    finder: Option<(FeatureFinder, Wanted)>,
    features: Features,
    /// By fluent, the linear features that it contributes to.
    of_fluent: Vec<Vec<(u32, f32)>>,
    moments: Moments,
    weights: Option<Weights>,
    n_games: u64,
    /// Squared errors of the predictions for new states, and of the mean.
    error: f64,
    spread: f64,
    n_checked: u64,
    desk: Desk,
}

/// Working memory.
#[derive(Default)]
struct Desk {
    floats: Vec<f32>,
    graded: Vec<f32>,
}

/// The game being played: its roles, the role whose goal counts, and learned values of fluents, if
/// any.
pub(crate) struct Played<'a> {
    pub roles: Roles,
    pub me: RoleId,
    pub learner: Option<&'a Learner>,
}

/// The weights of all features.
#[derive(Clone, PartialEq, Debug)]
struct Weights {
    constant: f64,
    /// By fluent.
    of_fluent: Vec<f32>,
    /// For each group of features that are graded together, all their weights; `None` if none
    /// counts.
    graded: Vec<Option<Vec<f32>>>,
    mobility: f64,
    learned: f64,
}

/// A state of a random game.
#[derive(Clone)]
struct Sample {
    fluents: BitSet,
    mobility: f64,
}

/// Sampled states of one random game, each together with its predecessor.
const N_PER_GAME: usize = 3;
/// Weights are fitted after this many games, and again each time the number doubles.
const MIN_GAMES_TO_FIT: u64 = 32;
/// The part of the time for finding the features.
const FINDING_PART: f64 = 0.15;
/// The variance of a stable feature is at least this many times that of one step.
const MIN_STABILITY: f64 = 1.0;
/// The correlation of a kept feature with the goal, in standard errors: pure chance reaches it a
/// few times in a thousand.
const MIN_CORRELATION: f64 = 3.0;
/// The ridge, as a part of the variance of each feature, and what the ratio of features to games
/// adds to it.
const RIDGE: f64 = 0.02;
const RIDGE_PER_GAME: f64 = 1.0;
/// The part of the variance of goals that predictions must explain before they are used.
const MIN_QUALITY: f64 = 0.02;
const MIN_GAMES_TO_CHECK: u64 = 60;

impl Judge {
    /// Creates a judge that will ask for the features of the game: all, or only the sums.
    pub fn new(finder: FeatureFinder, wanted: Wanted) -> Self {
        Self { finder: Some((finder, wanted)), ..Self::with(Features::default()) }
    }

    fn with(features: Features) -> Self {
        let n_graded = features.graded.iter().map(|it| it.names().len()).sum::<usize>();
        let n_features = features.linear.len() + n_graded + 2;
        let weights = || features.linear.iter().flat_map(|it| &it.weights);
        let n_fluents = weights().map(|it| it.0 as usize + 1).max().unwrap_or(0);
        let mut of_fluent = vec![Vec::new(); n_fluents];
        for (feature, linear) in features.linear.iter().enumerate() {
            for &(fluent, weight) in linear.weights.iter().filter(|it| it.1 != 0.0) {
                of_fluent[fluent as usize].push((feature as u32, weight));
            }
        }
        Self {
            finder: None,
            features,
            of_fluent,
            moments: Moments::new(n_features),
            weights: None,
            n_games: 0,
            error: 0.0,
            spread: 0.0,
            n_checked: 0,
            desk: Desk::default(),
        }
    }

    /// Discards the statistics and weights, to start over for another role.
    pub fn forget(&mut self) {
        let finder = self.finder.take();
        *self = Self { finder, ..Self::with(std::mem::take(&mut self.features)) };
    }

    /// Learns from random games from the state of the cursor, until `is_enough` returns true after
    /// a game or time runs out. Returns the number of games. The cursor may be in another state
    /// afterwards.
    pub fn work<C: Cursor>(
        &mut self,
        cursor: &mut C,
        played: &Played<'_>,
        rng: &mut Rng,
        clock: &mut Clock<'_>,
        mut is_enough: impl FnMut() -> bool,
    ) -> u64 {
        if let Some((finder, wanted)) = self.finder.take() {
            *self = Self::with(finder(wanted, &clock.part(FINDING_PART)));
        }
        let root = cursor.state().clone();
        let mut play = RandomPlay::new(played.roles.n);
        let mut n_games = 0;
        loop {
            cursor.set_state(&root);
            let mut sampler = Sampler::new(played, clock);
            let PlayEnd::Terminal(_) = play.run(cursor, rng, &mut sampler) else { break };
            let pairs = sampler.pairs;
            let goal = f64::from(cursor.goal(played.me).value()) / 100.0;
            for (before, now) in &pairs {
                self.learn(before.as_ref(), now, goal, played.learner);
            }
            self.n_games += 1;
            n_games += 1;
            if self.n_games >= MIN_GAMES_TO_FIT && self.n_games.is_power_of_two() {
                self.weigh();
                // Errors of weights from fewer games count less.
                self.error /= 2.0;
                self.spread /= 2.0;
                self.n_checked /= 2;
            }
            if is_enough() {
                break;
            }
        }
        if self.n_games >= MIN_GAMES_TO_FIT && n_games > 0 {
            self.weigh();
        }
        n_games
    }

    /// Adds a state with its predecessor and the final goal of its game.
    fn learn(
        &mut self,
        before: Option<&Sample>,
        now: &Sample,
        goal: f64,
        learner: Option<&Learner>,
    ) {
        if self.weights.is_some() {
            let predicted = self.predict(&now.fluents, now.mobility, learner);
            self.error += (goal - predicted).powi(2);
            self.spread += (goal - self.moments.mean_goal()).powi(2);
            self.n_checked += 1;
        }
        let values = self.values(now, learner);
        self.moments.add(&values, goal);
        if let Some(before) = before {
            let others = self.values(before, learner);
            self.moments.add_step(&others, &values);
        }
    }

    /// Returns all features of a state: linear, graded, mobility, learned.
    fn values(&mut self, sample: &Sample, learner: Option<&Learner>) -> Vec<f64> {
        let mut values = vec![0.0; self.features.linear.len()];
        for fluent in sample.fluents.iter() {
            for &(feature, weight) in self.of_fluent.get(fluent).map_or(&[][..], |it| it) {
                values[feature as usize] += f64::from(weight);
            }
        }
        let Desk { floats, graded } = &mut self.desk;
        graded.clear();
        for it in &self.features.graded {
            it.grade(&sample.fluents, floats, graded);
        }
        values.extend(graded.iter().map(|&value| f64::from(value)));
        values.push(sample.mobility);
        values.push(learner.map_or(0.0, |learner| f64::from(learner.sum(&sample.fluents))));
        values
    }

    /// Fits the weights to all samples.
    fn weigh(&mut self) {
        let kept = self.moments.kept(self.n_games);
        let (constant, mut of_feature) = self.moments.regression(&kept, self.n_games);
        let learned = of_feature.pop().expect("the last feature");
        let mobility = of_feature.pop().expect("the last but one");
        let mut of_fluent = vec![0.0; self.of_fluent.len()];
        for (fluent, features) in self.of_fluent.iter().enumerate() {
            let sum = features.iter().map(|&(at, by)| of_feature[at as usize] * f64::from(by));
            of_fluent[fluent] = sum.sum::<f64>() as f32;
        }
        let mut rest = &of_feature[self.features.linear.len()..];
        let graded = self.features.graded.iter().map(|it| {
            let (these, others) = rest.split_at(it.names().len());
            rest = others;
            let is_used = these.iter().any(|&weight| weight != 0.0);
            is_used.then(|| these.iter().map(|&weight| weight as f32).collect())
        });
        let graded = graded.collect();
        self.weights = Some(Weights { constant, of_fluent, graded, mobility, learned });
    }

    /// Returns the part of the variance of goals that predictions explained, for states that were
    /// new.
    fn quality(&self) -> f64 {
        if self.spread > 0.0 { 1.0 - self.error / self.spread } else { 0.0 }
    }

    /// Whether the predictions are good enough to use.
    pub fn is_useful(&self) -> bool {
        self.n_checked >= MIN_GAMES_TO_CHECK && self.quality() >= MIN_QUALITY
    }

    /// Predicts the value of a state, 0 to 1; 0.5 before the first fit.
    pub fn predict(&mut self, fluents: &BitSet, mobility: f64, learner: Option<&Learner>) -> f64 {
        let Self { weights: Some(weights), desk, features, .. } = self else { return 0.5 };
        let of_fluent = |fluent: usize| weights.of_fluent.get(fluent).copied().unwrap_or(0.0);
        let mut sum = weights.constant + f64::from(fluents.iter().map(of_fluent).sum::<f32>());
        for (it, weights) in features.graded.iter().zip(&weights.graded) {
            if let Some(weights) = weights {
                desk.graded.clear();
                it.grade(fluents, &mut desk.floats, &mut desk.graded);
                let parts = desk.graded.iter().zip(weights).map(|(value, weight)| value * weight);
                sum += f64::from(parts.sum::<f32>());
            }
        }
        sum += weights.mobility * mobility;
        if weights.learned != 0.0 {
            sum += weights.learned * learner.map_or(0.0, |learner| f64::from(learner.sum(fluents)));
        }
        sum.clamp(0.0, 1.0)
    }
}

/// Returns a role's share of all moves, not counting those of `random`.
pub(crate) fn share(mobility: &[u32], roles: Roles, me: RoleId) -> f64 {
    let players = roles.ids().filter(|&role| Some(role) != roles.random);
    let all: u32 = players.map(|role| mobility[role.index()]).sum();
    f64::from(mobility[me.index()]) / f64::from(all.max(1))
}

/// Samples [`N_PER_GAME`] states of a game uniformly, with their predecessors, until the deadline.
struct Sampler<'a, 'clock> {
    played: &'a Played<'a>,
    clock: &'a mut Clock<'clock>,
    pairs: Vec<(Option<Sample>, Sample)>,
    /// By role, the number of moves at its last choice.
    mobility: Vec<u32>,
    before: Option<Sample>,
    fluents: Option<BitSet>,
    n_steps: usize,
}

impl<'a, 'clock> Sampler<'a, 'clock> {
    fn new(played: &'a Played<'a>, clock: &'a mut Clock<'clock>) -> Self {
        Self {
            played,
            clock,
            pairs: Vec::new(),
            mobility: vec![1; played.roles.n],
            before: None,
            fluents: None,
            n_steps: 0,
        }
    }
}

impl<C: Cursor> PlayVisitor<C> for Sampler<'_, '_> {
    fn before(&mut self, cursor: &mut C, n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        self.n_steps = n_steps;
        self.fluents = cursor.fluents().cloned();
        stop_if(self.fluents.is_none())
    }

    fn draw(&mut self, cursor: &mut C, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        let legal = cursor.legal_moves(role);
        if legal.len() > 1 {
            self.mobility[role.index()] = legal.len() as u32;
        }
        rng.choose(legal).copied()
    }

    fn after(&mut self, _cursor: &mut C, _joint: &[MoveId], rng: &mut Rng) -> ControlFlow<()> {
        let Some(fluents) = self.fluents.take() else { return ControlFlow::Break(()) };
        let mobility = share(&self.mobility, self.played.roles, self.played.me);
        let now = Sample { fluents, mobility };
        let before = self.before.replace(now.clone());
        let idx =
            if self.n_steps < N_PER_GAME { self.n_steps } else { rng.below(self.n_steps + 1) };
        if idx < self.pairs.len() {
            self.pairs[idx] = (before, now);
        } else if idx < N_PER_GAME {
            self.pairs.push((before, now));
        }
        stop_if(self.clock.tick())
    }
}

/// Sums over samples, which suffice for regression and do not grow with the number of samples.
struct Moments {
    n_features: usize,
    n: f64,
    goal: f64,
    goal_squared: f64,
    sums: Vec<f64>,
    /// Products of features (the upper triangle only), and of features and the goal.
    products: Vec<f64>,
    with_goal: Vec<f64>,
    n_steps: f64,
    /// Squared changes in one step.
    changes: Vec<f64>,
}

impl Moments {
    fn new(n_features: usize) -> Self {
        Self {
            n_features,
            n: 0.0,
            goal: 0.0,
            goal_squared: 0.0,
            sums: vec![0.0; n_features],
            products: vec![0.0; n_features * n_features],
            with_goal: vec![0.0; n_features],
            n_steps: 0.0,
            changes: vec![0.0; n_features],
        }
    }

    fn add(&mut self, values: &[f64], goal: f64) {
        self.n += 1.0;
        self.goal += goal;
        self.goal_squared += goal * goal;
        for (row, &value) in values.iter().enumerate() {
            self.sums[row] += value;
            self.with_goal[row] += value * goal;
            let products = &mut self.products[row * self.n_features..][row..self.n_features];
            for (product, other) in products.iter_mut().zip(&values[row..]) {
                *product += value * other;
            }
        }
    }

    fn add_step(&mut self, before: &[f64], after: &[f64]) {
        self.n_steps += 1.0;
        for (change, (before, after)) in self.changes.iter_mut().zip(before.iter().zip(after)) {
            *change += (after - before).powi(2);
        }
    }

    fn mean_goal(&self) -> f64 {
        if self.n > 0.0 { self.goal / self.n } else { 0.5 }
    }

    fn covariance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.min(b), a.max(b));
        let product = self.products[a * self.n_features + b];
        product / self.n - self.sums[a] / self.n * (self.sums[b] / self.n)
    }

    fn covariance_with_goal(&self, a: usize) -> f64 {
        self.with_goal[a] / self.n - self.sums[a] / self.n * (self.goal / self.n)
    }

    fn goal_variance(&self) -> f64 {
        self.goal_squared / self.n - (self.goal / self.n).powi(2)
    }

    /// Returns the features that are stable and correlate with the goal.
    fn kept(&self, n_games: u64) -> Vec<usize> {
        let is_kept = |&at: &usize| {
            let variance = self.covariance(at, at);
            let of_step = self.changes[at] / self.n_steps.max(1.0) / 2.0;
            let is_stable = variance >= MIN_STABILITY * of_step;
            let with_goal = self.covariance_with_goal(at).powi(2);
            let explained = with_goal / (variance * self.goal_variance());
            // States of the same game are not independent, so games are counted.
            let is_correlated = explained * n_games as f64 >= MIN_CORRELATION.powi(2);
            variance > MIN_VARIANCE
                && self.goal_variance() > MIN_VARIANCE
                && is_stable
                && is_correlated
        };
        (0..self.n_features).filter(is_kept).collect()
    }

    /// Returns the constant and the weights of all features, 0 for those not kept.
    fn regression(&self, kept: &[usize], n_games: u64) -> (f64, Vec<f64>) {
        let n = kept.len();
        let ridge = RIDGE + RIDGE_PER_GAME * n as f64 / n_games as f64;
        let scale: Vec<f64> = kept.iter().map(|&at| self.covariance(at, at).sqrt()).collect();
        let mut matrix = vec![0.0; n * n];
        let mut right: Vec<f64> = Vec::with_capacity(n);
        for row in 0..n {
            for column in 0..n {
                matrix[row * n + column] =
                    self.covariance(kept[row], kept[column]) / (scale[row] * scale[column]);
            }
            matrix[row * n + row] += ridge;
            right.push(self.covariance_with_goal(kept[row]) / scale[row]);
        }
        solve(&mut matrix, &mut right);
        let mut weights = vec![0.0; self.n_features];
        let mut constant = self.mean_goal();
        for ((&at, scale), solved) in kept.iter().zip(scale).zip(right) {
            weights[at] = solved / scale;
            constant -= weights[at] * self.sums[at] / self.n;
        }
        (constant, weights)
    }
}

/// A feature or goal with a smaller variance is constant.
const MIN_VARIANCE: f64 = 1e-9;

/// Solves a linear system by Cholesky decomposition, leaving the result in `right`. The matrix must
/// be symmetric and positive definite, as the ridge makes it.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for row in 0..n {
        for column in 0..=row {
            let known: f64 =
                (0..column).map(|at| matrix[row * n + at] * matrix[column * n + at]).sum();
            let rest = matrix[row * n + column] - known;
            matrix[row * n + column] = if row == column {
                rest.max(1e-12).sqrt()
            } else {
                rest / matrix[column * n + column]
            };
        }
    }
    for row in 0..n {
        let known: f64 = (0..row).map(|at| matrix[row * n + at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row * n + row];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|at| matrix[at * n + row] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row * n + row];
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ludex_base::Seed;
    use ludex_game::{Graded, LinearFeature};

    use super::*;

    /// Whether all of the first fluents are true.
    #[derive(Debug)]
    struct All(Vec<String>, usize);

    impl Graded for All {
        fn names(&self) -> &[String] {
            &self.0
        }

        fn grade(&self, fluents: &BitSet, _desk: &mut Vec<f32>, values: &mut Vec<f32>) {
            values.push(f32::from(u8::from((0..self.1).all(|it| fluents.contains(it)))));
        }
    }

    fn features() -> Features {
        let linear = |name: &str, fluents: std::ops::Range<u32>| LinearFeature {
            name: name.into(),
            weights: fluents.map(|fluent| (fluent, 1.0)).collect(),
        };
        Features {
            linear: vec![linear("ours", 0..3), linear("theirs", 3..6), linear("turn", 6..7)],
            graded: vec![Arc::new(All(vec!["all of ours".into()], 3))],
        }
    }

    fn sample(rng: &mut Rng, turn: bool) -> Sample {
        let mut fluents = BitSet::new(7);
        for fluent in (0..6).filter(|_| rng.below(2) == 0).collect::<Vec<_>>() {
            fluents.insert(fluent);
        }
        if turn {
            fluents.insert(6);
        }
        Sample { fluents, mobility: rng.unit() }
    }

    /// Regression recovers the known values of states from noisy goals, drops a feature that
    /// changes in every step and an irrelevant one, and predictions agree with the features
    /// evaluated one by one.
    #[test]
    fn regression_recovers_the_weights_behind_the_goals() {
        let mut judge = Judge::with(features());
        let mut rng = Seed(1).rng();
        let count = |it: &Sample, from: usize, to: usize| {
            (from..to).filter(|&at| it.fluents.contains(at)).count() as f64
        };
        let worth = |it: &Sample| {
            let all = f64::from(u8::from(count(it, 0, 3) == 3.0));
            0.3 + 0.1 * count(it, 0, 3) - 0.05 * count(it, 3, 6) + 0.2 * all
        };
        for _ in 0..4_000 {
            let mut before = sample(&mut rng, true);
            let mut now = before.clone();
            now.fluents.remove(6);
            now.mobility = rng.unit();
            if rng.below(2) == 0 {
                std::mem::swap(&mut before, &mut now);
            }
            let goal = worth(&now) + 0.1 * (rng.unit() - 0.5);
            judge.learn(Some(&before), &now, goal, None);
            judge.n_games += 1;
            if judge.n_games == 100 {
                judge.weigh();
            }
        }
        judge.weigh();
        assert!(judge.is_useful() && judge.quality() > 0.5, "{}", judge.quality());
        let weights = judge.weights.clone().expect("weights were fitted");
        assert_eq!((weights.of_fluent[6], weights.mobility), (0.0, 0.0));
        for _ in 0..100 {
            let it = sample(&mut rng, false);
            let predicted = judge.predict(&it.fluents, it.mobility, None);
            assert!((predicted - worth(&it)).abs() < 0.03, "{predicted} {}", worth(&it));
            // The slow way: every feature separately.
            let linear = judge.features.linear.iter();
            let values = linear.map(|feature| f64::from(feature.value(&it.fluents)));
            assert_eq!(values.collect::<Vec<_>>(), judge.values(&it, None)[..3]);
        }
    }

    #[test]
    fn random_goals_teach_nothing() {
        let mut judge = Judge::with(features());
        let mut rng = Seed(2).rng();
        for _ in 0..2_000 {
            let now = sample(&mut rng, false);
            let goal = f64::from(u8::from(rng.below(2) == 0));
            judge.learn(None, &now, goal, None);
            judge.n_games += 1;
            if judge.n_games.is_power_of_two() && judge.n_games >= MIN_GAMES_TO_FIT {
                judge.weigh();
            }
        }
        assert!(!judge.is_useful(), "{}", judge.quality());
    }

    /// 4x + 2y = 10 and 2x + 3y = 9: x = 1.5, y = 2.
    #[test]
    fn a_small_system_is_solved() {
        let (mut matrix, mut right) = (vec![4.0, 2.0, 2.0, 3.0], vec![10.0, 9.0]);
        solve(&mut matrix, &mut right);
        assert!((right[0] - 1.5).abs() < 1e-9 && (right[1] - 2.0).abs() < 1e-9, "{right:?}");
    }
}

//! Counterfactual regret minimization on an extensive form.
//!
//! Every information set plays each move in proportion to its regret, how much playing it would
//! have gained. The mean strategy converges to an equilibrium if two roles have opposite goals;
//! otherwise there is no such guarantee.
//!
//! After Zinkevich and others, *Regret Minimization in Games with Incomplete Information*, 2007; CFR+
//! after Tammelin, 2014 (regrets never below zero, later strategies count more, roles in turn); sampling
//! after Lanctot and others, *Monte Carlo Sampling for Regret Minimization in Extensive Games*, 2009.

use std::time::{Duration, Instant};

use ludex_base::{Rng, RoleId, Seed};

use super::form::{ExtensiveForm, InformationSet, Node};

crate::option_names! {
    /// Which plays an iteration visits, and how regrets are kept.
    pub enum Variant {
        /// All plays.
        Cfr = "cfr",
        /// All plays; regrets never fall below zero, and later strategies count more.
        Plus = "plus",
        /// All moves of one role, one sampled move of every other.
        External = "external",
        /// One sampled play.
        Outcome = "outcome",
    }
}

/// Regrets and cumulative strategies, for each move of every set.
#[derive(Clone, Debug)]
pub struct Solver {
    variant: Variant,
    n_iterations: u64,
    /// The duration of the last iteration.
    took: Duration,
    regrets: Vec<f64>,
    /// The strategies of this iteration.
    current: Vec<f64>,
    /// Sums of past strategies, weighted by the role's own probability of reaching the set.
    sums: Vec<f64>,
    rng: Rng,
}

/// The probability that a sampled play explores instead of following the current strategy.
const EXPLORATION: f64 = 0.6;

impl Solver {
    /// Creates a solver without knowledge of the form.
    pub fn new(form: &ExtensiveForm, variant: Variant, seed: Seed) -> Self {
        let n = form.n_moves();
        Self {
            variant,
            n_iterations: 0,
            took: Duration::ZERO,
            regrets: vec![0.0; n],
            current: vec![0.0; n],
            sums: vec![0.0; n],
            rng: seed.rng(),
        }
    }

    /// Returns the number of iterations.
    pub fn n_iterations(&self) -> u64 {
        self.n_iterations
    }

    /// Returns the duration of the last iteration.
    pub(super) fn took(&self) -> Duration {
        self.took
    }

    /// Runs one iteration, in which every role with an information set learns once.
    pub fn iterate(&mut self, form: &ExtensiveForm) {
        let began = Instant::now();
        self.n_iterations += 1;
        for &role in &form.deciders {
            match self.variant {
                Variant::Cfr | Variant::Plus => {
                    // All nodes of a set use the same strategy.
                    form.sets().iter().for_each(|set| self.match_regrets(set));
                    self.learn(form, 0, role, 1.0, 1.0);
                }
                Variant::External => {
                    self.learn_external(form, 0, Some(role));
                }
                Variant::Outcome => {
                    self.learn_outcome(form, 0, role, [1.0; 3]);
                }
            }
            if self.variant == Variant::Plus {
                for set in form.sets().iter().filter(|set| set.role == role) {
                    for regret in &mut self.regrets[moves_of(set)] {
                        *regret = regret.max(0.0);
                    }
                }
            }
        }
        // A role's strategy is accumulated while another role learns, and there may be no other.
        if self.variant == Variant::External && form.deciders.len() == 1 {
            self.learn_external(form, 0, None);
        }
        self.took = began.elapsed();
    }

    /// Returns the mean strategy of a set over all iterations.
    pub fn mean(&self, set: &InformationSet) -> Vec<f64> {
        let sums = &self.sums[moves_of(set)];
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter().map(|sum| sum / total).collect()
        } else {
            vec![1.0 / sums.len() as f64; sums.len()]
        }
    }

    /// Returns the mean strategies of all sets, as [`Profile`](super::profile::Profile) takes them.
    pub fn means(&self, form: &ExtensiveForm) -> Vec<f64> {
        form.sets().iter().flat_map(|set| self.mean(set)).collect()
    }

    /// Sets the current strategy in proportion to the positive regrets.
    fn match_regrets(&mut self, set: &InformationSet) {
        let range = moves_of(set);
        let total: f64 = self.regrets[range.clone()].iter().map(|regret| regret.max(0.0)).sum();
        let n = set.moves.len() as f64;
        for idx in range {
            self.current[idx] =
                if total > 0.0 { self.regrets[idx].max(0.0) / total } else { 1.0 / n };
        }
    }

    /// Returns the weight of this iteration in the mean strategy.
    fn weight(&self) -> f64 {
        match self.variant {
            Variant::Plus => self.n_iterations as f64,
            _ => 1.0,
        }
    }

    /// Updates the regrets below a node, and returns the value of the node for the role. `own` and
    /// `others` are the probabilities with which the role itself and everybody else reach it.
    fn learn(&mut self, form: &ExtensiveForm, node: u32, me: RoleId, own: f64, others: f64) -> f64 {
        // An unreachable node changes nothing.
        if own == 0.0 && others == 0.0 {
            return 0.0;
        }
        match form.nodes[node as usize] {
            Node::End { first_goal } => form.goal(first_goal, me),
            Node::Chance { first, n } => {
                let mut value = 0.0;
                for edge in first..first + n {
                    let (child, weight) = form.edges[edge as usize];
                    let weight = f64::from(weight);
                    value += weight * self.learn(form, child, me, own, others * weight);
                }
                value
            }
            Node::Choice { set, first } => {
                let set = &form.sets[set as usize];
                let mut value = 0.0;
                if set.role != me {
                    for (move_idx, idx) in moves_of(set).enumerate() {
                        let part = self.current[idx];
                        let child = form.edges[first as usize + move_idx].0;
                        value += part * self.learn(form, child, me, own, others * part);
                    }
                    return value;
                }
                let mut values = smallvec::SmallVec::<[f64; 16]>::new();
                for (move_idx, idx) in moves_of(set).enumerate() {
                    let part = self.current[idx];
                    let child = form.edges[first as usize + move_idx].0;
                    let found = self.learn(form, child, me, own * part, others);
                    value += part * found;
                    values.push(found);
                }
                let weight = self.weight();
                for (idx, found) in moves_of(set).zip(values) {
                    self.regrets[idx] += others * (found - value);
                    self.sums[idx] += weight * own * self.current[idx];
                }
                value
            }
        }
    }

    /// Does the same for one sample of chance and of the others' moves.
    fn learn_external(&mut self, form: &ExtensiveForm, node: u32, me: Option<RoleId>) -> f64 {
        match form.nodes[node as usize] {
            Node::End { first_goal } => me.map_or(0.0, |me| form.goal(first_goal, me)),
            Node::Chance { first, n } => {
                let child = self.draw_chance(form, first, n);
                self.learn_external(form, child, me)
            }
            Node::Choice { set, first } => {
                let set = &form.sets[set as usize];
                // A sample visits a set at most once.
                self.match_regrets(set);
                if Some(set.role) != me {
                    // Samples reach this set as often as the role's strategy does, so the sum needs
                    // no weight.
                    for idx in moves_of(set) {
                        self.sums[idx] += self.current[idx];
                    }
                    let move_idx = self.rng.weighted(&self.current[moves_of(set)]);
                    return self.learn_external(form, form.edges[first as usize + move_idx].0, me);
                }
                let mut values = smallvec::SmallVec::<[f64; 16]>::new();
                let mut value = 0.0;
                for (move_idx, idx) in moves_of(set).enumerate() {
                    let found =
                        self.learn_external(form, form.edges[first as usize + move_idx].0, me);
                    value += self.current[idx] * found;
                    values.push(found);
                }
                for (idx, found) in moves_of(set).zip(values) {
                    self.regrets[idx] += found - value;
                }
                value
            }
        }
    }

    /// Does the same for one sampled play. `reach` has the probabilities that the role itself, the
    /// others, and the sampling reach the node. Returns the goal divided by the sampling
    /// probability, and the probability of the rest of the play under the current strategies.
    fn learn_outcome(
        &mut self,
        form: &ExtensiveForm,
        node: u32,
        me: RoleId,
        reach: [f64; 3],
    ) -> (f64, f64) {
        let [own, others, drawn] = reach;
        match form.nodes[node as usize] {
            Node::End { first_goal } => (form.goal(first_goal, me) / drawn, 1.0),
            // Chance is sampled with its own probability, which cancels out.
            Node::Chance { first, n } => {
                let child = self.draw_chance(form, first, n);
                self.learn_outcome(form, child, me, reach)
            }
            Node::Choice { set, first } => {
                let set = &form.sets[set as usize];
                self.match_regrets(set);
                let is_mine = set.role == me;
                let around = if is_mine { EXPLORATION / set.moves.len() as f64 } else { 0.0 };
                let stay = if is_mine { 1.0 - EXPLORATION } else { 1.0 };
                let likely: smallvec::SmallVec<[f64; 16]> =
                    self.current[moves_of(set)].iter().map(|part| around + stay * part).collect();
                let move_idx = self.rng.weighted(&likely);
                let part = self.current[moves_of(set).start + move_idx];
                let below = if is_mine {
                    [own * part, others, drawn * likely[move_idx]]
                } else {
                    [own, others * part, drawn * likely[move_idx]]
                };
                let child = form.edges[first as usize + move_idx].0;
                let (goal, rest) = self.learn_outcome(form, child, me, below);
                if is_mine {
                    for (other, idx) in moves_of(set).enumerate() {
                        let gain = if other == move_idx { 1.0 - part } else { -part };
                        self.regrets[idx] += goal * others * rest * gain;
                        self.sums[idx] += own * self.current[idx] / drawn;
                    }
                }
                (goal, part * rest)
            }
        }
    }

    fn draw_chance(&mut self, form: &ExtensiveForm, first: u32, n: u32) -> u32 {
        let edges = &form.edges[first as usize..(first + n) as usize];
        let mut left = self.rng.unit();
        for &(child, weight) in edges {
            left -= f64::from(weight);
            if left < 0.0 {
                return child;
            }
        }
        edges[edges.len() - 1].0
    }
}

/// Returns the indices of a set's moves.
pub(super) fn moves_of(set: &InformationSet) -> std::ops::Range<usize> {
    set.first..set.first + set.moves.len()
}

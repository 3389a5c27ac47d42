//! Counterfactual regret minimisation on an extensive form.
//!
//! Every information set plays each move as often as it regrets not having played it; the mean of what
//! is played so comes near an equilibrium where two roles have opposed goals, and has no such promise
//! elsewhere.
//!
//! After Zinkevich and others, *Regret Minimization in Games with Incomplete Information*, 2007; CFR+
//! after Tammelin, 2014 (regrets never below zero, later strategies count more, roles in turn); sampling
//! after Lanctot and others, *Monte Carlo Sampling for Regret Minimization in Extensive Games*, 2009.

use std::time::{Duration, Instant};

use ludex_base::{Rng, RoleId, Seed};

use super::form::{ExtensiveForm, InformationSet, Node};

crate::option_names! {
    /// Which plays an iteration looks at, and how regrets are kept.
    pub enum Variant {
        /// All of them.
        Cfr = "cfr",
        /// All of them, regrets never below zero, later strategies counted more.
        Plus = "plus",
        /// All moves of one role, one of everybody else's.
        External = "external",
        /// One play.
        Outcome = "outcome",
    }
}

/// What is regretted and what was played, move by move of every set.
#[derive(Clone, Debug)]
pub struct Solver {
    variant: Variant,
    n_iterations: u64,
    /// How long the last iteration took.
    took: Duration,
    regrets: Vec<f64>,
    /// What is played in this iteration.
    current: Vec<f64>,
    /// Sums of what was played, weighted by how often the role itself came there.
    sums: Vec<f64>,
    rng: Rng,
}

/// How often a single play leaves what is played now to look around.
const EXPLORATION: f64 = 0.6;

impl Solver {
    /// Knows nothing of the form yet.
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

    /// How many iterations were made.
    pub fn n_iterations(&self) -> u64 {
        self.n_iterations
    }

    /// How long the last iteration took.
    pub(super) fn took(&self) -> Duration {
        self.took
    }

    /// One iteration: every role that ever chooses learns once.
    pub fn iterate(&mut self, form: &ExtensiveForm) {
        let began = Instant::now();
        self.n_iterations += 1;
        for &role in &form.deciders {
            match self.variant {
                Variant::Cfr | Variant::Plus => {
                    // The same strategy in all nodes of a set.
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
                    for regret in &mut self.regrets[of(set)] {
                        *regret = regret.max(0.0);
                    }
                }
            }
        }
        // What a role plays is noted while another learns, and there may be no other.
        if self.variant == Variant::External && form.deciders.len() == 1 {
            self.learn_external(form, 0, None);
        }
        self.took = began.elapsed();
    }

    /// How likely each move of a set is, over all iterations.
    pub fn mean(&self, set: &InformationSet) -> Vec<f64> {
        let sums = &self.sums[of(set)];
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter().map(|sum| sum / total).collect()
        } else {
            vec![1.0 / sums.len() as f64; sums.len()]
        }
    }

    /// The mean strategies of all sets, as [`Profile`](super::profile::Profile) takes them.
    pub fn means(&self, form: &ExtensiveForm) -> Vec<f64> {
        form.sets().iter().flat_map(|set| self.mean(set)).collect()
    }

    /// Each move as likely as it is regretted.
    fn match_regrets(&mut self, set: &InformationSet) {
        let range = of(set);
        let total: f64 = self.regrets[range.clone()].iter().map(|regret| regret.max(0.0)).sum();
        let n = set.moves.len() as f64;
        for idx in range {
            self.current[idx] =
                if total > 0.0 { self.regrets[idx].max(0.0) / total } else { 1.0 / n };
        }
    }

    /// What strategies of this iteration count for.
    fn weight(&self) -> f64 {
        match self.variant {
            Variant::Plus => self.n_iterations as f64,
            _ => 1.0,
        }
    }

    /// What the role gets from a node on, which it reaches with one probability if it wants to and
    /// everybody else lets it with the other.
    fn learn(&mut self, form: &ExtensiveForm, node: u32, me: RoleId, own: f64, others: f64) -> f64 {
        // Nothing that happens here changes anything.
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
                    for (move_idx, idx) in of(set).enumerate() {
                        let part = self.current[idx];
                        let child = form.edges[first as usize + move_idx].0;
                        value += part * self.learn(form, child, me, own, others * part);
                    }
                    return value;
                }
                let mut values = smallvec::SmallVec::<[f64; 16]>::new();
                for (move_idx, idx) in of(set).enumerate() {
                    let part = self.current[idx];
                    let child = form.edges[first as usize + move_idx].0;
                    let found = self.learn(form, child, me, own * part, others);
                    value += part * found;
                    values.push(found);
                }
                let weight = self.weight();
                for (idx, found) in of(set).zip(values) {
                    self.regrets[idx] += others * (found - value);
                    self.sums[idx] += weight * own * self.current[idx];
                }
                value
            }
        }
    }

    /// The same for one draw of chance and of the others' moves.
    fn learn_external(&mut self, form: &ExtensiveForm, node: u32, me: Option<RoleId>) -> f64 {
        match form.nodes[node as usize] {
            Node::End { first_goal } => me.map_or(0.0, |me| form.goal(first_goal, me)),
            Node::Chance { first, n } => {
                let child = self.draw_chance(form, first, n);
                self.learn_external(form, child, me)
            }
            Node::Choice { set, first } => {
                let set = &form.sets[set as usize];
                // A draw comes to a set once at most.
                self.match_regrets(set);
                if Some(set.role) != me {
                    // They come here as often as they want to, so what they play now is what counts.
                    for idx in of(set) {
                        self.sums[idx] += self.current[idx];
                    }
                    let move_idx = self.rng.weighted(&self.current[of(set)]);
                    return self.learn_external(form, form.edges[first as usize + move_idx].0, me);
                }
                let mut values = smallvec::SmallVec::<[f64; 16]>::new();
                let mut value = 0.0;
                for (move_idx, idx) in of(set).enumerate() {
                    let found =
                        self.learn_external(form, form.edges[first as usize + move_idx].0, me);
                    value += self.current[idx] * found;
                    values.push(found);
                }
                for (idx, found) in of(set).zip(values) {
                    self.regrets[idx] += found - value;
                }
                value
            }
        }
    }

    /// The same for one play. `reach` is how likely the role itself, the others, and the draw come here.
    /// Gives the goal over the likelihood of the draw, and how likely the rest of the play is when
    /// everybody plays as now.
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
            // Chance is drawn as likely as it is, which changes no ratio.
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
                    self.current[of(set)].iter().map(|part| around + stay * part).collect();
                let move_idx = self.rng.weighted(&likely);
                let part = self.current[of(set).start + move_idx];
                let below = if is_mine {
                    [own * part, others, drawn * likely[move_idx]]
                } else {
                    [own, others * part, drawn * likely[move_idx]]
                };
                let child = form.edges[first as usize + move_idx].0;
                let (goal, rest) = self.learn_outcome(form, child, me, below);
                if is_mine {
                    for (other, idx) in of(set).enumerate() {
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

/// The numbers of a set.
pub(super) fn of(set: &InformationSet) -> std::ops::Range<usize> {
    set.first..set.first + set.moves.len()
}

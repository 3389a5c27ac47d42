//! Follows a match by the observations of one role.
//!
//! While the states that agree are few, all of them are kept, each with its probability
//! ([`super::exact`]). Then a sample is kept: *particles* that are advanced at random, without
//! those that an observation rules out. The particles would soon all be the same, so their
//! trajectories are varied: one or two moves of the others somewhere in the past change, and the
//! change is kept if the trajectory still agrees with all observations (a Metropolis step, whose
//! limit is the true distribution).
//!
//! If no particle is left, the trajectories with the fewest inconsistencies are kept and changed
//! until one agrees, in this turn or a later one. Until then the role relies on them: a state that
//! is nearly right says more about the legal moves and the best one than no state.
//!
//! Samples follow Schofield, Cerexhe and Thielscher, *HyperPlay: A Solution to General Game Playing
//! with Imperfect Information*, 2012; changes of trajectories follow Gilks and Berzuini, *Following
//! a Moving Target: Monte Carlo Inference for Dynamic Bayesian Models*, 2001.
//!
//! Invariant: the true state never enters here, and is in the set while the set is exact. The set
//! is never empty; [`Follower::is_inconsistent`] says whether none of it agrees with all
//! observations.

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId};
use ludex_game::{Cursor, Describe, Game, Observe, StateOf};

use super::certainty::Certainty;
use super::draws::{EvenDraws, FittingJoints, N_PARTICLES};
use super::exact::{self, ExactLimits, Inexact};
use super::kinship::Kinship;
use super::known::{Information, Observation, Possible, Weights};
use super::model::Model;
use super::possible::{
    Aim, Change, Hypothesis, Inconsistency, InconsistencyKind, Stepper, Trajectory,
};
use super::sight::first_view;
use crate::roles::Roles;

/// Keeps a role's information up to date in a game with percepts.
pub struct Follower<G: Game> {
    role: RoleId,
    roles: Roles,
    cursor: G::Cursor,
    model: Model,
    kinship: Kinship,
    initial: Hypothesis<StateOf<G>>,
    /// The observations, step by step; `None` for a step without one.
    steps: Vec<Option<Observation>>,
    hypotheses: Vec<Hypothesis<StateOf<G>>>,
    is_exact: bool,
    /// Moves that were chosen but not played, while no state agrees.
    refused: Vec<MoveId>,
    /// Derives legal moves from the rules alone.
    certainty: Option<Box<dyn Certainty>>,
}

/// How long to look for possible states.
#[derive(Clone, Debug)]
pub struct Patience {
    /// When to stop looking for more states.
    pub for_many: Deadline,
    /// When to stop looking for a first consistent state.
    pub for_one: Deadline,
}

impl Patience {
    /// No time limit.
    pub fn endless() -> Self {
        Self { for_many: Deadline::never(), for_one: Deadline::never() }
    }
}

/// Limits on the states of an exact set and on the joint moves tried to find them.
const MAX_EXACT: usize = 4_000;
const MAX_EXACT_JOINTS: usize = 20_000;
/// Limit on the steps of all trajectories together, about a hundred bytes each, and the number of
/// particles that a match of any length keeps.
const MAX_STEPS_KEPT: usize = 400_000;
const MIN_PARTICLES: usize = 100;
/// Draws per kept particle in a step.
const N_TRIES_PER_PARTICLE: usize = 10;
/// Changes of trajectories to try in a step, per kept particle.
const N_CHANGES_PER_PARTICLE: usize = 4;
/// Changes of a single step per change of two steps.
const N_SINGLE_PER_PAIR: usize = 3;
/// Draws that ignore the clock while there is no state at all, and draws after which moves related
/// to the percepts are preferred while none agrees.
const MIN_TRIES: usize = 16;
const N_UNGUIDED_TRIES: usize = 4;
/// For repairs: trajectories to change, changes to try in a step, and consistent trajectories that
/// suffice.
const N_REPAIR_CANDIDATES: usize = 24;
const MAX_REPAIR_TRIES: usize = 20_000;
const MAX_REPAIRED: usize = 16;
/// Inconsistencies that count, and the factor by which each reduces the weight of a trajectory.
const MAX_INCONSISTENCIES: usize = 64;
const INCONSISTENCY_FACTOR: f64 = 0.5;
/// States that are asked for the legal moves: the likeliest ones, or a cross-section while none
/// agrees.
const N_ASKED: usize = 50;
const N_ASKED_INCONSISTENT: usize = 400;

impl<G: Game> Follower<G>
where
    G::Cursor: Observe,
{
    /// Creates a follower that knows the initial state and assumes that the others play by the
    /// model.
    pub fn new(game: &G, role: RoleId, model: Model) -> Self
    where
        G: Describe + Clone + 'static,
    {
        let cursor = game.cursor();
        let roles = Roles::of(game);
        let views = roles.ids().map(first_view).collect();
        let possible = Possible { state: cursor.state().clone(), weight: 1.0, views };
        let initial = Hypothesis { possible, trajectory: None, inconsistencies: Vec::new() };
        let hypotheses = vec![initial.clone()];
        let kinship = Kinship::new(game);
        Self {
            role,
            roles,
            cursor,
            model,
            kinship,
            initial,
            steps: Vec::new(),
            hypotheses,
            is_exact: true,
            refused: Vec::new(),
            certainty: None,
        }
    }

    /// Adds a source of legal moves that needs no states, for when no state agrees.
    pub fn with_certainty(mut self, certainty: Box<dyn Certainty>) -> Self {
        self.certainty = Some(certainty);
        self
    }

    /// Takes in the role's own move and percepts of a step.
    pub fn follow(&mut self, observed: Observation, rng: &mut Rng, patience: &Patience) {
        if self.is_exact {
            // Leave half of the time for a sample.
            let limits = ExactLimits {
                max_states: MAX_EXACT,
                max_joint_moves: MAX_EXACT_JOINTS,
                deadline: patience.for_many.part(0.5),
            };
            let hypotheses = std::mem::take(&mut self.hypotheses);
            match exact::follow(&mut self.stepper(), &hypotheses, &observed, &limits, rng) {
                Ok(found) => {
                    self.hypotheses = found;
                    self.follow_certainty(Some(&observed));
                    self.steps.push(Some(observed));
                    return;
                }
                Err(Inexact::TooLarge) => self.hypotheses = hypotheses,
                // Nothing leads from the known states to this observation, so a search for it would
                // use up the clock in vain. The message of a step was lost; anything may have
                // happened in that step.
                Err(Inexact::Impossible) => {
                    self.hypotheses = hypotheses;
                    self.skip_step(rng, patience);
                }
            }
            self.is_exact = false;
        }
        self.follow_certainty(Some(&observed));
        self.sample(observed, rng, patience);
        self.normalize();
        if !self.is_inconsistent() {
            self.refused.clear();
        }
    }

    /// Takes in a step without observation: anything may have happened, and from now on the
    /// information is a sample.
    pub fn miss(&mut self, rng: &mut Rng, patience: &Patience) {
        self.is_exact = false;
        self.skip_step(rng, patience);
        self.normalize();
    }

    /// Returns the current information.
    pub fn information(&mut self) -> Information<StateOf<G>> {
        let mut possible: Vec<_> = self.hypotheses.iter().map(|it| it.possible.clone()).collect();
        // After a step without observation, trajectories differ in what the role itself would have
        // seen.
        let own = possible.first().map(|it| it.views[self.role.index()]);
        for (it, own) in possible.iter_mut().zip(own.into_iter().cycle()) {
            it.views[self.role.index()] = own;
        }
        Information {
            role: self.role,
            steps: self.steps.clone(),
            legal: self.legal_moves(),
            possible,
            is_exact: self.is_exact,
            is_inconsistent: self.is_inconsistent(),
        }
    }

    /// Switches to a sample, for tests of samples.
    #[doc(hidden)]
    pub fn give_up_exactness(&mut self) {
        self.is_exact = false;
    }

    /// Whether all states that agree are known, each with its probability.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns the probability of a state; `None` if it is not among the known states.
    pub fn weight_of(&self, state: &StateOf<G>) -> Option<f64> {
        let same = self.hypotheses.iter().filter(|hypothesis| hypothesis.possible.state == *state);
        same.map(|hypothesis| hypothesis.possible.weight).reduce(|sum, weight| sum + weight)
    }

    /// Whether no state was found that agrees with all observations. Everything known, including
    /// the legal moves, is approximate then.
    pub fn is_inconsistent(&self) -> bool {
        self.hypotheses.iter().all(|hypothesis| !hypothesis.inconsistencies.is_empty())
    }

    /// Returns the legal moves.
    ///
    /// In a valid GDL-II rulesheet they are the same in all states that the role cannot tell apart.
    /// If they differ, or while no state agrees, the certain moves by the rules are returned. If
    /// there are none, it is the moves common to the likeliest states, or to a cross-section of the
    /// inconsistent ones; if there are none of these either, the moves of a single state. While no
    /// state agrees, refused moves are left out.
    pub fn legal_moves(&mut self) -> Vec<MoveId> {
        let is_inconsistent = self.is_inconsistent();
        let weight = |hypothesis: &Hypothesis<StateOf<G>>| hypothesis.possible.weight;
        let mut likely: Vec<usize> = (0..self.hypotheses.len()).collect();
        likely
            .sort_by(|&a, &b| weight(&self.hypotheses[b]).total_cmp(&weight(&self.hypotheses[a])));
        let (stride, n_asked) = if is_inconsistent {
            (likely.len().div_ceil(N_ASKED_INCONSISTENT), N_ASKED_INCONSISTENT)
        } else {
            (1, N_ASKED)
        };
        let mut common: Option<Vec<MoveId>> = None;
        let mut is_unanimous = !is_inconsistent;
        for idx in likely.into_iter().step_by(stride.max(1)).take(n_asked) {
            self.cursor.set_state(&self.hypotheses[idx].possible.state);
            if self.cursor.is_terminal() {
                continue;
            }
            let legal = self.cursor.legal_moves(self.role);
            match &mut common {
                None => common = Some(legal.to_vec()),
                Some(common) if common == legal => {}
                Some(common) => {
                    is_unanimous = false;
                    if common.iter().any(|id| legal.contains(id)) {
                        common.retain(|id| legal.contains(id));
                    }
                }
            }
        }
        let mut common = common.unwrap_or_default();
        if is_unanimous {
            return common;
        }
        if let Some(certainty) = &self.certainty {
            let legal = certainty.legal_moves(&common);
            // It derives nothing from contradictory messages.
            if !legal.is_empty() {
                common = legal;
            }
        }
        if is_inconsistent && common.iter().any(|id| !self.refused.contains(id)) {
            common.retain(|id| !self.refused.contains(id));
        }
        common
    }

    fn follow_certainty(&mut self, observed: Option<&Observation>) {
        if let Some(certainty) = &mut self.certainty {
            certainty.follow(observed);
        }
    }

    /// Takes in that a chosen move was not played, so that it may have been illegal. It does not
    /// count as legal until some state agrees with all observations.
    pub fn refuse(&mut self, id: MoveId) {
        if !self.refused.contains(&id) {
            self.refused.push(id);
        }
    }

    fn stepper(&mut self) -> Stepper<'_, G::Cursor> {
        Stepper { cursor: &mut self.cursor, roles: self.roles, role: self.role, model: &self.model }
    }

    fn stepper_and_kinship(&mut self) -> (Stepper<'_, G::Cursor>, &mut Kinship) {
        let Self { cursor, roles, role, model, kinship, .. } = self;
        (Stepper { cursor, roles: *roles, role: *role, model }, kinship)
    }

    /// Advances a sample by a step without observation.
    fn skip_step(&mut self, rng: &mut Rng, patience: &Patience) {
        self.follow_certainty(None);
        let before = std::mem::take(&mut self.hypotheses);
        let weights = Weights::new(before.iter().map(|hypothesis| hypothesis.possible.weight));
        let mut round = EvenDraws::default();
        for n_tries in 0..N_PARTICLES {
            if n_tries >= MIN_TRIES && patience.for_many.reached() {
                break;
            }
            let next = self.stepper().step(&before[weights.at(round.next(rng))], None, rng);
            self.hypotheses.extend(next);
        }
        // The game is over in all of them, or a role has no move there: keep the old states.
        if self.hypotheses.is_empty() {
            self.hypotheses = before;
        }
        self.steps.push(None);
    }

    /// Advances a sample by a step.
    fn sample(&mut self, observed: Observation, rng: &mut Rng, patience: &Patience) {
        let before = std::mem::take(&mut self.hypotheses);
        let weights = Weights::new(before.iter().map(|hypothesis| hypothesis.possible.weight));
        let (mut fitting, mut round) = (FittingJoints::default(), EvenDraws::default());
        for n_tries in 0..N_PARTICLES * N_TRIES_PER_PARTICLE {
            let is_over = if self.hypotheses.is_empty() {
                n_tries >= MIN_TRIES && patience.for_one.reached()
            } else {
                self.hypotheses.len() >= self.n_kept() || patience.for_many.reached()
            };
            if is_over {
                break;
            }
            let from = &before[weights.at(round.next(rng))];
            // While nothing agrees, also prefer moves that are related to the percepts.
            let is_hard =
                self.hypotheses.is_empty() && n_tries >= N_UNGUIDED_TRIES && n_tries % 2 == 0;
            if let Some(&seen) = rng.choose(&observed.percepts).filter(|_| is_hard) {
                let (mut stepper, kinship) = self.stepper_and_kinship();
                let toward = Some((kinship, seen));
                let next = stepper.step_inconsistently(from, 0, Some(&observed), toward, 0, rng);
                next.iter().for_each(|hypothesis| fitting.note(hypothesis));
                self.hypotheses.extend(next);
                continue;
            }
            let mut stepper = self.stepper();
            let next = match fitting.draw(rng) {
                Some(joint) => stepper.step_as(from, joint, &observed),
                None => stepper.step(from, Some(&observed), rng),
            };
            self.hypotheses.extend(next.map(|hypothesis| fitting.weigh(hypothesis)));
        }
        if self.hypotheses.is_empty() {
            self.sample_inconsistently(before, &weights, &observed, rng, patience);
        }
        self.steps.push(Some(observed));
        if self.is_inconsistent() {
            self.repair(rng, patience);
        }
        self.vary(rng, patience);
    }

    /// Advances a sample by a step that none of it agrees with.
    fn sample_inconsistently(
        &mut self,
        before: Vec<Hypothesis<StateOf<G>>>,
        weights: &Weights,
        observed: &Observation,
        rng: &mut Rng,
        patience: &Patience,
    ) {
        let number = self.steps.len();
        for n_tries in 0..N_PARTICLES {
            if n_tries >= MIN_TRIES && patience.for_many.reached() {
                break;
            }
            let from = &before[weights.draw(rng)];
            let seen = rng.choose(&observed.percepts).copied();
            let (mut stepper, kinship) = self.stepper_and_kinship();
            let toward = seen.filter(|_| n_tries % 2 == 0).map(|seen| (kinship, seen));
            let next = stepper.step_inconsistently(
                from,
                number,
                Some(observed),
                toward,
                MAX_INCONSISTENCIES,
                rng,
            );
            self.hypotheses.extend(next);
        }
        // The game is over in all of them although it goes on: keep the old states.
        if self.hypotheses.is_empty() {
            self.hypotheses = before;
            let inconsistency = Inconsistency { step: number, what: InconsistencyKind::OwnMove };
            self.hypotheses
                .iter_mut()
                .for_each(|hypothesis| hypothesis.inconsistencies.push(inconsistency));
        }
        // By luck some may agree after all. Keep only these: they would be few among the others,
        // and inconsistent ones are no longer repaired.
        if !self.is_inconsistent() {
            self.hypotheses.retain(|hypothesis| hypothesis.inconsistencies.is_empty());
        }
        self.weigh_inconsistencies();
    }

    /// Reduces the weights of trajectories by their inconsistencies.
    fn weigh_inconsistencies(&mut self) {
        let least = self
            .hypotheses
            .iter()
            .map(|hypothesis| hypothesis.inconsistencies.len())
            .min()
            .unwrap_or(0);
        for hypothesis in &mut self.hypotheses {
            let n_more = (hypothesis.inconsistencies.len() - least).min(MAX_INCONSISTENCIES);
            hypothesis.possible.weight = INCONSISTENCY_FACTOR.powi(n_more as i32);
        }
    }

    /// Changes trajectories until some agree with all observations, as long as there is time.
    ///
    /// A change is kept if the trajectory has no more inconsistencies than before. It is made where
    /// it may help: at a step before an inconsistency, among moves related to it.
    fn repair(&mut self, rng: &mut Rng, patience: &Patience) {
        let (initial, steps) = (self.initial.clone(), std::mem::take(&mut self.steps));
        self.hypotheses.sort_by_key(|hypothesis| hypothesis.inconsistencies.len());
        let mut found: Vec<Hypothesis<StateOf<G>>> = Vec::new();
        for _ in 0..MAX_REPAIR_TRIES {
            let deadline = if found.is_empty() { &patience.for_one } else { &patience.for_many };
            if found.len() >= MAX_REPAIRED || deadline.reached() {
                break;
            }
            // Draw two candidates and take the better one.
            let n = self.hypotheses.len().min(N_REPAIR_CANDIDATES);
            let pair = [rng.below(n), rng.below(n)];
            let idx = *pair
                .iter()
                .min_by_key(|&&idx| self.hypotheses[idx].inconsistencies.len())
                .expect("two");
            let from = self.hypotheses[idx].clone();
            let trajectory = Trajectory::new(&initial, &from);
            let (mut stepper, kinship) = self.stepper_and_kinship();
            let Some(mut change) = repairing(&trajectory, kinship, rng) else { continue };
            let made = stepper.change(&trajectory, &steps, &mut change, rng, deadline);
            match made {
                None => {}
                Some((hypothesis, _)) if hypothesis.inconsistencies.is_empty() => {
                    found.push(hypothesis)
                }
                Some((hypothesis, _)) => self.hypotheses[idx] = hypothesis,
            }
        }
        self.steps = steps;
        if !found.is_empty() { self.hypotheses = found } else { self.weigh_inconsistencies() }
    }

    /// Varies the trajectories of a sample that has too few states or too many duplicates.
    fn vary(&mut self, rng: &mut Rng, patience: &Patience) {
        if self.is_inconsistent() || self.n_different() >= self.n_kept() / 2 {
            return;
        }
        let n_kept = self.n_kept();
        let (initial, steps) = (self.initial.clone(), std::mem::take(&mut self.steps));
        for _ in 0..N_PARTICLES * N_CHANGES_PER_PARTICLE {
            if patience.for_many.reached() {
                break;
            }
            let idx = rng.below(self.hypotheses.len());
            let from = self.hypotheses[idx].clone();
            let trajectory = Trajectory::new(&initial, &from);
            let choices = trajectory.choices();
            let Some(&first) = rng.choose(&choices) else { continue };
            let is_pair = rng.below(N_SINGLE_PER_PAIR + 1) == 0;
            let second = if is_pair { *rng.choose(&choices).expect("not empty") } else { first };
            let mut change = Change { steps: [first, second], aim: None, max_inconsistencies: 0 };
            let deadline = &patience.for_many;
            let made = self.stepper().change(&trajectory, &steps, &mut change, rng, deadline);
            let Some((hypothesis, ratio)) = made else { continue };
            // The new trajectory may have more or fewer steps to change than the old one, which
            // changes the probability of the way back.
            let back =
                likely_pair([first, second], &Trajectory::new(&initial, &hypothesis).choices());
            let forth = likely_pair([first, second], &choices);
            if rng.unit().ln() >= ratio + back.ln() - forth.ln() {
                continue;
            }
            // A new hypothesis shares the weight of the one it was made from.
            let (weight, n) = (self.hypotheses[idx].possible.weight, self.hypotheses.len());
            if n < n_kept {
                self.hypotheses.push(hypothesis);
                self.hypotheses[idx].possible.weight = weight / 2.0;
                self.hypotheses[n].possible.weight = weight / 2.0;
            } else {
                self.hypotheses[idx] = hypothesis;
                self.hypotheses[idx].possible.weight = weight;
            }
        }
        self.steps = steps;
    }

    /// Returns the number of particles to keep; each may have its own trajectory, as long as the
    /// match.
    fn n_kept(&self) -> usize {
        (MAX_STEPS_KEPT / self.steps.len().max(1)).clamp(MIN_PARTICLES, N_PARTICLES)
    }

    /// Returns the number of different states.
    fn n_different(&self) -> usize {
        let states = self.hypotheses.iter().map(|hypothesis| &hypothesis.possible.state);
        states.collect::<std::collections::HashSet<_>>().len()
    }

    fn normalize(&mut self) {
        let total: f64 = self.hypotheses.iter().map(|hypothesis| hypothesis.possible.weight).sum();
        self.hypotheses.iter_mut().for_each(|hypothesis| hypothesis.possible.weight /= total);
    }
}

/// Returns the probability that these steps of a trajectory are drawn for a change, given all steps
/// that can change.
fn likely_pair([first, second]: [usize; 2], choices: &[usize]) -> f64 {
    if !choices.contains(&first) || !choices.contains(&second) {
        return 0.0;
    }
    let (n, pairs) = (choices.len() as f64, 1.0 / (N_SINGLE_PER_PAIR + 1) as f64);
    let of_pairs = pairs / (n * n);
    if first == second { (1.0 - pairs) / n + of_pairs } else { of_pairs }
}

/// Draws a change of a trajectory that may remove an inconsistency; `None` if the others had no
/// choice before it.
fn repairing<'a, S>(
    trajectory: &Trajectory<'_, S>,
    kinship: &'a mut Kinship,
    rng: &mut Rng,
) -> Option<Change<'a>> {
    let inconsistencies = &trajectory.hypothesis.inconsistencies;
    let at = rng.choose(inconsistencies)?.step;
    let at_step = || inconsistencies.iter().filter(|it| it.step == at).map(|it| it.what);
    let mut pick = |of: fn(InconsistencyKind) -> Option<PerceptId>| {
        let list: Vec<PerceptId> = at_step().filter_map(of).collect();
        rng.choose(&list).copied()
    };
    let missing =
        pick(|what| if let InconsistencyKind::Missing(id) = what { Some(id) } else { None });
    let extra = pick(|what| if let InconsistencyKind::Extra(id) = what { Some(id) } else { None });
    let choices: Vec<usize> = trajectory.choices().into_iter().filter(|&idx| idx <= at).collect();
    let choice_idx = match extra {
        Some(extra) if !choices.is_empty() => {
            let mut weight = |&idx: &usize| {
                let moves = trajectory.steps[idx].joint.iter();
                moves.map(|&id| kinship.weight(id, extra)).fold(1.0, f64::max)
            };
            rng.weighted(&choices.iter().map(&mut weight).collect::<Vec<f64>>())
        }
        _ => rng.below(choices.len().max(1)),
    };
    let step = *choices.get(choice_idx)?;
    // The step of the inconsistency may need a change too, and one change may require another.
    let other = match rng.below(4) {
        0 => *rng.choose(&choices)?,
        1 => at,
        _ => step,
    };
    let aim = Some(Aim { kinship, wanted: missing.filter(|_| rng.below(3) > 0) });
    Some(Change { steps: [step, other], aim, max_inconsistencies: inconsistencies.len() })
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    use crate::toy::{Rules, Toy};

    fn me() -> RoleId {
        RoleId::new(0)
    }

    fn follower(rules: Rules) -> Follower<Toy> {
        Follower::new(&Toy::new(rules), me(), Model::uniform())
    }

    fn observed(percepts: &[usize]) -> Observation {
        let percepts: Vec<PerceptId> = percepts.iter().map(|&it| PerceptId::new(it)).collect();
        Observation::new(MoveId::new(0), &percepts)
    }

    fn at_once() -> Patience {
        let now = Deadline::after(std::time::Duration::ZERO);
        Patience { for_many: now.clone(), for_one: now }
    }

    /// One of twelve cards is drawn, and shown a step later.
    const CARD: Rules = Rules {
        n_moves: |played, role| if role == 1 && played.is_empty() { 12 } else { 1 },
        sees: |played| (played.len() == 2).then(|| usize::from(played[0][1])),
        is_over: |played| played.len() == 4,
    };

    /// The same with so many cards that a few draws rarely find the shown one.
    const DECK: Rules = Rules {
        n_moves: |played, role| if role == 1 && played.is_empty() { 97 } else { 1 },
        ..CARD
    };

    /// Consistent and inconsistent states are never kept together: the inconsistent ones would stay
    /// unnoticed.
    #[test]
    fn either_all_states_agree_or_none_does() {
        let mut counts = [0; 2];
        for seed in 0..300 {
            let mut rng = Seed(seed).rng();
            let mut follower = follower(DECK);
            follower.follow(observed(&[]), &mut rng, &Patience::endless());
            assert_eq!(follower.hypotheses.len(), 97);
            follower.is_exact = false;
            follower.follow(observed(&[7]), &mut rng, &at_once());
            let n_agreeing =
                follower.hypotheses.iter().filter(|it| it.inconsistencies.is_empty()).count();
            assert!(n_agreeing == 0 || n_agreeing == follower.hypotheses.len(), "seed {seed}");
            assert_eq!(follower.is_inconsistent(), n_agreeing == 0);
            counts[usize::from(n_agreeing > 0)] += 1;
        }
        assert!(counts.iter().all(|&n| n > 10), "{counts:?}");
    }

    /// A message that is known to be lost still counts as a step. The card is never shown, so the
    /// next observation would agree with either assumption.
    #[test]
    fn a_missed_step_counts_as_a_step() {
        let unseen = Rules { sees: |_| None, is_over: |played| played.len() == 3, ..CARD };
        let (mut rng, mut follower) = (Seed(1).rng(), follower(unseen));
        follower.miss(&mut rng, &Patience::endless());
        follower.follow(observed(&[]), &mut rng, &Patience::endless());
        let known = follower.information();
        assert!(!known.is_exact() && !known.is_inconsistent());
        assert!(known.possible().iter().all(|it| it.state.len() == 2));
        assert_eq!(known.steps(), [None, Some(observed(&[]))]);
        let total: f64 = known.possible().iter().map(|it| it.weight).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    /// A refused move does not count as legal while no state agrees, and does so again afterwards.
    #[test]
    fn a_refused_move_is_not_legal_while_no_state_agrees() {
        let rules = Rules { n_moves: |_, role| 2 - role, ..CARD };
        let (mut rng, mut follower) = (Seed(1).rng(), follower(rules));
        follower.refuse(MoveId::new(1));
        assert_eq!(follower.legal_moves().len(), 2);
        follower.follow(observed(&[]), &mut rng, &Patience::endless());
        assert_eq!(follower.legal_moves().len(), 2);
        // `random` had only one move, so card 7 cannot be shown.
        follower.refuse(MoveId::new(1));
        follower.follow(observed(&[7]), &mut rng, &at_once());
        assert!(follower.is_inconsistent());
        assert_eq!(follower.legal_moves(), [MoveId::new(0)]);
        follower.refuse(MoveId::new(0));
        assert_eq!(follower.legal_moves().len(), 2);
    }

    #[test]
    fn a_small_set_stays_exact_whatever_the_clock_says() {
        let mut rng = Seed(1).rng();
        let mut follower = follower(CARD);
        follower.follow(observed(&[]), &mut rng, &at_once());
        assert!(follower.is_exact() && follower.hypotheses.len() == 12);
        follower.follow(observed(&[7]), &mut rng, &at_once());
        assert!(follower.is_exact() && follower.hypotheses.len() == 1);
    }

    /// After two steps `random` has no move although the game is not over: the rulesheet is faulty.
    #[test]
    fn states_are_kept_where_play_cannot_go_on() {
        let stuck = Rules {
            n_moves: |played, role| if role == 1 && played.len() == 2 { 0 } else { 2 },
            sees: |_| None,
            is_over: |_| false,
        };
        for patience in [at_once(), Patience::endless()] {
            let mut rng = Seed(1).rng();
            let mut follower = follower(stuck);
            for _ in 0..6 {
                follower.follow(observed(&[]), &mut rng, &patience);
                let known = follower.information();
                assert!(!known.possible().is_empty());
                let total: f64 = known.possible().iter().map(|it| it.weight).sum();
                assert!((total - 1.0).abs() < 1e-9, "{total}");
            }
            assert!(follower.is_inconsistent());
        }
    }

    /// In a step without observation the role's own move is drawn. Its probability counts again
    /// when the step is replayed, so a change elsewhere does not make it likelier.
    #[test]
    fn a_step_without_observation_is_as_likely_when_replayed() {
        let rules = Rules { n_moves: |_, _| 3, sees: |_| None, is_over: |_| false };
        let (mut rng, mut follower) = (Seed(1).rng(), follower(rules));
        let steps = [Some(observed(&[])), None, Some(observed(&[]))];
        let initial = follower.initial.clone();
        let mut hypothesis = initial.clone();
        for step in &steps {
            let next = follower.stepper().step(&hypothesis, step.as_ref(), &mut rng);
            hypothesis = next.expect("every step agrees");
        }
        for _ in 0..20 {
            let trajectory = Trajectory::new(&initial, &hypothesis);
            assert_eq!(trajectory.choices(), [0, 1, 2]);
            let mut change = Change { steps: [0, 0], aim: None, max_inconsistencies: 0 };
            let never = Deadline::never();
            let made =
                follower.stepper().change(&trajectory, &steps, &mut change, &mut rng, &never);
            let (next, ratio) = made.expect("every step agrees");
            assert!(ratio.abs() < 1e-12, "{ratio}");
            hypothesis = next;
        }
    }

    /// Chance decides in the first step whether it has choices in the next four. Trajectories with
    /// different numbers of choices turn into each other, and keep their probabilities over any
    /// number of changes.
    #[test]
    fn changes_of_trajectories_keep_the_distribution() {
        let fork = Rules {
            n_moves: |played, role| match (played.first(), role) {
                (None, 1) | (Some([_, 0]), 1) => 2,
                _ => 1,
            },
            sees: |_| None,
            is_over: |played| played.len() > 5,
        };
        let (mut rng, mut follower) = (Seed(1).rng(), follower(fork));
        follower.is_exact = false;
        for _ in 0..5 {
            follower.follow(observed(&[]), &mut rng, &Patience::endless());
        }
        for _ in 0..8 {
            follower.vary(&mut rng, &Patience::endless());
        }
        let of_forced = follower.hypotheses.iter().filter(|it| it.possible.state[0][1] == 1);
        let part: f64 = of_forced.map(|it| it.possible.weight).sum();
        assert!((part - 0.5).abs() < 0.06, "{part}");
    }

    #[test]
    fn a_repeated_percept_counts_once() {
        let mut rng = Seed(1).rng();
        let mut follower = follower(CARD);
        follower.follow(observed(&[]), &mut rng, &Patience::endless());
        follower.follow(observed(&[7, 7]), &mut rng, &Patience::endless());
        assert!(follower.is_exact() && follower.hypotheses.len() == 1);
    }

    #[test]
    fn a_round_takes_every_particle_once() {
        let weights = Weights::new(std::iter::repeat_n(1.0, N_PARTICLES));
        let (mut rng, mut round) = (Seed(1).rng(), EvenDraws::default());
        for _ in 0..3 {
            let mut counts = [0; N_PARTICLES];
            (0..N_PARTICLES).for_each(|_| counts[weights.at(round.next(&mut rng))] += 1);
            assert_eq!(counts, [1; N_PARTICLES]);
        }
    }
}

//! Following a match by what one role is told of it.
//!
//! While the states that agree are few, all of them are kept, each with its probability
//! ([`super::exact`]). After that a sample is: *particles* that are moved on at random, with those
//! left out that what was seen rules out. Particles that are all the same soon are no sample, so
//! ways to them are changed a little, one or two moves of the others somewhere in the past, and
//! kept if that still agrees with everything the role was told (a Metropolis step, whose limit is
//! the true distribution). The same is done when no particle is left; after that the whole game is
//! replayed at random, back and forth.
//!
//! A sample after Schofield, Cerexhe and Thielscher, *HyperPlay: A Solution to General Game Playing
//! with Imperfect Information*, 2012; changes of ways after Gilks and Berzuini, *Following a Moving
//! Target: Monte Carlo Inference for Dynamic Bayesian Models*, 2001.
//!
//! Invariant: the true state never enters here, and is in the set while the set is exact. A set is
//! empty only if nothing that agrees was found, and [`Follower::is_lost`] says so.

use std::time::Duration;

use ludex_base::{Deadline, MoveId, Rng, RoleId};
use ludex_game::{Cursor, Game, Observe, StateOf};
use rustc_hash::FxHashMap;

use super::exact::{self, ExactLimits, Inexact};
use super::known::{Information, Possible, Told, Weights};
use super::model::Model;
use super::possible::{Place, Stepper};
use super::sight::first_view;
use crate::roles::Roles;

/// Keeps what a role knows in a game with percepts.
pub struct Follower<G: Game> {
    role: RoleId,
    roles: Roles,
    cursor: G::Cursor,
    model: Model,
    initial: Place<StateOf<G>>,
    /// What was played and seen; `None` of a step that the role was not told of.
    steps: Vec<Option<Told>>,
    places: Vec<Place<StateOf<G>>>,
    is_exact: bool,
}

/// How long possible states are looked for.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Until when more than one is wanted.
    pub for_many: Deadline,
    /// Until when one is wanted that is not found by a few tries.
    pub for_one: Deadline,
}

impl Patience {
    /// As long as it takes.
    pub fn endless() -> Self {
        Self { for_many: Deadline::never(), for_one: Deadline::never() }
    }
}

/// States of an exact set, and joint moves that are tried to find them.
const MAX_EXACT: usize = 4_000;
const MAX_EXACT_JOINTS: usize = 20_000;
/// Particles kept: a prime, and about its golden section, so that steps of that length around the circle
/// come by every place, far from the ones before.
const N_PARTICLES: usize = 499;
const STRIDE: usize = 308;
/// Draws for each particle kept before a step is called hard.
const N_TRIES: usize = 10;
/// Changes of ways that are tried in a step, for each particle kept.
const N_CHANGES: usize = 4;
/// Draws, and replays of the whole game, that are made whatever the clock says while no state is
/// found: a role that knows of no state knows of no legal move.
const MIN_TRIES: usize = 60;
const MIN_REPLAYS: usize = 4;
/// How long the game is replayed beyond the clock while no state is found: an answer that is late
/// is no worse than one that is not legal.
const GRACE: Duration = Duration::from_millis(50);
/// Steps of a replay for each step of the game, with time and without.
const N_REPLAY_STEPS: usize = 480;
const MIN_REPLAY_STEPS: usize = 60;
/// Joint moves tried from one state when the game is replayed from the beginning.
const N_BRANCHES: usize = 24;
/// States that are asked for the legal moves.
const N_ASKED: usize = 50;

impl<G: Game> Follower<G>
where
    G::Cursor: Observe,
{
    /// Knows the initial state, and takes the others to play by the model.
    pub fn new(game: &G, role: RoleId, model: Model) -> Self {
        let cursor = game.cursor();
        let roles = Roles::of(game);
        let views = roles.ids().map(first_view).collect();
        let possible = Possible { state: cursor.state().clone(), weight: 1.0, views };
        let initial = Place { possible, way: None };
        let places = vec![initial.clone()];
        Self { role, roles, cursor, model, initial, steps: Vec::new(), places, is_exact: true }
    }

    /// Takes in the role's own move and percepts of a step.
    pub fn follow(&mut self, told: Told, rng: &mut Rng, patience: &Patience) {
        if self.is_exact {
            // It leaves half of the time to a sample.
            let left = patience.for_many.remaining();
            let limits = ExactLimits {
                max_states: MAX_EXACT,
                max_joint_moves: MAX_EXACT_JOINTS,
                deadline: left.map_or_else(Deadline::never, |time| Deadline::after(time / 2)),
            };
            let places = std::mem::take(&mut self.places);
            match exact::follow(&mut self.stepper(), &places, &told, &limits, rng) {
                Ok(found) => {
                    self.places = found;
                    self.steps.push(Some(told));
                    return;
                }
                Err(Inexact::TooLarge) => self.places = places,
                // Nothing leads from what was known to this: looking for it would be in vain to the
                // end of the clock. The message of a step was lost; anything may have happened in
                // it.
                Err(Inexact::Impossible) => {
                    self.places = places;
                    self.skip_step(rng);
                }
            }
            self.is_exact = false;
        }
        self.sample(told, rng, patience);
        let total: f64 = self.places.iter().map(|place| place.possible.weight).sum();
        self.places.iter_mut().for_each(|place| place.possible.weight /= total);
    }

    /// What is known now.
    pub fn information(&mut self) -> Information<StateOf<G>> {
        let mut possible: Vec<_> = self.places.iter().map(|it| it.possible.clone()).collect();
        // After a step that it was not told of, ways differ in what the role itself would have
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
        }
    }

    /// Whether all states that agree are known, each with its probability.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// How likely a state is held to be; `None` if it is not among those that are known to agree.
    pub fn weight_of(&self, state: &StateOf<G>) -> Option<f64> {
        let same = self.places.iter().filter(|place| place.possible.state == *state);
        same.map(|place| place.possible.weight).reduce(|sum, weight| sum + weight)
    }

    /// Whether no state that agrees was found: nothing is known then, not even the legal moves.
    pub fn is_lost(&self) -> bool {
        self.places.is_empty()
    }

    /// The legal moves: in a good GDL-II sheet the same in all states that the role can't tell
    /// apart. Where they are not, those that all of the likeliest states have, or if there are none
    /// those of one.
    pub fn legal_moves(&mut self) -> Vec<MoveId> {
        let weight = |place: &Place<StateOf<G>>| place.possible.weight;
        let mut likely: Vec<usize> = (0..self.places.len()).collect();
        likely.sort_by(|&a, &b| weight(&self.places[b]).total_cmp(&weight(&self.places[a])));
        let mut sure: Option<Vec<MoveId>> = None;
        for idx in likely.into_iter().take(N_ASKED) {
            self.cursor.set_state(&self.places[idx].possible.state);
            if self.cursor.is_terminal() {
                continue;
            }
            let legal = self.cursor.legal_moves(self.role);
            match &mut sure {
                None => sure = Some(legal.to_vec()),
                Some(sure) if sure == legal => {}
                Some(sure) if sure.iter().any(|id| legal.contains(id)) => {
                    sure.retain(|id| legal.contains(id));
                }
                Some(_) => {}
            }
        }
        sure.unwrap_or_default()
    }

    fn stepper(&mut self) -> Stepper<'_, G::Cursor> {
        Stepper { cursor: &mut self.cursor, roles: self.roles, role: self.role, model: &self.model }
    }

    /// Moves a sample on by a step of which nothing is known.
    fn skip_step(&mut self, rng: &mut Rng) {
        let before = std::mem::take(&mut self.places);
        let weights = Weights::new(before.iter().map(|place| place.possible.weight));
        let mut round = Round::default();
        for _ in 0..N_PARTICLES {
            let next = self.stepper().step(&before[weights.at(round.next(rng))], None, rng);
            self.places.extend(next);
        }
        self.steps.push(None);
    }

    /// Moves a sample on by a step.
    ///
    /// When none is found, the states of the step before are forgotten all the same: a wrong state
    /// is worse than none.
    fn sample(&mut self, told: Told, rng: &mut Rng, patience: &Patience) {
        let before = std::mem::take(&mut self.places);
        let weights = Weights::new(before.iter().map(|place| place.possible.weight));
        let (mut fitting, mut round) = (Fitting::default(), Round::default());
        for n_tries in 0..N_PARTICLES * N_TRIES {
            let is_enough = self.places.len() >= N_PARTICLES || before.is_empty();
            if is_enough || self.is_over(patience, n_tries >= MIN_TRIES) {
                break;
            }
            let from = &before[weights.at(round.next(rng))];
            let mut stepper = self.stepper();
            let next = match fitting.draw(rng) {
                Some(joint) => stepper.step_as(from, joint, &told),
                None => stepper.step(from, Some(&told), rng),
            };
            self.places.extend(next.map(|place| fitting.weigh(place)));
        }
        self.steps.push(Some(told));
        if self.places.is_empty() && !before.is_empty() {
            self.repair(&before, &weights, rng, patience);
        }
        if self.places.is_empty() {
            self.replay_game(rng, patience);
        }
        self.vary(rng, patience);
    }

    /// Looks for ways like those of a step before that agree with this one too.
    fn repair(
        &mut self,
        before: &[Place<StateOf<G>>],
        weights: &Weights,
        rng: &mut Rng,
        patience: &Patience,
    ) {
        let (initial, steps) = (self.initial.clone(), std::mem::take(&mut self.steps));
        for n_tries in 0..N_PARTICLES * N_CHANGES {
            let is_enough = self.places.len() >= N_PARTICLES / 10;
            if is_enough || self.is_over(patience, n_tries >= MIN_TRIES) {
                break;
            }
            let from = &before[weights.draw(rng)];
            let found = self.stepper().change(&initial, from, &steps, rng);
            self.places.extend(found.map(|(place, _)| place));
        }
        self.steps = steps;
    }

    /// Changes ways of a sample that has too few states, or too many times the same.
    fn vary(&mut self, rng: &mut Rng, patience: &Patience) {
        if self.places.is_empty() || self.n_different() >= N_PARTICLES / 2 {
            return;
        }
        let (initial, steps) = (self.initial.clone(), std::mem::take(&mut self.steps));
        for _ in 0..N_PARTICLES * N_CHANGES {
            if patience.for_many.reached() {
                break;
            }
            let idx = rng.below(self.places.len());
            let from = self.places[idx].clone();
            let Some((place, ratio)) = self.stepper().change(&initial, &from, &steps, rng) else {
                continue;
            };
            if rng.unit().ln() >= ratio {
                continue;
            }
            // What is added shares the weight of what it was made from.
            let (weight, n) = (self.places[idx].possible.weight, self.places.len());
            if n < N_PARTICLES {
                self.places.push(place);
                self.places[idx].possible.weight = weight / 2.0;
                self.places[n].possible.weight = weight / 2.0;
            } else {
                self.places[idx] = place;
                self.places[idx].possible.weight = weight;
            }
        }
        self.steps = steps;
    }

    /// How many different states there are.
    fn n_different(&self) -> usize {
        let states = self.places.iter().map(|place| &place.possible.state);
        states.collect::<std::collections::HashSet<_>>().len()
    }

    /// Replays the game from the beginning until a state is found.
    fn replay_game(&mut self, rng: &mut Rng, patience: &Patience) {
        let mut n_replays = 0;
        let mut grace: Option<Deadline> = None;
        while self.places.is_empty() {
            let is_late = patience.for_one.reached()
                && grace.get_or_insert_with(|| Deadline::after(GRACE)).reached();
            if is_late && n_replays >= MIN_REPLAYS {
                break;
            }
            n_replays += 1;
            let (per_step, deadline) = match patience.for_one.reached() {
                true => (MIN_REPLAY_STEPS, Deadline::never()),
                false => (N_REPLAY_STEPS, patience.for_one.clone()),
            };
            let mut n_left = per_step * self.steps.len();
            let initial = self.initial.clone();
            let found = self.replay(&initial, 0, &mut n_left, rng, &deadline);
            self.places.extend(found);
        }
    }

    /// Goes through all steps from a place, back and forth, until one way agrees with all of them.
    fn replay(
        &mut self,
        from: &Place<StateOf<G>>,
        n_done: usize,
        n_left: &mut usize,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Option<Place<StateOf<G>>> {
        let Some(told) = self.steps.get(n_done).cloned() else {
            return Some(from.clone());
        };
        for _ in 0..N_BRANCHES {
            *n_left = n_left.checked_sub(1)?;
            if deadline.reached() {
                return None;
            }
            let Some(next) = self.stepper().step(from, told.as_ref(), rng) else { continue };
            if let Some(found) = self.replay(&next, n_done + 1, n_left, rng, deadline) {
                return Some(found);
            }
        }
        None
    }

    /// Whether no more states are looked for.
    fn is_over(&self, patience: &Patience, has_tried: bool) -> bool {
        match self.places.is_empty() {
            true => has_tried && patience.for_one.reached(),
            false => patience.for_many.reached(),
        }
    }
}

/// Parts of a whole, evenly spread: each round has as many as there are particles, the same way apart.
///
/// Places that are drawn one by one are drawn twice or not at all, and after as many steps as there are
/// particles all stem from one of them, even if no step ruled any out. Evenly spread, each is taken as
/// often as its weight says (systematic resampling: Kitagawa, *Monte Carlo Filter and Smoother for
/// Non-Gaussian Nonlinear State Space Models*, 1996).
#[derive(Default)]
struct Round {
    n_taken: usize,
    shift: f64,
}

impl Round {
    fn next(&mut self, rng: &mut Rng) -> f64 {
        let place = self.n_taken % N_PARTICLES;
        if place == 0 {
            self.shift = rng.unit();
        }
        self.n_taken += 1;
        ((place * STRIDE % N_PARTICLES) as f64 + self.shift) / N_PARTICLES as f64
    }
}

/// Joint moves that agreed with what was told of a step.
///
/// Where a role sees what another played, one of a hundred moves agrees, and drawing all of them
/// would find it once in a hundred draws. So half of the draws are from those that agreed before,
/// and what is found is weighted by how much likelier that made it (importance sampling).
#[derive(Default)]
struct Fitting {
    joints: Vec<Box<[MoveId]>>,
    counts: FxHashMap<Box<[MoveId]>, u32>,
}

impl Fitting {
    /// One of them, half of the time; the other half, and before there are any, nothing.
    fn draw(&self, rng: &mut Rng) -> Option<&[MoveId]> {
        match self.joints.is_empty() || rng.below(2) == 0 {
            true => None,
            false => rng.choose(&self.joints).map(|joint| &**joint),
        }
    }

    /// A place that a draw led to, with its weight.
    fn weigh<S>(&mut self, mut place: Place<S>) -> Place<S> {
        let step = place.way.as_ref().expect("a step led there");
        let likely = step.log.exp();
        let drawn = match self.joints.len() {
            0 => likely,
            n => {
                let count = self.counts.get(&step.joint).copied().unwrap_or(0);
                0.5 * likely + 0.5 * f64::from(count) / n as f64
            }
        };
        *self.counts.entry(step.joint.clone()).or_default() += 1;
        self.joints.push(step.joint.clone());
        place.possible.weight = likely / drawn;
        place
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    #[test]
    fn a_round_takes_every_particle_once() {
        let weights = Weights::new(std::iter::repeat_n(1.0, N_PARTICLES));
        let (mut rng, mut round) = (Seed(1).rng(), Round::default());
        for _ in 0..3 {
            let mut counts = [0; N_PARTICLES];
            (0..N_PARTICLES).for_each(|_| counts[weights.at(round.next(&mut rng))] += 1);
            assert_eq!(counts, [1; N_PARTICLES]);
        }
    }
}

//! HyperPlay-II: values a move by games in which every role knows only what it sees.
//!
//! The search plays whole games from a possible state, *imperfect-information samples*. In each of
//! them every role, including the searching one, follows the game by its own percepts with a few
//! particles of its own, and chooses by random games from these. So a move that brings information
//! is worth what the role will do with it, and a move that only pays if the state is known is not
//! overrated. The choices of a role are remembered by what it knows, and improve each time a sample
//! gets there.
//!
//! For any number of roles, chance and hidden information. After Schofield and Thielscher, *Lifting
//! Model Sampling for General Game Playing to Incomplete-Information Models*, 2015. Remembering
//! choices is ours; it makes enough samples possible in a short turn.

use ludex_base::{MoveId, PerceptId, Rng, RoleId, StopReason};
use ludex_game::{Cursor, MAX_RANDOM_STEPS, Observe, Playouts, StateOf};
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::information::{
    Information, InformationSearcher, OwnPercepts, Possible, Weights, view_after,
};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, Searchable};
use crate::limits::SearchLimits;
use crate::mcts::UctOptions;
use crate::mcts::selection::{EdgeStats, Selection, Ucb};
use crate::playout::{Desk, End, play_uniform};
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

crate::search_options! {
    /// Options of [`ImperfectPlay`].
    pub struct ImperfectPlayOptions {
        /// exploration constant at the root, for rewards from 0 to 1
        c: f64 = 0.7,
        /// choices that each role makes by what it knows; later ones are random
        depth: usize = 4,
        /// particles with which a role follows a sample
        particles: usize = 8,
        /// random games per move before a choice is final
        playouts: usize = 24,
    }
}

/// A search that values moves by imperfect-information samples.
pub struct ImperfectPlay<G: Playouts> {
    options: ImperfectPlayOptions,
    roles: Roles,
    cursor: G::Cursor,
    choices: FxHashMap<u64, Choice>,
    /// For games with complete information.
    complete: Box<dyn Searcher<G::Cursor> + Send>,
}

/// What a role with some knowledge has found out about its moves.
#[derive(Clone, Debug, Default)]
struct Choice {
    moves: Vec<Arm>,
}

#[derive(Clone, Copy, Debug)]
struct Arm {
    id: MoveId,
    n_visits: u32,
    reward_sum: f64,
}

/// Plays samples one after another.
struct Sampler<'a, C: Cursor> {
    options: &'a ImperfectPlayOptions,
    roles: Roles,
    cursor: &'a mut C,
    choices: &'a mut FxHashMap<u64, Choice>,
    max_choices: usize,
    rng: Rng,
    clock: Clock<'a>,
    joint: Vec<MoveId>,
    desk: Desk,
}

/// A role that follows a sample by what it sees.
struct Observer<S> {
    role: RoleId,
    view: u64,
    particles: Vec<S>,
    /// The number of choices that it still makes by what it knows.
    n_left: usize,
}

/// Approximate size of a remembered choice.
const CHOICE_BYTES: usize = 400;
/// Draws per particle to find a consistent step.
const N_TRIES: usize = 3;

impl<I: Ingredients> Search<I> for ImperfectPlayOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(ImperfectPlay::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        Box::new(ImperfectPlay::new(from.game(), self.clone()))
    }
}

impl<G: Searchable> ImperfectPlay<G> {
    /// Creates a search without knowledge.
    pub fn new(game: &G, options: ImperfectPlayOptions) -> Self {
        Self {
            options,
            roles: Roles::of(game),
            cursor: game.cursor(),
            choices: FxHashMap::default(),
            complete: UctOptions::DEFAULT.build("uct", game),
        }
    }
}

impl<G: Playouts> Searcher<G::Cursor> for ImperfectPlay<G> {
    fn name(&self) -> &'static str {
        "hyperplay-ii"
    }

    /// Uses UCT: in a known state there is no information to gain.
    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        self.complete.search(root, role, limits)
    }
}

impl<G: Playouts> InformationSearcher<StateOf<G>> for ImperfectPlay<G>
where
    G::Cursor: Observe,
{
    fn name(&self) -> &'static str {
        "hyperplay-ii"
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let legal = known.legal_moves();
        let nothing = SearchReport::unsearched(legal);
        if legal.len() < 2 || known.possible().is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        let max_choices = (limits.memory / CHOICE_BYTES).max(1);
        if self.choices.len() > max_choices / 2 {
            self.choices.clear();
        }
        let weights = Weights::new(known.possible().iter().map(|it| it.weight));
        let mut sampler = Sampler {
            options: &self.options,
            roles: self.roles,
            cursor: &mut self.cursor,
            choices: &mut self.choices,
            max_choices,
            rng: limits.seed.rng(),
            clock: Clock::new(&limits.deadline),
            joint: Vec::new(),
            desk: Desk::default(),
        };
        let mut arms: Vec<Arm> = legal.iter().map(|&id| Arm::new(id)).collect();
        let mut rule = Ucb { c: self.options.c as f32, fpu: f32::MAX };
        let mut n_iterations = 0_u64;
        let stopped = loop {
            if let Some(reason) = limits.stop_after(n_iterations) {
                break reason;
            }
            let stats: Vec<EdgeStats> = arms.iter().map(Arm::stats).collect();
            let n_visits = u32::try_from(n_iterations).unwrap_or(u32::MAX);
            let idx = rule.select(n_visits, &stats, &mut sampler.rng);
            let start = weights.draw(&mut sampler.rng);
            // Try every move with random games first: complete samples may take longer than the
            // turn.
            let depth = if n_iterations < 2 * arms.len() as u64 { 0 } else { self.options.depth };
            let Some(reward) = sampler.sample(known, start, arms[idx].id, depth) else {
                break StopReason::of_deadline();
            };
            arms[idx].add(reward);
            n_iterations += 1;
            let best = arms.iter().max_by_key(|arm| arm.n_visits).expect("the role has moves");
            limits.hint.set(best.id);
        };
        if n_iterations == 0 {
            return SearchReport { stopped: Some(stopped), ..nothing };
        }
        let moves: Vec<MoveReport> = arms.iter().map(Arm::report).collect();
        let chosen = crate::mcts::choose(&moves).map(|idx| moves[idx]);
        SearchReport {
            chosen: chosen.map(|it| it.id),
            reward: chosen.and_then(|it| it.mean_reward),
            n_iterations,
            n_playouts: n_iterations,
            n_nodes: self.choices.len() as u64,
            n_bytes: (self.choices.len() * CHOICE_BYTES) as u64,
            stopped: Some(stopped),
            moves,
            ..SearchReport::default()
        }
    }
}

impl<C: Observe> Sampler<'_, C> {
    /// Plays a game from a possible state that begins with `first`, a move of the searching role,
    /// and returns its reward. Each role makes `depth` choices by what it knows. `None` if time ran
    /// out.
    fn sample(
        &mut self,
        known: &Information<C::State>,
        start: usize,
        first: MoveId,
        depth: usize,
    ) -> Option<f64> {
        let me = known.role();
        let from = &known.possible()[start];
        let mut observers = self.observers(known, from, depth);
        let mut first = Some(first);
        self.cursor.set_state(&from.state);
        // Step 1. Every role chooses by what it knows. The number of steps is bounded, because a
        // game may go on forever without choices.
        for _ in 0..MAX_RANDOM_STEPS {
            if self.cursor.is_terminal() || (first.is_none() && observers.is_empty()) {
                break;
            }
            if self.clock.tick() {
                return None;
            }
            let here = self.cursor.state().clone();
            let legal: Vec<Vec<MoveId>> =
                self.roles.ids().map(|role| self.cursor.legal_moves(role).to_vec()).collect();
            let mut joint = Vec::with_capacity(self.roles.n);
            for (role, moves) in self.roles.ids().zip(&legal) {
                let begins = if role == me { first.take() } else { None };
                let observer = observers.iter_mut().find(|it| it.role == role);
                joint.push(match (begins, &moves[..], observer) {
                    (Some(begins), _, _) if moves.contains(&begins) => begins,
                    // An illegal move is worth nothing.
                    (Some(_), _, _) | (_, [], _) => return Some(0.0),
                    (_, [only], _) => *only,
                    (_, _, Some(observer)) => self.choose(observer, moves)?,
                    (_, _, None) => moves[self.rng.below(moves.len())],
                });
            }
            self.cursor.set_state(&here);
            self.cursor.play(&joint);
            observers.retain(|observer| observer.n_left > 0);
            // Step 2. The roles with choices left take in what they saw.
            let next = self.cursor.state().clone();
            let seen: Vec<Vec<_>> = (observers.iter_mut())
                .map(|it| {
                    it.view = view_after(&OwnPercepts, &*self.cursor, it.view, it.role, &joint);
                    sorted(self.cursor.percepts(it.role))
                })
                .collect();
            for (observer, seen) in observers.iter_mut().zip(&seen) {
                self.follow(observer, joint[observer.role.index()], seen);
            }
            self.cursor.set_state(&next);
        }
        // Step 3. Play the rest at random.
        let Self { cursor, roles, rng, clock, desk, .. } = self;
        match play_uniform(&mut **cursor, roles.n, rng, clock, desk) {
            End::Terminal => Some(f64::from(self.cursor.goal(me).value()) / 100.0),
            End::GivenUp | End::Cut => Some(0.0),
            End::Time => None,
        }
    }

    /// Returns what each role knows in a possible state, as far as the searching role can tell: the
    /// states in which it has seen the same.
    fn observers(
        &mut self,
        known: &Information<C::State>,
        from: &Possible<C::State>,
        depth: usize,
    ) -> Vec<Observer<C::State>> {
        let mut observers = Vec::new();
        for role in self.roles.ids().filter(|&role| depth > 0 && !self.roles.is_random(role)) {
            let view = from.views[role.index()];
            let same = known.possible().iter().filter(|it| it.views[role.index()] == view);
            let same: Vec<&Possible<C::State>> = same.collect();
            let weights = Weights::new(same.iter().map(|it| it.weight));
            let mut draw = || same[weights.draw(&mut self.rng)].state.clone();
            let particles = (0..self.options.particles.max(1)).map(|_| draw()).collect();
            observers.push(Observer { role, view, particles, n_left: depth });
        }
        observers
    }

    /// Advances the particles of a role by a step.
    fn follow(&mut self, observer: &mut Observer<C::State>, own: MoveId, seen: &[PerceptId]) {
        let before = std::mem::take(&mut observer.particles);
        for particle in &before {
            for _ in 0..N_TRIES {
                self.cursor.set_state(particle);
                if !self.play(observer.role, own) {
                    break;
                }
                if sorted(self.cursor.percepts(observer.role)) == seen {
                    observer.particles.push(self.cursor.state().clone());
                    break;
                }
            }
        }
    }

    /// Plays a move of a role and random moves of the others; false if it is not legal.
    fn play(&mut self, role: RoleId, own: MoveId) -> bool {
        self.joint.clear();
        if self.cursor.is_terminal() {
            return false;
        }
        for other in self.roles.ids() {
            let moves = self.cursor.legal_moves(other);
            let chosen = if other == role {
                moves.iter().find(|&&id| id == own).copied()
            } else {
                self.rng.choose(moves).copied()
            };
            let Some(chosen) = chosen else { return false };
            self.joint.push(chosen);
        }
        self.cursor.play(&self.joint);
        true
    }

    /// Returns the choice of a role by what it knows; `None` if time ran out.
    fn choose(&mut self, observer: &mut Observer<C::State>, moves: &[MoveId]) -> Option<MoveId> {
        observer.n_left -= 1;
        let is_new = !self.choices.contains_key(&observer.view);
        if is_new && (observer.particles.is_empty() || self.choices.len() >= self.max_choices) {
            return Some(moves[self.rng.below(moves.len())]);
        }
        let mut choice = self.choices.remove(&observer.view).unwrap_or_default();
        let is_done = self.learn(&mut choice, observer, moves);
        let arms = choice.moves.iter().filter(|arm| moves.contains(&arm.id) && arm.n_visits > 0);
        let best = arms.max_by(|a, b| a.mean().total_cmp(&b.mean())).map(|arm| arm.id);
        self.choices.insert(observer.view, choice);
        is_done.then(|| best.unwrap_or_else(|| moves[self.rng.below(moves.len())]))
    }

    /// Plays one more random game for each move that is not settled; false if time ran out.
    fn learn(
        &mut self,
        choice: &mut Choice,
        observer: &Observer<C::State>,
        moves: &[MoveId],
    ) -> bool {
        for &id in moves {
            let known = choice.moves.iter().position(|arm| arm.id == id);
            let idx = known.unwrap_or_else(|| {
                choice.moves.push(Arm::new(id));
                choice.moves.len() - 1
            });
            let is_settled = choice.moves[idx].n_visits as usize >= self.options.playouts;
            let Some(particle) = self.rng.choose(&observer.particles).filter(|_| !is_settled)
            else {
                continue;
            };
            self.cursor.set_state(particle);
            if !self.play(observer.role, id) {
                continue;
            }
            let Self { cursor, roles, rng, clock, desk, .. } = self;
            match play_uniform(&mut **cursor, roles.n, rng, clock, desk) {
                End::Terminal => {
                    let goal = self.cursor.goal(observer.role).value();
                    choice.moves[idx].add(f64::from(goal) / 100.0);
                }
                End::GivenUp | End::Cut => {}
                End::Time => return false,
            }
        }
        true
    }
}

fn sorted(percepts: &[PerceptId]) -> Vec<PerceptId> {
    let mut percepts = percepts.to_vec();
    percepts.sort_unstable();
    percepts
}

impl Arm {
    fn new(id: MoveId) -> Self {
        Self { id, n_visits: 0, reward_sum: 0.0 }
    }

    fn add(&mut self, reward: f64) {
        self.n_visits += 1;
        self.reward_sum += reward;
    }

    fn mean(&self) -> f64 {
        self.reward_sum / f64::from(self.n_visits.max(1))
    }

    fn stats(&self) -> EdgeStats {
        EdgeStats { n_visits: self.n_visits, mean: self.mean() as f32, ..EdgeStats::NEW }
    }

    fn report(&self) -> MoveReport {
        MoveReport {
            n_visits: u64::from(self.n_visits),
            mean_reward: (self.n_visits > 0).then(|| self.mean()),
            ..MoveReport::untried(self.id)
        }
    }
}

//! An iteration: a descent through the trees of the roles, a playout, and the update.

use ludex_base::{MoveId, Rng, RoleId, StopReason};
use ludex_game::{Cursor, MAX_RANDOM_STEPS};

use super::Observers;
use super::habits::{Chosen, Habits, Recent};
use super::tree::{self, Explore, Taken, Tree};
use crate::clock::Clock;
use crate::information::{Possible, Sight, Weights, view_after};
use crate::limits::SearchLimits;
use crate::playout::{Desk, End, play_uniform};
use crate::roles::Roles;

/// Runs iterations.
pub(super) struct Walk<'a, C: Cursor, V> {
    pub roles: Roles,
    pub me: RoleId,
    pub sight: V,
    pub observers: Observers,
    pub c: f64,
    /// Whether a move is worth the best value below it.
    pub takes_best: bool,
    pub cursor: &'a mut C,
    pub tree: &'a mut Tree,
    /// The habits of the roles, if they learn.
    pub habits: Option<&'a mut Habits>,
    pub rng: Rng,
    pub clock: Clock<'a>,
    pub max_bytes: usize,
    pub max_depth: u32,
    /// The edges followed in this iteration.
    pub taken: Vec<Taken>,
    /// Those of one role.
    pub path: Vec<Taken>,
    pub joint: Vec<MoveId>,
    pub desk: Desk,
    pub views: Vec<u64>,
    pub rewards: Vec<f64>,
    /// What the searching role saw and played before this turn.
    pub own_recent: Recent,
    /// What each role saw and played last; empty unless they learn.
    pub recent: Vec<Recent>,
    /// All choices of this iteration; empty unless they learn.
    pub chosen: Vec<Chosen>,
    pub priors: Vec<f32>,
}

/// The probability of trying any move, if moves are worth the best below them. It is large at the
/// root, where only the final choice counts and bad tries cost nothing.
const ROOT_EPSILON: f64 = 0.5;
const EPSILON: f64 = 0.15;
/// Iterations between two hints.
const HINT_INTERVAL: u64 = 32;

impl<C: Cursor, V: Sight<C>> Walk<'_, C, V> {
    /// Iterates until the limits are reached. Returns the number of iterations, and why they
    /// stopped.
    pub fn run(
        &mut self,
        starts: &[Possible<C::State>],
        root: u32,
        legal: &[MoveId],
        limits: &SearchLimits,
    ) -> (u64, StopReason) {
        let weights = Weights::new(starts.iter().map(|start| start.weight));
        let mut n_iterations = 0;
        loop {
            if let Some(reason) = limits.stop_after(n_iterations) {
                return (n_iterations, reason);
            }
            let start = &starts[weights.draw(&mut self.rng)];
            if self.iterate(start, n_iterations > 0).is_none() {
                return (n_iterations, StopReason::of_deadline());
            }
            n_iterations += 1;
            if n_iterations % HINT_INTERVAL == 1
                && let Some(best) = self.tree.favorite(root, legal)
            {
                limits.hint.set(best);
            }
        }
    }

    /// Plays from a possible state to an end; `None` if time ran out.
    ///
    /// The first step of the first iteration ignores the clock.
    fn iterate(&mut self, start: &Possible<C::State>, heeds_clock: bool) -> Option<()> {
        // Step 1. Descend while all roles that choose have a node for their knowledge.
        self.taken.clear();
        self.views.clear();
        self.views.extend_from_slice(&start.views);
        self.chosen.clear();
        self.recent.clear();
        if self.habits.is_some() {
            self.recent.resize(self.roles.n, Recent::default());
            self.recent[self.me.index()] = self.own_recent;
        }
        self.cursor.set_state(&start.state);
        let mut depth = 0;
        // A game without any choices left creates no nodes and may go on forever.
        while !self.cursor.is_terminal() && depth < MAX_RANDOM_STEPS as u32 {
            if (heeds_clock || depth > 0) && self.clock.tick() {
                return None;
            }
            let Some(is_known) = self.choose() else { break };
            self.cursor.play(&self.joint);
            for role in self.roles.ids() {
                let view = &mut self.views[role.index()];
                *view = view_after(&self.sight, &*self.cursor, *view, role, &self.joint);
            }
            self.note_step();
            depth += 1;
            // Step 2. Add one new step and play out the rest.
            if !is_known {
                break;
            }
        }
        self.max_depth = self.max_depth.max(depth);
        match self.play_out() {
            End::Time => return None,
            // Nothing was learned, but it counts as an iteration.
            End::GivenUp | End::Cut => return Some(()),
            End::Terminal => {}
        }
        // Step 3. Each role learns from its own goal.
        if self.takes_best {
            for role in self.roles.ids() {
                self.path.clear();
                self.path.extend(self.taken.iter().filter(|taken| taken.role == role));
                self.tree.learn_best(&self.path, self.rewards[role.index()]);
            }
        } else {
            for taken in &self.taken {
                self.tree.learn(taken, self.rewards[taken.role.index()]);
            }
        }
        Some(())
    }

    /// Plays out from the cursor's state, computes the rewards of all roles and learns habits from
    /// them.
    fn play_out(&mut self) -> End {
        self.rewards.clear();
        let end = if self.habits.is_some() {
            self.play_by_habit()
        } else {
            let Self { cursor, roles, rng, clock, desk, .. } = self;
            play_uniform(&mut **cursor, roles.n, rng, clock, desk)
        };
        if end == End::Terminal {
            let reward = |role| f64::from(self.cursor.goal(role).value()) / 100.0;
            self.rewards.extend(self.roles.ids().map(reward));
            for chosen in &self.chosen {
                let reward = self.rewards[chosen.role.index()];
                self.habits.iter_mut().for_each(|habits| habits.learn(chosen, reward));
            }
        }
        end
    }

    /// Plays to the end by habits.
    fn play_by_habit(&mut self) -> End {
        for _ in 0..MAX_RANDOM_STEPS {
            if self.cursor.is_terminal() {
                return if self.cursor.has_fault() { End::GivenUp } else { End::Terminal };
            }
            if self.clock.tick() {
                return End::Time;
            }
            self.joint.clear();
            for role in self.roles.ids() {
                let moves = self.cursor.legal_moves(role);
                let chosen = match (moves, &self.habits) {
                    ([], _) => return End::GivenUp,
                    (&[only], _) => only,
                    (_, Some(habits)) if !self.roles.is_random(role) => {
                        let recent = &self.recent[role.index()];
                        let chosen = habits.choose(role, recent, moves, &mut self.rng);
                        self.chosen.push(chosen);
                        chosen.id()
                    }
                    _ => moves[self.rng.below(moves.len())],
                };
                self.joint.push(chosen);
            }
            self.cursor.play(&self.joint);
            self.note_step();
        }
        End::GivenUp
    }

    /// Notes what roles saw of the step that led to the cursor's state.
    fn note_step(&mut self) {
        for (role, recent) in self.roles.ids().zip(&mut self.recent) {
            if !self.roles.is_random(role) {
                let seen = self.sight.percepts(&*self.cursor, role);
                *recent = recent.after(self.joint[role.index()], seen);
            }
        }
    }

    /// Chooses a joint move. Returns whether all roles that chose had a node; `None` if a role has
    /// no move.
    fn choose(&mut self) -> Option<bool> {
        self.joint.clear();
        let mut is_known = true;
        for role in self.roles.ids() {
            let moves = self.cursor.legal_moves(role);
            let chosen = match moves {
                [] => return None,
                [only] => *only,
                _ if self.roles.is_random(role) => moves[self.rng.below(moves.len())],
                _ => {
                    let (chosen, had_node) = self.choose_in_tree(role);
                    is_known &= had_node;
                    chosen
                }
            };
            self.joint.push(chosen);
        }
        Some(is_known)
    }

    /// Chooses a move of a role by its knowledge. Returns whether there was a node for that;
    /// without room for a node, the move is drawn.
    fn choose_in_tree(&mut self, role: RoleId) -> (MoveId, bool) {
        let moves = self.cursor.legal_moves(role);
        let view = match self.observers {
            Observers::Each => self.views[role.index()],
            Observers::One => self.views[self.me.index()],
        };
        let Some(node) = self.tree.node(tree::key(view, role), self.max_bytes) else {
            return (moves[self.rng.below(moves.len())], false);
        };
        let is_new = self.tree.n_visits(node) == 0;
        self.priors.clear();
        if let Some(habits) = self.habits.as_ref().filter(|_| is_new) {
            habits.values(role, &self.recent[role.index()], moves, &mut self.priors);
        }
        let is_first = self.taken.is_empty() && role == self.me;
        let epsilon = if is_first { ROOT_EPSILON } else { EPSILON };
        let explore = Explore { c: self.c, epsilon };
        let taken = self.tree.select(node, role, moves, &self.priors, explore, &mut self.rng);
        self.taken.push(taken);
        let id = self.tree.id_of(&taken);
        if let Some(habits) = &self.habits {
            self.chosen.push(habits.chosen(role, &self.recent[role.index()], moves, id));
        }
        (id, !is_new)
    }
}

//! One nested search on one thread.

use ludex_base::{Goal, MoveId, Rng, RoleId};
use ludex_game::Cursor;

use super::line::Found;
use super::policy::Policy;
use crate::clock::Clock;

/// A cursor that searches for lines, within a deadline and a number of playouts.
pub struct Explorer<'a, C: Cursor> {
    cursor: C,
    n_roles: usize,
    me: RoleId,
    rng: Rng,
    clock: Clock<'a>,
    max_playouts: u64,
    /// Whether longer lines are better among equal goals; otherwise shorter ones are.
    pub wants_long: bool,
    /// Playouts so far.
    pub n_playouts: u64,
    joint: Vec<MoveId>,
}

/// Longer playouts are cut off.
pub(super) const MAX_STEPS: usize = 1_000;

/// A line with its alternatives.
#[derive(Default)]
struct Played {
    found: Option<Found>,
    /// The legal moves of the searching role, step by step, and where those of each step end.
    choices: Vec<MoveId>,
    ends: Vec<usize>,
}

impl<'a, C: Cursor> Explorer<'a, C> {
    /// Creates an explorer for lines of a role, limited by the deadline and `max_playouts`.
    pub fn new(
        cursor: C,
        n_roles: usize,
        me: RoleId,
        rng: Rng,
        deadline: &'a ludex_base::Deadline,
        max_playouts: u64,
    ) -> Self {
        let (clock, joint) = (Clock::new(deadline), Vec::new());
        let (wants_long, n_playouts) = (true, 0);
        Self { cursor, n_roles, me, rng, clock, max_playouts, wants_long, n_playouts, joint }
    }

    /// Whether to stop.
    fn is_over(&mut self) -> bool {
        self.n_playouts >= self.max_playouts || self.clock.tick()
    }

    /// Returns the rank of a line: its goal, then how long it stays good, then its length.
    pub(super) fn rank(&self, found: &Found) -> (Goal, usize, usize) {
        let length = found.moves.len();
        if self.wants_long {
            (found.goal, found.n_good, length)
        } else {
            (found.goal, 0, usize::MAX - length)
        }
    }

    /// Returns the best line of playouts whose policy adapts to the best of them, `level` times
    /// nested. Each level makes `n_tries` with the level below.
    pub fn adapt_policy(&mut self, from: &C::State, level: usize, n_tries: usize) -> Option<Found> {
        self.adapt_level(&Policy::default(), from, level, n_tries).found
    }

    fn adapt_level(
        &mut self,
        policy: &Policy,
        from: &C::State,
        level: usize,
        n_tries: usize,
    ) -> Played {
        if level == 0 {
            return self.play_out(policy, from);
        }
        let mut policy = policy.clone();
        let mut best = Played::default();
        for _ in 0..n_tries {
            let played = self.adapt_level(&policy, from, level - 1, n_tries);
            if let Some(found) = &played.found {
                let is_better =
                    best.found.as_ref().is_none_or(|best| self.rank(found) >= self.rank(best));
                if is_better {
                    best = played;
                }
            }
            if self.is_over() {
                break;
            }
            match &best.found {
                Some(found) if found.goal == Goal::MAX => break,
                Some(found) => {
                    let mine = found.moves.chunks(self.n_roles).map(|it| it[self.me.index()]);
                    let starts = std::iter::once(0).chain(best.ends.iter().copied());
                    let choices = starts.zip(&best.ends).map(|(start, &end)| start..end);
                    policy.adapt(mine.zip(choices.map(|it| &best.choices[it])));
                }
                None => {}
            }
        }
        best
    }

    /// Returns the best line of a nested search. At each step it tries every move with a search of
    /// the level below, and then plays the next move of the best line so far.
    pub fn nest(&mut self, from: &C::State, level: usize) -> Option<Found> {
        if level == 0 {
            return self.play_out(&Policy::default(), from).found;
        }
        let mut best = None;
        let mut walk = Walk::new(from);
        while let Some(tries) = self.open(&mut walk) {
            for joint in tries.chunks(self.n_roles) {
                let found = self.try_step(&walk, joint, level - 1);
                self.take_better(&mut best, found);
                if self.is_over() {
                    return best;
                }
            }
            if !self.advance(&mut walk, &best) {
                break;
            }
        }
        best
    }

    /// Returns the joint moves to try next: each of ours, with random moves of the others. `None`
    /// if the game is over.
    pub(super) fn open(&mut self, walk: &mut Walk<C::State>) -> Option<Vec<MoveId>> {
        self.cursor.set_state(&walk.state);
        if self.cursor.is_terminal() || walk.n_steps >= MAX_STEPS {
            return None;
        }
        let is_good = self.cursor.goal(self.me) > Goal::MIN;
        walk.n_good += usize::from(is_good && walk.n_good == walk.n_steps);
        let mine = self.cursor.legal_moves(self.me).to_vec();
        let mut tries = Vec::with_capacity(mine.len() * self.n_roles);
        for id in mine {
            for role in (0..self.n_roles).map(RoleId::new) {
                let drawn = if role == self.me {
                    id
                } else {
                    *self.rng.choose(self.cursor.legal_moves(role))?
                };
                tries.push(drawn);
            }
        }
        Some(tries)
    }

    /// Plays a step from the state of a walk, and searches on from there.
    pub(super) fn try_step(
        &mut self,
        walk: &Walk<C::State>,
        joint: &[MoveId],
        level: usize,
    ) -> Option<Found> {
        self.cursor.set_state(&walk.state);
        self.cursor.play(joint);
        let after = self.cursor.state().clone();
        let found = self.nest(&after, level)?;
        let n_steps = walk.n_steps + 1;
        // A state that is no longer good cannot become good again.
        let n_good = if walk.n_good == n_steps { walk.n_good + found.n_good } else { walk.n_good };
        Some(Found { moves: [&walk.played, joint, &found.moves].concat(), n_good, ..found })
    }

    pub(super) fn take_better(&self, best: &mut Option<Found>, found: Option<Found>) {
        let Some(found) = found else { return };
        if best.as_ref().is_none_or(|best| self.rank(&found) > self.rank(best)) {
            *best = Some(found);
        }
    }

    /// Plays the next step of the best line; false if there is no line, or no need to go on.
    pub(super) fn advance(&mut self, walk: &mut Walk<C::State>, best: &Option<Found>) -> bool {
        let Some(best) = best else { return false };
        if best.goal == Goal::MAX {
            return false;
        }
        let joint = &best.moves[walk.played.len()..][..self.n_roles];
        self.cursor.set_state(&walk.state);
        self.cursor.play(joint);
        walk.played.extend_from_slice(joint);
        walk.n_steps += 1;
        walk.state.clone_from(self.cursor.state());
        true
    }

    /// Plays one game by a policy; the other roles play at random.
    fn play_out(&mut self, policy: &Policy, from: &C::State) -> Played {
        let mut played = Played::default();
        let mut found = Found { goal: Goal::MIN, moves: Vec::new(), n_good: 0, is_proven: false };
        let mut is_good = true;
        self.cursor.set_state(from);
        self.n_playouts += 1;
        for _ in 0..MAX_STEPS {
            if self.cursor.is_terminal() {
                found.goal = self.cursor.goal(self.me);
                played.found = (!self.cursor.has_fault()).then_some(found);
                return played;
            }
            if self.clock.tick() {
                return played;
            }
            is_good = is_good && self.cursor.goal(self.me) > Goal::MIN;
            found.n_good += usize::from(is_good);
            self.joint.clear();
            for role in (0..self.n_roles).map(RoleId::new) {
                let legal = self.cursor.legal_moves(role);
                let drawn = if role == self.me {
                    played.choices.extend_from_slice(legal);
                    policy.draw(legal, &mut self.rng)
                } else {
                    self.rng.choose(legal).copied()
                };
                let Some(drawn) = drawn else { return played };
                self.joint.push(drawn);
            }
            played.ends.push(played.choices.len());
            found.moves.extend_from_slice(&self.joint);
            self.cursor.play(&self.joint);
        }
        played
    }
}

/// The position of a nested search on its way.
pub(super) struct Walk<S> {
    pub(super) state: S,
    played: Vec<MoveId>,
    n_steps: usize,
    n_good: usize,
}

impl<S: Clone> Walk<S> {
    pub(super) fn new(from: &S) -> Self {
        Self { state: from.clone(), played: Vec::new(), n_steps: 0, n_good: 0 }
    }
}

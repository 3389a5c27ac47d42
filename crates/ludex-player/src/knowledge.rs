//! What a role knows about the state.
//!
//! With complete information that is the state itself. With `sees` rules it is a sample of the states
//! that agree with the role's own moves and percepts: the true state never enters here. The sample is
//! drawn from the exact [`Belief`] while that is small, and from the sample before when it is not.

use std::time::Duration;

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId};
use ludex_game::{Belief, BeliefError, BeliefLimits, Cursor, Game, Learned, Observe, StateOf};

use crate::seen::Seen;

/// Where a role stands, as far as it knows.
pub(crate) enum Knowledge<G: Game> {
    /// The state is known.
    Open(G::Cursor),
    /// Only what agrees with it is known.
    Hidden(Beliefs<G>),
}

impl<G: Game> Knowledge<G>
where
    G::Cursor: Observe,
{
    pub fn new(game: &G, role: RoleId) -> Self {
        match game.has_percepts() {
            false => Knowledge::Open(game.cursor()),
            true => Knowledge::Hidden(Beliefs::new(game, role)),
        }
    }

    /// Takes in what was seen.
    pub fn follow(&mut self, seen: Seen<'_>, rng: &mut Rng, patience: &Patience) {
        match (self, seen) {
            (_, Seen::Nothing) => {}
            (Knowledge::Open(cursor), Seen::Joint(joint)) => cursor.play(joint),
            (Knowledge::Hidden(beliefs), Seen::Own { own, percepts }) => {
                beliefs.follow(own, percepts, rng, patience);
            }
            (Knowledge::Open(_), Seen::Own { .. }) | (Knowledge::Hidden(_), Seen::Joint(_)) => {
                panic!("a role sees joint moves exactly if there are no percepts")
            }
        }
    }

    /// Up to that many states that are possible; none only if no state that agrees was found.
    pub fn states(&self, max_states: usize) -> Vec<StateOf<G>> {
        match self {
            Knowledge::Open(cursor) => vec![cursor.state().clone()],
            Knowledge::Hidden(beliefs) => beliefs.states.iter().take(max_states).cloned().collect(),
        }
    }

    /// The legal moves. A role of a good GDL-II sheet has the same in all states that it can't tell
    /// apart; where it has not, those of one possible state.
    pub fn legal_moves(&mut self, role: RoleId) -> Vec<MoveId> {
        match self {
            Knowledge::Open(cursor) => cursor.legal_moves(role).to_vec(),
            Knowledge::Hidden(beliefs) => beliefs.legal_moves(),
        }
    }
}

/// How long possible states are looked for.
pub(crate) struct Patience {
    /// Until when more than one is wanted.
    pub for_many: Deadline,
    /// Until when one is wanted that is not found by a few tries.
    pub for_one: Deadline,
}

/// States that agree with what a role did and saw.
pub(crate) struct Beliefs<G: Game> {
    role: RoleId,
    n_roles: usize,
    cursor: G::Cursor,
    initial: StateOf<G>,
    /// What was played and seen, step by step; `None` of a step that the role was not told of.
    steps: Vec<Option<Told>>,
    /// Every possible state, while they are few.
    exact: Option<Belief<StateOf<G>>>,
    /// Possible states, drawn as if the others had played at random.
    states: Vec<StateOf<G>>,
}

/// The own move and the percepts of a step, sorted.
type Told = (MoveId, Vec<PerceptId>);

/// States kept.
const N_STATES: usize = 200;
/// Draws for each state kept before a step is called hard.
const N_TRIES: usize = 10;
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

impl<G: Game> Beliefs<G>
where
    G::Cursor: Observe,
{
    fn new(game: &G, role: RoleId) -> Self {
        let cursor = game.cursor();
        let initial = cursor.state().clone();
        Self {
            role,
            n_roles: game.roles().len(),
            cursor,
            exact: Some(Belief::initial(game, &[role])),
            states: vec![initial.clone()],
            initial,
            steps: Vec::new(),
        }
    }

    /// Moves every possible state on by a step, and drops those that what was seen rules out.
    fn follow(&mut self, own: MoveId, percepts: &[PerceptId], rng: &mut Rng, patience: &Patience) {
        let learned = Learned::going_on(percepts);
        let followed = self.exact.take().map(|belief| {
            // It may try as many joint moves as a sample is drawn from, and leaves it half of the time.
            let left = patience.for_many.remaining();
            let limits = BeliefLimits {
                max_states: N_STATES * N_TRIES,
                max_joint_moves: N_STATES * N_TRIES,
                deadline: left.map_or_else(Deadline::never, |time| Deadline::after(time / 2)),
            };
            belief.follow(&mut self.cursor, &[own], &learned, &limits)
        });
        let told = (own, learned.percepts);
        match followed {
            Some(Ok(belief)) => {
                self.states = belief.draw(N_STATES, rng);
                self.exact = Some(belief);
                self.steps.push(Some(told));
                return;
            }
            // Nothing leads from what was known to this: looking for it would be in vain to the end of
            // the clock. The message of a step was lost; anything may have happened in it.
            Some(Err(BeliefError::Impossible)) => {
                let before = std::mem::take(&mut self.states);
                for _ in 0..N_STATES {
                    let from = rng.choose(&before).expect("what is exact has a state");
                    let next = self.step(from, None, rng);
                    self.states.extend(next);
                }
                self.steps.push(None);
            }
            Some(Err(_)) | None => {}
        }
        self.sample(told, rng, patience);
    }

    /// Moves states of the sample on by a step.
    ///
    /// When too few are left, others are found by replaying the whole game. When none is found, the
    /// states of the step before are forgotten all the same: a wrong state is worse than none.
    fn sample(&mut self, told: Told, rng: &mut Rng, patience: &Patience) {
        let before = std::mem::take(&mut self.states);
        for n_tries in 0..N_STATES * N_TRIES {
            let is_enough = self.states.len() >= N_STATES || before.is_empty();
            if is_enough || self.is_over(patience, n_tries >= MIN_TRIES) {
                break;
            }
            let from = &before[rng.below(before.len())];
            let next = self.step(from, Some(&told), rng);
            self.states.extend(next);
        }
        self.steps.push(Some(told));
        let mut n_replays = 0;
        let mut grace: Option<Deadline> = None;
        while self.states.len() < N_STATES / 10 {
            let is_late = patience.for_one.reached()
                && grace.get_or_insert_with(|| Deadline::after(GRACE)).reached();
            if self.is_over(patience, is_late && n_replays >= MIN_REPLAYS) {
                break;
            }
            n_replays += 1;
            let (per_step, deadline) = match patience.for_one.reached() {
                true => (MIN_REPLAY_STEPS, Deadline::never()),
                false => (N_REPLAY_STEPS, patience.for_one.clone()),
            };
            let mut n_left = per_step * self.steps.len();
            let initial = self.initial.clone();
            match self.replay(&initial, 0, &mut n_left, rng, &deadline) {
                Some(found) => self.states.push(found),
                None if !self.states.is_empty() => break,
                None => {}
            }
        }
    }

    /// Whether no more states are looked for.
    fn is_over(&self, patience: &Patience, has_tried: bool) -> bool {
        match self.states.is_empty() {
            true => has_tried && patience.for_one.reached(),
            false => patience.for_many.reached(),
        }
    }

    /// A random step from a state in which the role plays the move that it was told; `None` if it sees
    /// something else, could not have played it, or the game would have been over.
    fn step(
        &mut self,
        from: &StateOf<G>,
        told: Option<&Told>,
        rng: &mut Rng,
    ) -> Option<StateOf<G>> {
        self.cursor.set_state(from);
        if self.cursor.is_terminal() {
            return None;
        }
        let mut joint = Vec::with_capacity(self.n_roles);
        for role in (0..self.n_roles).map(RoleId::new) {
            let legal = self.cursor.legal_moves(role);
            joint.push(match told {
                Some((own, _)) if role == self.role => *legal.iter().find(|&id| id == own)?,
                _ => *rng.choose(legal)?,
            });
        }
        self.cursor.play(&joint);
        let Some((_, percepts)) = told else { return Some(self.cursor.state().clone()) };
        let mut seen = self.cursor.percepts(self.role).to_vec();
        seen.sort_unstable();
        (seen == *percepts).then(|| self.cursor.state().clone())
    }

    /// Goes through all steps from a state, back and forth, until one way agrees with all of them.
    fn replay(
        &mut self,
        from: &StateOf<G>,
        n_done: usize,
        n_left: &mut usize,
        rng: &mut Rng,
        deadline: &Deadline,
    ) -> Option<StateOf<G>> {
        let Some(told) = self.steps.get(n_done).cloned() else {
            return Some(from.clone());
        };
        for _ in 0..N_BRANCHES {
            *n_left = n_left.checked_sub(1)?;
            if deadline.reached() {
                return None;
            }
            let Some(next) = self.step(from, told.as_ref(), rng) else { continue };
            if let Some(found) = self.replay(&next, n_done + 1, n_left, rng, deadline) {
                return Some(found);
            }
        }
        None
    }

    fn legal_moves(&mut self) -> Vec<MoveId> {
        for state in &self.states {
            self.cursor.set_state(state);
            if !self.cursor.is_terminal() {
                return self.cursor.legal_moves(self.role).to_vec();
            }
        }
        Vec::new()
    }
}

//! Exact beliefs: every state that a hidden state may be, with its probability.
//!
//! A [`Belief`] describes what some roles together, its *party*, know from their own moves and
//! percepts. A party of one is a player in a game with hidden information. The party of all roles
//! turns a game of shared information into a stochastic game that everyone sees: its states are
//! beliefs, and [`Belief::outcomes`] are its transitions.
//!
//! The model assumes that `random` plays each legal move equally likely, as GDL-II says, and that
//! every role outside the party does the same, because nothing is known of it. The probability of a
//! state is that of the moves that lead to it, given the observations.
//!
//! Invariant: a belief is exact. Its states are different, their probabilities sum to 1, and either
//! all of them are terminal or none is, because everyone learns that a match is over. A step that
//! needs more states or joint moves than allowed is a [`BeliefError`], never an incomplete belief.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use ludex_base::{Deadline, MoveId, PerceptId, RoleId};
use num_rational::{BigRational, Ratio};
use num_traits::{One, Zero};

use crate::game::{Cursor, Game, Observe};
use crate::joint::JointMoves;

/// The states that are consistent with the moves and percepts of a party of roles.
#[derive(Clone, Debug)]
pub struct Belief<S> {
    party: Vec<RoleId>,
    n_roles: usize,
    states: Vec<(S, BigRational)>,
}

/// The observation of a party after a step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Learned {
    /// The percepts of its roles, ascending.
    pub percepts: Vec<PerceptId>,
    /// Whether the game is over.
    pub is_over: bool,
}

impl Learned {
    /// Returns the observation of a step after which the game continues; the percepts may be in any
    /// order.
    pub fn going_on(percepts: &[PerceptId]) -> Self {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        Self { percepts, is_over: false }
    }
}

/// One outcome of a step that the party can tell apart from the others.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// The observation of the party.
    pub learned: Learned,
    /// The probability of this observation.
    pub probability: BigRational,
    /// The belief after this observation.
    pub belief: Belief<S>,
}

/// Limits on the work of one step.
#[derive(Clone, Debug)]
pub struct BeliefLimits {
    /// Largest number of states after the step.
    pub max_states: usize,
    /// Largest number of joint moves to play.
    pub max_joint_moves: usize,
    /// When to stop; checked at every state and at every 16th joint move of it.
    pub deadline: Deadline,
}

impl Default for BeliefLimits {
    fn default() -> Self {
        Self { max_states: 20_000, max_joint_moves: 1_000_000, deadline: Deadline::never() }
    }
}

/// Why there is no belief after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BeliefError {
    /// There are more possible states than allowed.
    TooManyStates {
        /// The limit.
        limit: usize,
    },
    /// There are more possible joint moves than allowed.
    TooManyJointMoves {
        /// The limit.
        limit: usize,
    },
    /// The deadline was reached.
    Late,
    /// No state is consistent: a move was illegal, or the percepts were others.
    Impossible,
}

impl fmt::Display for BeliefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeliefError::TooManyStates { limit } => {
                write!(
                    f,
                    "more than {limit} states are possible; raise the limit, or sample states"
                )
            }
            BeliefError::TooManyJointMoves { limit } => {
                write!(
                    f,
                    "more than {limit} joint moves are possible; raise the limit, or sample states"
                )
            }
            BeliefError::Late => write!(
                f,
                "the deadline was reached before all possible states were found; allow more time"
            ),
            BeliefError::Impossible => {
                write!(f, "no state is consistent with the moves played and the percepts")
            }
        }
    }
}

impl std::error::Error for BeliefError {}

impl<S: Clone + Eq + Hash> Belief<S> {
    /// Returns the belief of a party at the beginning: the initial state.
    pub fn initial<G: Game>(game: &G, party: &[RoleId]) -> Self
    where
        G::Cursor: Cursor<State = S>,
    {
        let states = vec![(game.cursor().state().clone(), BigRational::one())];
        Self { party: party.to_vec(), n_roles: game.roles().len(), states }
    }

    /// Returns the belief of a party over these states, with probabilities proportional to their
    /// weights.
    ///
    /// A state may occur more than once. Weights are at most 1, need not sum to 1, and are rounded
    /// to nearby fractions.
    ///
    /// Either all of the states are terminal or none is.
    ///
    /// # Panics
    /// When no state has a weight.
    pub fn of<G: Game>(game: &G, party: &[RoleId], states: impl Iterator<Item = (S, f64)>) -> Self
    where
        G::Cursor: Cursor<State = S>,
    {
        let mut weighted = Weighted::default();
        for (state, weight) in states {
            if let Some(weight) = fraction(weight) {
                weighted.add(&state, &weight);
            }
        }
        let mut states = weighted.states;
        let total: BigRational = states.iter().map(|(_, weight)| weight).sum();
        assert!(!states.is_empty(), "a belief has at least one state");
        states.iter_mut().for_each(|(_, weight)| *weight /= &total);
        Self { party: party.to_vec(), n_roles: game.roles().len(), states }
    }

    /// The roles whose moves and percepts are known.
    pub fn party(&self) -> &[RoleId] {
        &self.party
    }

    /// The possible states with their probabilities, in the order in which they were found.
    pub fn states(&self) -> &[(S, BigRational)] {
        &self.states
    }

    /// Whether the game is over.
    pub fn is_over<C: Cursor<State = S>>(&self, cursor: &mut C) -> bool {
        cursor.set_state(&self.states[0].0);
        cursor.is_terminal()
    }

    /// Returns the moves of a role that are legal in every possible state.
    ///
    /// In a good rulesheet these are the legal moves of a role of the party. Where a role can't
    /// know which moves it has, they are the moves that are certainly legal, perhaps none.
    pub fn legal_moves<C: Cursor<State = S>>(&self, cursor: &mut C, role: RoleId) -> Vec<MoveId> {
        let mut certain: Option<Vec<MoveId>> = None;
        for (state, _) in &self.states {
            cursor.set_state(state);
            let legal = cursor.legal_moves(role);
            match &mut certain {
                Some(certain) if certain == legal => {}
                // A linear search would be slow: a state can have thousands of moves.
                Some(certain) => {
                    let legal: HashSet<MoveId> = legal.iter().copied().collect();
                    certain.retain(|id| legal.contains(id));
                }
                None => certain = Some(legal.to_vec()),
            }
        }
        certain.unwrap_or_default()
    }

    /// Returns the expected goal of a role if the game were over now.
    pub fn expected_goal<C: Cursor<State = S>>(&self, cursor: &mut C, role: RoleId) -> BigRational {
        let mut expected = BigRational::zero();
        for (state, probability) in &self.states {
            cursor.set_state(state);
            let goal = BigRational::from_integer(cursor.goal(role).value().into());
            expected += probability * goal;
        }
        expected
    }

    /// Returns the observations that may follow when the party plays these moves, one for each of
    /// its roles, each with the belief after it; ascending by observation.
    ///
    /// # Errors
    /// When a limit is reached, the game is over, or the moves are legal in no possible state.
    pub fn outcomes<C: Observe<State = S>>(
        &self,
        cursor: &mut C,
        moves: &[MoveId],
        limits: &BeliefLimits,
    ) -> Result<Vec<Outcome<S>>, BeliefError> {
        self.after(cursor, moves, None, limits)
    }

    /// Returns the belief after the party has played these moves and learned this.
    ///
    /// # Errors
    /// When a limit is reached, or no state is consistent.
    pub fn follow<C: Observe<State = S>>(
        &self,
        cursor: &mut C,
        moves: &[MoveId],
        learned: &Learned,
        limits: &BeliefLimits,
    ) -> Result<Self, BeliefError> {
        let outcomes = self.after(cursor, moves, Some(learned), limits)?;
        let only = outcomes.into_iter().next().expect("`after` fails if there is no outcome");
        Ok(only.belief)
    }

    /// Computes all outcomes, or only the one with a given observation.
    fn after<C: Observe<State = S>>(
        &self,
        cursor: &mut C,
        moves: &[MoveId],
        wanted: Option<&Learned>,
        limits: &BeliefLimits,
    ) -> Result<Vec<Outcome<S>>, BeliefError> {
        assert_eq!(moves.len(), self.party.len(), "one move for each role of the party");
        let mut found: HashMap<Learned, Weighted<S>> = HashMap::new();
        let mut total = BigRational::zero();
        let (mut n_tried, mut n_states) = (0, 0);
        for (state, probability) in &self.states {
            cursor.set_state(state);
            if cursor.is_terminal() {
                continue;
            }
            let mut joints = JointMoves::of(cursor, self.n_roles);
            for (&role, &chosen) in self.party.iter().zip(moves) {
                joints.keep_only(role, chosen);
            }
            let n_joints = joints.sizes().fold(1, usize::saturating_mul);
            if n_joints == 0 {
                continue;
            }
            n_tried = n_joints.saturating_add(n_tried);
            if n_tried > limits.max_joint_moves {
                return Err(BeliefError::TooManyJointMoves { limit: limits.max_joint_moves });
            }
            total += probability;
            let share = probability / BigRational::from_integer(n_joints.into());
            let mut n_played = 0;
            while let Some(joint) = joints.next_joint() {
                n_played += 1;
                if n_played % 16 == 1 && limits.deadline.reached() {
                    return Err(BeliefError::Late);
                }
                cursor.set_state(state);
                cursor.play(joint);
                let learned = self.learned(cursor);
                if wanted.is_some_and(|wanted| learned != *wanted) {
                    continue;
                }
                let is_new = found.entry(learned).or_default().add(cursor.state(), &share);
                n_states += usize::from(is_new);
                if n_states > limits.max_states {
                    return Err(BeliefError::TooManyStates { limit: limits.max_states });
                }
            }
        }
        let mut outcomes: Vec<Outcome<S>> = (found.into_iter())
            .map(|(learned, weighted)| self.outcome(learned, weighted, &total))
            .collect();
        outcomes.sort_by(|a, b| a.learned.cmp(&b.learned));
        if outcomes.is_empty() { Err(BeliefError::Impossible) } else { Ok(outcomes) }
    }

    /// Returns the observation of the step that led to the cursor's state.
    fn learned<C: Observe<State = S>>(&self, cursor: &mut C) -> Learned {
        let seen = self.party.iter().flat_map(|&role| cursor.percepts(role).to_vec());
        let mut percepts: Vec<PerceptId> = seen.collect();
        percepts.sort_unstable();
        Learned { percepts, is_over: cursor.is_terminal() }
    }

    fn outcome(&self, learned: Learned, weighted: Weighted<S>, total: &BigRational) -> Outcome<S> {
        let mut states = weighted.states;
        let mass: BigRational = states.iter().map(|(_, weight)| weight).sum();
        states.iter_mut().for_each(|(_, weight)| *weight /= &mass);
        let belief = Self { party: self.party.clone(), n_roles: self.n_roles, states };
        Outcome { learned, probability: mass / total, belief }
    }
}

/// Converts a weight to a fraction; `None` for an invalid weight.
///
/// The result is the exact fraction if its denominator is small, or else the nearest one with a
/// fixed denominator shared by all others: sums of fractions with unrelated denominators would be
/// long.
fn fraction(weight: f64) -> Option<BigRational> {
    const MAX_OWN_DENOMINATOR: i64 = 10_000;
    const SHARED_DENOMINATOR: i64 = 1 << 40;
    if !(weight > 0.0 && weight <= 1.0) {
        return None;
    }
    let near =
        Ratio::<i64>::approximate_float(weight).filter(|near| *near.denom() <= MAX_OWN_DENOMINATOR);
    let of_shared =
        || Ratio::new(((weight * SHARED_DENOMINATOR as f64) as i64).max(1), SHARED_DENOMINATOR);
    let (numer, denom) = near.filter(|it| !it.is_zero()).unwrap_or_else(of_shared).into_raw();
    Some(BigRational::new(numer.into(), denom.into()))
}

/// States with summed weights.
struct Weighted<S> {
    states: Vec<(S, BigRational)>,
    indices: HashMap<S, usize>,
}

impl<S> Default for Weighted<S> {
    fn default() -> Self {
        Self { states: Vec::new(), indices: HashMap::new() }
    }
}

impl<S: Clone + Eq + Hash> Weighted<S> {
    /// Adds a weight to a state and returns whether the state is new.
    fn add(&mut self, state: &S, weight: &BigRational) -> bool {
        if let Some(&idx) = self.indices.get(state) {
            self.states[idx].1 += weight;
            return false;
        }
        self.indices.insert(state.clone(), self.states.len());
        self.states.push((state.clone(), weight.clone()));
        true
    }
}

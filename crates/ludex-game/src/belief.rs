//! What can be known of a state that nobody shows: every state it may be, with its probability.
//!
//! A [`Belief`] is what some roles together, its *party*, know from their own moves and percepts.
//! A party of one is a player of a game with hidden information. In a game of shared information
//! the party of all roles is a stochastic game that everyone sees: its states are beliefs, and
//! [`Belief::outcomes`] are its transitions.
//!
//! The model of what is not known: `random` plays each legal move equally likely, as GDL-II says,
//! and so does every role outside the party, of which nothing is known. A state is as likely as
//! the moves that lead to it, given what was learned.
//!
//! Invariant: a belief is exact. Its states are different, their probabilities sum to 1, and
//! either all of them are terminal or none is, as the end of a match is told to everyone. What
//! would need more states or steps than allowed is a [`BeliefError`] and never a part of them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use ludex_base::{Deadline, MoveId, PerceptId, RoleId};
use num_rational::{BigRational, Ratio};
use num_traits::{One, Zero};

use crate::game::{Cursor, Game, Observe};
use crate::joint::JointMoves;

/// The states that agree with what a party of roles did and saw.
#[derive(Clone, Debug)]
pub struct Belief<S> {
    party: Vec<RoleId>,
    n_roles: usize,
    states: Vec<(S, BigRational)>,
}

/// What a party learns of a step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Learned {
    /// What its roles see, ascending.
    pub percepts: Vec<PerceptId>,
    /// Whether the game is over.
    pub is_over: bool,
}

impl Learned {
    /// What is learned of a step after which the game goes on; the percepts in any order.
    pub fn going_on(percepts: &[PerceptId]) -> Self {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        Self { percepts, is_over: false }
    }
}

/// One of the ways in which a step may go on, as far as a party can tell them apart.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// What the party learns.
    pub learned: Learned,
    /// How likely that is.
    pub probability: BigRational,
    /// What it knows then.
    pub belief: Belief<S>,
}

/// How much work a step may be.
#[derive(Clone, Debug)]
pub struct BeliefLimits {
    /// States after the step.
    pub max_states: usize,
    /// Joint moves that are played.
    pub max_joint_moves: usize,
    /// When to stop; asked for every state, and for every 16 joint moves of it.
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
    /// More states are possible than may be kept.
    TooManyStates {
        /// The limit.
        limit: usize,
    },
    /// More joint moves are possible than may be tried.
    TooManyJointMoves {
        /// The limit.
        limit: usize,
    },
    /// The deadline came first.
    Late,
    /// No state agrees: what was played was not legal, or was not seen so.
    Impossible,
}

impl fmt::Display for BeliefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeliefError::TooManyStates { limit } => {
                write!(f, "more than {limit} states are possible: allow more, or sample")
            }
            BeliefError::TooManyJointMoves { limit } => {
                write!(f, "more than {limit} joint moves are possible: allow more, or sample")
            }
            BeliefError::Late => write!(f, "the possible states were not found in time"),
            BeliefError::Impossible => {
                write!(f, "no state agrees with what was played and learned")
            }
        }
    }
}

impl std::error::Error for BeliefError {}

impl<S: Clone + Eq + Hash> Belief<S> {
    /// What a party knows at the beginning: the initial state.
    pub fn initial<G: Game>(game: &G, party: &[RoleId]) -> Self
    where
        G::Cursor: Cursor<State = S>,
    {
        let states = vec![(game.cursor().state().clone(), BigRational::one())];
        Self { party: party.to_vec(), n_roles: game.roles().len(), states }
    }

    /// What a party knows that thinks these states possible, each as likely as its weight; a state may
    /// come more than once. Weights are at most 1 and need not sum to 1, and are taken for near fractions.
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
        assert!(!states.is_empty(), "a belief has a state");
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

    /// The moves of a role that are legal in every possible state. In a good rulesheet these are
    /// the legal moves of a role of the party; where a role can't know which moves it has, they are
    /// those that it can be sure of, perhaps none.
    pub fn legal_moves<C: Cursor<State = S>>(&self, cursor: &mut C, role: RoleId) -> Vec<MoveId> {
        let mut sure: Option<Vec<MoveId>> = None;
        for (state, _) in &self.states {
            cursor.set_state(state);
            let legal = cursor.legal_moves(role);
            match &mut sure {
                Some(sure) if sure == legal => {}
                // A state can have thousands of moves.
                Some(sure) => {
                    let legal: HashSet<MoveId> = legal.iter().copied().collect();
                    sure.retain(|id| legal.contains(id));
                }
                None => sure = Some(legal.to_vec()),
            }
        }
        sure.unwrap_or_default()
    }

    /// The goal that a role expects if the game were over now.
    pub fn expected_goal<C: Cursor<State = S>>(&self, cursor: &mut C, role: RoleId) -> BigRational {
        let mut expected = BigRational::zero();
        for (state, probability) in &self.states {
            cursor.set_state(state);
            let goal = BigRational::from_integer(cursor.goal(role).value().into());
            expected += probability * goal;
        }
        expected
    }

    /// What the party may learn when it plays these moves, one for each of its roles, and what it
    /// knows then; ascending by what is learned.
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

    /// What the party knows after it has played these moves and learned this.
    ///
    /// # Errors
    /// When a limit is reached, or no state agrees.
    pub fn follow<C: Observe<State = S>>(
        &self,
        cursor: &mut C,
        moves: &[MoveId],
        learned: &Learned,
        limits: &BeliefLimits,
    ) -> Result<Self, BeliefError> {
        let outcomes = self.after(cursor, moves, Some(learned), limits)?;
        let only = outcomes.into_iter().next().expect("without an outcome there is an error");
        Ok(only.belief)
    }

    /// The outcomes, or the one in which something is learned.
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

    /// What the party learns of the step that led to where the cursor stands.
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

/// The fraction that a weight is, if that has a small denominator, or else the nearest with a
/// denominator that all others share: sums of fractions without one would be long. `None` for what is
/// no weight.
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

/// States with weights that are summed.
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
    /// Adds a weight to a state; whether the state is new.
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

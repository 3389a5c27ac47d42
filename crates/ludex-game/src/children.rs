//! The successors of many states at once.
//!
//! Enumerating a game asks each state the same questions: is it terminal, what is it worth, which moves are
//! legal, and where do they lead? An [`Expander`] answers them for a batch of states. Whether it goes from state
//! to state ([`OneByOneExpander`], for any cursor) or evaluates the whole batch side by side makes no difference
//! to the answers.

use ludex_base::{Deadline, Goal, MoveId, RoleId, StopReason};

use crate::game::Cursor;
use crate::joint::{JointMoves, count_joint_moves};

/// Joint moves between two checks of the deadline.
const CHECK_INTERVAL: usize = 64;

/// A batch is cut after this many successors; its first state is always expanded whole.
pub const MAX_CHILDREN: usize = 1 << 16;

/// States with more joint moves than this are not expanded.
pub const MAX_JOINT_MOVES: u64 = 1_000_000;

/// Finds the successors of states. Each thread has its own.
///
/// # Examples
///
/// ```
/// use ludex_base::{Deadline, Limits, Source};
/// use ludex_game::{Children, Cursor, Expanded, Game};
/// use ludex_reasoner::Reasoner;
///
/// let rules = "(role me) (init (n 0)) (<= (legal me (add ?d)) (d ?d)) (d 1) (d 2)
///     (<= (next (n ?d)) (does me (add ?d))) (<= terminal (true (n 2)))
///     (<= (goal me 100) (true (n 2))) (<= (goal me 0) (not (true (n 2))))";
/// let program = ludex_gdl::check_source(&Source::new("add", rules)).program.unwrap();
/// let game = Reasoner::new(&program, &Limits::usual()).unwrap();
///
/// let mut children = Children::new(1);
/// let mut expander = game.expander();
/// let first = [game.cursor().state().clone()];
/// expander.expand(&first, &Deadline::never(), &mut children).unwrap();
/// let Expanded::Inner(successors) = children.of(0) else { unreachable!() };
/// assert_eq!(successors.len(), 2);
///
/// let second = successors.to_vec();
/// expander.expand(&second, &Deadline::never(), &mut children).unwrap();
/// assert!(matches!(children.of(0), Expanded::Inner(_)));
/// assert!(matches!(children.of(1), Expanded::Terminal(goals) if goals[0].value() == 100));
/// ```
pub trait Expander: Send {
    /// The states that it expands.
    type State;

    /// Returns how many states it likes to be given at once.
    fn n_at_once(&self) -> usize;

    /// Expands the first of some states, as many as fit into a batch and at least one, and writes what it found
    /// over `children`.
    ///
    /// # Errors
    /// When the deadline is reached, when the rules cannot be evaluated, or when the first state has more than
    /// [`MAX_JOINT_MOVES`]. What `children` holds then is of no use.
    fn expand(
        &mut self,
        states: &[Self::State],
        deadline: &Deadline,
        children: &mut Children<Self::State>,
    ) -> Result<(), StopReason>;
}

/// What an expander found about a batch of states. Its memory is used again by the next batch.
#[derive(Clone, Debug)]
pub struct Children<S> {
    n_roles: usize,
    parents: Vec<Parent>,
    /// The legal moves of each parent that is not terminal, role by role.
    legal: Vec<MoveId>,
    /// By parent and role, the end of the role's moves in `legal`.
    legal_ends: Vec<usize>,
    /// By terminal parent and role.
    goals: Vec<Goal>,
    /// The successors; those from `n_states` on are of an earlier batch.
    states: Vec<S>,
    n_states: usize,
}

#[derive(Clone, Copy, Debug)]
enum Parent {
    /// The place of its goals.
    Terminal(usize),
    /// The places of its successors.
    Inner(usize, usize),
}

/// What was found about a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expanded<'a, S> {
    /// The game is over, with these goals of the roles.
    Terminal(&'a [Goal]),
    /// The successors, in the order of [`JointMoves`]; none if a role has no legal move.
    Inner(&'a [S]),
}

impl<S> Children<S> {
    /// Makes room for the results of a game with so many roles.
    pub fn new(n_roles: usize) -> Self {
        Self {
            n_roles,
            parents: Vec::new(),
            legal: Vec::new(),
            legal_ends: Vec::new(),
            goals: Vec::new(),
            states: Vec::new(),
            n_states: 0,
        }
    }

    /// Returns how many states were expanded.
    pub fn n_parents(&self) -> usize {
        self.parents.len()
    }

    /// Returns how many successors they have together.
    pub fn n_children(&self) -> usize {
        self.n_states
    }

    /// Returns what was found about a state of the batch.
    pub fn of(&self, parent: usize) -> Expanded<'_, S> {
        match self.parents[parent] {
            Parent::Terminal(first) => Expanded::Terminal(&self.goals[first..][..self.n_roles]),
            Parent::Inner(first, end) => Expanded::Inner(&self.states[first..end]),
        }
    }

    /// Returns the legal moves of a role in a state of the batch; none if it is terminal.
    pub fn legal_moves(&self, parent: usize, role: RoleId) -> &[MoveId] {
        let place = parent * self.n_roles + role.index();
        let first = place.checked_sub(1).map_or(0, |before| self.legal_ends[before]);
        &self.legal[first..self.legal_ends[place]]
    }

    /// Forgets the batch before, and keeps its memory.
    pub fn clear(&mut self) {
        self.parents.clear();
        self.legal.clear();
        self.legal_ends.clear();
        self.goals.clear();
        self.n_states = 0;
    }

    /// Adds a state that is terminal.
    pub fn push_terminal(&mut self, goals: impl IntoIterator<Item = Goal>) {
        self.parents.push(Parent::Terminal(self.goals.len()));
        self.goals.extend(goals);
        self.legal_ends.extend(std::iter::repeat_n(self.legal.len(), self.n_roles));
        debug_assert_eq!(self.goals.len() % self.n_roles.max(1), 0, "one goal for each role");
    }

    /// Adds legal moves of the next role of a state that is not terminal; call it for each role, then
    /// [`push_inner`](Self::push_inner).
    pub fn push_legal(&mut self, moves: impl IntoIterator<Item = MoveId>) {
        self.legal.extend(moves);
        self.legal_ends.push(self.legal.len());
    }

    /// Adds a state that is not terminal and has so many successors; [`states_mut`](Self::states_mut) is where
    /// they are written.
    pub fn push_inner(&mut self, n_successors: usize) {
        let first = self.n_states;
        self.n_states += n_successors;
        self.parents.push(Parent::Inner(first, self.n_states));
        debug_assert_eq!(self.legal_ends.len(), self.parents.len() * self.n_roles);
    }

    /// Returns all successors, to be written. Where the batch is larger than those before it, `blank` makes
    /// them first.
    pub fn states_mut(&mut self, blank: impl FnMut() -> S) -> &mut [S] {
        if self.states.len() < self.n_states {
            self.states.resize_with(self.n_states, blank);
        }
        &mut self.states[..self.n_states]
    }
}

/// Expands states one after the other on a cursor; works for any game.
#[derive(Clone, Debug)]
pub struct OneByOneExpander<C> {
    cursor: C,
    n_roles: usize,
}

impl<C: Cursor> OneByOneExpander<C> {
    /// Creates an expander on a cursor of a game with so many roles.
    pub fn new(cursor: C, n_roles: usize) -> Self {
        Self { cursor, n_roles }
    }

    /// Expands a state; returns false if the batch has no room for it.
    fn expand_state(
        &mut self,
        state: &C::State,
        deadline: &Deadline,
        children: &mut Children<C::State>,
    ) -> Result<bool, StopReason> {
        let Self { cursor, n_roles } = self;
        let roles = (0..*n_roles).map(RoleId::new);
        cursor.set_state(state);
        if cursor.is_terminal() {
            children.push_terminal(roles.map(|role| cursor.goal(role)));
            return fault_or(cursor, true);
        }
        let n_joints = match count_joint_moves(cursor, *n_roles) {
            Some(n_joints) if n_joints <= MAX_JOINT_MOVES => n_joints as usize,
            _ if children.n_parents() > 0 => return Ok(false),
            _ => return Err(StopReason::Count),
        };
        let first = children.n_states;
        if first > 0 && first + n_joints > MAX_CHILDREN {
            return Ok(false);
        }
        for role in roles {
            children.push_legal(cursor.legal_moves(role).iter().copied());
        }
        let mut joints = JointMoves::of(cursor, *n_roles);
        children.push_inner(n_joints);
        let successors = &mut children.states_mut(|| state.clone())[first..];
        for (idx, successor) in successors.iter_mut().enumerate() {
            if idx > 0 {
                cursor.set_state(state);
            }
            if idx.is_multiple_of(CHECK_INTERVAL)
                && let Some(stopped) = deadline.stop_reason()
            {
                return Err(stopped);
            }
            cursor.play(joints.next_joint().expect("the joint moves were counted"));
            successor.clone_from(cursor.state());
        }
        fault_or(cursor, true)
    }
}

fn fault_or<C: Cursor>(cursor: &C, value: bool) -> Result<bool, StopReason> {
    if cursor.has_fault() { Err(StopReason::Fault) } else { Ok(value) }
}

impl<C: Cursor> Expander for OneByOneExpander<C> {
    type State = C::State;

    fn n_at_once(&self) -> usize {
        1
    }

    fn expand(
        &mut self,
        states: &[C::State],
        deadline: &Deadline,
        children: &mut Children<C::State>,
    ) -> Result<(), StopReason> {
        children.clear();
        for state in states {
            if !self.expand_state(state, deadline, children)? {
                break;
            }
        }
        Ok(())
    }
}

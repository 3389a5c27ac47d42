//! The traits [`Game`] and [`Cursor`], and the optional abilities beside them.

use std::fmt;
use std::hash::Hash;

use crate::children::{Expander, OneByOneExpander};
use ludex_base::{BitSet, Goal, MoveId, PerceptId, Rng, RoleId};

/// One seat of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// Its name in the rulesheet.
    pub name: String,
    /// Whether it is the role `random`, whose legal moves are equally likely.
    pub is_random: bool,
}

/// The rules of one game, ready to play. Shared by every thread, never changed.
///
/// # Examples
///
/// A puzzle: count to exactly three in steps of one or two.
///
/// ```
/// use ludex_base::{Deadline, Goal, MoveId, RoleId};
/// use ludex_game::{Cursor, Game, Role, perft};
///
/// struct Count {
///     roles: [Role; 1],
/// }
///
/// impl Game for Count {
///     type Cursor = Counter;
///
///     fn roles(&self) -> &[Role] {
///         &self.roles
///     }
///
///     fn cursor(&self) -> Counter {
///         Counter { sum: 0, steps: [1, 2].map(MoveId::new), goals: [Goal::MIN] }
///     }
///
///     fn has_percepts(&self) -> bool {
///         false
///     }
/// }
///
/// #[derive(Clone)]
/// struct Counter {
///     sum: usize,
///     steps: [MoveId; 2],
///     goals: [Goal; 1],
/// }
///
/// impl Cursor for Counter {
///     type State = usize;
///
///     fn state(&self) -> &usize {
///         &self.sum
///     }
///
///     fn set_state(&mut self, state: &usize) {
///         self.sum = *state;
///     }
///
///     fn play(&mut self, joint: &[MoveId]) {
///         self.sum += joint[0].index();
///     }
///
///     fn is_terminal(&mut self) -> bool {
///         self.sum >= 3
///     }
///
///     fn legal_moves(&mut self, _role: RoleId) -> &[MoveId] {
///         &self.steps
///     }
///
///     fn goals(&mut self, _role: RoleId) -> &[Goal] {
///         self.goals = [if self.sum == 3 { Goal::MAX } else { Goal::MIN }];
///         &self.goals
///     }
/// }
///
/// let game = Count { roles: [Role { name: "counter".into(), is_random: false }] };
/// // Two moves, then two after each of them; only after two ones is there a third.
/// assert_eq!(perft(&game, 3, &Deadline::never()).nodes, [2, 4, 2]);
/// ```
pub trait Game: Send + Sync {
    /// The cursor type of this game.
    type Cursor: Cursor;

    /// The roles, in the order of the rulesheet; a [`RoleId`] is a position here.
    fn roles(&self) -> &[Role];

    /// Returns a cursor on the initial state.
    fn cursor(&self) -> Self::Cursor;

    /// Whether roles see only their own moves and percepts (GDL-II with a `sees` rule).
    fn has_percepts(&self) -> bool;

    /// Returns, for each fluent by number, the families it belongs to.
    ///
    /// A family is a group of similar fluents, such as all of one name, or those of one name that
    /// agree in an argument. Searches use families to generalise from states. The default is empty,
    /// for engines that do not number fluents.
    fn families(&self) -> Vec<Vec<u32>> {
        Vec::new()
    }

    /// Returns an expander of states for one thread.
    ///
    /// The default goes from state to state on a cursor. Override it in an engine that evaluates many states at
    /// once; the answers must be the same.
    fn expander(&self) -> Box<dyn Expander<State = StateOf<Self>> + '_> {
        Box::new(OneByOneExpander::new(self.cursor(), self.roles().len()))
    }

    /// The ids of the roles, in order.
    fn role_ids(&self) -> impl Iterator<Item = RoleId> + use<Self> {
        (0..self.roles().len()).map(RoleId::new)
    }
}

/// The state type of a game's cursors.
pub type StateOf<G> = <<G as Game>::Cursor as Cursor>::State;

/// A position on one state that answers questions about it. Each thread has its own.
///
/// Answers are computed on demand, hence `&mut self`; asking twice costs little. A cursor keeps its
/// working memory, so a playout allocates nothing after the first few steps.
///
/// # Examples
///
/// ```
/// use ludex_base::{Goal, Limits, RoleId, Source};
/// use ludex_game::{Cursor, Describe, Game};
/// use ludex_reasoner::Reasoner;
///
/// let rules = "(role runner) (init (at 0)) (succ 0 1) (succ 1 2) (legal runner go)
///     (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
///     (<= terminal (true (at 2))) (<= (goal runner 100) (true (at 2)))";
/// let program = ludex_gdl::check_source(&Source::new("race", rules)).program.unwrap();
/// let game = Reasoner::new(&program, &Limits::usual())?;
///
/// let mut cursor = game.cursor();
/// let start = cursor.state().clone();
/// while !cursor.is_terminal() {
///     let joint: Vec<_> = game.role_ids().map(|role| cursor.legal_moves(role)[0]).collect();
///     cursor.play(&joint);
/// }
/// assert_eq!(game.state_texts(cursor.state()), ["(at 2)"]);
/// assert_eq!(cursor.goal(RoleId::new(0)), Goal::MAX);
///
/// // A cursor goes back to any state it has met.
/// cursor.set_state(&start);
/// assert_eq!(game.state_texts(cursor.state()), ["(at 0)"]);
/// # Ok::<(), ludex_reasoner::ReasonerError>(())
/// ```
pub trait Cursor: Clone + Send {
    /// A state as trees and tables store it: a small plain value without working memory.
    type State: Clone + Eq + Hash + Send + Sync + fmt::Debug;

    /// Returns the current state.
    fn state(&self) -> &Self::State;

    /// Moves to a state of the same game that some cursor has reached before.
    fn set_state(&mut self, state: &Self::State);

    /// Plays one move per role, in role order, and moves to the successor.
    ///
    /// The moves must be legal; use [`play_checked`] if they may not be.
    fn play(&mut self, joint: &[MoveId]);

    /// Whether the game is over.
    fn is_terminal(&mut self) -> bool;

    /// Returns the legal moves of a role, each once, in an order that depends on the state alone.
    /// Only a broken rulesheet leaves the list empty in a nonterminal state.
    ///
    /// In a terminal state, returns what the rules derive there.
    fn legal_moves(&mut self, role: RoleId) -> &[MoveId];

    /// Draws one of the [`legal_moves`](Self::legal_moves), each equally likely; `None` if there
    /// are none.
    ///
    /// The default draws from the list. Override it in an engine that need not build the list; it
    /// must draw the same move from the same generator.
    fn draw_move(&mut self, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        rng.choose(self.legal_moves(role)).copied()
    }

    /// Returns every goal value that the rules derive for a role, ascending; in a terminal state of
    /// a good rulesheet there is exactly one.
    fn goals(&mut self, role: RoleId) -> &[Goal];

    /// Returns whether the rules could not be evaluated here, so that the answers mean nothing.
    ///
    /// The default is `false`. Override it in an engine with limits; callers that report results
    /// check it.
    fn has_fault(&self) -> bool {
        false
    }

    /// Returns how many fluents are true both here and in another state.
    ///
    /// Heuristics use this. The default is `None`: the engine can't tell.
    fn n_common_fluents(&self, _other: &Self::State) -> Option<usize> {
        None
    }

    /// Returns the fluents that are true here, by number. The default is `None`: the engine does
    /// not number them.
    fn fluents(&self) -> Option<&BitSet> {
        None
    }

    /// Plays on without folding states until the next [`set_state`](Self::set_state): a playout does
    /// not come back to symmetric states, and must draw from all moves.
    ///
    /// The default does nothing, for an engine that does not fold.
    fn stop_folding(&mut self) {}

    /// Returns the goal of a role: the largest derivable value, or 0 if there is none.
    fn goal(&mut self, role: RoleId) -> Goal {
        self.goals(role).last().copied().unwrap_or(Goal::MIN)
    }
}

/// A cursor that reports the percepts of roles.
pub trait Observe: Cursor {
    /// Returns what a role saw of the last joint move: each percept once, in an order that depends
    /// on the transition alone. Empty after [`Cursor::set_state`] and at the beginning.
    fn percepts(&self, role: RoleId) -> &[PerceptId];
}

/// A game whose moves, fluents and percepts have names.
pub trait Describe: Game {
    /// A move as the rulesheet writes it: `(mark 1 1)`.
    fn move_text(&self, id: MoveId) -> String;

    /// The true fluents of a state as the rulesheet writes them, sorted by bytes.
    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String>;

    /// A percept as the rulesheet writes it.
    fn percept_text(&self, id: PerceptId) -> String;

    /// Returns the move of a role with this text, whether or not it is ever legal; `None` if the
    /// game has no such move.
    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId>;

    /// Returns the percept of a role with this text; `None` if the role can never see it.
    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId>;
}

/// A move that is not legal in the current state. The cursor does not move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalMove {
    /// The role of the move.
    pub role: RoleId,
    /// The move; `None` when the joint move has no move for the role.
    pub chosen: Option<MoveId>,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chosen {
            Some(chosen) => write!(f, "{chosen:?} is not legal for {:?}", self.role),
            None => write!(f, "the joint move has no move for {:?}", self.role),
        }
    }
}

impl std::error::Error for IllegalMove {}

/// Plays a joint move that may be illegal.
///
/// # Errors
/// When a role's move is missing or illegal; the cursor then does not move.
pub fn play_checked<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    joint: &[MoveId],
) -> Result<(), IllegalMove> {
    for role in (0..n_roles).map(RoleId::new) {
        let chosen = joint.get(role.index()).copied();
        if !chosen.is_some_and(|chosen| cursor.legal_moves(role).contains(&chosen)) {
            return Err(IllegalMove { role, chosen });
        }
    }
    cursor.play(&joint[..n_roles]);
    Ok(())
}

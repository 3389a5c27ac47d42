//! The traits [`Game`] and [`Cursor`], and the abilities beside them.

use std::fmt;
use std::hash::Hash;

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
    /// What stands on a state of this game.
    type Cursor: Cursor;

    /// The roles, in the order of the rulesheet; a [`RoleId`] is a position here.
    fn roles(&self) -> &[Role];

    /// A cursor that stands on the initial state.
    fn cursor(&self) -> Self::Cursor;

    /// Whether roles see only their own moves and percepts (GDL-II with a `sees` rule).
    fn has_percepts(&self) -> bool;

    /// By the number of a fluent, the families it belongs to: fluents that stand for something alike,
    /// such as all of one name, or those of a name that agree in an argument. Empty, which is the
    /// default, if the engine does not number fluents. What is learned of states asks this.
    fn families(&self) -> Vec<Vec<u32>> {
        Vec::new()
    }

    /// The ids of the roles, in order.
    fn role_ids(&self) -> impl Iterator<Item = RoleId> + use<Self> {
        (0..self.roles().len()).map(RoleId::new)
    }
}

/// The states of a game's cursors.
pub type StateOf<G> = <<G as Game>::Cursor as Cursor>::State;

/// Stands on one state and answers questions about it. One per thread.
///
/// The answers are worked out when they are asked for, hence `&mut self`; asking twice costs
/// little. Working memory is kept, so that a playout allocates nothing once it is warm.
///
/// # Examples
///
/// ```
/// use ludex_base::{Goal, RoleId, Source};
/// use ludex_game::{Cursor, Describe, Game};
/// use ludex_reasoner::{Reasoner, ReasonerLimits};
///
/// let rules = "(role runner) (init (at 0)) (succ 0 1) (succ 1 2) (legal runner go)
///     (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
///     (<= terminal (true (at 2))) (<= (goal runner 100) (true (at 2)))";
/// let program = ludex_gdl::check_source(&Source::new("race", rules)).program.unwrap();
/// let game = Reasoner::new(&program, &ReasonerLimits::default())?;
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
    /// A state as trees and tables keep it: a plain value, small, without working memory.
    type State: Clone + Eq + Hash + Send + Sync + fmt::Debug;

    /// The state the cursor stands on.
    fn state(&self) -> &Self::State;

    /// Goes to a state of the same game, which some cursor stood on before.
    fn set_state(&mut self, state: &Self::State);

    /// Plays one move per role, in role order, and stands on the successor.
    ///
    /// The caller knows them to be legal; see [`play_checked`] when it does not.
    fn play(&mut self, joint: &[MoveId]);

    /// Whether the game is over.
    fn is_terminal(&mut self) -> bool;

    /// The moves that a role may choose from, each once, in an order that depends on the
    /// state alone. Empty before the end only if the rulesheet is broken.
    ///
    /// On a terminal state, what the rules derive there.
    fn legal_moves(&mut self, role: RoleId) -> &[MoveId];

    /// One of the moves of [`legal_moves`](Self::legal_moves), each equally likely; `None` if there
    /// are none. The default draws from the list; an engine that need not make the list for it says
    /// so here, and draws the same move from the same generator.
    fn draw_move(&mut self, role: RoleId, rng: &mut Rng) -> Option<MoveId> {
        rng.choose(self.legal_moves(role)).copied()
    }

    /// Every goal value the rules derive for a role, ascending; on a terminal state of a good
    /// rulesheet that is one.
    fn goals(&mut self, role: RoleId) -> &[Goal];

    /// Whether the rules could not be evaluated here, so that the answers mean nothing. The default is
    /// that this can't happen; an engine that works within limits says so here, and whoever reports
    /// results asks.
    fn has_fault(&self) -> bool {
        false
    }

    /// How many fluents hold here and in another state too; `None` if the engine can't tell, which
    /// is the default. Heuristics ask this.
    fn n_common_fluents(&self, _other: &Self::State) -> Option<usize> {
        None
    }

    /// The fluents that hold here, by number; `None` if the engine does not number them, which is the
    /// default.
    fn fluents(&self) -> Option<&BitSet> {
        None
    }

    /// The goal of a role: the largest derivable value, 0 if there is none.
    fn goal(&mut self, role: RoleId) -> Goal {
        self.goals(role).last().copied().unwrap_or(Goal::MIN)
    }
}

/// A cursor that knows what roles see.
pub trait Observe: Cursor {
    /// What a role saw when the last joint move was played: each percept once, in an order that
    /// depends on the transition alone. Nothing after [`Cursor::set_state`] and at the beginning.
    fn percepts(&self, role: RoleId) -> &[PerceptId];
}

/// A game whose moves, fluents and percepts have names.
pub trait Describe: Game {
    /// A move as the rulesheet writes it: `(mark 1 1)`.
    fn move_text(&self, id: MoveId) -> String;

    /// The fluents that hold in a state, as the rulesheet writes them, sorted by bytes.
    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String>;

    /// A percept as the rulesheet writes it.
    fn percept_text(&self, id: PerceptId) -> String;

    /// The move of a role with this text, legal anywhere or not; `None` when the game has none.
    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId>;

    /// The percept of a role with this text; `None` when the role can never see it.
    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId>;
}

/// A move that may not be played here. The cursor stays where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalMove {
    /// Whose move it is.
    pub role: RoleId,
    /// The move; `None` when the joint move has no move for the role.
    pub chosen: Option<MoveId>,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chosen {
            Some(chosen) => write!(f, "{chosen:?} is not legal for {:?}", self.role),
            None => write!(f, "no move for {:?}", self.role),
        }
    }
}

impl std::error::Error for IllegalMove {}

/// Plays a joint move that may be illegal.
///
/// # Errors
/// When a role's move is missing or not legal; the cursor stays where it was.
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

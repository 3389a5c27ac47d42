//! A game in a few lines for the unit tests of this crate, which can also break the rules of good
//! rulesheets.

use ludex_base::{Goal, MoveId, PerceptId, RoleId};
use ludex_game::{Cursor, Describe, Game, Observe, OneByOne, Playouts, Role, StateOf};

/// A game of one role and `random` whose rules are functions of the joint moves so far. Moves from
/// 0 belong to the role, moves from 100 to `random`.
#[derive(Clone)]
pub(crate) struct Toy {
    pub roles: Vec<Role>,
    pub rules: Rules,
}

#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// The number of moves of a role.
    pub n_moves: fn(&[[u8; 2]], usize) -> usize,
    /// The percept of the first role after the last step.
    pub sees: fn(&[[u8; 2]]) -> Option<usize>,
    pub is_over: fn(&[[u8; 2]]) -> bool,
}

const OF_OTHER: usize = 100;
/// The state of a longer game holds only its beginning and its last step.
const MAX_LENGTH: usize = 16;

impl Toy {
    pub(crate) fn new(rules: Rules) -> Self {
        let role = |name: &str, is_random| Role { name: name.into(), is_random };
        Self { roles: vec![role("me", false), role("random", true)], rules }
    }
}

#[derive(Clone)]
pub(crate) struct ToyCursor {
    rules: Rules,
    state: Vec<[u8; 2]>,
    moves: Vec<MoveId>,
    goals: Vec<Goal>,
    percepts: Vec<PerceptId>,
}

impl Game for Toy {
    type Cursor = ToyCursor;

    fn roles(&self) -> &[Role] {
        &self.roles
    }

    fn cursor(&self) -> ToyCursor {
        let (state, moves, goals, percepts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        ToyCursor { rules: self.rules, state, moves, goals, percepts }
    }

    fn has_percepts(&self) -> bool {
        true
    }
}

impl Cursor for ToyCursor {
    type State = Vec<[u8; 2]>;

    fn state(&self) -> &Self::State {
        &self.state
    }

    fn set_state(&mut self, state: &Self::State) {
        self.state.clone_from(state);
        self.percepts.clear();
    }

    fn play(&mut self, joint: &[MoveId]) {
        self.state.truncate(MAX_LENGTH);
        self.state.push([joint[0].index() as u8, (joint[1].index() - OF_OTHER) as u8]);
        self.percepts.clear();
        self.percepts.extend((self.rules.sees)(&self.state).map(PerceptId::new));
    }

    fn is_terminal(&mut self) -> bool {
        (self.rules.is_over)(&self.state)
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        let first = role.index() * OF_OTHER;
        let n = (self.rules.n_moves)(&self.state, role.index());
        self.moves.clear();
        self.moves.extend((first..first + n).map(MoveId::new));
        &self.moves
    }

    fn goals(&mut self, _role: RoleId) -> &[Goal] {
        self.goals.clear();
        self.goals.push(Goal::MAX);
        &self.goals
    }
}

impl Observe for ToyCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        if role.index() == 0 { &self.percepts } else { &[] }
    }
}

impl Playouts for Toy {
    type Runner = OneByOne<ToyCursor>;

    fn runner(&self) -> Self::Runner {
        OneByOne::new(self)
    }
}

impl Describe for Toy {
    fn move_text(&self, id: MoveId) -> String {
        format!("(play {})", id.index() % OF_OTHER)
    }

    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String> {
        vec![format!("{state:?}")]
    }

    fn percept_text(&self, id: PerceptId) -> String {
        format!("(saw {})", id.index())
    }

    fn find_move(&self, _role: RoleId, _text: &str) -> Option<MoveId> {
        None
    }

    fn find_percept(&self, _role: RoleId, _text: &str) -> Option<PerceptId> {
        None
    }
}

//! A small game for the unit tests of this crate.

use ludex_base::{Goal, MoveId, PerceptId, RoleId};

use crate::game::{Cursor, Describe, Game, Observe, Role, StateOf};

/// Nim: the player who takes the last stone wins. The role not in turn plays `noop`.
pub(crate) struct Nim {
    roles: Vec<Role>,
    heaps: Vec<u8>,
}

impl Nim {
    pub(crate) fn new(heaps: &[u8]) -> Self {
        let roles = ["first", "second"].map(|name| Role { name: name.into(), is_random: false });
        Self { roles: roles.into(), heaps: heaps.to_vec() }
    }
}

#[derive(Clone)]
pub(crate) struct NimCursor {
    /// The heaps, then whose turn it is.
    state: Vec<u8>,
    moves: Vec<MoveId>,
    goals: Vec<Goal>,
}

/// Move 0 is `noop`; move `1 + 16 * heap + n` takes `n` stones from a heap.
impl NimCursor {
    fn n_heaps(&self) -> usize {
        self.state.len() - 1
    }
}

impl Game for Nim {
    type Cursor = NimCursor;

    fn roles(&self) -> &[Role] {
        &self.roles
    }

    fn cursor(&self) -> NimCursor {
        let state = self.heaps.iter().copied().chain([0]).collect();
        NimCursor { state, moves: Vec::new(), goals: Vec::new() }
    }

    fn has_percepts(&self) -> bool {
        false
    }
}

impl Cursor for NimCursor {
    type State = Vec<u8>;

    fn state(&self) -> &Vec<u8> {
        &self.state
    }

    fn set_state(&mut self, state: &Vec<u8>) {
        self.state.clone_from(state);
    }

    fn play(&mut self, joint: &[MoveId]) {
        let turn = self.n_heaps();
        let chosen = joint[self.state[turn] as usize].index() - 1;
        self.state[chosen / 16] -= (chosen % 16) as u8;
        self.state[turn] ^= 1;
    }

    fn is_terminal(&mut self) -> bool {
        self.state[..self.n_heaps()].iter().all(|&n_stones| n_stones == 0)
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.moves.clear();
        if role.index() != self.state[self.n_heaps()] as usize {
            self.moves.push(MoveId::new(0));
        } else {
            for heap in 0..self.n_heaps() {
                for n_stones in 1..=self.state[heap] as usize {
                    self.moves.push(MoveId::new(1 + 16 * heap + n_stones));
                }
            }
        }
        &self.moves
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        let is_winner = role.index() != self.state[self.n_heaps()] as usize;
        self.goals.clear();
        self.goals.push(if is_winner { Goal::MAX } else { Goal::MIN });
        &self.goals
    }
}

impl Observe for NimCursor {
    fn percepts(&self, _role: RoleId) -> &[PerceptId] {
        &[]
    }
}

impl Describe for Nim {
    fn move_text(&self, id: MoveId) -> String {
        match id.index() {
            0 => "noop".into(),
            code => format!("(take {} {})", (code - 1) / 16, (code - 1) % 16),
        }
    }

    fn state_texts(&self, state: &StateOf<Self>) -> Vec<String> {
        let (turn, heaps) = state.split_last().expect("a state ends with the turn");
        let heaps: Vec<String> = heaps.iter().map(u8::to_string).collect();
        vec![format!("(heaps {})", heaps.join(" ")), format!("(turn {turn})")]
    }

    fn percept_text(&self, _id: PerceptId) -> String {
        unreachable!("Nim has no percepts")
    }

    fn find_move(&self, _role: RoleId, text: &str) -> Option<MoveId> {
        (0..16 * (self.heaps.len() + 1)).map(MoveId::new).find(|&id| self.move_text(id) == text)
    }

    fn find_percept(&self, _role: RoleId, _text: &str) -> Option<PerceptId> {
        None
    }
}

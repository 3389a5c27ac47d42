//! A game whose states are the canonical states of another.

use ludex_base::{BitSet, Goal, MoveId, RoleId};
use ludex_circuit::Rules;
use ludex_game::{Cursor, Game, Role, StateOf};

use super::folding::{Folding, FoldingElement};

/// A game around another game, in which states that symmetries take to each other are one.
///
/// Its states are canonical states of the inner game, its moves those of the inner game there. So
/// whatever explores it, tables included, folds without knowing. Goals are the same, since the
/// symmetries of a [`Folding`] keep roles. To ask about a state of the inner game, take it through
/// [`Canonical::enter`], and the answer's moves back through [`Canonical::back`].
pub struct Canonical<'a, G: Game> {
    game: &'a G,
    rules: &'a dyn Rules<StateOf<G>>,
    folding: &'a Folding,
    has_folded_moves: bool,
}

impl<G: Game> Clone for Canonical<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Canonical<'_, G> {}

impl<'a, G: Game> Canonical<'a, G> {
    /// A game that folds states and keeps all moves.
    pub fn new(game: &'a G, rules: &'a dyn Rules<StateOf<G>>, folding: &'a Folding) -> Self {
        Self { game, rules, folding, has_folded_moves: false }
    }

    /// A game that also leaves out moves: of those that symmetries of the state take to each other
    /// only one is left. Moves of `random` are left alone, and so are states in which several
    /// roles have a choice.
    pub fn with_folded_moves(self) -> Self {
        Self { has_folded_moves: true, ..self }
    }

    /// The canonical state of a state of the inner game, and the symmetry that leads to it.
    pub fn enter(&self, state: &StateOf<G>) -> (StateOf<G>, FoldingElement) {
        let fluents = self.rules.fluents(state);
        let mut canonical = fluents.clone();
        let element = self.folding.canonical(fluents, &mut canonical);
        (self.rules.state(&canonical), element)
    }

    /// The move of the inner state that corresponds to a move of the canonical state.
    pub fn back(&self, played: MoveId, entered_by: &FoldingElement) -> MoveId {
        self.folding.played(played, &self.folding.inverse(entered_by))
    }
}

impl<'a, G: Game> Game for Canonical<'a, G> {
    type Cursor = CanonicalCursor<'a, G>;

    fn roles(&self) -> &[Role] {
        self.game.roles()
    }

    fn cursor(&self) -> Self::Cursor {
        let cursor = self.game.cursor();
        let fluents = self.rules.fluents(cursor.state()).clone();
        let mut cursor = CanonicalCursor {
            game: *self,
            cursor,
            canonical: fluents,
            moves: Vec::new(),
        };
        cursor.fold();
        cursor
    }

    fn has_percepts(&self) -> bool {
        self.game.has_percepts()
    }

    fn families(&self) -> Vec<Vec<u32>> {
        self.game.families()
    }
}

/// A cursor on canonical states.
pub struct CanonicalCursor<'a, G: Game> {
    game: Canonical<'a, G>,
    cursor: G::Cursor,
    canonical: BitSet,
    moves: Vec<MoveId>,
}

impl<G: Game> Clone for CanonicalCursor<'_, G> {
    fn clone(&self) -> Self {
        Self {
            game: self.game,
            cursor: self.cursor.clone(),
            canonical: self.canonical.clone(),
            moves: Vec::new(),
        }
    }
}

impl<G: Game> CanonicalCursor<'_, G> {
    fn fold(&mut self) {
        let Canonical { rules, folding, .. } = self.game;
        let fluents = rules.fluents(self.cursor.state());
        folding.canonical(fluents, &mut self.canonical);
        if *fluents != self.canonical {
            let state = rules.state(&self.canonical);
            self.cursor.set_state(&state);
        }
    }

    /// Whether no other role has a choice.
    fn alone_has_a_choice(&mut self, role: RoleId) -> bool {
        let cursor = &mut self.cursor;
        let mut others = self.game.game.role_ids().filter(|&other| other != role);
        others.all(|other| cursor.legal_moves(other).len() <= 1)
    }
}

impl<G: Game> Cursor for CanonicalCursor<'_, G> {
    type State = StateOf<G>;

    fn state(&self) -> &Self::State {
        self.cursor.state()
    }

    fn set_state(&mut self, state: &Self::State) {
        self.cursor.set_state(state);
    }

    fn play(&mut self, joint: &[MoveId]) {
        self.cursor.play(joint);
        self.fold();
    }

    fn is_terminal(&mut self) -> bool {
        self.cursor.is_terminal()
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        let is_random = self.game.game.roles()[role.index()].is_random;
        if !self.game.has_folded_moves || is_random || !self.alone_has_a_choice(role) {
            return self.cursor.legal_moves(role);
        }
        self.moves.clear();
        self.moves.extend_from_slice(self.cursor.legal_moves(role));
        let fluents = self.game.rules.fluents(self.cursor.state());
        self.game.folding.keep_one_of_each_orbit(fluents, &mut self.moves);
        &self.moves
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        self.cursor.goals(role)
    }

    fn has_fault(&self) -> bool {
        self.cursor.has_fault()
    }

    fn n_common_fluents(&self, other: &Self::State) -> Option<usize> {
        self.cursor.n_common_fluents(other)
    }

    fn fluents(&self) -> Option<&BitSet> {
        self.cursor.fluents()
    }
}

//! The cursor: derives answers about a state on demand.

use std::sync::Arc;

use ludex_base::{Deadline, Goal, MoveId, PerceptId, RoleId};
use ludex_game::{Cursor, Observe};
use ludex_gdl::{Keyword, TermId};

use crate::engine::Engine;
use crate::error::ReasonerError;
use crate::flatten::table_of;
use crate::reasoner::Core;
use crate::table::TableId;
use crate::vocabulary::Vocabulary;

/// The true fluents, each once, in an order that depends only on their texts: equal states are
/// equal values, whichever thread found them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReasonerState(Arc<[TermId]>);

/// A cursor of a [`Reasoner`](crate::Reasoner).
///
/// The terminal condition, legal moves and goals are derived separately, each on first use. Legal
/// moves and percepts come in byte order of their texts (if no name has characters that sort before
/// `)`; otherwise in some fixed order). A [`MoveId`] is a term together with a role, and so is a
/// [`PerceptId`], so they mean the same in every cursor of the game.
///
/// When the rules can't be evaluated (see [`ReasonerError`]), [`ReasonerCursor::fault`] returns the
/// error, and the cursor reports the game as over, with no legal moves and no goals. After a fault
/// in [`Cursor::play`] the cursor stays on the previous state. [`Cursor::set_state`] clears the
/// fault.
#[derive(Clone, Debug)]
pub struct ReasonerCursor {
    core: Arc<Core>,
    pub(crate) engine: Engine,
    state: ReasonerState,
    is_terminal: Option<bool>,
    /// By role; valid if `has_legal`. The same holds for the other lists.
    legal: Vec<Vec<MoveId>>,
    has_legal: bool,
    goals: Vec<Vec<Goal>>,
    has_goals: bool,
    percepts: Vec<Vec<PerceptId>>,
    fault: Option<ReasonerError>,
}

impl ReasonerState {
    pub(crate) fn of_rows(engine: &Engine, table: TableId) -> Self {
        let fluents = engine.table(table).iter().map(|row| row[0]).collect();
        Self::of_terms(&engine.vocabulary, fluents)
    }

    /// Returns the state of these terms, each once.
    pub(crate) fn of_terms(vocabulary: &Vocabulary, mut fluents: Vec<TermId>) -> Self {
        fluents.sort_unstable_by(|&left, &right| vocabulary.compare(left, right));
        fluents.dedup();
        Self(fluents.into())
    }

    pub(crate) fn fluents(&self) -> &[TermId] {
        &self.0
    }

    /// Returns how many fluents are true.
    pub fn n_fluents(&self) -> usize {
        self.0.len()
    }
}

impl ReasonerCursor {
    pub(crate) fn new(core: &Arc<Core>) -> Self {
        let n_roles = core.roles.len();
        let mut cursor = Self {
            core: Arc::clone(core),
            engine: core.engine(),
            state: core.initial(),
            is_terminal: None,
            legal: vec![Vec::new(); n_roles],
            has_legal: false,
            goals: vec![Vec::new(); n_roles],
            has_goals: false,
            percepts: vec![Vec::new(); n_roles],
            fault: None,
        };
        cursor.stand_on(core.initial());
        cursor
    }

    /// Returns why the rules could not be evaluated here; `None` if there was no error so far.
    pub fn fault(&self) -> Option<&ReasonerError> {
        self.fault.as_ref()
    }

    /// Sets a deadline for evaluation; the fault is then [`ReasonerError::OutOfTime`]. Without one,
    /// evaluation has no time limit.
    pub fn set_deadline(&mut self, deadline: Deadline) {
        self.engine.deadline = deadline;
    }

    fn stand_on(&mut self, state: ReasonerState) {
        self.state = state;
        self.engine.load_state(&self.core.rules, self.state.fluents());
        self.is_terminal = None;
        self.has_legal = false;
        self.has_goals = false;
        self.fault = None;
    }

    /// Derives components in order; returns whether that succeeded.
    fn derive(&mut self, cone: impl Fn(&Core) -> &[usize]) -> bool {
        if self.fault.is_none() {
            let result = self.engine.derive(&self.core.rules, cone(&self.core));
            self.fault = result.err();
            self.fault.iter().for_each(|fault| self.core.remember(fault));
        }
        self.fault.is_none()
    }

    /// Returns by role the terms that a relation of role and term has, sorted.
    fn terms_of(&self, relation: Keyword) -> Vec<Vec<TermId>> {
        let mut terms = vec![Vec::new(); self.core.roles.len()];
        for row in self.engine.table(table_of(relation)).iter() {
            if let Some(&role) = self.core.role_ids.get(&row[0]) {
                terms[role].push(row[1]);
            }
        }
        for of_role in &mut terms {
            of_role.sort_unstable_by(|&left, &right| self.engine.vocabulary.compare(left, right));
        }
        terms
    }

    fn id_of(&self, role: usize, term: TermId) -> usize {
        term.index() * self.core.roles.len() + role
    }

    fn derive_successor(&mut self, joint: &[MoveId]) -> bool {
        let n_roles = self.core.roles.len();
        let does: Vec<[TermId; 2]> = joint
            .iter()
            .zip(&self.core.role_terms)
            .map(|(id, &role)| [role, TermId::new(id.index() / n_roles)])
            .collect();
        self.engine.load_joint_move(&self.core.rules, &does);
        self.derive(|core| &core.cones.next) && self.derive(|core| &core.cones.sees)
    }
}

impl Cursor for ReasonerCursor {
    type State = ReasonerState;

    fn has_fault(&self) -> bool {
        self.fault.is_some()
    }

    fn state(&self) -> &ReasonerState {
        &self.state
    }

    fn set_state(&mut self, state: &ReasonerState) {
        self.percepts.iter_mut().for_each(Vec::clear);
        self.stand_on(state.clone());
    }

    fn play(&mut self, joint: &[MoveId]) {
        debug_assert!(joint.len() == self.core.roles.len(), "one move per role");
        if !self.derive_successor(joint) {
            return;
        }
        for (role, percepts) in self.terms_of(Keyword::Sees).into_iter().enumerate() {
            self.percepts[role] =
                percepts.into_iter().map(|term| PerceptId::new(self.id_of(role, term))).collect();
        }
        let state = ReasonerState::of_rows(&self.engine, table_of(Keyword::Next));
        self.stand_on(state);
    }

    fn is_terminal(&mut self) -> bool {
        if self.is_terminal.is_none() && self.derive(|core| &core.cones.terminal) {
            let table = self.engine.table(table_of(Keyword::Terminal));
            self.is_terminal = Some(table.n_rows() > 0);
        }
        self.fault.is_some() || self.is_terminal == Some(true)
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        if !self.has_legal && self.derive(|core| &core.cones.legal) {
            self.has_legal = true;
            for (role, moves) in self.terms_of(Keyword::Legal).into_iter().enumerate() {
                self.legal[role] =
                    moves.into_iter().map(|term| MoveId::new(self.id_of(role, term))).collect();
            }
        }
        if self.fault.is_some() { &[] } else { &self.legal[role.index()] }
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        if !self.has_goals && self.derive(|core| &core.cones.goal) {
            self.has_goals = true;
            for (role, values) in self.terms_of(Keyword::Goal).into_iter().enumerate() {
                let name = |term: TermId| self.engine.vocabulary.constant_name(term);
                let goals = values.into_iter().filter_map(name).filter_map(Goal::parse);
                let mut goals: Vec<Goal> = goals.collect();
                goals.sort_unstable();
                goals.dedup();
                self.goals[role] = goals;
            }
        }
        if self.fault.is_some() { &[] } else { &self.goals[role.index()] }
    }
}

impl Observe for ReasonerCursor {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        &self.percepts[role.index()]
    }
}

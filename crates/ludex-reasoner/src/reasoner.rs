//! The type [`Reasoner`] and its construction.

use std::sync::{Arc, Mutex, PoisonError};

use ludex_base::{Deadline, Limits, MoveId, PerceptId, RoleId};
use ludex_game::{Cursor, Describe, Game, OneByOne, Playouts, Role};
use ludex_gdl::{Keyword, Program, Stage, TermId, is_random_role};
use rustc_hash::FxHashMap;

use crate::cursor::{ReasonerCursor, ReasonerState};
use crate::engine::Engine;
use crate::error::{ReasonerError, max_atoms};
use crate::flatten::{flatten, table_of};
use crate::join_plan::Statistics;
use crate::rules::Rules;
use crate::vocabulary::Vocabulary;

/// A game that evaluates rules with variables: slow and simple, and independent of the size of the
/// ground program.
///
/// ```
/// use ludex_base::{Limits, Source};
/// use ludex_game::{Cursor, Game};
/// use ludex_reasoner::Reasoner;
///
/// let rules = "(role r) (init (at 1)) (succ 1 2) (succ 2 3)
///     (<= (legal r (go ?y)) (true (at ?x)) (succ ?x ?y))
///     (<= (next (at ?y)) (does r (go ?y)))
///     (<= terminal (true (at 3)))
///     (<= (goal r 100) (true (at 3)))";
/// let (sheet, _) = ludex_gdl::parse_kif(&Source::new("walk", rules));
/// let (program, _) = ludex_gdl::lower(&sheet);
/// let reasoner = Reasoner::new(&program, &Limits::usual())?;
/// let role = reasoner.role_ids().next().unwrap();
/// let mut cursor = reasoner.cursor();
/// while !cursor.is_terminal() {
///     let only = cursor.legal_moves(role)[0];
///     cursor.play(&[only]);
/// }
/// assert_eq!(cursor.goal(role).value(), 100);
/// # Ok::<(), ludex_reasoner::ReasonerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reasoner {
    core: Arc<Core>,
}

/// The data that all cursors of a game share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) roles: Vec<Role>,
    /// The names of the roles as terms, in the same order.
    pub(crate) role_terms: Vec<TermId>,
    /// The position of each of these terms.
    pub(crate) role_ids: FxHashMap<TermId, usize>,
    pub(crate) rules: Rules,
    pub(crate) cones: Cones,
    has_percepts: bool,
    initial: ReasonerState,
    /// The last error of any cursor.
    fault: Mutex<Option<ReasonerError>>,
    /// The initial engine of cursors.
    engine: Engine,
}

/// The components to derive for each question, in order.
#[derive(Clone, Debug)]
pub(crate) struct Cones {
    pub(crate) terminal: Vec<usize>,
    pub(crate) legal: Vec<usize>,
    pub(crate) goal: Vec<usize>,
    pub(crate) next: Vec<usize>,
    pub(crate) sees: Vec<usize>,
}

impl Reasoner {
    /// Derives the static relations and all of the initial state, and plans the rest.
    ///
    /// # Errors
    /// When there is no role, a limit is reached, or a static relation or the initial state depends
    /// on its own negation.
    pub fn new(program: &Program, limits: &Limits) -> Result<Self, ReasonerError> {
        let mut rules = Rules::new(flatten(program));
        let mut engine = Engine::new(&rules, Vocabulary::new(program, limits), limits);
        let mut statistics = Statistics::new(rules.schema().tables.len());
        derive_static(&mut rules, &mut engine, &mut statistics, limits)?;
        // `role` and `init` are static in checked rulesheets; in others they hold what follows
        // from the empty state.
        engine.load_state(&rules, &[]);
        engine.derive(&rules, &rules.cone(Keyword::Role))?;
        engine.derive(&rules, &rules.cone(Keyword::Init))?;
        let derived = engine.table(table_of(Keyword::Role)).iter().map(|row| row[0]);
        let role_terms = program.ordered_roles(&engine.vocabulary.shared(), derived);
        let (n_roles, limit) = (role_terms.len(), limits.sizes.roles);
        if n_roles == 0 {
            return Err(ReasonerError::NoRole);
        }
        if n_roles > limit {
            return Err(ReasonerError::TooManyRoles { n_roles, limit });
        }
        engine.vocabulary.expect_roles(n_roles)?;
        let core = Core {
            roles: role_terms.iter().map(|&term| role(&engine, term)).collect(),
            role_ids: role_terms.iter().enumerate().map(|(id, &term)| (term, id)).collect(),
            role_terms,
            cones: Cones::new(&rules),
            has_percepts: program.has_percepts(),
            initial: ReasonerState::of_rows(&engine, table_of(Keyword::Init)),
            fault: Mutex::new(None),
            rules,
            engine,
        };
        let reasoner = Self { core: Arc::new(core.tuned(statistics)?) };
        reasoner.check_initial_state(limits)?;
        Ok(reasoner)
    }

    /// Returns the state in which exactly these fluents are true, whether or not play can reach it;
    /// `None` if a text is not a term or contains names that the rules do not.
    pub fn find_state(&self, fluents: &[String]) -> Option<ReasonerState> {
        let mut vocabulary = self.core.engine.vocabulary.clone();
        let terms: Option<Vec<TermId>> =
            fluents.iter().map(|fluent| vocabulary.read(fluent)).collect();
        let terms = terms?;
        vocabulary.ensure_known(&terms);
        Some(ReasonerState::of_terms(&vocabulary, terms))
    }

    fn check_initial_state(&self, limits: &Limits) -> Result<(), ReasonerError> {
        let mut cursor = self.cursor();
        cursor.set_deadline(limits.deadline.clone());
        cursor.is_terminal();
        cursor.legal_moves(RoleId::new(0));
        cursor.goals(RoleId::new(0));
        cursor.fault().map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Returns why the rules could not be evaluated in the last state in which some cursor found
    /// that; `None` if there was no such state. See [`ReasonerCursor::fault`].
    pub fn last_fault(&self) -> Option<ReasonerError> {
        self.core.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many components run on demand.
    #[cfg(test)]
    pub(crate) fn n_called(&self) -> usize {
        let rules = &self.core.rules;
        (0..rules.components.len()).filter(|&component| rules.is_called(component)).count()
    }

    /// Returns the role and the term of a move or percept.
    fn split(&self, id: usize) -> (RoleId, TermId) {
        let n_roles = self.core.roles.len();
        (RoleId::new(id % n_roles), TermId::new(id / n_roles))
    }

    fn text(&self, term: TermId) -> String {
        self.core.engine.vocabulary.shared().display(term).to_string()
    }

    /// Returns the number of a move or percept by its text; `None` if it contains names that the
    /// rules do not.
    fn number_of(&self, role: RoleId, text: &str) -> Option<usize> {
        let term = self.core.engine.vocabulary.read(text)?;
        term.index().checked_mul(self.core.roles.len())?.checked_add(role.index())
    }
}

/// Plans every component. Derives the static ones on the way, so that all plans know the sizes of
/// their tables; one that grows too large will run on demand.
fn derive_static(
    rules: &mut Rules,
    engine: &mut Engine,
    statistics: &mut Statistics,
    limits: &Limits,
) -> Result<(), ReasonerError> {
    for component in 0..rules.components.len() {
        plan(rules, engine, component, statistics)?;
        if rules.stage(component) > Stage::Static {
            continue;
        }
        let can_be_called = rules.can_be_called(component);
        let max_static = if can_be_called { MAX_STATIC_ATOMS } else { usize::MAX };
        match engine.derive_within(rules, component, max_static.min(max_atoms(limits))) {
            Ok(()) => engine.observe(statistics, &rules.components[component].tables),
            Err(ReasonerError::TooManyAtoms { .. }) if can_be_called => {
                rules.set_called(component);
                engine.clear(&rules.components[component].tables);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn plan(
    rules: &mut Rules,
    engine: &mut Engine,
    component: usize,
    statistics: &Statistics,
) -> Result<(), ReasonerError> {
    // Planning a rule takes some microseconds, or some milliseconds if it has many conditions.
    if component.is_multiple_of(COMPONENTS_PER_LOOK) || rules.is_long(component) {
        engine.look_now()?;
    }
    rules.plan(component, statistics, &mut |table, columns| engine.index_on(table, columns));
    engine.expect_calls(rules);
    Ok(())
}

/// Components between two checks of the clock while they are planned.
const COMPONENTS_PER_LOOK: usize = 64;

fn role(engine: &Engine, term: TermId) -> Role {
    let name = engine.vocabulary.shared().display(term).to_string();
    Role { is_random: is_random_role(&name), name }
}

/// Larger static relations are called on demand, if possible.
const MAX_STATIC_ATOMS: usize = 300_000;

/// Other relations larger than this in some state are called on demand, if possible.
const MAX_ROWS: usize = 2_000;

/// Number of states to sample for the sizes of tables, and the largest number of atoms to derive
/// from one of them.
const MAX_SAMPLED_STATES: usize = 16;
const MAX_SAMPLED_ATOMS: usize = 100_000;

impl Core {
    /// Plans the rules anew, for the sizes of tables in the first states of a game.
    fn tuned(mut self, static_statistics: Statistics) -> Result<Self, ReasonerError> {
        loop {
            let mut statistics = static_statistics.clone();
            let untuned = Arc::new(self);
            let too_large = sample(&untuned, &mut statistics);
            self = Arc::into_inner(untuned).expect("the sampling cursor was dropped");
            let is_settled = !self.call_large(&statistics, too_large);
            self.plan_all(&statistics)?;
            if is_settled {
                self.engine.freeze(&self.rules);
                // Sampling has limits of its own, and may reach them.
                self.fault = Mutex::new(None);
                self.engine.deadline = Deadline::never();
                return Ok(self);
            }
        }
    }

    /// Makes components run on demand that are large, could not be derived, or would call for all
    /// rows of another; returns whether there are any.
    fn call_large(&mut self, statistics: &Statistics, too_large: Option<usize>) -> bool {
        let Self { rules, .. } = self;
        let mut has_called = false;
        for component in 0..rules.components.len() {
            let n_rows = statistics.n_rows(rules.components[component].tables[0]);
            let is_large = rules.stage(component) > Stage::Static
                && (n_rows > MAX_ROWS as f64
                    || too_large == Some(component)
                    || rules.calls_for_all(component));
            if is_large && !rules.is_called(component) && rules.can_be_called(component) {
                rules.set_called(component);
                has_called = true;
            }
        }
        has_called
    }

    fn plan_all(&mut self, statistics: &Statistics) -> Result<(), ReasonerError> {
        let Self { rules, engine, .. } = self;
        rules.clear_calls();
        engine.drop_calls();
        for component in 0..rules.components.len() {
            plan(rules, engine, component, statistics)?;
        }
        Ok(())
    }
}

/// Plays a few steps and records the sizes of tables. A fault ends the sampling; returns the
/// component that could not be derived.
fn sample(core: &Arc<Core>, statistics: &mut Statistics) -> Option<usize> {
    let mut cursor = ReasonerCursor::new(core);
    cursor.engine.max_atoms = cursor.engine.max_atoms.min(MAX_SAMPLED_ATOMS);
    for step in 0..MAX_SAMPLED_STATES {
        let is_terminal = cursor.is_terminal();
        let mut joint = Vec::new();
        for role in (0..core.roles.len()).map(RoleId::new) {
            let moves = cursor.legal_moves(role);
            // Any moves will do; these are spread over the list.
            joint.extend(moves.get((step * 7919 + 104_729) % moves.len().max(1)));
            cursor.goals(role);
        }
        cursor.engine.observe_all(statistics);
        if is_terminal || joint.len() < core.roles.len() {
            break;
        }
        cursor.play(&joint);
        cursor.engine.observe_all(statistics);
    }
    cursor.engine.failed
}

impl Cones {
    fn new(rules: &Rules) -> Self {
        Self {
            terminal: rules.cone(Keyword::Terminal),
            legal: rules.cone(Keyword::Legal),
            goal: rules.cone(Keyword::Goal),
            next: rules.cone(Keyword::Next),
            sees: rules.cone(Keyword::Sees),
        }
    }
}

impl Core {
    /// Keeps an error for reports.
    pub(crate) fn remember(&self, fault: &ReasonerError) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault.clone());
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine.clone()
    }

    pub(crate) fn initial(&self) -> ReasonerState {
        self.initial.clone()
    }
}

impl Game for Reasoner {
    type Cursor = ReasonerCursor;

    fn roles(&self) -> &[Role] {
        &self.core.roles
    }

    fn cursor(&self) -> ReasonerCursor {
        ReasonerCursor::new(&self.core)
    }

    fn has_percepts(&self) -> bool {
        self.core.has_percepts
    }
}

impl Describe for Reasoner {
    fn move_text(&self, id: MoveId) -> String {
        self.text(self.split(id.index()).1)
    }

    fn state_texts(&self, state: &ReasonerState) -> Vec<String> {
        let terms = self.core.engine.vocabulary.shared();
        let mut texts: Vec<String> =
            state.fluents().iter().map(|&term| terms.display(term).to_string()).collect();
        texts.sort_unstable();
        texts
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.text(self.split(id.index()).1)
    }

    // The reasoner does not know beforehand which terms can occur, so every term gets a number.
    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.number_of(role, text).and_then(MoveId::checked)
    }

    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.number_of(role, text).and_then(PerceptId::checked)
    }
}

impl Playouts for Reasoner {
    type Runner = OneByOne<ReasonerCursor>;

    fn runner(&self) -> OneByOne<ReasonerCursor> {
        OneByOne::new(self)
    }
}

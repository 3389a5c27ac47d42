//! States in, joint moves and successors out.

use std::ops::Deref;
use std::sync::Arc;

use ludex_base::{BitSet, Deadline, Goal, MoveId, PerceptId};
use ludex_csp::{Engine, PostConfig, Value, VarId};

use crate::config::EncodeError;
use crate::template::{StateVar, Template};

/// Solves the template of a game for one state after the other.
///
/// The network is posted once. A state is injected as values of its variables, which the trail takes
/// back, so that nothing is built or allocated for a state.
pub struct Steps<'a> {
    template: Held<'a>,
    engine: Engine,
    /// By fluent, the variable it is in, by place, and its value there.
    places: Vec<(u32, Value)>,
    /// By variable of a state, the value for none; of an exact group any, as it is always replaced.
    blank: Vec<Value>,
    values: Vec<Value>,
    /// The variables that the injected state does not settle, moves first.
    open: Vec<VarId>,
}

/// The template, lent or shared.
#[derive(Clone)]
enum Held<'a> {
    Lent(&'a Template),
    Shared(Arc<Template>),
}

impl Deref for Held<'_> {
    type Target = Template;

    fn deref(&self) -> &Template {
        match self {
            Held::Lent(template) => template,
            Held::Shared(template) => template,
        }
    }
}

/// One solution of an injected template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Solution {
    /// The move of each role, by role; none when the game is over.
    pub joint: Vec<MoveId>,
    /// The next state; the same one when the game is over.
    pub next: BitSet,
    /// Whether the game is over.
    pub is_terminal: bool,
    /// What each role gets, by role; 0 before the end.
    pub goals: Vec<Goal>,
    /// What is seen, ascending.
    pub percepts: Vec<PerceptId>,
}

impl Template {
    /// The values of [`Template::now`] for a state.
    ///
    /// # Panics
    /// When no fluent is true of a group of which one always is: the state is not reachable.
    pub fn values_of(&self, state: &BitSet) -> Vec<Value> {
        let value = |state_var: &StateVar| {
            let is_true = |place: &usize| state.contains(state_var.fluents[*place].index());
            match (0..state_var.fluents.len()).find(is_true) {
                Some(place) => state_var.value_of(place),
                None => state_var.none().expect("an exact group has a true fluent"),
            }
        };
        self.state_vars.iter().map(value).collect()
    }
}

impl<'a> Steps<'a> {
    /// Posts the network of a template.
    ///
    /// # Errors
    /// When it can't be posted.
    pub fn new(template: &'a Template) -> Result<Self, EncodeError> {
        Self::within(template, &Deadline::never(), u64::MAX)
    }

    /// As [`Steps::new`], but stops at a deadline, or when what is posted takes more bytes than this.
    ///
    /// # Errors
    /// When it can't be posted, or a bound is reached.
    pub fn within(
        template: &'a Template,
        deadline: &Deadline,
        max_bytes: u64,
    ) -> Result<Self, EncodeError> {
        Self::post(Held::Lent(template), deadline, max_bytes)
    }

    /// As [`Steps::within`], for who keeps the posted network longer than a template can be lent.
    ///
    /// # Errors
    /// When it can't be posted, or a bound is reached.
    pub fn shared(
        template: Arc<Template>,
        deadline: &Deadline,
        max_bytes: u64,
    ) -> Result<Steps<'static>, EncodeError> {
        Steps::post(Held::Shared(template), deadline, max_bytes)
    }

    fn post(template: Held<'a>, deadline: &Deadline, max_bytes: u64) -> Result<Self, EncodeError> {
        let config = PostConfig { max_bytes, ..PostConfig::default() };
        let mut engine = template.network.post_by(&config, deadline)?.engine;
        // A conflict would show again with every state.
        let _ = engine.propagate();
        let mut places = vec![(0, 0); template.n_fluents];
        for (at, state_var) in template.state_vars.iter().enumerate() {
            for (place, fluent) in state_var.fluents.iter().enumerate() {
                places[fluent.index()] = (at as u32, state_var.value_of(place));
            }
        }
        let blank: Vec<Value> =
            template.state_vars.iter().map(|it| it.none().unwrap_or(-1)).collect();
        Ok(Self { template, engine, places, values: blank.clone(), blank, open: Vec::new() })
    }

    /// What is solved.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// A copy of the posted network with nothing injected.
    pub(crate) fn posted(&self) -> Engine {
        let mut engine = self.engine.clone();
        engine.pop_to(0);
        engine
    }

    /// The engine, with whatever is injected.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Injects a state and propagates. [`Steps::take_back`] undoes it. False when propagation alone
    /// shows that there is no solution, as for a state that is not reachable, and when two fluents
    /// of a group are true.
    pub fn inject(&mut self, state: &BitSet) -> bool {
        self.values.copy_from_slice(&self.blank);
        let mut is_possible = true;
        for fluent in state.iter() {
            let (at, value) = self.places[fluent];
            is_possible &= self.values[at as usize] == self.blank[at as usize];
            self.values[at as usize] = value;
        }
        let pairs = self.template.now.iter().copied().zip(self.values.iter().copied());
        is_possible &= self.engine.inject(pairs).is_ok();
        let domains = self.engine.domains();
        let moves = self.template.moves.iter().map(|it| it.var);
        self.open.clear();
        self.open.extend(moves.chain(domains.variables()).filter(|&var| !domains.is_fixed(var)));
        is_possible
    }

    /// Takes back the state that was injected last.
    pub fn take_back(&mut self) {
        self.engine.pop_level();
    }

    /// After an injection, the moves of a role that are left.
    pub fn moves_left(&self, role: usize) -> impl Iterator<Item = MoveId> + '_ {
        let of_role = self.template.moves[role];
        self.engine.domains().values(of_role.var).filter_map(move |value| of_role.played(value))
    }

    /// After an injection, calls `see` with each solution until it returns false. Branches on moves
    /// first; what is still open then, if anything, is searched as well.
    pub fn for_each_solution(&mut self, see: &mut dyn FnMut(&Engine) -> bool) {
        self.branch(0, see);
    }

    fn branch(&mut self, from: usize, see: &mut dyn FnMut(&Engine) -> bool) -> bool {
        let domains = self.engine.domains();
        let open = self.open[from..].iter().position(|&var| !domains.is_fixed(var));
        let Some(skipped) = open else { return see(&self.engine) };
        let var = self.open[from + skipped];
        let mut index = Some(domains.index_bounds(var).0);
        while let Some(at) = index {
            self.engine.push_level();
            let goes_on = match self.engine.decide(|domains| domains.fix_index(var, at)) {
                Ok(()) => self.branch(from + skipped + 1, see),
                // An engine that has stopped would fail on every other value too.
                Err(_) => !self.engine.is_stopped(),
            };
            self.engine.pop_level();
            if !goes_on {
                return false;
            }
            index = self.engine.domains().next_index(var, at + 1);
        }
        true
    }

    /// After an injection, tries one joint move: the solution there is with it, if any.
    pub fn play(&mut self, joint: &[MoveId]) -> Option<Solution> {
        let mut solution = None;
        self.engine.push_level();
        let template = self.template.clone();
        let moves = &template.moves;
        let is_open = self.engine.decide(|domains| {
            for (of_role, played) in moves.iter().zip(joint) {
                let value = played.index() - of_role.first.index();
                domains.fix(of_role.var, value as Value)?;
            }
            Ok(true)
        });
        if is_open.is_ok() {
            self.branch(0, &mut |engine| {
                solution = Some(Solution::read(&template, engine));
                false
            });
        }
        self.engine.pop_level();
        solution
    }
}

impl Solution {
    /// Reads the values of an engine in which every variable is fixed.
    pub fn read(template: &Template, engine: &Engine) -> Solution {
        let value = |var: VarId| engine.domains().min(var);
        let mut next = BitSet::new(template.n_fluents);
        for (state_var, &var) in template.state_vars.iter().zip(&template.next) {
            if let Some(fluent) = state_var.fluent(value(var)) {
                next.insert(fluent.index());
            }
        }
        let goal = |&var: &VarId| {
            u32::try_from(value(var)).ok().and_then(Goal::new).expect("the values are goals")
        };
        let is_seen = |idx: &usize| value(template.percepts[*idx]) == 1;
        Solution {
            joint: template.moves.iter().filter_map(|it| it.played(value(it.var))).collect(),
            next,
            is_terminal: value(template.terminal) == 1,
            goals: template.goals.iter().map(goal).collect(),
            percepts: (0..template.percepts.len()).filter(is_seen).map(PerceptId::new).collect(),
        }
    }
}

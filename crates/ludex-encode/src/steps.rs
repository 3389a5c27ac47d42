//! Solves a template for single states: a state goes in, joint moves and successors come out.

use std::ops::Deref;
use std::sync::Arc;

use ludex_base::{BitSet, Deadline, Goal, MoveId, PerceptId};
use ludex_csp::{Engine, PostConfig, Value, VarId};

use crate::config::EncodeError;
use crate::template::{StateVar, Template};

/// Solves the template of a game for one state after the other.
///
/// The network is posted once. A state is injected as an assignment of its variables, which the
/// trail undoes, so nothing is built or allocated per state.
pub struct Steps<'a> {
    template: Held<'a>,
    engine: Engine,
    /// The variable of each fluent, by place, and the fluent's value in it.
    places: Vec<(u32, Value)>,
    /// The value of each state variable if none of its fluents is true; arbitrary for an exact
    /// group, where it is always replaced.
    blank: Vec<Value>,
    values: Vec<Value>,
    /// The variables that the injected state does not fix, moves first.
    open: Vec<VarId>,
}

/// A template, borrowed or shared.
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

/// A solution of an injected template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Solution {
    /// The move of each role; empty if the game is over.
    pub joint: Vec<MoveId>,
    /// The next state; the same state if the game is over.
    pub next: BitSet,
    /// Whether the game is over.
    pub is_terminal: bool,
    /// The goal of each role; 0 before the end.
    pub goals: Vec<Goal>,
    /// The percepts, ascending.
    pub percepts: Vec<PerceptId>,
}

impl Template {
    /// Returns the values of [`Template::now`] for a state.
    ///
    /// # Panics
    /// Panics if no fluent of an exact group is true; such a state is not reachable.
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
    /// Returns an error if it cannot be posted.
    pub fn new(template: &'a Template) -> Result<Self, EncodeError> {
        Self::within(template, &Deadline::never(), u64::MAX)
    }

    /// As [`Steps::new`], but stops at a deadline, or if the posted network takes more than
    /// `max_bytes`.
    ///
    /// # Errors
    /// Returns an error if it cannot be posted, or if a limit is reached.
    pub fn within(
        template: &'a Template,
        deadline: &Deadline,
        max_bytes: u64,
    ) -> Result<Self, EncodeError> {
        Self::post(Held::Lent(template), deadline, max_bytes)
    }

    /// As [`Steps::within`], for callers that keep the posted network longer than they can borrow a
    /// template.
    ///
    /// # Errors
    /// Returns an error if it cannot be posted, or if a limit is reached.
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
        // A conflict will show again for every state.
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

    /// Returns the template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Returns a copy of the posted network with nothing injected.
    pub(crate) fn posted(&self) -> Engine {
        let mut engine = self.engine.clone();
        engine.pop_to(0);
        engine
    }

    /// Returns the engine, including an injected state.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Injects a state and propagates; [`Steps::take_back`] undoes it.
    ///
    /// Returns false if propagation shows that there is no solution, as for an unreachable state,
    /// or if two fluents of a group are true.
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

    /// Undoes the last injection.
    pub fn take_back(&mut self) {
        self.engine.pop_level();
    }

    /// Returns the remaining moves of a role after an injection.
    pub fn moves_left(&self, role: usize) -> impl Iterator<Item = MoveId> + '_ {
        let of_role = self.template.moves[role];
        self.engine.domains().values(of_role.var).filter_map(move |value| of_role.played(value))
    }

    /// Calls `see` with each solution after an injection, until it returns false.
    ///
    /// Branches on moves first, then on any variable that is still open.
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
                // A stopped engine would fail on every other value too.
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

    /// Tries one joint move after an injection, and returns its solution, if any.
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

//! A model under construction: its scopes with their owners, before the kind of problem is
//! known.
//!
//! Only a draft has both scopes of players and scopes of chance. [`Draft::problem`] separates
//! them, so that a quantified model has no chance and a stochastic network no opponent.

use ludex_base::{Deadline, Diagnostic, Severity, Span};
use ludex_csp::{Constraint, Expr as Formula, Value, ValueSet, VarId, Variable};
use ludex_qcsp::{
    Aggregate, AggregateFunction, AggregateId, Criterion, Measure, Model, ModelError, Part,
    Quantifier, ScopeId, Symmetry, Ties,
};
use ludex_scsp::Rational;

use crate::codes;
use crate::problem::Problem;

/// The content of the text read so far.
#[derive(Default)]
pub struct Draft {
    pub variables: Vec<DraftVariable>,
    pub scopes: Vec<DraftScope>,
    pub aggregates: Vec<Aggregate>,
    pub goals: Vec<Stated>,
    /// The probability with which all goals must hold together, if given.
    pub threshold: Option<Rational>,
    /// Goals with their own thresholds.
    pub likely_goals: Vec<(Stated, Rational)>,
    /// The utility of a play in which the goals hold, with its position in the text.
    pub utility: Option<(Formula, Span)>,
}

/// A variable of a scope.
pub struct DraftVariable {
    pub variable: Variable,
    pub scope: ScopeId,
    /// The definition of the variable, if it is a function of others.
    pub definition: Option<Formula>,
    pub at: Span,
}

/// A scope. Its fields are those of [`ludex_qcsp::Scope`], except for the owner.
pub struct DraftScope {
    pub name: String,
    pub owner: Owner,
    pub at: Span,
    pub variables: Vec<VarId>,
    pub restrictor: Vec<Stated>,
    pub criterion: Option<Criterion>,
    pub ties: Ties,
    pub value_orders: Vec<(VarId, Vec<Value>)>,
    pub memory_key: Option<Vec<VarId>>,
    pub symmetries: Vec<Symmetry>,
    pub is_non_blocking: bool,
    pub round: Option<u32>,
}

/// The owner of a scope, who sets its variables.
#[derive(Clone)]
pub enum Owner {
    /// A player.
    Player(Quantifier),
    /// Chance.
    Chance(Drawing),
}

/// The distribution of the variable of a scope.
#[derive(Clone)]
pub struct Drawing {
    /// The weight of a value and the sum of all weights, if given; without a weight, all values
    /// are equally likely.
    pub weight: Option<(Formula, Option<i64>)>,
    /// The position in the text.
    pub at: Span,
}

/// A constraint with its position in the text.
#[derive(Clone)]
pub struct Stated {
    pub constraint: Constraint,
    pub at: Span,
}

/// The reason why a draft is not a problem of the required kind.
pub struct Refused {
    pub at: Span,
    pub reason: String,
}

impl Draft {
    /// Opens a scope.
    pub fn open(&mut self, name: String, owner: Owner, at: Span) -> ScopeId {
        self.scopes.push(DraftScope {
            name,
            owner,
            at,
            variables: Vec::new(),
            restrictor: Vec::new(),
            criterion: None,
            ties: Ties::Optimistic,
            value_orders: Vec::new(),
            memory_key: None,
            symmetries: Vec::new(),
            is_non_blocking: false,
            round: None,
        });
        ScopeId::new(self.scopes.len() - 1)
    }

    pub fn scope(&self, scope: ScopeId) -> &DraftScope {
        &self.scopes[scope.index()]
    }

    pub fn scope_mut(&mut self, scope: ScopeId) -> &mut DraftScope {
        &mut self.scopes[scope.index()]
    }

    /// Returns the scope opened last.
    ///
    /// # Panics
    /// When no scope is open.
    pub fn current(&mut self) -> &mut DraftScope {
        self.scopes.last_mut().expect("a scope is open")
    }

    pub fn variable(&self, x: VarId) -> &DraftVariable {
        &self.variables[x.index()]
    }

    pub fn domain(&self, x: VarId) -> &ValueSet {
        &self.variable(x).variable.domain
    }

    /// Adds a variable, functional if it has a definition, to the scope opened last.
    pub fn add_variable(
        &mut self,
        variable: Variable,
        definition: Option<Formula>,
        at: Span,
    ) -> VarId {
        let x = VarId::new(self.variables.len());
        let scope = ScopeId::new(self.scopes.len() - 1);
        self.variables.push(DraftVariable { variable, scope, definition, at });
        self.current().variables.push(x);
        x
    }

    /// Requires the constraint of every choice in the scope opened last.
    pub fn restrict(&mut self, constraint: Constraint, at: Span) {
        self.current().restrictor.push(Stated { constraint, at });
    }

    /// Requires the constraint at the end.
    pub fn goal(&mut self, constraint: Constraint, at: Span) {
        self.goals.push(Stated { constraint, at });
    }

    /// Adds an aggregate.
    pub fn aggregate(
        &mut self,
        scope: ScopeId,
        name: String,
        function: AggregateFunction,
        of: Measure,
    ) -> AggregateId {
        self.aggregates.push(Aggregate { name, scope, function, of });
        AggregateId::new(self.aggregates.len() - 1)
    }

    /// Whether the text uses chance.
    pub fn has_chance(&self) -> bool {
        let is_drawn = |scope: &DraftScope| matches!(scope.owner, Owner::Chance(_));
        self.scopes.iter().any(is_drawn)
            || self.threshold.is_some()
            || !self.likely_goals.is_empty()
            || self.utility.is_some()
    }

    /// Returns the problem that the text states.
    ///
    /// # Errors
    /// Returns the mistake with its position.
    pub fn problem(self, deadline: &Deadline) -> Result<Problem, Diagnostic> {
        if !self.has_chance() {
            return self.quantified_problem();
        }
        let chance = |at, reason| Diagnostic::new(Severity::Fatal, codes::CHANCE, at, reason);
        let network = self.stochastic().map_err(|refused| chance(refused.at, refused.reason))?;
        match network.check_by(deadline).first() {
            None => Ok(Problem::Stochastic(network)),
            Some(error) => Err(chance(self.place_of_stochastic(error), error.to_string())),
        }
    }

    fn quantified_problem(self) -> Result<Problem, Diagnostic> {
        let places = Places {
            variables: self.variables.iter().map(|own| own.at).collect(),
            scopes: self.scopes.iter().map(|own| own.at).collect(),
        };
        let model = self.quantified();
        match model.check().first() {
            None => Ok(Problem::Quantified(model)),
            Some(error) => {
                let at = places.of(error).unwrap_or(Span::new(0, 0));
                let message = error.to_string();
                Err(Diagnostic::new(Severity::Fatal, codes::UNSUPPORTED, at, message))
            }
        }
    }

    /// Turns a draft without chance into a quantified model.
    pub fn quantified(self) -> Model {
        let mut model = Model::new();
        let mut variables = self.variables.into_iter();
        for scope in self.scopes {
            let Owner::Player(quantifier) = scope.owner else {
                unreachable!("the draft has no chance");
            };
            let id = model.open(scope.name, quantifier);
            for variable in variables.by_ref().take(scope.variables.len()) {
                model.variable_with(variable.variable, variable.definition);
            }
            let own = model.scope_mut(id);
            own.restrictor = scope.restrictor.into_iter().map(|it| it.constraint).collect();
            own.criterion = scope.criterion;
            own.ties = scope.ties;
            own.value_orders = scope.value_orders;
            own.memory_key = scope.memory_key;
            own.symmetries = scope.symmetries;
            own.is_non_blocking = scope.is_non_blocking;
            own.round = scope.round;
        }
        for aggregate in self.aggregates {
            model.aggregate(aggregate.scope, aggregate.name, aggregate.function, aggregate.of);
        }
        self.goals.into_iter().for_each(|goal| model.goal_constraint(goal.constraint));
        model
    }
}

/// The positions of the parts of a model in the text.
struct Places {
    variables: Vec<Span>,
    scopes: Vec<Span>,
}

impl Places {
    /// Returns the position in the text of an error in the model.
    fn of(&self, error: &ModelError) -> Option<Span> {
        let variable = |x: VarId| self.variables.get(x.index()).copied();
        let scope = |id: ScopeId| self.scopes.get(id.index()).copied();
        match error {
            ModelError::EmptyDomain { variable: x } | ModelError::WideDomain { variable: x } => {
                variable(x.id)
            }
            ModelError::Declaration { scope: own, .. } => scope(own.id),
            ModelError::LaterVariable { part, .. }
            | ModelError::UnknownVariable { part }
            | ModelError::Measure { part, .. }
            | ModelError::Constraint { part, .. } => match part {
                Part::Definition(x) => variable(x.id),
                Part::Restrictor(own) | Part::Declarations(own) | Part::Criterion(own) => {
                    scope(own.id)
                }
                Part::Aggregate(_) | Part::Goal => None,
            },
            _ => None,
        }
    }
}

/// Reconstructs the draft of a model, without positions.
impl From<&Model> for Draft {
    fn from(model: &Model) -> Self {
        let at = Span::new(0, 0);
        let stated = |constraint: &Constraint| Stated { constraint: constraint.clone(), at };
        let mut draft = Draft::default();
        for scope in model.scopes() {
            let id = draft.open(scope.name.clone(), Owner::Player(scope.quantifier), at);
            for &x in &scope.variables {
                let own = model.variable(x);
                draft.add_variable(own.variable.clone(), own.definition.clone(), at);
            }
            let own = draft.scope_mut(id);
            own.restrictor = scope.restrictor.iter().map(stated).collect();
            own.criterion = scope.criterion;
        }
        draft.aggregates = model.aggregates().to_vec();
        draft.goals = model.goal_constraints().iter().map(stated).collect();
        draft
    }
}

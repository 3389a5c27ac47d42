//! Quantified networks and the builder for them.

use ludex_csp::{Constraint, Expr, Named, VALUE_LIMIT, Value, ValueSet, VarId, Variable};

use crate::error::ModelError;
use crate::scope::{
    Aggregate, AggregateFunction, AggregateId, Criterion, Measure, QuantifiedVariable, Quantifier,
    Scope, ScopeId, Symmetry, Ties,
};

/// A prefix of scopes, each with its variables and its restrictor, and a goal.
///
/// [`Model::exists`] and [`Model::forall`] open scopes in the order of the prefix; later
/// declarations and requirements belong to the scope opened last. Restrictors define the legal
/// choices. A player without a legal choice is blocked and loses. A model with empty restrictors is
/// a QCSP, one with restrictors a QCSP+, and one with criteria a QCOP+.
///
/// ```
/// use ludex_csp::Verdict;
/// use ludex_qcsp::{Model, SolveConfig, solve};
/// // exists x in {0,1} forall y in {0,1} exists z in {1,2}: x + y = z
/// let mut model = Model::new();
/// model.exists("first");
/// let x = model.int("x", 0..=1);
/// model.forall("second");
/// let y = model.int("y", 0..=1);
/// model.exists("third");
/// let z = model.int("z", 1..=2);
/// model.goal((x + y).equals(z));
/// assert_eq!(solve(&model, &SolveConfig::default())?.verdict, Verdict::True);
/// # Ok::<(), ludex_qcsp::ModelError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Model {
    variables: Vec<QuantifiedVariable>,
    scopes: Vec<Scope>,
    aggregates: Vec<Aggregate>,
    goal: Vec<Constraint>,
}

impl Model {
    /// Creates a model with an empty prefix.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens an existential scope.
    pub fn exists(&mut self, name: impl Into<String>) -> ScopeId {
        self.open(name.into(), Quantifier::Exists)
    }

    /// Opens a universal scope.
    pub fn forall(&mut self, name: impl Into<String>) -> ScopeId {
        self.open(name.into(), Quantifier::Forall)
    }

    /// Opens a scope.
    pub fn open(&mut self, name: String, quantifier: Quantifier) -> ScopeId {
        self.scopes.push(Scope::new(name, quantifier));
        ScopeId::new(self.scopes.len() - 1)
    }

    /// Adds a variable with integer values to the scope opened last.
    pub fn int(&mut self, name: impl Into<String>, domain: impl Into<ValueSet>) -> VarId {
        self.variable_with(
            Variable { name: name.into(), domain: domain.into(), labels: None },
            None,
        )
    }

    /// Adds a variable with the values 0 and 1.
    pub fn bool(&mut self, name: impl Into<String>) -> VarId {
        self.int(name, 0..=1)
    }

    /// Adds `n` variables with the same domain, named `name[0]`, `name[1]`, ….
    pub fn ints(&mut self, name: &str, n: usize, domain: impl Into<ValueSet>) -> Vec<VarId> {
        let domain = domain.into();
        (0..n).map(|i| self.int(format!("{name}[{i}]"), domain.clone())).collect()
    }

    /// Adds a functional variable, which equals an expression over variables declared before. Its
    /// domain holds all values that the expression can have.
    pub fn define(&mut self, name: impl Into<String>, expr: impl Into<Expr>) -> VarId {
        let expr = expr.into();
        let (lo, hi) = expr.bounds(&|x| self.bounds(x));
        // Where the expression leaves the range of values it has no value, as in a constraint.
        let limit = i64::from(VALUE_LIMIT);
        let within = |bound: i64| bound.clamp(-limit, limit) as Value;
        self.define_in(name, within(lo)..=within(hi), expr)
    }

    /// Adds a functional variable with a domain: a choice for which the expression has no value in
    /// the domain is illegal.
    pub fn define_in(
        &mut self,
        name: impl Into<String>,
        domain: impl Into<ValueSet>,
        expr: impl Into<Expr>,
    ) -> VarId {
        let variable = Variable { name: name.into(), domain: domain.into(), labels: None };
        self.variable_with(variable, Some(expr.into()))
    }

    /// Adds a variable, functional if it has a definition, to the scope opened last.
    ///
    /// # Panics
    /// Panics if no scope is open.
    pub fn variable_with(&mut self, variable: Variable, definition: Option<Expr>) -> VarId {
        let x = VarId::new(self.variables.len());
        let scope = ScopeId::new(self.scopes.len() - 1);
        self.variables.push(QuantifiedVariable { variable, scope, definition });
        self.current().variables.push(x);
        x
    }

    /// Requires the expression to be true of every choice in the scope opened last.
    pub fn require(&mut self, expr: impl Into<Expr>) {
        self.restrict(Constraint::Intension(expr.into()));
    }

    /// Requires the constraint to hold for every choice in the scope opened last.
    pub fn restrict(&mut self, constraint: Constraint) {
        self.current().restrictor.push(constraint);
    }

    /// Requires the expression to be true in the end; otherwise the existential player loses.
    pub fn goal(&mut self, expr: impl Into<Expr>) {
        self.goal_constraint(Constraint::Intension(expr.into()));
    }

    /// Requires the constraint to hold in the end; otherwise the existential player loses.
    pub fn goal_constraint(&mut self, constraint: Constraint) {
        self.goal.push(constraint);
    }

    /// Adds an aggregate: a number computed from the values of a later measure in all branches of a
    /// universal scope.
    pub fn aggregate(
        &mut self,
        scope: ScopeId,
        name: impl Into<String>,
        function: AggregateFunction,
        of: impl Into<Measure>,
    ) -> AggregateId {
        self.aggregates.push(Aggregate { name: name.into(), scope, function, of: of.into() });
        AggregateId::new(self.aggregates.len() - 1)
    }

    /// Makes an existential scope minimize the measure.
    pub fn minimize(&mut self, scope: ScopeId, measure: impl Into<Measure>) {
        let criterion = Criterion { measure: measure.into(), is_minimized: true };
        self.scopes[scope.index()].criterion = Some(criterion);
    }

    /// Makes an existential scope maximize the measure.
    pub fn maximize(&mut self, scope: ScopeId, measure: impl Into<Measure>) {
        let criterion = Criterion { measure: measure.into(), is_minimized: false };
        self.scopes[scope.index()].criterion = Some(criterion);
    }

    /// Sets which of several equally good choices a scope takes.
    pub fn ties(&mut self, scope: ScopeId, ties: Ties) {
        self.scopes[scope.index()].ties = ties;
    }

    /// Sets the order in which the values of a variable are tried; values left out come last.
    pub fn value_order(&mut self, x: VarId, values: impl Into<Vec<Value>>) {
        let scope = self.variables[x.index()].scope;
        self.scopes[scope.index()].value_orders.push((x, values.into()));
    }

    /// Declares that these variables determine the verdict from the scope opened last on.
    pub fn memory_key(&mut self, variables: impl Into<Vec<VarId>>) {
        self.current().memory_key = Some(variables.into());
    }

    /// Declares that the transformation keeps the verdict from the scope opened last on.
    pub fn symmetry(&mut self, symmetry: Symmetry) {
        self.current().symmetries.push(symmetry);
    }

    /// Declares that the restrictor of the scope opened last always has a solution.
    pub fn non_blocking(&mut self) {
        self.current().is_non_blocking = true;
    }

    /// Assigns the scope opened last to this round of a game, counted from 0.
    pub fn round(&mut self, round: u32) {
        self.current().round = Some(round);
    }

    fn current(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a scope is open")
    }

    /// Returns the variables of all scopes.
    pub fn variables(&self) -> &[QuantifiedVariable] {
        &self.variables
    }

    /// Returns a variable.
    pub fn variable(&self, x: VarId) -> &QuantifiedVariable {
        &self.variables[x.index()]
    }

    /// Returns the name of a variable.
    pub fn name(&self, x: VarId) -> &str {
        &self.variables[x.index()].variable.name
    }

    /// Returns a variable with its name, for errors.
    pub(crate) fn named(&self, x: VarId) -> Named<VarId> {
        Named { id: x, name: self.name(x).to_string() }
    }

    /// Returns a scope with its name, for errors.
    pub(crate) fn named_scope(&self, scope: ScopeId) -> Named<ScopeId> {
        Named { id: scope, name: self.scope(scope).name.clone() }
    }

    /// Returns the values of a variable.
    pub fn domain(&self, x: VarId) -> &ValueSet {
        &self.variables[x.index()].variable.domain
    }

    /// Returns the least and the greatest value of a variable, or (0, 0) if it has none.
    pub(crate) fn bounds(&self, x: VarId) -> (i64, i64) {
        let domain = self.domain(x);
        (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
    }

    /// Formats the value of a variable, by its label if it has one.
    pub fn label(&self, x: VarId, value: Value) -> String {
        let labels = self.variables[x.index()].variable.labels.as_ref();
        let label = labels.and_then(|labels| labels.get(usize::try_from(value).ok()?));
        label.cloned().unwrap_or_else(|| value.to_string())
    }

    /// Returns the scopes in the order of the prefix.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Returns a scope.
    pub fn scope(&self, scope: ScopeId) -> &Scope {
        &self.scopes[scope.index()]
    }

    /// Returns a scope for changes, for declarations that a front end adds later.
    pub fn scope_mut(&mut self, scope: ScopeId) -> &mut Scope {
        &mut self.scopes[scope.index()]
    }

    /// Returns the aggregates.
    pub fn aggregates(&self) -> &[Aggregate] {
        &self.aggregates
    }

    /// Returns the constraints of the goal.
    pub fn goal_constraints(&self) -> &[Constraint] {
        &self.goal
    }

    /// Returns the name of a measure.
    pub fn measure_name(&self, measure: Measure) -> &str {
        match measure {
            Measure::Variable(x) => self.name(x),
            Measure::Aggregate(aggregate) => &self.aggregates[aggregate.index()].name,
        }
    }

    /// Whether some scope optimizes or aggregates.
    pub fn is_optimization(&self) -> bool {
        !self.aggregates.is_empty() || self.scopes.iter().any(|scope| scope.criterion.is_some())
    }

    /// Returns the same model with other domains, one for each variable.
    pub(crate) fn with_domains(&self, domains: Vec<ValueSet>) -> Self {
        let mut model = self.clone();
        for (x, domain) in model.variables.iter_mut().zip(domains) {
            x.variable.domain = domain;
        }
        let variables = &model.variables;
        for (x, values) in model.scopes.iter_mut().flat_map(|scope| &mut scope.value_orders) {
            values.retain(|&value| variables[x.index()].variable.domain.contains(value));
        }
        model
    }

    /// Returns all errors of the model; empty if it is valid.
    pub fn check(&self) -> Vec<ModelError> {
        crate::check::check(self)
    }
}

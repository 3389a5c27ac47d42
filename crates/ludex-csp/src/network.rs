//! Networks as a modeler writes them: variables, constraints, an objective.

use std::sync::Arc;

use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::error::Named;
use crate::expr::Expr;
use crate::propagator::Propagator;
use crate::propagators::table::Table;
use crate::propagators::{HalfReified, Reified};
use crate::{Value, ValueSet};

/// Variables, constraints and an optional objective.
///
/// ```
/// use ludex_csp::{Network, SearchConfig, solve};
/// let mut network = Network::new();
/// let x = network.int("x", 1..=9);
/// let y = network.int("y", 1..=9);
/// network.require((x * y).equals(12));
/// network.require(x.less_than(y));
/// network.minimize(x + y);
/// let report = solve(&network, &SearchConfig::default())?;
/// assert_eq!(report.best().unwrap(), [3, 4]);
/// # Ok::<(), ludex_csp::CspError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Network {
    variables: Vec<Variable>,
    constraints: Vec<Constraint>,
    objective: Option<Objective>,
}

/// A variable of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The name in messages and answers.
    pub name: String,
    /// The values.
    pub domain: ValueSet,
    /// The names of the values 0, 1, …, when they are symbols.
    pub labels: Option<Arc<[String]>>,
}

/// An expression to minimize or maximize.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objective {
    /// The expression.
    pub expr: Expr,
    /// Whether to minimize it.
    pub is_minimized: bool,
}

impl Network {
    /// Creates a network without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable with integer values.
    ///
    /// An empty or too large domain is reported when the network is posted.
    pub fn int(&mut self, name: impl Into<String>, domain: impl Into<ValueSet>) -> VarId {
        self.variables.push(Variable { name: name.into(), domain: domain.into(), labels: None });
        VarId::new(self.variables.len() - 1)
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

    /// Adds a variable with symbols as values; the value of a symbol is its index in the list.
    pub fn symbol<S: Into<String>>(
        &mut self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item = S>,
    ) -> VarId {
        let labels: Arc<[String]> = labels.into_iter().map(Into::into).collect();
        let domain = ValueSet::from(0..labels.len() as Value);
        self.variables.push(Variable { name: name.into(), domain, labels: Some(labels) });
        VarId::new(self.variables.len() - 1)
    }

    /// Returns the variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns a variable.
    pub fn variable(&self, x: VarId) -> &Variable {
        &self.variables[x.index()]
    }

    /// Returns a variable for changes, such as a label that a reader finds later.
    pub fn variable_mut(&mut self, x: VarId) -> &mut Variable {
        &mut self.variables[x.index()]
    }

    /// Returns a variable with its name, for errors.
    pub(crate) fn named(&self, x: VarId) -> Named<VarId> {
        Named { id: x, name: self.variable(x).name.clone() }
    }

    /// Returns the ids of the variables.
    pub(crate) fn ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId::new)
    }

    /// Returns a value as text: its label if it has one.
    pub fn label(&self, x: VarId, value: Value) -> String {
        let labels = self.variables[x.index()].labels.as_ref();
        let label = labels.and_then(|labels| labels.get(usize::try_from(value).ok()?));
        label.cloned().unwrap_or_else(|| value.to_string())
    }

    /// Returns the constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Replaces the constraints and returns the old ones.
    pub(crate) fn set_constraints(&mut self, constraints: Vec<Constraint>) -> Vec<Constraint> {
        std::mem::replace(&mut self.constraints, constraints)
    }

    /// Returns the objective, if there is one.
    pub fn objective(&self) -> Option<&Objective> {
        self.objective.as_ref()
    }

    /// Adds a constraint.
    pub fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// Requires the expression to be true.
    pub fn require(&mut self, expr: impl Into<Expr>) {
        self.add(Constraint::Intension(expr.into()));
    }

    /// Requires all terms to differ.
    pub fn all_different<T: Into<Expr>>(&mut self, terms: impl IntoIterator<Item = T>) {
        let list = terms.into_iter().map(Into::into).collect();
        self.add(Constraint::AllDifferent { list, except: ValueSet::default() });
    }

    /// Requires the variables to take one of the tuples.
    pub fn table(&mut self, scope: &[VarId], table: impl Into<Arc<Table>>) {
        self.add(Constraint::Table {
            scope: scope.to_vec(),
            table: table.into(),
            is_positive: true,
        });
    }

    /// Forbids all of the tuples.
    pub fn forbid(&mut self, scope: &[VarId], table: impl Into<Arc<Table>>) {
        self.add(Constraint::Table {
            scope: scope.to_vec(),
            table: table.into(),
            is_positive: false,
        });
    }

    /// Requires that the tasks running at any time need at most the capacity.
    pub fn cumulative<T: Into<Expr>>(
        &mut self,
        tasks: impl IntoIterator<Item = (VarId, Value, Value)>,
        limit: T,
    ) {
        let (mut origins, mut lengths, mut heights) = (Vec::new(), Vec::new(), Vec::new());
        for (origin, length, height) in tasks {
            origins.push(origin.into());
            lengths.push(length.into());
            heights.push(height.into());
        }
        self.add(Constraint::Cumulative { origins, lengths, heights, limit: limit.into() });
    }

    /// Requires that no two tasks overlap; each is a start and a length.
    pub fn no_overlap<T: Into<Expr>>(&mut self, tasks: impl IntoIterator<Item = (VarId, T)>) {
        let (mut origins, mut lengths) = (Vec::new(), Vec::new());
        for (origin, length) in tasks {
            origins.push(vec![origin.into()]);
            lengths.push(vec![length.into()]);
        }
        self.add(Constraint::NoOverlap { origins, lengths, ignores_zeros: true });
    }

    /// Requires the propagator's constraint if `truth` is 1.
    ///
    /// Expressions need no such method: `network.require(truth.implies(expr))`.
    ///
    /// ```
    /// use ludex_csp::propagators::AllDifferentGac;
    /// use ludex_csp::{Goal, Network, SearchConfig, solve};
    /// let mut network = Network::new();
    /// let truth = network.bool("truth");
    /// let x = network.ints("x", 2, 0..=1);
    /// network.imply(truth, Box::new(AllDifferentGac::new(&x, [])));
    /// let config = SearchConfig { goal: Goal::Count, ..SearchConfig::default() };
    /// assert_eq!(solve(&network, &config)?.n_solutions, 4 + 2);
    /// # Ok::<(), ludex_csp::CspError>(())
    /// ```
    pub fn imply(&mut self, truth: VarId, propagator: Box<dyn Propagator>) {
        self.add(Constraint::Custom(Box::new(HalfReified::new(truth, propagator))));
    }

    /// Requires `truth` to be 1 if the propagator's constraint holds, and 0 if not.
    pub fn reify(&mut self, truth: VarId, propagator: Box<dyn Propagator>) {
        self.add(Constraint::Custom(Box::new(Reified::new(truth, propagator))));
    }

    /// Sets the objective to minimize the expression.
    pub fn minimize(&mut self, expr: impl Into<Expr>) {
        self.objective = Some(Objective { expr: expr.into(), is_minimized: true });
    }

    /// Sets the objective to maximize the expression.
    pub fn maximize(&mut self, expr: impl Into<Expr>) {
        self.objective = Some(Objective { expr: expr.into(), is_minimized: false });
    }

    /// Sets or removes the objective.
    pub fn set_objective(&mut self, objective: Option<Objective>) {
        self.objective = objective;
    }

    /// Returns the first constraint that an assignment violates, given a value for each
    /// variable. The meaning of the constraints decides, not the propagators.
    pub fn violated(&self, assignment: &[Value]) -> Option<&Constraint> {
        let value_of = |x: VarId| i64::from(assignment[x.index()]);
        self.constraints.iter().find(|constraint| !constraint.holds(&value_of))
    }

    /// Whether an assignment, a value for each variable, is a solution.
    pub fn is_solution(&self, assignment: &[Value]) -> bool {
        assignment.len() == self.variables.len()
            && self.variables.iter().zip(assignment).all(|(x, &value)| x.domain.contains(value))
            && self.violated(assignment).is_none()
    }
}

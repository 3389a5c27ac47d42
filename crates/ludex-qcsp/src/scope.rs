//! The parts of a quantified network: scopes, criteria, aggregates, declarations.

use ludex_csp::{Constraint, Expr, Value, VarId};

ludex_base::define_id! {
    /// A scope, by its place in the prefix.
    pub struct ScopeId;
}

ludex_base::define_id! {
    /// An aggregate of a model.
    pub struct AggregateId;
}

/// The owner of a scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// The existential player, for whom one good choice suffices.
    Exists,
    /// The universal player, whose every choice must be answered.
    Forall,
}

impl Quantifier {
    /// Returns the other player.
    pub fn opponent(self) -> Self {
        match self {
            Quantifier::Exists => Quantifier::Forall,
            Quantifier::Forall => Quantifier::Exists,
        }
    }

    /// Returns the keyword of the text language.
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::Forall => "forall",
        }
    }
}

/// One set of variables of the prefix with its restrictor (a *restricted quantified set*).
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its name, in messages and answers.
    pub name: String,
    /// Its owner.
    pub quantifier: Quantifier,
    /// Its variables, defined ones among them, in the order of declaration.
    pub variables: Vec<VarId>,
    /// The constraints on choices besides the definitions, over the variables so far.
    pub restrictor: Vec<Constraint>,
    /// The criterion that the owner of an existential scope optimizes among the ways to win.
    pub criterion: Option<Criterion>,
    /// The choice taken among several equally good ones.
    pub ties: Ties,
    /// The orders in which the values of variables are tried.
    pub value_orders: Vec<(VarId, Vec<Value>)>,
    /// Earlier variables that determine the verdict from here on. The solver trusts this
    /// declaration; without it, it derives such variables from the constraints.
    pub memory_key: Option<Vec<VarId>>,
    /// Transformations of earlier variables that keep the verdict from here on. The solver trusts
    /// this declaration.
    pub symmetries: Vec<Symmetry>,
    /// Whether the restrictor has a solution however the scope is reached. The solver trusts this
    /// declaration.
    pub is_non_blocking: bool,
    /// The round of a game that the scope belongs to, counted from 0.
    pub round: Option<u32>,
}

impl Scope {
    pub(crate) fn new(name: String, quantifier: Quantifier) -> Self {
        Self {
            name,
            quantifier,
            variables: Vec::new(),
            restrictor: Vec::new(),
            criterion: None,
            ties: Ties::Optimistic,
            value_orders: Vec::new(),
            memory_key: None,
            symmetries: Vec::new(),
            is_non_blocking: false,
            round: None,
        }
    }
}

/// A variable of the prefix.
#[derive(Clone, Debug)]
pub struct QuantifiedVariable {
    /// Name, values and labels.
    pub variable: ludex_csp::Variable,
    /// The scope it belongs to.
    pub scope: ScopeId,
    /// Its definition, if it is functional: an expression over variables declared before.
    ///
    /// A definition is a constraint of the restrictor of its scope: a choice for which the
    /// expression has no value in the domain is illegal. The search never branches on a defined
    /// variable.
    pub definition: Option<Expr>,
}

/// A number that can be optimized: a variable, or an aggregate of a universal scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Measure {
    /// The value of a variable.
    Variable(VarId),
    /// The value of an aggregate.
    Aggregate(AggregateId),
}

impl From<VarId> for Measure {
    fn from(x: VarId) -> Self {
        Measure::Variable(x)
    }
}

impl From<AggregateId> for Measure {
    fn from(aggregate: AggregateId) -> Self {
        Measure::Aggregate(aggregate)
    }
}

/// A measure to minimize or maximize. A measure without a value is worse than any value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Criterion {
    /// The measure.
    pub measure: Measure,
    /// Whether to minimize it.
    pub is_minimized: bool,
}

/// A number computed from the values of a measure in all branches of a universal scope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Its name, in messages and answers.
    pub name: String,
    /// The universal scope.
    pub scope: ScopeId,
    /// How the branches are combined.
    pub function: AggregateFunction,
    /// The measure it combines.
    pub of: Measure,
}

/// How the branches of a universal scope are combined.
///
/// A branch whose measure has no value is left out. Without branches the sum and the count
/// are 0, and the others have no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AggregateFunction {
    /// The sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum divided by the number of branches, truncated towards zero.
    Mean,
    /// The number of branches where the measure is not 0.
    Count,
}

impl AggregateFunction {
    /// All functions with their names in the text language.
    pub const ALL: [(&'static str, AggregateFunction); 5] = [
        ("sum", AggregateFunction::Sum),
        ("min", AggregateFunction::Min),
        ("max", AggregateFunction::Max),
        ("mean", AggregateFunction::Mean),
        ("count", AggregateFunction::Count),
    ];
}

/// The choice taken among several that are equally good for their owner.
///
/// *Leaders* are the criteria of earlier scopes that can see the choice, nearest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ties {
    /// The best one for the leaders, as when optimal strategies are filtered level by level.
    #[default]
    Optimistic,
    /// The worst one for the leaders.
    Pessimistic,
    /// The one whose values come first in order of declaration.
    Lexicographic,
    /// Any: the search takes the first one it finds, so the values that leaders see may depend on
    /// the options.
    Any,
}

impl Ties {
    /// All policies with their names in the text language.
    pub const ALL: [(&'static str, Ties); 4] = [
        ("optimistic", Ties::Optimistic),
        ("pessimistic", Ties::Pessimistic),
        ("lexicographic", Ties::Lexicographic),
        ("any", Ties::Any),
    ];
}

/// A transformation of the earlier variables of a scope that keeps the verdict from there on.
///
/// Variables that are not mentioned keep their values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// `(x, y)`: the transformation gives `x` the value of `y`.
    pub variables: Vec<(VarId, VarId)>,
    /// `(x, a, b)`: the transformation then replaces the value `a` of `x` by `b`.
    pub values: Vec<(VarId, Value, Value)>,
}

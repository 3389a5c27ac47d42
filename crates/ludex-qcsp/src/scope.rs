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

/// Whose scope it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// There is a way to choose the variables.
    Exists,
    /// Whatever the variables become.
    Forall,
}

impl Quantifier {
    /// The other one.
    pub fn opponent(self) -> Self {
        match self {
            Quantifier::Exists => Quantifier::Forall,
            Quantifier::Forall => Quantifier::Exists,
        }
    }

    /// The word of the text language.
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
    /// Whose it is.
    pub quantifier: Quantifier,
    /// Its variables, defined ones among them, in the order of declaration.
    pub variables: Vec<VarId>,
    /// What choices must satisfy, beside the definitions; over variables so far.
    pub restrictor: Vec<Constraint>,
    /// What the owner of an existential scope wants, among the ways to win.
    pub criterion: Option<Criterion>,
    /// Which of several equally good choices is taken.
    pub ties: Ties,
    /// The order in which values of a variable are tried.
    pub value_orders: Vec<(VarId, Vec<Value>)>,
    /// Earlier variables that decide what follows: the verdict from here on is the same
    /// whenever they are. Believed. Without it they are found from the constraints.
    pub memory_key: Option<Vec<VarId>>,
    /// Transformations of earlier variables that keep the verdict from here on. Believed.
    pub symmetries: Vec<Symmetry>,
    /// Whether the restrictor has a solution however the scope is reached. Believed.
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
    /// The scope that it belongs to.
    pub scope: ScopeId,
    /// What it equals, when it is functional: an expression over variables declared before.
    ///
    /// A definition is a constraint of the restrictor of its scope: where the expression has
    /// no value in the domain, there is no such choice. It is never branched on.
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

/// What is to be made small or large. A measure without a value is worse than any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Criterion {
    /// The number.
    pub measure: Measure,
    /// Whether it is to be small.
    pub is_minimized: bool,
}

/// A number computed from what a measure is in all branches of a universal scope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Its name, in messages and answers.
    pub name: String,
    /// The universal scope.
    pub scope: ScopeId,
    /// How the branches are combined.
    pub function: AggregateFunction,
    /// What is combined.
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
    /// The number of branches where it is not 0.
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

/// Which of several choices that are equally good for their owner is taken.
///
/// *Leaders* are the criteria of earlier scopes that see what is chosen, nearest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ties {
    /// The best one for the leaders. So it is when optimal strategies are filtered level by
    /// level.
    #[default]
    Optimistic,
    /// The worst one for the leaders.
    Pessimistic,
    /// The one whose values, in order of declaration, come first.
    Lexicographic,
    /// Any: the search takes what it finds first, and the values that leaders see may
    /// differ from run to run of different options.
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

/// A transformation of what came before a scope that keeps the verdict from there on.
///
/// Variables that are not mentioned keep their values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// `(x, y)`: afterwards `x` has the value that `y` had.
    pub variables: Vec<(VarId, VarId)>,
    /// `(x, a, b)`: afterwards `x` has the value `b` where it would have had `a`.
    pub values: Vec<(VarId, Value, Value)>,
}

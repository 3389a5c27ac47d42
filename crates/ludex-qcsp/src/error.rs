//! Errors in models.

use std::fmt;

use ludex_csp::{CspError, Named, VarId};
use thiserror::Error;

use crate::scope::{AggregateId, ScopeId};

/// The part of a model that an error is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// The definition of a variable.
    Definition(Named<VarId>),
    /// The restrictor of a scope.
    Restrictor(Named<ScopeId>),
    /// The declarations of a scope about earlier ones: its memory key, its symmetries.
    Declarations(Named<ScopeId>),
    /// The criterion of a scope.
    Criterion(Named<ScopeId>),
    /// An aggregate.
    Aggregate(Named<AggregateId>),
    /// The goal.
    Goal,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Definition(x) => write!(f, "the definition of `{x}`"),
            Part::Restrictor(scope) => write!(f, "the restrictor of scope `{scope}`"),
            Part::Declarations(scope) => {
                write!(f, "the memory key or a symmetry of scope `{scope}`")
            }
            Part::Criterion(scope) => write!(f, "the criterion of scope `{scope}`"),
            Part::Aggregate(aggregate) => write!(f, "aggregate `{aggregate}`"),
            Part::Goal => f.write_str("the goal"),
        }
    }
}

/// The reason why a model is invalid or cannot be solved as requested.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A variable without a value.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A variable to branch on that has too many values to try.
    #[error(
        "variable `{variable}` has too many values to try them; give it a definition or a smaller \
         domain"
    )]
    WideDomain {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A variable used before its scope is opened, or by itself.
    #[error("{part} mentions `{variable}`, which is declared later, in scope `{scope}`")]
    LaterVariable {
        /// The part that uses it.
        part: Part,
        /// The variable.
        variable: Named<VarId>,
        /// The scope it belongs to.
        scope: Named<ScopeId>,
    },
    /// A variable that the model does not have.
    #[error("{part} mentions a variable that the model does not have")]
    UnknownVariable {
        /// The part that uses it.
        part: Part,
    },
    /// A criterion or aggregate that cannot be computed at its place.
    #[error("{part}: {problem}")]
    Measure {
        /// The criterion or aggregate.
        part: Part,
        /// The problem.
        problem: String,
    },
    /// A declaration that does not fit the model.
    #[error("scope `{scope}`: {problem}")]
    Declaration {
        /// The scope.
        scope: Named<ScopeId>,
        /// The problem.
        problem: String,
    },
    /// Scopes that read more earlier variables than a schedule can hold.
    #[error(
        "the scopes read more than {limit} earlier variables in all; define what matters of the \
         past by fewer variables, or take fewer scopes"
    )]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A constraint that cannot be posted.
    #[error("{part}: {error}")]
    Constraint {
        /// The part it belongs to.
        part: Part,
        /// The reason.
        error: CspError,
    },
    /// An option that does not apply to this model.
    #[error("{option} does not apply: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// The reason.
        reason: String,
    },
}

//! What can be wrong with a model or a file.

use ludex_csp::CspError;
use thiserror::Error;

/// Why a model means nothing, or can't be solved as asked.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A variable without a value.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// Its name.
        variable: String,
    },
    /// A variable that has to be decided and has too many values to try.
    #[error(
        "variable `{variable}` has too many values to try them; give it a definition or a smaller \
         domain"
    )]
    WideDomain {
        /// Its name.
        variable: String,
    },
    /// A variable used before its scope is opened, or by itself.
    #[error("{place} mentions `{variable}`, which is declared later, in scope `{scope}`")]
    LaterVariable {
        /// Where it is used.
        place: String,
        /// Its name.
        variable: String,
        /// The scope it belongs to.
        scope: String,
    },
    /// A variable that the model does not have.
    #[error("{place} mentions a variable that the model does not have")]
    UnknownVariable {
        /// Where it is used.
        place: String,
    },
    /// A criterion or aggregate that can't be computed where it stands.
    #[error("{place}: {problem}")]
    Measure {
        /// Which criterion or aggregate.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A declaration that does not fit the model.
    #[error("scope `{scope}`: {problem}")]
    Declaration {
        /// The scope.
        scope: String,
        /// What is wrong with it.
        problem: String,
    },
    /// More scopes that read more earlier variables than a plan has room for.
    #[error(
        "the scopes read more than {limit} earlier variables in all; define what matters of the \
         past by fewer variables, or take fewer scopes"
    )]
    TooLarge {
        /// How many they may read.
        limit: usize,
    },
    /// A constraint that can't be posted.
    #[error("{place}: {error}")]
    Constraint {
        /// Where it stands.
        place: String,
        /// Why.
        error: CspError,
    },
    /// An option that this model can't be solved with.
    #[error("{option} does not apply: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Why not.
        reason: String,
    },
    /// Text that is no QDIMACS.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

//! What can be wrong with a network or a file.

use thiserror::Error;

/// Why a network can't be posted or a file not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CspError {
    /// A variable without a value.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// Its name.
        variable: String,
    },
    /// A domain with too many values in too many pieces.
    #[error("the domain of variable `{variable}` has too many values with gaps between them")]
    DomainTooLarge {
        /// Its name.
        variable: String,
    },
    /// A variable with too many values for a constraint that lists them.
    #[error("variable `{variable}` has too many values for a table or an automaton")]
    WideDomain {
        /// Its name.
        variable: String,
    },
    /// A constraint that names a variable twice where that makes no sense.
    #[error("the scope of `{constraint}` has variable `{variable}` twice")]
    RepeatedVariable {
        /// The kind of constraint.
        constraint: String,
        /// The name of the variable.
        variable: String,
    },
    /// A number too large to reason about.
    #[error("{what} is out of range")]
    OutOfRange {
        /// Which number.
        what: String,
    },
    /// Lists of lengths that don't go together.
    #[error("`{constraint}`: {problem}")]
    Malformed {
        /// The kind of constraint.
        constraint: String,
        /// What does not fit.
        problem: String,
    },
    /// Text that is no XML, or no XCSP3.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// Something of XCSP3 that we don't have.
    #[error("line {line}: `{element}` is not supported")]
    Unsupported {
        /// The line, counted from 1.
        line: usize,
        /// The element, attribute or operator.
        element: String,
    },
}

impl CspError {
    pub(crate) fn malformed(constraint: &str, problem: impl Into<String>) -> Self {
        CspError::Malformed { constraint: constraint.to_string(), problem: problem.into() }
    }

    pub(crate) fn out_of_range(what: impl Into<String>) -> Self {
        CspError::OutOfRange { what: what.into() }
    }
}

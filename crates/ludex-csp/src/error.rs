//! What can be wrong with a network.

use std::fmt;

use ludex_base::StopReason;
use thiserror::Error;

use crate::domains::VarId;

/// What an error is about: its id, by which a caller finds where it was stated, and its name,
/// for the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named<I> {
    /// The id.
    pub id: I,
    /// The name.
    pub name: String,
}

impl<I> fmt::Display for Named<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Why a network can't be posted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CspError {
    /// A variable without a value.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A domain with values beyond [`VALUE_LIMIT`](crate::VALUE_LIMIT).
    #[error("the domain of variable `{variable}` is out of range")]
    DomainOutOfRange {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A domain with too many values in too many pieces.
    #[error("the domain of variable `{variable}` has too many values with gaps between them")]
    DomainTooLarge {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A variable with too many values for what lists them.
    #[error("variable `{variable}` has too many values for {what}, which lists them")]
    WideDomain {
        /// The variable.
        variable: Named<VarId>,
        /// A table, an automaton, a search.
        what: &'static str,
    },
    /// A constraint that names a variable twice where that makes no sense.
    #[error("variable `{variable}` is in the scope twice")]
    RepeatedVariable {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A number too large to reason about.
    #[error("{what} is out of range")]
    OutOfRange {
        /// Which number.
        what: String,
    },
    /// Parts of a constraint that don't go together.
    #[error("{problem}")]
    Malformed {
        /// What does not fit.
        problem: String,
    },
    /// Something is wrong with one of the constraints of a network.
    #[error("constraint {number}, `{kind}`: {problem}")]
    InConstraint {
        /// Which one, counted from 1 in the order in which they were stated.
        number: usize,
        /// The name of its kind.
        kind: String,
        /// What is wrong.
        problem: Box<CspError>,
    },
    /// Something is wrong with the objective of a network.
    #[error("objective: {problem}")]
    InObjective {
        /// What is wrong.
        problem: Box<CspError>,
    },
    /// An objective that the search would not look at.
    #[error("only the search by maintaining consistency looks at an objective")]
    ObjectiveIgnored,
    /// An order of variables that the search does not know.
    #[error("this search does not know the order `{order}`")]
    UnknownOrder {
        /// The name of the order.
        order: &'static str,
    },
    /// Posting was not finished in time.
    #[error("stopped by the limit of {}", .0.name())]
    Stopped(StopReason),
}

impl CspError {
    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        CspError::Malformed { problem: problem.into() }
    }

    pub(crate) fn out_of_range(what: impl Into<String>) -> Self {
        CspError::OutOfRange { what: what.into() }
    }

    /// The error as one of constraint number `index`, counted from 0.
    pub fn in_constraint(self, index: usize, kind: &str) -> Self {
        match self {
            CspError::Stopped(reason) => CspError::Stopped(reason),
            problem => CspError::InConstraint {
                number: index + 1,
                kind: kind.to_string(),
                problem: Box::new(problem),
            },
        }
    }
}

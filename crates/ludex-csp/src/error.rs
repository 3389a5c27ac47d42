//! Errors in a network.

use std::fmt;

use ludex_base::StopReason;
use thiserror::Error;

use crate::domains::VarId;

/// The subject of an error: its id, which leads the caller to the source, and its name for the
/// message.
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
    /// A variable has an empty domain.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A domain has values beyond [`VALUE_LIMIT`](crate::VALUE_LIMIT).
    #[error("the domain of variable `{variable}` is out of range")]
    DomainOutOfRange {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A domain has too many values in too many ranges.
    #[error("the domain of variable `{variable}` has too many values with gaps between them")]
    DomainTooLarge {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A variable has too many values for a constraint or search that lists them.
    #[error("variable `{variable}` has too many values for {what}, which lists them")]
    WideDomain {
        /// The variable.
        variable: Named<VarId>,
        /// What lists the values: a table, an automaton, a search.
        what: &'static str,
    },
    /// A constraint repeats a variable where that makes no sense.
    #[error("variable `{variable}` is in the scope twice")]
    RepeatedVariable {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A number is too large to compute with.
    #[error("{what} is out of range")]
    OutOfRange {
        /// Which number.
        what: String,
    },
    /// Parts of a constraint do not fit together.
    #[error("{problem}")]
    Malformed {
        /// The mismatch.
        problem: String,
    },
    /// One of the constraints of a network is wrong.
    #[error("constraint {number}, `{kind}`: {problem}")]
    InConstraint {
        /// Its number, counted from 1 in the order of statement.
        number: usize,
        /// The name of its kind.
        kind: String,
        /// What is wrong.
        problem: Box<CspError>,
    },
    /// The objective of a network is wrong.
    #[error("objective: {problem}")]
    InObjective {
        /// What is wrong.
        problem: Box<CspError>,
    },
    /// The chosen search ignores objectives, but the network has one.
    #[error("this search ignores objectives; use the search that maintains consistency")]
    ObjectiveIgnored,
    /// The chosen search does not support the order of variables.
    #[error("this search does not support the order `{order}`")]
    UnknownOrder {
        /// The name of the order.
        order: &'static str,
    },
    /// Posting did not finish in time.
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

    /// Wraps the error as one of constraint number `index`, counted from 0.
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

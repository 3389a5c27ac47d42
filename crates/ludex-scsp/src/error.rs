//! Errors in stochastic networks, options and policies.

use std::fmt;

use ludex_base::StopReason;
use ludex_csp::{CspError, Named, VarId};
use thiserror::Error;

/// The part of a stochastic network that an error is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// All constraints together.
    Network,
    /// A constraint, counted from 0.
    Constraint(usize),
    /// The distribution of a variable.
    Distribution(Named<VarId>),
    /// The utility.
    Utility,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Network => f.write_str("the network"),
            Part::Constraint(index) => write!(f, "constraint {}", index + 1),
            Part::Distribution(x) => write!(f, "the distribution of `{x}`"),
            Part::Utility => f.write_str("the utility"),
        }
    }
}

/// The reason why a stochastic network is invalid or cannot be solved as requested.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ScspError {
    /// A variable without a value.
    #[error("variable `{variable}` has an empty domain")]
    EmptyDomain {
        /// The variable.
        variable: Named<VarId>,
    },
    /// A variable with too many values to try.
    #[error("variable `{variable}` has {n_values} values; at most {limit} can be tried")]
    WideDomain {
        /// The variable.
        variable: Named<VarId>,
        /// Its number of values.
        n_values: u64,
        /// The limit.
        limit: u64,
    },
    /// A variable declared after one of a later stage, or a decision after a chance variable of its
    /// stage.
    #[error(
        "stages out of order: `{variable}` of stage {stage} comes after `{before}`; declare \
         stages in order, and in each stage decisions before chance variables"
    )]
    StageOrder {
        /// The variable declared too late.
        variable: Named<VarId>,
        /// Its stage, counted from 1.
        stage: usize,
        /// The variable declared before it.
        before: Named<VarId>,
    },
    /// Probabilities that do not make a distribution.
    #[error("the distribution of `{variable}`{given}: {problem}")]
    Distribution {
        /// The chance variable.
        variable: Named<VarId>,
        /// The values of earlier variables, empty or beginning with a space.
        given: String,
        /// The problem.
        problem: String,
    },
    /// A distribution that depends on a variable without a value at that point.
    #[error(
        "the distribution of `{variable}` depends on `{parent}`, which is not declared before it"
    )]
    LaterParent {
        /// The chance variable.
        variable: Named<VarId>,
        /// The variable it depends on.
        parent: Named<VarId>,
    },
    /// A threshold outside of 0 to 1.
    #[error("{part}: the threshold {threshold} is not between 0 and 1")]
    Threshold {
        /// The part that has the threshold.
        part: Part,
        /// The threshold.
        threshold: String,
    },
    /// A utility that can be negative.
    #[error(
        "the utility can be {least}, by the bounds of its parts; a play whose constraints fail is \
         worth 0, so no play may be worth less: add a constant, or take the maximum with 0"
    )]
    NegativeUtility {
        /// Its least possible value.
        least: i64,
    },
    /// A utility that can be too large to compute.
    #[error("the utility can be more than {limit}; scale it down")]
    LargeUtility {
        /// The limit.
        limit: i64,
    },
    /// A variable that the network does not have.
    #[error("{part} mentions a variable that the network does not have")]
    UnknownVariable {
        /// The part that mentions it.
        part: Part,
    },
    /// A constraint that cannot be posted.
    #[error(transparent)]
    Constraint(#[from] CspError),
    /// An option that does not apply to this network.
    #[error("{option} does not apply: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// The reason.
        reason: String,
    },
    /// A policy that does not fit the network.
    #[error("the policy does not fit the network: {problem}")]
    Policy {
        /// The problem.
        problem: String,
    },
}

/// The reason why work stopped.
pub(crate) enum Stop {
    /// A limit was reached.
    Limit(StopReason),
    /// An error makes it impossible to go on.
    Error(ScspError),
}

impl From<ScspError> for Stop {
    fn from(error: ScspError) -> Self {
        Stop::Error(error)
    }
}

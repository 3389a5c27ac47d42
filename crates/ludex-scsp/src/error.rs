//! What can be wrong with a stochastic network, an option or a policy.

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

/// Why a stochastic network means nothing, or can't be solved as asked.
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
        /// How many values it has.
        n_values: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A variable that stands before one of an earlier stage, or a decision after chance.
    #[error(
        "stages out of order: `{variable}` of stage {stage} stands after `{before}`; declare \
         stages in order, and in each what is decided before what is drawn"
    )]
    StageOrder {
        /// The variable that stands too late.
        variable: Named<VarId>,
        /// Its stage, counted from 1.
        stage: usize,
        /// The variable before it.
        before: Named<VarId>,
    },
    /// Probabilities that do not make a distribution.
    #[error("the distribution of `{variable}`{given}: {problem}")]
    Distribution {
        /// The variable that is drawn.
        variable: Named<VarId>,
        /// For which values of earlier variables; empty or beginning with a space.
        given: String,
        /// What is wrong.
        problem: String,
    },
    /// A distribution that depends on a variable that is not known then.
    #[error("the distribution of `{variable}` depends on `{parent}`, which comes no earlier")]
    LaterParent {
        /// The variable that is drawn.
        variable: Named<VarId>,
        /// The variable it depends on.
        parent: Named<VarId>,
    },
    /// A threshold that is no probability.
    #[error("{part}: the threshold {threshold} is not between 0 and 1")]
    Threshold {
        /// Whose threshold.
        part: Part,
        /// The threshold.
        threshold: String,
    },
    /// A utility that can be negative.
    #[error(
        "the utility can be {least}, by the bounds of its parts; a play whose constraints fail is \
         worth 0, so that no other may be worth less: add a constant, or take the maximum with 0"
    )]
    NegativeUtility {
        /// The least it can be.
        least: i64,
    },
    /// A utility that can be too large to compute.
    #[error("the utility can be more than {limit}; scale it down")]
    LargeUtility {
        /// The most it may be.
        limit: i64,
    },
    /// A variable that the network does not have.
    #[error("{part} mentions a variable that the network does not have")]
    UnknownVariable {
        /// Where.
        part: Part,
    },
    /// A constraint that can't be posted.
    #[error(transparent)]
    Constraint(#[from] CspError),
    /// An option that this network can't be solved with.
    #[error("{option} does not apply: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// Why not.
        reason: String,
    },
    /// A policy that does not fit the network.
    #[error("the policy does not fit the network: {problem}")]
    Policy {
        /// What is wrong.
        problem: String,
    },
}

/// Work was stopped.
pub(crate) enum Stop {
    /// A limit was reached.
    Limit(StopReason),
    /// It can't be done.
    Error(ScspError),
}

impl From<ScspError> for Stop {
    fn from(error: ScspError) -> Self {
        Stop::Error(error)
    }
}

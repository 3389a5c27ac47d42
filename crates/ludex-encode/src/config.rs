//! The options, errors and sizes of a translation.

use ludex_base::Deadline;
use ludex_csp::{Constraint, CspError, Network};
use ludex_scsp::{Distribution, StochasticConstraint, StochasticNetwork, StochasticVariable};
use thiserror::Error;

use crate::groups::GroupEffort;

/// The options of a translation.
#[derive(Clone, Debug)]
pub struct EncodeConfig {
    /// The maximal number of gates that unrolling loops may add.
    pub max_unrolled: usize,
    /// The effort to spend on finding groups of fluents.
    pub groups: GroupEffort,
    /// Whether to add redundant constraints to several steps for stronger propagation: frames, and
    /// groups of fluents without a variable of their own.
    pub redundancies: bool,
    /// The deadline. It is checked between the stages, in the search for groups, and after each
    /// gate and each constraint.
    pub deadline: Deadline,
    /// The maximal size in bytes of the network and its intermediate data.
    pub max_bytes: u64,
}

impl Default for EncodeConfig {
    fn default() -> Self {
        Self {
            max_unrolled: 2_000_000,
            groups: GroupEffort::default(),
            redundancies: true,
            deadline: Deadline::never(),
            max_bytes: 4_000_000_000,
        }
    }
}

impl EncodeConfig {
    /// Returns the same options without limits of time and memory.
    pub fn unbounded(self) -> Self {
        Self { deadline: Deadline::never(), max_bytes: u64::MAX, ..self }
    }
}

/// The reason why a game was not encoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Unrolling the recursive rules takes too many gates.
    #[error("the recursive rules need more than {max_gates} gates without recursion")]
    LoopsTooLarge {
        /// The limit.
        max_gates: usize,
    },
    /// The deadline was reached.
    #[error(
        "translating took too long: {n_variables} variables and {n_constraints} constraints so far"
    )]
    TooLong {
        /// Variables so far.
        n_variables: usize,
        /// Constraints so far.
        n_constraints: usize,
    },
    /// The memory limit was reached.
    #[error(
        "the network is too large: {n_variables} variables and {n_constraints} constraints take \
         more than {max_bytes} bytes"
    )]
    TooLarge {
        /// Variables so far.
        n_variables: usize,
        /// Constraints so far.
        n_constraints: usize,
        /// The limit.
        max_bytes: u64,
    },
    /// The network cannot be posted.
    #[error(transparent)]
    Network(#[from] CspError),
}

/// The size of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Number of variables, including auxiliary ones.
    pub n_variables: usize,
    /// Number of values of the largest domain.
    pub max_domain: u64,
    /// Number of constraints.
    pub n_constraints: usize,
    /// Number of tuples in all tables.
    pub n_tuples: usize,
}

impl Sizes {
    /// Measures a network.
    pub fn of(network: &Network) -> Sizes {
        Sizes {
            n_variables: network.variables().len(),
            max_domain: network.variables().iter().map(|x| x.domain.len()).max().unwrap_or(0),
            n_constraints: network.constraints().len(),
            n_tuples: network.constraints().iter().map(n_tuples).sum(),
        }
    }

    /// Measures a stochastic network. Tables of distributions count with their entries.
    pub fn of_stochastic(network: &StochasticNetwork) -> Sizes {
        let variables = network.variables();
        let of_constraint = |own: &StochasticConstraint| n_tuples(&own.constraint);
        let of_variable = |x: &StochasticVariable| match &x.distribution {
            Some(Distribution::Table { rows, .. }) => rows.values().map(Vec::len).sum(),
            _ => 0,
        };
        Sizes {
            n_variables: variables.len(),
            max_domain: variables.iter().map(|x| x.variable.domain.len()).max().unwrap_or(0),
            n_constraints: network.constraints().len(),
            n_tuples: network.constraints().iter().map(of_constraint).sum::<usize>()
                + variables.iter().map(of_variable).sum::<usize>(),
        }
    }
}

fn n_tuples(constraint: &Constraint) -> usize {
    match constraint {
        Constraint::Table { table, .. } => table.len(),
        _ => 0,
    }
}

//! Limits of grounding, and the errors when they are reached.

use ludex_base::{Deadline, Span, Symbol};
use thiserror::Error;

/// Limits on the time and memory of grounding.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// When to stop.
    pub deadline: Deadline,
    /// Largest number of bytes for tables and rule instances.
    pub max_bytes: usize,
    /// Largest number of ground atoms, including those of static relations.
    pub max_atoms: usize,
    /// Deepest nesting of a term; deeper terms are taken as a sign that terms grow without end.
    pub max_depth: usize,
}

impl Default for GroundLimits {
    /// 4 GB and as many atoms as fit in it, without a deadline.
    fn default() -> Self {
        Self {
            deadline: Deadline::never(),
            max_bytes: 4_000_000_000,
            max_atoms: 100_000_000,
            max_depth: 500,
        }
    }
}

/// Why a program was not grounded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum GroundError {
    /// The deadline was reached.
    #[error(
        "grounding ran out of time after {n_atoms} atoms and {n_rules} ground rules; allow more time"
    )]
    OutOfTime {
        /// Atoms found so far.
        n_atoms: usize,
        /// Rule instances found so far.
        n_rules: usize,
    },
    /// The ground program exceeds the memory limit.
    #[error(
        "grounding ran out of memory: {n_atoms} atoms and {n_rules} ground rules take more than {max_bytes} bytes; allow more memory"
    )]
    OutOfMemory {
        /// Atoms found so far.
        n_atoms: usize,
        /// Rule instances found so far.
        n_rules: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// More atoms than allowed.
    #[error("grounding derived more than {max_atoms} atoms; allow more atoms")]
    TooManyAtoms {
        /// The limit.
        max_atoms: usize,
    },
    /// A rule builds ever larger terms.
    #[error(
        "terms of `{term}` seem to grow without end: they are nested more than {max_depth} deep"
    )]
    Unbounded {
        /// The outermost name of the terms that grow.
        term: String,
        /// The rule that builds them.
        rule: RulePlace,
        /// The limit.
        max_depth: usize,
    },
    /// A rule has more variables than grounding supports.
    #[error("a rule of `{}` has {n_variables} variables, but grounding supports {max_variables}; split the rule", rule.name)]
    TooManyVariables {
        /// The rule.
        rule: RulePlace,
        /// Its variables.
        n_variables: usize,
        /// The limit.
        max_variables: usize,
    },
    /// A ground atom depends on its own negation, so the rules have no meaning.
    #[error("`{atom}` depends on its own negation; break this cycle of rules")]
    NegativeCycle {
        /// One atom of the cycle.
        atom: String,
        /// A rule of its relation with a negation.
        rule: RulePlace,
    },
}

/// A rule that prevents grounding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulePlace {
    /// The relation of its head.
    pub relation: Symbol,
    /// The name of that relation.
    pub name: String,
    /// Where the rule is in the rulesheet.
    pub span: Span,
}

impl GroundError {
    /// Returns the rule at fault; `None` if a limit was reached by all rules together.
    pub fn rule(&self) -> Option<&RulePlace> {
        match self {
            GroundError::Unbounded { rule, .. }
            | GroundError::TooManyVariables { rule, .. }
            | GroundError::NegativeCycle { rule, .. } => Some(rule),
            GroundError::OutOfTime { .. }
            | GroundError::OutOfMemory { .. }
            | GroundError::TooManyAtoms { .. } => None,
        }
    }
}

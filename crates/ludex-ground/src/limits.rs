//! When to give up.

use ludex_base::{Deadline, Span, Symbol};
use thiserror::Error;

/// What grounding may use.
#[derive(Clone, Debug)]
pub struct GroundLimits {
    /// When to stop.
    pub deadline: Deadline,
    /// Bytes that tables and rule instances may take.
    pub max_bytes: usize,
    /// Ground atoms, of static relations too.
    pub max_atoms: usize,
    /// Levels of nesting of a term; a deeper one is taken as a sign that terms grow without end.
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
    #[error("grounding took too long: {n_atoms} atoms and {n_rules} ground rules so far")]
    OutOfTime {
        /// Atoms found until then.
        n_atoms: usize,
        /// Rule instances found until then.
        n_rules: usize,
    },
    /// The memory allowed does not hold the ground program.
    #[error(
        "the ground program is too large: {n_atoms} atoms and {n_rules} ground rules take more than {max_bytes} bytes"
    )]
    OutOfMemory {
        /// Atoms found until then.
        n_atoms: usize,
        /// Rule instances found until then.
        n_rules: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// More atoms than allowed.
    #[error("the ground program is too large: more than {max_atoms} atoms")]
    TooManyAtoms {
        /// The limit.
        max_atoms: usize,
    },
    /// A rule builds ever larger terms.
    #[error("`{term}` seems to have no end: its terms are nested more than {max_depth} deep")]
    Unbounded {
        /// The outermost name of the terms that grow.
        term: String,
        /// The rule that builds them.
        rule: RulePlace,
        /// The limit.
        max_depth: usize,
    },
    /// A rule has more variables than grounding handles.
    #[error("a rule of `{}` has {n_variables} variables, more than {max_variables}", rule.name)]
    TooManyVariables {
        /// The rule.
        rule: RulePlace,
        /// Its variables.
        n_variables: usize,
        /// The limit.
        max_variables: usize,
    },
    /// A ground atom depends on its own negation, so the rules have no meaning.
    #[error("`{atom}` depends on its own negation")]
    NegativeCycle {
        /// One atom of the cycle.
        atom: String,
        /// A rule of its relation with a negation.
        rule: RulePlace,
    },
}

/// A rule that keeps a program from being grounded.
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
    /// The rule that is at fault; `None` where a limit was reached by all rules together.
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

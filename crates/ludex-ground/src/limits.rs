//! The errors of grounding.

use std::fmt;

use ludex_gdl::RulePlace;
use thiserror::Error;

/// Why a program was not grounded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum GroundError {
    /// The deadline was reached.
    #[error("grounding ran out of time after {progress}; allow more time")]
    OutOfTime {
        /// What was found so far.
        progress: Box<Progress>,
    },
    /// The ground program exceeds the memory limit.
    #[error(
        "grounding ran out of memory: {progress} take more than {max_bytes} bytes; allow more memory"
    )]
    OutOfMemory {
        /// What was found so far.
        progress: Box<Progress>,
        /// The limit.
        max_bytes: u64,
    },
    /// More atoms than allowed.
    #[error(
        "grounding derived more than {max_atoms} atoms: {progress}; bound what its rules range over"
    )]
    TooManyAtoms {
        /// What was found so far.
        progress: Box<Progress>,
        /// The limit.
        max_atoms: usize,
    },
    /// More roles than allowed.
    #[error("the rules derive {n_roles} roles, more than {max_roles}")]
    TooManyRoles {
        /// A rule that derives roles.
        rule: RulePlace,
        /// The roles.
        n_roles: usize,
        /// The limit.
        max_roles: usize,
    },
    /// More moves of all roles together than allowed.
    #[error(
        "the rules allow more than {max_moves} different moves; bound what the rules of `legal` range over"
    )]
    TooManyMoves {
        /// The rule that was allowing more of them.
        rule: RulePlace,
        /// The limit.
        max_moves: usize,
    },
    /// A rule builds a term that is too long when it is written out.
    #[error(
        "a rule of `{}` builds a term of `{term}` that takes more than {max_size} bytes when it is written out",
        rule.name
    )]
    HugeTerm {
        /// The outermost name of the term.
        term: String,
        /// The rule that builds it.
        rule: RulePlace,
        /// The limit.
        max_size: usize,
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
    /// The initial state depends on a relation whose atoms grounding leaves to the ground program.
    #[error(
        "a rule of `init` needs `{relation}`, which is left open before play: it may depend on its own negation \
         or on what states ask for; write `init` without it"
    )]
    InitNeedsOpen {
        /// The relation.
        relation: String,
        /// The rule of `init`.
        rule: RulePlace,
    },
}

/// What grounding has found when a limit stops it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Atoms of all relations.
    pub n_atoms: usize,
    /// Instances of rules, without those of relations that are the same in every state.
    pub n_rules: usize,
    /// The relation with the most atoms, and how many it has.
    pub largest: Option<(String, usize)>,
    /// The rule that was being grounded.
    pub rule: Option<RulePlace>,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_atoms, n_rules, largest, rule } = self;
        write!(f, "{n_atoms} atoms and {n_rules} ground rules")?;
        if let Some((name, n_rows)) = largest {
            write!(f, " ({n_rows} atoms of `{name}`")?;
            if let Some(rule) = rule {
                write!(f, "; the last by a rule of `{}`", rule.name)?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl GroundError {
    /// Returns the rule at fault, or the one that was being grounded at the limit; `None` if all
    /// rules had been.
    pub fn rule(&self) -> Option<&RulePlace> {
        match self {
            GroundError::Unbounded { rule, .. }
            | GroundError::HugeTerm { rule, .. }
            | GroundError::TooManyRoles { rule, .. }
            | GroundError::TooManyMoves { rule, .. }
            | GroundError::TooManyVariables { rule, .. }
            | GroundError::NegativeCycle { rule, .. }
            | GroundError::InitNeedsOpen { rule, .. } => Some(rule),
            GroundError::OutOfTime { progress }
            | GroundError::OutOfMemory { progress, .. }
            | GroundError::TooManyAtoms { progress, .. } => progress.rule.as_ref(),
        }
    }
}

//! The errors of the reasoner, and its limits on memory as numbers of atoms and terms.

use ludex_base::{Limits, Symbol};
use ludex_gdl::RulePlace;

/// Approximate memory of an atom with its share of the indexes, in bytes.
const BYTES_PER_ATOM: u64 = 200;

/// Approximate memory of a term in the shared table and in the copy of a cursor, in bytes.
const BYTES_PER_TERM: u64 = 100;

/// Returns the largest number of atoms derived at once: by the static rules, or from one state and
/// joint move.
pub(crate) fn max_atoms(limits: &Limits) -> usize {
    let within = usize::try_from(limits.max_bytes / BYTES_PER_ATOM).unwrap_or(usize::MAX);
    within.min(limits.sizes.atoms)
}

/// Returns the largest number of different terms in the life of a reasoner. Terms of past states
/// are kept, because states elsewhere may still contain them.
pub(crate) fn max_terms(limits: &Limits) -> usize {
    usize::try_from(limits.max_bytes / BYTES_PER_TERM).unwrap_or(usize::MAX)
}

/// Why the rules could not be evaluated.
///
/// Most errors name the rule that was being evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReasonerError {
    /// No rule derives a role.
    #[error("the rules define no role; add one, such as `(role white)`")]
    NoRole,
    /// More roles than allowed.
    #[error("the rules derive {n_roles} roles, more than {limit}; state fewer roles")]
    TooManyRoles {
        /// The roles.
        n_roles: usize,
        /// The limit.
        limit: usize,
    },
    /// More atoms than fit in the memory, or than allowed.
    #[error(
        "the rules derive more than {limit} atoms at once{}; allow more memory, or bound what the rule ranges over",
        by(rule)
    )]
    TooManyAtoms {
        /// The limit.
        limit: usize,
        /// The rule that was deriving more.
        rule: Option<Box<RulePlace>>,
    },
    /// A term nested deeper than allowed.
    #[error(
        "the rules build a term nested more than {limit} levels deep{}; bound the recursion that builds it",
        by(rule)
    )]
    TermTooDeep {
        /// The limit.
        limit: usize,
        /// The rule that builds it.
        rule: Option<Box<RulePlace>>,
    },
    /// A term longer than allowed when it is written out.
    #[error(
        "the rules build a term of more than {limit} bytes when it is written out{}; bound the rules that build it",
        by(rule)
    )]
    TermTooLarge {
        /// The limit.
        limit: usize,
        /// The rule that builds it.
        rule: Option<Box<RulePlace>>,
    },
    /// More terms than fit in the memory, or in the numbers of moves.
    #[error("the rules build more than {limit} different terms{}; allow more memory", by(rule))]
    TooManyTerms {
        /// The limit.
        limit: usize,
        /// The rule that was building more.
        rule: Option<Box<RulePlace>>,
    },
    /// One state takes more steps of joins than allowed.
    #[error(
        "evaluating one state takes more than {limit} steps{}; bound what the rule ranges over",
        by(rule)
    )]
    TooManySteps {
        /// The limit.
        limit: u64,
        /// The rule that was being evaluated.
        rule: Option<Box<RulePlace>>,
    },
    /// The deadline was reached.
    #[error("the rules were not evaluated in time{}; allow more time", by(rule))]
    OutOfTime {
        /// The rule that was being evaluated.
        rule: Option<Box<RulePlace>>,
    },
    /// The memory of the process is used up.
    #[error("evaluating the rules ran out of memory{}; allow more memory", by(rule))]
    OutOfMemory {
        /// The rule that was being evaluated.
        rule: Option<Box<RulePlace>>,
    },
    /// Some atoms of the relation depend on themselves through a negation, and the rules do not
    /// decide whether they are true.
    #[error("`{name}` depends on its own negation; break this cycle of rules")]
    NegativeCycle {
        /// One of the relations in the cycle.
        relation: Symbol,
        /// Its name.
        name: String,
    },
}

/// Says which rule was being evaluated.
fn by(rule: &Option<Box<RulePlace>>) -> String {
    rule.as_ref()
        .map_or_else(String::new, |rule| format!(", the last by a rule of `{}`", rule.name))
}

impl ReasonerError {
    /// Returns the rule that was being evaluated, if the error is about one.
    pub fn rule(&self) -> Option<&RulePlace> {
        match self {
            Self::TooManyAtoms { rule, .. }
            | Self::TermTooDeep { rule, .. }
            | Self::TermTooLarge { rule, .. }
            | Self::TooManyTerms { rule, .. }
            | Self::TooManySteps { rule, .. }
            | Self::OutOfTime { rule }
            | Self::OutOfMemory { rule } => rule.as_deref(),
            Self::NoRole | Self::TooManyRoles { .. } | Self::NegativeCycle { .. } => None,
        }
    }

    /// Returns the error with this rule, unless it names one already or is not about one.
    pub(crate) fn in_rule(mut self, place: impl FnOnce() -> RulePlace) -> Self {
        match &mut self {
            Self::TooManyAtoms { rule, .. }
            | Self::TermTooDeep { rule, .. }
            | Self::TermTooLarge { rule, .. }
            | Self::TooManyTerms { rule, .. }
            | Self::TooManySteps { rule, .. }
            | Self::OutOfTime { rule }
            | Self::OutOfMemory { rule } => {
                rule.get_or_insert_with(|| Box::new(place()));
            }
            Self::NoRole | Self::TooManyRoles { .. } | Self::NegativeCycle { .. } => {}
        }
        self
    }
}

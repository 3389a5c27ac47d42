//! Limits of the reasoner, and its errors.

use ludex_base::{Deadline, Symbol};

/// Limits on the work of a reasoner.
///
/// A rulesheet can derive atoms without end; these limits turn that into a [`ReasonerError`] before
/// memory or time runs out.
#[derive(Clone, Debug)]
pub struct ReasonerLimits {
    /// Largest number of atoms derived at once: by the static rules, or from one state and joint
    /// move.
    pub max_atoms: usize,
    /// Deepest nesting of a term.
    pub max_term_depth: usize,
    /// Largest number of different terms in the life of a reasoner. Terms of past states are kept,
    /// because states elsewhere may still contain them.
    pub max_terms: usize,
    /// When to stop the construction. It does not apply to play; see
    /// [`ReasonerCursor::set_deadline`](crate::ReasonerCursor::set_deadline).
    pub deadline: Deadline,
}

/// Approximate memory that a reasoner needs at the default limits.
const USUAL_BYTES: u64 = 2_000_000_000;

impl ReasonerLimits {
    /// Returns the default limits, scaled down if they could need more than this many bytes.
    pub fn within(bytes: u64) -> Self {
        let usual = Self::default();
        let share = bytes.min(USUAL_BYTES) as f64 / USUAL_BYTES as f64;
        Self {
            max_atoms: (usual.max_atoms as f64 * share) as usize,
            max_terms: (usual.max_terms as f64 * share) as usize,
            ..usual
        }
    }
}

impl Default for ReasonerLimits {
    /// Several times what the rulesheets of the public collections need, in less than about 2 GB;
    /// no deadline.
    fn default() -> Self {
        Self {
            max_atoms: 10_000_000,
            max_term_depth: 500,
            max_terms: 20_000_000,
            deadline: Deadline::never(),
        }
    }
}

/// Why the rules could not be evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReasonerError {
    /// No rule derives a role.
    #[error("the rules define no role; add one, such as `(role white)`")]
    NoRole,
    /// More atoms than [`ReasonerLimits::max_atoms`].
    #[error("the rules derive more than {limit} atoms at once; allow more memory")]
    TooManyAtoms {
        /// The limit.
        limit: usize,
    },
    /// A term deeper than [`ReasonerLimits::max_term_depth`].
    #[error(
        "the rules build a term nested more than {limit} levels deep; bound the recursion that builds it"
    )]
    TermTooDeep {
        /// The limit.
        limit: usize,
    },
    /// More terms than [`ReasonerLimits::max_terms`].
    #[error("the rules build more than {limit} different terms; allow more memory")]
    TooManyTerms {
        /// The limit.
        limit: usize,
    },
    /// The deadline was reached.
    #[error("the rules were not evaluated in time; allow more time")]
    OutOfTime,
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

//! How far to go, and what to say beyond.

use ludex_base::{Deadline, Symbol};

/// Bounds on the work of a reasoner.
///
/// A rulesheet can derive without end; these turn that into a [`ReasonerError`] before memory
/// or patience is used up.
#[derive(Clone, Debug)]
pub struct ReasonerLimits {
    /// Atoms derived at once: by the static rules, or from one state and joint move.
    pub max_atoms: usize,
    /// Levels of nesting of a term.
    pub max_term_depth: usize,
    /// Different terms in the life of a reasoner. Terms that occurred in some state are kept,
    /// because states elsewhere may still name them.
    pub max_terms: usize,
    /// When to give up the construction. Play is not bound by it; see
    /// [`ReasonerCursor::set_deadline`](crate::ReasonerCursor::set_deadline).
    pub deadline: Deadline,
}

/// What a reasoner at its usual limits takes at most, about.
const USUAL_BYTES: u64 = 2_000_000_000;

impl ReasonerLimits {
    /// The usual limits, or less where they could take more than these bytes.
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
    /// Room for every sheet of the usual collections several times over, in less than about
    /// 2 GB; no deadline.
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
    #[error("the rules derive no role")]
    NoRole,
    /// More atoms than [`ReasonerLimits::max_atoms`].
    #[error("more than {limit} atoms are derived at once")]
    TooManyAtoms {
        /// The bound.
        limit: usize,
    },
    /// A term deeper than [`ReasonerLimits::max_term_depth`].
    #[error("a term is nested more than {limit} levels deep")]
    TermTooDeep {
        /// The bound.
        limit: usize,
    },
    /// More terms than [`ReasonerLimits::max_terms`].
    #[error("more than {limit} different terms occur")]
    TooManyTerms {
        /// The bound.
        limit: usize,
    },
    /// The deadline was reached.
    #[error("the time is over")]
    OutOfTime,
    /// Some atoms of the relation depend on themselves through a negation, and the rules leave
    /// open whether they hold.
    #[error("`{name}` depends on itself through a negation")]
    NegativeCycle {
        /// One of the relations concerned.
        relation: Symbol,
        /// Its name.
        name: String,
    },
}

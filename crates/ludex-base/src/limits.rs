//! What a piece of work may use: time, memory and sizes.

use crate::{Deadline, StopReason};

/// The time, the memory and the sizes that a piece of work may use.
///
/// It is made once, where a call or a request comes in, and handed through all stages: they share
/// one deadline. `docs/limits.md` lists what each stage does at a limit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When to stop. Loops that can be long check it at an interval that they document.
    pub deadline: Deadline,
    /// Bytes for what a stage builds, as the stage counts them. The memory of the whole process is
    /// counted by [`memory`](crate::memory), and bounds every loop that checks the deadline.
    pub max_bytes: u64,
    /// Bounds on the sizes of games.
    pub sizes: Sizes,
}

impl Limits {
    /// No deadline, 4 GB, and the usual sizes.
    pub fn usual() -> Self {
        Self { deadline: Deadline::never(), max_bytes: USUAL_BYTES, sizes: Sizes::default() }
    }

    /// Returns these limits with another deadline.
    pub fn until(self, deadline: Deadline) -> Self {
        Self { deadline, ..self }
    }

    /// Returns why work that has built `n_bytes` must stop; `None` while it may go on.
    pub fn stop_reason(&self, n_bytes: u64) -> Option<StopReason> {
        if n_bytes > self.max_bytes {
            Some(StopReason::Memory)
        } else {
            self.deadline.stop_reason()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::usual()
    }
}

/// Bytes that a call may use if it says nothing else.
pub const USUAL_BYTES: u64 = 4_000_000_000;

/// Bounds on the sizes of games, each with a message of its own when it is exceeded.
///
/// They are far above what games need, and low enough that no stage takes long, or much memory,
/// before it notices that something is too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Bytes of a rulesheet.
    pub text_bytes: usize,
    /// Parentheses within parentheses in a rulesheet.
    pub nesting: usize,
    /// Arguments of a relation or function.
    pub arguments: usize,
    /// Different variables of a rule.
    pub variables: usize,
    /// Rules and facts.
    pub rules: usize,
    /// Roles.
    pub roles: usize,
    /// Moves of all roles together.
    pub moves: usize,
    /// Atoms of a ground game.
    pub atoms: usize,
    /// Functions within functions in a term.
    pub term_depth: usize,
    /// Bytes of a term that is written out. Equal parts of a term are stored once, so that a term
    /// that takes little memory can be long as text.
    pub term_size: usize,
    /// Steps of joins that the reasoner takes for one state and joint move. Where nobody has set a
    /// deadline, they alone end an evaluation that derives next to nothing for hours.
    pub steps: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            text_bytes: 64 << 20,
            nesting: 256,
            arguments: 10_000,
            variables: 1_024,
            rules: 2_000_000,
            roles: 1_000,
            moves: 10_000_000,
            atoms: 100_000_000,
            term_depth: 500,
            term_size: 100_000,
            steps: 1 << 32,
        }
    }
}

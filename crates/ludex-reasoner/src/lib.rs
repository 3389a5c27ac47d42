//! The slow game that is easy to believe: it plays on rules with variables.
//!
//! [`Reasoner::new`] takes a [`Program`](ludex_gdl::Program) and gives a
//! [`Game`](ludex_game::Game). In every state the rules are evaluated from the facts up, one
//! group of mutually dependent relations after the other, until nothing more follows. Nothing is
//! grounded beforehand, so the reasoner plays rulesheets that are too large for that, and
//! everything faster is tested against it.
//!
//! Read the modules in this order; each uses only those before it.

mod cursor; // 8. questions about a state
mod engine; // 7. from a state to all that follows
mod error; // 1. how far to go, and what to say beyond
mod flatten; // 4. rules whose literals read flat columns
mod plan; // 5. in which order a rule joins its tables
mod reasoner;
mod rules; // 6. planned rules in groups
mod table; // 3. the rows of one relation
mod vocabulary; // 2. terms, the same in all threads // the result

pub use cursor::{ReasonerCursor, ReasonerState};
pub use error::{ReasonerError, ReasonerLimits};
pub use reasoner::Reasoner;

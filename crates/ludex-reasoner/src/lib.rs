//! The slow game that is easy to believe: it plays on rules with variables.
//!
//! [`Reasoner::new`] takes a [`Program`](ludex_gdl::Program) and gives a
//! [`Game`](ludex_game::Game). In every state the rules are evaluated from the facts up, one
//! group of mutually dependent relations after the other, until nothing more follows. Nothing is
//! grounded beforehand, so the reasoner plays rulesheets that are too large for that, and
//! everything faster is tested against it.
//!
//! Read the modules in this order; each uses only those before it, save that cursors and
//! reasoner know each other:
//!
//! 1. `error`: how far to go, and what to say beyond
//! 2. `vocabulary`: terms, the same in all threads
//! 3. `table`: the rows of one relation
//! 4. `flatten`: rules whose literals read flat columns
//! 5. `join_plan`: in which order a rule joins its tables
//! 6. `rules`: planned rules, in groups and on demand
//! 7. `calls`: what was asked for on demand
//! 8. `engine`: from a state to all that follows
//! 9. `cursor`: questions about a state
//! 10. `reasoner`: the result

mod calls;
mod cursor;
mod engine;
mod error;
mod flatten;
mod join_plan;
mod reasoner;
mod rules;
mod table;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use cursor::{ReasonerCursor, ReasonerState};
pub use error::{ReasonerError, ReasonerLimits};
pub use reasoner::Reasoner;

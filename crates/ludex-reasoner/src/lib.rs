//! The reference engine: slow, simple, and independent of grounding.
//!
//! [`Reasoner::new`] takes a [`Program`](ludex_gdl::Program) and returns a
//! [`Game`](ludex_game::Game). In every state it evaluates the rules with their variables from the
//! facts up, one group of mutually dependent relations after the other, until nothing more follows.
//! It grounds nothing beforehand, so it also plays rulesheets that are too large to ground, and all
//! faster engines are tested against it.
//!
//! Read the modules in this order; each uses only those before it, except that `cursor` and
//! `reasoner` use each other:
//!
//! 1. `error`: limits and errors
//! 2. `vocabulary`: terms, the same in all threads
//! 3. `table`: the rows of one relation
//! 4. `flatten`: rules whose literals read flat columns
//! 5. `join_plan`: the order in which a rule joins its tables
//! 6. `rules`: planned rules, in groups and on demand
//! 7. `calls`: the keys that components on demand were called with
//! 8. `engine`: derivation of all that follows from a state
//! 9. `cursor`: questions about a state
//! 10. `reasoner`: the main type

// Sizes come from texts of strangers: a number that does not fit must be noticed.
#![deny(clippy::cast_possible_truncation)]

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
pub use error::ReasonerError;
pub use reasoner::Reasoner;

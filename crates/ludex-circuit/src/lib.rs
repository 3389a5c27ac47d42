//! Circuits: the ground program as and, or and not gates over fluents and moves.
//!
//! Equal gates are one gate, constants are folded, and gates that no output needs are removed.
//! Recursive predicates are handled in one place: a [`Loop`] is a range of gates that is evaluated
//! until nothing changes. [`Circuit::unrolled`] returns an equivalent circuit without loops for
//! users that can't iterate, such as constraint encodings.
//!
//! Read the modules in this order; each uses only those before it.

mod circuit; // the main type
mod builder; // 1. makes gates, each once
mod compile; // 2. turns ground rules into gates
mod unroll; // 3. replaces loops by layers
mod optimize; // 4. removes gates and edges
mod evaluate; // 5. evaluates every gate, slowly
mod rebuild; // 6. replaces some gates
mod phases; // 7. smaller circuits for the phases of a game
mod select; // 8. separates a move's source from its target
mod factor; // 9. factors out common literals
mod share; // 10. shares common parts of gates
mod certain; // 11. what a role knows for certain
mod rules; // 12. games that have a circuit
mod restrict; // 13. a part of a game

#[cfg(test)]
mod tests;

pub use certain::Certain;
pub use circuit::{Circuit, Gate, GateId, Loop};
pub use compile::{compile, compile_within};
pub use phases::Phases;
pub use restrict::{Restricted, Restriction};
pub use rules::Rules;

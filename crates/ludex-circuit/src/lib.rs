//! The ground program as an and/or/not circuit over fluents and moves.
//!
//! Equal gates are one gate, constants are folded, and gates that no output needs are gone. What
//! recursive predicates need is in one place: a [`Loop`] is a run of gates that is evaluated again
//! until nothing changes, and [`Circuit::unrolled`] gives an equal circuit without loops for users
//! that can't iterate, such as constraint encodings.
//!
//! Read the modules in this order; each uses only those before it.

mod circuit; // the result
mod builder; // 1. gates, each made once
mod compile; // 2. ground rules to gates
mod unroll; // 3. loops to layers
mod optimize; // 4. fewer gates that say the same
mod evaluate; // 5. the value of every gate, slowly
mod rebuild; // 6. the circuit with some gates replaced
mod phases; // 7. smaller circuits for the phases of a game
mod select; // 8. what a move finds and where it puts it, apart
mod factor; // 9. common factors taken out
mod share; // 10. gates within gates
mod certain; // 11. what a role knows of every gate
mod rules; // 12. games that have a circuit

#[cfg(test)]
mod tests;

pub use certain::Certain;
pub use circuit::{Circuit, Gate, GateId, Loop};
pub use compile::compile;
pub use phases::Phases;
pub use rules::Rules;

//! What the rules of a game tell about it before it is played.
//!
//! [`find_facts`] finds structure in the rules: orders, counters, boards and pieces. Nothing depends on
//! names: a successor relation is one that behaves like one. [`find_features`] makes numbers of states
//! of that, for searches that have to say what a state is worth. [`Layout`] arranges the fluents of a
//! state on boards, for people to look at.
//!
//! To add a feature: a `LinearFeature` in `features` if it is a sum over fluents, and else a module with
//! a `Graded` of its own, which `find_features` appends. The search learns what it is worth.
//!
//! Read the modules in this order; each uses only those before it.

pub mod orders; // 1. which terms stand in a row
pub mod watch; // 2. what random games show of fluents
pub mod facts; // 3. counters, boards and pieces
pub mod fuzzy; // 4. how nearly goals hold
pub mod conjunctions; // 5. what it took to reach a goal
pub mod features; // 6. numbers of a state
pub mod layout; // 7. states as boards, for the eye

#[cfg(test)]
mod tests;

pub use conjunctions::Conjunctions;
pub use facts::{Board, Coordinate, Counter, Effort, Facts, Piece, find_facts};
pub use features::find_features;
pub use fuzzy::FuzzyGoals;
pub use layout::{Layout, Picture};
pub use orders::{Order, find_orders, stated_orders};

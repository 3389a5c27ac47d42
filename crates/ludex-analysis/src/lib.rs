//! Finds structure in the rules of a game before it is played.
//!
//! [`find_facts`] finds orders, counters, boards and pieces. It ignores names: a successor relation
//! is one that behaves like one. [`find_features`] derives numeric features of states for searches
//! that evaluate states. [`Layout`] arranges the fluents of a state on boards, for people to look
//! at.
//!
//! To add a feature, write a `LinearFeature` in `features` if it is a sum over fluents, or else a
//! module with its own `Graded`, which `find_features` appends. The search learns the weight of the
//! feature.
//!
//! Read the modules in this order; each uses only those before it.

pub mod orders; // 1. successor relations
pub mod watch; // 2. observing fluents in random games
pub mod facts; // 3. counters, boards and pieces
pub mod fuzzy; // 4. degrees of truth of goals
pub mod conjunctions; // 5. facts needed to reach a goal
pub mod features; // 6. numeric features of a state
pub mod layout; // 7. states as boards, for people
pub mod symmetry; // 8. permutations that keep the rules
pub mod decompose; // 9. a game as several games

#[cfg(test)]
mod tests;

pub use conjunctions::Conjunctions;
pub use facts::{Board, Coordinate, Counter, Effort, Facts, Piece, find_facts};
pub use features::find_features;
pub use fuzzy::FuzzyGoals;
pub use layout::{Layout, Picture};
pub use orders::{Order, find_orders, stated_orders};

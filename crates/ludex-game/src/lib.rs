//! The traits that every game engine implements, and tools that work on any of them.
//!
//! A [`Game`] holds the rules of one game, ready to play and shared by every thread; a [`Cursor`]
//! is a position on one state and answers questions about it. Searches, referees and tests use
//! only these traits, and know nothing of rulesheets or circuits.
//!
//! Abilities that not every user needs are separate traits: [`Observe`] for percepts, [`Describe`]
//! for names, [`Playouts`] for batches of random games.
//!
//! Read the modules in this order:
//!
//! 1. [`game`]: the traits.
//! 2. [`random_play`]: one random game and its visitor.
//! 3. [`playouts`]: random games in batches.
//! 4. [`joint`]: every joint move of a state.
//! 5. [`children`]: the successors of many states at once.
//! 6. [`perft`]: counting paths.
//! 7. [`trace`]: two fixed lines of play, to compare engines.
//! 8. [`explore`]: every reachable state, and whether the game is well-formed.
//! 9. [`belief`]: the states consistent with the moves and percepts of some roles.
//! 10. [`features`]: numbers that describe a state.
//! 11. [`fold`]: one state for all that symmetries take to each other.

pub mod game;
pub mod random_play;
pub mod playouts;
pub mod joint;
pub mod children;
pub mod perft;
pub mod trace;
pub mod explore;
pub mod belief;
pub mod features;
pub mod fold;

#[cfg(test)]
mod test_games;

pub use belief::{Belief, BeliefError, BeliefLimits, Learned, Outcome};
pub use children::{Children, Expanded, Expander, OneByOneExpander};
pub use explore::{Evidence, Exploration, ExploreLimits, Finding, explore, sample};
pub use features::{FeatureFinder, Features, Graded, LinearFeature, Wanted};
pub use fold::Fold;
pub use game::{Cursor, Describe, Game, IllegalMove, Observe, Role, StateOf, play_checked};
pub use joint::{JointMoves, count_joint_moves};
pub use perft::{Perft, perft};
pub use playouts::{OneByOne, PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts};
pub use random_play::{MAX_RANDOM_STEPS, PlayEnd, PlayVisitor, RandomPlay, draw_joint, stop_if};
pub use trace::{Trace, trace};

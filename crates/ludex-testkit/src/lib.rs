//! What tests share: where the fixtures are, and suites that hold any implementation against
//! the contract of its trait.
//!
//! - [`fixtures`]: rulesheets of `games/` and of the corpus beside the project.
//! - [`parallel`]: the same work on many fixtures.
//! - [`floor`]: a comparison of too little fails.
//! - [`property`]: properties of generated inputs, which shrink where one fails.
//! - [`golden`]: recorded lines of play that every engine must reproduce.
//! - [`agree`]: two engines on the same random states.
//! - [`command`]: the binary, run as a person runs it.
//! - [`propagators`]: what every `Propagator` keeps; one line each in `tests/propagators.rs`.
//! - [`lanes`]: playouts of one engine on another.
//! - [`statistics`]: whether two samples are of one kind.
//! - [`suite`]: what every `Game` keeps; one line an implementation in the top-level `tests/`.
//! - [`random_game`], [`exact`]: small random games, and exhaustive values to compare with.
//! - [`searchers`]: what every `Searcher` keeps, by its claims; [`hidden`]: where the state is hidden.
//!
//! Only tests use this crate.

pub mod fixtures;
pub mod parallel;
pub mod floor;
pub mod property;
pub mod golden;
pub mod agree;
pub mod lanes;
pub mod statistics;
pub mod command;
pub mod propagators;
pub mod suite;
pub mod random_game;
pub mod exact;
pub mod searchers;
pub mod hidden;

pub use agree::{Disagreement, agree};
pub use fixtures::{RulesFile, corpus, library, shared, workspace};
pub use floor::assert_compared;
pub use golden::{Golden, compare};
pub use lanes::lanes_agree;
pub use parallel::in_parallel;

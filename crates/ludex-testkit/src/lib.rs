//! Shared test code: fixtures, and suites that check any implementation against the contract of its
//! trait.
//!
//! - [`fixtures`]: rulesheets of `games/` and of the corpus beside the project.
//! - [`parallel`]: runs the same work on many fixtures.
//! - [`floor`]: fails tests that compare too little.
//! - [`property`]: checks properties on generated inputs and shrinks a failing input.
//! - [`golden`]: recorded lines of play that every engine must reproduce.
//! - [`agree`]: compares two engines on the same random states.
//! - [`command`]: runs the binary as a person does.
//! - [`contained`]: runs a process within limits.
//! - [`propagators`]: the suite of every `Propagator`; one line each in `tests/propagators.rs`.
//! - [`lanes`]: replays the playouts of one engine on another.
//! - [`statistics`]: tests whether two samples have the same distribution.
//! - [`suite`]: the suite of every `Game`; one line per implementation in the top-level `tests/`.
//! - [`random_game`], [`exact`]: small random games, and exhaustive values to compare with.
//! - [`searchers`]: the suite of every `Searcher`, driven by its claims; [`hidden`]: the part for
//!   hidden states.
//! - [`hostile`]: rulesheets that strain every stage.
//!
//! Only tests use this crate.

pub mod fixtures;
pub mod parallel;
pub mod floor;
pub mod formula;
pub mod property;
pub mod golden;
pub mod agree;
pub mod lanes;
pub mod statistics;
pub mod command;
pub mod contained;
pub mod propagators;
pub mod suite;
pub mod random_game;
mod rewrite;
pub mod exact;
pub mod searchers;
pub mod hidden;
pub mod hostile;

pub use agree::{Disagreement, agree};
pub use fixtures::{RulesFile, corpus, library, shared, workspace};
pub use floor::assert_compared;
pub use golden::{Golden, compare};
pub use lanes::lanes_agree;
pub use parallel::{in_parallel, on_threads};
pub use rewrite::rewritten;

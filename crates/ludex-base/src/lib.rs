//! Small types that every other crate uses and that know nothing of any one game.
//!
//! | module | holds |
//! | --- | --- |
//! | [`ids`] | typed indices ([`RoleId`], [`MoveId`], …) and [`Goal`] |
//! | [`graph`] | [`graph::Graph`] and its strongly connected components |
//! | [`bits`] | [`BitSet`], a set of small numbers in fixed space |
//! | [`symbols`] | [`Symbols`], interned names |
//! | [`source`] | [`Source`] and [`Span`], places in a text |
//! | [`diagnostic`] | [`Diagnostic`], a message for the author of a text |
//! | [`seed`] | [`Seed`] and [`Rng`], reproducible randomness |
//! | [`deadline`] | [`Deadline`], when to stop, and [`Pace`], how often to ask |
//! | [`limits`] | [`Limits`], what a piece of work may use |
//! | [`memory`] | the memory of the process, counted and bounded |
//! | [`panics`] | what a caught panic says |
//!
//! A type belongs here only if two crates use it.

pub mod bits;
pub mod deadline;
pub mod diagnostic;
pub mod graph;
pub mod ids;
pub mod limits;
pub mod memory;
pub mod panics;
pub mod seed;
pub mod source;
pub mod symbols;

pub use bits::BitSet;
pub use deadline::{Deadline, Pace, StopReason};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use ids::{FluentId, Goal, MoveId, PerceptId, RoleId};
pub use limits::{Limits, Sizes};
pub use panics::panic_message;
pub use seed::{Rng, Seed};
pub use source::{Source, Span};
pub use symbols::{Symbol, Symbols};

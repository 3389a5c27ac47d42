//! What every other crate stands on: small types that know nothing of any one game.
//!
//! | module | holds |
//! | --- | --- |
//! | [`ids`] | typed indices ([`RoleId`], [`MoveId`], …) and [`Goal`] |
//! | [`graph`] | [`graph::Graph`] and its strongly connected components |
//! | [`bits`] | [`BitSet`], a set of small numbers in fixed space |
//! | [`symbols`] | [`Symbols`], names as numbers |
//! | [`source`] | [`Source`] and [`Span`], places in a text |
//! | [`diagnostic`] | [`Diagnostic`], one thing to tell the author of a text |
//! | [`seed`] | [`Seed`] and [`Rng`], randomness that can be repeated |
//! | [`deadline`] | [`Deadline`], when to stop |
//!
//! This crate grows only by things that two crates use.

pub mod bits;
pub mod deadline;
pub mod diagnostic;
pub mod graph;
pub mod ids;
pub mod seed;
pub mod source;
pub mod symbols;

pub use bits::BitSet;
pub use deadline::{Deadline, StopReason};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use ids::{FluentId, Goal, MoveId, PerceptId, RoleId};
pub use seed::{Rng, Seed};
pub use source::{Source, Span};
pub use symbols::{Symbol, Symbols};

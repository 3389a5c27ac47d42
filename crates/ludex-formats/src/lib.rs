//! Files of other solvers: XCSP3 and QDIMACS, read and written.

pub mod qdimacs;
pub mod xcsp3;

/// The guide, so that its code is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/constraints.md")]
pub struct Guide;

//! Automorphism groups of colored sparse graphs, and permutation groups.
//!
//! Read the modules in this order; each uses only those before it.

mod permutation;
mod graph;
mod orbits;
mod order;
mod partition;
mod trace;
mod refine;
mod difference;
mod matcher;
mod search;

pub use graph::{ColoredGraph, GraphBuilder};
pub use orbits::Orbits;
pub use permutation::SparsePermutation;
pub use search::{Automorphisms, automorphisms};

//! Symmetries of networks: permutations of literals that take solutions to solutions.
//!
//! A literal is a variable with one of its values. [`find_symmetries`] finds the automorphisms of
//! the complement of the [micro-structure](Microstructure): the graph of all literals and of what
//! the constraints forbid. [`break_symmetries`] adds constraints that leave one solution of those
//! that are images of each other.
//!
//! ```
//! use ludex_base::Deadline;
//! use ludex_csp::Network;
//! use ludex_csp::symmetry::{StructureLimits, find_symmetries};
//!
//! // Four queens: the board can be turned and reflected.
//! let mut network = Network::new();
//! let queens = network.ints("q", 4, 0..4);
//! network.all_different(&queens);
//! network.all_different((0..).zip(&queens).map(|(column, &queen)| queen + column));
//! network.all_different((0..).zip(&queens).map(|(column, &queen)| queen - column));
//! let found = find_symmetries(&network, &StructureLimits::default(), &Deadline::never())?;
//! assert_eq!(found.order, 8_u32.into());
//! # Ok::<(), ludex_csp::symmetry::StructureError>(())
//! ```
//!
//! Read the modules in this order; each uses only those before it.

mod graph; // 1. vertices and arcs, equal ones shared
mod structure; // 2. a network as a graph
mod found; // 3. its automorphisms
mod breaking; // 4. constraints that leave one of several symmetric solutions
mod nogoods; // 5. the graph of all small nogoods, for small networks

#[cfg(test)]
mod tests;

pub use breaking::{Breaking, MAX_ELEMENTS, break_symmetries};
pub use found::{NetworkSymmetries, find_symmetries};
pub use nogoods::nogood_graph;
pub use structure::{Extra, Microstructure, StructureError, StructureLimits};

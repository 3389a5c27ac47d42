//! Automorphism groups of colored sparse graphs, and permutation groups.
//!
//! [`automorphisms`] finds generators, orbits and order of the group of a [`ColoredGraph`]: all
//! permutations of its vertices that keep colors and edges. It is made for large sparse graphs, as
//! of circuits and constraint networks, whose symmetries mostly move few vertices each.
//! [`PermutationGroup`] answers questions about the group: membership, stabilizers, random
//! elements.
//!
//! ```
//! use ludex_automorphism::{ColoredGraph, PermutationGroup, automorphisms};
//! use ludex_base::Deadline;
//!
//! // A cube: vertices are numbers of three bits, joined if they differ in one.
//! let edges = (0..8).flat_map(|v: u32| [1, 2, 4].map(|bit| (v, v ^ bit)));
//! let cube = ColoredGraph::from_edges(vec![0; 8], edges);
//! let found = automorphisms(&cube, &Deadline::never());
//! assert!(found.is_complete);
//! assert_eq!(found.order, 48_u32.into());
//! assert_eq!(found.orbits.n_orbits(), 1);
//!
//! let group = PermutationGroup::from_strong_generators(8, &found.base, &found.generators);
//! assert_eq!(group.order(), found.order);
//! ```
//!
//! Edges may have directions. Kinds of edges, and hyperedges, need a vertex in the middle of each,
//! colored by its kind.
//!
//! The search is exact, so it takes exponential time on some graphs made to be hard, such as the
//! graphs of Cai, Fürer and Immerman over large grids; give those a deadline.
//!
//! Read the modules in this order; each uses only those before it.

mod permutation; // what is found: permutations that list what they move
mod graph; // 1. what is given
mod orbits; // which points a group takes to each other
mod order; // products of many numbers
mod partition; // 2. ordered partitions that can be cut and joined again
mod trace; // 3. what a refinement did, for comparison
mod refine; // 4. cuts cells until their vertices look the same
mod difference; // 5. where two partitions differ
mod matcher; // 6. one automorphism, from two partitions side by side
mod search; // 7. all of them
mod dense; // permutations as arrays
mod chain; // 8. stabilizers by Schreier and Sims
mod group; // 9. questions about a group

pub use graph::{ColoredGraph, GraphBuilder};
pub use group::PermutationGroup;
pub use orbits::Orbits;
pub use permutation::SparsePermutation;
pub use search::{Automorphisms, automorphisms};

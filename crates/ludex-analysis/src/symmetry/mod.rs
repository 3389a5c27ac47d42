//! Symmetries of games: permutations of fluents, moves and roles under which the rules stay the
//! same.
//!
//! [`find_symmetries`] finds them as automorphisms of the circuit. Every generator is proved
//! before it counts: see [`CircuitGraph::proves`]. [`find_rule_symmetries`] and
//! [`find_step_symmetries`] find them in the text of the rules and in the network of a step.
//!
//! Read the modules in this order; each uses only those before it.

mod points; // 1. what a symmetry permutes
mod circuit_graph; // 2. the circuit as a graph, and the proof
mod rule_graph; // 3. the rules with their variables as a graph, for comparison
mod step; // 4. the network of a step as a graph
mod enriched; // 5. the same with what is known about good play
mod folding; // 6. canonical states
mod words; // symmetries in words

#[cfg(test)]
mod tests;

use ludex_automorphism::{Orbits, PermutationGroup, SparsePermutation, automorphisms};
use ludex_base::{BitSet, Deadline, Seed, StopReason};
use ludex_circuit::Circuit;
use num_bigint::BigUint;

pub use circuit_graph::{CircuitGraph, RoleExchange};
pub use enriched::{Judged, Valued, enriched_network, find_enriched_symmetries, minimax};
pub use folding::{Folding, FoldingElement};
pub use points::{Point, Points, Symmetry};
pub use rule_graph::find_rule_symmetries;
pub use step::{StepFound, find_step_symmetries};
pub use words::in_words;

/// A group of symmetries of a game.
#[derive(Clone, Debug)]
pub struct Symmetries {
    /// What the permutations permute.
    pub points: Points,
    /// Generate the group; each is proved.
    pub generators: Vec<Symmetry>,
    /// How many symmetries there are, the identity included.
    pub order: BigUint,
    /// Whether these are all symmetries of the circuit: no deadline ended the search. If not, the
    /// order is a lower bound.
    pub is_complete: bool,
}

impl Symmetries {
    /// Which points the symmetries take to each other.
    pub fn orbits(&self) -> Orbits {
        Orbits::of(self.points.n_points(), self.permutations())
    }

    /// The group, for questions about membership and stabilizers.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn group(&self, deadline: &Deadline) -> Result<PermutationGroup, StopReason> {
        let generators: Vec<SparsePermutation> = self.permutations().cloned().collect();
        PermutationGroup::new(self.points.n_points(), &generators, Seed(1), deadline)
    }

    /// The same symmetries, prepared to fold states; those that exchange roles are left out.
    pub fn folding(&self) -> Folding {
        Folding::new(self.points, &self.generators, Folding::USUAL_WORDS)
    }

    fn permutations(&self) -> impl Iterator<Item = &SparsePermutation> {
        self.generators.iter().map(Symmetry::permutation)
    }
}

/// Finds the symmetries of the rules of a game, or with a state those that also keep this state.
///
/// The [optimized](Circuit::optimized) circuit is the right one to give. A search that the deadline
/// ends gives what it has proved until then.
pub fn find_symmetries(
    circuit: &Circuit,
    exchange: RoleExchange,
    state: Option<&BitSet>,
    deadline: &Deadline,
) -> Symmetries {
    let points = Points::of(circuit);
    let graph = CircuitGraph::new(circuit, exchange, state);
    let found = automorphisms(graph.graph(), deadline);
    let mut symmetries = Symmetries {
        points,
        generators: Vec::new(),
        order: found.order,
        is_complete: found.is_complete,
    };
    let mut is_order_known = true;
    for generator in &found.generators {
        let on_points: Vec<(u32, u32)> = (generator.moves().iter().copied())
            .filter(|&(from, _)| (from as usize) < points.n_points())
            .collect();
        let permutation = SparsePermutation::new(on_points).expect("points go to points");
        let symmetry = Symmetry::new(circuit, permutation).expect("colors and arcs are kept");
        // Loops may have automorphisms that move no point.
        let is_symmetry =
            !symmetry.permutation().is_identity() && !deadline.reached() && graph.proves(&symmetry);
        if is_symmetry {
            symmetries.generators.push(symmetry);
        }
        is_order_known &= is_symmetry;
    }
    // Without loops, the points decide where the gates go, so that both have one group.
    if !is_order_known || !circuit.loops.is_empty() {
        match symmetries.group(deadline) {
            Ok(group) => symmetries.order = group.order(),
            Err(_) => {
                symmetries.order =
                    BigUint::from(1_u32 + u32::from(!symmetries.generators.is_empty()));
                symmetries.is_complete = false;
            }
        }
    }
    symmetries
}

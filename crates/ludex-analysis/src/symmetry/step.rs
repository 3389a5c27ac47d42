//! Symmetries of the network of a step: literals and what they forbid together.
//!
//! The network is exact, so its symmetries are symmetries of the game. They still have to pass the
//! same proof as all others, on the circuit; how many do not is reported.

use ludex_base::{BitSet, Deadline};
use ludex_circuit::Circuit;
use ludex_csp::symmetry::{StructureError, StructureLimits};
use ludex_encode::{StepSymmetry, SymmetryRequest, Template};
use num_bigint::BigUint;

use super::Symmetries;
use super::circuit_graph::{CircuitGraph, RoleExchange, idle_fluents};
use super::points::{Points, Symmetry};
use ludex_automorphism::SparsePermutation;

/// What was found in the network of a step.
#[derive(Clone, Debug)]
pub struct StepFound {
    /// The symmetries that the circuit proves.
    pub symmetries: Symmetries,
    /// The order of the group of all that the network has, proved by the circuit or not.
    pub order: BigUint,
    /// Generators that the circuit does not prove.
    pub n_unproved: usize,
}

/// Finds the symmetries of the network of a step, or with a state those that also keep this state.
///
/// # Errors
/// When the graph of the network is too large, or the deadline is reached before it is made.
pub fn find_step_symmetries(
    template: &Template,
    circuit: &Circuit,
    exchange: RoleExchange,
    state: Option<&BitSet>,
    deadline: &Deadline,
) -> Result<StepFound, StructureError> {
    let mut kept = BitSet::new(circuit.next.len());
    let idle = idle_fluents(circuit);
    (0..idle.len()).filter(|&fluent| idle[fluent]).for_each(|fluent| kept.insert(fluent));
    let request = SymmetryRequest {
        exchanges_roles: exchange == RoleExchange::Allowed,
        state,
        kept: Some(&kept),
        limits: StructureLimits::default(),
    };
    let found = template.symmetries(&request, deadline)?;
    let points = Points::of(circuit);
    let proof = CircuitGraph::new(circuit, exchange, state);
    let mut proved = Vec::new();
    let mut all = Vec::new();
    for generator in &found.generators {
        let Some(symmetry) = of_points(circuit, points, generator) else { continue };
        if !deadline.reached() && proof.proves(&symmetry) {
            proved.push(symmetry.clone());
        }
        all.push(symmetry);
    }
    let n_unproved = all.len() - proved.len();
    let of = |generators: Vec<Symmetry>| {
        let mut symmetries = Symmetries {
            points,
            generators,
            order: BigUint::from(1_u32),
            is_complete: found.is_complete,
        };
        match symmetries.group(deadline) {
            Ok(group) => symmetries.order = group.order(),
            Err(_) => symmetries.is_complete = false,
        }
        symmetries
    };
    let order = of(all).order;
    Ok(StepFound { symmetries: of(proved), order, n_unproved })
}

/// A symmetry of a step as a permutation of points; `None` if it is none.
pub(super) fn of_points(
    circuit: &Circuit,
    points: Points,
    generator: &StepSymmetry,
) -> Option<Symmetry> {
    let mut moves: Vec<(u32, u32)> = Vec::new();
    moves.extend(generator.roles.iter().map(|&(a, b)| (points.role(a), points.role(b))));
    moves.extend(generator.fluents.iter().map(|&(a, b)| (points.fluent(a), points.fluent(b))));
    moves.extend(generator.moves.iter().map(|&(a, b)| (points.played(a), points.played(b))));
    moves.extend(generator.percepts.iter().map(|&(a, b)| (points.percept(a), points.percept(b))));
    Symmetry::new(circuit, SparsePermutation::new(moves)?)
}

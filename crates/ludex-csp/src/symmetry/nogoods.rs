//! The graph of all small nogoods, for small networks: its automorphisms are the symmetries of the
//! solutions, not only of the constraints.
//!
//! After Cohen, Jeavons, Jefferson, Petrie and Smith, *Symmetry Definitions for Constraint
//! Satisfaction Problems*, 2006.

use ludex_base::Deadline;
use rustc_hash::FxHashSet;

use super::graph::Nodes;
use super::structure::{Microstructure, StructureError, StructureLimits};
use crate::domains::VarId;
use crate::network::Network;
use crate::{CspError, Goal, SearchConfig, solve};

/// The graph of the literals and of all sets of at most `k` of them that are in no solution. If no
/// constraint has more than `k` variables, its automorphisms are exactly the permutations of
/// literals that take solutions to solutions.
///
/// All solutions are found, and all sets of literals are tried: this is for small networks.
///
/// # Errors
/// When the network cannot be posted; the inner result, when the graph would be too large or the
/// deadline is reached.
pub fn nogood_graph(
    network: &Network,
    k: usize,
    limits: &StructureLimits,
    deadline: &Deadline,
) -> Result<Result<Microstructure, StructureError>, CspError> {
    let config =
        SearchConfig { goal: Goal::All, deadline: deadline.clone(), ..SearchConfig::default() };
    let report = solve(network, &config)?;
    if let Some(reason) = deadline.stop_reason() {
        return Ok(Err(StructureError::Stopped(reason)));
    }
    let mut literals = Vec::new();
    for (idx, variable) in network.variables().iter().enumerate() {
        literals.extend(variable.domain.iter().map(|value| (VarId::new(idx), value)));
    }
    // All sets of at most k literals that are in a solution.
    let mut goods: FxHashSet<Vec<u32>> = FxHashSet::default();
    for solution in &report.solutions {
        let own: Vec<u32> = (0..solution.len())
            .map(|idx| {
                let literal = (VarId::new(idx), solution[idx]);
                literals.binary_search(&literal).expect("values are in their domains") as u32
            })
            .collect();
        for_each_subset(own.len(), k, &mut |places| {
            goods.insert(places.iter().map(|&place| own[place]).collect());
            true
        });
        if let Some(reason) = deadline.stop_reason() {
            return Ok(Err(StructureError::Stopped(reason)));
        }
    }
    let mut nodes = Nodes::new(literals.len());
    let mut n_nogoods = 0;
    let mut stopped = None;
    for_each_subset(literals.len(), k, &mut |places| {
        let set: Vec<u32> = places.iter().map(|&place| place as u32).collect();
        if !goods.contains(&set) {
            n_nogoods += 1;
            match set[..] {
                [only] => nodes.paint(only, ("dead", 0, 0)),
                [a, b] => nodes.join(a, b),
                _ => {
                    let children = set.into_iter().map(|literal| (0, literal)).collect();
                    nodes.node(("nogood", 0, 0), children);
                }
            }
        }
        if nodes.n_arcs() > limits.max_size {
            stopped = Some(StructureError::TooLarge { max_size: limits.max_size });
        } else if n_nogoods % 1_024 == 0 {
            stopped = deadline.stop_reason().map(StructureError::Stopped);
        }
        stopped.is_none()
    });
    Ok(match stopped {
        Some(error) => Err(error),
        None => Ok(Microstructure { literals, graph: nodes.build(), n_nogoods }),
    })
}

/// Calls `see` with each set of one to `k` numbers below `n`, sorted, until it returns `false`.
fn for_each_subset(n: usize, k: usize, see: &mut dyn FnMut(&[usize]) -> bool) {
    let mut chosen: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        if next < n && chosen.len() < k {
            chosen.push(next);
            next += 1;
            if !see(&chosen) {
                return;
            }
        } else {
            let Some(last) = chosen.pop() else { return };
            next = last + 1;
        }
    }
}
